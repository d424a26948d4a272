package report

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
)

// histogramBins covers 1 to 131,072 by powers of two: more than the largest fr_max.
const histogramBins = 18

// Histogram counts positive numbers by powers of two: 1, 2, 3–4, 5–8, 9–16 and so on. The zero Histogram is empty.
type Histogram [histogramBins]int64

// Add counts n; numbers below 1 count as 1.
func (h *Histogram) Add(n int32) { h[binOf(n)]++ }

// binOf is the bin of n: ⌈log₂ n⌉.
func binOf(n int32) int { return min(bits.Len32(uint32(max(n, 1)-1)), histogramBins-1) }

// last is the highest bin that is not empty, 0 when all are.
func (h *Histogram) last() int {
	for i := histogramBins - 1; i > 0; i-- {
		if h[i] > 0 {
			return i
		}
	}
	return 0
}

// label names a bin: "1", "2", "3-4", "5-8".
func label(bin int) string {
	if bin < 2 {
		return fmt.Sprint(bin + 1)
	}
	return fmt.Sprintf("%d-%d", 1<<(bin-1)+1, 1<<bin)
}

// Bars draws the bins up to and with the given one as small bars, the fullest at full height; a dot is an empty bin.
func (h Histogram) Bars(upTo int) string { return Bars(h[:upTo+1]) }

// Bars draws counts as small bars, one character each, the largest at full height; a dot is 0.
func Bars(counts []int64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	var top int64
	for _, n := range counts {
		top = max(top, n)
	}
	var b strings.Builder
	for _, n := range counts {
		if n <= 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(levels[int(float64(n)/float64(top)*float64(len(levels))-1e-9)])
	}
	return b.String()
}

// String lists the bins that are not empty, for CSV: "1:12 3-4:7".
func (h Histogram) String() string {
	var parts []string
	for bin, n := range h {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", label(bin), n))
		}
	}
	return strings.Join(parts, " ")
}

// MarshalJSON implements json.Marshaler: an object of the bins that are not empty, in order.
func (h Histogram) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for bin, n := range h {
		if n == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:%d", label(bin), n)
	}
	return append(out, '}'), nil
}

var _ json.Marshaler = Histogram{}
