package content

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"recrawld/recrawl/canon"
)

// readXML reads XML: each text in an element is a block. A document whose root is rss, feed or RDF is read as a feed. It
// reports whether anything was found: a feed without entries is one.
func readXML(v *View, text []byte, at canon.URL) bool {
	r := xmlReader{sheet: newSheet(v), source: legible(text), at: at}
	for range maxResumes {
		if r.read() {
			return len(v.blocks) > 0 || r.feed
		}
	}
	return false
}

// maxResumes is how many mistakes of a document are passed over; one with more is read as text.
const maxResumes = 10_000

// legible is a text with spaces in place of the characters that XML does not allow, at which a decoder would stop.
func legible(text []byte) []byte {
	legal := func(r rune) bool {
		return r >= ' ' && r != 0xFFFE && r != 0xFFFF || r == '\t' || r == '\n' || r == '\r'
	}
	if bytes.IndexFunc(text, func(r rune) bool { return !legal(r) }) < 0 {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if legal(r) {
			return r
		}
		return ' '
	}, text)
}

// xmlReader goes over the tokens of a document.
type xmlReader struct {
	*sheet
	source []byte // what was not read yet
	at     canon.URL
	path   []string
	over   int // elements open beyond maxDepth
	feed   bool
	text   strings.Builder
	entry  *entry // the one that is open; nil: none
	depth  int    // of the element of the entry
}

// entry is an item of a feed.
type entry struct {
	id, title, link string
	text            strings.Builder
}

func decoder(source []byte) *xml.Decoder {
	tokens := xml.NewDecoder(bytes.NewReader(source))
	tokens.Strict = false
	tokens.Entity = xml.HTMLEntity
	tokens.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // it is UTF-8 already
	return tokens
}

// read reads on. It reports whether that was to the end, or to where no more is wanted, and not to a mistake, such as a
// sign that should be escaped. One in the first entry of a feed must not hide all the others.
func (r *xmlReader) read() (ended bool) {
	tokens, tag := decoder(r.source), int64(0) // before what was taken last, if that does not fit any more
	for {
		start := tokens.InputOffset()
		token, err := tokens.RawToken()
		if err != nil {
			return r.mistake(int(start), int(tokens.InputOffset()))
		}
		room := true
		switch t := token.(type) {
		case xml.StartElement:
			room = r.start(t)
		case xml.CharData:
			r.text.Write(t)
		case xml.EndElement:
			room = r.end(t.Name.Local)
		}
		if !room {
			r.v.cut(r.source[tag:])
			return true
		}
		if _, text := token.(xml.CharData); !text && r.entry == nil {
			tag = start
		}
	}
}

// mistake takes what a decoder stopped in for text, but for a comment. It reports whether that was the end.
func (r *xmlReader) mistake(start, end int) (ended bool) {
	token := r.source[start:]
	end = min(max(end-start, 1), len(token))
	if len(token) == 0 {
		return true
	}
	if bytes.HasPrefix(token, []byte("<!--")) {
		at := bytes.Index(token, []byte("-->"))
		if at < 0 {
			return true
		}
		end = at + len("-->")
	} else {
		r.text.Write(token[:end])
	}
	r.source = token[end:]
	return len(r.source) == 0
}

// start opens an element. It reports whether there was room for what stands before it and in its attributes.
func (r *xmlReader) start(t xml.StartElement) bool {
	room := r.flush()
	if len(r.path) >= maxDepth {
		r.over++
		return room
	}
	name := head(t.Name.Local, maxElement)
	if len(r.path) == 0 && (name == "rss" || name == "feed" || name == "RDF") {
		r.v.Kind, r.feed = Feed, true
	}
	r.path = append(r.path, name)
	switch {
	case r.v.Kind == Feed && r.entry == nil && (name == "item" || name == "entry"):
		r.entry, r.depth = &entry{}, len(r.path)
	case r.entry != nil && name == "link":
		r.link(t.Attr)
	case r.v.Kind != Feed:
		for _, a := range t.Attr {
			if room && a.Name.Local != "xmlns" && a.Name.Space != "xmlns" {
				room = r.add(r.place()+"@"+head(a.Name.Local, maxElement), fold(a.Value))
			}
		}
	}
	return room
}

// maxElement is the length in bytes of the longest name of an element; longer ones are cut, for each path holds them.
const maxElement = 100

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

// end closes the innermost element of a name, and those in it that have no end of their own. It reports whether there was
// room for what stands in them.
func (r *xmlReader) end(name string) bool {
	room := r.flush()
	if r.over > 0 {
		r.over--
		return room
	}
	at := len(r.path) - 1
	for name = head(name, maxElement); at >= 0 && r.path[at] != name; at-- {
	}
	if at < 0 {
		return room
	}
	if r.entry != nil && at < r.depth {
		room = r.finish() && room
	}
	r.path = r.path[:at]
	return room
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
