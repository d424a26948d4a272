package models

import (
	"math"
	"testing"
)

func TestMostRequisites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pages, want int64 }{
		{0, 10_000}, {1, 10_000}, {100, 10_000}, {101, 10_100}, {1_000_000, 100_000_000},
		{math.MaxInt64 / 100, math.MaxInt64 / 100 * 100}, {math.MaxInt64/100 + 1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64},
	} {
		if got := MostRequisites(c.pages, LeastRequisites); got != c.want {
			t.Errorf("MostRequisites(%d) = %d, want %d", c.pages, got, c.want)
		}
	}
}

// A requisite is no page that others are allowed for, and ten that rest count as one.
func TestRoomForRequisites(t *testing.T) {
	t.Parallel()
	states := func(pages, kept, gone, excluded int64) []SiteState {
		return []SiteState{{SiteID: 7, State: StateLive, Pages: pages + kept, Requisites: kept}, {SiteID: 7, State: StateGone, Pages: gone, Requisites: gone},
			{SiteID: 7, State: StateExcluded, Pages: excluded, Requisites: excluded}}
	}
	for _, c := range []struct{ pages, kept, gone, excluded, want int64 }{
		{0, 0, 0, 0, 10_000}, {0, 9_999, 0, 0, 1}, {0, 10_000, 0, 0, 0}, {0, 10_001, 0, 0, 0}, {200, 10_001, 0, 0, 9_999},
		{0, 9_000, 5_000, 4_990, 1}, {0, 9_000, 5_000, 5_000, 0}, {0, 0, 100_000, 0, 0}, {math.MaxInt64 / 4, 5, 0, 0, math.MaxInt64 - 5},
	} {
		r := RequisitesBySite(states(c.pages, c.kept, c.gone, c.excluded))[7]
		if got := r.Room(LeastRequisites); got != c.want || r.Pages != c.pages {
			t.Errorf("%+v: there is room for %d beside %d pages, want %d", c, got, r.Pages, c.want)
		}
	}
}

// What a transaction adds counts while it runs and when it has ended well, whatever a count meanwhile saw of it; what it did not write is
// given back.
func TestGathered(t *testing.T) {
	t.Parallel()
	g := Gathered{Least: 5}
	new := func() *Page { return &Page{SiteID: 1, Requisite: true, URL: "https://a.example/a.css"} }
	adds := func(x *Gathering, n int) (added int) {
		for range n {
			if x.Add(new()) {
				added++
			}
		}
		return added
	}
	room := func(want int) {
		t.Helper()
		x := g.Begin()
		if got := adds(x, 10); got != want {
			t.Errorf("there is room for %d, want %d", got, want)
		}
		x.End(false)
	}
	holds := func(n int64) func() ([]SiteState, error) {
		return func() ([]SiteState, error) {
			return []SiteState{{SiteID: 1, State: StateLive, Pages: n, Requisites: n}}, nil
		}
	}
	room(5)
	one, two := g.Begin(), g.Begin()
	adds(one, 2)
	room(3)
	two.Add(new())
	err := g.Count(func() ([]SiteState, error) { // which sees nothing of the first, and of the second all
		two.End(true)
		return holds(1)()
	})
	if err != nil {
		t.Fatal(err)
	}
	room(1)
	one.End(true)
	room(1)
	if err := g.Count(holds(3)); err != nil {
		t.Fatal(err)
	}
	room(2)
	one = g.Begin()
	moved := new()
	moved.Chain = []int64{1}
	if adds(one, 3) != 2 || !one.Add(moved) || !one.Add(&Page{SiteID: 1}) || !one.Add(&Page{SiteID: 2, Requisite: true}) {
		t.Error("at the bound where a requisite leads, a page or a requisite of another site is not added, or another requisite is")
	}
	one.End(true)
	if err := g.Count(holds(0)); err != nil { // the site was removed, and found anew
		t.Fatal(err)
	}
	room(5)
	one = g.Begin()
	adds(one, 2*refusedKept)
	one.End(false)
	if n := len(g.Refused(1)); n != refusedKept {
		t.Errorf("%d URLs are remembered that were not added, want the last %d", n, refusedKept)
	}
}

// Where a requisite leads passes the bound, but not for ever: some lead to a signed address, which is another at each visit.
func TestGatheredBeyondTheBound(t *testing.T) {
	t.Parallel()
	g := Gathered{Least: 5}
	for had, want := range map[int64]int{0: 10, 6: 4, 8: 2, 10: 0, 20: 0} {
		err := g.Count(func() ([]SiteState, error) {
			return []SiteState{{SiteID: 1, State: StateLive, Pages: had, Requisites: had}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		x, led := g.Begin(), 0
		for range 20 {
			if x.Add(&Page{SiteID: 1, Requisite: true, Chain: []int64{1}}) {
				led++
			}
		}
		if x.End(false); led != want {
			t.Errorf("beside %d requisites %d more are added because one moves, want %d", had, led, want)
		}
	}
}
