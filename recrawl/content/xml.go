package content

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"recrawld/recrawl/canon"
)

// readXML reads XML: each text in an element is a block. A document whose root is rss, feed or RDF is read as a feed. It
// reports whether anything was found.
func readXML(v *View, text []byte, at canon.URL) bool {
	tokens := xml.NewDecoder(bytes.NewReader(text))
	tokens.Strict = false
	tokens.AutoClose = xml.HTMLAutoClose
	tokens.Entity = xml.HTMLEntity
	tokens.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // it is UTF-8 already
	r := xmlReader{sheet: newSheet(v), tokens: tokens, at: at}
	r.read()
	return len(v.blocks) > 0
}

// xmlReader goes over the tokens of a document.
type xmlReader struct {
	*sheet
	tokens *xml.Decoder
	at     canon.URL
	path   []string
	text   strings.Builder
	entry  *entry // the one that is open; nil: none
	depth  int    // of the element of the entry
}

// entry is an item of a feed.
type entry struct {
	id, title, link string
	text            strings.Builder
}

func (r *xmlReader) read() {
	for {
		token, err := r.tokens.RawToken()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			r.start(t)
		case xml.CharData:
			r.text.Write(t)
		case xml.EndElement:
			if !r.end() {
				return
			}
		}
	}
}

func (r *xmlReader) start(t xml.StartElement) {
	if !r.flush() || len(r.path) >= maxDepth {
		r.path = append(r.path, "")
		return
	}
	name := t.Name.Local
	if len(r.path) == 0 && (name == "rss" || name == "feed" || name == "RDF") {
		r.v.Kind = Feed
	}
	r.path = append(r.path, name)
	switch {
	case r.v.Kind == Feed && r.entry == nil && (name == "item" || name == "entry"):
		r.entry, r.depth = &entry{}, len(r.path)
	case r.entry != nil && name == "link":
		r.link(t.Attr)
	case r.v.Kind != Feed:
		for _, a := range t.Attr {
			if a.Name.Local != "xmlns" && a.Name.Space != "xmlns" {
				r.add(r.place()+"@"+a.Name.Local, fold(a.Value))
			}
		}
	}
}

// link takes the address of an Atom entry.
func (r *xmlReader) link(attrs []xml.Attr) {
	href, rel := "", ""
	for _, a := range attrs {
		switch a.Name.Local {
		case "href":
			href = a.Value
		case "rel":
			rel = a.Value
		}
	}
	if href != "" && (rel == "" || rel == "alternate") {
		r.entry.link = href
	}
}

func (r *xmlReader) place() string {
	return head(strings.Join(r.path[max(0, len(r.path)-maxPathNames):], "/"), maxPlace)
}

// end closes an element.
func (r *xmlReader) end() bool {
	ok := r.flush()
	if r.entry != nil && len(r.path) == r.depth {
		ok = r.finish() && ok
	}
	r.path = r.path[:max(0, len(r.path)-1)]
	return ok
}

// flush takes the text gathered so far for the element that is open.
func (r *xmlReader) flush() bool {
	text := fold(r.text.String())
	r.text.Reset()
	if text == "" || len(r.path) == 0 {
		return true
	}
	name := r.path[len(r.path)-1]
	switch {
	case r.entry != nil:
		if len(r.path) > r.depth && r.path[r.depth] == "content" {
			name = "content" // its mark-up may stand there as it is (RFC 4287 section 4.1.3)
		}
		r.entry.take(name, text, len(r.path) == r.depth+1)
		return true
	case r.v.Kind == Feed:
		return r.channel(name, text)
	}
	return r.add(r.place(), text)
}

// channel takes what a feed says of itself: its title is content, when it was built is not.
func (r *xmlReader) channel(name, text string) bool {
	switch {
	case name == "title" && r.v.Title == "":
		r.v.Title = text
		return r.add("channel/title", text)
	case name == "description", name == "subtitle":
		return r.add("channel/description", text)
	}
	return true
}

// take takes a text of an entry; direct tells that it stands in the entry itself. Dates and counters of comments are left
// out: an entry that is dated anew says nothing new.
func (e *entry) take(name, text string, direct bool) {
	switch name {
	case "guid", "id":
		if direct {
			e.id = text
		}
	case "title":
		if direct {
			e.title = text
		}
	case "link":
		e.link = text
	case "description", "summary", "content", "encoded":
		if e.text.Len() > 0 {
			e.text.WriteByte(' ')
		}
		e.text.WriteString(text)
	}
}

// finish adds the entry: a block for its title with its link, and one for its text.
func (r *xmlReader) finish() bool {
	e := r.entry
	r.entry = nil
	var links []Link
	if e.link != "" {
		links = []Link{linkOf(r.at, r.at, e.link)}
	}
	title := e.title
	if title == "" {
		title = e.id
	}
	ok := r.add("entry/title", title, links...)
	if e.text.Len() > 0 && ok {
		ok = r.add("entry/text", withoutTags(e.text.String()))
	}
	return ok
}

// withoutTags is the text of the mark-up that entries hold.
func withoutTags(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	inner := &View{}
	readHTML(inner, []byte(text), false, canon.URL{}, nil)
	var b strings.Builder
	for i := range inner.blocks {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(inner.blocks[i].Text)
	}
	return b.String()
}
