package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxRules bounds the rules of a setting that has a filter each: each page is held against them one after the other.
const maxRules = 1000

const leastWeight, mostWeight = 0.001, 1000

// number is a plain decimal number.
func number(at *float64, low, high float64) scalar[float64] {
	format := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return scalar[float64]{
		at: at, format: format,
		parse: func(text string) (float64, error) {
			if !isNumber(text) {
				return 0, fmt.Errorf("%s is not a number, write one like 3 or 0.5", shown(text))
			}
			return strconv.ParseFloat(text, 64)
		},
		bound: func(v float64) error { return between(v, low, high, format) },
	}
}

func weight(at *float64) scalar[float64] { return number(at, leastWeight, mostWeight) }

// toggle is on or off.
func toggle(at *bool) scalar[bool] {
	return scalar[bool]{
		at: at,
		parse: func(text string) (bool, error) {
			if text != "on" && text != "off" {
				return false, fmt.Errorf("%s is neither on nor off", shown(text))
			}
			return text == "on", nil
		},
		format: func(on bool) string {
			if on {
				return "on"
			}
			return "off"
		},
		bound: func(bool) error { return nil },
	}
}

// rulesValue is the rules of importance as a value: a list of {filter: …, weight: …}.
type rulesValue struct{ at *[]Weight }

func (v rulesValue) read(r *reader, n ast.Node) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(n, "needs a list, as in [{filter: {path: /news/}, weight: 5}]")
		return
	}
	before := len(r.problems)
	if len(s.Values) > maxRules {
		r.fail(n, "has %d rules, at most %d", len(s.Values), maxRules)
		return
	}
	rules := make([]Weight, 0, len(s.Values))
	for _, item := range s.Values {
		rules = append(rules, r.rule(item))
	}
	if len(r.problems) > before {
		return
	}
	*v.at = nil
	if len(rules) > 0 {
		*v.at = rules
	}
}

// rule reads one rule.
func (r *reader) rule(n ast.Node) Weight {
	const like = "{filter: {path: /news/}, weight: 5}"
	var w Weight
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		r.filtered(n, &w.Filter, "weight", weight(&w.Weight), like, "the weight of all pages is importance: {weight: …}")
	default:
		r.fail(n, "a rule is a filter with a weight, write one like %s", like)
	}
	return w
}

// filtered reads a rule: a filter, and under a key what holds for the pages that it keeps. Both are needed: without a filter it would hold for all
// pages, which is said as forAll has it. like is a rule as it is written.
func (r *reader) filtered(n ast.Node, filter *Filter, key string, holds value, like, forAll string) {
	outer := r.key
	defer func() { r.key = outer }()
	before, seen := len(r.problems), false
	for _, e := range r.entries(n) {
		r.key = join(outer, e.key)
		switch e.key {
		case "filter":
			filterValue{filter}.read(r, e.value)
		case key:
			seen = true
			holds.read(r, e.value)
		default:
			r.key = outer
			r.unknown(e, []string{"filter", key}, nil)
		}
	}
	r.key = outer
	switch {
	case len(r.problems) > before:
	case !seen:
		r.fail(n, "a rule has no %s, write one like %s", key, like)
	case filter.IsZero():
		r.fail(n, "a rule has no filter: %s", forAll)
	}
}

func (v rulesValue) check() error {
	if len(*v.at) > maxRules {
		return fmt.Errorf("has %d rules, at most %d", len(*v.at), maxRules)
	}
	for i := range *v.at {
		w := &(*v.at)[i]
		if w.Filter.IsZero() {
			return errors.New("a rule has no filter")
		}
		if err := w.Filter.check(0); err != nil {
			return fmt.Errorf("filter: %w", err)
		}
		if err := weight(&w.Weight).check(); err != nil {
			return fmt.Errorf("weight: %w", err)
		}
	}
	return nil
}

func (v rulesValue) String() string {
	parts := make([]string, len(*v.at))
	for i := range *v.at {
		w := &(*v.at)[i]
		parts[i] = "{filter: " + w.Filter.String() + ", weight: " + weight(&w.Weight).String() + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
