package changerate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// ErrOtherModel says that stored knowledge was written by another model: with other features, weights or bounds. It is
// of no use to this one, which begins anew.
var ErrOtherModel = errors.New("knowledge of another model")

// errCorrupt says that stored knowledge is not what any model wrote.
var errCorrupt = errors.New("corrupt knowledge")

// The first byte of stored knowledge: what it is, and in which form.
const (
	crowdForm   = 0x12
	weightsForm = 0x21
)

// modelMark tells models apart, by their features.
func modelMark() uint32 {
	h := fnv.New32a()
	for _, f := range features {
		h.Write([]byte(f.name))
		h.Write([]byte{0})
	}
	return h.Sum32()
}

// writer appends numbers, the lowest byte first.
type writer []byte

func (w *writer) byte(b byte)      { *w = append(*w, b) }
func (w *writer) uint32(x uint32)  { *w = binary.LittleEndian.AppendUint32(*w, x) }
func (w *writer) uint64(x uint64)  { *w = binary.LittleEndian.AppendUint64(*w, x) }
func (w *writer) short(x float32)  { w.uint32(math.Float32bits(x)) }
func (w *writer) number(x float64) { w.uint64(math.Float64bits(x)) }
func (w *writer) shorts(x []float32) {
	for _, f := range x {
		w.short(f)
	}
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

// form takes the first byte.
func (r *reader) form(want byte) {
	if got := r.byte(); r.err == nil && got != want {
		r.err = fmt.Errorf("%w: form %#x, want %#x", ErrOtherModel, got, want)
	}
}

// end is the error, if any, once all was taken.
func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail("bytes left over")
	}
	return r.err
}

// MarshalBinary writes the crowd, in the same bytes for the same knowledge: some 50 bytes for a group of few pages and
// up to 440 for one with a calendar. The error is always nil.
func (c *Crowd) MarshalBinary() ([]byte, error) {
	w := make(writer, 0, 64+len(c.groups)*256)
	w.byte(crowdForm)
	w.uint32(bins)
	for _, x := range []float64{c.changes, c.days, c.visits, c.turned, c.begin, c.width} {
		w.number(x)
	}
	c.all.write(&w)
	w.uint32(uint32(len(c.groups)))
	for _, key := range slices.Sorted(maps.Keys(c.groups)) {
		w.uint64(key)
		c.groups[key].write(&w)
	}
	return w, nil
}

func (g *group) write(w *writer) {
	w.uint32(uint32(g.members))
	w.number(g.usedAt)
	w.number(g.heat.at)
	w.shorts(g.heat.expected[:])
	w.shorts(g.heat.seen[:])
	if g.news == nil {
		w.byte(0)
		return
	}
	w.byte(1)
	g.news.write(w)
}

// write leaves out the empty bins at both ends.
func (c *calendar) write(w *writer) {
	first, end := bins, 0
	for i := range bins {
		if c.expected[i] != 0 || c.seen[i] != 0 {
			first, end = min(first, i), i+1
		}
	}
	first = min(first, end)
	w.byte(byte(first))
	w.byte(byte(end))
	w.shorts(c.expected[first:end])
	w.shorts(c.seen[first:end])
}

// UnmarshalBinary reads what MarshalBinary wrote. After an error the crowd is as it was; ErrOtherModel says that the
// bytes were right but for another model.
func (c *Crowd) UnmarshalBinary(stored []byte) error {
	r := &reader{rest: stored}
	r.form(crowdForm)
	if count := r.uint32(); r.err == nil && count != bins {
		r.err = fmt.Errorf("%w: %d bins", ErrOtherModel, count)
	}
	read := Crowd{changes: r.sum(), days: r.sum(), visits: r.sum(), turned: min(1, r.sum())}
	read.begin, read.width = r.sum(), r.sum()
	if read.begin > lastDay || read.width > lastDay || read.begin > 0 && read.width < 1 {
		r.fail("its time is out of bounds")
	}
	read.all.read(r)
	count := r.uint32()
	if count > maxGroups {
		r.fail("too many groups")
	}
	read.groups = make(map[uint64]*group)
	for range count {
		if r.err != nil {
			break
		}
		key := r.uint64()
		read.groups[key] = readGroup(r)
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("read a crowd: %w", err)
	}
	read.epoch = c.epoch + 1
	*c = read
	return nil
}

func readGroup(r *reader) *group {
	g := &group{members: int32(r.uint32() & math.MaxInt32), usedAt: r.sum()}
	g.heat.at = r.sum()
	r.shorts(g.heat.expected[:])
	r.shorts(g.heat.seen[:])
	if r.byte() != 0 {
		g.news = new(calendar)
		g.news.read(r)
	}
	return g
}

func (c *calendar) read(r *reader) {
	first, end := int(r.byte()), int(r.byte())
	if first > end || end > bins {
		r.fail("a calendar is out of bounds")
		return
	}
	r.shorts(c.expected[first:end])
	r.shorts(c.seen[first:end])
}
