package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// How workers are simulated: each page is due every minute, a visit takes 200 ms, and there are 100 pages for each worker,
// so that a third of its time is spoken for.
const (
	every       = time.Minute
	visitTakes  = 200 * time.Millisecond
	hostsEach   = 20
	pagesOfHost = 5
	simLease    = 20 * time.Second
	simAlive    = 10 * time.Second // as the daemon's
	simBeat     = 2 * time.Second
)

// fleet is workers over one store in memory, on one virtual time.
type fleet struct {
	*relay
	store  *counted
	begins time.Time
	peers  []scheduler.Peer // as they last said; of the one that runs, or nobody's
	beats  []time.Time      // by worker
	slow   map[int]int      // how many times as long a worker's visits take
	dead   int              // the worker that dies, or -1
	dies   time.Time
	frozen int // the worker that is frozen, or -1
	froze  time.Time
	thaws  time.Time

	inFlight map[int64]int
	clashes  int                   // visits to a host that another worker was visiting
	visited  map[int64][]time.Time // by page: when visits began
	last     map[int64]int         // by host: who visited it last
	taken    map[int]time.Duration // by worker that was lost: how late others came for its hosts at most
	lostAt   map[int]time.Time
	victims  map[int]map[int64]bool // by lost worker: hosts that nobody else has visited since
	turnsOf  []int                  // visits by worker
}

// counted counts the calls of a store.
type counted struct {
	*simulate.Memory
	calls atomic.Int64
}

func (c *counted) Claim(ctx context.Context, r models.ClaimRequest) ([]models.Lease, error) {
	c.calls.Add(1)
	return c.Memory.Claim(ctx, r)
}

func (c *counted) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	c.calls.Add(1)
	return c.Memory.Commit(ctx, now, results)
}

func (c *counted) Ready(ctx context.Context) ([]models.BucketReady, error) {
	c.calls.Add(1)
	return c.Memory.Ready(ctx)
}

func (c *counted) Merge(ctx context.Context, name string, merge func([]byte) []byte) error {
	c.calls.Add(1)
	return c.Memory.Merge(ctx, name, merge)
}

// newFleet puts pages for n workers into a store, due one after the other over their first turn.
func newFleet(t *testing.T, n int, lasts time.Duration) (*fleet, context.Context) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	begins := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := &fleet{relay: newRelay(begins, begins.Add(lasts), n, stop), begins: begins, dead: -1, frozen: -1,
		store:    &counted{Memory: simulate.NewMemory(simulate.MemoryOptions{})},
		inFlight: map[int64]int{}, visited: map[int64][]time.Time{}, last: map[int64]int{}, taken: map[int]time.Duration{},
		lostAt: map[int]time.Time{}, victims: map[int]map[int64]bool{}, turnsOf: make([]int, n), beats: make([]time.Time, n)}
	var found []models.Discovery
	for h := range n * hostsEach {
		host := fmt.Sprintf("h%d.test", h)
		for p := range pagesOfHost {
			page := scheduler.NewPage(fmt.Sprintf("http://%s/%d", host, p), host, 1, 0, 1)
			page.DueAt = models.At(begins.Add(every * time.Duration(h) / time.Duration(n*hostsEach)))
			found = append(found, models.Discovery{Page: page, Host: host})
		}
	}
	if _, err := f.store.AddPages(ctx, begins, found, 0); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		f.peers = append(f.peers, scheduler.Peer{Name: fmt.Sprintf("w%d", i), Share: 1})
		f.beats[i] = begins
	}
	return f, ctx
}

// live is what a worker sees of the others: who beat lately. Beats come from beside the loop, whatever that does.
func (f *fleet) live() []scheduler.Peer {
	now := f.clock.Now()
	var live []scheduler.Peer
	for i, p := range f.peers {
		dead := i == f.dead && now.Sub(f.dies) >= simAlive
		frozen := i == f.frozen && now.Sub(f.froze) >= simAlive && now.Before(f.thaws)
		if !dead && !frozen {
			live = append(live, p)
		}
	}
	return live
}

// crewman is one worker's clock and visitor: as any process it may die or stand still.
type crewman struct {
	runner
	fleet *fleet
}

func (c crewman) SleepUntil(ctx context.Context, t time.Time) error {
	f := c.fleet
	if c.worker == f.dead && later(t, c.Now()).After(f.dies) {
		f.lose(c.worker, f.dies)
		t = f.end // it never wakes again; then everything is over
	}
	if c.worker == f.frozen && later(t, c.Now()).After(f.froze) && t.Before(f.thaws) {
		f.lose(c.worker, f.froze)
		t = f.thaws
	}
	return c.runner.SleepUntil(ctx, t)
}

// Visit implements scheduler.Visitor. The baton goes round while it takes its time.
func (c crewman) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	f, host := c.fleet, turn.Host.ID
	if f.inFlight[host]++; f.inFlight[host] > 1 {
		f.clashes++
	}
	now := c.Now()
	f.visited[turn.Page.ID] = append(f.visited[turn.Page.ID], now)
	f.turnsOf[c.worker]++
	for lost, hosts := range f.victims {
		if hosts[host] && lost != c.worker {
			f.taken[lost] = max(f.taken[lost], now.Sub(later(f.lostAt[lost], turn.Page.DueAt.Time())))
			delete(hosts, host)
		}
	}
	f.last[host] = c.worker
	takes := visitTakes * time.Duration(max(f.slow[c.worker], 1))
	asked := now.Add(takes)
	if c.worker == f.frozen && asked.After(f.froze) && asked.Before(f.thaws) || c.worker == f.dead && asked.After(f.dies) {
		f.inFlight[host]-- // the server has answered; who asked does not hear it yet, or never
		defer func() { f.inFlight[host]++ }()
	}
	_ = c.SleepUntil(ctx, asked) // a visit that is cut off by the end is over
	f.inFlight[host]--
	body := []byte(turn.Page.URL)
	out := models.Outcome{Kind: models.NotModified, Status: 304, Sent: 1, At: now, Took: takes, Digest: models.DigestOf(body)}
	if turn.Page.Digest.IsZero() {
		out.Kind, out.Status, out.Body = models.First, 200, body
	}
	return out
}

// lose notes the hosts of a worker that is lost from then on.
func (f *fleet) lose(worker int, at time.Time) {
	if f.victims[worker] != nil {
		return
	}
	f.victims[worker], f.lostAt[worker] = map[int64]bool{}, at
	for host, by := range f.last {
		if by == worker {
			f.victims[worker][host] = true
		}
	}
}

// run lets all workers work until the end.
func (f *fleet) run(t *testing.T, ctx context.Context) {
	t.Helper()
	c := config.Default()
	c.Cycle = "1m"
	c.Defaults.Policy, c.Defaults.FR, c.Defaults.FRMax, c.Defaults.Vary = "fixed", 1, 1, 0
	c.Defaults.Delay, c.Defaults.HintMax, c.Defaults.PageTime = 0, 0, 5*time.Second
	var working sync.WaitGroup
	for i := range f.peers {
		planner, err := scheduler.NewPlanner(&c, nil)
		if err != nil {
			t.Fatal(err)
		}
		var w *scheduler.Worker
		man := crewman{runner{f.relay, i}, f}
		w = scheduler.NewWorker(scheduler.Config{
			Store: f.store, Visitor: man, Archive: simulate.Nowhere{}, Clock: man, Name: f.peers[i].Name, Lease: simLease,
			Log: slog.New(slog.DiscardHandler), Live: f.live,
			Beat: func() {
				if now := man.Now(); now.Sub(f.beats[i]) >= simBeat {
					f.peers[i].Share, f.peers[i].Lag = w.Balance()
					f.beats[i] = now
				}
			},
		}, planner)
		working.Go(func() {
			defer f.leave(i)
			f.begin(i)
			if err := w.Run(ctx); err != nil {
				t.Errorf("worker %d: %v", i, err)
			}
		})
	}
	working.Wait()
}

// parallel are the measures of parallel crawlers (Cho and Garcia-Molina, Parallel Crawlers, WWW 2002), for workers that
// keep pages fresh: overlap, coverage, quality, communication.
type parallel struct {
	visits, repeated int           // written, and made again because what came of them was lost
	early            int           // visits before the page was due again
	pages, unvisited int           // pages, and those that nobody visited
	overdue, time    time.Duration // of all pages together: how long one was overdue by a turn and more, of how long
	calls            float64       // of the store for each visit, beats included
	least, most      int           // visits of the worker with the fewest and of that with the most, of those that lived on
}

// measure works out what became of it.
func (f *fleet) measure(t *testing.T) parallel {
	t.Helper()
	dump, err := f.store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := parallel{pages: len(dump.Pages), visits: len(dump.Visits)}
	requests, written, closing := 0, 0, f.relay.end.Add(-simLease) // later ones the end may have cut off
	for _, p := range dump.Pages {
		began := f.visited[p.ID]
		if len(began) == 0 {
			m.unvisited++
		}
		for i, at := range began {
			if at.Before(closing) {
				requests++
			}
			next := f.relay.end
			if i+1 < len(began) {
				next = began[i+1]
			}
			m.time += next.Sub(at)
			m.overdue += max(0, next.Sub(at)-2*every)
		}
	}
	last := map[int64]models.Instant{}
	for _, v := range dump.Visits {
		if at, again := last[v.PageID]; again && v.At.Time().Sub(at.Time()) < every {
			m.early++
		}
		last[v.PageID] = v.At
		if v.At.Time().Before(closing) {
			written++
		}
	}
	m.repeated = requests - written
	beats := 2 * float64(f.relay.end.Sub(f.begins)/simBeat) * float64(len(f.peers)) // one is written, all are read
	m.calls = (float64(f.store.calls.Load()) + beats) / float64(m.visits)
	m.least = m.visits
	for i, n := range f.turnsOf {
		if i != f.dead && i != f.frozen {
			m.least, m.most = min(m.least, n), max(m.most, n)
		}
	}
	return m
}

// TestParallelMeasures simulates 1 to 64 workers, of which one dies and one is frozen for longer than a lease.
func TestParallelMeasures(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 2, 4, 8, 16, 32, 64}
	if testing.Short() {
		sizes = []int{1, 4, 16}
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "workers\tvisits\toverlap\tcoverage\tquality\tcalls a visit\ttwo at a host\tvisits cut off\ttaken over: dead\tfrozen\tvisits of a worker\t")
	for _, n := range sizes {
		f, ctx := newFleet(t, n, 210*time.Second)
		if n > 1 {
			f.dead, f.dies = 1, f.begins.Add(70*time.Second+50*time.Millisecond)
		}
		if n > 2 {
			f.frozen, f.froze, f.thaws = 2, f.begins.Add(100*time.Second+50*time.Millisecond), f.begins.Add(150*time.Second)
		}
		f.run(t, ctx)
		m := f.measure(t)
		f.check(t, m)
		fmt.Fprintf(w, "%d\t%d\t%.2f %%\t%.1f %%\t%.2f %%\t%.2f\t%d\t%d\t%v\t%v\t%d to %d\t\n", n, m.visits, 100*float64(m.early)/float64(m.visits),
			100-100*float64(m.unvisited)/float64(m.pages), 100-100*float64(m.overdue)/float64(m.time), m.calls, f.clashes, m.repeated,
			f.taken[1].Round(time.Millisecond), f.taken[2].Round(time.Millisecond), m.least, m.most)
	}
	_ = w.Flush() // a strings.Builder takes everything
	t.Logf("simulated workers, of which one dies and one is frozen for 50 s; a lease is %v, a turn %v:\n%s", simLease, every, text.String())
}

func (f *fleet) check(t *testing.T, m parallel) {
	t.Helper()
	n := len(f.peers)
	if m.early > 0 || m.unvisited > 0 || f.clashes > 0 {
		t.Errorf("%d workers: %d visits before a page was due again, %d pages not visited, %d hosts visited by two at once; want none",
			n, m.early, m.unvisited, f.clashes)
	}
	if m.repeated > 2*pagesOfHost {
		t.Errorf("%d workers: %d visits were made again, want at most those of two leases", n, m.repeated)
	}
	for lost, took := range f.taken {
		if took > simLease+3*time.Second {
			t.Errorf("%d workers: others came for a host of worker %d %v late, want within a lease", n, lost, took)
		}
	}
	if left := f.victims[f.dead]; n > 1 && (left == nil || len(left) > 0) {
		t.Errorf("%d workers: %d hosts of the dead worker were not visited again", n, len(left))
	}
	if quality := 1 - float64(m.overdue)/float64(m.time); quality < 0.998 {
		t.Errorf("%d workers: pages were overdue by a turn for %.2f %% of the time", n, 100*(1-quality))
	}
	if n > 2 && f.taken[f.frozen] == 0 {
		t.Errorf("%d workers: nobody came for a host of the frozen worker: nothing was tried", n)
	}
	f.enough(t, m)
	if m.calls > 4 {
		t.Errorf("%d workers: %.2f calls of the store for each visit, want at most 4", n, m.calls)
	}
}

// enough makes sure that nearly all visits were made for which there were turns, by all workers that lived on. A simulation is the same every time:
// 0.99 of them are.
func (f *fleet) enough(t *testing.T, m parallel) {
	t.Helper()
	if turns := float64(m.pages) * float64(f.relay.end.Sub(f.begins)) / float64(every); float64(m.visits) < 0.98*turns || m.least == 0 {
		t.Errorf("%d workers: %d visits in the time of %.0f turns, %d by who made the fewest, want 0.98 of them at least and some", len(f.peers), m.visits,
			turns, m.least)
	}
}

// TestSlowWorkerGivesBucketsUp: of four workers one takes twelve times as long for a visit. It cannot do its quarter, wants
// less until it can, and what it has left is not late.
func TestSlowWorkerGivesBucketsUp(t *testing.T) {
	t.Parallel()
	f, ctx := newFleet(t, 4, 12*time.Minute)
	f.slow = map[int]int{3: 12}
	f.run(t, ctx)
	m := f.measure(t)
	slow := f.peers[3]
	t.Logf("the slow worker made %d of %d visits; at the end it wants %.2f of a share and is %v late, the others %v", f.turnsOf[3],
		m.visits, slow.Share, slow.Lag.Round(time.Millisecond), f.peers[:3])
	if slow.Share > 0.5 {
		t.Errorf("the slow worker wants %.2f of a share, want at most half of one", slow.Share)
	}
	for _, p := range f.peers[:3] {
		if p.Share < 0.9 {
			t.Errorf("%s is quick and wants %.2f of a share, want all it can get", p.Name, p.Share)
		}
	}
	f.enough(t, m)
	if m.early > 0 || m.unvisited > 0 || f.clashes > 0 {
		t.Errorf("%d visits too early, %d pages not visited, %d hosts visited by two, want none", m.early, m.unvisited, f.clashes)
	}
}
