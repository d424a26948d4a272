package scheduler_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// press is a site of sections, each of which names the newest of its articles: no list does, and the start page names the sections alone.
type press struct {
	clk      clock.Clock
	start    time.Time
	sections []string
	born     map[string][]time.Duration // articles of a section, from the start on, in order
	changes  map[string][]time.Duration // of an article's text, likewise
	visits   map[string][]time.Duration // to an article
	traps    int                        // pages that name five new ones at each visit
	sent     int
	names    int // that these named
}

// sectionShows is how many articles a section names.
const sectionShows = 20

// countUntil is how many of the moments have come.
func countUntil(moments []time.Duration, at time.Duration) int {
	n, _ := slices.BinarySearch(moments, at+1)
	return n
}

func article(section string, k int) string { return fmt.Sprintf("%s/%d", section, k) }

func (p *press) Visit(_ context.Context, turn models.Turn) models.Outcome {
	page, now := &turn.Page.Page, p.clk.Now()
	at := now.Sub(p.start)
	p.sent++
	out := models.Outcome{Kind: models.NotModified, At: now, Sent: 1, Status: 304}
	var names []string
	version := 0
	switch born, section := p.born[page.URL]; {
	case page.URL == home:
		names = slices.Clone(p.sections)
		for i := range p.traps {
			names = append(names, fmt.Sprintf("%strap/%d", home, i))
		}
	case strings.Contains(page.URL, "/trap/"):
		for range 5 {
			p.names++
			names = append(names, fmt.Sprintf("%smade/%d", home, p.names))
		}
		version = p.names
	case section:
		version = countUntil(born, at)
		for k := max(0, version-sectionShows); k < version; k++ {
			names = append(names, article(page.URL, k))
		}
	default:
		version = countUntil(p.changes[page.URL], at)
		p.visits[page.URL] = append(p.visits[page.URL], at)
	}
	body := fmt.Appendf(nil, "%s in version %d", page.URL, version)
	out.Digest = models.DigestOf(body)
	if page.Stats.Records == 0 || out.Digest != page.Digest {
		out.Kind, out.Status, out.Body, out.LinksKnown = models.Changed, 200, body, true
		if page.Stats.Records == 0 {
			out.Kind = models.First
		}
		for _, url := range names {
			out.Links = append(out.Links, models.FoundLink{URL: url, Host: "h.test"})
		}
	}
	return out
}

// publish makes the world: sections with so many new articles a day, each of which begins with fifty, and changes of the articles.
func (p *press) publish(days float64, perDay []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	moments := func(from, rate float64) (m []time.Duration) {
		for at := from + rng.ExpFloat64()/rate; at < days; at += rng.ExpFloat64() / rate {
			m = append(m, time.Duration(at*24*float64(time.Hour)))
		}
		return m
	}
	for i, rate := range perDay {
		section := fmt.Sprintf("%ss/%d", home, i)
		p.sections = append(p.sections, section)
		p.born[section] = append(make([]time.Duration, 50), moments(0, rate)...)
		for k, born := range p.born[section] {
			p.changes[article(section, k)] = moments(born.Hours()/24, 0.01*math.Exp(1.5*rng.NormFloat64()))
		}
	}
}

// waited is for how long the articles that came between two moments waited for their first visit, on average, and how many of them had none.
func (p *press) waited(from, to, end time.Duration) (mean time.Duration, articles, never int) {
	var sum time.Duration
	for section, born := range p.born {
		for k := countUntil(born, from); k < countUntil(born, to); k++ {
			first := end
			if visits := p.visits[article(section, k)]; len(visits) > 0 {
				first = visits[0]
			} else {
				never++
			}
			articles++
			sum += first - born[k]
		}
	}
	return sum / time.Duration(articles), articles, never
}

// visits runs a worker for so many days over sites that have these pages at first, and so many a host at most.
func visits(t *testing.T, visitor scheduler.Visitor, clk clock.Clock, days int, c *config.Config, urls []string, most int) {
	t.Helper()
	start := clk.Now()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	store := simulate.NewMemory(simulate.MemoryOptions{PagesPerHost: most})
	found := make([]models.Discovery, len(urls))
	for i, url := range urls {
		site := slices.IndexFunc(c.Sites, func(s config.Site) bool { return strings.HasPrefix(url, s.URL) })
		host := strings.Split(url, "/")[2]
		page := scheduler.NewPage(url, host, c.Sites[site].ID, int16(min(i, 1)), 4)
		page.DueAt = models.At(start)
		found[i] = models.Discovery{Page: page, Host: host}
	}
	if _, err := store.AddPages(t.Context(), start, found, 0); err != nil {
		t.Fatal(err)
	}
	works(ctx, t, c, store, visitor, endClock{clk.(*clock.Virtual), start.Add(time.Duration(days) * 24 * time.Hour), stop})
}

// run visits it for so many days with 30 requests a day, and is for how long the articles of all but the first 40 and the last 10 waited (see waited).
func (p *press) run(t *testing.T, days int) (mean time.Duration, articles, never int) {
	t.Helper()
	const day = 24 * time.Hour
	p.start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p.born, p.changes, p.visits = make(map[string][]time.Duration), make(map[string][]time.Duration), make(map[string][]time.Duration)
	p.publish(float64(days), []float64{2, 1, .5, .3, .2, .1, .05, .05, .02, .02, .01, .01, 1e-9, 1e-9, 1e-9, 1e-9})
	p.clk = clock.NewVirtual(p.start)
	c := config.Default()
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: home, Settings: c.Defaults}}
	c.Sites[0].Settings.Policy, c.Budget.Requests.PerDay = "adaptive", 30
	urls := []string{home}
	for _, section := range p.sections {
		for k := range 50 {
			urls = append(urls, article(section, k))
		}
	}
	visits(t, p, p.clk, days, &c, urls, 0)
	end := time.Duration(days) * day
	return p.waited(40*day, end-10*day, end)
}

// TestNewPagesAreFoundWhereTheyAppear: with a budget that visits all pages alike every 40 days, sections that change faster than it can follow are visited
// for the articles that they lead to. For their own worth alone they were visited every month: articles waited for 28 days, and of 434 it missed 183.
func TestNewPagesAreFoundWhereTheyAppear(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const days, day = 150, 24 * time.Hour
	p := new(press)
	mean, articles, never := p.run(t, days)
	if mean > 8*day || never > articles/40 {
		t.Errorf("%d articles waited for their first visit for %.1f days on average, and %d had none; want 8 days at most and %d", articles, mean.Hours()/24, never, articles/40)
	}
	if most := days * 30 * 104 / 100; p.sent > most {
		t.Errorf("%d requests in %d days, want %d at most", p.sent, days, most)
	}
}

// TestSectionsBesideTraps: sections are visited as it pays beside pages of their site that name new ones at each visit, which are told from them by that.
// Where all of them shared three tenths of the budget articles waited for 26 days on average, and of 680 it missed 185.
func TestSectionsBesideTraps(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	p := &press{traps: 64}
	mean, articles, never := p.run(t, 200)
	if mean > 15*24*time.Hour || never > articles/17 {
		t.Errorf("%d articles waited for their first visit for %.1f days on average, and %d had none; want 15 days at most and %d", articles, mean.Hours()/24, never, articles/17)
	}
}

// maker is a host with pages each of which names some new ones at each visit, beside pages that change every month.
type maker struct {
	clk         clock.Clock
	traps, each int // pages that do, and how many they name
	sent, names int
	plain       int                  // visits to the others
	last        map[string]time.Time // of them
	waited      time.Duration        // the longest time between two
}

func (p *maker) Visit(_ context.Context, turn models.Turn) models.Outcome {
	p.sent++
	url, now := turn.Page.URL, p.clk.Now()
	body := fmt.Append(nil, url)
	if strings.Contains(url, "/p/") {
		body = fmt.Append(body, now.Unix()/(30*24*3600))
		if last, seen := p.last[url]; seen {
			p.waited = max(p.waited, now.Sub(last))
		}
		p.last[url] = now
		p.plain++
	}
	out := models.Outcome{Kind: models.First, At: now, Sent: 1, Status: 200, LinksKnown: true}
	if strings.Contains(url, "/trap/") {
		for range p.each {
			p.names++
			out.Links = append(out.Links, models.FoundLink{URL: fmt.Sprintf("%smade/%d", home, p.names), Host: "h.test"})
		}
		body = fmt.Append(body, p.names)
	}
	for i := range p.traps {
		if url == home {
			out.Links = append(out.Links, models.FoundLink{URL: fmt.Sprintf("%strap/%d", home, i), Host: "h.test"})
		}
	}
	switch out.Digest, out.Body = models.DigestOf(body), body; {
	case turn.Page.Stats.Records > 0 && out.Digest == turn.Page.Digest:
		out.Kind, out.Status, out.Body = models.NotModified, 304, nil
	case turn.Page.Stats.Records > 0:
		out.Kind = models.Changed
	}
	return out
}

// run visits a site of a maker and so many other pages for so many days.
func (p *maker) run(t *testing.T, c *config.Config, days, plain, most int) {
	t.Helper()
	p.clk, p.last = clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), make(map[string]time.Time)
	urls := []string{home}
	for i := range plain {
		urls = append(urls, fmt.Sprintf("%sp/%d", home, i))
	}
	visits(t, p, p.clk, days, c, urls, most)
}

// TestTrapsKeepToTheBudget: pages that name new ones without end are visited for these within their site's budget: without that sixteen of them made 4,090 requests of 600.
func TestTrapsKeepToTheBudget(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const days, perDay = 200, 3
	c := config.Default()
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: home, Settings: c.Defaults}}
	c.Sites[0].Settings.Policy, c.Sites[0].Settings.Budget.Requests.PerDay = "adaptive", perDay
	p := &maker{traps: 16, each: 20}
	p.run(t, &c, days, 60, 400)
	if p.sent > days*perDay*115/100 || p.names == 0 {
		t.Errorf("%d requests in %d days at %d a day, and %d pages were made", p.sent, days, perDay, p.names)
	}
}

// TestTrapsLeaveTheOtherPagesTheirVisits: what visits for new pages may take of a budget, those to what they find included, is bounded. Without that these traps left
// the other pages 1,008 visits of 3,003, and one waited 124 days; without visits for new pages it is 1,828 and 60.
func TestTrapsLeaveTheOtherPagesTheirVisits(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	c := config.Default()
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: home, Settings: c.Defaults}}
	c.Sites[0].Settings.Policy, c.Budget.Requests.PerDay = "adaptive", 15
	p := &maker{traps: 32, each: 5}
	p.run(t, &c, 200, 400, 0)
	if days := p.waited.Hours() / 24; p.plain < 1600 || days > 85 {
		t.Errorf("the other pages had %d visits of %d and waited %.0f days at most, want 1,600 and 85", p.plain, p.sent, days)
	}
}
