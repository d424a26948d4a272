package sitemap

import (
	"bufio"
	"bytes"
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
	if f, is := jsonFeed(body); is {
		for _, hub := range f.Hubs {
			if strings.EqualFold(hub.Type, "WebSub") {
				h.hub(hub.URL)
			}
		}
		h.Self = f.FeedURL
		return h, true
	}
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

// jsonForm is what is read of a JSON Feed (jsonfeed.org, version 1.1).
type jsonForm struct {
	Version string `json:"version"`
	FeedURL string `json:"feed_url"`
	Hubs    []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"hubs"`
	Items []jsonItem `json:"items"`
}

type jsonItem struct {
	ID        json.RawMessage `json:"id"` // a string, or in some feeds a number
	URL       string          `json:"url"`
	Title     string          `json:"title"`
	Published string          `json:"date_published"`
	Modified  string          `json:"date_modified"`
}

const jsonVersion = "https://jsonfeed.org/version/"

func jsonFeed(body []byte) (f jsonForm, ok bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 64)], []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(body) > jsonBytes || !bytes.HasPrefix(text, []byte("{")) || !bytes.Contains(body, []byte("jsonfeed.org")) {
		return f, false
	}
	err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &f)
	return f, err == nil && strings.HasPrefix(f.Version, jsonVersion)
}

// ReadFeed reads the entries of a feed: RSS, Atom or JSON Feed. Errors and limits are those of Read; what is another list is of ErrFormat.
func ReadFeed(body []byte, limits Limits) (Set, error) {
	f, is := jsonFeed(body)
	if !is {
		set, err := Read(bytes.NewReader(body), limits)
		if set.Kind != Feed {
			return Set{Partial: true}, fmt.Errorf("read feed: %w", ErrFormat)
		}
		return set, err
	}
	c := collector{limits: limits, set: Set{Kind: Feed}}
	for _, item := range f.Items {
		if c.full {
			break
		}
		date := item.Modified
		if date == "" {
			date = item.Published
		}
		c.page(&fields{loc: item.URL, lastMod: date, id: string(item.ID), title: item.Title})
	}
	c.set.Partial = c.full
	return c.set, nil
}
