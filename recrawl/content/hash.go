package content

import (
	"strings"
	"unicode"
)

// FNV-1a (Fowler, Noll, Vo), 64 bits, with a finaliser: prints are kept from run to run.
const (
	slotSeed = 14695981039346656037
	fnvPrime = 1099511628211
)

func hashString(hash uint64, s string) uint64 {
	for i := range len(s) {
		hash = (hash ^ uint64(s[i])) * fnvPrime
	}
	return (hash ^ 0xff) * fnvPrime
}

// hashBytes is the print of a body: eight bytes at a time, since only equality within one run matters... of whole bodies.
func hashBytes(b []byte) uint64 {
	hash := uint64(slotSeed)
	for len(b) >= 8 {
		hash = (hash ^ uint64(b[0]) ^ uint64(b[1])<<8 ^ uint64(b[2])<<16 ^ uint64(b[3])<<24 ^ uint64(b[4])<<32 ^
			uint64(b[5])<<40 ^ uint64(b[6])<<48 ^ uint64(b[7])<<56) * fnvPrime
		hash ^= hash >> 29
		b = b[8:]
	}
	for _, c := range b {
		hash = (hash ^ uint64(c)) * fnvPrime
	}
	return mix(hash)
}

// mix spreads a hash over all bits (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fold turns white space of any kind into one space and takes it off the ends.
func fold(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ") }
