// Package extract reads a page once and says what it holds: title, links, base, canonical URL, refresh, robots
// directives, charset, what it needs to be shown, and the digest of its visible text.
//
// The page goes through x/net/html's tokenizer, with no tree and no recursion: time is linear in the bytes read and
// memory is bounded by them, whatever the mark-up. Nothing here fails: of a page that makes no sense, little is found.
package extract

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/fingerprint"
)

// Options bound what is read and name the reader. The zero Options read nothing and keep no link.
type Options struct {
	Bytes int           // bytes of the body that are read
	Links int           // links kept
	Agent string        // product token: <meta name="recrawld"> is for us as well as <meta name="robots">
	Text  *bytes.Buffer // where set, gets the visible text

	Requisites bool      // also find what the page needs to be shown
	Linked     []string  // the values of its Link headers, which name some of that, too
	At         time.Time // when the page was asked for, for the sake of those (Timeless); zero: not known
}

// Link is a link of a page.
type Link struct {
	URL      canon.URL
	Relative bool // written without a host, so that it follows the page to another name
	NoFollow bool // every place that names it says rel=nofollow
	Feed     bool // it is named as a feed of the page's, in the head alone
	Order    bool // it shows a table of the page in another order, and stands in the table's heading alone
	Action   bool // it asks to do something: it has a token against forged requests
}

// Refresh is a meta refresh that leads elsewhere. Its zero URL: there is none.
type Refresh struct {
	URL   canon.URL
	Delay time.Duration
}

// Extraction is what a page holds.
type Extraction struct {
	HTML      bool   // the body was read as HTML or XHTML, so Links is its whole set
	Charset   string // the encoding it was read in, by its WHATWG name
	Title     string // white space folded, at most 300 bytes
	Language  string // that the html element names, as in "de-CH"; empty: none, or no such tag
	Base      canon.URL
	Canonical canon.URL
	Refresh   Refresh
	Robots    Directives
	Links     []Link // no duplicates, in document order
	Dropped   int    // links beyond Options.Links; among them some may be duplicates or lead nowhere

	Requisites []canon.URL // what it needs to be shown, where that was asked for; no duplicates, in document order, at most Options.Links
	Undue      int         // requisites beyond those

	LinkPrint  int64    // of where the links lead that a reader can follow, of the levels of headings, and of emphasis and lists, whatever their order, and of much hidden text; 0: there are none
	TextDigest [32]byte // of the visible text; zero: none to go by, the bytes decide
	TextBytes  int64
	Print      fingerprint.Print // what tells pages that say nearly the same; zero where there is no TextDigest
	Cut        bool              // the body is longer than Options.Bytes; there is no TextDigest, LinkPrint or Print then
}

// Page reads the body of a page as a Reader does.
func Page(body []byte, contentType string, at canon.URL, options Options) Extraction {
	return new(Reader).Page(body, contentType, at, options)
}

// Reader reads pages one after the other. What it needs takes as much memory as most pages, which it uses again. The zero Reader
// is ready; it is not safe for concurrent use.
type Reader struct{ markup *reader }

// Page reads the body of the page at a URL. The body has no content encoding left; contentType is the header's value.
// HTML and XHTML are read whole, of plain text the text alone, of a style sheet and a script their requisites, of all else nothing:
// their TextDigest is zero.
func (r *Reader) Page(body []byte, contentType string, at canon.URL, options Options) Extraction {
	kind := kindOf(body, contentType)
	switch {
	case kind == other && options.Requisites && mediaType(contentType) == "text/css":
		return asset(body, contentType, at, options, (*needs).sheet)
	case kind == other && options.Requisites && isScript(mediaType(contentType)):
		return asset(body, contentType, at, options, (*needs).script)
	case kind == other:
		return Extraction{Base: at}
	}
	cut := len(body) > options.Bytes
	if cut {
		body = body[:options.Bytes]
	}
	doc := decode(body, contentType)
	var found Extraction
	if kind == plain {
		found = Extraction{Base: at}
		visible := fingerprint.NewText()
		visible.CopyTo(options.Text)
		visible.Write(doc.text)
		found.TextDigest, found.TextBytes = visible.Sum()
		found.Print = visible.Print()
	} else {
		doc.text = InPlace(doc.text)
		found = r.readMarkup(doc, kind == xhtml, at, options)
	}
	found.Charset = doc.charset
	if found.Cut = cut; cut {
		found.TextDigest, found.LinkPrint, found.Print = [32]byte{}, 0, fingerprint.Print{}
	}
	return found
}

// kind is how a body is read.
type kind int

const (
	other kind = iota
	html5
	xhtml
	plain
)

// kindOf goes by the media type, and by the bytes where there is none.
func kindOf(body []byte, contentType string) kind {
	media := mediaType(contentType)
	if media == "" {
		media = mediaType(http.DetectContentType(body))
	}
	switch media {
	case "text/html":
		return html5
	case "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
		return xhtml
	case "text/plain":
		return plain
	}
	return other
}

// mediaType is that of a Content-Type, readable also where its parameters are not.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}
