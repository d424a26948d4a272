package scheduler

import (
	"math"
	"slices"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// listWalk is a walk at noon over a host whose lists proved to be worth that, at a price of half a day.
func listWalk(t *testing.T, lists models.Trial) *walk {
	t.Helper()
	c := testConfig()
	c.Sites[0].Settings.Policy = "adaptive"
	m := NewMind(nil)
	m.price(allSites).learn(0.5, 0)
	p := testPlanner(t, c).with(m, nil)
	crowd := &crowd{Crowd: new(changerate.Crowd), trusted: tellers{changerate.Lists: lists.Believed()}}
	return &walk{mind: m, planner: p, crowd: crowd, now: noon, payer: allSites, lists: lists}
}

// toldPage is a page that a list told of an hour ago, which is due since then.
func toldPage(changes, days float32) models.Page {
	p := livePage()
	p.Evidence = models.Evidence{Changes: changes, Days: days}
	p.ToldAt, p.DueAt, p.Rule = models.At(noon.Add(-time.Hour)), models.At(noon.Add(-time.Hour)), models.RuleSitemap
	return p
}

func readList(dueFor time.Duration) models.Page {
	p, _ := listPage()
	p.DueAt, p.Rule = models.At(noon.Add(-dueFor)), models.RuleList
	return p
}

var provenLists = models.Trial{Hits: 100, Misses: 5, FalseAlarms: 2}

// What lists say passes what waits, the further the more it is worth and the more they were right, but never further than so
// far; and it is moved once.
func TestWhatListsSayPassesOthers(t *testing.T) {
	t.Parallel()
	edited := func(p models.Page, edit func(*models.Page)) models.Page { edit(&p); return p }
	steady, restless := toldPage(2, 200), toldPage(4000, 100)
	doubted, liar := models.Trial{Hits: 6, FalseAlarms: 60, DistrustedAt: 5}, models.Trial{Hits: 0, FalseAlarms: 5000, DistrustedAt: 5}
	const scale = 6 * time.Hour // a cycle
	for name, test := range map[string]struct {
		lists       models.Trial
		page        models.Page
		least, most time.Duration // how long before noon it is due then; 0: it stays
	}{
		"a page that will stay as it is":  {provenLists, steady, mostAhead * scale, mostAhead * scale},
		"one that changes all day":        {provenLists, restless, 0, 0},
		"said by a list that was wrong":   {doubted, toldPage(4, 20), time.Hour, mostAhead*scale - 1},
		"said by a list that lies":        {liar, toldPage(4, 20), 0, 0},
		"not said for sure":               {provenLists, edited(toldPage(30, 20), func(p *models.Page) { p.ToldAt = 0 }), time.Hour, mostAhead*scale - 1},
		"due already when it was told of": {provenLists, edited(steady, func(p *models.Page) { p.Rule = models.RulePolicy }), mostAhead * scale, mostAhead * scale},
		"whose copy is lost":              {liar, edited(steady, func(p *models.Page) { p.Rule, p.Lost, p.ToldAt = models.RuleLost, true, 0 }), mostAhead * scale, mostAhead * scale},
		"asked for by somebody":           {provenLists, edited(steady, func(p *models.Page) { p.Rule = models.RuleManual }), 0, 0},
		"failing":                         {provenLists, edited(steady, func(p *models.Page) { p.Failures = 1 }), 0, 0},
		"in an older line":                {provenLists, edited(steady, func(p *models.Page) { p.DueAt = models.At(noon.Add(-mostAhead * scale)) }), 0, 0},
		"marked and not due": {provenLists, edited(steady, func(p *models.Page) { p.Rule, p.DueAt = models.RulePolicy, models.At(noon.Add(time.Hour)) }),
			0, 0},
		"a list":                  {provenLists, readList(time.Minute), listAhead * scale, listAhead * scale},
		"a list that never told":  {models.Trial{}, readList(time.Minute), 0, 0},
		"a list that lied":        {doubted, readList(time.Minute), 0, 0},
		"a list before it is due": {provenLists, readList(-time.Minute), 0, 0},
	} {
		w := listWalk(t, test.lists)
		due, ok := w.moved(&test.page)
		if ok != (test.most > 0) {
			t.Errorf("%s: moved: %v, to %v", name, ok, due.DueAt)
			continue
		}
		if !ok {
			continue
		}
		if ahead := noon.Sub(due.DueAt.Time()); ahead < test.least || ahead > test.most {
			t.Errorf("%s: due %v before now, want %v to %v", name, ahead, test.least, test.most)
		}
		if due.Rule != test.page.Rule || due.WasDue != test.page.DueAt || due.Wanted != test.page.Wanted {
			t.Errorf("%s: %+v", name, due)
		}
		test.page.DueAt, w.now = due.DueAt, noon.Add(3*time.Hour)
		if again, ok := w.moved(&test.page); ok {
			t.Errorf("%s: moved again, from %v to %v", name, due.DueAt, again.DueAt)
		}
	}
}

// A page that passes others is not late since the time that it has its place by. One that is late lets others wait where it is worth
// more than they, and none other does: a list least of all, which waits for the budget nearly always.
func TestWhoIsLateLetsOthersWait(t *testing.T) {
	t.Parallel()
	s := testConfig().Sites[0].Settings
	c := &crowd{Crowd: new(changerate.Crowd)}
	list := readList(18 * time.Hour)
	for name, test := range map[string]struct {
		page  models.Page
		since time.Duration // it was told of, until the visit
		price float64       // days of freshness
		waits bool
	}{
		"at once":                {toldPage(4, 20), time.Hour, 0.1, false},
		"late":                   {toldPage(4, 20), 3 * time.Hour, 0.1, true},
		"late and worth less":    {toldPage(4, 20), 3 * time.Hour, 100, false},
		"due already and late":   {toldDue(), 3 * time.Hour, 0.1, true},
		"a list, however late":   {list, 3 * time.Hour, 0.1, false},
		"a page nobody told of":  {livePage(), 3 * time.Hour, 0.1, false},
		"late, all day changing": {toldPage(4000, 100), 3 * time.Hour, 1, false},
	} {
		m := NewMind(nil)
		m.price(allSites).learn(test.price, 0)
		if test.page.ToldAt != 0 {
			test.page.ToldAt, test.page.DueAt = models.At(noon), models.At(noon.Add(-18*time.Hour))
		}
		q := question{page: &test.page, settings: &s, now: noon.Add(test.since), cycle: 6 * time.Hour, ceiling: 1000 * time.Hour}
		before := m.price(allSites).log
		m.served(c, &q, test.price, false)
		if waits := m.price(allSites).log > before; waits != test.waits {
			t.Errorf("%s: lets others wait: %v, want %v", name, waits, test.waits)
		}
	}
}

// toldDue is a page that was due when a list told of it.
func toldDue() models.Page {
	p := toldPage(4, 20)
	p.Rule = models.RulePolicy
	return p
}

// A page that a list told of and that waits on, because it is not worth a visit or there were too many, has the place of its worth,
// and visits look for all of its changes.
func TestWhatIsToldAndWaitsIsPlacedByItsWorth(t *testing.T) {
	t.Parallel()
	w := listWalk(t, provenLists)
	p := toldPage(4, 20)
	p.Rule, p.DueAt = models.RulePolicy, models.At(noon.Add(1000*time.Hour))
	w.crowd.tell(changerate.Lists, true, 0.5)
	if got := w.crowd.recall(&p); got != 0 {
		t.Errorf("visits look for %v less of its changes", got)
	}
	due, ok := w.moved(&p)
	if !ok || due.DueAt >= p.DueAt || due.Rule != models.RulePolicy {
		t.Errorf("due in 1000 h it is moved: %v, to %v by %v", ok, due.DueAt, due.Rule)
	}
}

// tell has visits find that a share of the changes is told of, as nearly as they can.
func (c *crowd) tell(by changerate.Teller, named bool, share float64) {
	sure := changerate.Forecast{Rate: changerate.Gamma{Shape: 1e6, Days: 1e7}, Elapsed: 0.1} // a hundredth of a change is expected
	missed := 0.0
	for range 30_000 {
		missed += 0.01 * (1 - share)
		c.Sought(by, named, sure, missed >= 1)
		missed -= math.Floor(missed)
	}
}

// Lists and publishers are relied on as far as visits found that they tell of changes, and only where they are believed.
func TestRecall(t *testing.T) {
	t.Parallel()
	sound := models.Trial{Hits: 50, FalseAlarms: 3}
	for name, test := range map[string]struct {
		trial models.Trial
		share float64 // of the changes that are told of
		want  float64
	}{
		"half":             {sound, 0.5, 0.5},
		"all":              {sound, 1, 0.97},
		"nothing known":    {sound, -1, 0},
		"not often enough": {models.Trial{Hits: 4}, 0.5, 0},
		"not believed":     {models.Trial{Hits: 50, DistrustedAt: 1}, 0.5, 0},
		"often wrong":      {models.Trial{Hits: 50, FalseAlarms: 30}, 0.5, 0},
	} {
		h := models.Host{}
		h.Trials.By[models.HintSitemap] = test.trial
		c := crowd{Crowd: new(changerate.Crowd), trusted: tellersOf(&h)}
		if test.share >= 0 {
			c.tell(changerate.Lists, true, test.share)
		}
		if got := c.recall(&models.Page{ToldAt: 1}); math.Abs(got-test.want) > 0.05 {
			t.Errorf("%s: recall %v, want %v", name, got, test.want)
		}
	}
}

// Of a page that lists tell of, visits look for the changes that they leave out. So they do of one that lists did not tell of yet, but
// as far as visits to such pages found that they would.
func TestVisitsLookForWhatGoesUntold(t *testing.T) {
	t.Parallel()
	w := listWalk(t, provenLists)
	page := livePage()
	page.Evidence = models.Evidence{Changes: 4, Days: 20}
	ask := func() changerate.Forecast {
		w.mind.mu.Lock()
		defer w.mind.mu.Unlock()
		return w.mind.forecast(w.crowd, w.question(&page, w.planner.settings(1)))
	}
	alone := ask()
	w.crowd.tell(changerate.Lists, true, 0.5)
	if got := ask(); got.Told != 0 {
		t.Errorf("of a page that no list told of %v of the changes are told", got.Told)
	}
	page.ToldAt = page.Stats.VisitedAt - 1
	told := ask()
	if got, want := told.Rate.Mean(), alone.Rate.Mean()*(1-told.Told); got < want*0.999 || got > want*1.001 || math.Abs(told.Told-0.5) > 0.05 {
		t.Errorf("rate %v of which %v is told, want %v and half", got, told.Told, want)
	}
	if got, want := told.All().Mean(), alone.Rate.Mean(); got < want*0.999 || got > want*1.001 {
		t.Errorf("rate of all changes %v, want %v", got, want)
	}
	page.ToldAt = 0
	w.crowd.tell(changerate.Lists, false, 0.9)
	if got := ask(); math.Abs(got.Told-0.9) > 0.05 {
		t.Errorf("of a page that no list told of yet %v of the changes are told, want 0.9", got.Told)
	}
}

// Visits teach what goes untold where the tellers are believed and nobody told of the page since the visit before.
func TestWhichVisitsTeachWhatGoesUntold(t *testing.T) {
	t.Parallel()
	sure := changerate.Forecast{Rate: changerate.Gamma{Shape: 100, Days: 1000}, Elapsed: 10}
	seen := models.ChangeStats{Records: 2, VisitedAt: 10}
	for name, test := range map[string]struct {
		page              models.Page
		trusted           tellers
		lists, publishers []bool // named, of which something was learned
	}{
		"lists, told of before":    {models.Page{Stats: seen, ToldAt: 5}, tellers{changerate.Lists: true}, []bool{true}, nil},
		"lists, not told of":       {models.Page{Stats: seen}, tellers{changerate.Lists: true}, []bool{false}, nil},
		"both":                     {models.Page{Stats: seen, AnnouncedAt: 5}, tellers{true, true}, []bool{false}, []bool{true}},
		"told of since":            {models.Page{Stats: seen, ToldAt: 15}, tellers{true, true}, nil, nil},
		"announced since":          {models.Page{Stats: seen, ToldAt: 5, AnnouncedAt: 15}, tellers{true, true}, nil, nil},
		"nobody is to be believed": {models.Page{Stats: seen, ToldAt: 5}, tellers{}, nil, nil},
		"announced since by somebody who is not believed": {models.Page{Stats: seen, ToldAt: 5, AnnouncedAt: 15},
			tellers{changerate.Lists: true}, []bool{true}, nil},
		"brought forward by a list that was not sure": {models.Page{Stats: seen, ToldAt: 5, Rule: models.RuleSitemap},
			tellers{changerate.Lists: true}, nil, nil},
		"brought forward by somebody on trial": {models.Page{Stats: seen, ToldAt: 5, AnnouncedAt: 15, Rule: models.RuleAnnounced},
			tellers{changerate.Lists: true}, nil, nil},
		"asked for": {models.Page{Stats: seen, ToldAt: 5, Rule: models.RuleManual}, tellers{changerate.Lists: true}, nil, nil},
		"a list":    {models.Page{Stats: seen, Entries: 50}, tellers{true, true}, nil, nil},
	} {
		c := crowd{Crowd: new(changerate.Crowd), trusted: test.trusted}
		c.sought(&test.page, sure, false)
		for by, want := range [][]bool{changerate.Lists: test.lists, changerate.Publisher: test.publishers} {
			for _, named := range []bool{true, false} {
				if got := c.Untold(changerate.Teller(by), named) < 1; got != slices.Contains(want, named) {
					t.Errorf("%s: teller %d, of pages named %v, is known: %v", name, by, named, got)
				}
			}
		}
	}
}

// Of a page that lists and its publisher tell of, the share counts of whoever tells of more.
func TestSharesOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	c := crowd{Crowd: new(changerate.Crowd), trusted: tellers{true, true}}
	c.tell(changerate.Lists, true, 0.5)
	c.tell(changerate.Publisher, true, 0.75)
	doubted := crowd{Crowd: c.Crowd, trusted: tellers{changerate.Lists: true}}
	waiting := models.Page{ToldAt: 1, AnnouncedAt: 2, Stats: models.ChangeStats{Records: 1, VisitedAt: 1}}
	if got := doubted.recall(&waiting); math.Abs(got-0.5) > 0.05 {
		t.Errorf("what a publisher says who is not believed leaves %v of what lists tell of", got)
	}
	for name, test := range map[string]struct {
		page models.Page
		want float64
	}{
		"neither":                       {models.Page{}, 0},
		"lists":                         {models.Page{ToldAt: 1}, 0.5},
		"publisher":                     {models.Page{AnnouncedAt: 1}, 0.75},
		"both":                          {models.Page{ToldAt: 1, AnnouncedAt: 1}, 0.75},
		"announced and not visited yet": {waiting, 0},
		"a list that another names":     {models.Page{ToldAt: 1, Entries: 50}, 0},
	} {
		if got := c.recall(&test.page); math.Abs(got-test.want) > 0.05 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// What its publisher says of a page gives it the place of his being right, and not of its host's lists.
func TestAnnouncedPagesHaveTheirPublishersPlace(t *testing.T) {
	t.Parallel()
	place := func(publisher models.Trial) time.Duration {
		w := listWalk(t, models.Trial{Hits: 3, FalseAlarms: 60})
		w.publisher = publisher
		p := toldPage(30, 20)
		p.ToldAt, p.AnnouncedAt, p.Rule = 0, models.At(noon.Add(-time.Hour)), models.RuleAnnounced
		due, ok := w.moved(&p)
		if !ok {
			return 0
		}
		return noon.Sub(due.DueAt.Time())
	}
	right, wrong := place(models.Trial{Hits: 60, FalseAlarms: 3}), place(models.Trial{Hits: 3, FalseAlarms: 60})
	if right <= wrong || right <= time.Hour {
		t.Errorf("a page has its place %v ago where its publisher was right, %v where he was wrong", right, wrong)
	}
}

// What is said of a page that changes faster than the budget can follow brings it no visit; of another one it does.
func TestWhatIsSaidInVainWaits(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy = "adaptive"
	w := NewWorker(Config{Store: counted{new(notes)}, Clock: clock.NewVirtual(noon)}, testPlanner(t, c))
	w.mind.price(allSites).learn(2, 0) // days of freshness
	for name, test := range map[string]struct {
		changes, days float32
		rule          models.Rule
		names         int32 // pages, if it is a list itself
		waits         bool
	}{
		"ten times a day":               {1000, 100, models.RuleAnnounced, 0, true},
		"every ten days":                {10, 100, models.RuleAnnounced, 0, false},
		"ten times a day, by a list":    {1000, 100, models.RuleSitemap, 0, true},
		"every ten days, by a list":     {10, 100, models.RuleSitemap, 0, false},
		"by a list, when it was due":    {1000, 100, models.RulePolicy, 0, true},
		"ten times a day, asked for it": {1000, 100, models.RuleManual, 0, false},
		"due by a parent":               {1000, 100, models.RuleParent, 0, false},
		"due by a promise":              {1000, 100, models.RuleHint, 0, false},
		"due by the end of a pause":     {1000, 100, models.RuleResumed, 0, false},
		"a list, by another":            {1000, 100, models.RuleSitemap, 50000, false},
		"a list, announced":             {1000, 100, models.RuleAnnounced, 50000, false},
		"a list that was due":           {1000, 100, models.RuleList, 50000, false},
	} {
		p := toldPage(test.changes, test.days)
		p.Rule, p.ToldAt, p.AnnouncedAt, p.Entries = test.rule, 0, models.At(noon.Add(-time.Hour)), test.names
		if test.rule != models.RuleAnnounced {
			p.ToldAt = p.AnnouncedAt
		}
		if out, waits := w.waits(t.Context(), w.Planner(), &p, false, noon); waits != test.waits {
			t.Errorf("%s: %+v, want that it waits: %v", name, out, test.waits)
		}
	}
}
