// Package fingerprint says when two bodies show a reader the same text.
//
// The visible text of a page is what a reader sees with scripts and styles at work, as far as the mark-up alone tells:
//
//   - In: all text, the title, the alternative text of images, the labels of buttons (values of submit, button and
//     reset inputs), options, text areas, closed details.
//   - Out: script, style, noscript, template (but for declarative shadow trees, which are shown), iframe, noframes, noembed,
//     datalist, comments; elements with the hidden attribute or an own display:none (but for the parts that React
//     streams, which a script shows at once); tooltips (title attributes), other form values (they carry tokens), link
//     targets.
//   - White space of any kind folds to one space, the edges of block elements and line breaks to one line end, the text
//     has neither at its ends; zero-width runes and soft hyphens go. Inline elements do not separate.
//   - Letters stay as they are: no case folding, and no Unicode normalisation, since a server that changes the form of
//     its accents has changed its templates.
//
// The digest of that text is the rung of the ladder between the bytes and the reader's own judgement.
package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"unicode"
	"unicode/utf8"
)

// Text collects the visible text of one page from the tokens of its mark-up, in one pass and constant memory. Make one
// with NewText. It is not safe for concurrent use.
type Text struct {
	hash    hash.Hash
	buf     []byte
	room    [1 << 10]byte // of buf
	copy    *bytes.Buffer // also gets the text; nil: nobody does
	bytes   int64
	pending byte // separator owed before the next rune: 0, ' ' or '\n'
	prose   prose

	// The element that hides what is in it.
	hiding   element
	hidden   bool
	sameName int // elements of its name open within it
	open     int // elements open within it that need an end tag
	name     []byte

	unshown     uint64 // hash of the text that an attribute hides
	unshownSize int64
}

// NewText begins a page.
func NewText() *Text {
	t := &Text{hash: sha256.New()}
	t.buf = t.room[:0]
	return t
}

// Reset begins another page. The text goes nowhere then but into the digest.
func (t *Text) Reset() {
	t.hash.Reset()
	line := t.prose.line[:0]
	if cap(line) > 2*longLine {
		line = nil
	}
	*t = Text{hash: t.hash, prose: prose{line: line}}
	t.buf = t.room[:0]
}

// CopyTo has the text written to b as well, from here on: for a person, where the digest is not enough.
func (t *Text) CopyTo(b *bytes.Buffer) { t.copy = b }

// Start is a start tag, with its name in lower case. hidden tells that its attributes hide the element, closed that it
// ends at once (a void element of HTML ends at once in any case).
func (t *Text) Start(name []byte, hidden, closed bool) {
	kind := elements[string(name)]
	closed = closed || kind&void != 0
	if t.hidden && !t.endedByStart(name, kind) {
		if !closed && string(name) == string(t.name) {
			t.sameName++
		}
		if !closed && kind&optionalEnd == 0 {
			t.open++
		}
		return
	}
	if kind&block != 0 {
		t.separate('\n')
	}
	t.prose.start(name, kind)
	if (hidden || kind&unseen != 0) && !closed {
		t.hidden, t.hiding, t.sameName, t.open = true, kind, 0, 0
		t.name = append(t.name[:0], name...)
	}
}

// endedByStart tells whether a start tag ends the hidden element, which has no end tag of its own: <p hidden>…<p>.
func (t *Text) endedByStart(name []byte, kind element) bool {
	if t.hiding&optionalEnd == 0 || t.open > 0 {
		return false
	}
	if string(name) == string(t.name) || string(t.name) == "p" && kind&block != 0 {
		t.hidden = false
		return true
	}
	return false
}

// End is an end tag, with its name in lower case.
func (t *Text) End(name []byte) {
	kind := elements[string(name)]
	if t.hidden && !t.endedByEnd(name, kind) {
		return
	}
	if kind&block != 0 {
		t.separate('\n')
	}
	t.prose.end(name, kind)
}

// Link tells that what follows, up to the end of the element a, leads elsewhere.
func (t *Text) Link() { t.prose.inLink = true }

// endedByEnd tells whether an end tag ends the hidden element: its own, or that of an element around it.
func (t *Text) endedByEnd(name []byte, kind element) bool {
	switch {
	case string(name) == string(t.name):
		t.hidden = t.sameName > 0
		t.sameName--
	case kind&(optionalEnd|void) != 0:
	default:
		t.hidden = t.open > 0
	}
	if t.hidden && t.open > 0 && kind&(optionalEnd|void) == 0 {
		t.open--
	}
	return !t.hidden
}

// InTemplate tells whether the tokens lie within a template, whose links lead nowhere.
func (t *Text) InTemplate() bool { return t.hidden && string(t.name) == "template" }

// Hidden tells whether text would be ignored at this place.
func (t *Text) Hidden() bool { return t.hidden }

// Phrase is text that stands by itself: the alternative text of an image, the label of a button.
func (t *Text) Phrase(text []byte) {
	t.separate(' ')
	t.write(text)
	t.separate(' ')
}

// Unshown takes text within what is hidden, as Write takes what is shown, where an attribute hides it.
func (t *Text) Unshown(text []byte) {
	if !t.hidden || t.hiding&unseen != 0 {
		return
	}
	for _, c := range text {
		if c > ' ' {
			t.unshown = t.unshown*polynomial + uint64(c) + 1
			t.unshownSize++
		}
	}
}

// HiddenPart is a hash of the text that attributes hide where there is as much of it as makes up a third of all text, and
// 0 where there is less. A page may show it as soon as its scripts run.
func (t *Text) HiddenPart() uint64 {
	if shown := t.bytes + int64(len(t.buf)); 2*t.unshownSize <= shown {
		return 0
	}
	return scramble(t.unshown) | 1
}

// Write is text between tags, with its character references resolved.
func (t *Text) Write(text []byte) {
	if t.hidden {
		return
	}
	t.prose.write(text)
	t.write(text)
}

func (t *Text) write(text []byte) {
	for i := 0; i < len(text); {
		if n := plainRun(text[i:]); n > 0 {
			t.flushSeparator()
			t.append(text[i : i+n])
			i += n
			continue
		}
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			if c == ' ' || c >= '\t' && c <= '\r' {
				t.separate(' ')
			}
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case zeroWidth(r):
		case unicode.IsSpace(r):
			t.separate(' ')
		default:
			t.flushSeparator()
			t.buf = utf8.AppendRune(t.buf, r)
		}
	}
}

// plainRun is how many bytes of a text stay as they are: ASCII that is seen, with single spaces between. It looks at eight
// at a time, as the bytes of a word; what it finds out of each stands in that byte's highest bit.
func plainRun(text []byte) int {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	n, spaced := 0, uint64(0x80) // no space comes first
	for ; n+8 <= len(text); n += 8 {
		word := binary.LittleEndian.Uint64(text[n:])
		control, deleted := ^(word + (0x80-' ')*each), word+each
		spaces := ^((word ^ ' '*each) + 0x7F*each) & highest
		if (word|control|deleted|spaces&(spaces<<8|spaced))&highest != 0 {
			break
		}
		spaced = spaces >> 56
	}
	for n < len(text) && (seenASCII(text[n]) || text[n] == ' ' && n > 0 && text[n-1] != ' ') {
		n++
	}
	if n > 0 && text[n-1] == ' ' {
		n--
	}
	return n
}

func seenASCII(c byte) bool { return c-'!' <= '~'-'!' }

// append takes bytes that stay as they are.
func (t *Text) append(text []byte) {
	for room := cap(t.buf) - len(t.buf); len(text) > room; room = cap(t.buf) {
		t.buf = append(t.buf, text[:room]...)
		text = text[room:]
		t.drain()
	}
	t.buf = append(t.buf, text...)
}

func (t *Text) separate(by byte) {
	if by == '\n' || t.pending == 0 {
		t.pending = by
	}
}

// flushSeparator makes room for a rune and writes what separates it from the text before, if there is any.
func (t *Text) flushSeparator() {
	if t.pending == 0 && len(t.buf) < cap(t.buf)-utf8.UTFMax-1 {
		return
	}
	if len(t.buf) >= cap(t.buf)-utf8.UTFMax-1 {
		t.drain()
	}
	if t.pending != 0 && t.bytes+int64(len(t.buf)) > 0 {
		t.buf = append(t.buf, t.pending)
	}
	t.pending = 0
}

func (t *Text) drain() {
	t.hash.Write(t.buf)
	if t.copy != nil {
		t.copy.Write(t.buf)
	}
	t.bytes += int64(len(t.buf))
	t.buf = t.buf[:0]
}

// Sum ends the page: the SHA-256 of its visible text and the text's length in bytes. A page that shows no text has the
// zero digest: nothing can be said of it by its text.
func (t *Text) Sum() (digest [sha256.Size]byte, bytes int64) {
	t.drain()
	if t.bytes == 0 {
		return digest, 0
	}
	t.hash.Sum(digest[:0])
	return digest, t.bytes
}

// Print ends the page: what tells pages that say nearly the same.
func (t *Text) Print() Print { return t.prose.sum() }

// zeroWidth tells the runes that leave no mark: soft hyphen, zero-width spaces and joiners, direction marks, the byte
// order mark.
func zeroWidth(r rune) bool {
	return r == 0xAD || r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x2064 || r == 0xFEFF
}
