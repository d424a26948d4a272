package rhythm

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// foundKey is what is known of changes: that they came within a stretch, by half hours of the week, or at a moment.
type foundKey struct {
	block  int32 // of days
	start  int16 // half hour of the week
	length int16 // in half hours; 0 where it is dated
	rate   int16 // class of the page's rate
	dated  bool
}

const halfHours = 2 * Week

// mostFound is how many kinds of changes are told apart. Of more changes only each second one is looked at, and so on, so that memory and the
// search for the best span have a bound.
const mostFound = 1 << 15

// note keeps what is known of a change.
func (t *Tally) note(key foundKey) {
	if t.noted++; t.noted%t.each != 0 {
		return
	}
	t.found[key] += float64(t.each)
	if len(t.found) <= t.most {
		return
	}
	t.each *= 2
	keys := slices.SortedFunc(maps.Keys(t.found), foundKey.compare)
	for i, key := range keys {
		if i%2 == 1 {
			delete(t.found, key)
		} else {
			t.found[key] *= 2
		}
	}
}

// compare orders keys, so that sums over them are the same each time.
func (k foundKey) compare(o foundKey) int {
	return cmp.Or(cmp.Compare(k.block, o.block), cmp.Compare(k.start, o.start), cmp.Compare(k.length, o.length), cmp.Compare(k.rate, o.rate))
}

func halfHour(hour float64) int16 { return int16(2*inWeek(hour)) % halfHours }

// rateClass is the logarithm of a rate in steps of a twelfth of a factor of 2.
func rateClass(perHour float64) int16 { return int16(math.Round(12 * math.Log2(perHour))) }

func (k foundKey) perHour() float64 { return math.Exp2(float64(k.rate) / 12) }

// evidence is all that spans are held against.
type evidence struct {
	changes []seenChange
	hours   table
}

// seenChange is what is known of some changes.
type seenChange struct {
	foundKey
	times float64 // how many they count as
}

func (t *Tally) evidence(scales map[int32]float64) *evidence {
	e := &evidence{hours: t.total(scales)}
	for _, key := range slices.SortedFunc(maps.Keys(t.found), foundKey.compare) {
		e.changes = append(e.changes, seenChange{key, t.found[key] * scales[key.block]})
	}
	return e
}

// fit is how often pages change within a span and outside, beside at any hour alike, and how likely that makes what was seen.
type fit struct {
	Span
	within, outside float64
	likely          float64 // a logarithm
}

// The steps of expectation maximisation in the search for the best span, and for what it is then.
const (
	searchSteps = 25
	finalSteps  = 300
)

// fitted fits a span.
func (e *evidence) fitted(s Span, steps int) fit {
	upTo := s.upTo()
	var expected, still [2]float64 // outside and within
	for hour, h := range e.hours {
		i := 0
		if s.has(hour) {
			i = 1
		}
		expected[i] += h.expected
		still[i] += h.still
	}
	if !(expected[0] > 0 && expected[1] > 0) {
		return fit{Span: s, likely: math.Inf(-1)}
	}
	rates := [2]float64{1, 1}
	for range steps {
		came, _ := e.step(&upTo, rates)
		next := [2]float64{came[0] / expected[0], came[1] / expected[1]}
		moved := math.Abs(next[0]-rates[0]) + math.Abs(next[1]-rates[1])
		if rates = next; moved < 1e-6 {
			break
		}
	}
	_, likely := e.step(&upTo, rates)
	return fit{s, rates[1], rates[0], likely - rates[0]*still[0] - rates[1]*still[1]}
}

// step is how many changes came outside and within by rates, and the logarithm of how likely these make the changes.
func (e *evidence) step(upTo *[2*halfHours + 1]float64, rates [2]float64) (came [2]float64, likely float64) {
	for _, c := range e.changes {
		inside := upTo[c.start+max(c.length, 1)] - upTo[c.start]
		if c.dated {
			i := int(inside + 0.5)
			came[i] += c.times
			likely += c.times * math.Log(max(rates[i], 1e-9))
			continue
		}
		each := c.perHour() / 2
		out, within := each*rates[0]*(float64(c.length)-inside), each*rates[1]*inside
		some := -math.Expm1(-out - within)
		if !(some > 0) {
			continue
		}
		came[0] += c.times * out / some
		came[1] += c.times * within / some
		likely += c.times * math.Log(some)
	}
	return came, likely
}
