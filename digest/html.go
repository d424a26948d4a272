package digest

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed digest.gohtml
var page string

var document = template.Must(template.New("digest").Funcs(template.FuncMap{
	"line":    line,
	"words":   Tally.words,
	"head":    func(d *Digest, e Entry) string { return e.head(d.To) },
	"removal": func(d *Digest, r Removal) string { return d.removal(r) },
	"when":    func(d *Digest) string { return d.when() },
	"what":    func(d *Digest) string { return strings.TrimPrefix(d.Subject(), "recrawld: ") },
	"more":    func(d *Digest) string { return d.more() },
}).Parse(page))

// HTML is a digest as a document of its own, which asks for nothing from elsewhere.
func (d *Digest) HTML() (string, error) {
	var b strings.Builder
	err := document.Execute(&b, d)
	return b.String(), err
}

// Paragraph is a text as HTML.
func Paragraph(text string) template.HTML {
	return template.HTML("<p>" + template.HTMLEscapeString(text) + "</p>") // escaped
}
