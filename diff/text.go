package diff

import (
	"fmt"
	"io"
	"strings"
	"time"

	"recrawld/report"
)

// Show says how a difference is written for a terminal.
type Show struct {
	Style report.Style
	Now   time.Time // for times
	Lines bool      // changed lines as two lines; else as one, by words
	All   bool      // with what is not seen, although the content differs, and what differs in each answer
	Limit int       // lines that differ, and facts, are shown up to so many; 0: all
}

// Text writes a difference for a person. Without colours removed words stand in [-…-], added ones in {+…+}. What does not
// count as a change is faint, and says so.
func Text(w io.Writer, d Difference, s Show) error {
	p := printer{show: s, left: s.Limit}
	p.head(&d)
	p.lines(d.Lines, true)
	if len(d.Beside) > 0 {
		p.title("beside the content")
		p.lines(d.Beside, false)
	}
	p.facts(&d)
	if p.more > 0 {
		p.line(s.Style.Paint(report.Faint, fmt.Sprintf("… and %s more (--limit 0 shows all)", report.Plural(p.more, "difference"))))
	}
	if _, err := io.WriteString(w, p.out.String()); err != nil {
		return fmt.Errorf("write difference: %w", err)
	}
	return nil
}

// printer collects the lines of Text.
type printer struct {
	show Show
	out  strings.Builder
	left int // differences that may still be shown, where there is a limit
	more int // those that were not
}

func (p *printer) line(text string) {
	p.out.WriteString(strings.TrimRight(text, " ") + "\n")
}

func (p *printer) title(text string) {
	p.line("")
	p.line(p.show.Style.Bold(text))
}

// head says which versions, what was found of them and what differs.
func (p *printer) head(d *Difference) {
	s := p.show.Style
	p.line(s.Bold(s.Address(d.URL)))
	p.line(fmt.Sprintf("version %d, %s → version %d, %s", d.From, report.Moment(p.show.Now, d.FromAt), d.To, report.Moment(p.show.Now, d.ToAt)))
	if d.Verdict != nil {
		p.wrapped(d.Verdict.words(s), 0)
		if today := d.Verdict.Today; today != nil {
			p.wrapped("by what is known and set today: "+today.words(s), 0)
		}
	}
	p.wrapped(d.Summary, 0)
	for _, note := range d.Notes {
		p.wrapped(s.Paint(report.Warn, note), 0)
	}
	if len(d.Lines) > 0 {
		p.line("")
	}
}

func (p *printer) wrapped(text string, indent int) {
	for _, line := range p.show.Style.Wrap(text, indent) {
		p.line(strings.Repeat(" ", indent) + line)
	}
}

// words is "changed: significance 0.83, counts from 0.50 on: text, link-target".
func (v *Verdict) words(s report.Style) string {
	tone := report.Good
	switch v.Kind {
	case "changed":
	case "noise", "same":
		tone = report.Faint
	default:
		tone = report.Bad
	}
	out := s.Paint(tone, v.Kind)
	if v.Kind == "changed" || v.Kind == "noise" {
		out += fmt.Sprintf(", significance %.2f (it counts from %.2f on)", v.Significance, v.Threshold)
	}
	if len(v.Words) > 0 {
		out += ": " + strings.Join(v.Words, ", ")
	}
	return out
}

// lines writes lines with a sign each, and a mark where some were left out.
func (p *printer) lines(lines []Line, gaps bool) {
	for i, hunk := range hunks(lines) {
		if i > 0 && p.more == 0 && gaps {
			p.line(p.show.Style.Paint(report.Faint, "  ⋯"))
		}
		for j := range hunk {
			l := &hunk[j]
			switch {
			case l.Op != Same && p.spend():
				p.differing(l)
			case l.Op == Same && p.more == 0:
				p.flow(" ", []piece{{text: clipLine(l.New, p.room()), tone: report.Faint}})
			}
		}
	}
}

// spend takes one of the differences that may be shown.
func (p *printer) spend() bool {
	if p.show.Limit > 0 && p.left == 0 {
		p.more++
		return false
	}
	p.left--
	return true
}

// room is how many columns a line has beside its sign.
func (p *printer) room() int {
	if p.show.Style.Width > 20 {
		return p.show.Style.Width - 2
	}
	return 200
}

func (p *printer) differing(l *Line) {
	note := l.note()
	if l.Label != "" {
		note = append(note, piece{text: " (" + l.Label + ")", tone: report.Faint})
	}
	switch {
	case l.Op == Removed:
		p.flow("-", p.whole(l, l.Old, report.Bad, note))
	case l.Op == Added:
		p.flow("+", p.whole(l, l.New, report.Good, note))
	case len(l.Spans) == 0:
		p.flow("~", append([]piece{{text: clipLine(l.New, 2*p.room()), tone: tone(l, report.Neutral)}}, note...))
	case p.show.Lines:
		p.flow("-", p.side(l, Removed))
		p.flow("+", append(p.side(l, Added), note...))
	default:
		p.flow("~", append(p.words(l), note...))
	}
	for _, f := range l.Facts {
		p.fact("    ", f, l.Noise)
	}
}

// note says of a line why it does not count, or that it moved.
func (l *Line) note() []piece {
	switch {
	case l.Moved:
		return []piece{{text: " (moved)", tone: report.Faint}}
	case l.Noise && len(l.Reasons) > 0:
		return []piece{{text: " (noise: " + strings.Join(l.Reasons, ", ") + ")", tone: report.Faint}}
	case l.Noise:
		return []piece{{text: " (noise)", tone: report.Faint}}
	}
	return nil
}

// tone is faint for noise.
func tone(l *Line, otherwise report.Tone) report.Tone {
	if l.Noise || l.Moved {
		return report.Faint
	}
	return otherwise
}

// mostRunes is how much of a line that came or went is shown.
const mostRunes = 1500

func (p *printer) whole(l *Line, text string, shown report.Tone, note []piece) []piece {
	if strings.TrimSpace(text) == "" {
		text = visibly(text) + "⏎"
	}
	return append([]piece{{text: clipLine(text, mostRunes), tone: tone(l, shown)}}, note...)
}

// words is a changed line with what went and what came in their places; long runs of the same are shortened.
func (p *printer) words(l *Line) []piece {
	var out []piece
	bare := bareOf(l)
	for i, s := range l.Spans {
		text := clean(s.Text)
		switch s.Op {
		case Removed:
			out = append(out, p.mark(l, bare(text), "[-", "-]", report.Bad))
		case Added:
			if p.show.Style.Color && i > 0 && l.Spans[i-1].Op == Removed { // or the two would read as one word
				out = append(out, piece{text: " "})
			}
			out = append(out, p.mark(l, bare(text), "{+", "+}", report.Good))
		default:
			out = append(out, piece{text: shorten(text, i == 0, i == len(l.Spans)-1), tone: tone(l, report.Neutral)})
		}
	}
	return out
}

// side is a changed line as it was, or as it is, with the words that differ marked where there are colours.
func (p *printer) side(l *Line, op Op) []piece {
	shown := report.Bad
	if op == Added {
		shown = report.Good
	}
	var out []piece
	for i, s := range l.Spans {
		text := clean(s.Text)
		switch {
		case s.Op == op:
			out = append(out, piece{text: bareOf(l)(text), tone: shown, dim: l.Noise})
		case s.Op == Same:
			out = append(out, piece{text: shorten(text, i == 0, i == len(l.Spans)-1), tone: tone(l, report.Neutral)})
		}
	}
	return out
}

// mark puts signs around words where there is no colour to tell them.
func (p *printer) mark(l *Line, text, left, right string, shown report.Tone) piece {
	text = clipLine(text, mostRunes)
	if !p.show.Style.Color {
		text = left + text + right
	}
	return piece{text: text, tone: shown, struck: left == "[-", dim: l.Noise}
}

// facts writes what is not seen: all of it where nothing else differs, else only on request.
func (p *printer) facts(d *Difference) {
	if len(d.Unseen) == 0 {
		return
	}
	seen := d.Of == Content || d.Of == Beside || d.Of == Source
	if seen && !p.show.All {
		p.line("")
		p.wrapped(p.show.Style.Paint(report.Faint, "not seen: "+factWords(d.Unseen)+" (--all shows them)"), 0)
		return
	}
	p.title(map[bool]string{true: "not seen", false: "what differs"}[seen])
	passing := 0
	for _, f := range d.Unseen {
		if f.Noise && !p.show.All {
			passing++
		} else if p.spend() {
			p.fact("", f, f.Noise)
		}
	}
	if p.more += d.Left; passing > 0 {
		p.wrapped(p.show.Style.Paint(report.Faint, fmt.Sprintf("and %s of the single answer, such as its date (--all shows them)",
			report.Plural(passing, "header field"))), 0)
	}
}

// fact writes one fact in a line, or in three where it is long.
func (p *printer) fact(indent string, f Fact, faint bool) {
	bad, good := report.Bad, report.Good
	if faint {
		bad, good = report.Faint, report.Faint
	}
	s := p.show.Style
	before, after := visibly(f.Before), visibly(f.After)
	name := clean(f.name())
	sign := "~"
	switch {
	case f.Before == "":
		sign = "+"
	case f.After == "":
		sign = "-"
	}
	if width := len(indent) + len(name) + len(before) + len(after) + 6; width <= p.room() {
		switch sign {
		case "+":
			p.line(indent + s.Paint(good, "+") + " " + name + " " + s.Paint(good, after))
		case "-":
			p.line(indent + s.Paint(bad, "-") + " " + name + " " + s.Paint(bad, before))
		default:
			p.line(indent + "~ " + name + " " + s.Paint(bad, before) + " → " + s.Paint(good, after))
		}
		return
	}
	p.line(indent + sign + " " + name)
	if f.Before != "" {
		p.flowAt(indent+"  - ", []piece{{text: before, tone: bad}})
	}
	if f.After != "" {
		p.flowAt(indent+"  + ", []piece{{text: after, tone: good}})
	}
}
