package folder

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// markup is a page of HTML, XHTML or SVG that is being rewritten. It goes through the tokenizer without a tree: time is linear in the
// bytes read, and what is not a reference stays byte for byte.
type markup struct {
	*referrer
	patch
	xml    bool
	decode func([]byte) string
	tag    tag

	foreign  int    // elements svg and math open
	inside   string // the element whose raw text comes next: style or noscript
	head     int    // where the head's content begins, in what is written
	begun    bool   // it has begun
	declared string // the encoding that the page itself names
}

// run rewrites a part of the page that begins with markup.
func (m *markup) run(from, to int) {
	tokens := html.NewTokenizer(bytes.NewReader(m.in[from:to]))
	tokens.AllowCDATA(m.xml)
	inner := from > 0
	for at := from; ; {
		kind := tokens.Next()
		raw := tokens.Raw()
		begin := at
		at += len(raw)
		switch kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			m.content(begin, at)
		case html.CommentToken:
			if m.xml && bytes.HasPrefix(raw, []byte("<?xml-stylesheet")) {
				m.instruction(raw, begin)
			}
		case html.DoctypeToken:
			m.beginsBehind(at)
		case html.StartTagToken, html.SelfClosingTagToken:
			if m.startTag(raw, begin, kind == html.SelfClosingTagToken) || inner && m.inside == "noscript" {
				tokens.NextIsNotRawText()
				m.inside = ""
			}
		case html.EndTagToken:
			m.inside = ""
			if name, _ := tagName(raw[1:]); m.foreign > 0 && (name == "svg" || name == "math") {
				m.foreign--
			}
		}
	}
}

// startTag takes a start tag. It tells whether the element is closed by it, and so has no content.
func (m *markup) startTag(raw []byte, begin int, slashed bool) (closed bool) {
	t := &m.tag
	t.read(raw, m.decode)
	foreign := t.element == "svg" || t.element == "math"
	closed = slashed && (m.xml || m.foreign > 0 || foreign)
	if foreign && !closed {
		m.foreign++
	}
	m.inside = ""
	if (t.element == "style" || t.element == "noscript") && !closed {
		m.inside = t.element
	}
	if t.element == "meta" {
		m.declare(t)
	}
	m.rewrite(t)
	t.write(&m.patch, begin)
	if t.element == "html" || t.element == "head" {
		m.beginsBehind(begin + len(raw))
	}
	m.begun = m.begun || t.element != "html"
	return closed
}

// beginsBehind notes that the head does not begin before a place, as long as nothing of it was seen.
func (m *markup) beginsBehind(place int) {
	if !m.begun {
		m.head = len(m.out) + place - m.done
	}
}

// content takes the text behind a start tag.
func (m *markup) content(begin, end int) {
	inside := m.inside
	m.inside = ""
	switch inside {
	case "style":
		text := m.in[begin:end]
		m.style(&m.patch, begin, end, sheet{quote: '"', decode: m.decode, markup: m.xml && !bytes.Contains(text, []byte("<![CDATA["))})
	case "":
		m.begun = m.begun || len(bytes.TrimLeft(m.in[begin:end], " \t\r\n\f"+bom)) > 0
	case "noscript":
		foreign := m.foreign
		m.run(begin, end) // no further: one within another is no raw text
		m.foreign = foreign
	}
}

// instruction takes <?xml-stylesheet href="…"?>.
func (m *markup) instruction(raw []byte, begin int) {
	raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte(">")), []byte("?"))
	eachAttribute(raw, len("<?xml-stylesheet"), func(a attribute) {
		if lowerName(raw[a.start:a.nameEnd]) != "href" || a.quote == 0 {
			return
		}
		text := plainValue(m.decode(raw[a.valueStart:a.valueEnd]))
		l := m.refer(text)
		if !l.kept && !l.here {
			m.needs++
		}
		if !l.kept && l.to != text {
			m.replace(begin+a.valueStart-1, begin+a.end, quotedValue(l.to, a.quote))
		}
	})
}

// inner rewrites a page that stands in an attribute of another. One within it stays as it is.
func (r *referrer) inner(text string) string {
	if r.within {
		return text
	}
	r.within = true
	m := markup{referrer: r, patch: patch{in: []byte(text)}, decode: asItIs}
	m.run(0, len(m.in))
	r.within = false
	return string(m.text())
}

// declare takes the encoding that a meta element names. The first one counts.
func (m *markup) declare(t *tag) {
	label := t.value("charset")
	if label == "" && strings.EqualFold(strings.TrimSpace(t.value("http-equiv")), "content-type") {
		_, label, _ = strings.Cut(strings.ToLower(t.value("content")), "charset=")
		label, _, _ = strings.Cut(label, ";")
		label = strings.Trim(label, blank+`"'`)
	}
	if m.declared != "" || label == "" {
		return
	}
	if _, name := charset.Lookup(label); name != "" {
		m.declared = name
	}
}

// baseOf is the reference of the page's base element, "" for none: the first one with an href counts, wherever it stands.
func baseOf(body []byte, decode func([]byte) string) string {
	if !hasBase(body) {
		return ""
	}
	tokens := html.NewTokenizer(bytes.NewReader(body))
	var t tag
	for templates := 0; ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return ""
		case html.EndTagToken:
			if name, _ := tagName(tokens.Raw()[1:]); name == "template" && templates > 0 {
				templates--
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := tokens.Raw()
			switch name, _ := tagName(raw); name {
			case "template":
				templates++
			case "base":
				t.read(raw, decode)
				if href := t.find("href"); href != nil && templates == 0 {
					return href.text
				}
			}
		}
	}
}

// hasBase tells whether the page may have a base element, without reading it as one.
func hasBase(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '<')
		if i < 0 || len(body) < i+len("<base") {
			return false
		}
		if body = body[i+1:]; bytes.EqualFold(body[:len("base")], []byte("base")) {
			return true
		}
	}
}
