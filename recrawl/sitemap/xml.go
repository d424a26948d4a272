package sitemap

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// entryNames are, by the root element, the elements that hold one entry each.
var entryNames = map[string]string{"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "RDF": "item", "feed": "entry"}

// fields are what is kept of an entry, by the names of its children.
type fields struct {
	loc, lastMod string
	guid         string // a permanent link, for feeds without another
	published    string
}

// readXML walks the elements by their local names: prefixes and namespaces are written in too many ways to insist on.
func (c *collector) readXML(r io.Reader, decoded bool) error {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if decoded { // by its byte order mark, whatever it says of itself
			return in, nil
		}
		return charset.NewReaderLabel(label, in)
	}
	walk := walker{collector: c}
	for !c.full {
		token, err := d.RawToken()
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
	if name == "link" && href != "" && (rel == "" || rel == "alternate") && w.found.loc == "" {
		w.found.loc = strings.TrimSpace(href)
	}
	if name == "guid" && permaLink == "false" {
		w.field = ""
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
	target := map[string]*string{"loc": &w.found.loc, "link": &w.found.loc, "guid": &w.found.guid,
		"lastmod": &w.found.lastMod, "updated": &w.found.lastMod, "pubDate": &w.found.published,
		"published": &w.found.published, "date": &w.found.published}[field]
	if target != nil && *target == "" {
		*target = value
	}
}

func (w *walker) keep() {
	loc, lastMod := w.found.loc, w.found.lastMod
	if loc == "" {
		loc = w.found.guid
	}
	if lastMod == "" {
		lastMod = w.found.published
	}
	if w.root == "sitemapindex" {
		w.sitemap(loc)
	} else {
		w.page(loc, lastMod)
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
