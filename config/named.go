package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// named is a list of what has names, as webhooks, mails and chats have, as a value: each under its name.
type named[T any] struct {
	at     *[]T
	what   string // they are, "receivers"
	most   int    // of them
	fields []field[T]
	begin  func(name string) T // one that says nothing but its name
	name   func(*T) string     // of one
	whole  func(*T) error      // what is missing of one, each key of which is good

	// unlock reads the secrets of one, those that commands can read, too: the key of what cannot be read, and why.
	unlock func(*T) (key string, err error)
}

// checkHookName is the rule for names of receivers: they stand in metrics, tables and command lines.
func checkHookName(text string) error {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if text == "" || len(text) > 50 || strings.Trim(text, safe) != "" {
		return fmt.Errorf("%s is not a receiver's name, write at most 50 letters (a to z), digits, \"-\" or \"_\"", shown(text))
	}
	return nil
}

func (v named[T]) read(r *reader, n ast.Node) {
	before := len(r.problems)
	outer := r.key
	defer func() { r.key = outer }()
	var all []T
	for _, e := range r.entries(n) {
		r.key = join(outer, e.key)
		if err := checkHookName(e.key); err != nil {
			r.fail(e.at, "%w", err)
			continue
		}
		all = append(all, v.readOne(r, e))
	}
	r.key = outer
	if len(all) > v.most {
		r.fail(n, "has %d %s, at most %d", len(all), v.what, v.most)
	}
	if len(r.problems) == before {
		*v.at = all
	}
}

// readOne reads one, and its secret for once: a file that cannot be read is told with its line.
func (v named[T]) readOne(r *reader, e entry) T {
	one := v.begin(e.key)
	before, outer := len(r.problems), r.key
	at := map[string]ast.Node{}
	for _, inner := range r.entries(e.value) {
		f, known := find(v.fields, inner.key)
		if !known {
			r.unknown(inner, siblings(v.fields, ""), nil)
			continue
		}
		at[inner.key] = inner.value
		r.key = join(outer, inner.key)
		f.of(&one).read(r, inner.value)
		r.key = outer
	}
	if len(r.problems) > before {
		return one
	}
	if err := v.whole(&one); err != nil {
		r.fail(e.at, "%w", err)
	} else if key, err := v.unlock(&one); err != nil {
		r.key = join(outer, key)
		r.fail(at[key], "%w", err)
		r.key = outer
	}
	return one
}

func (v named[T]) check() error {
	if len(*v.at) > v.most {
		return fmt.Errorf("has %d %s, at most %d", len(*v.at), v.what, v.most)
	}
	names := make(map[string]bool)
	for i := range *v.at {
		one := &(*v.at)[i]
		name := v.name(one)
		if err := cmp.Or(checkHookName(name), bounds(v.fields, one, name+".").err(), v.whole(one)); err != nil {
			return err
		}
		if names[name] {
			return fmt.Errorf("%s is there twice", name)
		}
		names[name] = true
	}
	return nil
}

func (v named[T]) String() string {
	all := make([]string, len(*v.at))
	for i := range *v.at {
		one := &(*v.at)[i]
		var parts []string
		for _, f := range v.fields {
			parts = append(parts, f.key+": "+f.of(one).String())
		}
		all[i] = v.name(one) + ": {" + strings.Join(parts, ", ") + "}"
	}
	return "{" + strings.Join(all, ", ") + "}"
}
