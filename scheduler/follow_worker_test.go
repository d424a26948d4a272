package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"recrawld/internal/solo"
	"recrawld/models"
	"recrawld/simulate"
)

// TestDuplicatesFollowTheirOriginal: within a day of the visit that finds an original changed, or gone, its duplicates are visited too.
func TestDuplicatesFollowTheirOriginal(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		c.config.Defaults.FRMax, c.config.Sites[0].Settings.FRMax = 40, 40
		for _, url := range []string{boots, mirror, printed} {
			c.add(url, shopPage("Boots", "149.00", prose(300, 1), ""))
			c.pass(1)
		}
		c.pass(10)
		for change := range 3 {
			for _, url := range []string{boots, mirror, printed} {
				c.set(url, shopPage("Boots", fmt.Sprintf("%d.00", 150+change), prose(300, uint64(2+change)), ""))
			}
			before := c.known()[boots].Version
			for range 100 {
				if c.pass(1); c.known()[boots].Version > before {
					break
				}
			}
			c.pass(2)
			for url, p := range c.want(fmt.Sprintf("after change %d", change+1), map[string]string{mirror: boots, printed: boots}) {
				if at := c.known()[boots].Stats.ChangedAt; p.DuplicateOf != "" && p.Stats.VisitedAt < at {
					t.Errorf("change %d: %s was last visited at %v, its original changed at %v", change+1, url, p.Stats.VisitedAt.Time(), at.Time())
				}
			}
		}
		c.set(boots, "")
		for range 100 {
			if c.pass(1); c.known()[boots].State == models.StateGone {
				break
			}
		}
		c.pass(2)
		c.want("without the original", map[string]string{printed: mirror})
	})
}

// TestOriginalsDoNotWaitForDuplicates: pages under eight names each that change every three days, 250 in all, under a budget that visits all of them
// every five days: that duplicates follow does not make the pages that they follow stale. Where each followed within a day these were out of
// date for 72 % of the time, and for 27 % since duplicates rest (34 % where they waited for fr_max).
func TestOriginalsDoNotWaitForDuplicates(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	c := newCopies(t, simulate.NewMemory(simulate.MemoryOptions{}))
	c.config.Sites[0].Settings.FRMax, c.config.Sites[0].Settings.Policy = 30, "adaptive"
	epoch := func(now time.Time) int64 { return now.Unix() / (3 * 24 * 3600) }
	for i := range 40 {
		for n := range 8 {
			if n > 0 && i >= 30 {
				continue
			}
			url := fmt.Sprintf("http://h%d.test/p%d?n=%d", i%5, i, n)
			c.add(url, "new")
			c.pages[url] = func(now time.Time) string {
				return shopPage(fmt.Sprint("Page ", i), "1.00", prose(300, uint64(1000*i)+uint64(epoch(now))), "")
			}
		}
	}
	c.pass(20)
	c.config.Budget.Requests.PerDay = 50
	c.pass(20)
	stale, all := 0, 0
	for range 40 {
		c.pass(1)
		for _, p := range c.dump().Pages {
			if p.DuplicateOf == "" {
				all++
				if epoch(p.Stats.VisitedAt.Time()) < epoch(c.clock.Now()) {
					stale++
				}
			}
		}
	}
	if share := float64(stale) / float64(all); share > 0.45 {
		t.Errorf("what duplicates follow is out of date for %.2f of the time", share)
	}
}
