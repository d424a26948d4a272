package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// Print tells pages that say nearly the same from other pages, in 16 bytes. The zero Print is that of a page that says too
// little to be compared.
//
// What it is of, and why, was measured on real pages and on edits made to them (BENCHMARKS.md, "Near-duplicates"):
//
//   - Of the main text: the lines outside nav, header, footer and aside that have some length and are not mostly links.
//     Over all visible text, at the same likeness, what a site repeats on all its pages makes 23 in 100 pairs of its short
//     pages (100 words) look alike, and two in three copies with a reordered menu look different.
//   - A min-hash sketch (Broder 1997) of the winnowed text. Simhash (Charikar 2002) takes 7 in 100 pairs of such short pages
//     for copies even where it finds no more than half of those that differ by a word; the sketch takes 1 in 100 and finds
//     95. It is a one-permutation hash (Li, Owen and Zhang 2012; empty bins take the next one's, Shrivastava and Li 2014)
//     that keeps four bits a bin (Li and König 2010).
//   - Of the title and the first heading, which must be the same: products that differ by a name and a price have nearly
//     the same text, and other titles.
//   - Of the lines that are not main text, one by one and in any order, with little weight: the pages of a list share
//     title, heading and introduction and differ in what they list.
type Print [16]byte

// The layout of a Print: two nibbles a byte, the bins of the main text before those of the rest; then the headings.
const (
	mainBins = 18
	restBins = 8

	// leastMain is the least main text, in bytes of letters and digits, that is compared by likeness: a hundred words of
	// English. Of pairs of pages under one template with one title (and no heading) that say other things, 2 in 1000 look
	// alike at 100 words of their own and 2 in 100 at 80, by what of the template counts as main text.
	leastMain = 640
	// leastRest is the least of other text that is compared, and leastAll the least of both for a page with less main
	// text than leastMain, which is only ever taken for another where all of it is the same.
	leastRest = 256
	leastAll  = 800

	// The bins that must agree. Those of the main text: 16 of 18 is a likeness (Jaccard) of 0.88; two texts that share
	// nothing agree so with a probability of 1e-17, two that share half with one of 2 in 1000.
	mainAgree = 16
	restAgree = 4

	hasRest = 1 << 23 // flags among the bits of the headings
	isShort = 1 << 22
)

// IsZero tells whether there is nothing to compare.
func (p Print) IsZero() bool { return p == Print{} }

// headings is the last three bytes: a hash of title and first heading, and the flags.
func (p Print) headings() uint32 { return uint32(p[13])<<16 | uint32(p[14])<<8 | uint32(p[15]) }

// Alike tells whether two pages say nearly the same. It is symmetric; a page with a print is like itself.
func (p Print) Alike(q Print) bool {
	const identity = isShort | (isShort - 1) // the bits below the flags, and this one
	if p.IsZero() || (p.headings()^q.headings())&identity != 0 {
		return false
	}
	if p.headings()&isShort != 0 {
		return p == q
	}
	if agreeing(p[:mainBins/2], q[:mainBins/2]) < mainAgree {
		return false
	}
	return p.headings()&q.headings()&hasRest == 0 ||
		agreeing(p[mainBins/2:(mainBins+restBins)/2], q[mainBins/2:(mainBins+restBins)/2]) >= restAgree
}

func agreeing(a, b []byte) int {
	n := 0
	for i := range a {
		differs := a[i] ^ b[i]
		if differs&0x0F == 0 {
			n++
		}
		if differs&0xF0 == 0 {
			n++
		}
	}
	return n
}

// bands is how many keys a print has for its likeness; one of a short page has one, for all of it.
const bands = 3

// Keys are what an index finds a print by, none for the zero Print. Two prints that are alike share at least one: bins that
// disagree, at most two, lie in at most two of the three bands (Manku, Jain and Das Sarma 2007 find simhashes by the same
// pigeonholes). A key that unlike prints share is shared by few, since the headings count in it. Its highest byte is as
// good as random.
func (p Print) Keys() []uint64 {
	headings := uint64(p.headings() &^ hasRest)
	switch {
	case p.IsZero():
		return nil
	case headings&isShort != 0:
		return []uint64{scramble(scramble(binary.BigEndian.Uint64(p[:8])) ^ binary.BigEndian.Uint64(p[8:]))}
	}
	keys := make([]uint64, bands)
	for band := range keys {
		b := p[3*band : 3*band+3]
		bins := uint64(b[0])<<16 | uint64(b[1])<<8 | uint64(b[2])
		keys[band] = scramble(bins<<32 | headings<<8 | uint64(band))
	}
	return keys
}

// sketch is a min-hash of a set of hashes.
type sketch [mainBins]uint64

func (s *sketch) add(h uint64, bins uint64) {
	h = scramble(h + polynomial)
	bin, _ := bits.Mul64(h, bins)
	if value := scramble(h) | 1; s[bin] == 0 || value < s[bin] {
		s[bin] = value
	}
}

// nibbles writes four bits of each bin. A sketch of nothing is all zero.
func (s *sketch) nibbles(to []byte) {
	bins := 2 * len(to)
	for i := range bins {
		from, distance := i, uint64(0)
		for s[from] == 0 && distance < uint64(bins) {
			from = (from + 1) % bins
			distance++
		}
		if s[from] != 0 {
			to[i/2] |= byte(scramble(s[from]+distance)&0xF) << (i % 2 * 4)
		}
	}
}

// putHeadings writes the last three bytes.
func (p *Print) putHeadings(hash uint64, flags uint32) {
	var word [4]byte
	binary.BigEndian.PutUint32(word[:], uint32(scramble(hash))&(isShort-1)|flags)
	copy(p[13:], word[1:])
}
