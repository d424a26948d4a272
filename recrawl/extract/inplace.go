package extract

import (
	"bytes"
	"maps"
	"regexp"
	"slices"

	"golang.org/x/net/html"
)

// late is how a page that React streams says where a part of it belongs that came after what stands below it: the script replaces a
// boundary ($RC, $RR) or a placeholder ($RS) by the content of a hidden element.
var late = regexp.MustCompile(`\$R(?:[CR]\("([^"\\]{1,64})","([^"\\]{1,64})"|S\("([^"\\]{1,64})","([^"\\]{1,64})")`)

// deepest is how many parts that came late stand in one another.
const deepest = 100

// InPlace is the text of a page with the parts that were streamed late where its scripts put them at once, as a reader sees it: what
// stands there until then ("Loading…") is left out. It depends on how long the server took for them whether they come so or where
// they belong, and may differ from visit to visit. A page without such parts, or with any that cannot be put in place, is returned as it is.
// Time is linear in its length, and the result is not longer.
func InPlace(text []byte) []byte {
	if !bytes.Contains(text, []byte("$R")) {
		return text
	}
	p := places{text: text, holes: map[string]*span{}, parts: map[string]*part{}}
	for _, m := range late.FindAllSubmatch(text, -1) {
		if len(m[1]) > 0 {
			p.want(string(m[1]), string(m[2]))
		} else {
			p.want(string(m[4]), string(m[3]))
		}
	}
	if len(p.pairs) == 0 {
		return text
	}
	p.find()
	if p.match(); len(p.moves) == 0 {
		return text
	}
	p.out = make([]byte, 0, len(text))
	p.write(span{0, len(text)}, 0)
	if 2*p.moved < len(p.moves) || len(p.out) > len(text) {
		return text
	}
	return p.out
}

// span is a stretch of the text.
type span struct{ from, to int }

// part is an element whose content came late.
type part struct{ whole, content span }

// places are the parts of a page and where they belong.
type places struct {
	text  []byte
	pairs []pair
	holes map[string]*span // of pairs; nil: it was not found
	parts map[string]*part // likewise

	moves  map[int]move // by where a hole, or a part in its old place, begins
	starts []int        // of the moves, in order
	out    []byte
	moved  int // parts that were written where they belong
}

// pair is what belongs where.
type pair struct{ hole, part string }

// want notes that a part belongs into a hole; of two such the first counts.
func (p *places) want(hole, part string) {
	_, filled := p.holes[hole]
	_, placed := p.parts[part]
	if !filled && !placed {
		p.pairs = append(p.pairs, pair{hole, part})
		p.holes[hole], p.parts[part] = nil, nil
	}
}

// move is what is left out, and what is written instead.
type move struct {
	to      int
	content *span // nil: nothing
}

// boundary is one that is open: React marks where it begins and ends by comments.
type boundary struct {
	from int
	hole string // "": it is no hole
}

// find looks for the holes and the parts, in one pass.
func (p *places) find() {
	tokens := html.NewTokenizer(bytes.NewReader(p.text))
	var open []boundary
	var in, tag string // the part under way, and its element
	depth := 0
	for from, to := 0, 0; ; from = to {
		kind := tokens.Next()
		to += len(tokens.Raw())
		switch kind {
		case html.ErrorToken:
			return
		case html.CommentToken:
			open = p.comment(string(tokens.Text()), open, span{from, to})
		case html.StartTagToken:
			name, id := nameAndID(tokens)
			_, wanted := p.parts[id]
			switch {
			case name == "template":
				p.template(id, open, span{from, to})
			case in != "" && name == tag:
				depth++
			case in == "" && wanted && p.parts[id] == nil:
				in, tag, depth = id, name, 1
				p.parts[in] = &part{whole: span{from: from}, content: span{from: to}}
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); in == "" || string(name) != tag {
				continue
			}
			if depth--; depth == 0 {
				p.parts[in].content.to, p.parts[in].whole.to = from, to
				in = ""
			}
		}
	}
}

// nameAndID are those of the start tag that the tokenizer stands at.
func nameAndID(tokens *html.Tokenizer) (name, id string) {
	raw, more := tokens.TagName()
	name = string(raw)
	for more {
		var key, value []byte
		if key, value, more = tokens.TagAttr(); string(key) == "id" {
			return name, string(value)
		}
	}
	return name, ""
}

// comment opens or closes a boundary.
func (p *places) comment(text string, open []boundary, at span) []boundary {
	switch text {
	case "$", "$?", "$!", "$~":
		return append(open, boundary{from: at.from})
	case "/$":
		if len(open) == 0 {
			return open
		}
		last := open[len(open)-1]
		if last.hole != "" {
			p.holes[last.hole] = &span{last.from, at.to}
		}
		return open[:len(open)-1]
	}
	return open
}

// template names the boundary that it begins, or is a placeholder by itself.
func (p *places) template(id string, open []boundary, at span) {
	if _, wanted := p.holes[id]; !wanted {
		return
	}
	const pending, end = "<!--$?-->", "</template>"
	switch last := len(open) - 1; {
	case last >= 0 && open[last].from+len(pending) == at.from:
		open[last].hole = id
	case bytes.HasPrefix(p.text[at.to:], []byte(end)):
		p.holes[id] = &span{at.from, at.to + len(end)}
	}
}

// match says what moves where.
func (p *places) match() {
	p.moves = map[int]move{}
	for _, pair := range p.pairs {
		hole, part := p.holes[pair.hole], p.parts[pair.part]
		if hole == nil || part == nil || part.whole.to == 0 {
			continue
		}
		p.moves[hole.from] = move{hole.to, &part.content}
		p.moves[part.whole.from] = move{to: part.whole.to}
	}
	p.starts = slices.Sorted(maps.Keys(p.moves))
}

// write writes a stretch with what belongs into it.
func (p *places) write(at span, deep int) {
	next, _ := slices.BinarySearch(p.starts, at.from)
	for ; next < len(p.starts) && p.starts[next] < at.to; next++ {
		start := p.starts[next]
		if start < at.from { // it stands in what was left out
			continue
		}
		p.out = append(p.out, p.text[at.from:start]...)
		m := p.moves[start]
		if m.content != nil && deep < deepest {
			p.moved++
			p.write(*m.content, deep+1)
		}
		at.from = m.to
	}
	if at.from < at.to {
		p.out = append(p.out, p.text[at.from:at.to]...)
	}
}
