package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"
	"golang.org/x/sync/errgroup"

	"recrawld/models"
	"recrawld/scheduler"
)

// benchFigures is what a run found.
type benchFigures struct {
	What        string           `json:"what"`
	Store       string           `json:"store"`
	Hosts       int              `json:"hosts"`
	Pages       int              `json:"pages"` // of all hosts together
	Fetchers    int              `json:"fetchers"`
	Concurrency int              `json:"concurrency"`
	LatencyMS   float64          `json:"latency_ms"`
	TLS         bool             `json:"tls"`
	Policy      string           `json:"policy"`
	StartS      float64          `json:"start_s"`  // from the daemon's start to the first visits in the database
	Seconds     float64          `json:"seconds"`  // measured, after the warm-up
	Mirrored    bool             `json:"mirrored"` // the mirror had caught up in that time
	Visits      int64            `json:"visits"`   // in that time, those of robots.txt left out
	Outcomes    map[string]int64 `json:"outcomes"`
	VisitsPerS  float64          `json:"visits_per_s"`
	CPU         float64          `json:"cpu_us_per_visit"`          // of the daemon's process
	CPUDatabase *float64         `json:"cpu_us_per_visit_database"` // of the database server's processes
	CPUOrigin   *float64         `json:"cpu_us_per_visit_origin"`
	CPUIn       string           `json:"cpu_in"` // what cpu_us_per_visit holds
	RSSMB       float64          `json:"rss_mb"` // the daemon's most
	Claims      latencies        `json:"claims"`
	Commits     latencies        `json:"commits"`
}

// latencies sums up how long calls took.
type latencies struct {
	N     int     `json:"n"`
	P50MS float64 `json:"p50_ms"`
	P99MS float64 `json:"p99_ms"`
	MaxMS float64 `json:"max_ms"`
}

// timedStore is the daemon's store, with a watch on how long claims and commits take.
type timedStore struct {
	scheduler.Store
	now func() time.Time

	visits atomic.Int64 // written, those of robots.txt left out

	mu      sync.Mutex
	claims  []time.Duration // guarded by mu; those that leased something
	commits []time.Duration // guarded by mu
}

// Claim implements scheduler.Store.
func (s *timedStore) Claim(ctx context.Context, c models.ClaimRequest) ([]models.Lease, error) {
	began := s.now()
	leases, err := s.Store.Claim(ctx, c)
	if len(leases) > 0 {
		s.note(&s.claims, s.now().Sub(began))
	}
	return leases, err
}

// Commit implements scheduler.Store.
func (s *timedStore) Commit(ctx context.Context, now time.Time, results []models.Result) ([]error, error) {
	began := s.now()
	lost, err := s.Store.Commit(ctx, now, results)
	s.note(&s.commits, s.now().Sub(began))
	if err == nil {
		s.count(results, lost)
	}
	return lost, err
}

func (s *timedStore) count(results []models.Result, lost []error) {
	n := int64(0)
	for i := range results {
		if kind := results[i].Visit.Kind; lost[i] == nil && kind != models.RobotsFetched && kind != models.Probed {
			n++
		}
	}
	s.visits.Add(n)
}

func (s *timedStore) note(list *[]time.Duration, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, took)
}

func (s *timedStore) sums() (claims, commits latencies) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sumUp(s.claims), sumUp(s.commits)
}

func sumUp(took []time.Duration) latencies {
	if len(took) == 0 {
		return latencies{}
	}
	took = slices.Sorted(slices.Values(took))
	ms := func(q float64) float64 { return took[int(q*float64(len(took)-1))].Seconds() * 1000 }
	return latencies{N: len(took), P50MS: ms(0.5), P99MS: ms(0.99), MaxMS: ms(1)}
}

// measure runs the daemon until the time is over or every page was visited.
func (b *bench) measure(ctx context.Context) (benchFigures, error) {
	quiet := b.globals
	quiet.Log = slog.New(slog.NewTextHandler(b.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	quiet.Stdout = io.Discard
	b.timed.now = b.farm.now
	began := b.farm.now()
	var err error
	b.daemon, err = newDaemon(ctx, &quiet, &runCmd{watch: func(s scheduler.Store) scheduler.Store {
		b.timed.Store = s
		return &b.timed
	}})
	if err != nil {
		return benchFigures{}, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	group, running := errgroup.WithContext(running)
	forgetMemory()
	first := b.sample()
	group.Go(func() error { return b.daemon.run(running) })
	var figures benchFigures
	group.Go(func() error {
		defer stop()
		var err error
		figures, err = b.watch(running, began, first)
		return err
	})
	err = group.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return figures, err
}

// sample is the state of a run at a moment.
type sample struct {
	at       time.Time
	outcomes map[string]int64
	visits   int64
	used     usage
}

func (b *bench) sample() sample {
	s := sample{at: b.farm.now(), outcomes: make(map[string]int64), used: b.usage()}
	families, err := b.daemon.registry.Gather()
	if err != nil {
		return s
	}
	for _, family := range families {
		if family.GetName() == "recrawld_visits_total" {
			for _, m := range family.GetMetric() {
				s.count(m)
			}
		}
	}
	return s
}

// glance is a sample with the number of visits alone: what the processes have taken costs too much to be found out fifty
// times a second, for it counts as the daemon's own.
func (b *bench) glance() sample {
	return sample{at: b.farm.now(), visits: b.timed.visits.Load()}
}

func (s *sample) count(m *dto.Metric) {
	n := int64(m.GetCounter().GetValue())
	name := m.GetLabel()[0].GetValue()
	s.outcomes[name] = n
	if name != models.RobotsFetched.String() && name != models.Probed.String() {
		s.visits += n
	}
}

// watch measures from the beginning of the work to the end of the time or of the pages.
func (b *bench) watch(ctx context.Context, began time.Time, first sample) (benchFigures, error) {
	visited, err := b.warmUp(ctx, &first)
	if err != nil {
		return benchFigures{}, err
	}
	stopProfile, err := b.profile()
	if err != nil {
		return benchFigures{}, err
	}
	total, end := int64(b.Hosts*b.Pages), first.at.Add(b.For)
	last, mirrored := first, false
	for last.at.Before(end) && (last.visits < total || !mirrored) {
		if err := b.farm.SleepUntil(ctx, last.at.Add(20*time.Millisecond)); err != nil {
			return benchFigures{}, errors.Join(fmt.Errorf("the run was cut off: %w", err), stopProfile())
		}
		last = b.glance()
		if visited.IsZero() && last.visits > 0 {
			visited = last.at
		}
		if last.visits >= total {
			news, err := b.daemon.store.News(ctx, mirrorSink)
			mirrored = err == nil && len(news) == 0 || b.what == "refresh"
		}
	}
	last = b.sample()
	figures := b.figures(first, last, mirrored)
	figures.StartS = max(visited.Sub(began).Seconds(), 0)
	return figures, stopProfile()
}

// warmUp waits until the measuring begins, moves the first sample there, and returns when the first visits were in the
// database, zero where none were.
func (b *bench) warmUp(ctx context.Context, first *sample) (visited time.Time, err error) {
	for until := first.at.Add(b.Warmup); first.at.Before(until); {
		if err := b.farm.SleepUntil(ctx, first.at.Add(20*time.Millisecond)); err != nil {
			return visited, fmt.Errorf("the run was cut off: %w", err)
		}
		*first = b.sample()
		if visited.IsZero() && first.visits > 0 {
			visited = first.at
		}
	}
	return visited, nil
}

func (b *bench) figures(first, last sample, mirrored bool) benchFigures {
	f := benchFigures{
		What: b.what, Store: b.daemon.store.Dialect(), Hosts: b.Hosts, Pages: b.Hosts * b.Pages, Fetchers: b.Fetchers,
		Concurrency: b.Concurrency, LatencyMS: b.Latency.Seconds() * 1000, TLS: b.TLS, Policy: b.Policy,
		Seconds: last.at.Sub(first.at).Seconds(), Mirrored: mirrored,
		Visits: last.visits - first.visits, Outcomes: last.outcomes, RSSMB: float64(last.used.peak) / 1e6,
		CPUIn: "worker, fetches, archive, mirror, database client",
	}
	if f.Store == "sqlite" {
		f.CPUIn += ", SQLite"
	}
	for name, n := range first.outcomes {
		f.Outcomes[name] -= n
	}
	visits := float64(max(f.Visits, 1))
	f.VisitsPerS = float64(f.Visits) / f.Seconds
	f.CPU = float64(last.used.daemon-first.used.daemon) / 1e3 / visits
	f.CPUDatabase = perVisit(first.used.database, last.used.database, visits)
	f.CPUOrigin = perVisit(first.used.origin, last.used.origin, visits)
	f.Claims, f.Commits = b.timed.sums()
	return f
}

// perVisit is microseconds a visit between two readings, nil where there are none.
func perVisit(first, last *time.Duration, visits float64) *float64 {
	if first == nil || last == nil {
		return nil
	}
	us := float64(*last-*first) / 1e3 / visits
	return &us
}

// profile begins the profiles that were asked for and returns how to write them.
func (b *bench) profile() (stop func() error, err error) {
	if b.Profile == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(b.Profile, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of profiles: %w", err)
	}
	cpu, err := os.Create(filepath.Join(b.Profile, "cpu.pprof"))
	if err != nil {
		return nil, fmt.Errorf("write profiles: %w", err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(fmt.Errorf("write profiles: %w", err), cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		allocs, err := os.Create(filepath.Join(b.Profile, "allocs.pprof"))
		if err != nil {
			return errors.Join(fmt.Errorf("write profiles: %w", err), cpu.Close())
		}
		runtime.GC() // the profile is as of the last collection
		return errors.Join(pprof.Lookup("allocs").WriteTo(allocs, 0), allocs.Close(), cpu.Close())
	}, nil
}

// print writes the figures for a person.
func (f *benchFigures) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s: %d visits in %.2f s = %.0f visits/s (%d hosts, %d pages, latency %.0f ms)\n", f.What, f.Store,
		f.Visits, f.Seconds, f.VisitsPerS, f.Hosts, f.Pages, f.LatencyMS)
	for _, name := range slices.Sorted(maps.Keys(f.Outcomes)) {
		if n := f.Outcomes[name]; n > 0 {
			fmt.Fprintf(w, "  %-14s %d\n", name, n)
		}
	}
	fmt.Fprintf(w, "CPU a visit: %.1f µs (%s)", f.CPU, f.CPUIn)
	if f.CPUDatabase != nil {
		fmt.Fprintf(w, ", %.1f µs database server", *f.CPUDatabase)
	}
	if f.CPUOrigin != nil {
		fmt.Fprintf(w, ", %.1f µs origin", *f.CPUOrigin)
	}
	_, err := fmt.Fprintf(w, "\nmemory %.0f MB; first visit after %.2f s\nclaims p50 %.1f ms, p99 %.1f ms (%d); commits p50 %.1f ms, p99 %.1f ms (%d)\n",
		f.RSSMB, f.StartS, f.Claims.P50MS, f.Claims.P99MS, f.Claims.N, f.Commits.P50MS, f.Commits.P99MS, f.Commits.N)
	return err
}
