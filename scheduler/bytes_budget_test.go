package scheduler_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// bytesADay is a configuration of one site with a budget of so many bytes a day alone.
func bytesADay(bytes int64) *config.Config {
	c := config.Default()
	c.Defaults.Policy, c.Cycle, c.Budget = "adaptive", "24h", config.Budget{Bytes: bytes}
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: "http://h.test/", Settings: c.Defaults}}
	return &c
}

// few are pages of which a tenth changes every twenty days, and the others never. Each visit receives as many bytes.
type few struct {
	clk    clock.Clock
	visits [2]int // to those that never change, and to those that do
}

func (f *few) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p, now := &turn.Page.Page, f.clk.Now()
	out := models.Outcome{Kind: models.SameBytes, At: now, Sent: 1, Status: 200, WireBytes: 10_000}
	changes := p.ID % 10 / 9
	f.visits[changes]++
	switch pace := 20 * 24 * time.Hour; {
	case p.Stats.Records == 0:
		out.Kind = models.First
	case changes == 1 && now.Truncate(pace).After(p.Stats.VisitedAt.Time()):
		out.Kind = models.Changed
	}
	return out
}

// TestBudgetOfBytesIsSpentWherePagesChange: a budget of bytes alone that pays for a visit to each page every month is not spent in turn because fr_max
// is as short: those that change have more of it. Before it was known for how many visits it pays they had a tenth, as they are.
func TestBudgetOfBytesIsSpentWherePagesChange(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	c := bytesADay(100_000)
	c.Sites[0].Settings.FRMax = 20
	var pages *few
	overPages(t, c, &ledger{Memory: simulate.NewMemory(simulate.MemoryOptions{})}, 300, 365, func(clk clock.Clock) scheduler.Visitor {
		pages = &few{clk: clk}
		return pages
	})
	all := pages.visits[0] + pages.visits[1]
	if all < 3300 || all > 3900 {
		t.Errorf("%d visits in a year at what ten a day receive", all)
	}
	if share := float64(pages.visits[1]) / float64(all); share < 0.3 {
		t.Errorf("%.2f of the visits were to the tenth of the pages that change", share)
	}
	t.Log(pages.visits)
}

// volumes are pages of all sizes, of which large ones change as often as small ones.
type volumes struct {
	clk     clock.Clock
	start   time.Time
	etags   bool // unchanged pages are answered 304, without a body
	mixed   bool // but for every other page, which is sent whole whatever is asked
	changes map[string][]time.Duration
	sizes   map[string]int64
	seen    map[string]time.Duration
	stale   time.Duration
	bytes   int64
	visits  int
}

func (v *volumes) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p, now := &turn.Page.Page, v.clk.Now()
	at := now.Sub(v.start)
	out := models.Outcome{Kind: models.SameBytes, At: now, Sent: 1, Status: 200, WireBytes: v.sizes[p.URL], HeadBytes: 400,
		Digest: models.DigestOf(fmt.Appendf(nil, "%s in version %d", p.URL, countUntil(v.changes[p.URL], at)))}
	if v.etags {
		out.ETag = `"` + out.Digest.String() + `"`
	}
	switch {
	case p.Stats.Records == 0:
		out.Kind = models.First
	case out.Digest != p.Digest:
		out.Kind = models.Changed
	case v.etags && !(v.mixed && turn.Page.ID%2 == 0):
		out.Kind, out.Status, out.WireBytes = models.NotModified, 304, 0
	}
	out.LinksKnown = out.Status == 200
	v.see(p.URL, at)
	v.bytes += out.Received()
	v.visits++
	return out
}

// see adds for how long a page was stale until a moment, when it is seen.
func (v *volumes) see(url string, at time.Duration) {
	seen, changes := v.seen[url], v.changes[url]
	if next := countUntil(changes, seen); next < len(changes) {
		v.stale += max(0, at-changes[next])
	}
	v.seen[url] = at
}

// fill makes so many pages, and returns how many bytes they have together.
func (v *volumes) fill(pages, days int) (total int64) {
	v.changes, v.sizes, v.seen = make(map[string][]time.Duration), make(map[string]int64), make(map[string]time.Duration)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range pages {
		url, rate := pageOf(i), 0.05*math.Exp(rng.NormFloat64())
		v.sizes[url] = int64(10_000 * math.Exp(1.5*rng.NormFloat64()))
		total += v.sizes[url]
		for at := rng.ExpFloat64() / rate; at < float64(days); at += rng.ExpFloat64() / rate {
			v.changes[url] = append(v.changes[url], time.Duration(at*24*float64(time.Hour)))
		}
	}
	return total
}

// TestBudgetOfBytesIsSpentBySize: of pages that differ in size by a factor of some hundred, small ones are visited more often, and all together are
// fresher than where each visit counts alike.
func TestBudgetOfBytesIsSpentBySize(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const pages, days = 150, 300
	for name, test := range map[string]struct {
		etags, mixed bool
		share        int64 // a day brings one part of so many of all pages' bytes
		stale        float64
	}{"whole": {false, false, 20, 0.29}, "etags": {true, false, 40, 0.315}, "mixed": {true, true, 30, 0.305}} {
		v := &volumes{etags: test.etags, mixed: test.mixed}
		c := bytesADay(v.fill(pages, days) / test.share)
		overPages(t, c, &ledger{Memory: simulate.NewMemory(simulate.MemoryOptions{})}, pages, days, func(clk clock.Clock) scheduler.Visitor {
			v.clk, v.start = clk, clk.Now()
			return v
		})
		for url := range v.sizes {
			v.see(url, days*24*time.Hour)
		}
		stale, spent := v.stale.Hours()/24/pages/days, float64(v.bytes)/float64(c.Budget.Bytes*days)
		t.Logf("%s: stale for %.3f of the time, %d visits, %.3f of the budget", name, stale, v.visits, spent)
		if stale > test.stale || spent < 0.97 || spent > 1.05 {
			t.Errorf("%s: stale for %.3f of the time with %.3f of the budget", name, stale, spent)
		}
	}
}
