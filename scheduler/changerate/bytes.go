package changerate

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// writer appends numbers, the lowest byte first.
type writer []byte

func (w *writer) byte(b byte)      { *w = append(*w, b) }
func (w *writer) uint32(x uint32)  { *w = binary.LittleEndian.AppendUint32(*w, x) }
func (w *writer) uint64(x uint64)  { *w = binary.LittleEndian.AppendUint64(*w, x) }
func (w *writer) short(x float32)  { w.uint32(math.Float32bits(x)) }
func (w *writer) number(x float64) { w.uint64(math.Float64bits(x)) }
func (w *writer) shorts(x []float32) {
	n := len(*w)
	out := slices.Grow(*w, 4*len(x))[:n+4*len(x)]
	for i, f := range x {
		binary.LittleEndian.PutUint32(out[n+4*i:], math.Float32bits(f))
	}
	*w = out
}

// reader takes numbers from the front. After its first error it gives zeros.
type reader struct {
	rest []byte
	err  error
}

// take cuts so many bytes off.
func (r *reader) take(count int) []byte {
	if r.err == nil && len(r.rest) < count {
		r.err = fmt.Errorf("%w: cut short", errCorrupt)
	}
	if r.err != nil {
		return make([]byte, count)
	}
	taken := r.rest[:count]
	r.rest = r.rest[count:]
	return taken
}

func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// number takes a finite number.
func (r *reader) number() float64 {
	x := math.Float64frombits(r.uint64())
	if math.IsNaN(x) || math.IsInf(x, 0) {
		r.fail("a number is not finite")
		return 0
	}
	return x
}

// sum takes a finite number that is not negative.
func (r *reader) sum() float64 {
	x := r.number()
	if x < 0 {
		r.fail("a sum is negative")
		return 0
	}
	return x
}

// shorts takes finite numbers that are not negative.
func (r *reader) shorts(into []float32) {
	for i := range into {
		x := math.Float32frombits(r.uint32())
		if !(x >= 0) || math.IsInf(float64(x), 0) {
			r.fail("a sum is negative or not finite")
			return
		}
		into[i] = x
	}
}

func (r *reader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", errCorrupt, why)
	}
}

// form takes the first byte, one of those wanted.
func (r *reader) form(want ...byte) byte {
	got := r.byte()
	if r.err == nil && !slices.Contains(want, got) {
		r.err = fmt.Errorf("%w: form %#x, want %#x", ErrOtherModel, got, want)
	}
	return got
}

// count takes a number of no more than so much.
func (r *reader) count(most uint64) uint64 {
	if r.err != nil {
		return 0
	}
	x, n := binary.Uvarint(r.rest)
	if n <= 0 || x > most {
		r.fail("a count is cut short or too large")
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// end is the error, if any, once all was taken.
func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail("bytes left over")
	}
	return r.err
}

// grains writes sums of a calendar.
func (w *writer) grains(sums []uint32) {
	for _, x := range sums {
		*w = binary.AppendUvarint(*w, uint64(x))
	}
}

// mostSum is the largest sum that a calendar is read with.
const mostSum = 1 << 40

// grains takes sums of a calendar.
func (r *reader) grains(into []uint32) {
	for i := range into {
		into[i] = uint32(min(r.count(mostSum/grain), mostGrains-1))
	}
}

// signed takes a number of either sign in [low, high].
func (r *reader) signed(low, high int64) int64 {
	if r.err != nil {
		return 0
	}
	x, n := binary.Varint(r.rest)
	if n <= 0 || x < low || x > high {
		r.fail("a number is cut short or out of bounds")
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// odds writes logarithms of odds.
func (w *writer) odds(odds []int16) {
	for _, x := range odds {
		*w = binary.LittleEndian.AppendUint16(*w, uint16(x))
	}
}

// odds takes them.
func (r *reader) odds(into []int16) {
	for i := range into {
		into[i] = int16(binary.LittleEndian.Uint16(r.take(2)))
	}
}
