package content

import "slices"

// token is a block as it counts for a rung.
type token struct {
	hash  uint64
	block int32
}

// difference is what two views do not share: blocks that came and blocks that went, in document order.
type difference struct {
	before, after *View
	gone, come    []int32 // blocks
}

func (d *difference) empty() bool { return len(d.gone)+len(d.come) == 0 }

func (d *difference) size() int { return len(d.gone) + len(d.come) }

// compare takes the blocks as a multiset: what moved is no difference.
func compare(before, after *View, hash func(v *View, b *Block) (uint64, bool)) difference {
	d := difference{before: before, after: after}
	a, b := before.tokens(hash), after.tokens(hash)
	slices.SortFunc(a, byHash)
	slices.SortFunc(b, byHash)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].hash < b[0].hash:
			d.gone, a = append(d.gone, a[0].block), a[1:]
		case len(a) == 0 || b[0].hash < a[0].hash:
			d.come, b = append(d.come, b[0].block), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	slices.Sort(d.gone)
	slices.Sort(d.come)
	return d
}

func byHash(a, b token) int {
	switch {
	case a.hash < b.hash:
		return -1
	case a.hash > b.hash:
		return 1
	}
	return int(a.block - b.block)
}

func (v *View) tokens(hash func(*View, *Block) (uint64, bool)) []token {
	all := make([]token, 0, len(v.blocks))
	for i := range v.blocks {
		if h, ok := hash(v, &v.blocks[i]); ok {
			all = append(all, token{h, int32(i)})
		}
	}
	return all
}

// The rungs, by what of a block counts.

// anyText is the text of every visible block.
func anyText(_ *View, b *Block) (uint64, bool) {
	return hashString(slotSeed, b.Text), b.Text != "" && b.Flags&(Hidden|Ignored) == 0
}

// anyLink is its text and where its links lead.
func anyLink(_ *View, b *Block) (uint64, bool) {
	return b.hash(linkTarget), (b.Text != "" || len(b.Links) > 0) && b.Flags&(Hidden|Ignored) == 0
}

// mainBlock is a block of the main content: level, text and where its links lead.
func mainBlock(_ *View, b *Block) (uint64, bool) {
	return b.hash(linkTarget) + uint64(b.Level), b.Main && (b.Text != "" || len(b.Links) > 0)
}

// mainWhole is the same with the whole addresses.
func mainWhole(_ *View, b *Block) (uint64, bool) {
	return b.hash(linkWhole) + uint64(b.Level), b.Main && (b.Text != "" || len(b.Links) > 0)
}

// mainAll is a block of the main content with whole addresses, those within the page too. Pictures do not count: as many
// are signed, sized or put off anew as are replaced.
func mainAll(_ *View, b *Block) (uint64, bool) {
	return b.hash(linkAll) + uint64(b.Level), b.Main
}

// mainForm is the same with the emphasis of its words.
func mainForm(v *View, b *Block) (uint64, bool) {
	hash, ok := mainAll(v, b)
	return hash ^ mix(b.form), ok
}

// mainPicture is a picture of the main content of a page that says next to nothing: there the picture is what it shows, of
// a comic strip or of the day.
func mainPicture(v *View, b *Block) (uint64, bool) {
	sum := uint64(0)
	for _, image := range b.Images {
		sum += mix(hashString(slotSeed, image))
	}
	return sum, b.Main && len(b.Images) > 0 && v.said < enoughRunes
}

// innerBlock stands within the node of the main content, though its region is called otherwise: a list of contents in a
// nav, a title in a header.
func innerBlock(v *View, b *Block) (uint64, bool) {
	return b.hash(linkTarget), v.zone(b) == Inner && b.Text != ""
}

// openText is text that stands in no region beside the content.
func openText(v *View, b *Block) (uint64, bool) {
	return hashString(slotSeed, b.Text), v.zone(b) == Open && b.Text != ""
}

func linkTarget(l *Link) string {
	if l.Target == "#" {
		return ""
	}
	return l.Target
}

func linkWhole(l *Link) string {
	if l.Target == "#" {
		return ""
	}
	return l.Whole
}

func linkAll(l *Link) string { return l.Whole }

// hash is of the text and the links, whatever their order.
func (b *Block) hash(of func(*Link) string) uint64 {
	hash := hashString(slotSeed, b.Text)
	links := uint64(0)
	for i := range b.Links {
		if s := of(&b.Links[i]); s != "" {
			links += mix(hashString(slotSeed, s))
		}
	}
	return mix(hash ^ links)
}

// anyBlock is all of a block, wherever it stands.
func anyBlock(_ *View, b *Block) (uint64, bool) {
	hash := b.hash(linkAll) + uint64(b.Level)
	for _, image := range b.Images {
		hash += mix(hashString(slotSeed, image))
	}
	return hash, true
}

// mainHash is a print of the main content, whatever the order of its blocks.
func (v *View) mainHash() uint64 {
	sum := uint64(0)
	for i := range v.blocks {
		if h, ok := mainForm(v, &v.blocks[i]); ok {
			sum += mix(h)
		}
	}
	return mix(sum)
}

// order is a print of the blocks in their order.
func (v *View) order() uint64 {
	hash := uint64(slotSeed)
	for i := range v.blocks {
		hash = mix(hash ^ v.blocks[i].hash(linkWhole))
	}
	return hash
}
