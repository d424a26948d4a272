package content

// mainPrint is a print of the running text around a block that came or went: 16 bits of all other running text of the main content, by which pages
// that show one document are told, and 8 bits each of the text before the block and of the one after it, 0 where there is none.
type mainPrint uint32

func (m mainPrint) document() uint16 { return uint16(m >> 16) }

// besideSame tells whether the same text stands before both blocks, or after both.
func (m mainPrint) besideSame(other mainPrint) bool {
	before, after := uint8(m>>8), uint8(m)
	return before != 0 && before == uint8(other>>8) || after != 0 && after == uint8(other)
}

// mainPrints are those of some blocks, given in document order, which are no text around each other.
func (v *View) mainPrints(of []int32) map[*Block]mainPrint {
	prints := make(map[*Block]mainPrint, len(of))
	document, before := uint64(0), mainPrint(0)
	var waiting []*Block // for the text after them
	for i := range v.blocks {
		b := &v.blocks[i]
		if len(of) > 0 && of[0] == int32(i) {
			prints[b], of = before<<8, of[1:]
			waiting = append(waiting, b)
			continue
		}
		if !b.Main || b.runes < runningText {
			continue
		}
		text := mix(hashString(slotSeed, b.Text))
		document, before = document+text, mainPrint(1+text%0xFF)
		for _, w := range waiting {
			prints[w] |= before
		}
		waiting = waiting[:0]
	}
	for b := range prints {
		prints[b] |= mainPrint(mix(document)) << 16
	}
	return prints
}
