package recrawl

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"recrawld/config"
	"recrawld/models"
)

var byChildren = config.Parents{Threshold: 0.40, MaxSkips: 3}

// hub is a page that its last visit found unchanged, with 20 known children.
func hub(changed int32) *models.LeasedPage {
	return &models.LeasedPage{
		Page:  models.Page{State: models.StateLive, FullAt: 1, Stats: models.ChangeStats{Records: 5}},
		Share: models.ChildShare{Known: 20, Changed: changed},
	}
}

func TestTurnOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		page func(*models.LeasedPage)
		want parentTurn
	}{
		{"at the threshold", func(p *models.LeasedPage) { p.Share.Changed = 8 }, fullTurn},
		{"below it", func(p *models.LeasedPage) { p.Share.Changed = 7 }, skippedTurn},
		{"its own threshold counts", func(p *models.LeasedPage) { p.Share.Changed = 7; p.Threshold = 350 }, fullTurn},
		{"skipped often enough", func(p *models.LeasedPage) { p.Skips = 3 }, ordinaryTurn},
		{"two children say nothing", func(p *models.LeasedPage) { p.Share = models.ChildShare{Known: 2, Changed: 2} }, ordinaryTurn},
		{"without children", func(p *models.LeasedPage) { p.Share = models.ChildShare{} }, ordinaryTurn},
		{"never read in full", func(p *models.LeasedPage) { p.FullAt = 0; p.Share.Changed = 20 }, ordinaryTurn},
		{"changed when last seen", func(p *models.LeasedPage) { p.Stats.Bits = 1 }, ordinaryTurn},
		{"seen once", func(p *models.LeasedPage) { p.Stats.Records = 1 }, ordinaryTurn},
		{"failing", func(p *models.LeasedPage) { p.Failures = 1 }, ordinaryTurn},
		{"missing", func(p *models.LeasedPage) { p.State = models.StateMissing }, ordinaryTurn},
		{"a duplicate", func(p *models.LeasedPage) { p.DuplicateOf = "http://one.test/b" }, ordinaryTurn},
		{"its copy is lost", func(p *models.LeasedPage) { p.Lost = true }, ordinaryTurn},
		{"asked for by a person", func(p *models.LeasedPage) { p.Rule = models.RuleManual }, ordinaryTurn},
		{"a list told of it", func(p *models.LeasedPage) { p.Rule = models.RuleSitemap }, ordinaryTurn},
		{"a list told of it before its time came", func(p *models.LeasedPage) { p.Stats.VisitedAt, p.ToldAt = 5, 6 }, ordinaryTurn},
		{"a list told of it before its visit", func(p *models.LeasedPage) { p.Stats.VisitedAt, p.ToldAt = 6, 5 }, skippedTurn},
		{"its publisher announced it", func(p *models.LeasedPage) { p.Rule = models.RuleAnnounced }, ordinaryTurn},
		{"read for the pages that it leads to", func(p *models.LeasedPage) { p.Rule = models.RuleList }, ordinaryTurn},
		{"that, and at the threshold", func(p *models.LeasedPage) { p.Rule, p.Share.Changed = models.RuleList, 8 }, fullTurn},
		{"announced, and at the threshold", func(p *models.LeasedPage) { p.Rule, p.Share.Changed = models.RuleAnnounced, 8 }, fullTurn},
	} {
		page := hub(0)
		test.page(page)
		if got := turnOf(page, byChildren); got != test.want {
			t.Errorf("%s: turnOf = %v, want %v", test.name, got, test.want)
		}
	}
	if got := turnOf(hub(0), config.Parents{}); got != ordinaryTurn {
		t.Errorf("switched off: turnOf = %v, want ordinary", got)
	}
}

func TestNextThreshold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		turn    parentTurn
		skips   int16
		changed bool
		want    int16
	}{
		{"a full crawl found a change", fullTurn, 0, true, 320},
		{"a full crawl found none", fullTurn, 0, false, 500},
		{"skipping missed a change", ordinaryTurn, 3, true, 320},
		{"skipping missed nothing", ordinaryTurn, 3, false, 400},
		{"an ordinary visit", ordinaryTurn, 0, true, 400},
	} {
		page := hub(8)
		page.Skips = test.skips
		if got := nextThreshold(page, byChildren, test.turn, test.changed); got != test.want {
			t.Errorf("%s: nextThreshold = %d, want %d", test.name, got, test.want)
		}
	}
}

func TestThresholdKeepsItsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		page := hub(8)
		for range rapid.IntRange(0, 60).Draw(t, "turns") {
			page.Threshold = nextThreshold(page, byChildren, fullTurn, rapid.Bool().Draw(t, "changed"))
			if page.Threshold < 50 || page.Threshold > 950 {
				t.Fatalf("threshold %d permille, want within 50 and 950", page.Threshold)
			}
		}
	})
}

// On a made-up site whose hubs change mostly when many of their children do, asking the children first finds more
// changes of the hubs per fetch than visiting them at every turn, and, at the same number of fetches, than never asking
// the children and visiting every so many turns.
func TestChildrenTellWhenAParentIsWorthAFetch(t *testing.T) {
	t.Parallel()
	children := runHubs(func(page *models.LeasedPage) parentTurn { return turnOf(page, byChildren) })
	always := runHubs(func(*models.LeasedPage) parentTurn { return ordinaryTurn })
	spend := float64(children.fetches) / float64(children.turns)
	owed := 0.0
	never := runHubs(func(*models.LeasedPage) parentTurn {
		if owed += spend; owed < 1 {
			return skippedTurn
		}
		owed--
		return ordinaryTurn
	})
	t.Logf("changes found / fetches: by children %s, at every turn %s, never by children %s", children, always, never)
	if children.yield() <= 2*always.yield() || children.yield() <= 1.05*never.yield() || children.found < always.found*99/100 {
		t.Errorf("by children %s, want twice the yield of %s, more than that of %s, and hardly a change missed",
			children, always, never)
	}
	if children.stale >= never.stale/2 {
		t.Errorf("hubs were out of date for %d turns by children, %d never by children, want less than half", children.stale, never.stale)
	}
	if diff := float64(never.fetches)/float64(children.fetches) - 1; diff < -0.02 || diff > 0.02 {
		t.Errorf("the baseline spent %d fetches, want as many as %d", never.fetches, children.fetches)
	}
}

// hubRun counts fetches, those that found a change, and turns after which a hub was out of date.
type hubRun struct{ turns, fetches, found, stale int }

func (r hubRun) yield() float64 { return float64(r.found) / float64(r.fetches) }

func (r hubRun) String() string {
	return fmt.Sprintf("%d/%d = %.3f (stale %d)", r.found, r.fetches, r.yield(), r.stale)
}

// runHubs runs 50 hubs over 2,000 turns. In a busy turn (one of eight) most of a hub's children change, and mostly the
// hub with them; in a quiet one hardly anything does.
func runHubs(decide func(*models.LeasedPage) parentTurn) hubRun {
	random := rand.New(rand.NewPCG(1, 2))
	var run hubRun
	for range 50 {
		page, dirty := hub(0), false
		for range 2000 {
			run.turns++
			busy := random.IntN(8) == 0
			for range 20 {
				if (busy && random.Float64() < 0.8 || random.Float64() < 0.01) && page.Share.Changed < 20 {
					page.Share.Changed++
				}
			}
			dirty = dirty || busy && random.Float64() < 0.8 || random.Float64() < 0.01
			turn := decide(page)
			if turn == skippedTurn {
				page.Skips++
				run.stale += int(bit(dirty))
				continue
			}
			run.fetches++
			if dirty {
				run.found++
			}
			page.Threshold = nextThreshold(page, byChildren, turn, dirty)
			page.Stats.Bits = page.Stats.Bits<<1 | bit(dirty)
			if dirty || turn == fullTurn {
				page.Share.Changed = 0 // its links were read again
			}
			page.Skips, dirty = 0, false
		}
	}
	return run
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
