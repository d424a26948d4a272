package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// reader walks the nodes of one file, collects what is wrong with them and notes where each value stands.
type reader struct {
	file     string
	source   Source
	problems Problems
	origins  Origins
	site     string   // the site whose settings are read, "" for none
	key      string   // the key that is read, as messages name it
	inline   ast.Node // where a password stands in the file itself
}

// fail notes that something is wrong with the value of the key that is read.
func (r *reader) fail(n ast.Node, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	text := err.Error()
	if r.key != "" {
		text = r.key + ": " + text
	}
	if r.site != "" {
		text = "site " + r.site + ": " + text
	}
	r.problems = append(r.problems, Problem{File: r.file, Line: line(n), Text: text, Secret: errors.As(err, new(withheld))})
}

func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// scalar is the text of a node as it was written, whatever YAML takes it for: 6h is a string to YAML, 6 a number and
// off a truth value to some.
func (r *reader) scalar(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.NullNode:
		r.fail(n, "has no value")
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.MappingNode, *ast.MappingValueNode:
		r.fail(n, "is one value, not keys with values")
	case *ast.SequenceNode:
		r.fail(n, "is one value, not a list")
	default:
		return n.GetToken().Value, true
	}
	return "", false
}

// list is the items of a sequence; one value stands for a list of one.
func (r *reader) list(n ast.Node) []ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	return []ast.Node{n}
}

// entry is a key with its value.
type entry struct {
	key   string
	at    ast.Node // the key's node
	value ast.Node
}

// entries is the content of a mapping, in its order, without the keys that are there twice. A mapping with no value at
// all is empty: it is what stays of a section when its lines are commented out.
func (r *reader) entries(n ast.Node) []entry {
	var pairs []*ast.MappingValueNode
	switch v := n.(type) {
	case nil, *ast.NullNode:
	case *ast.MappingNode:
		pairs = v.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{v}
	default:
		r.fail(n, "needs keys with values below it, as in \"key: value\"")
	}
	seen := make(map[string]int, len(pairs))
	entries := make([]entry, 0, len(pairs))
	for _, p := range pairs {
		key := p.Key.GetToken().Value
		if first, twice := seen[key]; twice {
			r.fail(p.Key, "key %s stands here twice, first on line %d", shown(key), first)
			continue
		}
		seen[key] = line(p.Key)
		entries = append(entries, entry{key, p.Key, p.Value})
	}
	return entries
}

// readFields reads a mapping into the fields of a struct. Keys that are no field go to extra; what extra does not know
// either is refused.
func readFields[T any](r *reader, n ast.Node, fields []field[T], into *T, extra map[string]func(entry)) {
	readSection(r, n, fields, into, "", extra)
}

func readSection[T any](r *reader, n ast.Node, fields []field[T], into *T, section string, extra map[string]func(entry)) {
	outer := r.key
	defer func() { r.key = outer }()
	for _, e := range r.entries(n) {
		r.key = outer
		key := section + e.key
		f, isField := find(fields, key)
		_, isMapping := e.value.(*ast.MappingNode)
		switch {
		case extra[e.key] != nil && section == "":
			extra[e.key](e)
		case isSection(fields, key) && (isMapping || !isField):
			r.key = join(outer, e.key)
			readSection(r, e.value, fields, into, key+".", nil)
		case isField:
			r.key = join(outer, e.key)
			r.origins[r.place(cmp.Or(f.short, f.key))] = Origin{r.source, r.file, line(e.at), r.site}
			f.of(into).read(r, e.value)
		default:
			r.unknown(e, siblings(fields, section), extra)
		}
	}
}

func join(section, key string) string {
	if section == "" {
		return key
	}
	return section + "." + key
}

// place is where a field stands. The key of a setting outside a site begins with defaults.
func (r *reader) place(key string) Place {
	if strings.HasPrefix(r.key, "defaults.") {
		key = "defaults." + key
	}
	return Place{r.site, key}
}

// unknown refuses a key, with the best advice there is.
func (r *reader) unknown(e entry, known []string, extra map[string]func(entry)) {
	for key := range extra {
		known = append(known, key)
	}
	slices.Sort(known)
	text := "unknown key " + shown(e.key)
	near := nearest(e.key, known)
	switch {
	case extra["sites"] != nil && slices.Contains(siblings(settingFields, ""), e.key):
		text += ", it belongs under defaults: or beside the url: of a site"
	case extra["sites"] == nil && slices.Contains(siblings(configFields, ""), e.key):
		text += ", it belongs at the top of the file"
	case near != "":
		text += ", did you mean " + near + "?"
	default:
		text += ", known here: " + strings.Join(known, ", ")
	}
	r.fail(e.at, "%s", text)
}

// wordsNode is a node for words that come from a command, not from a file: one word by itself, several as a sequence.
func wordsNode(words []string) ast.Node {
	nowhere := func(text string) *token.Token { return token.New(text, text, &token.Position{}) }
	if len(words) == 1 {
		return ast.String(nowhere(words[0]))
	}
	s := ast.Sequence(nowhere("["), true)
	for _, w := range words {
		s.Values = append(s.Values, ast.String(nowhere(w)))
	}
	return s
}
