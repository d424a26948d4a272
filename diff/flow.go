package diff

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"

	"recrawld/report"
)

// piece is text of one tone.
type piece struct {
	text   string
	tone   report.Tone
	struck bool // out, where there are colours
}

// flow writes pieces behind a sign, broken at spaces where the terminal is narrower.
func (p *printer) flow(sign string, pieces []piece) {
	shown := map[string]report.Tone{"-": report.Bad, "+": report.Good, "~": report.Warn}[sign]
	if len(pieces) > 0 && pieces[0].tone == report.Faint {
		shown = report.Faint
	}
	p.flowIn(sign+" ", p.show.Style.Paint(shown, sign)+" ", pieces)
}

func (p *printer) flowAt(prefix string, pieces []piece) { p.flowIn(prefix, prefix, pieces) }

// flowIn writes pieces behind a prefix, of which plain is the form without colours.
func (p *printer) flowIn(plain, prefix string, pieces []piece) {
	indent := text.StringWidth(plain)
	room := p.show.Style.Width - indent
	var b strings.Builder
	column := 0
	b.WriteString(prefix)
	for _, piece := range pieces {
		for _, run := range runs(piece.text, room, &column) {
			if run == "\n" {
				b.WriteString("\n" + strings.Repeat(" ", indent))
				continue
			}
			b.WriteString(p.paint(piece, run))
		}
	}
	for line := range strings.Lines(b.String()) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
}

// paint gives a run its colour. What went from within a line is struck out as well, so that red and green need not be told
// apart.
func (p *printer) paint(of piece, run string) string {
	run = p.show.Style.Paint(of.tone, run)
	if of.struck && p.show.Style.Color {
		run = "\x1b[9m" + run
	}
	return run
}

// runs cuts text into what fits into the room that a line has, with a line end between; column is where it begins and ends.
// Without a width nothing is cut.
func runs(what string, room int, column *int) []string {
	const least = 10
	if room < least {
		return []string{what}
	}
	var out []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
		}
		b.Reset()
	}
	for _, part := range strings.SplitAfter(what, " ") {
		for text.StringWidth(part) > room { // longer than a line: cut anywhere
			head := text.Trim(part, room-*column)
			b.WriteString(head)
			end()
			out = append(out, "\n")
			part, *column = part[len(head):], 0
		}
		width := text.StringWidth(part)
		if *column+text.StringWidth(strings.TrimRight(part, " ")) > room {
			end()
			out = append(out, "\n")
			*column = 0
		}
		b.WriteString(part)
		*column += width
	}
	end()
	return out
}

// clean makes text from elsewhere fit for a terminal: no control characters, nothing that turns the direction of what
// follows.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return unicode.ReplacementChar
		}
		return r
	}, report.Printable(strings.ReplaceAll(s, "\r", "")))
}

// bare shows what went or came even where it cannot be seen: spaces by themselves, and runes without width.
func bare(s string) string {
	if s != "" && strings.TrimSpace(s) == "" {
		return visibly(s)
	}
	if strings.ContainsFunc(s, hidden) {
		return visibly(s)
	}
	return s
}

func hidden(r rune) bool { return unicode.Is(unicode.Cf, r) || r != ' ' && unicode.IsSpace(r) }

// visibly spells out what cannot be seen: line ends and tabs as signs, other spaces and runes without width by number.
func visibly(s string) string {
	if s != "" && strings.Trim(s, " ") == "" {
		return strings.Repeat("␠", len(s))
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("⏎")
		case r == '\r':
			b.WriteString("␍")
		case r == '\t':
			b.WriteString("⇥")
		case hidden(r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return report.Printable(b.String())
}

// clipLine shortens a line to so many columns.
func clipLine(s string, width int) string {
	if len(s) <= width || text.StringWidth(s) <= width {
		return s
	}
	return strings.TrimRight(text.Trim(s, width-1), " ") + "…"
}

// The runes that stay of a long run of the same words: at the beginning of its line, and beside a difference.
const (
	keepAtStart = 40
	keepBeside  = 60
)

// shorten leaves out the middle of a long run of the same, at spaces.
func shorten(s string, first, last bool) string {
	r := []rune(s)
	head, tail := keepBeside, keepBeside
	if first {
		head = keepAtStart
	}
	if last {
		tail = 0
	}
	if len(r) <= head+tail+2*keepAtStart {
		return s
	}
	return untilSpace(r[:head]) + " … " + fromSpace(r[len(r)-tail:])
}

func untilSpace(r []rune) string {
	s := string(r)
	if at := strings.LastIndexByte(s, ' '); at > len(s)/2 {
		return s[:at]
	}
	return s
}

func fromSpace(r []rune) string {
	s := string(r)
	if at := strings.IndexByte(s, ' '); at >= 0 && at < len(s)/2 {
		return s[at+1:]
	}
	return s
}
