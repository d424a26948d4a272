package recrawl

import (
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
		{"without children", func(p *models.LeasedPage) { p.Share = models.ChildShare{} }, ordinaryTurn},
		{"never read in full", func(p *models.LeasedPage) { p.FullAt = 0; p.Share.Changed = 20 }, ordinaryTurn},
		{"changed when last seen", func(p *models.LeasedPage) { p.Stats.Bits = 1 }, ordinaryTurn},
		{"seen once", func(p *models.LeasedPage) { p.Stats.Records = 1 }, ordinaryTurn},
		{"failing", func(p *models.LeasedPage) { p.Failures = 1 }, ordinaryTurn},
		{"missing", func(p *models.LeasedPage) { p.State = models.StateMissing }, ordinaryTurn},
		{"asked for by a person", func(p *models.LeasedPage) { p.Rule = models.RuleManual }, ordinaryTurn},
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
// changes of the hubs per fetch than visiting them at every turn, and than only looking again after so many turns.
func TestChildrenTellWhenAParentIsWorthAFetch(t *testing.T) {
	t.Parallel()
	children := hubYield(byChildren, 0.5)
	always := hubYield(config.Parents{}, 0.5)
	never := hubYield(config.Parents{Threshold: 0.95, MaxSkips: 3}, 0) // no child is ever reported changed
	t.Logf("changes found per fetch: by children %.3f, at every turn %.3f, children ignored %.3f", children, always, never)
	if children <= always || children <= never {
		t.Errorf("by children %.3f changes per fetch, want more than at every turn (%.3f) and than ignoring them (%.3f)",
			children, always, never)
	}
}

// hubYield runs 50 hubs over 2,000 turns and returns the changes found per fetch. In a busy turn (one of eight) most of
// a hub's children change, reported with the given probability, and the hub with them; in a quiet one hardly anything.
func hubYield(p config.Parents, reported float64) float64 {
	random := rand.New(rand.NewPCG(1, 2))
	var fetches, found int
	for range 50 {
		page, dirty := hub(0), false
		for range 2000 {
			busy := random.IntN(8) == 0
			for range 20 {
				if busy && random.Float64() < reported*1.6 && page.Share.Changed < 20 {
					page.Share.Changed++
				}
			}
			dirty = dirty || (busy && random.Float64() < 0.8) || random.Float64() < 0.01
			turn := turnOf(page, p)
			if turn == skippedTurn {
				page.Skips++
				continue
			}
			fetches++
			if dirty {
				found++
			}
			page.Threshold = nextThreshold(page, p, turn, dirty)
			page.Stats.Bits = page.Stats.Bits<<1 | bit(dirty)
			if dirty || turn == fullTurn {
				page.Share.Changed = 0 // its links were read again
			}
			page.Skips, dirty = 0, false
		}
	}
	return float64(found) / float64(fetches)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
