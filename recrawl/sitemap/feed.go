package sitemap

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Head is what a feed says of itself, as it stands there.
type Head struct {
	Hubs []string // that tell of its changes (WebSub), in order, at most headHubs
	Self string   // where it says that it is; "": nowhere
}

const (
	headBytes = 256 << 10 // of a feed's XML are read for its head at most
	headHubs  = 8
	jsonBytes = 8 << 20 // of a JSON Feed, whose head may stand behind its entries
)

// HeadOf reads the head of a feed: the links of RSS and Atom before the first entry, and the names hubs and feed_url of a JSON Feed 1.1.
// ok: it is a feed.
func HeadOf(body []byte) (h Head, ok bool) {
	hub := func(one jsonHub) {
		if strings.EqualFold(one.Type, "WebSub") {
			h.hub(one.URL)
		}
	}
	if h.Self, ok = jsonFeed(body, hub, func(jsonItem) {}); ok {
		return h, true
	}
	h = Head{}
	if KindOf(body) != Feed {
		return h, false
	}
	plain, err := inflate(bufio.NewReader(bytes.NewReader(body)))
	if err != nil {
		return h, false
	}
	utf16 := bytes.HasPrefix(body, []byte{0xFE, 0xFF}) || bytes.HasPrefix(body, []byte{0xFF, 0xFE})
	h.read(newDecoder(transform.NewReader(io.LimitReader(plain, headBytes), unicode.BOMOverride(encoding.Nop.NewDecoder())), utf16))
	return h, true
}

// read goes by local names, as the reading of entries does, up to the first entry or a fault.
func (h *Head) read(d *xml.Decoder) {
	for root := ""; ; {
		token, err := d.RawToken()
		if err != nil {
			return
		}
		t, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case root == "":
			root = t.Name.Local
		case t.Name.Local == entryNames[root]:
			return
		case t.Name.Local == "link":
			h.link(t.Attr)
		}
	}
}

func (h *Head) link(attrs []xml.Attr) {
	var href, rel string
	for _, attr := range attrs {
		switch attr.Name.Local {
		case "href":
			href = strings.TrimSpace(attr.Value)
		case "rel":
			rel = attr.Value
		}
	}
	for word := range strings.FieldsSeq(rel) {
		switch {
		case strings.EqualFold(word, "hub"):
			h.hub(href)
		case strings.EqualFold(word, "self") && h.Self == "":
			h.Self = href
		}
	}
}

func (h *Head) hub(url string) {
	if url != "" && len(h.Hubs) < headHubs {
		h.Hubs = append(h.Hubs, url)
	}
}

// What is read of a JSON Feed (jsonfeed.org, version 1.1).
type (
	jsonHub struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	jsonItem struct {
		ID        json.RawMessage `json:"id"` // a string, or in some feeds a number
		URL       string          `json:"url"`
		Title     string          `json:"title"`
		Published string          `json:"date_published"`
		Modified  string          `json:"date_modified"`
	}
)

const jsonVersion = "https://jsonfeed.org/version/"

// jsonFeed calls hub and item with what a JSON Feed has, one after the other: millions of empty ones fit into few bytes. It returns feed_url;
// ok: it was one, to its end.
func jsonFeed(body []byte, hub func(jsonHub), item func(jsonItem)) (self string, ok bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 64)], []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(body) > jsonBytes || !bytes.HasPrefix(text, []byte("{")) || !bytes.Contains(body, []byte("jsonfeed.org")) {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	_, err := d.Token() // the brace
	version := ""
	for err == nil && d.More() {
		var name json.Token
		if name, err = d.Token(); err != nil {
			break
		}
		switch name {
		case "version":
			err = d.Decode(&version)
		case "feed_url":
			err = d.Decode(&self)
		case "hubs":
			err = jsonEach(d, hub)
		case "items":
			err = jsonEach(d, item)
		default:
			err = d.Decode(new(json.RawMessage))
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	return self, err == nil && strings.HasPrefix(version, jsonVersion)
}

// jsonEach calls do with the elements of the list that comes next, or of null.
func jsonEach[T any](d *json.Decoder, do func(T)) error {
	begin, err := d.Token()
	if err != nil || begin == nil {
		return err
	}
	if begin != json.Delim('[') {
		return ErrFormat
	}
	for d.More() {
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		do(one)
	}
	_, err = d.Token()
	return err
}

// ReadFeed reads the entries of a feed: RSS, Atom or JSON Feed. Errors and limits are those of Read; what is another list is of ErrFormat.
func ReadFeed(body []byte, limits Limits) (Set, error) {
	c := collector{limits: limits, set: Set{Kind: Feed}}
	_, is := jsonFeed(body, func(jsonHub) {}, func(item jsonItem) {
		if !c.full {
			c.page(&fields{loc: item.URL, lastMod: cmp.Or(item.Modified, item.Published), id: string(item.ID), title: item.Title})
		}
	})
	if is {
		c.set.Partial = c.full
		return c.set, nil
	}
	set, err := Read(bytes.NewReader(body), limits)
	if set.Kind != Feed {
		return Set{Partial: true}, fmt.Errorf("read feed: %w", ErrFormat)
	}
	return set, err
}
