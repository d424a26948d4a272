package slo_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/scheduler/slo"
	"recrawld/simulate"
)

const day = 24 * time.Hour

var promiseStart = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// rehearsal is the daemon's worker on a virtual clock over pages that change as a Poisson process does: the step-th site
// has the pages of one step of a schedule, visited by the fixed policy at its interval.
type rehearsal struct {
	config  config.Config
	world   *simulate.World
	store   *simulate.Memory
	days    int
	draw    *rand.Rand
	changes map[int64][]time.Time

	mu     sync.Mutex
	visits map[int64][]time.Time // guarded by mu
}

func newRehearsal(days int) *rehearsal {
	r := &rehearsal{config: config.Default(), world: simulate.NewWorld(), store: simulate.NewMemory(simulate.MemoryOptions{}), days: days,
		draw: rand.New(rand.NewPCG(11, 4)), changes: make(map[int64][]time.Time), visits: make(map[int64][]time.Time)}
	r.config.Cycle = "1m"
	d := &r.config.Defaults
	d.Policy, d.FRMax, d.Delay = "fixed", 100_000, 0
	return r
}

// add adds pages that change so often, visited every so often on average.
func (r *rehearsal) add(t *testing.T, step slo.Step, windows ...config.Window) {
	t.Helper()
	settings := r.config.Defaults
	settings.Windows = windows
	every := float64(step.Every)
	if len(windows) > 0 {
		every -= float64(nightWait)
	}
	every /= 1 - settings.Vary/2 // visits vary to the earlier side
	settings.FR = int(math.Round(every / float64(time.Minute)))
	id := int32(len(r.config.Sites) + 1)
	host := fmt.Sprintf("h%d.test", id)
	r.config.Sites = append(r.config.Sites, config.Site{ID: id, Name: host, URL: "http://" + host + "/", Settings: settings})
	var found []models.Discovery
	for i := range int(math.Round(step.Pages)) {
		url := fmt.Sprintf("http://%s/%d", host, i)
		page := scheduler.NewPage(url, host, id, 0, settings.FR)
		page.DueAt = models.At(promiseStart.Add(time.Duration(r.draw.Float64() * every)))
		found = append(found, models.Discovery{Page: page, Host: host})
		var changes []time.Time
		for at := 0.0; at < float64(r.days); at += r.draw.ExpFloat64() / step.Rate {
			changes = append(changes, promiseStart.Add(time.Duration(at*float64(day))))
		}
		r.world.Add(url, changes[1:]) // the first is the start
		r.changes[models.PageID(url)] = changes[1:]
	}
	if _, err := r.store.AddPages(t.Context(), promiseStart, found, 1e6); err != nil {
		t.Fatal(err)
	}
}

// Visit implements scheduler.Visitor.
func (r *rehearsal) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	r.mu.Lock()
	r.visits[turn.Page.ID] = append(r.visits[turn.Page.ID], turn.Now)
	r.mu.Unlock()
	return r.world.Visit(ctx, turn)
}

func (r *rehearsal) run(t *testing.T) {
	t.Helper()
	planner, err := scheduler.NewPlanner(&r.config, nil)
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewVirtual(promiseStart)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	w := scheduler.NewWorker(scheduler.Config{
		Store: r.store, Visitor: r, Archive: simulate.Nowhere{}, Clock: clk, Log: slog.New(slog.DiscardHandler),
		Name: "rehearsal", Lease: 5 * time.Minute, Beat: func() {
			if clk.Now().Sub(promiseStart) > time.Duration(r.days)*day {
				end()
			}
		},
	}, planner)
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// seen is the share of the changes between the two moments that were seen within a time, and the visits a day.
func (r *rehearsal) seen(from, to time.Time, within time.Duration) (share, perDay float64) {
	inTime, all, visits := 0, 0, 0
	for id, changes := range r.changes {
		at := r.visits[id]
		for _, v := range at {
			if !v.Before(from) && v.Before(to) {
				visits++
			}
		}
		for _, c := range changes {
			if c.Before(from) || !c.Before(to) {
				continue
			}
			all++
			i, _ := slices.BinarySearchFunc(at, c, time.Time.Compare)
			if i < len(at) && at[i].Sub(c) <= within {
				inTime++
			}
		}
	}
	return float64(inTime) / float64(max(all, 1)), float64(visits) / (to.Sub(from).Hours() / 24)
}

// fresh is the share of pages that were fresh, over the time between the two moments.
func (r *rehearsal) fresh(from, to time.Time) float64 {
	stale := time.Duration(0)
	for id, changes := range r.changes {
		at := r.visits[id]
		for i, c := range changes {
			v, _ := slices.BinarySearchFunc(at, c, time.Time.Compare)
			seen := to
			if v < len(at) {
				seen = at[v]
			}
			if i+1 < len(changes) && changes[i+1].Before(seen) { // the next one counts from there
				seen = changes[i+1]
			}
			if c.Before(from) {
				c = from
			}
			if to.Before(seen) {
				seen = to
			}
			stale += max(0, seen.Sub(c))
		}
	}
	return 1 - float64(stale)/float64(to.Sub(from)*time.Duration(len(r.changes)))
}

func promiseSite(open []bool) slo.Site {
	vary := config.DefaultSettings().Vary
	return slo.Site{
		Classes: []slo.Class{{Rate: 2, Pages: 20}, {Rate: 0.5, Pages: 75}, {Rate: 0.05, Pages: 200}},
		Hosts:   []slo.Host{{Name: "a.test"}}, Shortest: time.Minute, Longest: 10 * day, Vary: vary / (1 - vary/2), Open: open,
	}
}

// What a plan promises is what the worker reaches, to within two points, for about as many visits.
func TestPromises(t *testing.T) {
	t.Parallel()
	goals := []config.Goal{{Share: 0.95, Within: 6 * time.Hour}, {Share: 0.6, Within: 8 * time.Hour}, {Share: 0.9, Within: 3 * day},
		{Share: 0.9}, {Share: 0.7}}
	for _, goal := range goals {
		for _, even := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, evenly %v", goal, even), func(t *testing.T) {
				t.Parallel()
				site := promiseSite(nil)
				plan, err := slo.New(site, goal.Within)
				if err != nil {
					t.Fatal(err)
				}
				s, ok := plan.For(goal.Share)
				if even {
					s, ok = plan.Even(goal.Share)
				}
				if !ok {
					t.Fatalf("%v is unattainable", goal)
				}
				promised(t, site, s, goal)
			})
		}
	}
}

// promised holds a schedule to its promise.
func promised(t *testing.T, site slo.Site, s slo.Schedule, goal config.Goal, windows ...config.Window) {
	t.Helper()
	const days = 46
	r := newRehearsal(days)
	for i, c := range site.Classes {
		r.add(t, slo.Step{Every: s.Every[i], Pages: c.Pages, Rate: c.Rate}, windows...)
	}
	r.run(t)
	from, to := promiseStart.Add(12*day), promiseStart.Add((days-11)*day)
	got, perDay := r.seen(from, to, goal.Within)
	if goal.Fresh() {
		got = r.fresh(from, to)
	}
	if math.Abs(got-goal.Share) > 0.02 {
		t.Errorf("%v: %.4f reached", goal, got)
	}
	about := 0.02
	if len(windows) > 0 { // nightWait is of visits due at any hour, and in the night most are due in the night
		about = 0.08
	}
	if math.Abs(perDay/s.PerDay-1) > about {
		t.Errorf("%v: %.1f visits a day, %.1f promised", goal, perDay, s.PerDay)
	}
}

// nightWait is how long a visit that is due at any hour waits for a window of the first eight hours of a day, on average:
// two times in three eight hours until it opens, and four more.
const nightWait = 8 * time.Hour

// Visits that are only allowed at night: what is promised within days.
func TestPromisesOfWindows(t *testing.T) {
	t.Parallel()
	window, err := config.ParseWindow("00:00-08:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	open := make([]bool, 7*24*6)
	for i := range open {
		open[i] = i%(24*6) < 8*6
	}
	for _, goal := range []config.Goal{{Share: 0.9, Within: 3 * day}, {Share: 0.95, Within: 6 * day}} {
		t.Run(goal.String(), func(t *testing.T) {
			t.Parallel()
			site := promiseSite(open)
			plan, err := slo.New(site, goal.Within)
			if err != nil {
				t.Fatal(err)
			}
			s, ok := plan.For(goal.Share)
			if !ok {
				t.Fatalf("%v is unattainable", goal)
			}
			promised(t, site, s, goal, window)
		})
	}
}
