package simulate

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
)

// counted is a visitor that ends the simulation after so many visits.
type counted struct {
	scheduler.Visitor
	left int
	end  context.CancelFunc
}

func (c *counted) Visit(ctx context.Context, t models.Turn) models.Outcome {
	if c.left--; c.left == 0 {
		c.end()
	}
	return c.Visitor.Visit(ctx, t)
}

// BenchmarkVisits is the worker loop of the daemon on a virtual clock, over a store in memory: 100,000 pages on 500
// hosts that change every 40 days, each visited when its policy says, in a store without history.
func BenchmarkVisits(b *testing.B) {
	for _, policy := range []string{"fixed", "classic", "adaptive"} {
		b.Run(policy, func(b *testing.B) { benchmarkVisits(b, policy) })
	}
}

func benchmarkVisits(b *testing.B, policy string) {
	const hosts, pages = 500, 200
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as recrawld simulate has it
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory, world := NewMemory(MemoryOptions{Forget: true, ReadyBuckets: 1, Reuse: true}), NewWorld()
	var found []models.Discovery
	for h := range hosts {
		host := fmt.Sprintf("h%d.example", h)
		for p := range pages {
			url := fmt.Sprintf("https://%s/%d", host, p)
			d := models.Discovery{Host: host, Page: models.Page{SiteID: 1, URL: url, Rule: models.RuleStart}}
			d.Page.DueAt = models.At(start.Add(time.Duration(h*pages+p) * 24 * time.Hour / (hosts * pages)))
			found = append(found, d)
			var changes []time.Time
			for n := range 20 {
				changes = append(changes, start.Add(time.Duration(n*40*24+p)*time.Hour))
			}
			world.Add(url, changes)
		}
	}
	if _, err := memory.AddPages(b.Context(), start, found, 0); err != nil {
		b.Fatal(err)
	}
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Delay = policy, 0
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		b.Fatal(err)
	}
	ctx, end := context.WithCancel(b.Context())
	defer end()
	w := scheduler.NewWorker(scheduler.Config{
		Store: memory, Visitor: &counted{Visitor: world, left: b.N, end: end}, Archive: Nowhere{}, Clock: clock.NewVirtual(start),
		Log: slog.New(slog.DiscardHandler), Name: "bench", Lease: time.Hour,
	}, planner)
	runtime.GC() // what was set up is nobody's visit
	b.ReportAllocs()
	b.ResetTimer()
	began := cpuTime(b)
	if err := w.Run(ctx); err != nil {
		b.Fatal(err)
	}
	used := cpuTime(b) - began
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "visits/s")
	b.ReportMetric(float64(b.N)/used.Seconds(), "visits/cpu-s")
}

// cpuTime is what the process used of its processors so far, the garbage collector's share included: the measure on a
// machine that others use as well.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkMemory is what a simulation asks of its store for a visit: who is ready, a lease of a page, a commit.
func BenchmarkMemory(b *testing.B) {
	const hosts, pages = 500, 200
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory := NewMemory(MemoryOptions{Forget: true, ReadyBuckets: 1, Reuse: true})
	var found []models.Discovery
	for n := range hosts * pages {
		host := fmt.Sprintf("h%d.example", n%hosts)
		d := models.Discovery{Host: host, Page: models.Page{SiteID: 1, URL: fmt.Sprintf("https://%s/%d", host, n)}}
		d.Page.DueAt = models.At(now.Add(time.Duration(n) * time.Second))
		found = append(found, d)
	}
	ctx := b.Context()
	if _, err := memory.AddPages(ctx, now, found, 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		ready, err := memory.Ready(ctx)
		if err != nil {
			b.Fatal(err)
		}
		now = ready[0].At
		leases, err := memory.Claim(ctx, models.ClaimRequest{Buckets: []int16{ready[0].Bucket}, Now: now, Lease: time.Hour,
			Hosts: 1, Pages: 64})
		if err != nil || len(leases) != 1 {
			b.Fatal(leases, err)
		}
		l := &leases[0]
		r := models.Result{Release: true, Page: l.Pages[0].Page, Host: l.Host}
		r.Lease = models.LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken}
		r.Page.Visits++
		r.Page.DueAt = models.At(now.Add(hosts * pages * time.Second))
		r.Visit.Number, r.Visit.At = r.Page.Visits, models.At(now)
		if verdicts, err := memory.Commit(ctx, now, []models.Result{r}); err != nil || verdicts[0] != nil {
			b.Fatal(verdicts, err)
		}
	}
}
