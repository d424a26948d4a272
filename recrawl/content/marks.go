package content

import (
	"bytes"

	"golang.org/x/net/html"

	"recrawld/recrawl/canon"
)

// marks are what the selectors of the rules match on one page, by the number of the element.
type marks struct{ flags map[int]Flags }

// tree collects the elements of a page for selectors to run on, as the reader sees them nested.
type tree struct {
	all  []*html.Node // by the number of the element, from 1 on
	open []*html.Node // beside reader.open
}

// match reads the page once for its tree and runs the selectors of the rules on it. Those that match nothing are told in
// the View.
func match(text []byte, xhtml bool, at canon.URL, rules *Rules) (*marks, []string) {
	r := newReader(&View{}, text, xhtml, at)
	r.tree = &tree{all: []*html.Node{nil}, open: []*html.Node{{Type: html.DocumentNode}}}
	r.read()
	number := make(map[*html.Node]int, len(r.tree.all))
	for i, n := range r.tree.all {
		number[n] = i
	}
	m := &marks{flags: map[int]Flags{}}
	unmatched := m.add(rules.watch, Watched, r.tree.open[0], number)
	return m, append(unmatched, m.add(rules.ignore, Ignored, r.tree.open[0], number)...)
}

func (m *marks) add(selectors []selector, flag Flags, root *html.Node, number map[*html.Node]int) (unmatched []string) {
	for _, s := range selectors {
		found := s.query(root)
		for _, n := range found {
			m.flags[number[n]] |= flag
		}
		if len(found) == 0 {
			unmatched = append(unmatched, s.text)
		}
	}
	return unmatched
}

// start is a start tag, whose element stays open unless it is closed at once.
func (t *tree) start(name string, tokens *html.Tokenizer, hasAttr, closed bool) []html.Attribute {
	n := &html.Node{Type: html.ElementNode, Data: name}
	for hasAttr {
		var key, value []byte
		key, value, hasAttr = tokens.TagAttr()
		n.Attr = append(n.Attr, html.Attribute{Key: string(key), Val: string(value)})
	}
	t.all = append(t.all, n)
	if len(t.all) < maxNodes {
		t.open[len(t.open)-1].AppendChild(n)
	}
	if !closed && len(t.open) < maxDepth {
		t.open = append(t.open, n)
	}
	return n.Attr
}

// text is text in the innermost element.
func (t *tree) text(text []byte) {
	if len(bytes.TrimSpace(text)) > 0 {
		t.open[len(t.open)-1].AppendChild(&html.Node{Type: html.TextNode, Data: string(text)})
	}
}
