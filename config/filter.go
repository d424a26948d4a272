package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxFilterDepth bounds how deep filters nest, so that reading and asking them cannot exhaust the stack.
const maxFilterDepth = 20

// leaf is a kind of Filter that looks at the URL itself.
type leaf struct {
	key  string
	list func(*Filter) *[]string
	fix  func(string) (string, error) // brings a word into the form in which it is compared
}

var leaves = []leaf{
	{"scheme", func(f *Filter) *[]string { return &f.Scheme }, fixScheme},
	{"host", func(f *Filter) *[]string { return &f.Host }, fixHost},
	{"domain", func(f *Filter) *[]string { return &f.Domain }, fixDomain},
	{"path", func(f *Filter) *[]string { return &f.Path }, fixPath},
	{"glob", func(f *Filter) *[]string { return &f.Glob }, fixGlob},
	{"regexp", func(f *Filter) *[]string { return &f.Regexp }, fixRegexp},
	{"param", func(f *Filter) *[]string { return &f.Param }, fixParam},
	{"extension", func(f *Filter) *[]string { return &f.Extension }, fixExtension},
}

// filterKeys are all the kinds of filters, for messages.
func filterKeys() []string {
	keys := []string{"all", "any", "not"}
	for _, l := range leaves {
		keys = append(keys, l.key)
	}
	return keys
}

// filterValue is a Filter as a value.
type filterValue struct{ at *Filter }

func (v filterValue) read(r *reader, n ast.Node) {
	if s, ok := n.(*ast.StringNode); ok && s.Value == "off" {
		*v.at = Filter{}
		return
	}
	before := len(r.problems)
	f := r.filter(n, 0)
	if len(r.problems) == before {
		*v.at = f
	}
}

func (v filterValue) check() error   { return v.at.check(0) }
func (v filterValue) String() string { return v.at.String() }

func (r *reader) filter(n ast.Node, depth int) Filter {
	if depth > maxFilterDepth {
		r.fail(n, "nests deeper than %d", maxFilterDepth)
		return Filter{}
	}
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	case *ast.SequenceNode:
		r.fail(n, "is a list, write {all: […]} or {any: […]}")
		return Filter{}
	default:
		r.fail(n, "is not a filter, write one like {host: example.org}")
		return Filter{}
	}
	entries := r.entries(n)
	switch len(entries) {
	case 0:
		if depth > 0 {
			r.fail(n, "an empty filter inside another keeps everything, leave it out")
		}
		return Filter{}
	case 1:
		return r.oneFilter(entries[0], depth)
	}
	a, b := entries[0].key, entries[1].key
	r.fail(entries[1].at, "%s and %s stand side by side, write {all: [{%[1]s: …}, {%[2]s: …}]}", a, b)
	return Filter{}
}

func (r *reader) oneFilter(e entry, depth int) Filter {
	f := Filter{}
	if r.source == FromFile {
		f.Line = line(e.at)
	}
	switch e.key {
	case "all":
		f.All = r.filters(e, depth)
	case "any":
		f.Any = r.filters(e, depth)
	case "not":
		inner := r.filter(e.value, depth+1)
		f.Not = &inner
	default:
		r.leaf(e, &f)
	}
	return f
}

func (r *reader) filters(e entry, depth int) []Filter {
	s, ok := e.value.(*ast.SequenceNode)
	if !ok || len(s.Values) == 0 {
		r.fail(e.value, "%s needs a list of filters, as in {%[1]s: [{host: example.org}, {path: /docs/}]}", e.key)
		return nil
	}
	var all []Filter
	for _, item := range s.Values {
		all = append(all, r.filter(item, depth+1))
	}
	return all
}

func (r *reader) leaf(e entry, f *Filter) {
	for _, l := range leaves {
		if l.key != e.key {
			continue
		}
		items := r.list(e.value)
		if len(items) == 0 {
			r.fail(e.value, "%s is an empty list", e.key)
		}
		for _, item := range items {
			text, ok := r.scalar(item)
			if !ok {
				continue
			}
			fixed, err := l.fix(text)
			if err != nil {
				r.fail(item, "%s: %w", e.key, err)
			}
			*l.list(f) = append(*l.list(f), fixed)
		}
		return
	}
	if near := nearest(e.key, filterKeys()); near != "" {
		r.fail(e.at, "unknown filter %s, did you mean %s?", shown(e.key), near)
		return
	}
	r.fail(e.at, "unknown filter %s, known: %s", shown(e.key), strings.Join(filterKeys(), ", "))
}

// IsZero tells whether f keeps everything because nothing is set.
func (f *Filter) IsZero() bool {
	for _, l := range leaves {
		if len(*l.list(f)) > 0 {
			return false
		}
	}
	return len(f.All) == 0 && len(f.Any) == 0 && f.Not == nil
}

// check holds a filter that no file was read for to the same rules.
func (f *Filter) check(depth int) error {
	if depth > maxFilterDepth {
		return fmt.Errorf("nests deeper than %d", maxFilterDepth)
	}
	set := 0
	for _, l := range leaves {
		for _, text := range *l.list(f) {
			if _, err := l.fix(text); err != nil {
				return fmt.Errorf("%s: %w", l.key, err)
			}
		}
		set += min(1, len(*l.list(f)))
	}
	inner := make([]*Filter, 0, len(f.All)+len(f.Any)+1)
	for i := range f.All {
		inner = append(inner, &f.All[i])
	}
	for i := range f.Any {
		inner = append(inner, &f.Any[i])
	}
	if f.Not != nil {
		inner = append(inner, f.Not)
		set++
	}
	set += min(1, len(f.All)) + min(1, len(f.Any))
	if set > 1 {
		return errors.New("several kinds stand side by side, put them into All")
	}
	if set == 0 && depth > 0 {
		return errors.New("an empty filter inside another")
	}
	for _, g := range inner {
		if err := g.check(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// String is the filter as it is written in the file, on one line; "off" for the zero Filter.
func (f *Filter) String() string {
	switch {
	case f.IsZero():
		return "off"
	case f.Not != nil:
		return "{not: " + f.Not.String() + "}"
	case len(f.All) > 0:
		return "{all: " + filterList(f.All) + "}"
	case len(f.Any) > 0:
		return "{any: " + filterList(f.Any) + "}"
	}
	for _, l := range leaves {
		if texts := *l.list(f); len(texts) == 1 {
			return "{" + l.key + ": " + quote(texts[0]) + "}"
		} else if len(texts) > 1 {
			return "{" + l.key + ": " + words(&texts, present).String() + "}"
		}
	}
	return "off"
}

func filterList(all []Filter) string {
	parts := make([]string, len(all))
	for i := range all {
		parts[i] = all[i].String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// CompileGlob makes a pattern that matches whole URLs: "*" stands for any run of characters other than "/", "**" for
// any run at all, "?" for one character other than "/", and everything else for itself (a letter beyond ASCII for its
// percent-encoding, which is how it stands in a path). A glob that can match no URL because it lets no "/" through is an
// error.
func CompileGlob(glob string) (*regexp.Regexp, error) {
	if !strings.Contains(glob, "**") && !strings.Contains(glob, "://") {
		return nil, fmt.Errorf("glob %s matches no URL, for \"*\" stops at \"/\": write %s", shown(glob), shown("**"+strings.TrimLeft(glob, "*")))
	}
	var b strings.Builder
	b.WriteString(`^(?s:`)
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '*' && strings.HasPrefix(glob[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c < 0x80:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	b.WriteString(`)$`)
	pattern, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("glob %s: %w", shown(glob), err)
	}
	return pattern, nil
}
