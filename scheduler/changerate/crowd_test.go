package changerate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// crowdsOf compares what crowds know, and not what they remember of the last look.
var crowdsOf = cmp.Options{
	cmp.AllowUnexported(Crowd{}, lengths{}, untold{}, leftOut{}, group{}, heat{}, calendar{}, rhythm{}, dispersion{}),
	cmpopts.IgnoreFields(Crowd{}, "filled", "epoch", "asLevel", "keys", "keysOf", "written"),
	cmpopts.IgnoreFields(heat{}, "looked", "excess"),
	cmpopts.IgnoreFields(rhythm{}, "shape", "lately", "made"),
}

func TestCrowdIsReadAsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 40)
	w.visit(60)
	for name, c := range map[string]*Crowd{"learned": &w.crowd, "empty": {groups: map[uint64]*group{}}} {
		body, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var read Crowd
		if err := read.UnmarshalBinary(body); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c, &read, crowdsOf); diff != "" {
			t.Errorf("%s: read (-want +got):\n%s", name, diff)
		}
		again, _ := read.MarshalBinary()
		if !bytes.Equal(body, again) {
			t.Errorf("%s: written again in other bytes", name)
		}
	}
}

func TestCrowdRefusesBadBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(2, 10)
	w.visit(20)
	good, _ := w.crowd.MarshalBinary()
	var before Crowd
	for cut := range good {
		if err := before.UnmarshalBinary(good[:cut]); err == nil {
			t.Fatalf("read from %d of %d bytes", cut, len(good))
		}
	}
	if diff := cmp.Diff(Crowd{}, before, crowdsOf); diff != "" {
		t.Errorf("an error changed the crowd:\n%s", diff)
	}
	if err := before.UnmarshalBinary(append(bytes.Clone(good), 0)); !errors.Is(err, errCorrupt) {
		t.Errorf("with a byte more: %v", err)
	}
	other := bytes.Clone(good)
	other[0]++
	if err := before.UnmarshalBinary(other); !errors.Is(err, ErrOtherModel) {
		t.Errorf("of another form: %v, want ErrOtherModel", err)
	}
}

func FuzzCrowd(f *testing.F) {
	w := newWorld(3, 5)
	w.visit(4)
	good, _ := w.crowd.MarshalBinary()
	f.Add(good)
	seek(&w.crowd, 3, 1, true)
	told, _ := w.crowd.MarshalBinary()
	f.Add(told)
	f.Add([]byte{crowdForm})
	f.Fuzz(func(t *testing.T, stored []byte) {
		var c Crowd
		if c.UnmarshalBinary(stored) != nil {
			return
		}
		if len(c.groups) > maxGroups {
			t.Fatalf("%d groups", len(c.groups))
		}
		s := w.pages[0]
		before := Look(w.weights, &c, &s, w.now+1)
		checkForecast(t, before)
		c.Sought(Lists, true, before, true)
		if got := c.Untold(Lists, true); !(got >= leastUntold && got <= 1) {
			t.Fatalf("%v goes untold", got)
		}
		c.Known(&s, w.now)
		Learn(w.weights.Clone(), &c, &s, Sight{At: w.now + 2, Changed: true})
		weights := w.weights.Clone()
		c.Tell(weights)
		if h := c.Hours(weights); h.Count > 0 && !(h.Likely >= rhythmActs && h.Likely <= 1) {
			t.Fatalf("hours %+v", h)
		}
		written, err := c.MarshalBinary()
		if err == nil {
			err = new(Crowd).UnmarshalBinary(written)
		}
		if err != nil {
			t.Fatalf("what was read, and learned from a visit, is not read again: %v", err)
		}
	})
}

func TestCrowdIsBounded(t *testing.T) {
	t.Parallel()
	var c Crowd
	w := Defaults()
	for i := range 4 * maxGroups {
		s := Subject{Names: NamesOf(fmt.Sprintf("docs/x%c%c-%d/y%d.html", 'a'+i%26, 'a'+i/26%26, i, i)), LastAt: 20000}
		c.Known(&s, 20000)
		if i%10 == 0 {
			Learn(w, &c, &s, Sight{At: 20001, Changed: true})
		}
	}
	if len(c.groups) > maxGroups {
		t.Errorf("%d groups are kept, want at most %d", len(c.groups), maxGroups)
	}
	if g := c.groups[NamesOf("docs/any/z.html").Groups[byTop]]; g == nil || g.members != 4*maxGroups {
		t.Errorf("the group of all pages was forgotten: %+v", g)
	}
	if body, _ := c.MarshalBinary(); len(body) > 512<<10 {
		t.Errorf("it is stored in %d bytes", len(body))
	}
}

// A host whose pages were visited before anything was learned, or whose crowd was of another model.
func TestCrowdMeetsOlderPagesByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(19, 12)
	w.crowd = Crowd{}
	for range 5 {
		for i := range w.pages {
			w.now++
			w.learn(i, false)
		}
	}
	if g := w.crowd.groups[w.pages[0].Names.Groups[byFolder]]; g == nil || g.members != 6 || g.news == nil {
		t.Errorf("a folder of six pages: %+v", g)
	}
}

func TestCalendarKeepsItsSums(t *testing.T) {
	t.Parallel()
	var c Crowd
	s := Subject{Names: NamesOf("a/b"), LastAt: 20000}
	c.Known(&s, 20000)
	total := func() (expected, seen float64) {
		for i := range bins {
			expected += grain * float64(c.all.expected[i])
			seen += grain * float64(c.all.seen[i])
		}
		return expected, seen
	}
	const visits = 3000
	for i := range visits { // a day each: the bins grow from one day to 64
		at := 20000 + float64(i)
		c.learn(&s.Names, sight{from: max(20000, at-7.3), at: at + 0.5, expected: 0.5, changes: 2})
	}
	if c.width != 64 {
		t.Errorf("bins of %v days, want 64", c.width)
	}
	// Each visit rounds each sum by the difference of two even draws from a grain: 0 on average, a standard deviation of
	// grain/√6. Five of those of all visits are what the sums may be off.
	far := 5 * grain * math.Sqrt(visits/6.)
	if expected, seen := total(); math.Abs(expected-1500) > far || math.Abs(seen-6000) > far {
		t.Errorf("%v changes expected and %v seen, want 1500 and 6000 within %.2f", expected, seen, far)
	}
	whole := math.Log((6000. + calm) / (1500 + calm))
	if got := c.all.news(c.between(0, 1e9)); math.Abs(got-whole) > far/1500+far/6000 {
		t.Errorf("news of all time %v, want %v", got, whole)
	}
}

// A sweep: half of the pages are visited within an hour and found changed. It is news of those not visited since.
func TestCalendarSeparatesPagesBySweep(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 200)
	w.visit(10)
	w.now += 2
	for i := range 100 {
		w.learn(i, true)
		w.now += 0.0004
	}
	waiting := w.pages[198]
	waiting.Evidence, waiting.ChangedAt, waiting.Visits = Evidence{}, 0, 10
	swept := waiting
	waiting.LastAt, swept.LastAt = w.now-4, w.now+2
	before := Look(w.weights, &w.crowd, &waiting, w.now+2)
	after := Look(w.weights, &w.crowd, &swept, w.now+8)
	if before.Stale() < 1.1*after.Stale() || before.News < 1.5*after.News {
		t.Errorf("six days with a sweep: %+v (%.3f), six days after it: %+v (%.3f)",
			before, before.Stale(), after, after.Stale())
	}
}

// Releases before wrote nothing of hours, then nothing of pages' lengths and number either, and every number of a calendar,
// and once of each group, at its full length, and keys of 64 bits. What they wrote is read, and says the same.
func TestCrowdReadsOlderForms(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 40)
	w.visit(60)
	w.crowd.rhythm = nil
	now, _ := w.crowd.MarshalBinary()
	const behind = 1 + 2*int(Tellers) + 1 // where it says that there are no hours, and that it knows nothing of who tells of changes, nor of pages that lead to others
	now = now[:len(now)-behind]
	var read Crowd
	if err := read.UnmarshalBinary(append([]byte{untimedForm}, now[1:]...)); err != nil {
		t.Fatalf("untimed: %v", err)
	}
	if got, _ := read.MarshalBinary(); !bytes.Equal(got[:len(got)-behind], now) {
		t.Errorf("the form without hours reads as %d other bytes", len(got))
	}
	const lengthsAt = 1 + 4 + 6*8 // where the three numbers on lengths and pages follow
	brief := append(append([]byte{briefForm}, now[1:lengthsAt]...), now[lengthsAt+3*8:]...)
	w.crowd.lengths = lengths{}
	want, _ := w.crowd.MarshalBinary()
	for name, written := range map[string][]byte{
		"brief": brief, "long": olderBytes(&w.crowd, longForm), "older": olderBytes(&w.crowd, olderForm),
	} {
		var read Crowd
		if err := read.UnmarshalBinary(written); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, _ := read.MarshalBinary(); !bytes.Equal(got, want) {
			t.Errorf("the %s form reads as %d other bytes, want the same as the %d written now", name, len(got), len(want))
		}
	}
}

func olderBytes(c *Crowd, form byte) []byte {
	var w writer
	w.byte(form)
	w.uint32(bins)
	for _, x := range []float64{c.changes, c.days, c.visits, c.turned, c.begin, c.width} {
		w.number(x)
	}
	writeLong(&w, &c.all)
	w.uint32(uint32(len(c.groups)))
	for _, key := range c.sorted() {
		w.uint64(key | 0xabcdef<<40)
		c.groups[key].writeOlder(&w, form)
	}
	return w
}

func (g *group) writeOlder(w *writer, form byte) {
	h, has := g.heat, byte(0)
	if h != nil {
		has |= hasHeat
	} else {
		h = new(heat)
	}
	if g.news != nil {
		has |= hasNews
	}
	if form == olderForm {
		w.uint32(uint32(g.members))
		w.number(float64(g.usedAt) + 0.25)
	} else {
		w.byte(has)
		*w = binary.AppendUvarint(*w, uint64(g.members))
		w.short(g.usedAt + 0.25)
	}
	if form == olderForm || has&hasHeat != 0 {
		w.number(h.at)
		w.shorts(h.expected[:])
		w.shorts(h.seen[:])
	}
	if form == olderForm {
		w.byte(has & hasNews)
	}
	if g.news != nil {
		writeLong(w, g.news)
	}
}

func writeLong(w *writer, c *calendar) {
	w.byte(0)
	w.byte(bins)
	for _, sums := range [][bins]uint32{c.expected, c.seen} {
		for _, x := range sums {
			w.short(grain * float32(x))
		}
	}
}

// Where several groupings make the same groups of a host's pages, which is the rule, their calendars are written once; and
// what is known of a host takes no more than goal 5 of the adaptive policy allows.
func TestCrowdIsSmall(t *testing.T) {
	t.Parallel()
	const pages = 50
	w := newWorld(5, 0)
	for i := range pages {
		w.pages = append(w.pages, Subject{Names: NamesOf(fmt.Sprintf("d%d/p%d", i%10, i)), KnownAt: w.now, LastAt: w.now, Cycle: 5})
		w.crowd.Known(&w.pages[i], w.now)
	}
	for visit := range 120 / 5 * pages {
		w.now += 5.0 / pages
		w.learn(visit%pages, visit%7 == 0)
	}
	if body, _ := w.crowd.MarshalBinary(); len(body) > 64*pages {
		t.Errorf("%d pages in ten folders take %d bytes, %d each, want at most 64", pages, len(body), len(body)/pages)
	}
}

// What a visit adds to a calendar is less than a grain to each stretch; what many add is right.
func TestCalendarCountsParts(t *testing.T) {
	t.Parallel()
	var c calendar
	for i := range 10_000 {
		c.add(between(float64(i%37)/10, 40), 0.1, 0.05)
	}
	var expected, seen float64
	for i := range bins {
		expected += grain * float64(c.expected[i])
		seen += grain * float64(c.seen[i])
	}
	if !near(expected, 1000, 0.01) || !near(seen, 500, 0.01) {
		t.Errorf("%.1f changes expected and %.1f seen, want 1000 and 500", expected, seen)
	}
}
