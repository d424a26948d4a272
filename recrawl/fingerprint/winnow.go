package fingerprint

// winnow selects some of the hashes of the k-grams of a stream of bytes (Schleimer, Wilkerson and Aiken, "Winnowing: local
// algorithms for document fingerprinting", SIGMOD 2003): of each window of successive hashes the least, the rightmost
// where several are, each place once. A run of gram+window-1 bytes that two streams share puts a common hash into both
// selections, wherever it lies; nothing shorter than gram bytes does.
type winnow struct {
	hash   uint64         // of the last k-gram, by Karp and Rabin's rolling polynomial, modulo 2^64
	last   [ring]byte     // the last bytes, by their number modulo ring
	recent [window]uint64 // the hashes of the last k-grams, by their number modulo window
	bytes  int            // so many were seen
	least  int            // the number of the k-gram with the least hash in the window
}

const (
	gram   = 24 // bytes of a k-gram: four or five words, eight Chinese characters
	window = 8  // k-grams of which at least one is selected; a power of two
	ring   = 32 // the power of two from gram on

	polynomial = 0x9E3779B97F4A7C15 // odd, so that its powers never vanish modulo 2^64
)

// leaving is polynomial^gram modulo 2^64: the weight of the byte that has just left a k-gram.
const leaving = pow12 * pow12 & (1<<64 - 1)

const (
	pow3  = polynomial * polynomial * polynomial & (1<<64 - 1)
	pow6  = pow3 * pow3 & (1<<64 - 1)
	pow12 = pow6 * pow6 & (1<<64 - 1)
)

// write takes more bytes and calls selected with each hash that they bring into the selection.
func (w *winnow) write(text []byte, selected func(hash uint64)) {
	for _, c := range text {
		w.hash = w.hash*polynomial + uint64(c) + 1
		if w.bytes >= gram {
			w.hash -= leaving * (uint64(w.last[(w.bytes-gram)%ring]) + 1)
		}
		w.last[w.bytes%ring] = c
		w.bytes++
		if n := w.bytes - gram; n >= 0 && w.slide(n, order(w.hash)) {
			selected(w.recent[w.least%window])
		}
	}
}

// slide moves the window on to the n-th k-gram, and tells whether it has another least hash since.
func (w *winnow) slide(n int, hash uint64) bool {
	least := w.recent[w.least%window]
	w.recent[n%window] = hash
	switch {
	case n == 0 || w.least > n-window && hash <= least:
		w.least = n
	case w.least > n-window:
		return n == window-1 // the first window is full
	default: // the least one has left
		w.least = n
		for i := n - 1; i > n-window; i-- {
			if w.recent[i%window] < w.recent[w.least%window] {
				w.least = i
			}
		}
	}
	return n >= window-1
}

// order spreads the bits of a polynomial hash enough for its place in an order: its low bits depend on few bytes' bits.
func order(hash uint64) uint64 { return (hash ^ hash>>32) * 0xBF58476D1CE4E5B9 }

// scramble spreads the bits of x over all of them (the finaliser of SplitMix64: Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
