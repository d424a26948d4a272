package content

import (
	"hash/maphash"
	"strings"

	"recrawld/recrawl/canon"
)

// Read reads a body that came with a Content-Type from a URL. It never fails: of a body that makes no sense, little is
// found.
func Read(body []byte, contentType string, at canon.URL, rules *Rules) *View {
	v := &View{Kind: Text, bytes: maphash.Bytes(seed, body)}
	for line := range strings.Lines(string(body)) {
		v.blocks = append(v.blocks, Block{Text: strings.TrimSpace(line), Main: true})
	}
	return v
}

var seed = maphash.MakeSeed()
