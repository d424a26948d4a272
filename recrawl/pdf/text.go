package pdf

import (
	"encoding/binary"
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
	Rest       uint64   // a print of all that Paragraphs do not say: pictures and lines, letters of no known meaning, links, forms, what is attached, what was not read
}

// Bounds of a document.
const (
	mostPages = 10_000
	mostText  = 8 << 20
	mostLines = 1 << 18
	mostTitle = 300     // bytes
	mostCodes = 1 << 21 // of all fonts
)

// Read reads what a PDF file says; false: nothing is known of that. Text that is drawn as a picture, or by a font that does not tell what its glyphs
// mean, says nothing.
func Read(body []byte) (Document, bool) {
	f, ok := open(body)
	if !ok {
		return Document{}, false
	}
	r := reader{file: f, fonts: make(map[int]*font), forms: make(map[int]*form), shared: make(map[int]*resources), known: make(map[int]bool),
		rest: newSummer(f), codes: mostCodes}
	left := f.left
	info, root := f.resolve(f.info), f.resolve(f.root)
	title := f.resolve(info.entry("/Title"))
	doc := Document{Title: folded(textString(title.bytes()[:min(len(title.bytes()), mostTitle)]))}
	r.rest.known = make(map[int]known)
	r.pages(root.entry("/Pages"), &resources{}, 0)
	doc.Paragraphs, doc.Cut = r.paragraphs, r.full() || f.broken || f.room == 0
	f.left, f.broken = left, false
	if r.rest.all(); f.broken {
		r.rest.write(string(body))
	}
	doc.Rest = binary.BigEndian.Uint64(r.rest.sum.Sum(nil))
	return doc, true
}

// reader reads the pages of a file. What it reads it reads once, however often that is referred to.
type reader struct {
	file       *file
	fonts      map[int]*font // by object
	forms      map[int]*form // likewise; nil: it is none
	shared     map[int]*resources
	known      map[int]bool // pages and their groups that were read
	paragraphs []string
	said       int     // bytes of text
	lines      int     // of text
	codes      int     // of fonts that may be read yet
	rest       *summer // of what is no text
}

func (r *reader) full() bool {
	return r.said > mostText || r.lines > mostLines || len(r.known) > mostPages
}

// resources are what instructions call by names (section 7.8.3).
type resources struct {
	fonts, objects value
	direct         map[string]*font // fonts that are no objects
}

// resources reads those of a page or a form, if it has its own; otherwise they are those of what it lies in.
func (r *reader) resources(of *value, outer *resources) *resources {
	own := of.entry("/Resources")
	if own.token == "" {
		return outer
	}
	if known := r.shared[own.ref]; known != nil {
		return known
	}
	dict := r.file.resolve(own)
	read := &resources{fonts: r.file.resolve(dict.entry("/Font")), objects: r.file.resolve(dict.entry("/XObject")), direct: make(map[string]*font)}
	if own.ref != 0 {
		r.shared[own.ref] = read
	}
	return read
}

// pages reads a page, or a group of such (section 7.7.3); outer are the resources of the group in which it lies.
func (r *reader) pages(at value, outer *resources, depth int) {
	if r.known[at.ref] || depth > mostNested || r.full() || r.file.broken {
		return
	}
	r.known[at.ref] = true
	page := r.file.resolve(at)
	resources := r.resources(&page, outer)
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
			r.rest.known[parts[i].ref] = knownStream
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
