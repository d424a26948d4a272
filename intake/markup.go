package intake

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// mostToken is how many bytes of markup are held for one tag: bookmarks carry their icons in attributes.
const mostToken = 4 << 20

// newTokenizer reads markup tag by tag. Markup of whatever kind is read as HTML, which is read however broken it is and cannot be made to
// expand anything; names come in lower case.
func newTokenizer(in io.Reader) *html.Tokenizer {
	z := html.NewTokenizer(in)
	z.SetMaxBuf(mostToken)
	return z
}

// rootOf is the name of the first element, "" for none.
func rootOf(text []byte) string {
	for z := newTokenizer(bytes.NewReader(text)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			return string(name)
		}
	}
}

// readTags gives what take finds in the attributes of each element of a name.
func readTags(in io.Reader, element, unit string, take func(attribute func(name string) string) []string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		number := 0
		for z := newTokenizer(in); ; {
			switch z.Next() {
			case html.ErrorToken:
				if err := z.Err(); !errors.Is(err, io.EOF) {
					yield(Item{}, &Damaged{Place{Unit: unit, Number: number + 1}, err})
				}
				return
			case html.StartTagToken, html.SelfClosingTagToken:
				name, more := z.TagName()
				if string(name) != element {
					continue
				}
				number++
				attributes := attributesOf(z, more)
				for _, url := range take(func(name string) string { return attributes[name] }) {
					item := Item{URL: url, Skip: otherScheme(url), Place: Place{Unit: unit, Number: number}}
					if !yield(item, nil) {
						return
					}
				}
			}
		}
	}
}

func attributesOf(z *html.Tokenizer, more bool) map[string]string {
	found := make(map[string]string)
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, again := found[string(key)]; !again {
			found[string(key)] = strings.TrimSpace(string(value[:min(len(value), canon.MaxBytes+1)])) // an icon is longer
		}
	}
	return found
}

// otherScheme tells addresses that are none of the web's: a script, a place within the browser, mail.
func otherScheme(url string) bool {
	_, err := canon.Parse(url)
	return errors.Is(err, canon.ErrScheme)
}

// readBookmarks reads what browsers export: lists of <A HREF>, with a feed's address now and then.
func readBookmarks(in *bufio.Reader, _ Options) iter.Seq2[Item, error] {
	return readTags(in, "a", "bookmark", func(attribute func(string) string) (urls []string) {
		for _, name := range []string{"href", "feedurl"} {
			if url := attribute(name); url != "" {
				urls = append(urls, url)
			}
		}
		return urls
	})
}

// readOPML reads the outlines of OPML: a feed and the site that it is of, or a link.
func readOPML(in *bufio.Reader, o Options) iter.Seq2[Item, error] {
	text := io.Reader(in)
	if head, _ := in.Peek(sniffBytes); !o.decoded {
		text = decoded(in, head)
	}
	return readTags(text, "outline", "outline", func(attribute func(string) string) (urls []string) {
		for _, name := range []string{"xmlurl", "htmlurl"} {
			if url := attribute(name); url != "" {
				urls = append(urls, url)
			}
		}
		if url := attribute("url"); url != "" && strings.EqualFold(attribute("type"), "link") {
			urls = append(urls, url)
		}
		return urls
	})
}

// decoded makes UTF-8 of XML in the encoding that it names.
func decoded(in io.Reader, head []byte) io.Reader {
	d := xml.NewDecoder(bytes.NewReader(head))
	d.CharsetReader = func(label string, rest io.Reader) (io.Reader, error) {
		if other, err := charset.NewReaderLabel(label, in); err == nil {
			in = other
		}
		return rest, nil
	}
	_, _ = d.RawToken() // the declaration, if any
	return in
}

// mostPage is how many bytes of a page of HTML are read.
const mostPage = 64 << 20

// nowhere is the address of a page that tells none: its links to it are relative ones.
const nowhere = "http://base.invalid/"

// readPage reads the links of a page of HTML.
func readPage(in *bufio.Reader, o Options) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		at := Place{Unit: "link", Number: 1}
		base := o.Base
		if base == "" {
			base = nowhere
		}
		page, err := canon.Parse(base)
		if err != nil {
			yield(Item{}, fmt.Errorf("%w: the address of the page: %w", ErrFormat, err))
			return
		}
		body, err := io.ReadAll(io.LimitReader(in, mostPage+1))
		if err == nil && len(body) > mostPage {
			err = fmt.Errorf("a page of more than %d bytes", mostPage)
		}
		if err != nil {
			yield(Item{}, &Damaged{at, err})
			return
		}
		missing := errors.New("relative, and the page does not tell its own address: --base does")
		for n, link := range extract.Page(body, "text/html", page, extract.Options{Bytes: len(body), Links: len(body)}).Links {
			at.Number = n + 1
			item, err := Item{URL: link.URL.String(), Place: at}, error(nil)
			if strings.HasPrefix(item.URL, nowhere) {
				item, err = Item{}, NewBad(at, strings.TrimPrefix(item.URL, nowhere), missing)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}
