package content

import "strings"

// Kind is what a body was read as.
type Kind uint8

// The kinds of body.
const (
	Other Kind = iota // no text to speak of: an image, an archive, PDF; the bytes decide
	HTML              // HTML and XHTML
	Text              // plain text: lines
	Feed              // RSS and Atom: entries
	JSON              // leaves, each with its path
	XML               // any other XML: elements with text
)

// String is the kind's word.
func (k Kind) String() string {
	return [...]string{"other", "html", "text", "feed", "json", "xml"}[k]
}

// View is a body as Judge and a person compare it. It is not changed after Read and safe for concurrent use then.
type View struct {
	Kind  Kind
	Title string // of the document, white space folded

	Unmatched []string // selectors of the rules that match nothing here

	blocks []Block
	bytes  uint64 // print of the body
}

// Block is a piece of text that stands by itself: a paragraph, a cell, a heading, a line, an entry, a leaf.
type Block struct {
	Text  string // white space folded
	Links []Link // in order; for an image or an embedded frame its source
	Path  string // where it stands, without what numbers it: "body/div.content/p"
	Level uint8  // 1–6: a heading of that level; 0: none
	Flags Flags
	Main  bool // it belongs to the main content
}

// Link is where a piece of content leads.
type Link struct {
	Target string // host and path, what carries no content left out; "" for a link within the page
	Whole  string // the whole address, tracking parameters left out
}

// Flags say what kind of region a block stands in.
type Flags uint16

// The flags.
const (
	InNav Flags = 1 << iota
	InHeader
	InFooter
	InAside
	InMain
	InArticle
	InDialog
	InConsent
	InMenu // a list of links, by its name
	Hidden
	InButton
	Ignored // the rules say so
)

// Blocks returns all blocks in order. The caller must not change them.
func (v *View) Blocks() []Block { return v.blocks }

// Lines is the main content, a line a block, for a person and for a diff.
func (v *View) Lines() []string {
	var lines []string
	for i := range v.blocks {
		if v.blocks[i].Main && v.blocks[i].Text != "" {
			lines = append(lines, v.blocks[i].Text)
		}
	}
	return lines
}

// Text is the main content as one text.
func (v *View) Text() string { return strings.Join(v.Lines(), "\n") }
