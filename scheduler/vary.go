package scheduler

// chance is a number in [0, 1) that depends on the page, on its visit and on what it is used for, and on nothing else:
// two runs agree, two visits of a page do not, and no generator has to be kept.
func chance(pageID int64, visit int32, use uint64) float64 {
	x := mix(uint64(pageID) ^ mix(uint64(uint32(visit))^mix(use)))
	return float64(x>>11) / (1 << 53)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014): it spreads every bit of x over the whole result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// What a chance is used for: different uses of one visit must not agree.
const (
	useVary uint64 = iota + 1
	useWindow
	useBackoff
	useRound
	useLine
	useHeld
	useWalk
	useTurn
)
