package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/simulate"
)

// growing is a site whose start page and news are known for two weeks when it grows: its start page names pages and a sitemap index, whose
// sitemaps name the others. The start page changes every hour, news every day, and what is new never.
type growing struct {
	clk     clock.Clock
	start   time.Time
	pages   int // that are new
	news    int
	grown   time.Time
	sent    int
	firstAt time.Time     // when the last of the new pages had its first visit
	listsAt time.Time     // when the last of the sitemaps had
	homeAt  time.Time     // when the start page was last visited
	gap     time.Duration // the longest between two visits to it, until all of the new pages had theirs
	seen    int
}

const home, lists = "http://h.test/", 4

func (g *growing) Visit(_ context.Context, turn models.Turn) models.Outcome {
	page, now := &turn.Page.Page, g.clk.Now()
	g.sent++
	out := models.Outcome{Kind: models.NotModified, At: now, Sent: 1, Status: 304}
	pace := 1000 * 24 * time.Hour
	switch path := strings.TrimPrefix(page.URL, home); {
	case path == "":
		pace = time.Hour
		if g.seen < g.pages && !g.grown.IsZero() {
			g.gap = max(g.gap, now.Sub(g.homeAt))
		}
		g.homeAt = now
		if g.grown.IsZero() && now.Sub(g.start) > 14*24*time.Hour {
			g.grown = now
			out.Links, out.LinksKnown = g.named(0), true
			out.Links = append(out.Links, models.FoundLink{URL: home + "index.xml", Host: "h.test", List: true})
		}
	case strings.HasPrefix(path, "news/"):
		pace = 24 * time.Hour
	case page.Stats.Records > 0:
	case path == "index.xml":
		out.Listing = &models.Listing{Index: true, Entries: lists}
		for i := range lists {
			out.Links = append(out.Links, models.FoundLink{URL: fmt.Sprintf("%slist/%d", home, i+1), Host: "h.test", List: true})
		}
	case strings.HasPrefix(path, "list/"):
		g.listsAt = now
		out.Links = g.named(int(path[len("list/")] - '0'))
		out.Listing = &models.Listing{Entries: int32(len(out.Links))}
	default:
		g.firstAt = now
		if g.seen++; g.seen == g.pages {
			g.gap = max(g.gap, now.Sub(g.homeAt))
		}
	}
	body := []byte(page.URL + now.Truncate(pace).String())
	switch {
	case page.Stats.Records == 0:
		out.Kind, out.Status, out.Digest, out.Body = models.First, 200, models.DigestOf(body), body
	case now.Truncate(pace).After(page.Stats.VisitedAt.Time()):
		out.Kind, out.Status, out.Digest, out.Body = models.Changed, 200, models.DigestOf(body), body
	}
	return out
}

// named are the new pages that a list names; 0: the start page.
func (g *growing) named(by int) (found []models.FoundLink) {
	for i := by; i < g.pages; i += lists + 1 {
		found = append(found, models.FoundLink{URL: fmt.Sprintf("%sp/%d", home, i), Host: "h.test"})
	}
	return found
}

// grow runs a worker over a site that grows, for so many days.
func grow(t *testing.T, g *growing, days int, change func(*config.Config)) {
	t.Helper()
	g.start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ctx, clk := ending(t, g.start, days)
	g.clk = clk
	c := config.Default()
	c.Sites = []config.Site{{ID: 1, Name: "t", URL: home, Settings: c.Defaults}}
	change(&c)
	store := simulate.NewMemory(simulate.MemoryOptions{})
	urls := []string{home}
	for i := range g.news {
		urls = append(urls, fmt.Sprintf("%snews/%d", home, i+1))
	}
	adds(t, store, g.start, 1, urls...)
	works(ctx, t, &c, store, g, clk)
	if g.seen != g.pages {
		t.Errorf("%d of %d new pages were visited in %d days", g.seen, g.pages, days)
	}
}

// TestListsComeFirst: while a budget of 100 visits a day pays for the first visits to hundreds of new pages, the sitemaps that name most of them are
// read at once, be the budget that of all or the site's own, and the pass takes no longer for it. Under the policy adaptive the start page, which changes
// faster than that budget can follow, is visited once a day all the same.
func TestListsComeFirst(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	const perDay, days = 100, 24
	for _, policy := range []string{"classic", "fixed", "adaptive"} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, own %v", policy, own), func(t *testing.T) {
				t.Parallel()
				g := growing{pages: 800, news: 10}
				grow(t, &g, days, func(c *config.Config) {
					c.Sites[0].Settings.Policy = policy
					if rate := (config.Rate{PerDay: perDay}); own {
						c.Sites[0].Settings.Budget.Requests = rate
					} else {
						c.Budget.Requests = rate
					}
				})
				if took, late := g.firstAt.Sub(g.grown).Hours()/24, g.listsAt.Sub(g.grown); late > 6*time.Hour || took > 9 {
					t.Errorf("the sitemaps were read within %v, the first pass took %.1f days; want 6h and 9 days at most", late, took)
				}
				if policy == "adaptive" && g.gap > 26*time.Hour {
					t.Errorf("the start page was not visited for %v", g.gap)
				}
				if most := days * perDay * 104 / 100; g.sent > most {
					t.Errorf("%d requests in %d days, want %d at most", g.sent, days, most)
				}
			})
		}
	}
}
