package digest

import (
	"fmt"
	"html"
	"strings"

	"recrawld/report"
)

// Wording is how a chat wants a text written, so that nothing in it is taken for more than it is.
type Wording struct {
	Most int                            // bytes of a text, at least 500
	Text func(string) string            // a text as itself
	Link func(title, url string) string // a page by its title; "": it has none
}

const (
	briefNotes = 5   // lines on what is unusual and the like
	briefSaid  = 3   // lines of what is said of a page
	briefLine  = 160 // characters of a line
)

// Brief is a digest for a chat or a phone, below its subject: what weighs most, as far as there is room.
func (d *Digest) Brief(w Wording) string {
	b := brief{wording: w, left: w.Most - len(w.Text(d.rest(d.More+int64(d.entries()))))}
	var lines []string
	for _, r := range d.Removed {
		lines = append(lines, d.removal(r))
	}
	for _, notes := range [][]string{d.Unusual, d.Notes} {
		for _, note := range notes {
			lines = append(lines, "! "+note)
		}
	}
	b.notes(lines)
	b.spare = b.left
	for i := range d.Sites {
		for j := range d.Sites[i].Entries {
			b.spare -= len(b.head(d.title(i, w), &d.Sites[i].Entries[j]))
		}
	}
	more := d.More
	for i := range d.Sites {
		title := d.title(i, w)
		for j := range d.Sites[i].Entries {
			if !b.entry(title, &d.Sites[i].Entries[j]) {
				more++
				continue
			}
			title = ""
		}
	}
	if more > 0 {
		b.text.WriteString(w.Text(d.rest(more)))
	}
	return strings.Trim(b.text.String(), "\n")
}

// title stands above the pages of a site, where there are several sites.
func (d *Digest) title(site int, w Wording) string {
	if len(d.Sites) == 1 {
		return ""
	}
	s := &d.Sites[site]
	return "\n" + w.Text(line(s.Name)+": "+s.Tally.words()) + "\n"
}

// rest says what is left out, and how to see it.
func (d *Digest) rest(pages int64) string {
	return fmt.Sprintf("… and %s more: %s", report.Plural(pages, "page"), d.Command)
}

// entries is how many there are.
func (d *Digest) entries() (n int) {
	for i := range d.Sites {
		n += len(d.Sites[i].Entries)
	}
	return n
}

// brief is a text that has so much room left.
type brief struct {
	wording Wording
	text    strings.Builder
	left    int
	spare   int // of that, what is not needed to name the pages: what they say may take it
}

// add adds a piece, where there is room for all of it.
func (b *brief) add(piece string) bool {
	if len(piece) > b.left {
		return false
	}
	b.left -= len(piece)
	b.text.WriteString(piece)
	return true
}

// notes adds the first of some lines. The others are told by no later digest either: it says how many they are.
func (b *brief) notes(lines []string) {
	rest := func(left int) string {
		return b.wording.Text(fmt.Sprintf("… and %s like these: recrawld status", report.Plural(left, "line"))) + "\n"
	}
	room := len(rest(len(lines)))
	b.left -= room
	n := 0
	for n < min(len(lines), briefNotes) && b.add(b.wording.Text(report.OneLine(lines[n], briefLine))+"\n") {
		n++
	}
	b.left += room
	if left := len(lines) - n; left > 0 {
		b.add(rest(left))
	}
}

// entry adds what happened to a page, with as many lines of what is said of it as there is room for, behind a title.
func (b *brief) entry(title string, e *Entry) bool {
	if !b.add(b.head(title, e)) {
		return false
	}
	for _, line := range b.said(e) {
		if len(line) > b.spare || !b.add(line) {
			break
		}
		b.spare -= len(line)
	}
	return true
}

// head names a page and what happened to it. A title that is an address would seem to be where the link leads.
func (b *brief) head(title string, e *Entry) string {
	what := e.Kind.String()
	if e.Significance > 0 {
		what += fmt.Sprintf(", significance %.2f", e.Significance)
	}
	if often := e.often(); often != "" {
		what += ", " + often
	}
	name := ""
	if e.Title != "" && !strings.Contains(e.Title, "://") {
		name = report.OneLine(e.Title, briefLine)
	}
	head := title + b.wording.Text(what+": ") + b.wording.Link(name, e.URL) + "\n"
	if e.RedirectTo != "" {
		head += "→ " + b.wording.Link("", e.RedirectTo) + "\n"
	}
	return head
}

// said is what there is to read of a page, its first lines.
func (b *brief) said(e *Entry) (lines []string) {
	for paragraph := range strings.Lines(textOf.Replace(string(e.Said))) {
		text := report.OneLine(html.UnescapeString(paragraph), briefLine)
		if text == "" {
			continue
		}
		if lines = append(lines, "  "+b.wording.Text(text)+"\n"); len(lines) == briefSaid {
			break
		}
	}
	return lines
}
