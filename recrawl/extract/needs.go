package extract

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/html"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/css"
	"recrawld/recrawl/script"
)

// needs are the references to what a page needs to be shown, as they are found: images, styles, scripts, fonts.
type needs struct {
	limit   int
	all     []need
	seen    map[need]bool
	dropped int

	tag    needTag
	takes  bool    // the attributes of the tag are worth taking
	inside rawKind // whose raw text comes next

	tokens *html.Tokenizer // of what noscript holds; nil: there was none yet
	begun  html.Tokenizer  // tokens as it was before any, which it is made again for each (reader.begun)
	source bytes.Reader    // what tokens reads
}

// rawKind is an element with raw text that may name what is needed.
type rawKind int

const (
	elsewhere rawKind = iota
	inStyle
	inNoscript
	inScript
)

// need is a reference as written.
type need struct {
	text  string
	sheet bool // in a style or a script: its query is in UTF-8, whatever the page is in
}

// needTag is what the attributes of a tag say of needs.
type needTag struct {
	href, xlink, src, srcset, imageSrcset, poster, data, background, lazySrc, lazySrcset, rel, kind, style, width, height string
}

// begin returns needs of a page that has none so far; nil where they are not asked for.
func (n *needs) begin(options Options) *needs {
	if !options.Requisites {
		return nil
	}
	if n == nil || len(n.all) > mostKept {
		n = &needs{seen: make(map[need]bool)}
	}
	clear(n.seen)
	clear(n.all)
	if n.tokens != nil {
		*n.tokens = n.begun
	}
	*n = needs{limit: options.Links, all: n.all[:0], seen: n.seen, tokens: n.tokens, begun: n.begun}
	return n
}

// needy are the elements whose attributes may name what is needed; of others only their style does.
var needy = map[string]bool{"audio": true, "bgsound": true, "body": true, "embed": true, "feimage": true, "image": true, "img": true,
	"input": true, "link": true, "object": true, "script": true, "source": true, "table": true, "tbody": true, "td": true, "tfoot": true,
	"th": true, "thead": true, "tr": true, "track": true, "use": true, "video": true}

// start is told of a start tag before its attributes are read; it tells whether they are worth reading. Without needs they are not.
func (n *needs) start(element string, raw []byte) bool {
	if n == nil {
		return false
	}
	n.tag, n.inside = needTag{}, elsewhere
	n.takes = needy[element] || bytes.Contains(raw, []byte("style")) || bytes.Contains(raw, []byte("STYLE"))
	return n.takes
}

// attribute takes an attribute of the tag.
func (n *needs) attribute(key, value []byte) {
	if !n.takes {
		return
	}
	t := &n.tag
	var into *string
	switch string(key) {
	case "href":
		into = &t.href
	case "xlink:href":
		into = &t.xlink
	case "src":
		into = &t.src
	case "srcset":
		into = &t.srcset
	case "imagesrcset":
		into = &t.imageSrcset
	case "poster":
		into = &t.poster
	case "data":
		into = &t.data
	case "background":
		into = &t.background
	case "data-src":
		into = &t.lazySrc
	case "data-srcset":
		into = &t.lazySrcset
	case "rel":
		into = &t.rel
	case "type":
		into = &t.kind
	case "style":
		into = &t.style
	case "width":
		into = &t.width
	case "height":
		into = &t.height
	default:
		return
	}
	if *into == "" { // of an attribute that comes twice the first counts
		*into = string(value)
	}
}

// element takes what the tag names; closed tells that the element has no content.
func (n *needs) element(element string, closed bool) {
	t := &n.tag
	switch element {
	case "img", "source":
		n.image()
	case "image", "use", "feimage":
		n.add(t.href, t.xlink, t.src)
	case "link":
		n.link()
	case "script":
		n.add(t.src)
		if kind := strings.ToLower(strings.Trim(t.kind, space)); t.src == "" && (kind == "" || kind == "module" || isScript(kind)) {
			n.inside = inScript
		}
	case "embed", "track", "audio", "bgsound":
		n.add(t.src)
	case "video":
		n.add(t.src, t.poster)
	case "object":
		n.add(t.data)
	case "input":
		if strings.EqualFold(strings.TrimSpace(t.kind), "image") {
			n.add(t.src)
		}
	case "body", "table", "thead", "tbody", "tfoot", "tr", "td", "th":
		n.add(t.background)
	case "style":
		n.inside = inStyle
	case "noscript":
		n.inside = inNoscript
	}
	if closed {
		n.inside = elsewhere
	}
	if strings.IndexByte(t.style, '(') >= 0 {
		n.sheet([]byte(t.style))
	}
}

// image takes an image's sources. One that a script puts in its place when it comes into view has them in attributes of its own. One of a
// single pixel shows nothing: it counts readers, often under another URL each time.
func (n *needs) image() {
	t := &n.tag
	if isDot(t.width) && isDot(t.height) {
		return
	}
	n.add(t.src)
	n.add(srcset(t.srcset)...)
	if src := strings.TrimLeft(t.src, space); src == "" || hasScheme(src, "data:") || hasScheme(src, "about:") {
		n.add(t.lazySrc)
		n.add(srcset(t.lazySrcset)...)
	}
}

// isDot tells whether a width or height is given and no more than a pixel.
func isDot(size string) bool {
	size = strings.TrimSuffix(strings.Trim(size, space), "px")
	return size == "0" || size == "1"
}

// fetched are the kinds of links that a browser follows to show the page.
var fetched = map[string]bool{"apple-touch-icon": true, "apple-touch-icon-precomposed": true, "icon": true, "manifest": true,
	"mask-icon": true, "modulepreload": true, "preload": true, "stylesheet": true}

func (n *needs) link() {
	for word := range strings.FieldsSeq(n.tag.rel) {
		if fetched[strings.ToLower(word)] {
			n.add(n.tag.href)
			n.add(srcset(n.tag.imageSrcset)...)
			return
		}
	}
}

// content takes the raw text of the element that the tag before began.
func (n *needs) content(text []byte) {
	inside := n.inside
	n.inside = elsewhere
	switch inside {
	case inStyle:
		n.sheet(text)
	case inNoscript:
		n.unscripted(text)
	case inScript:
		n.script(text)
	}
}

// unscripted reads what is shown where scripts do not run: the images that one puts into place elsewhere.
func (n *needs) unscripted(text []byte) {
	if bytes.IndexByte(text, '<') < 0 {
		return
	}
	tokens := n.unscriptedTokens(text)
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			n.content(tokens.Raw())
		case html.EndTagToken:
			n.inside = elsewhere
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			element := string(name)
			if element == "noscript" {
				tokens.NextIsNotRawText() // there is none within another; it would be read as often as it is begun
				continue
			}
			n.start(element, tokens.Raw())
			for more {
				var key, value []byte
				key, value, more = tokens.TagAttr()
				n.attribute(key, value)
			}
			n.element(element, false)
		}
	}
}

// unscriptedTokens are the tokens of what a noscript element holds. A page may have any number of them.
func (n *needs) unscriptedTokens(text []byte) *html.Tokenizer {
	n.source.Reset(text)
	if n.tokens == nil {
		n.tokens = html.NewTokenizer(&n.source)
		n.begun = *n.tokens
	}
	*n.tokens = n.begun
	return n.tokens
}

// sheet takes what a style refers to.
func (n *needs) sheet(text []byte) {
	for r := range css.Refs(text) {
		n.take(need{r.Text, true})
	}
}

// script takes what a script imports.
func (n *needs) script(text []byte) {
	for ref := range script.Imports(text) {
		n.take(need{ref, true})
	}
}

func (n *needs) add(refs ...string) {
	for _, ref := range refs {
		n.take(need{ref, false})
	}
}

// take takes a reference, once. What lies in the page itself needs no request: a fragment, a data: URL.
func (n *needs) take(one need) {
	one.text = strings.Trim(one.text, space)
	if one.text == "" || one.text[0] == '#' || len(one.text) > canon.MaxBytes || hasScheme(one.text, "data:") || n.seen[one] {
		return
	}
	if len(n.all) >= max(spare*n.limit, fewest) {
		n.dropped++
		return
	}
	n.seen[one] = true
	n.all = append(n.all, one)
}

func hasScheme(ref, scheme string) bool {
	return len(ref) >= len(scheme) && strings.EqualFold(ref[:len(scheme)], scheme)
}

// requisites turns the references into URLs (Timeless): each once, at most as many as links, and not the page itself. dropped are those beyond.
func (n *needs) requisites(doc document, base, at canon.URL, asked time.Time) (urls []canon.URL, dropped int) {
	if n == nil {
		return nil, 0
	}
	dropped = n.dropped
	seen := map[canon.URL]bool{{}: true, at: true}
	for _, one := range n.all {
		ref := one.text
		if !one.sheet {
			ref = doc.encodeQuery(ref)
		}
		u, err := base.Resolve(ref)
		if err == nil {
			u = Timeless(u.Sessionless(""), asked)
		}
		switch {
		case err != nil || seen[u]:
		case len(urls) >= n.limit:
			dropped++
		default:
			seen[u] = true
			urls = append(urls, u)
		}
	}
	return urls, dropped
}
