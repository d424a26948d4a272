package sitemap

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// entryNames are, by the root element, the elements that hold one entry each.
var entryNames = map[string]string{"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "RDF": "item", "feed": "entry"}

// kinds are what lists are, by the root element.
var kinds = map[string]Kind{"urlset": Sitemap, "sitemapindex": Index, "rss": Feed, "RDF": Feed, "feed": Feed}

// fields are what is kept of an entry, by the names of its children.
type fields struct {
	loc, lastMod string
	guid         string // a permanent link, for feeds without another
	published    string
	id, title    string
}

// newDecoder reads XML leniently, with the entities of HTML; decoded tells that the text is UTF-8 already, whatever it says
// of itself.
func newDecoder(r io.Reader, decoded bool) *xml.Decoder {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if decoded { // by its byte order mark
			return in, nil
		}
		return charset.NewReaderLabel(label, in)
	}
	return d
}

// readXML walks the elements by their local names: prefixes and namespaces are written in too many ways to insist on.
func (c *collector) readXML(r io.Reader, decoded bool) error {
	bound := &tokenReader{in: r, left: MaxToken}
	if c.walk != nil { // nothing else bounds what the decoder holds
		r = bound
	}
	d := newDecoder(r, decoded)
	walk := walker{collector: c}
	for !c.full {
		token, err := d.RawToken()
		bound.left = MaxToken
		c.line, _ = d.InputPos()
		if errors.Is(err, io.EOF) {
			return walk.end()
		}
		if err != nil {
			return err
		}
		if err := walk.token(token); err != nil {
			return err
		}
	}
	return nil
}

// tokenReader ends a document in which a token does not end.
type tokenReader struct {
	in   io.Reader
	left int // of the token that is being read, give or take a buffer of the decoder
}

// Read implements io.Reader.
func (t *tokenReader) Read(p []byte) (int, error) {
	if t.left <= 0 {
		return 0, fmt.Errorf("a tag or a text of more than %d bytes", MaxToken)
	}
	n, err := t.in.Read(p)
	t.left -= n
	return n, err
}

// walker follows the elements of one document.
type walker struct {
	*collector
	root  string
	depth int // elements open
	entry int // depth of the entry's element; 0: in none

	found fields
	field string // the child whose text is being read; "": none
	text  strings.Builder
}

func (w *walker) token(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		w.depth++
		return w.start(t)
	case xml.EndElement:
		w.close()
		w.depth = max(w.depth-1, 0)
	case xml.CharData:
		if w.field != "" && w.text.Len() <= MaxURLBytes {
			w.text.Write(t[:min(len(t), MaxURLBytes+1)])
		}
	}
	return nil
}

func (w *walker) start(t xml.StartElement) error {
	name := t.Name.Local
	switch {
	case w.root == "":
		if w.root = name; entryNames[name] == "" {
			return fmt.Errorf("%w: its root element is %.40q", ErrFormat, name)
		}
		w.collector.set.Kind = kinds[name]
	case w.entry == 0 && name == entryNames[w.root]:
		w.entry, w.found = w.depth, fields{}
	case w.entry > 0 && w.depth == w.entry+1:
		w.field = name
		w.text.Reset()
		w.attributes(name, t.Attr)
	}
	return nil
}

// attributes reads Atom's links, which stand in attributes, and what RSS says of its guid.
func (w *walker) attributes(name string, attrs []xml.Attr) {
	var href, rel, permaLink string
	for _, attr := range attrs {
		switch attr.Name.Local {
		case "href":
			href = attr.Value
		case "rel":
			rel = attr.Value
		case "isPermaLink":
			permaLink = attr.Value
		}
	}
	feed := w.collector.set.Kind == Feed // in a sitemap an alternate is the page in another language
	if feed && name == "link" && href != "" && (rel == "" || rel == "alternate") && w.found.loc == "" {
		w.found.loc = strings.TrimSpace(href)
	}
	if name == "guid" && permaLink == "false" {
		w.field = "id"
	}
}

// close ends a field or an entry.
func (w *walker) close() {
	switch w.depth {
	case 0:
	case w.entry:
		w.keep()
		w.entry, w.field = 0, ""
	case w.entry + 1:
		w.set(w.field, strings.TrimSpace(w.text.String()))
		w.field = ""
	}
}

// set keeps the first value of each field.
func (w *walker) set(field, value string) {
	if target := w.found.of(field); target != nil && *target == "" {
		*target = value
	}
}

// of is where the text of a child goes; nil: nowhere.
func (f *fields) of(child string) *string {
	switch child {
	case "loc", "link":
		return &f.loc
	case "guid":
		return &f.guid
	case "lastmod", "updated":
		return &f.lastMod
	case "pubDate", "published", "date":
		return &f.published
	case "id":
		return &f.id
	case "title":
		return &f.title
	}
	return nil
}

func (w *walker) keep() {
	f := &w.found
	f.loc, f.lastMod, f.id = cmp.Or(f.loc, f.guid), cmp.Or(f.lastMod, f.published), cmp.Or(f.id, f.guid)
	if w.root == "sitemapindex" {
		w.sitemap(f)
	} else {
		w.page(f)
	}
}

// end is the end of the stream: a fault where elements are open.
func (w *walker) end() error {
	switch {
	case w.root == "":
		return fmt.Errorf("%w: no element", ErrFormat)
	case w.depth > 0:
		return fmt.Errorf("%w within <%s>", io.ErrUnexpectedEOF, w.root)
	}
	return nil
}
