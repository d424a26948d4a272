package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// watchValue is what alone is content: selectors for all pages, and rules for some of them, in one list.
type watchValue struct {
	all  *[]string
	some *[]Watched
}

func (v watchValue) read(r *reader, n ast.Node) {
	before := len(r.problems)
	var plain []ast.Node
	var some []Watched
	for _, item := range r.list(n) {
		switch item.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			var w Watched
			r.filtered(item, &w.Filter, "selectors", selectors(&w.Selectors), `{filter: {path: /product/}, selectors: ["#price"]}`,
				"a selector for all pages stands alone in the list")
			some = append(some, w)
		default:
			plain = append(plain, item)
		}
	}
	if len(some) > maxRules {
		r.fail(n, "has %d rules, at most %d", len(some), maxRules)
	}
	var all []string
	if len(some) == 0 {
		selectors(&all).read(r, n)
	} else {
		selectors(&all).readItems(r, plain)
	}
	if len(r.problems) == before {
		*v.all, *v.some = all, some
	}
}

func (v watchValue) check() error {
	if len(*v.some) > maxRules {
		return fmt.Errorf("has %d rules, at most %d", len(*v.some), maxRules)
	}
	for i := range *v.some {
		w := &(*v.some)[i]
		if w.Filter.IsZero() {
			return errors.New("a rule has no filter")
		}
		if err := errors.Join(w.Filter.check(0), selectors(&w.Selectors).check()); err != nil {
			return err
		}
	}
	return selectors(v.all).check()
}

func (v watchValue) String() string {
	parts := make([]string, 0, len(*v.all)+len(*v.some))
	for i := range *v.all {
		parts = append(parts, quote((*v.all)[i]))
	}
	for i := range *v.some {
		w := &(*v.some)[i]
		parts = append(parts, "{filter: "+w.Filter.String()+", selectors: "+selectors(&w.Selectors).String()+"}")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
