package fingerprint

// winnow selects some of the hashes of the k-grams of a stream of bytes (Schleimer, Wilkerson and Aiken, "Winnowing: local
// algorithms for document fingerprinting", SIGMOD 2003): of each window of successive hashes the least, and that once for
// windows in a row. A run of gram+window-1 bytes that two streams share puts a common hash into both selections, wherever
// it lies; nothing shorter than gram bytes does.
type winnow struct {
	hash  uint64 // of the last k-gram, by Karp and Rabin's rolling polynomial, modulo 2^64
	seen  int    // bytes, as far as the first window
	least uint64 // of the last window

	tail [gram]uint16 // the last k-gram's bytes, each of them plus one; 0: there was none yet
	last uint64       // hash, as it is ordered

	pairs  [window - 2 + blockBytes]uint64 // the least of two hashes in a row: the last ones of the block before, then a block's
	chosen [blockBytes]uint64              // in the last block
}

const (
	gram   = 24 // bytes of a k-gram: four or five words, eight Chinese characters
	window = 8  // k-grams of which at least one is selected

	polynomial = 0x9E3779B97F4A7C15 // odd, so that its powers never vanish modulo 2^64

	// blockBytes is how many bytes at most are taken at a time: they are hashed first, then the windows over them are looked
	// at, in two loops in neither of which a branch depends on the text.
	blockBytes = 128
)

// leaving is polynomial^gram modulo 2^64: the weight of the byte that has just left a k-gram.
const leaving = pow12 * pow12 & (1<<64 - 1)

const (
	pow3  = polynomial * polynomial * polynomial & (1<<64 - 1)
	pow6  = pow3 * pow3 & (1<<64 - 1)
	pow12 = pow6 * pow6 & (1<<64 - 1)
)

// write takes at most blockBytes more bytes and returns the hashes that they bring into the selection, until the next call.
func (w *winnow) write(block []byte) []uint64 {
	w.hashes(block)
	chosen := w.choose(len(block))
	copy(w.pairs[:window-2], w.pairs[len(block):])
	return chosen
}

// hashes fills in the pairs of a block.
func (w *winnow) hashes(block []byte) {
	pairs := w.pairs[window-2:][:len(block)]
	hash, last := w.hash, w.last
	for i, c := range block[:min(len(block), gram)] {
		hash = hash*polynomial + uint64(c) + 1 - leaving*uint64(w.tail[i])
		this := order(hash)
		pairs[i], last = min(this, last), this
	}
	if len(block) >= gram {
		old := block[:len(block)-gram]
		comes, pairs := block[gram:][:len(old)], pairs[gram:][:len(old)]
		for i, gone := range old {
			hash = hash*polynomial + (uint64(comes[i]) + 1 - leaving*(uint64(gone)+1))
			this := order(hash)
			pairs[i], last = min(this, last), this
		}
	}
	w.hash, w.last = hash, last
	kept := copy(w.tail[:], w.tail[min(len(block), gram):])
	for i, c := range block[len(block)-(gram-kept):] {
		w.tail[kept+i] = uint16(c) + 1
	}
}

// choose looks at the windows that end in a block of n bytes.
func (w *winnow) choose(n int) []uint64 {
	from := 0
	if first := gram + window - 2; w.seen <= first { // the first window ends after so many bytes
		from = min(first-w.seen, n)
		w.seen += n
		if w.seen > first {
			w.least = ^w.window(from) // it differs from none
		}
	}
	// Few values, so that all of them stay in registers: a count that is kept in memory makes each turn wait for the last.
	pairs, chosen, least, count := w.pairs[from:n+window-2], &w.chosen, w.least, uint(0)
	for ; len(pairs) >= window-1; pairs = pairs[1:] {
		four := (*[window - 1]uint64)(pairs)
		eight := min(four[0], four[2], four[4], four[6])
		chosen[count%blockBytes] = eight
		if eight != least {
			count++
		}
		least = eight
	}
	w.least = least
	return w.chosen[:count]
}

// window is the least hash of the window that ends with byte i of the block.
func (w *winnow) window(i int) uint64 {
	return min(w.pairs[i], w.pairs[i+2], w.pairs[i+4], w.pairs[i+6])
}

// order spreads the bits of a polynomial hash enough for its place in an order: its low bits depend on few bytes' bits.
func order(hash uint64) uint64 { return (hash ^ hash>>32) * 0xBF58476D1CE4E5B9 }

// scramble spreads the bits of x over all of them (the finaliser of SplitMix64: Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
