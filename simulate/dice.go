package simulate

import "math"

// dice are random numbers that depend on the seed alone: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
type dice uint64

// fork is a generator of its own for the n-th of something, so that one world does not change where another part of it
// draws more.
func (d dice) fork(n int) *dice {
	f := dice(uint64(d) ^ (uint64(n)+1)*0xd1342543de82ef95)
	f.next()
	return &f
}

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform is in (0, 1).
func (d *dice) uniform() float64 { return (float64(d.next()>>12) + 0.5) / (1 << 52) }

// exponential has the mean 1.
func (d *dice) exponential() float64 { return -math.Log(d.uniform()) }

// normal has the mean 0 and the standard deviation 1, by Box and Muller.
func (d *dice) normal() float64 {
	return math.Sqrt(-2*math.Log(d.uniform())) * math.Cos(2*math.Pi*d.uniform())
}

// below is in [0, n).
func (d *dice) below(n int) int { return int(d.uniform() * float64(n)) }
