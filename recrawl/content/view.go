package content

import "strings"

// Kind is what a body was read as.
type Kind uint8

// The kinds of body.
const (
	Other Kind = iota // no text to speak of: an image, an archive; the bytes decide
	HTML              // HTML and XHTML
	Text              // plain text: lines
	Feed              // RSS and Atom: entries
	JSON              // leaves, each with its path
	XML               // any other XML: elements with text
	PDF               // paragraphs of its pages
)

// String is the kind's word.
func (k Kind) String() string {
	return [...]string{"other", "html", "text", "feed", "json", "xml", "pdf"}[k]
}

// isFile tells a body in whose place no text is expected but another file.
func (k Kind) isFile() bool { return k == Other || k == PDF }

// View is a body as Judge and a person compare it. It is not changed after Read and safe for concurrent use then.
type View struct {
	Kind  Kind
	Title string // of the document, white space folded
	Cut   bool   // there is more of the body than what is read of one

	LeadsTo string // where a page that says next to nothing leads at once, which whoever calls Read puts in; "": nowhere

	Unmatched []string // selectors of the rules that match nothing here

	blocks   []Block
	nodes    []node // elements that blocks stand in, in document order; the first is the document
	main     int32  // the node of the main content; -1: it was not looked for
	weight   int    // runes of running text in the main content
	said     int    // runes of all text in it, of HTML
	declares bool   // a main element, or the only article, says what the page is about
	watches  bool   // the main content is what a person asked to watch, and not what stands in its place
	print    uint64 // of the body
	rest     uint64 // print of what of it was not read; 0: all was
	forms    int    // password fields
	bytes    int
}

// Block is a piece of text that stands by itself: a paragraph, a cell, a heading, a line, an entry, a leaf.
type Block struct {
	Text   string   // white space folded
	Links  []Link   // in order
	Images []string // the addresses of its images, without their queries
	Level  uint8    // 1–6: a heading of that level; 0: none
	Flags  Flags
	Main   bool // it belongs to the main content

	node      int32  // in View.nodes
	runes     int32  // of Text
	linkRunes int32  // of those, in links
	form      uint64 // print of the emphasis in it and of the kind of list it starts in
	aged      bool   // an age stands in it that has its date beside it
	ageUnit   uint8  // it is the number of an age, counted in unitLengths[ageUnit-1], as the block beside it says; 0: it is none
	turns     bool   // it leads to the page before or after, and says hardly more
	away      bool   // it does so, or it is an option that leads to another page: it is none of the content
	entry     bool   // it is such an option, in no region beside the content
	counted   bool   // it stands in a column of how often things were looked at
	presence  bool   // it says whether the author of a post is there
	began     bool   // it says how many topics somebody began, behind how much he has written
}

// Link is where a piece of content leads.
type Link struct {
	Target string // host and path; "#" for a place on the same page, a constant for a mail address that is hidden
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
	InButton
	Hidden
	Ignored // the rules say so
	Watched // the rules say that it is content
)

var flagWords = []string{"nav", "header", "footer", "aside", "main", "article", "dialog", "consent", "menu", "button", "hidden",
	"ignored", "watched"}

// String joins the words of the flags with commas; "" for none.
func (f Flags) String() string {
	var on []string
	for i, word := range flagWords {
		if f&(1<<i) != 0 {
			on = append(on, word)
		}
	}
	return strings.Join(on, ",")
}

// beside are the regions that stand beside the content.
const beside = InNav | InFooter | InAside | InDialog | InConsent | Hidden | Ignored

// node is an element as far as the place of blocks goes.
type node struct {
	parent int32
	end    int32 // index after the last node within it
	first  int32 // its first block
	last   int32 // index after its last block
	slot   uint64
	name   string // tag and first class or id, without digits
	flags  Flags  // its own
	prose  bool   // an element of running text: a paragraph, a list, a quotation
}

// cut notes that what of a text comes here is not read.
func (v *View) cut(rest []byte) {
	v.Cut, v.rest = true, mix(v.rest^hashBytes(rest))
}

// Blocks returns all blocks in order. The caller must not change them.
func (v *View) Blocks() []Block { return v.blocks }

// Path says where a block stands, without what numbers it: "html/body/div.content/p".
func (v *View) Path(b *Block) string {
	if int(b.node) >= len(v.nodes) {
		return ""
	}
	var names []string
	for n := b.node; n > 0 && len(names) < maxPathNames; n = v.nodes[n].parent {
		names = append(names, v.nodes[n].name)
	}
	var s strings.Builder
	for i := len(names) - 1; i >= 0; i-- {
		s.WriteString(names[i])
		if i > 0 {
			s.WriteByte('/')
		}
	}
	return s.String()
}

// maxPathNames is how many elements a path names, counted from the block.
const maxPathNames = 12

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

// MainPath says where the main content stands.
func (v *View) MainPath() string {
	if len(v.nodes) == 0 {
		return ""
	}
	return v.Path(&Block{node: v.main})
}
