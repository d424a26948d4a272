package digest

import (
	"html"
	"strings"

	"recrawld/report"
)

// columns are those of a text: mail programs break longer lines wherever they like.
const columns = 76

// textOf replaces the elements of what is said of a page: removed words stand in [-…-], added ones in {+…+}, as diff writes them.
var textOf = strings.NewReplacer("<p>", "", `<p dir="auto">`, "", "</p>", "\n", "<del>", "[-", "</del>", "-]", "<ins>", "{+", "</ins>", "+}")

// Text is a digest for those who read text.
func (d *Digest) Text() string {
	var b strings.Builder
	write := func(indent int, text string) {
		for _, line := range (report.Style{Width: columns}).Wrap(text, indent) {
			b.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+line, " ") + "\n")
		}
	}
	write(0, strings.TrimPrefix(d.Subject(), "recrawld: ")+",")
	write(0, d.when()+".")
	for _, lines := range [][]string{d.Unusual, d.Notes} {
		for i, line := range lines {
			if i == 0 {
				write(0, "")
			}
			write(0, "! "+report.OneLine(line, 1000))
		}
	}
	for i, r := range d.Removed {
		if i == 0 {
			write(0, "")
		}
		write(0, d.removal(r))
	}
	for _, s := range d.Sites {
		write(0, "")
		title := line(s.Name) + ": " + s.Tally.words()
		write(0, title)
		write(0, strings.Repeat("=", min(len([]rune(title)), columns)))
		for i := range s.Entries {
			d.entry(&b, &s.Entries[i], write)
		}
	}
	if d.More > 0 {
		write(0, "")
		write(0, d.more())
		b.WriteString("  " + d.Command + "\n")
	}
	return b.String()
}

// entry writes what happened to a page.
func (d *Digest) entry(b *strings.Builder, e *Entry, write func(indent int, text string)) {
	write(0, "")
	write(0, e.head(d.To))
	if e.Title != "" {
		write(0, line(e.Title))
	}
	address := func(sign, url string) { b.WriteString(sign + report.OneLine(url, 2000) + "\n") } // in one piece, however long
	address("", e.URL)
	if e.RedirectTo != "" {
		address("→ ", e.RedirectTo)
	}
	for paragraph := range strings.Lines(textOf.Replace(string(e.Said))) {
		if text := report.OneLine(html.UnescapeString(paragraph), 10_000); text != "" {
			write(4, text)
		}
	}
}
