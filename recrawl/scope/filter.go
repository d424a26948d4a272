package scope

import (
	"fmt"

	"recrawld/config"
	"recrawld/recrawl/canon"
)

// rule is a compiled filter. Negations are pushed down to the leaves when it is compiled (De Morgan), so that each
// verdict can name the leaf that made it, and not just the "not" around a heap of them.
type rule struct {
	// A leaf has test. It keeps a URL that its list matches, or with negated one that it does not.
	test    func(canon.URL) int // the index of the word that matches, -1: none does
	negated bool
	hits    []string // the sentence for each word
	miss    string

	// All others have inner.
	inner []*rule
	all   bool   // keep what every inner rule keeps; otherwise what any keeps
	each  string // the sentence when no inner rule decides alone
}

func (r *rule) decide(u canon.URL) (bool, string) {
	if r.test != nil {
		if i := r.test(u); i >= 0 {
			return !r.negated, r.hits[i]
		}
		return r.negated, r.miss
	}
	// With all, the first that drops the URL decides; with any, the first that keeps it.
	for _, inner := range r.inner {
		keep, sentence := inner.decide(u)
		if keep != r.all || len(r.inner) == 1 {
			return keep, sentence
		}
	}
	return r.all, r.each
}

// compile makes the rule of a filter, or of its negation.
func compile(f config.Filter, negated bool) (*rule, error) {
	switch {
	case f.Not != nil:
		return compile(*f.Not, !negated)
	case len(f.All) > 0:
		each := "all of its %d rules"
		if negated {
			each = "not all of its %d rules"
		}
		return compose(f, f.All, !negated, negated, each)
	case len(f.Any) > 0:
		each := "none of its %d rules"
		if negated {
			each = "not any of its %d rules"
		}
		return compose(f, f.Any, negated, negated, each)
	}
	return compileLeaf(f, negated)
}

func compose(f config.Filter, inner []config.Filter, all, negated bool, each string) (*rule, error) {
	r := &rule{all: all, each: at(f) + fmt.Sprintf(each, len(inner))}
	for _, g := range inner {
		in, err := compile(g, negated)
		if err != nil {
			return nil, err
		}
		r.inner = append(r.inner, in)
	}
	return r, nil
}

func compileLeaf(f config.Filter, negated bool) (*rule, error) {
	for _, k := range kinds {
		words := k.words(f)
		if len(words) == 0 {
			continue
		}
		test, err := k.compile(words)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", at(f), k.name, err)
		}
		return k.rule(f, words, test, negated), nil
	}
	// A filter inside another with nothing set keeps everything, as it would by itself.
	return &rule{
		test:    func(canon.URL) int { return 0 },
		negated: negated,
		hits:    []string{at(f) + "empty"},
	}, nil
}

func (k kind) rule(f config.Filter, words []string, test func(canon.URL) int, negated bool) *rule {
	r := &rule{test: test, negated: negated, hits: make([]string, len(words))}
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = shown(word)
		r.hits[i] = at(f) + k.name + " " + names[i]
		if negated {
			r.hits[i] = at(f) + "not " + k.name + " " + names[i]
		}
	}
	r.miss = at(f) + k.misses + " " + some(names, "or")
	return r
}

// at says where a filter stands.
func at(f config.Filter) string {
	if f.Line == 0 {
		return "filter: "
	}
	return fmt.Sprintf("filter line %d: ", f.Line)
}
