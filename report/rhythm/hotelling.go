package rhythm

import (
	"math"
	"slices"
)

// P is the probability that the mean of independent vectors of one distribution, whose mean is 0, is as far from 0 as theirs or farther:
// Hotelling's test, with n vectors of mean m and sums of squares and products A about it
//
//	F = n(n − 2)/2 · mᵀA⁻¹m
//
// is of the F distribution with 2 and n − 2 degrees of freedom, whose tail beyond F is (1 + 2F/(n − 2))^(−(n−2)/2). It holds for vectors of a
// normal distribution, and is near enough for others. It is 1 of fewer than three, or where all lie on one line.
func P(vectors []complex128) float64 {
	n := float64(len(vectors))
	var sum complex128
	for _, v := range vectors {
		sum += v
	}
	mean := sum / complex(n, 0)
	var xx, yy, xy float64
	for _, v := range vectors {
		x, y := real(v-mean), imag(v-mean)
		xx, yy, xy = xx+x*x, yy+y*y, xy+x*y
	}
	determinant := xx*yy - xy*xy
	if len(vectors) < 3 || !(determinant > 1e-12*xx*yy) {
		return 1
	}
	x, y := real(mean), imag(mean)
	f := n * (n - 2) / 2 * (x*x*yy - 2*x*y*xy + y*y*xx) / determinant
	return tail(f, n-2)
}

// tail is how much of an F distribution with 2 and some more degrees of freedom lies beyond f.
func tail(f, degrees float64) float64 { return math.Pow(1+2*f/degrees, -degrees/2) }

// capped is how many changes the largest block counts as, beside the median of those that have any.
const capped = 3

// block is a stretch of days with what came in it.
type block struct {
	score  complex128
	weight float64 // changes
	week   *table  // what came and was expected in the hours of the week; nil: it is not asked for
}

// blocks are all of one length, by their number.
type blocks map[int32]*block

// at is the block that a moment lies in, of so many days each.
func (b blocks) at(hour float64, days int) (number int32, of *block) {
	number = int32(math.Floor(hour / float64(days*Day)))
	if b[number] == nil {
		b[number] = new(block)
	}
	return number, b[number]
}

// scales are by what each block with changes is multiplied so that it counts as no more than it may.
func (b blocks) scales() map[int32]float64 {
	var weights []float64
	for _, of := range b {
		if of.weight > 0 {
			weights = append(weights, of.weight)
		}
	}
	slices.Sort(weights)
	scales := make(map[int32]float64, len(weights))
	for number, of := range b {
		if of.weight > 0 {
			scales[number] = min(1, capped*median(weights)/of.weight)
		}
	}
	return scales
}

// median is that of sorted numbers; 0: there are none.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// p tests the scores of the blocks with changes.
func (b blocks) p() float64 {
	var scores []complex128
	scales := b.scales()
	for _, number := range sortedKeys(scales) { // in their order, so that the sums are the same each time
		scores = append(scores, complex(scales[number], 0)*b[number].score)
	}
	return P(scores)
}
