package content

import (
	"bytes"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"recrawld/recrawl/canon"
)

// marks are what the selectors of the rules match on one page, by the number of the element.
type marks struct{ flags map[int]Flags }

// tree collects the elements of a page for selectors to run on, as the reader sees them nested.
type tree struct {
	all      []*html.Node       // by the number of the element, from 1 on; no more than maxNodes
	open     []*html.Node       // beside reader.open
	children map[*html.Node]int // elements and texts in each
}

// match reads the page once for its tree and runs the selectors of the rules on it. Those that match nothing are told in
// the View.
func match(text []byte, xhtml bool, at canon.URL, rules *Rules) (*marks, []string) {
	r := newReader(&View{}, text, xhtml, at)
	r.tree = &tree{all: []*html.Node{nil}, open: []*html.Node{{Type: html.DocumentNode}}, children: map[*html.Node]int{}}
	r.read()
	number := make(map[*html.Node]int, len(r.tree.all))
	for i, n := range r.tree.all {
		number[n] = i
	}
	m := &marks{flags: map[int]Flags{}}
	unmatched := m.add(rules.watch, Watched, r.tree, number)
	return m, append(unmatched, m.add(rules.ignore, Ignored, r.tree, number)...)
}

func (m *marks) add(selectors []selector, flag Flags, t *tree, number map[*html.Node]int) (unmatched []string) {
	for _, s := range selectors {
		found := t.query(s)
		for _, n := range found {
			m.flags[number[n]] |= flag
		}
		if len(found) == 0 {
			unmatched = append(unmatched, s.text)
		}
	}
	return unmatched
}

// maxSiblings is how many elements and texts may stand in one for selectors that count them: each counts from the first, so that
// 200,000 rows of a table would take minutes.
const maxSiblings = 4000

// query returns the elements that a selector matches. One that counts siblings matches none where there are too many.
func (t *tree) query(s selector) []*html.Node {
	if !s.counts {
		return cascadia.QueryAll(t.open[0], s.matches)
	}
	var found []*html.Node
	crowded := map[*html.Node]bool{}
	for _, n := range t.all[1:] {
		if t.children[n.Parent] > maxSiblings || crowded[n.Parent] {
			crowded[n] = true
		} else if s.matches.Match(n) {
			found = append(found, n)
		}
	}
	return found
}

// start is a start tag, whose element stays open unless it is closed at once.
func (t *tree) start(name string, tokens *html.Tokenizer, hasAttr, closed bool) []html.Attribute {
	n := &html.Node{Type: html.ElementNode, Data: name}
	for hasAttr {
		var key, value []byte
		key, value, hasAttr = tokens.TagAttr()
		n.Attr = append(n.Attr, html.Attribute{Key: string(key), Val: string(value)})
	}
	parent := t.open[len(t.open)-1]
	if len(t.all) < maxNodes {
		t.all = append(t.all, n)
		parent.AppendChild(n)
		t.children[parent]++
	}
	if !closed && len(t.open) < maxDepth {
		t.open = append(t.open, n)
	}
	return n.Attr
}

// text is text in the innermost element.
func (t *tree) text(text []byte) {
	parent := t.open[len(t.open)-1]
	if len(bytes.TrimSpace(text)) > 0 && len(t.all) < maxNodes {
		parent.AppendChild(&html.Node{Type: html.TextNode, Data: string(text)})
		t.children[parent]++
	}
}
