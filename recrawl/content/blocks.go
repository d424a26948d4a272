package content

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"recrawld/recrawl/canon"
)

// characters adds text to the block under way, folded: white space to one space, runes without a mark left out,
// typographic quotes straightened.
func (r *reader) characters(text []byte) {
	e := r.top()
	if r.inTitle {
		r.title(text)
		return
	}
	if e.silent {
		return
	}
	if r.apart {
		c, _ := utf8.DecodeRune(text)
		r.space, r.apart = r.space || isWordRune(c), false
	}
	before := r.runes
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			if c == '\n' && e.pre {
				r.cut()
				before = r.runes
			} else {
				r.ascii(c)
			}
			continue
		}
		c, size := utf8.DecodeRune(text[i:])
		i += size
		r.rune(c)
	}
	if e.link {
		r.inLinks += r.runes - before
	}
}

// ascii adds one of the runes that most text is made of.
func (r *reader) ascii(c byte) {
	switch {
	case c == ' ' || c >= '\t' && c <= '\r':
		r.space = true
	case c > ' ' && c != 0x7F:
		r.owedSpace()
		r.text = append(r.text, c)
		r.runes++
	}
}

// rune adds any other.
func (r *reader) rune(c rune) {
	switch {
	case zeroWidth(c):
	case unicode.IsSpace(c):
		r.space = true
	default:
		r.owedSpace()
		r.text = utf8.AppendRune(r.text, straight(c))
		r.runes++
	}
}

// straight turns the quotes that editors and servers exchange for each other into one.
func straight(r rune) rune {
	switch r {
	case '‘', '’', '‛', '´':
		return '\''
	case '“', '”', '‟', '«', '»':
		return '"'
	case '‐', '‑':
		return '-'
	}
	return r
}

// zeroWidth tells the runes that leave no mark: soft hyphen, zero-width spaces and joiners, direction marks, the byte
// order mark, variation selectors.
func zeroWidth(r rune) bool {
	return r == 0xAD || r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x2064 ||
		r == 0xFEFF || r >= 0xFE00 && r <= 0xFE0F
}

func (r *reader) owedSpace() {
	if r.space && len(r.text) > r.start {
		r.text = append(r.text, ' ')
		r.runes++
	}
	r.space = false
}

// age notes an age that an element names, and parts it from the words that stand beside it without a space: "3 days agoChange 14" is how
// a reader sees none of it.
func (r *reader) age(e *element) {
	text := r.text[e.from:]
	switch {
	case len(text) == 0 || len(text) > maxDate:
		return
	case e.dated && isAge(text):
		r.aged = true
	case !mayBeAgo(text) || !isAgo(text):
		return
	}
	r.apart = true
	if before, _ := utf8.DecodeLastRune(r.text[r.start : len(r.text)-len(text)]); isWordRune(before) && text[0] != ' ' {
		r.text = slices.Insert(r.text, len(r.text)-len(text), ' ')
		r.runes++
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// title reads the document's title.
func (r *reader) title(text []byte) {
	const most = 300
	if len(r.v.Title) < most {
		r.v.Title = fold(r.v.Title + string(text[:min(len(text), 4*most)]))
	}
}

func (r *reader) image(attrs *attributes) {
	src := attrs.src
	if src == "" || strings.HasPrefix(src, "data:") || len(src) > canon.MaxBytes {
		return
	}
	if at := strings.IndexAny(src, "?#"); at >= 0 {
		src = src[:at]
	}
	r.images = append(r.images, src)
}

// pending tells whether the block under way holds anything.
func (r *reader) pending() bool {
	return len(r.text) > r.start || len(r.links) > 0 || len(r.images) > 0
}

// cut ends the block under way. Links and images before any text wait for the text that they are around.
func (r *reader) cut() {
	r.space, r.apart = false, false
	if len(r.text) == r.start && (len(r.links) == 0 && len(r.images) == 0 || r.top().link) {
		return
	}
	e := r.top()
	b := Block{Links: r.links, Images: r.images, Level: e.level, node: e.node, runes: r.runes, linkRunes: r.inLinks,
		form: r.form, aged: r.aged, turns: r.turns(), away: e.name == "option" && len(r.links) > 0, counted: r.counts()}
	r.v.blocks = append(r.v.blocks, b)
	r.ends = append(r.ends, len(r.text))
	r.start, r.links, r.images, r.runes, r.inLinks, r.form, r.aged, r.turned = len(r.text), nil, nil, 0, 0, 0, false, 0
}

// finish closes what is open and settles where each block stands.
func (r *reader) finish() {
	r.closeTo(1)
	r.open[0].link = false
	r.cut()
	v := r.v
	v.nodes[0].end, v.nodes[0].last = int32(len(v.nodes)), int32(len(v.blocks))
	text, start := string(r.text), 0
	for i, end := range r.ends {
		b := &v.blocks[i]
		b.Text = text[start:end]
		b.away = b.away || b.turns && len(r.turning) <= maxTurning
		start = end
	}
	v.labelAges()
	v.labelAuthors()
	v.spread()
}
