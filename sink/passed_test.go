package sink

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// farm is a search server that is given pages the copies of which are not here, but of one.
type farm struct {
	*searchServer
	*Drain
	t     *testing.T
	log   *memory
	clock *clock.Virtual
	pages shelves
}

func newFarm(t *testing.T) *farm {
	t.Helper()
	f := &farm{t: t, searchServer: newSearchServer(t, ""), log: newMemory(), pages: shelves{"here": "Here"}}
	x, c := indexOf(t, f.searchServer, config.IndexElasticsearch, "", "", f.pages)
	f.clock, f.Drain = c, drainTo(f.log, x, c, new(logged))
	return f
}

// changes are events of so many pages whose copies are elsewhere, by a name.
func (f *farm) changes(name string, n int) {
	var events []models.Event
	for i := range n {
		url := fmt.Sprint(name, i)
		f.pages[url] = "lost"
		events = append(events, of(url)...)
	}
	f.log.add(1, events...)
}

// once drains, and says what was passed over then and how many pages wait.
func (f *farm) once(fails bool) (Passed, int) {
	f.t.Helper()
	if _, err := f.Once(f.t.Context()); errors.Is(err, errCopies) != fails || (err != nil) != fails {
		f.t.Fatalf("Once = %v, want that everything waits: %v", err, fails)
	}
	row, err := f.log.Meta(f.t.Context(), PassedKey(f.sink.Name()))
	if err != nil {
		f.t.Fatal(err)
	}
	p, err := PassedIn(row)
	if err != nil {
		f.t.Fatal(err)
	}
	return p, len(withheldIn(f.t, f.log, f.sink.Name()))
}

func (f *farm) sleep(d time.Duration) {
	f.t.Helper()
	if err := f.clock.SleepUntil(f.t.Context(), f.clock.Now().Add(d)); err != nil {
		f.t.Fatal(err)
	}
}

// TestCopiesThatAreElsewhereHoldNothingUpForEver: pages whose copies are not here wait, and where they are too many everything waits for a day, as
// for segments that are being brought; then those that are too many are passed over, which is noted, and all goes on, from then on without a stop.
// Made anew, the server has what is here by then.
func TestCopiesThatAreElsewhereHoldNothingUpForEver(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	f.changes("a", 900)
	if p, waiting := f.once(false); p != (Passed{}) || waiting != 900 {
		t.Fatalf("%+v, %d pages wait, want 900", p, waiting)
	}
	f.changes("b", 300)
	f.log.add(1, of("here")...)
	began := models.At(f.clock.Now())
	if p, waiting := f.once(true); p != (Passed{Since: began}) || waiting > maxWithheld || f.titles() != "" {
		t.Fatalf("%+v, %d pages wait, the server has %q; want that everything waits", p, waiting, f.titles())
	}
	f.sleep(PassAfter - time.Minute)
	if p, _ := f.once(true); p != (Passed{Since: began}) {
		t.Fatalf("%+v, want that everything waits since %v", p, began)
	}
	f.sleep(time.Minute)
	p, waiting := f.once(false)
	if p.Pages != 200 || p.Since != began || p.Why == "" || waiting != maxWithheld || f.titles() != "Here" {
		t.Fatalf("%+v, %d pages wait, the server has %q; want 200 passed over", p, waiting, f.titles())
	}
	f.changes("c", 5)
	if p, waiting := f.once(false); p.Pages != 205 || waiting != maxWithheld {
		t.Errorf("%+v, %d pages wait; want 205 passed over", p, waiting)
	}
	for url := range f.pages {
		f.pages[url] = "Here too"
	}
	for i := range 900 {
		f.log.current = append(f.log.current, of(fmt.Sprint("a", i))...)
	}
	if err := f.Replay(t.Context(), f.log); err != nil {
		t.Fatal(err)
	}
	if p, waiting := f.once(false); p != (Passed{}) || waiting != 0 {
		t.Errorf("%+v, %d pages wait after all is here", p, waiting)
	}
}

// TestCopiesThatAreBroughtAreWaitedFor: nothing is passed over where the copies come within a day, each day anew.
func TestCopiesThatAreBroughtAreWaitedFor(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	for day := range 3 {
		f.changes(fmt.Sprint(day, " "), 1200)
		f.once(true)
		f.sleep(PassAfter - time.Hour)
		for url := range f.pages {
			f.pages[url] = "Here"
		}
		p, waiting := f.once(false)
		for rounds := 0; waiting > 0 && rounds < 30; rounds++ {
			p, waiting = f.once(false)
		}
		if p != (Passed{}) || waiting != 0 {
			t.Fatalf("%+v, %d pages wait on day %d, want none", p, waiting, day)
		}
		f.sleep(time.Hour)
	}
}

// TestAServerMadeAnewHasWhatIsHere: however many copies are elsewhere. What the server refuses by itself is passed over by nobody.
func TestAServerMadeAnewHasWhatIsHere(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	f.changes("a", 3000)
	f.log.current = append(f.log.events[1], of("here")...)
	if err := f.Replay(t.Context(), f.log); err != nil {
		t.Fatal(err)
	}
	if p, waiting := f.once(false); p.Pages != 2000 || waiting != maxWithheld || f.titles() != "Here" {
		t.Errorf("%+v, %d pages wait, the server has %q", p, waiting, f.titles())
	}
	for url := range f.pages {
		f.pages[url] = "bad"
	}
	if err := f.Replay(context.WithoutCancel(t.Context()), f.log); err == nil {
		t.Error("3000 pages that the server refuses are passed over")
	}
}
