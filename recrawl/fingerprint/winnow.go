package fingerprint

// winnow selects some of the hashes of the k-grams of a stream of bytes (Schleimer, Wilkerson and Aiken, "Winnowing: local
// algorithms for document fingerprinting", SIGMOD 2003): of each window of successive hashes the least, and that once for
// windows in a row. A run of gram+window-1 bytes that two streams share puts a common hash into both selections, wherever
// it lies; nothing shorter than gram bytes does.
type winnow struct {
	text  []byte // the last bytes, at most gram, with room for those to come
	hash  uint64 // of the last k-gram, by Karp and Rabin's rolling polynomial, modulo 2^64
	grams int    // so many were seen, as far as window
	least uint64 // of the last window

	// The last hash, and the least of two and of four in a row, the last ones first: of twice as many in a row the least is
	// the lesser of two of these, which needs no branch to be taken.
	one  uint64
	two  [2]uint64
	four [4]uint64
}

const (
	gram   = 24 // bytes of a k-gram: four or five words, eight Chinese characters
	window = 8  // k-grams of which at least one is selected

	polynomial = 0x9E3779B97F4A7C15 // odd, so that its powers never vanish modulo 2^64
)

// leaving is polynomial^gram modulo 2^64: the weight of the byte that has just left a k-gram.
const leaving = pow12 * pow12 & (1<<64 - 1)

const (
	pow3  = polynomial * polynomial * polynomial & (1<<64 - 1)
	pow6  = pow3 * pow3 & (1<<64 - 1)
	pow12 = pow6 * pow6 & (1<<64 - 1)
)

// write takes more bytes and appends the hashes that they bring into the selection to selected.
func (w *winnow) write(text []byte, selected []uint64) []uint64 {
	from := len(w.text)
	w.text = append(w.text, text...)
	all, hash, grams, least := w.text, w.hash, w.grams, w.least
	one, two, two2, four, four2, four3, four4 := w.one, w.two[0], w.two[1], w.four[0], w.four[1], w.four[2], w.four[3]
	for i := from; i < len(all); i++ {
		comes := uint64(all[i]) + 1
		if i >= gram {
			comes -= leaving * (uint64(all[i-gram]) + 1)
		}
		if hash = hash*polynomial + comes; i < gram-1 {
			continue
		}
		last := order(hash)
		two3, four5 := two2, four4
		if grams == 0 { // there is nothing before it to be less
			one, two, two3, four, four2, four3, four5 = last, last, last, last, last, last, last
		}
		four4, four3, four2 = four3, four2, four
		two2, two = two, min(last, one)
		four, one = min(two, two3), last
		eight := min(four, four5)
		if grams < window {
			if grams++; grams < window {
				continue
			}
		} else if eight == least {
			continue
		}
		selected, least = append(selected, eight), eight
	}
	w.hash, w.grams, w.least = hash, grams, least
	w.one, w.two, w.four = one, [2]uint64{two, two2}, [4]uint64{four, four2, four3, four4}
	w.text = all[:copy(all, all[max(len(all)-gram, 0):])]
	return selected
}

// order spreads the bits of a polynomial hash enough for its place in an order: its low bits depend on few bytes' bits.
func order(hash uint64) uint64 { return (hash ^ hash>>32) * 0xBF58476D1CE4E5B9 }

// scramble spreads the bits of x over all of them (the finaliser of SplitMix64: Steele, Lea and Flood 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
