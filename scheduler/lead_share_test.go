package scheduler

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// Sites that ask for little get that, and of what is left the others get the same each.
func TestStretches(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		asks map[int32]float64
		most float64
		want map[int32]float64
	}{
		{map[int32]float64{1: 2, 2: 3}, 6, map[int32]float64{}},
		{map[int32]float64{1: 2, 2: 30, 3: 8}, 12, map[int32]float64{2: 6, 3: 1.6}},
		{map[int32]float64{1: 12}, 3, map[int32]float64{1: 4}},
		{map[int32]float64{1: 12}, math.Inf(1), map[int32]float64{}},
		{map[int32]float64{1: 12}, 0, map[int32]float64{}}, // no price is known yet
	} {
		if diff := cmp.Diff(test.want, stretches(test.asks, test.most)); diff != "" {
			t.Errorf("of %v the sites that ask for %v get so many times less (-want +got):\n%s", test.most, test.asks, diff)
		}
	}
}

// What the pages of a host ask for counts for their own site and its budget, also where two sites have pages there, whichever was visited last.
func TestLeadAsksOfSitesOnOneHost(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites = append(c.Sites, c.Sites[0])
	c.Sites[1].ID, c.Sites[1].Settings.Budget.Requests = 2, config.Rate{PerDay: 5}
	c.Budget.Requests = config.Rate{PerDay: 9}
	money := newPurses(new(notes), clock.NewVirtual(noon))
	money.follow(c)
	m := NewMind(nil)
	page := livePage()
	for i := range int64(6) {
		for visit, since := range []float64{2, 1, 2} {
			m.crowdOf(&page).Led(i, changerate.Finds{At: float64(100 + 2*visit), Since: since, Pages: 4, Worth: 4, Site: int32(1 + i/4)})
		}
	}
	p := testPlanner(t, c).with(m, money)
	all, own := p.leadAsks(allSites), p.leadAsks(models.SiteAccount(2))
	if len(all) != 1 || len(own) != 1 || !(own[2] > 0) || all[1] != 2*own[2] {
		t.Errorf("four such pages of site 1 and two of site 2 ask for %v and %v", all, own)
	}
}
