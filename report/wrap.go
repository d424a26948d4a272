package report

import (
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Wrap breaks a text into lines that fit beside an indent of so many characters, at spaces where it can. Without a
// width it is one line. Colours that go on over the end of a line begin anew in the next one.
func (s Style) Wrap(what string, indent int) []string {
	width := s.Width - indent
	if s.Width == 0 || width < flexAtLast || text.StringWidthWithoutEscSequences(what) <= width {
		return []string{what}
	}
	w := wrapping{width: width}
	for line := range strings.Lines(what) {
		for i, word := range strings.Split(strings.TrimRight(line, " \n"), " ") {
			if i > 0 {
				w.space(text.StringWidthWithoutEscSequences(word))
			}
			w.word(word)
		}
		w.end()
	}
	return w.lines
}

// wrapping is a text that is being broken into lines. (text.WrapSoft paints the rest of a text in a colour that ended within a word.)
type wrapping struct {
	width int
	lines []string
	line  strings.Builder
	used  int    // columns of the line
	tone  string // the colour that is on; "": none
}

// space is what stands before a word of so many columns: a space, or the end of the line.
func (w *wrapping) space(next int) {
	if w.used+1+next > w.width {
		w.end()
		return
	}
	w.line.WriteByte(' ')
	w.used++
}

// word writes what has no space in it, over several lines where it must.
func (w *wrapping) word(word string) {
	for word != "" {
		if code := colourCode(word); code != "" {
			w.line.WriteString(code)
			if w.tone = code; code == reset {
				w.tone = ""
			}
			word = word[len(code):]
			continue
		}
		r, size := utf8.DecodeRuneInString(word)
		wide := text.RuneWidth(r)
		if w.used > 0 && w.used+wide > w.width {
			w.end()
		}
		w.line.WriteString(word[:size])
		w.used, word = w.used+wide, word[size:]
	}
}

// end ends the line, and the next one begins in the same colour.
func (w *wrapping) end() {
	line := strings.TrimRight(w.line.String(), " ")
	if w.tone != "" {
		line += reset
	}
	w.lines = append(w.lines, line)
	w.line.Reset()
	w.line.WriteString(w.tone)
	w.used = 0
}

// reset ends a colour.
const reset = "\x1b[0m"

// colourCode is the code that a text begins with, "" for none.
func colourCode(what string) string {
	if !strings.HasPrefix(what, "\x1b[") {
		return ""
	}
	return what[:strings.IndexByte(what, 'm')+1]
}
