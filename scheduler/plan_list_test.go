package scheduler

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// listPage is a list with a good copy, on a host of a hundred pages.
func listPage() (models.Page, *models.Lease) {
	p := livePage()
	p.Entries = 90
	l := testLease(p)
	l.Host.Pages = 100
	return p, l
}

// reading is a visit that finds other things in a list.
func reading(told ...models.Told) models.Outcome {
	out := with(models.Changed, "list")
	out.At, out.LinksKnown = noon, false
	out.Listing = &models.Listing{Entries: 91, Told: told}
	out.Links = []models.FoundLink{{URL: "http://one.test/new", Host: "one.test"}}
	return out
}

// A list leads to pages one level below it, and they are not its children.
func TestListsLeadToPages(t *testing.T) {
	t.Parallel()
	p, lease := listPage()
	out := reading(models.Told{PageID: 1, At: 5})
	r := testPlanner(t, testConfig()).Plan(lease, p, &out, noon)
	if len(r.Discovered) != 1 || r.Discovered[0].Page.Level != p.Level+1 || r.LinksKnown || r.Page.Children != 0 || r.Page.Entries != 91 {
		t.Errorf("discovered %+v, links known %v, page %+v", r.Discovered, r.LinksKnown, r.Page)
	}
	out = models.Outcome{Kind: models.RobotsFetched, At: noon, Sent: 1, Links: out.Links}
	r = testPlanner(t, testConfig()).Plan(testLease(livePage()), livePage(), &out, noon)
	if len(r.Discovered) != 1 || r.Discovered[0].Page.Level != 1 || r.Page.DueAt != livePage().DueAt {
		t.Errorf("a robots.txt leads to %+v, the page is due at %v", r.Discovered, r.Page.DueAt)
	}
	out = models.Outcome{Kind: models.Probed, At: noon, Sent: 1, Looked: true, Links: out.Links}
	r = testPlanner(t, testConfig()).Plan(testLease(livePage()), livePage(), &out, noon)
	if tried := r.Host.Trials; len(r.Discovered) != 1 || tried.SitemapAt != models.At(noon) || !tried.SitemapFound || tried.ProbedAt != 0 {
		t.Errorf("a look for a list leads to %+v, and is remembered as %+v", r.Discovered, tried)
	}
	other := with(models.Changed, "a page")
	other.At = noon
	if r := testPlanner(t, testConfig()).Plan(lease, p, &other, noon); r.Page.Entries != 0 {
		t.Errorf("a list that became a page names %d pages", r.Page.Entries)
	}
	same := same
	if r := plan(t, p, same); r.Page.Entries != 90 {
		t.Errorf("a list that did not change names %d pages", r.Page.Entries)
	}
}

// A list is believed as far as it was right.
func TestListsAreBelievedAsFarAsTheyWereRight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trial           models.Trial
		forward, marked int
	}{
		"new":                    {models.Trial{}, 5, 0},
		"right four times":       {models.Trial{Hits: 4}, 5, 0},
		"right five times":       {models.Trial{Hits: 5}, 25, 2},
		"right many times":       {models.Trial{Hits: 500, FalseAlarms: 20}, 2000, 2},
		"wrong just now":         {models.Trial{Hits: 500, InARow: 1}, 25, 0},
		"wrong too often":        {models.Trial{Hits: 50, FalseAlarms: 40}, 5, 0},
		"not trusted":            {models.Trial{Hits: 3, FalseAlarms: 3, DistrustedAt: 1}, 1, 0},
		"not trusted, by chance": {models.Trial{Hits: 50, FalseAlarms: 3, DistrustedAt: 1}, 5, 0},
	} {
		p, lease := listPage()
		lease.Host.Trials.By[models.HintSitemap] = test.trial
		out := reading(models.Told{PageID: 1, At: 5}, models.Told{PageID: 2, At: 5})
		r := testPlanner(t, testConfig()).Plan(lease, p, &out, noon)
		want := models.Telling{At: models.At(noon), Forward: test.forward, Marked: test.marked}
		if diff := cmp.Diff(want, r.Telling); diff != "" || len(r.Told) != 2 {
			t.Errorf("%s: %d told (-want +got):\n%s", name, len(r.Told), diff)
		}
	}
}

// What a visit shows of the lists goes into the ledger: once for each time that a page was told of.
func TestLedgerOfLists(t *testing.T) {
	t.Parallel()
	changed := with(models.Changed, "new")
	for name, test := range map[string]struct {
		told models.Instant // beside the last visit
		out  models.Outcome
		rule models.Rule
		want models.Trial
	}{
		"told, changed":            {1, changed, models.RuleSitemap, models.Trial{Hits: 1}},
		"told, gone":               {1, models.Outcome{Kind: models.Gone, Status: 410, Sent: 1}, models.RuleSitemap, models.Trial{Hits: 1}},
		"told, missing":            {1, models.Outcome{Kind: models.Missing, Status: 404, Sent: 1}, models.RuleSitemap, models.Trial{Hits: 1}},
		"told, not modified":       {1, same, models.RuleSitemap, models.Trial{FalseAlarms: 1, InARow: 1}},
		"told, noise":              {1, with(models.Noise, "x"), models.RuleBudget, models.Trial{FalseAlarms: 1, InARow: 1}},
		"told, failed":             {1, broken, models.RuleSitemap, models.Trial{}},
		"told before, changed":     {-1, changed, models.RulePolicy, models.Trial{Misses: 1}},
		"told before, not changed": {-1, same, models.RulePolicy, models.Trial{}},
		"perhaps, changed":         {-1, changed, models.RuleSitemap, models.Trial{}},
	} {
		p := livePage()
		p.ToldAt, p.Rule = p.Stats.VisitedAt+test.told, test.rule
		got := plan(t, p, test.out).Host.Trials.By[models.HintSitemap]
		got.Since, got.DistrustedAt = 0, 0
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := plan(t, livePage(), changed).Host.Trials.By[models.HintSitemap]; got != (models.Trial{}) {
		t.Errorf("a page that no list tells of: %+v", got)
	}
}

// What a visit shows of a publisher's word goes into a ledger of its own.
func TestLedgerOfPublishers(t *testing.T) {
	t.Parallel()
	changed := with(models.Changed, "new")
	for name, test := range map[string]struct {
		said  models.Instant // beside the last visit
		out   models.Outcome
		state models.PageState
		rule  models.Rule
		want  models.Trial
	}{
		"said, changed":            {1, changed, models.StateLive, 0, models.Trial{Hits: 1}},
		"said, gone":               {1, models.Outcome{Kind: models.Gone, Status: 410, Sent: 1}, models.StateLive, 0, models.Trial{Hits: 1}},
		"said, still gone":         {1, models.Outcome{Kind: models.Gone, Status: 410, Sent: 1}, models.StateGone, 0, models.Trial{FalseAlarms: 1, InARow: 1}},
		"said, back":               {1, with(models.SameBytes, "x"), models.StateGone, 0, models.Trial{Hits: 1}},
		"said, not modified":       {1, same, models.StateLive, 0, models.Trial{FalseAlarms: 1, InARow: 1}},
		"said, failed":             {1, broken, models.StateLive, 0, models.Trial{}},
		"said before, changed":     {-1, changed, models.StateLive, 0, models.Trial{Misses: 1}},
		"said before, not changed": {-1, same, models.StateLive, 0, models.Trial{}},
		"said during the visit":    {-1, changed, models.StateLive, models.RuleAnnounced, models.Trial{}},
	} {
		p := livePage()
		p.AnnouncedAt, p.State = p.Stats.VisitedAt+test.said, test.state
		if test.rule != 0 {
			p.Rule = test.rule
		}
		trials := plan(t, p, test.out).Host.Trials
		got := trials.By[models.HintAnnounced]
		got.Since, got.DistrustedAt = 0, 0
		if diff := cmp.Diff(test.want, got); diff != "" || trials.By[models.HintSitemap] != (models.Trial{}) {
			t.Errorf("%s (-want +got):\n%s; of lists %+v", name, diff, trials.By[models.HintSitemap])
		}
	}
}

// A publisher who announces again and again what is gone, or leads elsewhere as it did, is wrong each time: such visits gain nothing.
// What he announced once counts once.
func TestWhatStaysAwayIsAnnouncedInVain(t *testing.T) {
	t.Parallel()
	never := livePage() // it was never there
	never.Stats, never.Version, never.State, never.Rule = models.ChangeStats{}, 0, models.StateMissing, models.RuleMissing
	for name, out := range map[string]models.Outcome{
		"gone":  {Kind: models.Gone, Status: 410, Sent: 1},
		"404":   {Kind: models.Missing, Status: 404, Sent: 1},
		"moved": {Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "http://one.test/elsewhere"},
	} {
		for times, want := range map[int]models.Trial{1: {Hits: 1}, 5: {Hits: 1, FalseAlarms: 4}} {
			if got := announcedTimes(t, livePage(), out, times); got != want {
				t.Errorf("%s, announced before %d of five visits: %+v, want %+v", name, times, got, want)
			}
		}
	}
	missing := models.Outcome{Kind: models.Missing, Status: 404, Sent: 1}
	if got, want := announcedTimes(t, never, missing, 3), (models.Trial{FalseAlarms: 3}); got != want {
		t.Errorf("a page that was never there, announced before three of five visits: %+v, want %+v", got, want)
	}
	if got, want := announcedTimes(t, never, with(models.First, "x"), 1), (models.Trial{Hits: 1}); got != want {
		t.Errorf("a page that came: %+v, want %+v", got, want)
	}
}

// announcedTimes is what five visits with the same outcome show of a publisher who announced the page before the first ones.
func announcedTimes(t *testing.T, p models.Page, out models.Outcome, times int) models.Trial {
	t.Helper()
	lease := testLease(p)
	for i := range 5 {
		now := noon.AddDate(0, 0, i)
		if i < times {
			p.AnnouncedAt, p.Rule = models.At(now.Add(-time.Hour)), models.RuleAnnounced
		}
		out.At = now
		r := testPlanner(t, testConfig()).Plan(lease, p, &out, now)
		p, lease.Host = r.Page, r.Host
	}
	got := lease.Host.Trials.By[models.HintAnnounced]
	got.Since, got.DistrustedAt, got.InARow = 0, 0, 0
	return got
}

// A publisher is believed of few pages at first, of none where he lies, of ever more where he is right.
func TestPublishersAreBelievedAsFarAsTheyWereRight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trial models.Trial
		pages int32
		want  int
	}{
		"nothing is known":         {models.Trial{}, 1000, listSample},
		"of few pages":             {models.Trial{}, 4, listSample},
		"right":                    {models.Trial{Hits: 500}, 1000, 2000},
		"right, and wrong of late": {models.Trial{Hits: 500, FalseAlarms: 1, InARow: 1}, 1000, 250},
		"wrong":                    {models.Trial{FalseAlarms: 3, DistrustedAt: 1}, 1000, 0},
		"mostly right":             {models.Trial{Hits: 50, FalseAlarms: 3, DistrustedAt: 1}, 1000, listSample},
	} {
		h := models.Host{Pages: test.pages}
		h.Trials.By[models.HintAnnounced] = test.trial
		if got := Announced(&h); got != test.want {
			t.Errorf("%s: %d pages, want %d", name, got, test.want)
		}
	}
}

// Under the policy adaptive a list is read as often as its pages pay for, less often the longer it says nothing, and rarely
// where it lies.
func TestListsAreReadAsOftenAsTheyTell(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy = "adaptive"
	planner := testPlanner(t, c)
	every := func(p models.Page, lease *models.Lease, out models.Outcome) (time.Duration, models.Rule) {
		r := planner.Plan(lease, p, &out, noon)
		return r.Page.DueAt.Time().Sub(noon), r.Page.Rule
	}
	p, lease := listPage()
	if got, rule := every(p, lease, reading()); got != 6*time.Hour || rule != models.RuleList {
		t.Errorf("a list that says something is read after %v by %v, want a cycle", got, rule)
	}
	p.Wanted = 10 * time.Hour
	if got, rule := every(p, lease, same); got != 20*time.Hour || rule != models.RuleList {
		t.Errorf("one that says nothing new is read after %v by %v, want twice the last time", got, rule)
	}
	lease.Host.Trials.By[models.HintSitemap] = models.Trial{FalseAlarms: 3, DistrustedAt: 1}
	if got, _ := every(p, lease, reading()); got < 40*time.Hour {
		t.Errorf("one that lies is read after %v", got)
	}
}

// A list is read so often that what a reading costs and what its pages wait for it are least together: √(2p/a) at a price of p days for a
// pages that it tells of a day, of as many at most as the budget visits.
func TestListsAreReadAsOftenAsItPays(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy, c.Sites[0].Settings.FRMax = "adaptive", 1000
	for name, test := range map[string]struct {
		price float64 // days
		told  int     // a day
		want  float64 // days
	}{
		"one a day":                    {8, 1, 4},
		"four a day":                   {8, 4, 2},
		"more than the budget follows": {8, 1000, 1},
		"cheap visits":                 {0.02, 4, 0.25}, // a cycle
	} {
		planner := testPlanner(t, c)
		planner.purses = new(purses)
		planner.purses.terms.Store(&terms{all: term{allowance: allowance{math.Inf(1), math.Inf(1)}, account: allSites, even: 10 * 24 * time.Hour}})
		planner.mind.price(allSites).learn(test.price, 0)
		p, lease := listPage()
		p.Entries, p.Stats.VisitedAt = 160, models.At(noon.AddDate(0, 0, -1))
		out := reading()
		out.Listing.Entries, out.Listing.Told = 160, make([]models.Told, test.told)
		r := planner.Plan(lease, p, &out, noon)
		if got := r.Page.DueAt.Time().Sub(noon).Hours() / 24; math.Abs(got-test.want) > 0.05 {
			t.Errorf("%s: it is read after %.2f days, want %.2f", name, got, test.want)
		}
	}
}

// TestListsOfWhatIsKnown: lists that are found beyond the level are added at it, as nothing else is. One that says nothing new
// of a page that is known is read half as often, also where it names none: then as a list of one page.
func TestListsOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy, c.Sites[0].Settings.Level = "adaptive", 0
	planner := testPlanner(t, c)
	links := []models.FoundLink{{URL: "http://one.test/s.xml", Host: "one.test", List: true}, {URL: "http://one.test/p", Host: "one.test"}}
	found := models.Outcome{Kind: models.RobotsFetched, At: noon, Sent: 1, Links: links}
	r := planner.Plan(testLease(livePage()), livePage(), &found, noon)
	if len(r.Discovered) != 1 || r.Discovered[0].Page.URL != links[0].URL || r.Discovered[0].Page.Level != 0 {
		t.Errorf("discovered %+v, want the list alone, at level 0", r.Discovered)
	}
	many := make([]int64, 90)
	for name, test := range map[string]struct {
		named           []int64
		told            []models.Told
		entries         int32
		earliest, until time.Duration
	}{
		"of nothing that is known": {[]int64{}, nil, 1, 44 * time.Hour, longest},
		"of what is as it was":     {many, nil, 90, 44 * time.Hour, 44 * time.Hour},
		"of what has changed":      {many, []models.Told{{PageID: 7, At: 5}}, 90, 6 * time.Hour, 40 * time.Hour},
	} {
		p, lease := listPage()
		p.Wanted = 22 * time.Hour
		out := reading(test.told...)
		out.Listing.Named, out.Links = test.named, nil
		r := testPlanner(t, c).Plan(lease, p, &out, noon)
		if every := r.Page.Wanted; r.Page.Entries != test.entries || every < test.earliest || every > test.until || r.Page.Rule != models.RuleList {
			t.Errorf("%s: %d entries, read again after %v by %v; want %d, %v to %v", name, r.Page.Entries, every, r.Page.Rule, test.entries, test.earliest, test.until)
		}
	}
}

// TestListsGoToTheSiteThatAdds: a list that is found by, or was read for, a site that follows no links belongs to another that adds what it names, where
// there is one, however late that was set up.
func TestListsGoToTheSiteThatAdds(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Level = 0
	follows := c.Sites[0]
	follows.ID, follows.URL, follows.Settings.Level = 2, "http://one.test/docs/?start", 10
	c.Sites = append(c.Sites, follows)
	planner := testPlanner(t, c)
	links := []models.FoundLink{{URL: "http://one.test/docs/s.xml", Host: "one.test", List: true}, {URL: "http://one.test/s.xml", Host: "one.test", List: true}}
	found := models.Outcome{Kind: models.RobotsFetched, At: noon, Sent: 1, Links: links}
	r := planner.Plan(testLease(livePage()), livePage(), &found, noon)
	if d := r.Discovered; len(d) != 2 || d[0].Page.SiteID != 2 || d[0].Page.Level != 1 || d[1].Page.SiteID != 1 || d[1].Page.Level != 0 {
		t.Fatalf("discovered %+v, want the first for site 2 at level 1, the other for site 1 at level 0", r.Discovered)
	}
	for _, url := range []string{"http://one.test/docs/s.xml", "http://one.test/s.xml"} {
		p, lease := listPage()
		p.URL, p.ID, p.Level = url, models.PageID(url), 0
		r := planner.Plan(lease, p, &same, noon)
		given := url == links[0].URL
		if got := r.Page; given != (got.SiteID == 2 && got.Level == 1 && got.Entries == 0 && got.ETag == "" && got.Digest.IsZero() && got.DueAt == models.At(noon)) ||
			!given && (got.SiteID != 1 || got.Entries != 90 || got.Digest.IsZero()) {
			t.Errorf("%s: given away %v, want %v: %+v", url, got.SiteID == 2, given, got)
		}
	}
}

// A page that lists told of and that stays away confirms them once.
func TestAPageThatStaysAwayConfirmsListsOnce(t *testing.T) {
	t.Parallel()
	p := livePage()
	p.ToldAt = p.Stats.VisitedAt + 1
	lease, hits := testLease(p), uint16(0)
	for i, out := range []models.Outcome{{Kind: models.Missing, Status: 404, Sent: 1}, {Kind: models.Missing, Status: 404, Sent: 1},
		{Kind: models.Gone, Status: 410, Sent: 1}, {Kind: models.Gone, Status: 410, Sent: 1}} {
		out.At = noon.AddDate(0, 0, i)
		r := testPlanner(t, testConfig()).Plan(lease, p, &out, out.At)
		p, lease.Host, hits = r.Page, r.Host, r.Host.Trials.By[models.HintSitemap].Hits
	}
	if hits != 1 {
		t.Errorf("four visits to a page that is not there any more are %d times what a list said", hits)
	}
}

// Where a budget visits pages hardly ever, lists are read as seldom.
func TestListsOfATinyBudgetAreReadSeldom(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy = "adaptive"
	c.Sites[0].Settings.FRMax = 100_000
	for even, shortest := range map[time.Duration]time.Duration{longest: 300 * 24 * time.Hour, 80 * 365 * 24 * time.Hour: 300 * 24 * time.Hour} {
		planner := testPlanner(t, c)
		planner.purses = new(purses)
		planner.purses.terms.Store(&terms{all: term{allowance: allowance{math.Inf(1), math.Inf(1)}, account: allSites, even: even}})
		planner.mind.price(allSites).learn(365, 0) // so few visits are dear: one must bring a page a year
		for name, trial := range map[string]models.Trial{"sound": {}, "lying": {FalseAlarms: 3, DistrustedAt: 1}} {
			p, lease := listPage()
			p.Entries = 2
			lease.Host.Pages = 2
			lease.Host.Trials.By[models.HintSitemap] = trial
			out := reading()
			out.Listing.Entries = 2
			if r := planner.Plan(lease, p, &out, noon); r.Page.DueAt.Time().Sub(noon) < shortest {
				t.Errorf("%s: with a visit to each page in %v a list of two is read after %v", name, even, r.Page.DueAt.Time().Sub(noon))
			}
		}
	}
}

// acquainted is a store that knows some pages, each in its state.
type acquainted struct {
	Store
	states map[models.PageKey]models.PageState
}

func (a acquainted) Whereabouts(_ context.Context, pages []models.PageKey) (map[models.PageKey]models.Whereabouts, error) {
	found := make(map[models.PageKey]models.Whereabouts)
	for _, k := range pages {
		if s, known := a.states[k]; known {
			found[k] = models.Whereabouts{PageKey: k, State: s}
		}
	}
	return found, nil
}

// TestListsOfPagesThatAreVisited: of what a list says that adds no pages counts what it says of those that are visited, not of what is gone
// or out of scope, such as all pages beyond a level that was lowered.
func TestListsOfPagesThatAreVisited(t *testing.T) {
	t.Parallel()
	w := &Worker{Config: Config{Store: acquainted{states: map[models.PageKey]models.PageState{
		{Bucket: 3, ID: 1}: models.StateLive, {Bucket: 3, ID: 2}: models.StateGone, {Bucket: 3, ID: 3}: models.StateExcluded, {Bucket: 4, ID: 4}: models.StateLive,
		{Bucket: 3, ID: 5}: models.StateNew, {Bucket: 3, ID: 6}: models.StateMissing}}}}
	l := &models.Listing{Named: []int64{1, 2, 3, 4, 5, 6, 7}, Told: []models.Told{{PageID: 1}, {PageID: 2}, {PageID: 3}, {PageID: 7}}}
	w.onlyKnown(t.Context(), &models.Host{Bucket: 3}, l)
	if want := []models.Told{{PageID: 2}}; !slices.Equal(l.Gone, want) {
		t.Errorf("of what is gone a list tells of %v, want %v", l.Gone, want)
	}
	if !slices.Equal(l.Named, []int64{1, 5, 6}) || len(l.Told) != 1 || l.Told[0].PageID != 1 {
		t.Errorf("a list names %v and tells of %v, want 1, 5 and 6, and of 1", l.Named, l.Told)
	}
}
