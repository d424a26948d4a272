package content

// mainPrint is a print of the running text around a block that came or went: 16 bits of all other running text of the main content, by which pages
// that show one document are told, and 8 bits each of a text some way before the block and of one after it, 0 where there is none.
type mainPrint uint32

// textsAway is how many texts before and after a block the ones stand that tell where it stands: a line of boilerplate has a few others beside it
// that all pages share, and a passage is longer.
const textsAway = 3

func (m mainPrint) document() uint16 { return uint16(m >> 16) }

// besideSame tells whether the same text stands as far before both blocks, or after both.
func (m mainPrint) besideSame(other mainPrint) bool {
	before, after := uint8(m>>8), uint8(m)
	return before != 0 && before == uint8(other>>8) || after != 0 && after == uint8(other)
}

// mainPrints are those of some blocks, given in document order, which are no text around each other.
func (v *View) mainPrints(of []int32) map[*Block]mainPrint {
	var texts []mainPrint // prints of the running texts
	before := make([]int, 0, len(of))
	document := uint64(0)
	for i := range v.blocks {
		b := &v.blocks[i]
		if at := len(before); at < len(of) && of[at] == int32(i) {
			before = append(before, len(texts))
		} else if b.Main && b.runes >= runningText {
			text := mix(hashString(slotSeed, b.Text))
			document, texts = document+text, append(texts, mainPrint(1+text%0xFF))
		}
	}
	prints := make(map[*Block]mainPrint, len(of))
	for i, n := range before {
		print := mainPrint(mix(document)) &^ 0xFFFF // the bits that memories of before the texts around a block were noted have there
		if at := n - textsAway; at >= 0 {
			print |= texts[at] << 8
		}
		if at := n + textsAway - 1; at < len(texts) {
			print |= texts[at]
		}
		prints[&v.blocks[of[i]]] = print
	}
	return prints
}
