package fingerprint

// winnow selects some of the hashes of the k-grams of a stream of bytes (Schleimer, Wilkerson and Aiken, "Winnowing: local
// algorithms for document fingerprinting", SIGMOD 2003): of each window of successive hashes the least, and that once for
// windows in a row. A run of gram+window-1 bytes that two streams share puts a common hash into both selections, wherever
// it lies; nothing shorter than gram bytes does.
type winnow struct {
	hash  uint64 // of the last k-gram, by Karp and Rabin's rolling polynomial, modulo 2^64
	seen  int    // bytes, as far as the first window
	least uint64 // of the last window

	text [gram + blockBytes]byte // the last k-gram, then a block

	// The least of two hashes in a row and of four, each as they are ordered: what goes on from block to block.
	last, pair, before uint64 // hash, the pair that ends with it and the one before
	fours              [window/2 + blockBytes]uint64
	chosen             [blockBytes]uint64 // in the last block
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

// gone is by how much a byte that leaves changes the hash, and 1: what a byte that comes counts beyond itself.
var gone = func() (table [256]uint64) {
	for c := range table {
		table[c] = 1 - leaving*(uint64(c)+1)
	}
	return table
}()

const (
	pow2  = polynomial * polynomial & (1<<64 - 1)
	pow3  = pow2 * polynomial & (1<<64 - 1)
	pow6  = pow3 * pow3 & (1<<64 - 1)
	pow12 = pow6 * pow6 & (1<<64 - 1)
)

// write takes at most blockBytes more bytes and returns the hashes that they bring into the selection, until the next call.
func (w *winnow) write(block []byte) []uint64 {
	n := copy(w.text[gram:], block)
	w.hashes(n)
	chosen := w.choose(n)
	copy(w.fours[:window/2], w.fours[n:])
	copy(w.text[:gram], w.text[n:])
	return chosen
}

// hashes fills in the fours of a block of n bytes. It takes two bytes a turn, so that the multiplications of one need not wait
// for those of the other.
func (w *winnow) hashes(n int) {
	from := min(max(gram-w.seen, 0), n) // up to there none leaves the k-gram
	for i := range from {
		w.next(i, uint64(w.text[gram+i])+1)
	}
	if (n-from)%2 == 1 {
		w.next(from, w.change(from))
		from++
	}
	old := w.text[from:n]
	comes, fours := w.text[gram+from:][:len(old)], w.fours[window/2+from:][:len(old)]
	hash, last, pair, before := w.hash, w.last, w.pair, w.before
	for i := 1; i < len(old) && i < len(comes) && i < len(fours); i += 2 {
		one := uint64(comes[i-1]) + gone[old[i-1]]
		two := uint64(comes[i]) + gone[old[i]]
		first := order(hash*polynomial + one)
		hash = hash*pow2 + (one*polynomial + two)
		second := order(hash)
		early, late := min(last, first), min(first, second)
		fours[i-1], fours[i] = min(before, early), min(pair, late)
		last, before, pair = second, early, late
	}
	w.hash, w.last, w.pair, w.before = hash, last, pair, before
}

// change is by how much byte i of a block changes the hash: it comes, and another one leaves.
func (w *winnow) change(i int) uint64 {
	return uint64(w.text[gram+i]) + gone[w.text[i]]
}

// next is hashes for byte i alone.
func (w *winnow) next(i int, change uint64) {
	w.hash = w.hash*polynomial + change
	this := order(w.hash)
	pair := min(w.last, this)
	w.fours[window/2+i] = min(w.before, pair)
	w.last, w.before, w.pair = this, w.pair, pair
}

// choose looks at the windows that end in a block of n bytes.
func (w *winnow) choose(n int) []uint64 {
	from := 0
	if first := gram + window - 2; w.seen <= first { // the first window ends after so many bytes
		from = min(first-w.seen, n)
		w.seen += n
		if w.seen > first {
			w.least = ^min(w.fours[from], w.fours[from+window/2]) // it differs from none
		}
	}
	// Few values, so that all of them stay in registers: a count that is kept in memory makes each turn wait for the last.
	late := w.fours[from+window/2 : n+window/2]
	early, chosen, least, count := w.fours[from:][:len(late)], &w.chosen, w.least, uint(0)
	for i, four := range late {
		eight := min(early[i], four)
		chosen[count%blockBytes] = eight
		if eight != least {
			count++
		}
		least = eight
	}
	w.least = least
	return w.chosen[:count]
}

// order spreads the bits of a polynomial hash enough for its place in an order: its low bits depend on few bytes' bits.
func order(hash uint64) uint64 { return (hash ^ hash>>32) * 0xBF58476D1CE4E5B9 }

// scramble spreads the bits of x over all of them (the finaliser of SplitMix64: Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
