package scheduler

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// TestAdaptiveSurvivesAnyHistory: whatever visits find and however the clock jumps, the next visit is in the future, in its
// window, within the shortest and the longest interval, and 1 ≤ fr ≤ fr_max ≤ the ceiling.
func TestAdaptiveSurvivesAnyHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		planner, settings := adaptivePlanner(t)
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		pages := make([]models.Page, 3)
		for i, path := range []string{"a/1", "a/2", "b/2026-02-01-news"} {
			pages[i] = NewPage("http://h.test/"+path, "h.test", 1, 0, 1)
			pages[i].Importance = rapid.SampledFrom([]float32{0, 1e-3, 1, 1e3}).Draw(t, "importance")
		}
		lease := models.Lease{Host: models.Host{ID: pages[0].HostID, Bucket: pages[0].Bucket, Name: "h.test"}}
		for range rapid.IntRange(1, 40).Draw(t, "visits") {
			i := rapid.IntRange(0, len(pages)-1).Draw(t, "page")
			now = now.Add(time.Duration(rapid.OneOf(rapid.Int64Range(0, int64(90*24*time.Hour)),
				rapid.SampledFrom([]int64{-int64(400 * 24 * time.Hour), -1, 0, 1, int64(20 * 365 * 24 * time.Hour)})).Draw(t, "later")))
			out := anyOutcome(t, now)
			got := planner.Plan(&lease, pages[i], &out, now).Page
			checkSchedule(t, planner, settings, &got, now)
			pages[i] = got
		}
	})
}

func adaptivePlanner(t *rapid.T) (*Planner, *config.Settings) {
	c := config.Default()
	c.Budget.Requests = config.Rate{PerDay: rapid.SampledFrom([]float64{0.001, 1, 1e6}).Draw(t, "budget")}
	s := c.Defaults
	s.Policy, s.FRMax, s.HintMax = policy.AdaptiveName, rapid.IntRange(1, 2000).Draw(t, "ceiling"), 0
	if rapid.Bool().Draw(t, "windows") {
		w := config.Window{From: 22 * time.Hour, To: 6 * time.Hour, Zone: time.UTC}
		for d := range w.Days {
			w.Days[d] = true
		}
		s.Windows = []config.Window{w}
	}
	c.Sites = []config.Site{{ID: 1, Name: "test", URL: "http://h.test/", Settings: s}}
	p, err := NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, &c.Sites[0].Settings
}

// anyOutcome is a visit that saw the page.
func anyOutcome(t *rapid.T, now time.Time) models.Outcome {
	body := []byte(rapid.StringN(1, 8, 8).Draw(t, "body"))
	kind := rapid.SampledFrom([]models.OutcomeKind{models.First, models.Changed, models.NotModified, models.SameBytes, models.SameText,
		models.Noise}).Draw(t, "kind")
	out := models.Outcome{Kind: kind, At: now, Sent: 1, Status: 200, Digest: models.DigestOf(body), Retract: rapid.Bool().Draw(t, "retract")}
	if kind == models.First || kind.OtherBytes() {
		out.Body = body
	}
	if rapid.Bool().Draw(t, "dated") {
		out.ModifiedAt = now.Add(time.Duration(rapid.OneOf(rapid.Int64Range(-int64(200*24*time.Hour), int64(24*time.Hour)),
			rapid.SampledFrom([]int64{0, 1, -int64(200 * 365 * 24 * time.Hour)})).Draw(t, "modified")))
	}
	return out
}

func checkSchedule(t *rapid.T, p *Planner, s *config.Settings, page *models.Page, now time.Time) {
	t.Helper()
	due := page.DueAt.Time()
	if !due.After(now) {
		t.Fatalf("due %s is not after %s", due, now)
	}
	if page.FRMax < 1 || int(page.FRMax) > s.FRMax {
		t.Fatalf("fr_max %d, want within [1, %d]", page.FRMax, s.FRMax)
	}
	cycle, ceiling := p.calendar.Interval(now, 1), p.calendar.Interval(now, s.FRMax)
	if page.Wanted < cycle || page.Wanted > ceiling {
		t.Fatalf("interval %s, want within [%s, %s]", page.Wanted, cycle, ceiling)
	}
	if late := due.Sub(now.Add(page.Wanted)); late > 24*time.Hour || (len(s.Windows) == 0 && late > time.Millisecond) {
		t.Fatalf("due %s after the interval", late)
	}
	if !Allowed(s.Windows, due) {
		t.Fatalf("due %s, outside of the window", due)
	}
}

// TestMoreBudgetIsNeverLater: what is known being equal, a lower price makes no page later, and a more important page is no
// later than another.
func TestMoreBudgetIsNeverLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := NewMind(nil)
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		s := config.DefaultSettings()
		page := NewPage("http://h.test/a/1", "h.test", 1, 0, 1)
		page.Importance = float32(rapid.Float64Range(0.01, 100).Draw(t, "importance"))
		seen := now.Add(-time.Duration(rapid.Int64Range(0, int64(300*24*time.Hour)).Draw(t, "since")))
		page.Stats = models.ChangeStats{Records: 5, Changes: 1, FirstAt: models.At(seen.AddDate(-1, 0, 0)), VisitedAt: models.At(seen),
			ChangedAt: models.At(seen.AddDate(0, -1, 0))}
		page.Evidence = models.Evidence{Changes: rapid.Float32Range(-0.5, 50).Draw(t, "changes"), Days: rapid.Float32Range(-1, 1000).Draw(t, "days")}
		q := question{page: &page, settings: &s, now: now, cycle: 6 * time.Hour, ceiling: 365 * 24 * time.Hour, even: 5 * 24 * time.Hour}
		first := m.paysAt(&q)
		m.price(allSites).log -= rapid.Float64Range(0, 5).Draw(t, "cheaper")
		if cheaper := m.paysAt(&q); cheaper.After(first.Add(slack(first, now))) {
			t.Fatalf("due %s at a lower price, %s at the higher one", cheaper, first)
		}
		second := m.paysAt(&q)
		page.Importance *= float32(rapid.Float64Range(1, 10).Draw(t, "more important"))
		if weightier := m.paysAt(&q); weightier.After(second.Add(slack(second, now))) {
			t.Fatalf("due %s when it is more important, %s before", weightier, second)
		}
	})
}

// slack is how exactly a due time is worked out.
func slack(due, now time.Time) time.Duration { return max(due.Sub(now)/16, time.Second) }
