package content

import (
	"strings"
	"unicode/utf8"

	"recrawld/recrawl/pdf"
)

// sheet puts a View together that has no elements: each block stands in a place that is named.
type sheet struct {
	v      *View
	places map[string]int32
}

func newSheet(v *View) *sheet {
	v.nodes = append(v.nodes[:0], node{slot: slotSeed})
	v.blocks = v.blocks[:0]
	return &sheet{v: v, places: map[string]int32{"": 0}}
}

// add adds a block of main content. It reports whether there was room for it.
func (s *sheet) add(place, text string, links ...Link) bool {
	if len(s.v.blocks) >= maxBlocks {
		return false
	}
	at, known := s.places[place]
	if !known {
		at = int32(len(s.v.nodes))
		s.places[place] = at
		s.v.nodes = append(s.v.nodes, node{name: place, slot: hashString(slotSeed, place), end: at + 1})
	}
	s.v.blocks = append(s.v.blocks, Block{Text: text, Links: links, Main: true, node: at,
		runes: int32(utf8.RuneCountInString(text))})
	return true
}

// readPDF reads the pages of a PDF file: each paragraph is a block. All that is no text is its rest. One that says nothing, as what was scanned,
// is no more than its bytes.
func readPDF(v *View, body []byte) {
	document, ok := pdf.Read(body)
	if !ok || len(document.Paragraphs) == 0 {
		return
	}
	v.Kind, v.Title, v.Cut, v.rest = PDF, fold(document.Title), document.Cut, document.Rest
	s := newSheet(v)
	for i, paragraph := range document.Paragraphs {
		if !s.add("", fold(paragraph)) {
			v.cut([]byte(strings.Join(document.Paragraphs[i:], "\n")))
			return
		}
	}
}

// readText reads plain text: each line is a block.
func readText(v *View, text []byte) {
	s := newSheet(v)
	at := 0
	for line := range strings.Lines(string(text)) {
		if folded := fold(strings.ReplaceAll(line, "\x00", "")); folded != "" && !s.add("", folded) {
			v.cut(text[at:])
			return
		}
		at += len(line)
	}
}
