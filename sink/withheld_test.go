package sink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/models"
)

// picky is a Sink that refuses pages. It keeps the newest event of each page that it took, and what it was given when.
type picky struct {
	sync.Mutex
	refuses map[string]bool
	took    map[string]int64 // the number of the event, by URL
	given   map[string][]time.Time
}

func newPicky(refuses ...string) *picky {
	p := &picky{refuses: map[string]bool{}, took: map[string]int64{}, given: map[string][]time.Time{}}
	for _, url := range refuses {
		p.refuses[url] = true
	}
	return p
}

func (*picky) Name() string { return "picky" }

func (p *picky) Deliver(_ context.Context, events []models.Event) error {
	p.Lock()
	defer p.Unlock()
	refused := &Refused{}
	for _, e := range events {
		if !p.refuses[e.URL] {
			p.took[e.URL] = e.Seq
			continue
		}
		p.given[e.URL] = append(p.given[e.URL], clock.System{}.Now())
		i := slices.IndexFunc(refused.Pages, func(r Refusal) bool { return r.URL == e.URL })
		if i < 0 {
			i = len(refused.Pages)
			refused.Pages = append(refused.Pages, Refusal{URL: e.URL, Why: errors.New("not this one")})
		}
		refused.Pages[i].Events = append(refused.Pages[i].Events, e)
	}
	if len(refused.Pages) > 0 {
		return refused
	}
	return nil
}

// is holds what the sink took against what it should have.
func (p *picky) is(t *testing.T, want map[string]int64) {
	t.Helper()
	p.Lock()
	defer p.Unlock()
	if diff := cmp.Diff(want, p.took); diff != "" {
		t.Errorf("newest events taken differ (-want +got):\n%s", diff)
	}
}

func withheldIn(t testing.TB, log *memory, sink string) []Withheld {
	t.Helper()
	row, err := log.Meta(t.Context(), WithheldKey(sink))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := WithheldIn(row)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestAPageThatIsRefusedWaitsAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, p := newMemory(), newPicky("b")
		began := clock.System{}.Now()
		log.add(1, models.Event{URL: "a"}, models.Event{URL: "b", Version: 1}, models.Event{URL: "c"})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { _ = drainOf(log, p, "one", 2).Run(ctx); close(ended) }()
		synctest.Wait()
		if seq, err := log.Cursor(t.Context(), "picky", 1); seq != 3 || err != nil {
			t.Errorf("the cursor stands at %d, %v, want 3", seq, err)
		}
		p.is(t, map[string]int64{"a": 1, "c": 3})
		if w := withheldIn(t, log, "picky"); len(w) != 1 || w[0].URL != "b" || w[0].Why != "not this one" ||
			w[0].Since != models.At(began) || len(w[0].Events) != 1 || w[0].Events[0].Version != 1 {
			t.Errorf("withheld: %+v, want the event of b", w)
		}
		sleep(t, time.Hour)
		var waits []time.Duration
		p.Lock()
		for i, at := range p.given["b"][1:] {
			waits = append(waits, at.Sub(p.given["b"][i]).Truncate(time.Second))
		}
		p.Unlock()
		if len(waits) < 8 || waits[0] < retryMin || waits[4] < 8*retryMin || slices.Max(waits) > RetryMax+2*time.Second {
			t.Errorf("tried again after %v, want ever later, from %v to %v", waits, retryMin, RetryMax)
		}
		log.add(1, models.Event{URL: "b", Kind: models.EventChanged, Version: 2})
		sleep(t, 2*time.Second)
		p.Lock()
		p.refuses["b"] = false
		p.Unlock()
		sleep(t, RetryMax+2*time.Second)
		p.is(t, map[string]int64{"a": 1, "b": 4, "c": 3})
		if w := withheldIn(t, log, "picky"); len(w) > 0 {
			t.Errorf("withheld in the end: %+v", w)
		}
		stop()
		<-ended
	})
}

// sleep lets the bubble's time pass.
func sleep(t *testing.T, d time.Duration) {
	t.Helper()
	c := clock.System{}
	if err := c.SleepUntil(t.Context(), c.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// forgetful is a log that fails now and then, before or after it has noted something, as if the process had died there.
type forgetful struct {
	*memory
	r *rand.Rand
}

func (f forgetful) SetMeta(ctx context.Context, key, old, value string) (string, error) {
	switch f.r.IntN(6) {
	case 0:
		return "", errDied
	case 1:
		_, err := f.memory.SetMeta(ctx, key, old, value)
		return "", errors.Join(errDied, err)
	}
	return f.memory.SetMeta(ctx, key, old, value)
}

func (f forgetful) SetCursors(ctx context.Context, sink string, from map[int16]int64, to map[int16]models.EventRef) error {
	if f.r.IntN(4) == 0 {
		return errDied
	}
	return f.memory.SetCursors(ctx, sink, from, to)
}

// TestNothingIsLostOrOvertakenWhileItWaits has pages that are refused now and then, with processes that die and follow one
// another: in the end each page is as its last event says, and never was as an older one after a delivery that was noted.
func TestNothingIsLostOrOvertakenWhileItWaits(t *testing.T) {
	t.Parallel()
	seeds := uint64(100)
	if testing.Short() {
		seeds = 25
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			log, p := newMemory(), newPicky()
			newest, noted := map[string]int64{}, map[string]int64{}
			d := drainOf(forgetful{log, r}, p, "one", 3)
			for range 60 {
				for range r.IntN(4) {
					page := r.IntN(6)
					url, bucket := fmt.Sprint("p", page), int16(page%2)
					log.add(bucket, models.Event{URL: url, Kind: models.EventKind(1 + r.IntN(8)), Status: int16(200 * r.IntN(2))})
					newest[url] = int64(len(log.events[bucket]))
				}
				p.refuses[fmt.Sprint("p", r.IntN(6))] = r.IntN(2) == 0
				if r.IntN(15) == 0 {
					d = drainOf(forgetful{log, r}, p, fmt.Sprint("w", r.IntN(2)), 1+r.IntN(5))
				}
				_, err := d.Once(t.Context())
				for url, seq := range p.took {
					if err == nil && seq < noted[url] {
						t.Fatalf("seed %d: %s is as event %d says, after it was as %d says", seed, url, seq, noted[url])
					}
					if err == nil {
						noted[url] = seq
					}
				}
				sleep(t, time.Duration(r.IntN(20))*time.Second)
			}
			p.refuses = nil
			sleep(t, 2*lease+RetryMax)
			if _, err := drainOf(log, p, "last", 7).Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(newest, p.took); diff != "" || len(withheldIn(t, log, "picky")) > 0 {
				t.Errorf("seed %d: pages differ from their last events (-want +got):\n%s", seed, diff)
			}
		})
	}
}

// A process that takes over tries again what another one could not deliver, also when nothing new comes.
func TestWhatWaitsIsKnownToWhoTakesOver(t *testing.T) {
	t.Parallel()
	log, p := newMemory(), newPicky("b")
	one, two := drainOf(log, p, "one", 2), drainOf(log, p, "two", 2)
	once(t, one)
	log.add(1, models.Event{URL: "a"}, models.Event{URL: "b"})
	once(t, two)
	p.refuses = nil
	once(t, one)
	if want := map[string]int64{"a": 1, "b": 2}; !cmp.Equal(want, p.took) || len(withheldIn(t, log, "picky")) > 0 {
		t.Errorf("took %v, want %v", p.took, want)
	}
}

func TestWhereTooManyPagesAreRefusedEverythingWaits(t *testing.T) {
	t.Parallel()
	log, p := newMemory(), newPicky()
	events := named("p", maxWithheld+1)
	for _, e := range events {
		p.refuses[e.URL] = true
	}
	log.add(1, events...)
	d := drainOf(log, p, "one", 300)
	if _, err := d.Once(t.Context()); err == nil {
		t.Fatal("Once takes no note of so many refusals")
	}
	if n, seq := len(withheldIn(t, log, "picky")), log.cursors[key("picky", 1)]; int64(n) != seq || n > maxWithheld {
		t.Errorf("%d pages wait and the cursor stands at %d, want as many, at most %d", n, seq, maxWithheld)
	}
	p.refuses = nil
	synctest.Test(t, func(t *testing.T) {
		for range 2 * maxWithheld / retryBatch {
			if _, err := drainOf(log, p, "one", 300).Once(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(p.took) != maxWithheld+1 || len(withheldIn(t, log, "picky")) > 0 {
		t.Errorf("%d pages taken and %d wait when nothing is refused any more, want %d and 0", len(p.took),
			len(withheldIn(t, log, "picky")), maxWithheld+1)
	}
}

// TestWhereTooManyPagesAreRefusedAllAreTriedInTurn has those that can be taken again wait behind some that cannot.
func TestWhereTooManyPagesAreRefusedAllAreTriedInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, p := newMemory(), newPicky()
		for _, e := range named("p", maxWithheld) {
			p.refuses[e.URL] = true
		}
		log.add(1, named("p", maxWithheld)...)
		d := drainOf(log, p, "one", maxWithheld)
		once(t, d)
		sleep(t, RetryMax)
		for _, w := range withheldIn(t, log, "picky")[retryBatch:] {
			p.refuses[w.URL] = false
		}
		p.refuses["one more"] = true
		log.add(1, models.Event{URL: "one more"})
		for tries := 0; ; tries++ {
			if _, err := d.Once(t.Context()); err == nil {
				break
			} else if tries == 3 {
				t.Fatalf("everything still waits, with %d pages of which %d can be taken: %v", maxWithheld, maxWithheld-retryBatch, err)
			}
			sleep(t, backoffMin)
		}
		if n := len(withheldIn(t, log, "picky")); n > maxWithheld || log.cursors[key("picky", 1)] != maxWithheld+1 {
			t.Errorf("%d pages wait and the cursor stands at %d", n, log.cursors[key("picky", 1)])
		}
	})
}

func TestOfThePastOfAPageThatWaitsTheLastOfEachKindIsKept(t *testing.T) {
	t.Parallel()
	var events []models.Event
	for i := range int64(1000) {
		events = append(events, models.Event{Seq: i, Kind: models.EventChanged}, models.Event{Seq: i, Kind: models.EventFailing})
	}
	events[3].Status = 503 // no later one of its kind says a status
	got := last(events)
	want := []models.Event{{Seq: 1, Kind: models.EventFailing, Status: 503}, {Seq: 999, Kind: models.EventChanged}, {Seq: 999, Kind: models.EventFailing}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("last (-want +got):\n%s", diff)
	}
}
