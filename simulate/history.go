package simulate

import (
	"fmt"
	"math"

	"recrawld/models"
)

// Recorded is a page with its visits as a daemon recorded them, the earliest first.
type Recorded struct {
	URL    string
	Host   string
	Weight float64
	Visits []models.Visit
}

// Bound says where in the gap between two visits a change that the later one saw is taken to have happened: nobody knows.
type Bound bool

// The bounds: with Latest a copy went stale just before the visit that saw it, with Earliest just after the one before.
const (
	Latest   Bound = false
	Earliest Bound = true
)

// FromHistory makes a trace of recorded visits. A page is born with its first record and dies with the visit from which on
// it only answered 404 or 410. Visits that saw no content (failures, robots.txt, turns put off) are left out; pages without
// two records are too, since nothing is known of how they change.
func FromHistory(name string, pages []Recorded, b Bound) (*Trace, error) {
	t := &Trace{Name: name}
	for _, p := range pages {
		l := Life{Name: p.URL, URL: p.URL, Host: p.Host, Weight: p.Weight}
		if seen := l.follow(p.Visits, b); seen < 2 {
			continue
		}
		if first := l.Born; t.From == 0 || first < t.From {
			t.From = first
		}
		t.To = max(t.To, p.Visits[len(p.Visits)-1].At)
		t.Pages = append(t.Pages, l)
	}
	if len(t.Pages) == 0 {
		return nil, fmt.Errorf("no page of the history was seen twice: there is nothing to simulate yet")
	}
	return t, nil
}

// LeastChanges is how many changes of the scored window it takes to tell policies apart: with none each is perfect, with one or two the
// luck of a single visit decides. How firm more than that makes the figures is for the reader to judge.
const LeastChanges = 3

// Tells returns an error where a trace has fewer than LeastChanges after its first share, which teaches: what a comparison came to
// would be chance.
func (t *Trace) Tells() error {
	window, changes := t.Scored(Learn), 0
	for _, l := range t.Pages {
		for _, at := range l.Changes {
			if at >= window.From {
				changes++
			}
		}
	}
	if changes >= LeastChanges {
		return nil
	}
	return fmt.Errorf("there is too little history yet: %d changes of %d pages after the first quarter of %.3g days, and %d are needed to tell policies apart",
		changes, len(t.Pages), t.To.Time().Sub(t.From.Time()).Hours()/24, LeastChanges)
}

// follow takes over the visits of a page and returns how many saw its content.
func (l *Life) follow(visits []models.Visit, b Bound) (records int) {
	var before models.Instant
	whole, short := 0, 0 // answers for an unchanged page
	put := func(received int64) {
		l.Sizes = append(l.Sizes, int32(min(max(received-models.UsualHead, 0), math.MaxInt32)))
	}
	for _, v := range visits {
		if v.Kind == models.Missing || v.Kind == models.Gone {
			if l.Died == 0 {
				l.Died = v.At
			}
			continue
		}
		if !v.Kind.Observed() {
			continue
		}
		records++
		l.Died = 0
		switch {
		case records == 1:
			l.Born = v.At
			put(v.Bytes)
		case v.Kind == models.Changed && b == Earliest:
			l.Changes = append(l.Changes, before+1)
			put(v.Bytes)
		case v.Kind == models.Changed:
			l.Changes = append(l.Changes, v.At)
			put(v.Bytes)
		case v.Kind == models.NotModified:
			short++
		default:
			whole++
		}
		before = v.At
	}
	l.Whole = whole > short
	if l.Died != 0 && l.Died <= l.Born {
		return 0
	}
	return records
}
