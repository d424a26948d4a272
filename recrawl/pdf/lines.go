package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is text of one line of a page.
type line struct {
	text        strings.Builder
	left, right float64
	base        float64 // how high it stands
	size        float64 // of its letters
}

// What makes lines and paragraphs, in heights of letters.
const (
	leastGap    = 0.18 // a gap that is a space
	sameLine    = 0.4  // that far apart letters stand on one line
	sameBlock   = 1.8  // lines of one paragraph
	leastWide   = 20   // is a line of a paragraph that goes on
	leastFilled = 0.85 // of a page's width fills it
)

// draw notes a glyph that begins and ends at two places.
func (p *painter) draw(text string, begins, ends [2]float64, size float64) {
	if text == "" {
		return
	}
	if p.reader.said += len(text); size == 0 {
		p.reader.rest.write(text)
		return
	}
	last := len(p.lines) - 1
	if last < 0 || math.Abs(p.lines[last].base-begins[1]) > sameLine*max(size, p.lines[last].size) || begins[0] < p.lines[last].right-2*size {
		p.reader.lines++
		p.lines = append(p.lines, line{left: begins[0], right: begins[0], base: begins[1], size: size})
		last++
		p.moved = false
	}
	l := &p.lines[last]
	gap := begins[0] - l.right
	if p.font.measured && gap > leastGap*size || !p.font.measured && p.moved {
		l.text.WriteByte(' ')
	}
	p.moved = false
	l.text.WriteString(text)
	l.right = max(ends[0], begins[0])
}

// paragraphs are the lines of the page put together: a line goes on where the one before it is as wide as the page's text.
func (p *painter) paragraphs() (all []string) {
	left, right := math.Inf(1), math.Inf(-1)
	for i := range p.lines {
		left, right = min(left, p.lines[i].left), max(right, p.lines[i].right)
	}
	var b strings.Builder
	end := func() {
		if text := folded(b.String()); text != "" {
			all = append(all, text)
		}
		b.Reset()
	}
	for i := range p.lines {
		l := &p.lines[i]
		text := l.text.String()
		if i+1 < len(p.lines) && goesOn(l, &p.lines[i+1], left+(right-left)*leastFilled) {
			b.WriteString(hyphenated(text, p.lines[i+1].text.String()))
			continue
		}
		b.WriteString(text)
		end()
	}
	return all
}

// hyphenated is a line that another goes on: what a hyphen parts at its end is one word.
func hyphenated(text, next string) string {
	if first, _ := utf8.DecodeRuneInString(next); unicode.IsLower(first) {
		if part, ok := strings.CutSuffix(text, "-"); ok {
			if last, _ := utf8.DecodeLastRuneInString(part); unicode.IsLower(last) {
				return part
			}
		}
	}
	return text + " "
}

// goesOn tells whether a line belongs to the paragraph of the one before it, which must reach that far to the right.
func goesOn(before, l *line, far float64) bool {
	down := before.base - l.base
	return before.right >= far && before.right-before.left > leastWide*l.size && down > 0 && down < sameBlock*l.size && math.Abs(before.size-l.size) < 0.1*l.size && l.left <= before.left+l.size
}

// folded is text without white space at its ends and more than a space within.
func folded(text string) string { return strings.Join(strings.FieldsFunc(text, blank), " ") }

// blank tells what no text is: white space, and characters that are not to be seen.
func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u00ad' || r == unicode.ReplacementChar
}
