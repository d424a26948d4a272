package pdf

import (
	"hash"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// Document is what a PDF file says.
type Document struct {
	Title      string
	Paragraphs []string // of its pages in order: text that stands together, white space folded
	Cut        bool     // there is more than what was read of it
	Drawn      uint64   // a print of the pictures and the lines on its pages
}

// Bounds of a document.
const (
	mostPages = 10_000
	mostText  = 8 << 20
)

// Read reads what a PDF file says; false: nothing is known of that. Text that is drawn as a picture, or by a font that does not tell what its glyphs
// mean, says nothing.
func Read(body []byte) (Document, bool) {
	f, ok := open(body)
	if !ok {
		return Document{}, false
	}
	r := reader{file: f, fonts: make(map[int]*font), known: make(map[int]bool), drawn: fnv.New64a()}
	info, root := f.resolve(f.info), f.resolve(f.root)
	title := f.resolve(info.entry("/Title"))
	doc := Document{Title: strings.Join(strings.Fields(textString(title.bytes())), " ")}
	r.pages(root.entry("/Pages"), value{}, 0)
	doc.Paragraphs, doc.Drawn, doc.Cut = r.paragraphs, r.drawn.Sum64(), r.full() || f.broken || f.room == 0
	return doc, true
}

// reader reads the pages of a file.
type reader struct {
	file       *file
	fonts      map[int]*font // by object
	known      map[int]bool  // pages and their groups that were read
	paragraphs []string
	said       int         // bytes of text
	drawn      hash.Hash64 // what is no text
}

func (r *reader) full() bool { return r.said > mostText || len(r.known) > mostPages }

// pages reads a page, or a group of such (section 7.7.3); resources are those of the group in which it lies.
func (r *reader) pages(at, resources value, depth int) {
	if r.known[at.ref] || depth > mostNested || r.full() || r.file.broken {
		return
	}
	r.known[at.ref] = true
	page := r.file.resolve(at)
	if own := page.entry("/Resources"); own.token != "" {
		resources = r.file.resolve(own)
	}
	kids := r.file.resolve(page.entry("/Kids"))
	for i := range kids.list {
		r.pages(kids.list[i], resources, depth+1)
	}
	if kids.token == "" {
		p := painter{reader: r, state: state{ctm: identity}}
		p.run(r.contents(page.entry("/Contents")), resources, 0)
		r.paragraphs = append(r.paragraphs, p.paragraphs()...)
	}
}

// contents are the instructions that draw a page: of one stream, or of several in a row.
func (r *reader) contents(v value) (all []byte) {
	parts := []value{v}
	if list := r.file.resolve(v); list.token == "[" {
		parts = list.list
	}
	for i := range parts {
		if text, ok := r.file.data(parts[i]); ok {
			all = append(append(all, text...), '\n')
		}
	}
	return all
}

// textString is a string for people (section 7.9.2.2).
func textString(s []byte) string {
	switch {
	case len(s) >= 2 && s[0] == 0xfe && s[1] == 0xff:
		return utf16BE(s[2:])
	case len(s) >= 3 && string(s[:3]) == "\xef\xbb\xbf":
		return strings.ToValidUTF8(string(s[3:]), "")
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(s) // nearly PDFDocEncoding
	if err != nil {
		return ""
	}
	return string(text)
}

// utf16BE decodes UTF-16 without a mark.
func utf16BE(s []byte) string {
	units := make([]uint16, 0, len(s)/2)
	for pair := range slices.Chunk(s[:len(s)&^1], 2) {
		units = append(units, uint16(pair[0])<<8|uint16(pair[1]))
	}
	return string(utf16.Decode(units))
}
