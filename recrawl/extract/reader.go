package extract

import (
	"bytes"
	"cmp"
	"strings"

	"golang.org/x/net/html"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/fingerprint"
)

// maxTitle is the length in bytes of the longest title kept.
const maxTitle = 300

// reader is one pass over a page.
type reader struct {
	tokens  *html.Tokenizer
	begun   html.Tokenizer // tokens as it was before any page, which it is made again for each: the library has no way to
	runs    runs           // what tokens reads
	doc     document
	xhtml   bool
	at      canon.URL
	options Options

	foreign int // elements svg and math open
	text    *fingerprint.Text
	found   Extraction
	refs    refs
	needs   *needs // nil: they are not asked for
	print   linkPrint
	inTitle bool
	titled  bool
	title   strings.Builder

	inHeading bool // of a table's column

	base, canonical, refresh string // as written; the first of each counts
	hasBase, hasRefresh      bool

	large bool // it took much memory, which is not kept for other pages
}

func newReader() *reader {
	r := &reader{text: fingerprint.NewText()}
	r.tokens = html.NewTokenizer(&r.runs)
	r.begun = *r.tokens
	return r
}

// readMarkup reads a page with the reader of the pages before it.
func (r *Reader) readMarkup(doc document, xhtml bool, at canon.URL, options Options) Extraction {
	page := r.markup
	if page == nil {
		page = newReader()
	}
	r.markup = nil // should it panic
	page.begin(doc, xhtml, at, options)
	page.read()
	found := page.finish()
	if !page.large && len(page.refs.all) <= mostKept {
		page.begin(document{}, false, canon.URL{}, Options{Requisites: options.Requisites}) // it keeps nothing of the page
		r.markup = page
	}
	return found
}

// The longest tag, and the most references, that a reader may have seen to read another page: for its attributes' names the
// tokenizer keeps a map, which it clears for each tag.
const (
	mostTag  = 1 << 10
	mostKept = 256
)

// begin makes the reader one that has read nothing.
func (r *reader) begin(doc document, xhtml bool, at canon.URL, options Options) {
	*r.tokens = r.begun
	r.text.Reset()
	r.text.CopyTo(options.Text)
	r.refs.begin(options.Links)
	*r = reader{
		tokens: r.tokens, begun: r.begun, runs: runs{text: doc.text}, doc: doc, xhtml: xhtml, at: at, options: options,
		text: r.text, found: Extraction{HTML: true}, refs: r.refs, needs: r.needs.begin(options),
	}
}

// read takes the tokens one by one.
func (r *reader) read() {
	for {
		if run := r.runs.take(r.tokens); len(run) > 0 {
			r.characters(run, false)
		}
		token, raw := r.tokens.Next(), r.runs.raw
		r.runs.raw = false
		switch token {
		case html.ErrorToken:
			return
		case html.TextToken:
			if raw && r.needs != nil {
				r.needs.content(r.tokens.Raw())
			}
			r.characters(r.tokens.Raw(), raw)
		case html.StartTagToken:
			r.startTag(false)
		case html.SelfClosingTagToken:
			// HTML ignores the slash; XHTML, SVG and MathML mean it.
			if r.xhtml || r.foreign > 0 {
				r.tokens.NextIsNotRawText()
			}
			r.startTag(true)
		case html.EndTagToken:
			name, ok := plainName(r.tokens.Raw()[len("</"):])
			if !ok {
				name, _ = r.tokens.TagName()
			}
			r.text.End(name)
			r.inTitle = false
			if r.inHeading = r.inHeading && string(name) != "th"; string(name) == "table" {
				r.heading("table")
			}
			if r.foreign > 0 && isForeign(name) {
				r.foreign--
			}
		}
	}
}

// characters is a text as it stands in the page; one that does not stand for itself is that of the present token.
// raw tells that it may be the content of a script or a style.
func (r *reader) characters(text []byte, raw bool) {
	if r.text.Hidden() {
		if !raw {
			r.text.Unshown(text)
		}
		return
	}
	if !plainText(text) {
		text = r.tokens.Text()
	}
	r.text.Write(text)
	if r.inTitle && r.title.Len() < maxTitle {
		r.title.Write(text[:min(len(text), 4*maxTitle)])
	}
}

// plainText tells whether a text stands for itself: no character reference in it, no line end to convert and no NUL. The
// tokenizer finds that out byte by byte.
func plainText(text []byte) bool {
	return bytes.IndexByte(text, '&') < 0 && bytes.IndexByte(text, '\r') < 0 && bytes.IndexByte(text, 0) < 0
}

// startTag is a start tag; slashed tells that a slash stands at its end.
func (r *reader) startTag(slashed bool) {
	raw := r.tokens.Raw()
	r.large = r.large || len(raw) > mostTag
	name, ok := plainName(raw[len("<"):])
	if !ok {
		name, _ = r.tokens.TagName()
	}
	closed := slashed && (r.xhtml || r.foreign > 0 || isForeign(name))
	element := string(name)
	r.runs.raw = rawText[element]
	var attrs attributes
	needed := r.needs.start(element, raw)
	if reads[element] || mayHide(raw) {
		attrs = r.attributes()
	} else if needed {
		r.attributes()
	}
	if !closed && isForeign(name) {
		r.foreign++
	}
	if attrs.shadow && element == "template" {
		name = []byte("div") // an end tag of a template that hides nothing says nothing
	}
	r.text.Start(name, attrs.hide(), closed)
	if r.text.InTemplate() {
		return
	}
	if r.needs != nil {
		r.needs.element(element, closed)
	}
	r.phrase(element, attrs)
	switch element {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if !r.text.Hidden() {
			r.print.heading(element[1] - '0')
		}
	case "b", "strong", "i", "em", "code", "del", "s", "ul", "ol":
		if !r.text.Hidden() {
			r.print.emphasis(element)
		}
	case "html":
		r.found.Language = cmp.Or(r.found.Language, Language(attrs.lang))
	case "title":
		r.inTitle = !r.titled && !closed
		r.titled = true
	case "th", "td", "tr", "table":
		r.heading(element)
	case "a", "area":
		if element == "a" && attrs.hasHref {
			r.text.Link()
		}
		r.link(attrs.href, attrs.rel, true)
	case "frame", "iframe":
		r.link(attrs.src, "", false)
	case "base":
		if attrs.hasHref && !r.hasBase {
			r.base, r.hasBase = attrs.href, true
		}
	case "link":
		r.linkElement(attrs)
	case "meta":
		r.meta(attrs)
	}
}

func isForeign(name []byte) bool { return string(name) == "svg" || string(name) == "math" }

// plainName is the name that a tag begins with where it is all of lower-case letters and digits. The tokenizer copies each
// name to fold its case.
func plainName(tag []byte) ([]byte, bool) {
	for i, c := range tag {
		switch {
		case c-'a' < 26, c-'0' < 10:
		case c == '>' || c == ' ' || c == '\n':
			return tag[:i], i > 0
		default:
			return nil, false
		}
	}
	return nil, false
}

// phrase adds the text that stands in attributes.
func (r *reader) phrase(element string, attrs attributes) {
	switch {
	case r.text.Hidden() || attrs.hide():
	case element == "img" && attrs.alt != "":
		r.text.Phrase([]byte(attrs.alt))
	case element == "input" && attrs.value != "":
		switch strings.ToLower(attrs.kind) {
		case "submit", "button", "reset":
			r.text.Phrase([]byte(attrs.value))
		}
	}
}

// link takes a reference; read tells that a reader of the page can follow it.
func (r *reader) link(href, rel string, read bool) {
	if href != "" {
		r.refs.add(ref{text: href, noFollow: hasWord(rel, "nofollow"), read: read, heading: r.inHeading})
	}
}

func (r *reader) linkElement(attrs attributes) {
	switch {
	case attrs.href == "":
	case hasWord(attrs.rel, "canonical"):
		if r.canonical == "" {
			r.canonical = attrs.href
		}
		r.link(attrs.href, "", false)
	case hasWord(attrs.rel, "next"), hasWord(attrs.rel, "sitemap"):
		r.link(attrs.href, attrs.rel, false)
	case hasWord(attrs.rel, "alternate") && !hasWord(attrs.rel, "stylesheet"):
		r.alternate(attrs)
	}
}

func (r *reader) meta(attrs attributes) {
	if strings.EqualFold(attrs.httpEquiv, "refresh") && !r.hasRefresh {
		if delay, ref, ok := ParseRefresh(attrs.content); ok {
			r.refresh, r.found.Refresh.Delay, r.hasRefresh = ref, delay, true
			r.link(ref, "", false)
		}
	}
	if name := strings.TrimSpace(attrs.name); strings.EqualFold(name, "robots") ||
		r.options.Agent != "" && strings.EqualFold(name, r.options.Agent) {
		r.found.Robots.add(attrs.content)
	}
}

// finish resolves what was found against the base, which may stand after the links that it is for.
func (r *reader) finish() Extraction {
	found := r.found
	found.Base = r.at
	if r.hasBase {
		if base := r.resolve(r.at, r.base); !base.IsZero() {
			found.Base = base
		}
	}
	if r.canonical != "" {
		found.Canonical = r.resolve(found.Base, r.canonical)
	}
	if r.refresh != "" {
		found.Refresh.URL = r.resolve(found.Base, r.refresh)
	}
	if found.Refresh.URL.IsZero() {
		found.Refresh = Refresh{}
	}
	found.Links, found.Dropped = r.links(found.Base)
	r.needs.linked(r)
	found.Requisites, found.Undue = r.needs.requisites(r.doc, found.Base, r.at, r.options.At)
	r.print.hidden(r.text.HiddenPart())
	found.LinkPrint = r.print.value()
	found.Title = cleanTitle(r.title.String())
	found.TextDigest, found.TextBytes = r.text.Sum()
	found.Print = r.text.Print()
	return found
}

// resolve is the canonical URL that a reference leads to, or the zero URL for javascript:, mailto:, data: and what is no
// URL at all.
func (r *reader) resolve(base canon.URL, ref string) canon.URL {
	u, err := base.Resolve(r.doc.encodeQuery(ref))
	if err != nil {
		return canon.URL{}
	}
	return u
}

// maxLanguage is the length of the longest language tag kept: RFC 5646 section 4.4.1 asks for 35.
const maxLanguage = 35

// Language is a value of lang where it has the form of a language tag, else "".
func Language(tag string) string {
	tag = strings.TrimSpace(tag)
	if len(tag) > maxLanguage || strings.ContainsFunc(tag, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	}) {
		return ""
	}
	return tag
}

func cleanTitle(title string) string {
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "\ufffd")), " ")
	if len(title) > maxTitle {
		title = strings.ToValidUTF8(title[:maxTitle], "")
	}
	return title
}
