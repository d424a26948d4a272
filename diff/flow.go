package diff

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"recrawld/report"
)

// piece is text of one tone.
type piece struct {
	text   string
	tone   report.Tone
	struck bool // out, where there are colours
	dim    bool // its tone is fainter
}

// flow writes pieces behind a sign, broken at spaces where the terminal is narrower.
func (p *printer) flow(sign string, pieces []piece) {
	shown := map[string]report.Tone{"-": report.Bad, "+": report.Good, "~": report.Warn}[sign]
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
	if of.dim && p.show.Style.Color {
		run = "\x1b[2m" + run
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

// bareOf is how the words that differ in a line are shown: where they cannot be seen, as spaces by themselves and runes
// without width, by signs.
func bareOf(l *Line) func(string) string {
	for _, s := range l.Spans {
		if s.Op != Same && strings.TrimFunc(s.Text, unseen) != "" {
			return func(s string) string { return s }
		}
	}
	return visibly
}

func unseen(r rune) bool { return r == ' ' || hidden(r) }

func hidden(r rune) bool { return unicode.Is(unicode.Cf, r) || r != ' ' && unicode.IsSpace(r) }

// visibly spells out what cannot be seen: line ends and tabs as signs, other spaces and runes without width by number.
func visibly(s string) string {
	var b strings.Builder
	blank := strings.TrimFunc(s, unseen) == ""
	for _, r := range s {
		switch {
		case r == ' ' && blank:
			b.WriteString("␠")
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

// clipLine is a line fit for a terminal and shortened to so many columns.
func clipLine(s string, width int) string {
	const bytesOfRune = 4
	short := clean(prefix(s, bytesOfRune*width)) // measuring what is not shown takes long
	if len(s) <= bytesOfRune*width && (len(short) <= width || text.StringWidth(short) <= width) {
		return short
	}
	return strings.TrimRight(text.Trim(short, width-1), " ") + "…"
}

// prefix is at most so many bytes of s, whole runes.
func prefix(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
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
