package changerate

import (
	"math"
	"testing"
)

func TestLengthIsBesideTheOthers(t *testing.T) {
	t.Parallel()
	var l lengths
	if got := l.of(1000); got != 0 {
		t.Errorf("a page is %v times as long as nothing", got)
	}
	l.add(950, 3) // 1,000 and 4,000 with the few bytes that each counts more
	l.add(3950, 1)
	l.add(0, 100) // not known
	l.add(100, math.Inf(1))
	l.add(100, math.NaN())
	mean := (3*math.Log(1000) + math.Log(4000)) / 4
	for bytes, want := range map[int64]float64{
		0: 0, -1: 0, 950: math.Log(1000) - mean, 3950: math.Log(4000) - mean, math.MaxInt64: longest, 1: -longest,
	} {
		if got := l.of(bytes); math.Abs(got-want) > 1e-12 {
			t.Errorf("a page of %d bytes is e^%v times as long, want e^%v", bytes, got, want)
		}
	}
}

// Of two pages that nothing else tells apart the longer one is expected to change more often, the more so the more
// the visits showed it.
func TestLongPagesChangeMoreOften(t *testing.T) {
	t.Parallel()
	w := newWorld(5, 60)
	rate := func(bytes int64) float64 {
		s := Subject{Names: NamesOf("elsewhere/x.html"), KnownAt: w.now, LastAt: w.now, Bytes: bytes, Cycle: 5}
		return Look(w.weights, &w.crowd, &s, w.now).Rate.Mean()
	}
	first := rate(8000) / rate(1000)
	if first < 1.5 || first > 4 {
		t.Errorf("a page 8 times as long is expected to change %.2f times as often", first)
	}
	for i := range w.pages {
		w.pages[i].Bytes = int64(1000 + 7000*(i%2)) // and every second page changes often: see newWorld
		w.rates[i] = 0.01 + 0.19*float64(i%2)
	}
	w.visit(20)
	if then := rate(8000) / rate(1000); then <= first {
		t.Errorf("a page 8 times as long is expected to change %.2f times as often, after visits that showed more %.2f", first, then)
	}
}

// Where the pages that became known on one day were found changed, another of that day is more likely to have.
func TestPagesOfOneDayChangeTogether(t *testing.T) {
	t.Parallel()
	w := &world{weights: Defaults(), now: 20000}
	w.crowd.Known(&Subject{Names: NamesOf("x").KnownAt(w.now), Cycle: 5}, w.now)
	for day := range 2 {
		for range 20 {
			at := w.now + float64(day)
			s := Subject{Names: NamesOf("a/b.html").KnownAt(at), KnownAt: at, LastAt: at, Cycle: 5}
			w.crowd.Known(&s, at)
			w.pages = append(w.pages, s)
		}
	}
	w.now += 30
	for i := range w.pages {
		if i%20 != 0 {
			w.learn(i, i < 20)
		}
	}
	first, second := Look(w.weights, &w.crowd, &w.pages[0], w.now), Look(w.weights, &w.crowd, &w.pages[20], w.now)
	if first.Stale() < second.Stale()+0.1 {
		t.Errorf("a page is stale with %.2f where those of its day changed, and with %.2f where they did not", first.Stale(), second.Stale())
	}
}
