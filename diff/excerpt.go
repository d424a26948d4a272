package diff

import (
	"html/template"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostSame is how many bytes are shown of text that is the same beside a difference in its line.
const mostSame = 160

// Excerpt is a difference in short, as HTML that is safe within any page: the summary, then the lines that differ, of those that count if
// any does, with the words in ins and del elements; at most so many lines and bytes of text, markup aside. "…" stands for the rest.
func Excerpt(d Difference, lines, size int) template.HTML {
	e := brief{left: size}
	e.write("<p>", d.Summary, "</p>")
	all := d.Lines
	if d.Of == Beside {
		all = d.Beside
	}
	all = slices.DeleteFunc(slices.Clone(all), func(l Line) bool { return l.Op == Same || l.Moved && l.Op == Removed })
	if slices.ContainsFunc(all, func(l Line) bool { return !l.Noise }) {
		all = slices.DeleteFunc(all, func(l Line) bool { return l.Noise })
	}
	for i := range all {
		if i == lines || e.left < 0 {
			e.html.WriteString("<p>…</p>")
			break
		}
		e.line(&all[i])
	}
	return template.HTML(e.html.String()) // all text went through template.HTMLEscapeString
}

// brief writes HTML with so many bytes of text.
type brief struct {
	html strings.Builder
	left int // below 0: some was left out
}

// write writes a text between two tags.
func (e *brief) write(before, text, after string) {
	e.html.WriteString(before)
	for _, r := range text {
		escaped := template.HTMLEscapeString(string(r))
		if e.left -= len(escaped); e.left < 0 {
			e.html.WriteString("…")
			break
		}
		e.html.WriteString(escaped)
	}
	e.html.WriteString(after)
}

// line writes a line that differs.
func (e *brief) line(l *Line) {
	e.html.WriteString(Paragraph(l.Text()))
	if l.Label != "" {
		e.write("", l.Label, ": ")
	}
	switch {
	case l.Moved:
		e.write("moved: ", l.New, "")
	case len(l.Spans) > 0:
		for i, s := range l.Spans {
			if i > 0 && s.Op == Added && l.Spans[i-1].Op == Removed {
				e.html.WriteString(" ") // a reader may show neither by colour
			}
			e.span(s.Op, bareOf(l)(s.Text))
		}
	default:
		e.span(l.Op, l.Text())
	}
	for _, f := range l.Facts {
		if e.left < 0 {
			break
		}
		e.write(" (", f.name(), ": ")
		e.span(Removed, f.Before)
		e.write(" → ", "", "")
		e.span(Added, f.After)
		e.html.WriteString(")")
	}
	e.html.WriteString("</p>")
}

// span writes a run of text by what became of it; of a long one that is the same the middle is left out.
func (e *brief) span(o Op, text string) {
	switch {
	case text == "" || e.left < 0:
	case o == Removed:
		e.write("<del>", text, "</del>")
	case o == Added:
		e.write("<ins>", text, "</ins>")
	case o == Same && len(text) > mostSame:
		first, last := mostSame/2, len(text)-mostSame/2
		for !utf8.RuneStart(text[first]) {
			first--
		}
		for last < len(text) && !utf8.RuneStart(text[last]) {
			last++
		}
		e.write("", text[:first], " … ")
		e.write("", text[last:], "")
	default:
		e.write("", text, "")
	}
}

// Paragraph is the tag that begins a paragraph of a page's text: where that has letters that are read from the right, a browser looks which way.
func Paragraph(text string) string {
	for _, r := range text {
		if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) {
			return `<p dir="auto">`
		}
	}
	return "<p>"
}
