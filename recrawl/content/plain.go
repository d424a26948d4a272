package content

import "strings"

// readText reads plain text: each line is a block.
func readText(v *View, text []byte) {
	v.nodes = append(v.nodes, node{slot: slotSeed})
	for line := range strings.Lines(string(text)) {
		if line = fold(line); line != "" && len(v.blocks) < maxBlocks {
			v.blocks = append(v.blocks, Block{Text: line, Main: true, runes: int32(len([]rune(line)))})
			v.weight += len(line)
		}
	}
}
