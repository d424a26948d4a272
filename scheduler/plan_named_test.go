package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// namedPage is a page that has been gone for 20 days, was looked at five days ago and named yesterday.
func namedPage() models.Page {
	p := livePage()
	p.State, p.Rule, p.MissingVisits = models.StateGone, models.RuleNamed, 4
	p.MissingSince, p.TriedAt = models.At(noon.AddDate(0, 0, -20)), models.At(noon.AddDate(0, 0, -5))
	p.Stats.VisitedAt = p.MissingSince - 1000
	p.NamedAt, p.DueAt = models.At(noon.AddDate(0, 0, -1)), models.At(noon)
	return p
}

// A visit shows of what named its page, which was gone, whether it was right: also where it waited for the budget meanwhile. Once it was looked at,
// nothing.
func TestLedgerOfWhatIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		out  models.Outcome
		edit func(*models.Page)
		want models.Trial
	}{
		"back":              {with(models.SameBytes, "x"), nil, models.Trial{Hits: 1}},
		"changed":           {with(models.Changed, "x"), nil, models.Trial{Hits: 1}},
		"after the budget":  {with(models.SameBytes, "x"), func(p *models.Page) { p.Rule = models.RuleBudget }, models.Trial{Hits: 1}},
		"404":               {notFound, nil, models.Trial{FalseAlarms: 1, InARow: 1}},
		"410":               {goneAway, nil, models.Trial{FalseAlarms: 1, InARow: 1}},
		"elsewhere":         {redirect, nil, models.Trial{FalseAlarms: 1, InARow: 1}},
		"refused":           {models.Outcome{Kind: models.Failed, Class: models.Refused, Status: 403, Sent: 1}, nil, models.Trial{FalseAlarms: 1, InARow: 1}},
		"host fails":        {models.Outcome{Kind: models.Failed, Class: models.ServerError, Status: 503, Sent: 1}, nil, models.Trial{}},
		"looked at since":   {notFound, func(p *models.Page) { p.NamedAt = p.TriedAt }, models.Trial{}},
		"named while there": {same, func(p *models.Page) { p.State = models.StateLive }, models.Trial{}},
	} {
		p := namedPage()
		if test.edit != nil {
			test.edit(&p)
		}
		got := plan(t, p, test.out).Host.Trials.By[models.HintNamed]
		got.Since = 0
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// A page that is gone and was named waits for its time after all where others were named for nothing meanwhile, and no request is made; where that
// time has come, or its host is believed, it does not.
func TestNamesThatAreNotBelievedAnyMore(t *testing.T) {
	t.Parallel()
	planner := testPlanner(t, testConfig())
	lies := models.Trial{FalseAlarms: 3, DistrustedAt: models.At(noon.Add(-time.Hour))}
	for name, test := range map[string]struct {
		trial models.Trial
		edit  func(*models.Page)
		held  bool
	}{
		"lies":               {lies, nil, true},
		"nothing is known":   {models.Trial{FalseAlarms: 2, InARow: 2}, nil, false},
		"was mostly right":   {models.Trial{Hits: 9, FalseAlarms: 3, DistrustedAt: lies.DistrustedAt}, nil, false},
		"lied long ago":      {models.Trial{FalseAlarms: 3, DistrustedAt: models.At(noon.AddDate(0, 0, -31))}, nil, false},
		"its time has come":  {lies, func(p *models.Page) { p.TriedAt = models.At(noon.AddDate(0, -2, 0)) }, false},
		"somebody wants it":  {lies, func(p *models.Page) { p.Rule = models.RuleManual }, false},
		"is looked at by it": {lies, func(p *models.Page) { p.Rule = models.RuleGone }, false},
	} {
		p := namedPage()
		if test.edit != nil {
			test.edit(&p)
		}
		lease := testLease(p)
		lease.Host.Trials.By[models.HintNamed] = test.trial
		put, held := planner.disbelieves(&lease.Host, &p, noon)
		if held != test.held {
			t.Errorf("%s: held %v, want %v", name, held, test.held)
		}
		if !held {
			continue
		}
		out := put.outcome(noon)
		got := planner.Plan(lease, p, &out, noon)
		if want := models.At(planner.goneUntil(&p, planner.settings(1), p.TriedAt.Time())); got.Page.DueAt != want || got.Page.Rule != models.RuleGone || got.Page.Visits != p.Visits {
			t.Errorf("%s: due at %v by %v after %d visits, want %v by gone after %d", name, got.Page.DueAt, got.Page.Rule, got.Page.Visits, want, p.Visits)
		}
	}
}

// Where a redirect leads that did not lead there before is named anew; the next time it is not.
func TestRedirectsNameAnew(t *testing.T) {
	t.Parallel()
	out := redirect
	out.Links = []models.FoundLink{{URL: redirect.RedirectTo, Host: "one.test"}}
	r := plan(t, livePage(), out)
	if again := plan(t, r.Page, out); len(r.Discovered) != 1 || !r.Discovered[0].Anew || len(again.Discovered) != 1 || again.Discovered[0].Anew {
		t.Errorf("discovered %+v and then %+v, want the target, named anew at first", r.Discovered, again.Discovered)
	}
}
