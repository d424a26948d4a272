package scheduler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// A promise of freshness puts a visit off as long as the host is believed.
func TestPromisesThatDoNotHoldPutNothingOff(t *testing.T) {
	t.Parallel()
	planner, lease := testPlanner(t, testConfig()), testLease(livePage())
	out := same
	out.At, out.FreshUntil = noon, noon.Add(6*24*time.Hour)
	out.Findings = []models.Finding{{Hint: models.HintExpires, Verdict: models.HintLate}}
	var rules []models.Rule
	for range 4 {
		r := planner.Plan(lease, livePage(), &out, noon)
		rules = append(rules, r.Page.Rule)
		lease.Host = r.Host
		if r.Page.FreshUntil != models.At(out.FreshUntil) {
			t.Errorf("promise noted as %v, want it as it was made, to be held against what comes", r.Page.FreshUntil)
		}
	}
	if diff := cmp.Diff([]models.Rule{models.RuleHint, models.RuleHint, models.RulePolicy, models.RulePolicy}, rules); diff != "" {
		t.Errorf("due by (-want +got):\n%s", diff)
	}
}

// Findings, audits and probes go into the host's ledger.
func TestLedgerOfTheHost(t *testing.T) {
	t.Parallel()
	lease, p := testLease(livePage()), livePage()
	planner := testPlanner(t, testConfig())
	visit := func(out models.Outcome) *models.Trials {
		out.At = noon
		r := planner.Plan(lease, p, &out, noon)
		lease.Host = r.Host
		return &lease.Host.Trials
	}
	for range 3 {
		visit(same)
	}
	if got := visit(models.Outcome{Kind: models.Failed, Class: models.BodyShort, Sent: 1}); got.Visits != 3 || got.AuditedAt != 0 {
		t.Errorf("after three 304s and a failure: %+v, want three visits", got)
	}
	audit := with(models.Changed, "new")
	audit.Unconditional = true
	audit.Findings = []models.Finding{{Hint: models.HintETag, Verdict: models.HintMiss}, {Hint: models.HintLastModified, Verdict: models.HintHit}}
	got := visit(audit)
	if got.Visits != 0 || got.AuditedAt != models.At(noon) || got.Trusts(models.HintETag) || !got.Trusts(models.HintLastModified) {
		t.Errorf("after an audit that found the ETag lying: %+v", got)
	}
	if got := visit(models.Outcome{Kind: models.Probed, Status: 404, Sent: 1}); got.ProbedAt != models.At(noon) || got.Visits != 0 {
		t.Errorf("after a probe: %+v, want its time and nothing else", got)
	}
	p.ETag, p.LastModified = "", ""
	if got := visit(models.Outcome{Kind: models.SameBytes, Status: 200, Sent: 1}); got.Visits != 0 {
		t.Errorf("a visit without validators counts as one with conditions: %+v", got)
	}
}

// Once a page answered without its content it is noted when a page of the host shows that it had: a document, as before.
func TestLedgerOfAbsentPages(t *testing.T) {
	t.Parallel()
	lease, p := testLease(livePage()), livePage()
	planner := testPlanner(t, testConfig())
	visit := func(media string, out models.Outcome, now time.Time) *models.Trials {
		p.ContentType, out.At = media, now
		lease.Host = planner.Plan(lease, p, &out, now).Host
		return &lease.Host.Trials
	}
	if got := visit("text/html", same, noon); got.ShownAt != 0 || got.AbsentAt != 0 {
		t.Errorf("before a page was absent: %+v", got)
	}
	visit("text/html", models.Outcome{Kind: models.Failed, Class: models.Shell, Status: 200, Sent: 1}, noon)
	for name, out := range map[string]models.Outcome{"image/png": same, "text/html": with(models.Changed, "new"), "": {Kind: models.Missing, Status: 404, Sent: 1}} {
		if got := visit(name, out, noon.Add(time.Hour)); got.ShownAt != 0 || got.AbsentAt != models.At(noon) {
			t.Errorf("after %v of %q: %+v, want that nothing was shown", out.Kind, name, got)
		}
	}
	if got := visit("text/html", same, noon.Add(2*time.Hour)); got.ShownAt != models.At(noon.Add(2*time.Hour)) {
		t.Errorf("after a document was as it had been: %+v", got)
	}
}

// A probe leaves the page as it was, due at once, and rests the host as every request does.
func TestProbeLeavesThePageDue(t *testing.T) {
	t.Parallel()
	before := livePage()
	r := plan(t, before, models.Outcome{Kind: models.Probed, Status: 404, Sent: 1, WireBytes: 50})
	after := r.Page
	after.Visits = before.Visits
	if diff := cmp.Diff(before, after); diff != "" || r.Version != nil || len(r.Events) > 0 {
		t.Errorf("%d events; a probe changed the page (-before +after):\n%s", len(r.Events), diff)
	}
	if want := models.At(noon.Add(11 * time.Second)); r.Host.OpenAt != want || r.Visit.Kind != models.Probed {
		t.Errorf("host opens at %v after %v, want %v after a probe", r.Host.OpenAt, r.Visit.Kind, want)
	}
	var day models.Daily
	day.Count(&r)
	if want := (models.Daily{Robots: 1, Bytes: 50}); day != want {
		t.Errorf("daily sums %+v, want %+v", day, want)
	}
}
