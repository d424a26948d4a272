package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
)

// drift is a world without histories, so that it may be large: pages change at rates of their own, and whether one did since
// it was last visited is drawn when it is visited. Every second host wants a delay. It counts the visits, and those that
// came too soon.
type drift struct {
	perDay float64 // median change rate of a page
	delay  time.Duration
	ends   map[int64]time.Time
	visits int
	broken int
}

// rate is a page's change rate, log-normal with a spread between hosts and one within.
func (d *drift) rate(host, page int64) float64 {
	h, p := dice(uint64(host)), dice(uint64(page))
	return d.perDay * math.Exp(0.8*h.normal()+1.0*p.normal())
}

// wants is the delay of a host.
func (d *drift) wants(host int64) time.Duration {
	if host&1 == 0 {
		return d.delay
	}
	return 0
}

// Visit implements scheduler.Visitor.
func (d *drift) Visit(_ context.Context, t models.Turn) models.Outcome {
	d.visits++
	if ended, ok := d.ends[t.Host.ID]; ok && t.Now.Sub(ended) < d.wants(t.Host.ID)-time.Millisecond { // hosts open on a millisecond
		d.broken++
	}
	d.ends[t.Host.ID] = t.Now
	return d.answer(&t.Page.Page, t.Now)
}

// answer is what a page says at now.
func (d *drift) answer(p *models.Page, now time.Time) models.Outcome {
	out := models.Outcome{Kind: models.NotModified, Status: 304, At: now, Sent: 1, NoArchive: true, Digest: p.Digest,
		Delay: d.wants(p.HostID)}
	since := now.Sub(p.Stats.VisitedAt.Time()).Hours() / 24
	die := dice(uint64(p.ID) ^ uint64(p.Visits+1)<<40)
	first := p.Stats.Records == 0
	if !first && die.uniform() < math.Exp(-d.rate(p.HostID, p.ID)*since) {
		return out
	}
	out.Kind, out.Status, out.ContentType = models.Changed, 200, "text/html"
	if first {
		out.Kind = models.First
	}
	out.Digest = models.Digest{1, byte(p.Visits), byte(p.Visits >> 8), byte(p.ID), byte(p.ID >> 8), byte(p.ID >> 16)}
	return out
}

// tallied is a store that counts what is written and read beside visits.
type tallied struct {
	*Memory
	expected int64 // how many pages there will be
	moved    int   // due times written without a visit
	looked   int   // pages read
}

// PagesBySite implements scheduler.Learning.
func (s *tallied) PagesBySite(context.Context) (map[int32]int64, error) {
	return map[int32]int64{1: s.expected}, nil
}

// Commit implements scheduler.Store.
func (s *tallied) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	for i := range results {
		if results[i].Visit.Number == 0 {
			s.moved++
		}
	}
	return s.Memory.Commit(ctx, now, results)
}

// HostPages implements scheduler.Learning.
func (s *tallied) HostPages(ctx context.Context, bucket int16, host int64, yield func(*models.Page) bool) error {
	return s.Memory.HostPages(ctx, bucket, host, func(p *models.Page) bool { s.looked++; return yield(p) })
}

// Reschedule implements scheduler.Learning.
func (s *tallied) Reschedule(ctx context.Context, due []models.Due) error {
	s.moved += len(due)
	return s.Memory.Reschedule(ctx, due)
}

// metronome is a virtual clock that calls at every whole minute.
type metronome struct {
	*clock.Virtual
	next time.Time
	call func()
}

// SleepUntil implements clock.Clock.
func (m *metronome) SleepUntil(ctx context.Context, t time.Time) error {
	for ctx.Err() == nil && !m.next.After(t) {
		if err := m.Virtual.SleepUntil(ctx, m.next); err != nil {
			return err
		}
		m.next = m.next.Add(time.Minute)
		m.call()
	}
	return m.Virtual.SleepUntil(ctx, t)
}

// minute is what happened in a minute of virtual time.
type minute struct {
	budget                        float64 // visits a minute
	visits, moved, looked, broken int
	took                          time.Duration // of the machine
}

// scale is the size of a balance.
type scale struct {
	pages, hosts int
	perMinute    float64 // the budget
	delay        time.Duration
	before       int // visits to each page before the minutes that are counted
	settle       int // minutes before the budget changes first
}

// balance runs the worker while its budget is halved, set back and doubled, for three minutes each, and returns the
// minutes from the last one before the first change on.
func balance(t testing.TB, s scale) []minute { return rebudgeted(t, s, 0.5, 1, 2) }

// rebudgeted runs the worker while its budget becomes so many times what it was at first, one after the other, for three minutes
// each, and returns the minutes from the last one before the first change on. The pages have each been visited some times before,
// at even intervals.
func rebudgeted(t testing.TB, s scale, factors ...float64) []minute {
	t.Helper()
	perDay := s.perMinute * 24 * 60
	start := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	store := &tallied{Memory: NewMemory(MemoryOptions{Forget: true, ReadyBuckets: 1})}
	world := &drift{perDay: perDay / float64(s.pages), delay: s.delay, ends: make(map[int64]time.Time)}
	beat := &metronome{Virtual: clock.NewVirtual(start), next: start.Add(time.Minute)}
	planner := func(factor float64) *scheduler.Planner {
		c := config.Default()
		c.Cycle, c.Budget = "1m", config.Budget{Requests: config.Rate{PerDay: factor * perDay}}
		c.Defaults.Policy, c.Defaults.FR, c.Defaults.FRMax = "adaptive", 1, int(farCeiling/time.Minute)
		c.Defaults.Delay, c.Defaults.Vary, c.Defaults.HintMax = 0, 0, 0
		p, err := scheduler.NewPlanner(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	w := scheduler.NewWorker(scheduler.Config{Store: store, Visitor: world, Archive: Nowhere{}, Clock: beat,
		Log: slog.New(slog.DiscardHandler), Name: "balance", Lease: time.Hour}, planner(1))
	populate(t, s, store, world, w, start)
	var minutes []minute
	var machine clock.System
	factor, last, at := 1.0, minute{}, machine.Now()
	beat.call = func() {
		now := minute{visits: world.visits, moved: store.moved, looked: store.looked, broken: world.broken}
		minutes = append(minutes, minute{budget: factor * s.perMinute, visits: now.visits - last.visits, moved: now.moved - last.moved,
			looked: now.looked - last.looked, broken: now.broken - last.broken, took: machine.Now().Sub(at)})
		last, at = now, machine.Now()
		n := len(minutes) - s.settle
		if n < 0 || n%3 != 0 {
			return
		}
		if n/3 == len(factors) {
			end()
			return
		}
		factor = factors[n/3]
		w.SetPlanner(planner(factor))
		w.Wake()
	}
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return minutes[s.settle-1:]
}

// populate puts the pages into the store as some visits at even intervals leave them, the last of each at another moment of
// the interval before start.
func populate(t testing.TB, s scale, store *tallied, world *drift, w *scheduler.Worker, start time.Time) {
	t.Helper()
	even := time.Duration(float64(s.pages) / s.perMinute * float64(time.Minute))
	on := s.pages / s.hosts
	for h := range s.hosts {
		name := fmt.Sprintf("h%d.example", h)
		found := make([]models.Discovery, on)
		for i := range found {
			found[i] = models.Discovery{Page: scheduler.NewPage(fmt.Sprintf("https://%s/d%d/%d", name, i%7, i), name, 0, 0, 1), Host: name}
			found[i].Page.Rule = models.RulePolicy // and DueAt 0: never
		}
		if _, err := store.AddPages(t.Context(), start, found, 0); err != nil {
			t.Fatal(err)
		}
		if h == 0 { // before the first is planned, all that there will be are counted
			store.expected = int64(on * s.hosts)
			if err := w.Recount(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		lease := &models.Lease{Host: models.Host{Bucket: found[0].Page.Bucket, ID: found[0].Page.HostID, Name: name, Pages: int32(on)}}
		for n := range s.before {
			for i := range found {
				jitter := time.Duration(float64(even) * float64((i*7919+h*104729)%1000) / 1000)
				at := start.Add(jitter - time.Duration(s.before-n)*even)
				out := world.answer(&found[i].Page, at)
				r := w.Planner().Plan(lease, found[i].Page, &out, at)
				if found[i].Page = r.Page; n == s.before-1 {
					store.place(&r)
				}
			}
		}
	}
}

// A budget that is halved or doubled is kept from the next minute on, by pages that come up in order of value: nothing is
// planned anew for that, but for a small part of the pages.
func TestBudgetIsInBalanceAfterAMinute(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	s := scale{pages: 20_000, hosts: 100, perMinute: 1200, delay: 4 * time.Second, before: 4, settle: 10}
	minutes := balance(t, s)
	for i, m := range minutes {
		t.Logf("minute %2d: budget %5.0f, visits %5d, due times moved %5d, pages looked at %6d", i, m.budget, m.visits, m.moved, m.looked)
		if m.broken > 0 {
			t.Errorf("minute %d: %d visits came sooner than their host allows", i, m.broken)
		}
		if m.moved > s.pages/2 {
			t.Errorf("minute %d: %d due times were moved, of %d pages", i, m.moved, s.pages)
		}
		// The first minute after a change may spend what was saved up before.
		if share := float64(m.visits) / m.budget; i%3 != 1 && math.Abs(share-1) > 0.05 {
			t.Errorf("minute %d: %d visits of a budget of %.0f", i, m.visits, m.budget)
		}
	}
}

// However long a budget was kept, what it is raised to is spent from the second minute on: nothing of it is saved before the pages that
// are visited sooner for it have their new times. Each factor is tried after three of twelve spans, so that each span is tried once.
func TestRaisedBudgetIsInBalanceAfterAMinute(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for i, factor := range []float64{1.3, 2, 4, 10} {
		t.Run(fmt.Sprint(factor), func(t *testing.T) {
			missing, minutes := 0.0, 0
			for settle := 4 + 2*i; settle <= 26; settle += 8 {
				s := scale{pages: 5_000, hosts: 25, perMinute: 400 / factor, delay: 4 * time.Second, before: 4, settle: settle}
				for i, m := range rebudgeted(t, s, factor) {
					t.Logf("%d minutes before, minute %d: budget %5.0f, visits %5d, due times moved %5d", settle, i, m.budget, m.visits, m.moved)
					if m.broken > 0 {
						t.Errorf("%d minutes before, minute %d: %d visits came sooner than their host allows", settle, i, m.broken)
					}
					if i < 2 {
						continue
					}
					share := float64(m.visits) / m.budget
					missing, minutes = missing+1-share, minutes+1
					if math.Abs(share-1) > 0.05 {
						t.Errorf("%d minutes before, minute %d: %d visits of a budget of %.0f", settle, i, m.visits, m.budget)
					}
				}
			}
			if mean := missing / float64(minutes); math.Abs(mean) > 0.02 {
				t.Errorf("on average %.1f %% of the budget are not spent", 100*mean)
			}
		})
	}
}

// BenchmarkBalance shows how soon a budget that is halved or doubled is kept again, with RECRAWLD_BALANCE pages, a million
// where it is not set, and what that costs. Ten million take about 10 GB
// and some minutes.
func BenchmarkBalance(b *testing.B) {
	pages := 1_000_000
	if text := os.Getenv("RECRAWLD_BALANCE"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			b.Fatalf("RECRAWLD_BALANCE=%q is no number of pages from 1000 on", text)
		}
		pages = n
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	s := scale{pages: pages, hosts: max(pages/200, 1), perMinute: 0.2 * float64(pages) / (24 * 60), delay: 5 * time.Second,
		before: 4, settle: 30}
	if pages > 2_000_000 {
		s.before = 1 // planning takes most of the time
	}
	for b.Loop() {
		for i, m := range balance(b, s) {
			b.Logf("minute %2d: budget %6.0f, visits %6d (%+.1f %%), due times moved %6d, pages looked at %8d, %d too soon, took %v", i, m.budget,
				m.visits, 100*(float64(m.visits)/m.budget-1), m.moved, m.looked, m.broken, m.took.Round(time.Millisecond))
		}
	}
}
