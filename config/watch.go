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
			some = append(some, r.watched(item))
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

// watched reads one rule. Both of its keys are needed: without a filter its selectors would be those of all pages.
func (r *reader) watched(n ast.Node) Watched {
	var w Watched
	outer := r.key
	defer func() { r.key = outer }()
	before, seen := len(r.problems), map[string]bool{}
	for _, e := range r.entries(n) {
		seen[e.key] = true
		r.key = join(outer, e.key)
		switch e.key {
		case "filter":
			filterValue{&w.Filter}.read(r, e.value)
		case "selectors":
			selectors(&w.Selectors).read(r, e.value)
		default:
			r.key = outer
			r.unknown(e, []string{"filter", "selectors"}, nil)
		}
	}
	r.key = outer
	switch {
	case len(r.problems) > before:
	case !seen["selectors"]:
		r.fail(n, "a rule has no selectors, write one like {filter: {path: /product/}, selectors: [\"#price\"]}")
	case w.Filter.IsZero():
		r.fail(n, "a rule has no filter: a selector for all pages stands alone in the list")
	}
	return w
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
