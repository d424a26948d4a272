package content

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/pdf"
)

// MaxBytes is how many bytes of a body are read; a longer one is Cut, and the bytes of its rest decide whether that differs. A PDF is read whole.
const MaxBytes = 10 << 20

// Read reads a body that came with a Content-Type from a URL, by the rules of that. It never fails: of a body that makes no sense, little is
// found. Time and memory are linear in the body's length, of which MaxBytes count.
func Read(body []byte, contentType string, at canon.URL, rules *Rules) *View {
	rules = rules.Of(at)
	v := &View{print: hashBytes(body), bytes: len(body)}
	media := mediaType(body, contentType)
	v.Kind = kindOf(media)
	if v.Kind == Other && pdf.Is(body) {
		readPDF(v, body)
		v.apply(rules)
		return v
	}
	if len(body) > MaxBytes {
		v.cut(body[MaxBytes:])
		body = body[:MaxBytes]
	}
	if v.Kind == Other {
		return v
	}
	text, _ := extract.Decode(body, contentType)
	switch v.Kind {
	case HTML:
		readHTML(v, extract.InPlace(text), media != "text/html", at, rules)
	case JSON:
		if !readJSON(v, text) {
			v.Kind = Text
		}
	case XML, Feed:
		if !readXML(v, text, at) {
			v.Kind = Text
		}
	}
	if v.Kind == Text {
		readText(v, text)
	}
	v.apply(rules)
	return v
}

// mediaType goes by the header, and by the bytes where there is none.
func mediaType(body []byte, contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" { // parameters that do not parse leave the type readable
		media, _, _ = strings.Cut(contentType, ";")
	}
	media = strings.ToLower(strings.TrimSpace(media))
	if media == "" {
		media = sniff(body)
	}
	return media
}

// sniff guesses the media type of a body that came without one.
func sniff(body []byte) string {
	start := bytes.TrimSpace(body[:min(len(body), 512)])
	switch {
	case bytes.IndexByte(body[:min(len(body), 512)], 0) >= 0 || len(start) == 0:
		return ""
	case bytes.HasPrefix(start, []byte("<?xml")):
		return "text/xml"
	case start[0] == '<':
		return "text/html"
	case start[0] == '{' || start[0] == '[':
		return "application/json"
	case bytes.HasPrefix(start, []byte("%PDF")):
		return "application/pdf"
	case utf8.Valid(start[:max(0, len(start)-utf8.UTFMax)]):
		return "text/plain"
	}
	return ""
}

func kindOf(media string) Kind {
	switch media {
	case "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml":
		return HTML
	case "application/json", "text/json":
		return JSON
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml":
		return Feed
	case "application/xml", "text/xml":
		return XML
	case "text/plain", "text/markdown", "text/csv":
		return Text
	}
	switch {
	case strings.HasSuffix(media, "+json"):
		return JSON
	case strings.HasSuffix(media, "+xml") && !strings.HasPrefix(media, "image/"):
		return XML
	case strings.HasPrefix(media, "text/"):
		return Text
	}
	return Other
}

// apply takes out the text that the rules ignore.
func (v *View) apply(rules *Rules) {
	if rules == nil {
		return
	}
	for _, re := range rules.ignoreText {
		for i := range v.blocks {
			v.blocks[i].Text = fold(re.ReplaceAllString(v.blocks[i].Text, ""))
		}
	}
}
