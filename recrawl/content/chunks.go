package content

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Chunk is a piece of a page's main content, of a size that a language model or a vector index is given: what stands under one heading,
// or a part of that.
type Chunk struct {
	ID       string   // of headings and text, the same in every version and on every page that has both; unique within a page
	Headings []string // that it stands under, the outermost first; none once the page has repeated mostHeadings bytes of them
	Text     string   // a line a block; empty under a heading that nothing stands under
}

// The bounds of what stands in Headings: a page could repeat a long one some ten thousand times.
const (
	longestHeading = 300      // runes; a longer one is a paragraph that looks like a heading, and is taken for that
	mostHeadings   = 16 << 20 // bytes of all chunks of a page
)

// Chunks cuts the main content into pieces of about size runes (at least 1). None is longer than one and a half times that, and none but the last under
// its heading shorter than half of it.
//
// Where a section is cut depends on what stands there and not on how far into the section that is: of the places between half and one
// and a half of size behind the last cut, it is behind the block, or in a long one the sentence, of the smallest hash. So a paragraph
// that comes or goes changes the chunks around it, and the cuts behind it are soon the same again (content-defined chunking by local
// extrema: Bjørner, Blass and Gurevich 2010).
func (v *View) Chunks(size int) []Chunk {
	c := chunker{size: max(size, 1), ids: make(map[string]int)}
	for i := range v.blocks {
		b := &v.blocks[i]
		switch {
		case !b.Main || b.Text == "":
		case b.Level > 0 && b.runes <= longestHeading:
			c.heading(b)
		default:
			c.add(b.Text)
		}
	}
	c.section()
	return c.chunks
}

// chunker cuts one page.
type chunker struct {
	size   int
	path   []heading // that the next block stands under
	bare   bool      // nothing has come since the last heading
	units  []unit    // of the section
	chunks []Chunk
	told   int            // bytes of the headings of all chunks
	ids    map[string]int // how often each was given
}

type heading struct {
	text  string
	level uint8
}

// unit is what is not cut: a block, or a part of a long one.
type unit struct {
	text  string
	runes int
	joins bool // it goes on in the line of the one before
}

// heading begins a section. One that begins right below another takes that along as a heading of its own.
func (c *chunker) heading(b *Block) {
	deeper := len(c.path) == 0 || c.path[len(c.path)-1].level < b.Level
	if !c.bare || !deeper {
		c.section()
	}
	for len(c.path) > 0 && c.path[len(c.path)-1].level >= b.Level {
		c.path = c.path[:len(c.path)-1]
	}
	c.path, c.bare = append(c.path, heading{b.Text, b.Level}), true
}

// add adds a block to the section, in units that are no longer than a chunk.
func (c *chunker) add(text string) {
	c.bare = false
	if n := utf8.RuneCountInString(text); n <= c.size {
		c.units = append(c.units, unit{text: text, runes: n})
		return
	}
	for joins := false; text != ""; joins = true {
		end, runes := sentence(text, c.size)
		c.units = append(c.units, unit{text: text[:end], runes: runes, joins: joins})
		text = text[end:]
	}
}

// sentence is how much of a text its first sentence takes, with the space behind it, in bytes and runes: at most limit runes, and then up to the
// last word that is whole, if there is one.
func sentence(text string, limit int) (end, runes int) {
	word, wordRunes := 0, 0
	last := rune(0)
	for i, r := range text {
		if runes == limit {
			if word > 0 {
				return word, wordRunes
			}
			return i, runes
		}
		runes++
		end = i + utf8.RuneLen(r)
		if r == utf8.RuneError { // of a byte that is no rune as well
			_, width := utf8.DecodeRuneInString(text[i:])
			end = i + width
		}
		if unicode.IsSpace(r) {
			if word, wordRunes = end, runes; strings.ContainsRune(".!?…", last) {
				return end, runes
			}
		} else if strings.ContainsRune("。！？", r) {
			return end, runes
		}
		last = r
	}
	return end, runes
}

// section ends the section: its units become chunks.
func (c *chunker) section() {
	if c.bare {
		c.emit(nil)
	}
	units := c.units
	for len(units) > 0 {
		n := c.cut(units)
		c.emit(units[:n])
		units = units[n:]
	}
	c.units, c.bare = c.units[:0], false
}

// cut is how many units the next chunk takes.
func (c *chunker) cut(units []unit) int {
	best, least, runes := 0, uint64(0), 0
	for i, u := range units {
		if runes += u.runes; i > 0 && !u.joins {
			runes++ // the line end
		}
		if runes > c.size+c.size/2 {
			return cmp.Or(best, i)
		}
		if hash := hashBytes([]byte(u.text)); runes >= c.size/2 && (best == 0 || hash < least) {
			best, least = i+1, hash
		}
	}
	return len(units)
}

// emit adds a chunk.
func (c *chunker) emit(units []unit) {
	var text strings.Builder
	for i, u := range units {
		if i > 0 && !u.joins {
			text.WriteByte('\n')
		}
		text.WriteString(u.text)
	}
	said := strings.TrimRight(text.String(), " ")
	if said == "" && len(units) > 0 { // a space between two words that are chunks of their own
		return
	}
	chunk := Chunk{Headings: c.headings(), Text: said}
	chunk.ID = chunkID(&chunk, 1)
	if c.ids[chunk.ID]++; c.ids[chunk.ID] > 1 {
		chunk.ID = chunkID(&chunk, c.ids[chunk.ID])
	}
	c.chunks = append(c.chunks, chunk)
}

// headings are those of the next chunk.
func (c *chunker) headings() []string {
	headings := make([]string, 0, len(c.path))
	for _, h := range c.path {
		c.told += len(h.text)
		headings = append(headings, h.text)
	}
	if c.told > mostHeadings {
		return []string{}
	}
	return headings
}

// idEncoding is that of IDs: digits and small letters.
var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// chunkID is the ID of the nth chunk of a page with these headings and this text: 120 bits of a SHA-256, so that a collision is not to be
// expected among 10^17 chunks.
func chunkID(chunk *Chunk, nth int) string {
	var whole []byte
	for _, part := range slices.Concat(chunk.Headings, []string{"", chunk.Text, strconv.Itoa(nth)}) {
		whole = append(strconv.AppendInt(whole, int64(len(part)), 10), ':')
		whole = append(whole, part...)
	}
	sum := sha256.Sum256(whole)
	return idEncoding.EncodeToString(sum[:15])
}
