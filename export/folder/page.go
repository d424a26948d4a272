package folder

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// kind is how a body is rewritten.
type kind int

const (
	asIs kind = iota // not at all: scripts, images, all that is not read here
	hypertext
	xml // XHTML and SVG
	styles
)

var kinds = map[string]kind{
	"text/html": hypertext, "application/xhtml+xml": xml, "application/vnd.wap.xhtml+xml": xml, "image/svg+xml": xml, "text/css": styles,
}

// file is a body as it stands in the folder.
type file struct {
	text  []byte
	away  int64 // references to what is not in the folder
	needs int64 // of those the ones to what it needs to be shown
}

// rewritten is the body of a page for its file: references lead to the files of the folder, or to the web. The body may be part of it. asked is
// when the page was asked for (extract.Timeless).
func rewritten(at canon.URL, asked time.Time, name, contentType string, body []byte, held func(url string) (string, error)) (file, error) {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	k := kinds[media]
	if media == "" && strings.HasSuffix(name, ".html") {
		k = hypertext
	}
	if k == asIs || at.IsZero() {
		return file{text: body}, nil
	}
	r := &referrer{at: at, asked: asked, base: at, file: name, held: held}
	text := r.converted(k, body, contentType)
	return file{text: text, away: r.away, needs: r.needs}, r.err
}

func (r *referrer) converted(k kind, body []byte, contentType string) []byte {
	if k == styles {
		return r.styleSheet(body, contentType)
	}
	plain, name := extract.Decode(body, contentType)
	r.charset = name
	decode := decoder(name)
	if enc := unlikeASCII(name); enc != nil {
		if text, ok := encoded(enc, name, r.markup(k, plain, asItIs, nil)); ok {
			return text
		}
		return body
	}
	return r.markup(k, body, decode, func(m *markup) string { return m.declaration(name, contentType) })
}

// markup rewrites markup, and puts the declaration that it needs at its head.
func (r *referrer) markup(k kind, body []byte, decode func([]byte) string, declaration func(*markup) string) []byte {
	if base := strings.Trim(baseOf(body, decode), blank); base != "" {
		if u, err := r.at.Resolve(extract.EncodeQuery(base, r.charset)); err == nil {
			r.base = u
		}
	}
	m := markup{referrer: r, patch: patch{in: body}, xml: k == xml, decode: decode}
	if bytes.HasPrefix(body, []byte(bom)) {
		m.declared, m.head = "utf-8", len(bom)
	}
	m.run(0, len(body))
	text := m.text()
	if declaration == nil {
		return text
	}
	declared := declaration(&m)
	if declared == "" {
		return text
	}
	whole := make([]byte, 0, len(text)+len(declared))
	whole = append(append(whole, text[:m.head]...), declared...)
	return append(whole, text[m.head:]...)
}

const bom = "\xef\xbb\xbf"

// declaration is what says the page's encoding where the page does not say it itself: a file has no header that could.
func (m *markup) declaration(name, contentType string) string {
	switch {
	case m.declared == name, name == replaced:
		return ""
	case m.xml && (name == "utf-8" || bytes.HasPrefix(m.in, []byte("<?xml"))):
		return "" // it is taken for UTF-8 anyway, or says something itself
	case m.xml:
		m.head = 0
		return `<?xml version="1.0" encoding="` + name + `"?>`
	case m.declared == "" && !saysCharset(contentType) && isASCII(m.in):
		return ""
	}
	return `<meta charset="` + name + `">`
}

// replaced is the name of the encodings that browsers refuse.
const replaced = "replacement"

func saysCharset(contentType string) bool {
	return strings.Contains(strings.ToLower(contentType), "charset=")
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// styleSheet rewrites a style sheet. One that is UTF-8 and does not say so would be read in the encoding of the page that asks for it.
func (r *referrer) styleSheet(body []byte, contentType string) []byte {
	r.charset = "utf-8" // of queries
	p := patch{in: body}
	name := ""
	rest, says := bytes.CutPrefix(body, []byte(`@charset "`))
	switch {
	case bytes.HasPrefix(body, []byte(bom)), isASCII(body):
	case says && !saysCharset(contentType):
		label, _, _ := bytes.Cut(rest[:min(len(rest), longName)], []byte(`"`))
		_, name = charset.Lookup(string(label))
	default:
		_, name = extract.Decode(nil, contentType)
		if !saysCharset(contentType) {
			name = "utf-8"
		}
		if unlikeASCII(name) == nil && name != replaced {
			p.replace(0, 0, `@charset "`+name+`";`)
		}
	}
	r.style(&p, 0, len(body), sheet{quote: '"', decode: decoder(name)})
	return p.text()
}

// decoder turns bytes of an encoding into UTF-8.
func decoder(name string) func([]byte) string {
	enc, _ := charset.Lookup(name)
	if enc == nil || name == "utf-8" || name == replaced {
		return asItIs
	}
	return func(text []byte) string {
		if isASCII(text) {
			return string(text)
		}
		plain, err := enc.NewDecoder().Bytes(text)
		if err != nil {
			return string(text)
		}
		return string(plain)
	}
}

// unlikeASCII is an encoding in which the bytes of markup may mean something else, nil for all others: pages in it are turned into UTF-8
// and back.
func unlikeASCII(name string) encoding.Encoding {
	switch name {
	case "utf-16le", "utf-16be", "iso-2022-jp":
		enc, _ := charset.Lookup(name)
		return enc
	}
	return nil
}

// encoded turns UTF-8 back into an encoding. The mark at the beginning says that it is UTF-16.
func encoded(enc encoding.Encoding, name string, text []byte) ([]byte, bool) {
	if strings.HasPrefix(name, "utf-16") && !bytes.HasPrefix(text, []byte(bom)) {
		text = append([]byte(bom), text...)
	}
	out, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).Bytes(text)
	return out, err == nil
}
