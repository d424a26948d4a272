package fingerprint

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// prose collects, line by line, what a Print is of: letters and digits in lower case, so that a change of punctuation,
// white space or case is none.
type prose struct {
	line     []byte // the present line, normalised
	linked   int    // bytes of it within links
	inLink   bool
	margin   int  // elements open that stand around the main text
	mainSeen bool // a main or article element was opened: headers are its own from there on

	winnow         winnow
	main, rest     sketch
	mainLen        int // bytes
	restLen        int
	title, heading uint64
	inTitle        bool
	titled         bool
	inHeading      bool
	headed         bool
}

const (
	// lineBytes is the least length of a line of main text, outside links: a sentence, not a label.
	lineBytes = 32
	// longLine is where a line that does not end is taken as it is so far.
	longLine = 16 << 10
)

// foldedASCII is each ASCII letter and digit in lower case, and 0 for all else.
const foldedASCII = zeros16 + zeros16 + zeros16 + "0123456789" + "\x00\x00\x00\x00\x00\x00\x00" +
	"abcdefghijklmnopqrstuvwxyz" + "\x00\x00\x00\x00\x00\x00" +
	"abcdefghijklmnopqrstuvwxyz" + "\x00\x00\x00\x00\x00"

const zeros16 = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// write is text that is seen.
func (p *prose) write(text []byte) {
	from := len(p.line)
	p.line = appendFolded(p.line, text)
	if p.inLink {
		p.linked += len(p.line) - from
	}
	if p.inTitle {
		p.title = hashOn(p.title, p.line[from:])
		p.line = p.line[:from]
	}
	if p.inHeading {
		p.heading = hashOn(p.heading, p.line[from:])
	}
	if len(p.line) > longLine {
		p.endLine()
	}
}

// appendFolded appends the letters and digits of a text, in lower case.
func appendFolded(line, text []byte) []byte {
	line = slices.Grow(line, len(text))
	for i := 0; i < len(text); {
		// Most bytes are ASCII and most of these count: they are written where the next one goes, which moves on if they do.
		to, n := line[len(line):len(line)+len(text)-i], 0
		for ; i < len(text) && text[i] < utf8.RuneSelf; i++ {
			folded := foldedASCII[text[i]]
			to[n] = folded
			if folded != 0 {
				n++
			}
		}
		line = line[:len(line)+n]
		for i < len(text) && text[i] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			i += size
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				line = utf8.AppendRune(line, unicode.ToLower(r))
			}
		}
		line = slices.Grow(line, len(text)-i)
	}
	return line
}

// endLine takes the line to the main text or to the rest.
func (p *prose) endLine() {
	line, own := p.line, len(p.line)-p.linked
	p.line, p.linked = p.line[:0], 0
	switch {
	case len(line) == 0 || p.margin > 0:
	case own >= lineBytes && 2*own >= len(line):
		p.mainLen += len(line)
		for block := range slices.Chunk(line, blockBytes) {
			for _, hash := range p.winnow.write(block) {
				p.main.add(hash, mainBins)
			}
		}
	default:
		p.restLen += len(line)
		p.rest.add(hashOn(0, line), restBins)
	}
}

func hashOn(h uint64, text []byte) uint64 {
	for _, c := range text {
		h = h*polynomial + uint64(c) + 1
	}
	return h
}

// start is a start tag that is seen.
func (p *prose) start(name []byte, kind element) {
	switch {
	case kind&margin != 0:
		if !p.mainSeen || string(name) != "header" {
			p.endLine()
			p.margin++
		}
	case kind&block == 0:
		if string(name) == "a" {
			p.inLink = false // links do not lie within each other
		}
		return
	}
	p.endLine()
	switch string(name) {
	case "main", "article":
		p.margin, p.mainSeen = 0, true // whatever was left open before
	case "title":
		p.inTitle, p.titled = !p.titled, true
	case "h1":
		p.inHeading = !p.headed && p.margin == 0
		p.headed = p.headed || p.inHeading
	}
}

// end is an end tag that is seen.
func (p *prose) end(name []byte, kind element) {
	if kind&block == 0 {
		if string(name) == "a" {
			p.inLink = false
		}
		return
	}
	p.endLine()
	switch {
	case kind&margin != 0:
		if p.margin > 0 && (!p.mainSeen || string(name) != "header") {
			p.margin--
		}
	case string(name) == "title":
		p.inTitle = false
	case string(name) == "h1":
		if p.inHeading && p.heading == 0 {
			p.headed = false // it holds a picture
		}
		p.inHeading = false
	}
}

// sum is the print of what was collected.
func (p *prose) sum() Print {
	p.endLine()
	var out Print
	var flags uint32
	switch {
	case p.mainLen >= leastMain && p.restLen >= leastRest:
		flags = hasRest
	case p.mainLen >= leastMain:
	case p.mainLen+p.restLen >= leastAll:
		flags = isShort
	default:
		return out
	}
	p.main.nibbles(out[:mainBins/2])
	if flags != 0 {
		p.rest.nibbles(out[mainBins/2 : (mainBins+restBins)/2])
	}
	out.putHeadings(p.title*31+p.heading, flags)
	if out.IsZero() { // once in 2^128
		out[0] = 1
	}
	return out
}
