package extract

import (
	"bytes"
	"io"

	"golang.org/x/net/html"
)

// runs is the text of a page as its tokenizer reads it: in pieces, each of which ends with a '>' that a long run of text may
// follow. Such a run the tokenizer would look at byte by byte; where it has just returned a tag and has nothing left of what it
// read, the run is taken out here. Where it ends the standard says in a line (HTML, 13.2.5.1 and 13.2.5.6), and between two
// tokens the tokenizer remembers nothing, but for the elements of raw text.
type runs struct {
	text []byte
	at   int  // how much of it was read
	raw  bool // the token before may have begun an element of raw text
}

// longRun is from how many bytes on a run is worth a piece of its own.
const longRun = 64

// Read implements io.Reader.
func (r *runs) Read(p []byte) (int, error) {
	rest := r.text[r.at:]
	if len(rest) == 0 {
		return 0, io.EOF
	}
	end := 0
	for most := min(len(p), len(rest)); end < most; {
		next := bytes.IndexByte(rest[end:most], '>')
		if next < 0 {
			end = most
			break
		}
		end += next + 1
		if len(rest)-end >= longRun && bytes.IndexByte(rest[end:end+longRun], '<') < 0 {
			break
		}
	}
	r.at += copy(p, rest[:end])
	return end, nil
}

// take takes the run of text that the tokenizer would return next, where it stands for itself and the tokenizer has nothing
// left of what it has read; nothing where the tokenizer is to look.
func (r *runs) take(tokens *html.Tokenizer) []byte {
	if r.raw || len(tokens.Buffered()) > 0 {
		return nil
	}
	run := r.text[r.at:]
	if run = run[:textRun(run)]; !plainText(run) {
		return nil
	}
	r.at += len(run)
	return run
}

// textRun is the length of the text that stands before the first tag, comment or declaration. A '<' that begins none of them is
// text.
func textRun(text []byte) int {
	for at := 0; ; at++ {
		next := bytes.IndexByte(text[at:], '<')
		if at += next; next < 0 || at+1 == len(text) {
			return len(text)
		}
		switch c := text[at+1]; {
		case c|0x20-'a' < 26, c == '/', c == '!', c == '?':
			return at
		}
	}
}

// rawText are the elements whose content the tokenizer takes for text, whatever it is.
var rawText = map[string]bool{"iframe": true, "noembed": true, "noframes": true, "noscript": true, "plaintext": true,
	"script": true, "style": true, "textarea": true, "title": true, "xmp": true}
