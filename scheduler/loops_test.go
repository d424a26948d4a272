package scheduler

import (
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/scheduler/policy"
)

// TestWithoutMove: what a page's visits showed before a move that was none, however often it seemed to have moved since.
func TestWithoutMove(t *testing.T) {
	t.Parallel()
	before := models.ChangeStats{Records: 5, Changes: 1, Bits: 0b0010, FirstAt: 100, VisitedAt: 500, ChangedAt: 400}
	s := before
	for n := range 3 {
		s.Records, s.VisitedAt, s.Bits = s.Records+1, s.VisitedAt+100, s.Bits<<1
		if n == 0 {
			s.Bits, s.Changes, s.ChangedAt = s.Bits|1, s.Changes+1, s.VisitedAt
		}
		if got := withoutMove(s); got != before {
			t.Errorf("after a move and %d visits: %+v, want %+v", n, got, before)
		}
	}
	for _, s := range []models.ChangeStats{{}, {Records: 1, FirstAt: 7, VisitedAt: 7}, {Records: 99, Bits: 0, FirstAt: 7, VisitedAt: 9}} {
		if got := withoutMove(s); got != s {
			t.Errorf("without a move %+v becomes %+v", s, got)
		}
	}
}

// TestKeyOfURL: where a redirect leads is looked up under the key of the page that is there.
func TestKeyOfURL(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"http://one.test/", "https://one.test:8443/a/b?c=d", "http://[2001:db8::1]:8080/x", "http://127.0.0.1/?q=http://two.test/"} {
		u, err := canon.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		page := NewPage(u.String(), u.HostName(), 1, 1, 4)
		if got, want := keyOfURL(u.String()), (models.PageKey{Bucket: page.Bucket, ID: page.ID}); got != want {
			t.Errorf("the key of %s is %v, want %v", u, got, want)
		}
	}
}

// TestALoopTeachesOnce: a page that was found to lead nowhere is asked again and again, and redirects each time. That is known to be no change by then, and
// no page that is there while others are lost: only the committer can tell, but the planner has seen it before.
func TestALoopTeachesOnce(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Sites[0].Settings.Policy = policy.AdaptiveName
	out := models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "http://one.test/b"}
	for class, want := range map[models.ErrorClass]int{models.ClassNone: 1, models.ServerError: 1, models.RedirectLoop: 0, models.RedirectTooMany: 0} {
		planner, p := testPlanner(t, c), livePage()
		if p.Class = class; class != models.ClassNone {
			p.Failures = 2
		}
		lease := testLease(p)
		lease.Host.Trials.Losses = models.Losses{Since: p.Stats.VisitedAt + 1, Lost: 5, SeenAt: models.At(noon)}
		r := planner.Plan(lease, p, &out, noon)
		if learned, found := planner.mind.lessons, r.Host.Trials.Losses.Found; int(learned) != want || int(found) != want {
			t.Errorf("%v: a redirect teaches %d times, and is found %d times among those that are lost; want %d", class, learned, found, want)
		}
	}
}
