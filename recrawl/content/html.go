package content

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"recrawld/recrawl/canon"
)

// Bounds of what is read of a page. Of what lies beyond the last block the View has a print alone.
const (
	maxDepth  = 512       // elements open at once; deeper ones count as part of the last
	maxBlocks = 200_000   // of a page
	maxNodes  = 1_000_000 // of a page, from which on blocks stand in the elements around them
)

// reader builds the View of a page from its tokens, in one pass: the elements that are open, the text of the block under
// way, and where it stands. A parser's tree is not needed for that, and it has no bound: mark-up of a few bytes can make
// it open hundreds of elements anew.
type reader struct {
	source *bytes.Reader // what tokens reads
	tokens *html.Tokenizer
	v      *View
	at     canon.URL
	base   canon.URL
	based  bool // an element named the base: the first does
	xhtml  bool
	marks  *marks // what selectors matched; nil: there are none
	tree   *tree  // where the elements are collected for selectors; nil: they are not

	open     []element
	over     int // elements open beyond maxDepth
	elements int // seen so far

	paragraphs int     // of the elements open
	tables     []table // likewise
	names      map[string]string
	targets    map[string]Link
	turning    map[string]bool // addresses of the pages before and after, true where the head names them

	text    []byte // of all blocks, one after the other
	start   int    // of the block under way, in text
	space   bool   // owed before the next rune
	links   []Link
	images  []string
	runes   int32
	inLinks int32
	inTitle bool
	form    uint64 // of the block under way
	aged    bool   // likewise
	turned  int    // how many of links lead to the page before or after
	apart   bool   // an age ended just now, that no letter belongs to
	titled  bool
	ends    []int // of the blocks, in text
}

// element is an open element.
type element struct {
	name   string
	kind   tag
	node   int32 // its node, or its parent's
	level  uint8
	silent bool
	pre    bool
	link   bool
	from   int  // where its text begins
	dated  bool // an attribute gives a date
	links  int  // of the block under way, with its own

	foreign bool // it belongs to SVG or MathML, whose elements a slash closes
}

func readHTML(v *View, text []byte, xhtml bool, at canon.URL, rules *Rules) {
	r := newReader(v, text, xhtml, at)
	if rules.selects() {
		r.marks, v.Unmatched = match(text, xhtml, at, rules)
	}
	r.read()
	r.finish()
}

func newReader(v *View, text []byte, xhtml bool, at canon.URL) *reader {
	source := bytes.NewReader(text)
	return &reader{
		source: source, tokens: html.NewTokenizer(source), v: v, at: at, base: at, xhtml: xhtml,
		names: map[string]string{}, targets: map[string]Link{}, turning: map[string]bool{}, text: make([]byte, 0, len(text)/4),
	}
}

// read takes the tokens one by one.
func (r *reader) read() {
	r.v.nodes = append(r.v.nodes, node{slot: slotSeed})
	r.open = append(r.open, element{})
	for len(r.ends) < maxBlocks {
		switch r.tokens.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			text := r.tokens.Text()
			if r.tree != nil {
				r.tree.text(text)
			}
			r.characters(text)
		case html.StartTagToken:
			r.startTag(false)
		case html.SelfClosingTagToken:
			if r.xhtml || r.top().foreign {
				r.tokens.NextIsNotRawText()
			}
			r.startTag(true)
		case html.EndTagToken:
			name, _ := r.tokens.TagName()
			r.endTag(name)
		}
	}
	rest, _ := io.ReadAll(r.source)
	r.v.cut(slices.Concat(r.tokens.Buffered(), rest))
}

func (r *reader) top() *element { return &r.open[len(r.open)-1] }

// startTag is a start tag; slashed tells that a slash stands at its end.
func (r *reader) startTag(slashed bool) {
	name, hasAttr := r.tokens.TagName()
	kind := tagOf(name)
	tagName := r.intern(name)
	closed := kind&void != 0 || slashed && (r.xhtml || r.top().foreign || foreign(tagName))
	r.inTitle = false
	r.imply(tagName, kind)
	var attrs attributes
	r.elements++
	switch {
	case r.tree != nil:
		attrs.from(r.tree.start(tagName, r.tokens, hasAttr, closed))
	case hasAttr:
		attrs.read(r.tokens)
	}
	if attrs.shadow && tagName == "template" {
		kind = cuts | cell
	}
	if kind&cuts != 0 {
		r.cut()
	}
	r.special(tagName, &attrs, closed)
	r.emphasis(tagName)
	if !closed {
		r.push(tagName, kind, &attrs)
	}
}

func foreign(name string) bool { return name == "svg" || name == "math" }

// push opens an element.
func (r *reader) push(name string, kind tag, attrs *attributes) {
	if len(r.open) >= maxDepth {
		r.over++
		return
	}
	parent := r.top()
	e := element{name: name, kind: kind, node: parent.node, level: parent.level, pre: parent.pre || name == "pre",
		silent: parent.silent || kind&silent != 0, link: parent.link || name == "a", from: len(r.text), dated: attrs.dated, links: len(r.links),
		foreign: parent.foreign && name != "foreignobject" || foreign(name)}
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		e.level = name[1] - '0'
	}
	flags := attrs.flags | flagsOfTag[name]
	if r.marks != nil {
		flags |= r.marks.flags[r.elements]
	}
	if attrs.level > 0 {
		e.level = attrs.level
	}
	if kind&formatter != 0 && flags&(Hidden|Ignored) != 0 { // words within a block: they are not part of it
		e.silent, flags = true, 0
	}
	if (kind&formatter == 0 || flags != 0) && !e.silent && len(r.v.nodes) < maxNodes {
		e.node = r.node(parent.node, name, attrs, flags)
	}
	r.open = append(r.open, e)
	r.tabulate(name, attrs)
	if name == "p" {
		r.paragraphs++
	}
}

func (r *reader) node(parent int32, name string, attrs *attributes, flags Flags) int32 {
	label := name
	if attrs.label != "" {
		label = r.intern([]byte(name + "." + attrs.label))
	}
	r.v.nodes = append(r.v.nodes, node{parent: parent, first: int32(len(r.ends)), name: label, flags: flags, prose: proseTags[name],
		slot: hashString(r.v.nodes[parent].slot, label)})
	return int32(len(r.v.nodes) - 1)
}

// pop closes the innermost element.
func (r *reader) pop() {
	e := r.top()
	if e.name == "a" {
		r.marker(e)
	}
	if e.from >= r.start && (e.kind&cuts == 0 || e.dated) {
		r.age(e)
	}
	r.untabulate(e)
	if e.kind&cuts != 0 {
		r.cut()
	}
	if parent := &r.open[len(r.open)-2]; parent.node != e.node {
		n := &r.v.nodes[e.node]
		n.end, n.last = int32(len(r.v.nodes)), int32(len(r.ends))
		if e.kind&cuts == 0 && r.pending() { // the block goes on outside; it stands in both
			n.last++
		}
	}
	if e.name == "p" {
		r.paragraphs--
	}
	r.open = r.open[:len(r.open)-1]
	if r.tree != nil {
		r.tree.open = r.tree.open[:len(r.open)]
	}
}

// imply closes the elements that a start tag ends.
func (r *reader) imply(name string, kind tag) {
	if kind&closesP != 0 && r.paragraphs > 0 {
		r.closeParagraph()
	}
	e, ok := endedBy[name]
	if !ok {
		return
	}
	for i := len(r.open) - 1; i > max(0, len(r.open)-maxImplied); i-- {
		open := &r.open[i]
		these := e.these[open.name]
		if e.until[open.name] || open.kind&cell != 0 && !these {
			return
		}
		if these {
			r.closeTo(i)
		}
	}
}

// maxImplied is how many elements are looked at for those that a start tag ends.
const maxImplied = 32

// closeParagraph closes the innermost paragraph, if it is open within its cell.
func (r *reader) closeParagraph() {
	for i := len(r.open) - 1; i > 0; i-- {
		switch {
		case r.open[i].name == "p":
			r.closeTo(i)
			return
		case r.open[i].kind&cell != 0, r.open[i].name == "button":
			return
		}
	}
}

func (r *reader) closeTo(i int) {
	for len(r.open) > i {
		r.pop()
	}
}

func (r *reader) endTag(name []byte) {
	kind := tagOf(name)
	r.inTitle = false
	if string(name) == "br" {
		r.cut()
	}
	if kind&void != 0 {
		return
	}
	if r.over > 0 {
		r.over--
		if kind&cuts != 0 {
			r.cut()
		}
		return
	}
	for i := len(r.open) - 1; i > 0; i-- {
		e := &r.open[i]
		if e.name == string(name) {
			r.closeTo(i)
			return
		}
		// The end of a word's mark-up does not end a part, and what stands outside a cell does not reach in.
		if kind&formatter != 0 && e.kind&formatter == 0 || e.kind&cell != 0 && !tableTag(name) {
			break
		}
	}
	if kind&cuts != 0 {
		r.cut()
	}
}

// tableTag tells the elements whose end tags close cells.
func tableTag(name []byte) bool {
	switch string(name) {
	case "table", "tr", "tbody", "thead", "tfoot", "td", "th", "body", "html":
		return true
	}
	return false
}

// special does what single elements ask for.
func (r *reader) special(name string, attrs *attributes, closed bool) {
	if r.top().silent {
		return
	}
	switch name {
	case "title":
		r.inTitle, r.titled = !r.titled && !closed, true
	case "base":
		if u, err := r.at.Resolve(attrs.href); err == nil && attrs.href != "" && !r.based {
			r.base = u
		}
		r.based = r.based || attrs.href != ""
	case "a", "area":
		r.anchor(attrs)
	case "option":
		r.option(attrs.value)
	case "link":
		if attrs.turns && attrs.href != "" {
			r.neighbour(r.link(attrs.href), true)
		}
	case "img", "iframe", "frame", "embed", "source":
		r.image(attrs)
	case "input":
		r.input(attrs)
	}
}

func (r *reader) input(attrs *attributes) {
	switch strings.ToLower(attrs.kind) {
	case "password":
		r.v.forms++
	case "submit", "button", "reset":
		r.space = true
		r.characters([]byte(attrs.value))
		r.space = true
	}
}

// intern keeps one copy of each name.
func (r *reader) intern(name []byte) string {
	if s, ok := r.names[string(name)]; ok {
		return s
	}
	s := string(name)
	r.names[s] = s
	return s
}
