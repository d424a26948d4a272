package main

import (
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler"
)

// ruled is a ruling on a page whose last two visits are records, the one before with fr_max before.
func ruled(t *testing.T, before int32, change func(*ruling)) ruling {
	t.Helper()
	calendar, err := scheduler.ParseCycle("6h")
	if err != nil {
		t.Fatal(err)
	}
	r := ruling{settings: config.Default().Defaults, top: config.Default().Defaults.FRMax, calendar: calendar, cycle: "6h", now: filledNow,
		page:    models.Page{Rule: models.RulePolicy, FRMax: 2, DueAt: models.At(filledNow.Add(time.Hour))},
		history: []models.Visit{{Number: 45, Kind: models.NotModified}, {Number: 44, Kind: models.Changed, FRMax: before}}}
	r.settings.Vary = 0
	change(&r)
	return r
}

// The worked example of the classic rule, and what a person is told where its arithmetic ends differently.
func TestClassicInWords(t *testing.T) {
	t.Parallel()
	example := models.ChangeStats{Records: 45, Changes: 20, Bits: 0b1010101010101010101}
	tests := map[string]struct {
		change func(*ruling)
		before int32
		want   string
	}{
		"worked example": {func(r *ruling) { r.page.Stats = example }, 3,
			"classic: 20 records looked at, 10 differ, b = 20 / 10 = 2: (3 + 2) / 2 = 2, that is 2 cycles of 6 h"},
		"none differs": {func(r *ruling) { r.page.Stats = models.ChangeStats{Records: 5}; r.page.FRMax = 4 }, 4,
			"classic: 5 records looked at, none differs, b = 5: (4 + 5) / 2 = 4, that is 4 cycles of 6 h"},
		"at the ceiling": {func(r *ruling) {
			r.page.Stats, r.page.FRMax, r.settings.FRMax = models.ChangeStats{Records: 30}, 10, 10
		}, 90, "(90 + 20) / 2 = 55, held at the ceiling of 10, that is 10 cycles of 6 h"},
		"cron":                    {func(r *ruling) { r.page.Stats = example; r.cycle = "0 */6 * * *" }, 3, "that is 2 cycles of 0 */6 * * *"},
		"other interval in force": {func(r *ruling) { r.page.Stats = example; r.page.FRMax = 50 }, 3, "so b = 20 / 10 = 2; fr_max is 50 cycles (12 d)"},
		"history pruned":          {func(r *ruling) { r.page.Stats = example; r.history = r.history[:1] }, 3, "fr_max is 2 cycles (12 h)"},
		"no record":               {func(r *ruling) { r.history = nil }, 3, "nothing to go by yet, so it stays at 2 cycles (12 h)"},
		"fixed":                   {func(r *ruling) { r.settings.Policy = "fixed" }, 3, "fixed: every 2 cycles (12 h)"},
		"varied":                  {func(r *ruling) { r.page.Stats, r.settings.Vary = example, 0.15 }, 3, ", less up to 15 % so that the time of day varies"},
	}
	for name, test := range tests {
		if got := ruled(t, test.before, test.change).sentence(); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", name, got, test.want)
		}
	}
}

// Of a page that is gone it is said whether something named it, and what came of that.
func TestNamedPagesInWords(t *testing.T) {
	t.Parallel()
	day := func(n int) models.Instant { return models.At(filledNow.AddDate(0, 0, -n)) }
	for name, test := range map[string]struct {
		rule  models.Rule
		named models.Instant
		want  string
	}{
		"due":           {models.RuleNamed, day(1), "it may be there again"},
		"never named":   {models.RuleGone, 0, "sooner once something names it that does not now"},
		"named before":  {models.RuleGone, day(30), "sooner once something names it that does not now"},
		"in vain":       {models.RuleGone, day(10), "that did not before, and it was not there"},
		"not believed":  {models.RuleGone, day(1), "for nothing too often on its host"},
		"its requisite": {models.RuleNamed, 0, "which none did for a while"},
	} {
		got := ruled(t, 3, func(r *ruling) {
			p := &r.page
			p.State, p.Rule, p.MissingSince, p.TriedAt, p.NamedAt = models.StateGone, test.rule, day(20), day(5), test.named
		}).sentence()
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", name, got, test.want)
		}
	}
}

// Every rule has a sentence with the numbers that a person would ask for.
func TestRulesInWords(t *testing.T) {
	t.Parallel()
	window, err := config.ParseWindow("22:00-06:00 Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	want := map[models.Rule]string{
		models.RuleStart:    "starts with 2 cycles (12 h)",
		models.RulePolicy:   "classic: ",
		models.RuleHint:     "until Sun 22 Nov 12:00 (Expires or max-age)",
		models.RuleWindow:   "22:00-06:00 Europe/Berlin",
		models.RuleBackoff:  "(server-error), 3 failures in a row",
		models.RuleHost:     "host rests",
		models.RuleParent:   "brought forward",
		models.RuleMissing:  "it answers 404 Not Found, twice since Fri 20 Nov 12:00; it counts as gone after 3 visits over at least 2 d",
		models.RuleGone:     "every 30 d",
		models.RuleExcluded: "may not be asked for",
		models.RulePaused:   "paused",
		models.RuleManual:   "visited now",
		models.RuleResumed:  "is resumed",
		models.RuleGuarded:  "has not been found since Fri 20 Nov 12:00 (2 visits: it answers 404 Not Found), and would be gone; but",
		models.RuleApproved: "has not been found since Fri 20 Nov 12:00, and somebody approved",
		models.RuleLost:     "the archive has lost its body, so it is fetched anew, as soon as the budget allows",
		models.RuleUnnamed:  "no page's copy has named it since Fri 20 Nov 12:00: it is not visited until one does again, or by recrawld visit; its versions stay",
		models.RuleNamed:    "a page names it again",
		models.RuleOriginal: "which is not known any more; its next visit makes it a page of its own",
		models.RuleAside:    "it is one of the pages by which it is known what all of its family do, ask for noindex and nofollow or are other addresses of pages that are visited",
		models.RuleStale:    "a cache answered at Fri 20 Nov 12:00 with what it may not keep that long",
	}
	for rule := models.RuleStart; rule <= models.Rules(); rule++ {
		if rule > models.RuleManual && rule < models.RuleResumed {
			continue // these have tests of their own
		}
		r := ruled(t, 3, func(r *ruling) {
			r.page.Rule, r.page.Failures, r.page.Class = rule, 3, models.ServerError
			r.page.FreshUntil, r.page.Wanted = models.At(filledNow.Add(day)), 12*time.Hour
			r.page.MissingVisits, r.page.MissingSince, r.page.UnnamedAt = 2, models.At(filledNow.Add(-day)), models.At(filledNow.Add(-day))
			r.page.TriedAt = models.At(filledNow.Add(-day))
			r.settings.Windows = []config.Window{window}
		})
		if got := r.sentence(); want[rule] == "" || !strings.Contains(got, want[rule]) {
			t.Errorf("rule %s: %q, want %q in it", rule, got, want[rule])
		}
	}
}

// A page that was a duplicate is not said to be one for ever: what became of the other one since is known.
func TestDuplicateInWords(t *testing.T) {
	t.Parallel()
	const other = "https://docs.example.org/a"
	original := models.Page{URL: other, State: models.StateLive, Stats: models.ChangeStats{ChangedAt: models.At(filledNow.Add(-2 * day))}}
	for want, change := range map[string]func(*models.Page){
		"its content is that of " + other + ", which is visited for both; it is looked at when that one changes, and at least every 30 d": func(*models.Page) {},
		"was that of " + other + " when it was last looked at; that one has changed since, Fri 20 Nov 18:00;":                             func(o *models.Page) { o.Stats.ChangedAt = models.At(filledNow.Add(-18 * time.Hour)) },
		"was that of " + other + ", which is gone by now; its next visit":                                                                 func(o *models.Page) { o.State = models.StateGone },
		"was that of " + other + ", which is not known any more; its next visit makes it a page of its own":                               func(o *models.Page) { *o = models.Page{} },
	} {
		r := ruled(t, 3, func(r *ruling) {
			r.page.Rule, r.page.DuplicateOf, r.original = models.RuleDuplicate, other, original
			r.page.Stats.VisitedAt = models.At(filledNow.Add(-day))
			change(&r.original)
		})
		if got := r.sentence(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// What leads to its own address spelled otherwise has the rule of a duplicate.
func TestRespelledInWords(t *testing.T) {
	t.Parallel()
	const other = "https://docs.example.org/a/"
	for rule, want := range map[models.Rule]string{
		models.RuleDuplicate: "it leads to " + other + ", which is visited for both; it is looked at when that one leads elsewhere or is not found, and at least every 30 d",
		models.RuleOriginal:  "it led to " + other + ", which leads elsewhere or is not found by now",
	} {
		r := ruled(t, 3, func(r *ruling) { r.page.Rule, r.page.State, r.page.RedirectTo = rule, models.StateMoved, other })
		if got := r.sentence(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// What became of the original of a page that follows it is known, too.
func TestFollowerInWords(t *testing.T) {
	t.Parallel()
	const other = "https://docs.example.org/a"
	for want, original := range map[string]models.Page{
		"that one has changed since, and its duplicates follow":                  {URL: other, State: models.StateLive},
		"which is gone by now: it may be a page of its own":                      {URL: other, State: models.StateGone},
		"which is a duplicate itself by now":                                     {URL: other, State: models.StateLive, DuplicateOf: "https://docs.example.org/"},
		"which is not known any more; its next visit makes it a page of its own": {},
	} {
		r := ruled(t, 3, func(r *ruling) { r.page.Rule, r.page.DuplicateOf, r.original = models.RuleOriginal, other, original })
		if got := r.sentence(); !strings.Contains(got, want) || !strings.Contains(got, other) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// A new page waits for the budget where there is one, and not for its host alone.
func TestNewPageInWords(t *testing.T) {
	t.Parallel()
	for budget, want := range map[string]string{
		"":         "as soon as its host has a turn; it starts",
		"2000/day": "as soon as its host has a turn and the budget of 2000/day pays for it, after what was due before it; it starts",
	} {
		r := ruled(t, 3, func(r *ruling) { r.page.Rule, r.budget = models.RuleStart, budget })
		if got := r.sentence(); !strings.Contains(got, want) {
			t.Errorf("under budget %q: %q, want %q in it", budget, got, want)
		}
	}
}

// Nobody asked for a page that is visited because the archive has lost its body.
func TestLostPageInWords(t *testing.T) {
	t.Parallel()
	for rule, want := range map[models.Rule]string{
		models.RuleLost:   "the archive has lost its body, so it is fetched anew, as soon as the budget allows",
		models.RuleBudget: "the archive has lost its body, so it is fetched anew; put off: the budget was spent when its turn came",
		models.RuleManual: "somebody asked for it to be visited now",
	} {
		if got := (ruling{page: models.Page{Rule: rule, Lost: true}, now: filledNow}).sentence(); got != want {
			t.Errorf("by %v: %q, want %q", rule, got, want)
		}
	}
}

// Of a page that is not found it is said what it answers.
func TestWhatIsNotFoundIsSaid(t *testing.T) {
	t.Parallel()
	for note, want := range map[string]string{
		"":                 "it answers 404 Not Found, once since Fri 20 Nov 12:00; it counts as gone after 3 visits",
		"answers 410 Gone": "it answers 410 Gone, once since Fri 20 Nov 12:00; it counts as gone if it does so once more",
		"answers 200 with what the host shows for pages that do not exist": "it answers 200 with what the host shows for pages that do not exist, once since",
		"redirects to http://a.test/, as a page does that is lost":         "it redirects to http://a.test/, as a page does that is lost, once since Fri 20 Nov 12:00; it counts as moved there if",
	} {
		for _, rule := range []models.Rule{models.RuleMissing, models.RuleGuarded} {
			r := ruled(t, 3, func(r *ruling) {
				r.page.Rule, r.page.State, r.page.Note = rule, models.StateMissing, note
				r.page.MissingVisits, r.page.MissingSince = 1, models.At(filledNow.Add(-day))
			})
			if rule == models.RuleGuarded {
				if want = "(1 visit: it " + note; note == "" {
					want = "(1 visit: it answers 404 Not Found)"
				}
			}
			if got := r.sentence(); !strings.Contains(got, want) {
				t.Errorf("rule %s: %q, want %q in it", rule, got, want)
			}
		}
	}
}

func TestOurOwnFaultCountsForNothing(t *testing.T) {
	t.Parallel()
	r := ruled(t, 3, func(r *ruling) { r.page.Rule = models.RuleBackoff })
	if got := r.sentence(); !strings.Contains(got, "our own side") {
		t.Errorf("back-off without a failure: %q, want that it was ours", got)
	}
}

// fr counts down what the interval asks for, so it is never more than fr_max: what else keeps a page waiting is told by its name.
func TestFRIsNeverMoreThanFRMax(t *testing.T) {
	t.Parallel()
	c := config.Default()
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &look{calendar: planner.Calendar(), now: filledNow, globals: &globals{}, force: &inForce{config: c, planner: planner}}
	for _, test := range []struct {
		cycles int
		frMax  int32
		rule   models.Rule
		words  string
		fr     int
	}{
		{2, 4, models.RulePolicy, "fr 2 / 4 (every 24 h, ceiling 30 d)", 2},
		{4, 4, models.RulePolicy, "fr 4 / 4 (every 24 h, ceiling 30 d)", 4},
		{3, 1, models.RuleMissing, "3 cycles to go (missing); fr_max 1 (every 6 h, ceiling 30 d) does not count meanwhile", 1},
		{120, 8, models.RuleGone, "120 cycles to go (gone); fr_max 8 (every 2 d, ceiling 30 d) does not count meanwhile", 8},
	} {
		p := models.Page{FRMax: test.frMax, Rule: test.rule, DueAt: models.At(filledNow.Add(time.Duration(test.cycles) * 6 * time.Hour))}
		if got := l.cycles(p); got != test.words {
			t.Errorf("%d cycles of %d: %q, want %q", test.cycles, test.frMax, got, test.words)
		}
		if got := pageJSON(l, p, nil); got.FR != test.fr {
			t.Errorf("%d cycles of %d: fr %d, want %d", test.cycles, test.frMax, got.FR, test.fr)
		}
	}
}

// Of a page that showed nothing but an error yet no version stays.
func TestNewPageInAnOutageInWords(t *testing.T) {
	t.Parallel()
	for version, want := range map[int32]string{0: "it is not taken for the page yet", 3: "the last good version stays"} {
		got := ruled(t, 2, func(r *ruling) {
			r.page.Rule, r.page.Class, r.page.Failures, r.page.Version = models.RuleBackoff, models.ErrorPage, 2, version
		}).sentence()
		if !strings.Contains(got, "2 visits in a row: "+want+". ") {
			t.Errorf("with version %d: %q, want %q in it", version, got, want)
		}
	}
}

// Of a page that leads to a log-in is not said that something stands in its place, which could be taken for the page.
func TestALogInInWords(t *testing.T) {
	t.Parallel()
	for status, clears := range map[int16]bool{200: true, 302: false} {
		got := ruled(t, 2, func(r *ruling) {
			r.page.Rule, r.page.Class, r.page.Failures, r.page.Version = models.RuleBackoff, models.LoginWall, 2, 1
			r.history = []models.Visit{{Status: status}}
		}).sentence()
		if strings.Contains(got, "--clear") != clears || !strings.Contains(got, "(login-wall), 2 visits in a row: the last good version stays") {
			t.Errorf("with status %d: %q", status, got)
		}
	}
}

// A list that was never read has nothing to say yet, and a start page is read as one though it is none.
func TestListsInWords(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*models.Page){
		"it is a sitemap or feed of 7 pages and says which of them changed, so it is read every 12 h": func(p *models.Page) { p.Entries = 7 },
		"it is a sitemap or feed that names one of the pages that are visited at most, and is read for these alone: every 12 h": func(p *models.Page) {
			p.Entries, p.Level = 1, 10
		},
		"it is named as a sitemap or feed, and is read before the new pages that wait": func(p *models.Page) { p.Stats.Records = 0 },
		"because visits to it led to some, so it is read every 12 h":                   func(*models.Page) {},
	} {
		r := ruled(t, 3, func(r *ruling) {
			r.page.Rule, r.page.Wanted, r.page.Stats.Records = models.RuleList, 12*time.Hour, 3
			change(&r.page)
		})
		if got := r.sentence(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
	r := ruled(t, 3, func(r *ruling) {
		r.page.Rule, r.page.Wanted, r.page.Stats.Records, r.explained = models.RuleList, 12*time.Hour, 3, &scheduler.Explanation{Leads: 0.5}
	})
	if got := r.sentence(); !strings.Contains(got, "visits to it lead to a new page every 2 d that nothing named before, so it is read every 12 h") {
		t.Errorf("of a page that leads to others: %q", got)
	}
}
