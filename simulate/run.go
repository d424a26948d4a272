package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/scheduler/changerate"
)

// Setup says what a simulation runs.
type Setup struct {
	Trace   *Trace
	Policy  string          // one of config.Policies, or Oracle
	PerDay  float64         // the budget, in requests a day; 0: none, every page is visited when its policy says
	Bytes   int64           // the budget, in bytes a day; 0: none
	Cycle   time.Duration   // of the schedule, 1m–366d
	Longest time.Duration   // the longest interval, in whole cycles: fr_max; 0: none, no visit is spent on it
	Windows []config.Window // when visits are allowed; none: always
	Sight   Sight
	Said    Publishers
	Log     *slog.Logger // of the worker; nil: nowhere

	// Weights are what the adaptive policy begins with; nil: its defaults.
	Weights *changerate.Weights

	// Sources are what the Oracle knows, in the order of the trace's pages; nil: the rates at which they really changed.
	Sources []Source
}

// Oracle is the policy that knows each page's true average change rate, which there is only here: the measure of what
// learning could reach where changes are independent. In a history that rate is how often the page really changed, by its
// length: hindsight, which is a little more than anybody could know. In a made-up world it is the rate that the world was
// made by.
const Oracle = "oracle"

// farCeiling is the longest interval: longer than any trace, so that no visit is spent on it.
const farCeiling = 60 * 365 * 24 * time.Hour

// Course is how a simulation went.
type Course struct {
	Log       []Seen               // the visits, the earliest first
	Received  []int64              // bytes that each of them brought; nil: the trace has no sizes
	Robots    []models.Instant     // when a robots.txt was asked for (Sight.Robots), the earliest first
	Lists     []models.Instant     // when sitemaps were read (Sight.Listed), likewise
	Foresight changerate.Foresight // of the adaptive policy's forecasts
	Learned   *changerate.Weights  // the adaptive policy's weights as they became
	Knowledge int64                // bytes that the adaptive policy keeps of hosts and of all pages together, beside the pages' rows
}

// Run simulates: the daemon's worker on a virtual clock, over a store in memory, against the trace. Pages are put into
// the store at their birth, as pages that were just visited.
func Run(ctx context.Context, s Setup) (Course, error) {
	settings, err := s.config()
	if err != nil {
		return Course{}, err
	}
	planner, err := scheduler.NewPlanner(settings, nil)
	if err != nil {
		return Course{}, fmt.Errorf("simulate %s: %w", s.Policy, err)
	}
	replay, err := NewReplay(s.Trace, s.Sight)
	if err != nil {
		return Course{}, err
	}
	replay.tags = s.Bytes > 0
	asked := ctx
	ctx, end := context.WithCancel(ctx)
	defer end()
	memory := NewMemory(MemoryOptions{Forget: true, ReadyBuckets: 1, Reuse: true})
	n := newNursery(s.Trace, replay, memory)
	n.news = s.Said.news(s.Trace)
	var store scheduler.Store = mortal{memory}
	if s.Policy == Oracle {
		o := newOracle(s, replay, memory)
		n.placed, store = o.place, o
	}
	w := scheduler.NewWorker(scheduler.Config{
		Store: store, Visitor: replay, Archive: Nowhere{}, Clock: n, Log: cmp.Or(s.Log, slog.New(slog.DiscardHandler)),
		Name: "simulation", Lease: time.Hour, Weights: s.Weights,
	}, planner.SpendAll())
	n.planner, n.recount = w.Planner, w.Recount
	n.wake, n.end = w.Wake, end
	if err := n.deliver(ctx); err != nil {
		return Course{}, err
	}
	if err := w.Run(ctx); err != nil {
		return Course{}, fmt.Errorf("simulate %s: %w", s.Policy, err)
	}
	if err := asked.Err(); err != nil {
		return Course{}, fmt.Errorf("simulate %s: %w", s.Policy, err)
	}
	course := Course{Log: replay.Log(), Received: replay.received, Robots: replay.Robots(), Lists: replay.Lists(), Foresight: w.Foresight(), Learned: w.Weights(),
		Knowledge: memory.knowledge()}
	return course, errors.Join(n.err, n.unfinished())
}

// knowledge is how many bytes are kept of hosts and in notes.
func (m *Memory) knowledge() (bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.buckets {
		for _, h := range m.buckets[i].hosts {
			bytes += int64(len(h.knowledge))
		}
	}
	for _, note := range m.notes {
		bytes += int64(len(note))
	}
	return bytes
}

// config is the configuration of the simulated daemon.
func (s Setup) config() (*config.Config, error) {
	if s.Policy != Oracle && !slices.Contains(config.Policies(), s.Policy) {
		return nil, fmt.Errorf("no policy %q: there is %v and %s", s.Policy, config.Policies(), Oracle)
	}
	if s.Policy == Oracle && s.Sight.Robots {
		return nil, fmt.Errorf("%s weighs visits alone and cannot be simulated with robots.txt", Oracle)
	}
	if s.Policy == Oracle && s.Sight.Listed.Share > 0 {
		return nil, fmt.Errorf("%s weighs visits alone and cannot be simulated with sitemaps", Oracle)
	}
	if s.Policy == Oracle && s.Bytes > 0 {
		return nil, fmt.Errorf("%s weighs visits alone and cannot be simulated with a budget of bytes", Oracle)
	}
	if s.Policy == Oracle && len(s.Windows) > 0 {
		return nil, fmt.Errorf("%s knows no hours and cannot be simulated with windows", Oracle)
	}
	if s.Cycle < time.Minute || s.Cycle > 366*24*time.Hour {
		return nil, fmt.Errorf("cycle %v is not between 1m and 366d", s.Cycle)
	}
	if s.PerDay < 0 || math.IsNaN(s.PerDay) || math.IsInf(s.PerDay, 0) {
		return nil, fmt.Errorf("a budget of %v visits a day is none", s.PerDay)
	}
	if s.Longest < 0 || s.Longest > farCeiling {
		return nil, fmt.Errorf("a longest interval of %v is none", s.Longest)
	}
	c := config.Default()
	c.Cycle = s.Cycle.String()
	c.Budget = config.Budget{Requests: config.Rate{PerDay: s.PerDay}, Bytes: s.Bytes}
	d := &c.Defaults
	d.Policy, d.FR, d.FRMax = s.Policy, 1, int(max(cmp.Or(s.Longest, farCeiling)/s.Cycle, 1))
	d.Delay, d.Vary, d.HintMax, d.Windows = 0, 0, 0, s.Windows
	if s.Policy == Oracle {
		d.Policy = "uniform"
	}
	return &c, nil
}

// mortal is a store that forgets pages which were found deleted: in a trace none comes back under its old name.
type mortal struct{ *Memory }

// Commit implements scheduler.Store.
func (m mortal) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	bury(results)
	return m.Memory.Commit(ctx, now, results)
}

// bury lets deleted pages never be due again.
func bury(results []models.Result) {
	for i := range results {
		if results[i].Visit.Kind == models.Gone {
			results[i].Page.DueAt = 0
		}
	}
}
