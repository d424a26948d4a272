package main

import "math/bits"

// idSet is a set of page IDs in little room: two bytes each, and 16 MiB at most. Of some that are not in it, it says that they are, of one in
// thousands until it has more than it was made for; of none that is in it that it is not (Bloom 1970). Another seed errs about others.
type idSet struct {
	words []uint64
	seed  uint64
}

const (
	idSetMost   = 16 << 20 / 8 // words
	idSetProbes = 8
)

// newIDSet is an empty set for so many IDs.
func newIDSet(n int64, seed uint64) *idSet {
	words := 1 << bits.Len64(uint64(max(min(n/4, idSetMost/2), 512)))
	return &idSet{make([]uint64, words), seed}
}

// add adds an ID and tells whether it was not in the set.
func (s *idSet) add(id int64) (fresh bool) {
	s.probe(id, func(word *uint64, bit uint64) bool {
		fresh = fresh || *word&bit == 0
		*word |= bit
		return true
	})
	return fresh
}

func (s *idSet) has(id int64) bool {
	all := true
	s.probe(id, func(word *uint64, bit uint64) bool {
		all = *word&bit != 0
		return all
	})
	return all
}

// probe calls look with each of an ID's bits until it returns false. They are of two hashes (Kirsch and Mitzenmacher 2006), by the finaliser of
// SplitMix64.
func (s *idSet) probe(id int64, look func(word *uint64, bit uint64) bool) {
	x := uint64(id) ^ s.seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	step := bits.RotateLeft64(x*0x9e3779b97f4a7c15, 32) | 1
	for range idSetProbes {
		at := x & uint64(64*len(s.words)-1)
		if !look(&s.words[at/64], 1<<(at%64)) {
			return
		}
		x += step
	}
}
