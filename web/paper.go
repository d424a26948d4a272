package web

import (
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"recrawld/report"
)

// paper is what a command prints for a terminal as HTML: colours become classes, hyperlinks and addresses lead to what is known of
// that page here. Whatever the text holds, nothing of it is taken for HTML, and every element that is opened is closed.
func paper(text string) template.HTML {
	p := new(printer)
	for text != "" {
		plain, rest, found := strings.Cut(text, "\x1b")
		p.plain(plain)
		if !found {
			break
		}
		text = p.escape(rest)
	}
	p.tone("")
	p.link("")
	return template.HTML(p.html.String()) // all text went through template.HTMLEscapeString
}

// printer writes HTML. An element of a tone lies within that of a link.
type printer struct {
	html   strings.Builder
	class  string // of the open element; "": none is open
	linked bool
}

// tones are the classes of the codes that package report writes.
var tones = map[string]string{"1": "strong", "2": "faint", "31": "bad", "32": "good", "33": "warn"}

// escape takes what follows an escape character, and returns what follows the sequence. One that is not known is left out.
func (p *printer) escape(text string) (rest string) {
	switch {
	case strings.HasPrefix(text, "["):
		end := strings.IndexFunc(text[1:], func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return ""
		}
		if text[1+end] == 'm' {
			p.tone(tones[text[1:1+end]])
		}
		return text[end+2:]
	case strings.HasPrefix(text, "]8;;"):
		target, rest, found := strings.Cut(text[len("]8;;"):], "\x1b\\")
		if !found {
			return ""
		}
		p.link(target)
		return rest
	}
	return text
}

// tone ends the present tone and begins another; "" is none.
func (p *printer) tone(class string) {
	if p.class != "" {
		p.html.WriteString("</span>")
	}
	if p.class = class; class != "" {
		p.html.WriteString(`<span class="` + class + `">`)
	}
}

// link ends the present link and begins one to what is known of a page or a site; "" is none. A tone goes on within it.
func (p *printer) link(target string) {
	class := p.class
	p.tone("")
	if p.linked {
		p.html.WriteString("</a>")
	}
	if p.linked = target != ""; p.linked {
		p.html.WriteString(`<a href="` + about(target) + `">`)
	}
	p.tone(class)
}

// address finds addresses of pages in a text, with what a sentence puts behind them.
var address = regexp.MustCompile(`https?://[^\s"<>…]+…?`)

// unpunctuated is an address without what a sentence puts behind it; "": it is none, or was shortened. A bracket is of the address
// where it was opened in it.
func unpunctuated(found string) string {
	if strings.HasSuffix(found, "…") {
		return ""
	}
	brackets := strings.Count(found, ")") - strings.Count(found, "(")
	least := strings.Index(found, "://") + len("://")
	for end := len(found); end > least; end-- {
		last := found[end-1]
		switch {
		case last == '(':
			brackets++
		case last == ')' && brackets > 0:
			brackets--
		case !strings.ContainsRune(".,:;'", rune(last)):
			return found[:end]
		}
	}
	return ""
}

func (p *printer) plain(text string) {
	if p.linked {
		p.html.WriteString(template.HTMLEscapeString(text))
		return
	}
	from := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		found := unpunctuated(text[at[0]:at[1]])
		if found == "" {
			continue
		}
		p.html.WriteString(template.HTMLEscapeString(text[from:at[0]]))
		p.html.WriteString(`<a href="` + about(found) + `">` + template.HTMLEscapeString(found) + "</a>")
		from = at[0] + len(found)
	}
	p.html.WriteString(template.HTMLEscapeString(text[from:]))
}

// about is the address of what is known here of a page, or of a site.
func about(target string) string {
	if name, ok := strings.CutPrefix(target, report.SiteScheme); ok {
		if name, err := url.PathUnescape(name); err == nil {
			return "/" + siteSheet + "?" + url.Values{"site": {name}}.Encode()
		}
	}
	return "/why?" + url.Values{"url": {target}}.Encode()
}
