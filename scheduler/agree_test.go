package scheduler_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/scheduler/changerate"
	"recrawld/simulate"
)

// relay is the virtual time of several workers of which one runs at a time: who sleeps passes the baton to whoever wakes
// first. So a run with several workers is the same every time.
type relay struct {
	clock *clock.Virtual
	end   time.Time
	stop  context.CancelFunc

	mu     sync.Mutex
	turns  []*sync.Cond // by worker
	wakes  []time.Time  // guarded by mu; by worker; zero: it has ended
	runner int          // guarded by mu; who has the baton
}

func newRelay(start, end time.Time, workers int, stop context.CancelFunc) *relay {
	r := &relay{clock: clock.NewVirtual(start), end: end, stop: stop}
	for range workers {
		r.wakes, r.turns = append(r.wakes, start), append(r.turns, sync.NewCond(&r.mu))
	}
	return r
}

// pass gives the baton to who wakes first, of two at one time to the one whose turn was not the last, and time moves on to
// then. The caller holds mu.
func (r *relay) pass() {
	last, next := r.runner, -1
	for i := range r.wakes {
		k := (last + 1 + i) % len(r.wakes)
		if at := r.wakes[k]; !at.IsZero() && (next < 0 || at.Before(r.wakes[next])) {
			next = k
		}
	}
	if r.runner = next; next < 0 {
		return
	}
	_ = r.clock.SleepUntil(context.Background(), r.wakes[next])
	if !r.clock.Now().Before(r.end) {
		r.stop()
	}
	r.turns[next].Signal()
}

// begin waits for the worker's first turn.
func (r *relay) begin(worker int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.runner != worker {
		r.turns[worker].Wait()
	}
}

// leave takes the worker out.
func (r *relay) leave(worker int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakes[worker] = time.Time{}
	r.pass()
}

// runner is the clock of one worker of a relay.
type runner struct {
	*relay
	worker int
}

func (r runner) Now() time.Time                     { return r.clock.Now() }
func (r runner) Real(d time.Duration) time.Duration { return d }
func (r runner) SleepUntil(ctx context.Context, t time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakes[r.worker] = later(t, r.clock.Now())
	r.pass()
	for r.relay.runner != r.worker {
		r.turns[r.worker].Wait()
	}
	return ctx.Err()
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// shared is what became of a world that some workers followed together.
type shared struct {
	score  simulate.Score
	each   []int   // visits by worker
	price  float64 // the logarithm in the database, on average over the second half of the time
	rate   float64 // changes a page-day that the weights were learned from
	days   float64 // page-days that they were learned from
	twice  int     // visits to a page within a minute of the one before
	means  []float64
	spread []float64
}

// counting counts a worker's visits.
type counting struct {
	scheduler.Visitor
	visits int
}

func (c *counting) Visit(ctx context.Context, t models.Turn) models.Outcome {
	c.visits++
	return c.Visitor.Visit(ctx, t)
}

// priced is a store that remembers what the price was.
type priced struct {
	*simulate.Memory
	clock clock.Clock
	from  time.Time // before then it does not count

	mu   sync.Mutex
	sum  float64   // guarded by mu; of the logarithm, times seconds
	last float64   // guarded by mu
	at   time.Time // guarded by mu; since when it is so
}

func (p *priced) Merge(ctx context.Context, name string, change func(old []byte) []byte) error {
	if name != "price/all" {
		return p.Memory.Merge(ctx, name, change)
	}
	return p.Memory.Merge(ctx, name, func(old []byte) []byte {
		now := change(old)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(p.clock.Now())
		if len(now) == 16 { // the price, and from how many visits
			p.last = float(now[:8])
		}
		return now
	})
}

// count adds up what the price was until now. The caller holds mu.
func (p *priced) count(now time.Time) {
	if p.at = later(p.at, p.from); now.After(p.at) {
		p.sum += p.last * now.Sub(p.at).Seconds()
		p.at = now
	}
}

// mean is the logarithm of the price on average, until then.
func (p *priced) mean(until time.Time) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(until)
	return p.sum / p.at.Sub(p.from).Seconds()
}

// follow has workers of the given names follow a world over one store by the adaptive policy.
func follow(t *testing.T, m simulate.Made, perDay float64, names ...string) shared {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	store := simulate.NewMemory(simulate.MemoryOptions{Forget: true})
	replay, err := simulate.NewReplay(m.Trace, simulate.Sight{})
	if err != nil {
		t.Fatal(err)
	}
	var found []models.Discovery
	for i := range m.Trace.Pages {
		l := &m.Trace.Pages[i]
		page := scheduler.NewPage(l.URL, l.Host, 0, 0, 1)
		page.DueAt = l.Born
		found = append(found, models.Discovery{Page: page, Host: l.Host})
	}
	if _, err := store.AddPages(ctx, m.Trace.From.Time(), found, 0); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Cycle, c.Budget = "15m", config.Budget{Requests: config.Rate{PerDay: perDay}}
	c.Defaults.Policy, c.Defaults.FR, c.Defaults.FRMax = "adaptive", 1, 1_000_000
	c.Defaults.Delay, c.Defaults.Vary, c.Defaults.HintMax = 0, 0, 0
	track := newRelay(m.Trace.From.Time(), m.Trace.To.Time(), len(names), stop)
	half := m.Trace.From.Time().Add(m.Trace.To.Time().Sub(m.Trace.From.Time()) / 2)
	prices := &priced{Memory: store, clock: track.clock, from: half}
	visitors := make([]*counting, len(names))
	var workers sync.WaitGroup
	for i, name := range names {
		planner, err := scheduler.NewPlanner(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		visitors[i] = &counting{Visitor: replay}
		w := scheduler.NewWorker(scheduler.Config{
			Store: prices, Visitor: visitors[i], Archive: simulate.Nowhere{}, Clock: runner{track, i}, Name: name, Lease: time.Hour,
			Log: slog.New(slog.DiscardHandler), Live: func() []scheduler.Peer { return peersOf(names) },
		}, planner)
		workers.Go(func() {
			defer track.leave(i)
			track.begin(i)
			if err := w.Run(ctx); err != nil {
				t.Errorf("worker %s: %v", name, err)
			}
		})
	}
	workers.Wait()
	return shared{price: prices.mean(m.Trace.To.Time())}.read(t, m.Trace, store, replay.Log(), visitors)
}

// peersOf is workers of equal shares.
func peersOf(names []string) []scheduler.Peer {
	var peers []scheduler.Peer
	for _, name := range names {
		peers = append(peers, scheduler.Peer{Name: name, Share: 1})
	}
	return peers
}

// read works out what became of it.
func (s shared) read(t *testing.T, trace *simulate.Trace, store *simulate.Memory, log []simulate.Seen, visitors []*counting) shared {
	t.Helper()
	s.score = simulate.Judge(trace, trace.Scored(simulate.Learn), log)
	for _, v := range visitors {
		s.each = append(s.each, v.visits)
	}
	last := make(map[int32]models.Instant)
	for _, v := range log {
		if at, ok := last[v.Page]; ok && v.At.Time().Sub(at.Time()) < time.Minute {
			s.twice++
		}
		last[v.Page] = v.At
	}
	peek := func(name string) (note []byte) {
		err := store.Merge(t.Context(), name, func(old []byte) []byte { note = slices.Clone(old); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return note
	}
	weights := peek("weights")
	if s.price == 0 || len(weights) < 29 {
		t.Fatalf("a price of e^%v and a note of %d bytes: nothing was learned", s.price, len(weights))
	}
	// A byte and a mark of the model, changes and days, for each weight its mean and a row of the precision, and what hosts
	// told of their hours.
	s.days = float(weights[13:])
	s.rate = float(weights[5:]) / s.days
	rest := weights[21:]
	for row := 1; row <= len(changerate.Defaults().List()); row++ {
		s.means = append(s.means, float(rest))
		s.spread = append(s.spread, 1/math.Sqrt(float(rest[8*row:])))
		rest = rest[8*(row+1):]
	}
	return s
}

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// Two workers on one database spend one budget, learn one set of weights and pay one price, and keep the pages as fresh as
// one worker does.
func TestTwoWorkersAndOneAgree(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for _, world := range []string{"poisson", "sweep"} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			m, err := simulate.Make(simulate.Plan{World: world, Pages: 400, Hosts: 40, Days: 40, Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			const perDay = 160
			one, two := follow(t, m, perDay, "a"), follow(t, m, perDay, "a", "b")
			t.Logf("freshness %.4f and %.4f; visits %v and %v; price e^%.3f and e^%.3f; %.4f and %.4f changes a page-day", one.score.Freshness,
				two.score.Freshness, one.each, two.each, one.price, two.price, one.rate, two.rate)
			agree(t, m, perDay, one, two)
		})
	}
}

func agree(t *testing.T, m simulate.Made, perDay float64, one, two shared) {
	t.Helper()
	if far := math.Abs(one.score.Freshness - two.score.Freshness); far > 0.01 {
		t.Errorf("freshness is %.4f with one worker and %.4f with two", one.score.Freshness, two.score.Freshness)
	}
	window := m.Trace.Scored(simulate.Learn)
	for n, s := range map[string]shared{"one worker": one, "two workers": two} {
		if s.score.PerDay < 0.98*perDay || s.score.OverBudget(perDay, window) {
			t.Errorf("%s: %.2f visits a day, busiest week %.2f, of a budget of %v", n, s.score.PerDay, s.score.Busiest, perDay)
		}
		if s.twice > 0 {
			t.Errorf("%s: %d pages were visited twice at once", n, s.twice)
		}
	}
	if share := float64(two.each[0]) / float64(two.each[0]+two.each[1]); share < 0.2 || share > 0.8 {
		t.Errorf("of two workers one made %.0f %% of the visits", 100*share)
	}
	if far := math.Abs(one.price - two.price); far > 0.05 {
		t.Errorf("the price is e^%.3f with one worker and e^%.3f with two", one.price, two.price)
	}
	if math.Abs(one.rate/two.rate-1) > 0.05 || math.Abs(one.days/two.days-1) > 0.05 {
		t.Errorf("the weights were learned from %.4f changes a page-day in %.0f page-days, with two workers from %.4f in %.0f", one.rate,
			one.days, two.rate, two.days)
	}
	for i := range one.means {
		if far := math.Abs(one.means[i]-two.means[i]) / one.spread[i]; far > 3 {
			t.Errorf("weight %d is %.4f with one worker and %.4f with two, %.1f standard deviations apart", i, one.means[i], two.means[i], far)
		}
	}
}
