package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// evidence is what a visit 100 days after the one before teaches of a page, where the server says when its content came to be.
func evidence(t *testing.T, page models.Page, kind models.OutcomeKind, modified time.Time, trials models.Trials) models.Evidence {
	t.Helper()
	c := testConfig()
	c.Sites[0].Settings.Policy = policy.AdaptiveName
	lease, out := testLease(page), with(kind, "two")
	lease.Host.Trials = trials
	out.At, out.ModifiedAt = noon, modified
	return testPlanner(t, c).Plan(lease, page, &out, noon).Page.Evidence
}

func ago(days int) time.Time { return noon.Add(-time.Duration(days) * 24 * time.Hour) }

// A change that came soon after the visit before, and was the last one since, says more for a rare change than one that came at
// an unknown time. A date that is not trusted, or that nothing but the answer's making explains, says nothing.
func TestPlanLearnsFromTheDateOfAChange(t *testing.T) {
	t.Parallel()
	page := livePage()
	page.Stats.FirstAt, page.Stats.VisitedAt = models.At(ago(400)), models.At(ago(100))
	var liar models.Trials
	liar.Note(models.Finding{Hint: models.HintLastModified, Verdict: models.HintMiss}, noon)

	unknown := evidence(t, page, models.Changed, time.Time{}, models.Trials{})
	if early := evidence(t, page, models.Changed, ago(90), models.Trials{}); early.Changes != 1 || early.Days <= 3*unknown.Days {
		t.Errorf("a change 90 days ago teaches %+v, want a change and many more days than %+v, which one at an unknown time does", early, unknown)
	}
	if late := evidence(t, page, models.Changed, ago(10), models.Trials{}); late.Changes != 1 || late.Days >= 11 {
		t.Errorf("a change ten days ago teaches %+v, want a change in some ten days", late)
	}
	for name, got := range map[string]models.Evidence{
		"the visit before":     evidence(t, page, models.Changed, ago(100), models.Trials{}),
		"the time to come":     evidence(t, page, models.Changed, ago(-1), models.Trials{}),
		"moments before":       evidence(t, page, models.Changed, noon.Add(-time.Minute), models.Trials{}),
		"a server not trusted": evidence(t, page, models.Changed, ago(90), liar),
	} {
		if got != unknown {
			t.Errorf("a date of %s teaches %+v, want %+v as without one", name, got, unknown)
		}
	}
	if got, want := evidence(t, page, models.SameText, ago(90), models.Trials{}), evidence(t, page, models.SameText, time.Time{}, models.Trials{}); got != want {
		t.Errorf("other bytes of a date teach %+v, without one %+v: nothing changed", got, want)
	}
}

// The first visit to a page that is years old says that it changes rarely.
func TestPlanLearnsFromTheAgeOfAPage(t *testing.T) {
	t.Parallel()
	page := NewPage("http://one.test/a", "one.test", 1, 1, 4)
	if got := evidence(t, page, models.First, ago(700), models.Trials{}); got != (models.Evidence{Changes: 1, Days: 700}) {
		t.Errorf("a page that last changed 700 days ago: %+v, want a change in 700 days", got)
	}
	if got := evidence(t, page, models.First, ago(30_000), models.Trials{}); got.Days > 4000 {
		t.Errorf("a page that last changed 80 years ago: %+v, want a bound", got)
	}
	for _, at := range []time.Time{{}, noon, noon.Add(-time.Hour), ago(-5)} {
		if got := evidence(t, page, models.First, at, models.Trials{}); got != (models.Evidence{}) {
			t.Errorf("a first visit to a page of %v: %+v, want nothing", at, got)
		}
	}
}
