package scheduler_test

import (
	"slices"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// redirect is what a visit finds where its page leads elsewhere: back to what led to it is a loop.
func redirect(turn *models.Turn, to string) models.Outcome {
	out := models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, At: turn.Now, RedirectTo: to, Permanent: true}
	if slices.Contains(turn.Page.Chain, models.PageID(to)) {
		out.Kind, out.Class, out.RedirectTo = models.Failed, models.RedirectLoop, ""
		return out
	}
	if at, err := canon.Parse(to); err == nil {
		out.Links = []models.FoundLink{{URL: to, Host: at.HostName()}}
	}
	return out
}

// TestALoopIsNoMove holds that pages that lead to each other for days keep their copies, as where a server is set up wrongly over a weekend, and
// that they move where the server turned round: where the other address shows what they showed.
func TestALoopIsNoMove(t *testing.T) {
	t.Parallel()
	for to, from := range map[string]string{"http://shop.test/boots/": boots, "https://shop.test/boots": boots} {
		eachStore(t, func(t *testing.T, c *copies) {
			page := shopPage("Boots", "149.00", prose(300, 1), "")
			c.leads[from] = to
			c.add(from, "")
			c.set(to, page)
			c.pass(20)
			c.leads[to] = from
			c.pass(20)
			if p := c.known()[to]; p.State != models.StateLive || p.Version != 1 {
				t.Errorf("%s leads back to %s for 20 days: it is %v", to, from, p.State)
			}
			delete(c.leads, to)
			c.pass(20)
			if p := c.known()[to]; p.State != models.StateLive || p.Failures > 0 {
				t.Errorf("%s is back: it is %v, and failed %d times", to, p.State, p.Failures)
			}
			delete(c.leads, from)
			c.leads[to] = from
			c.set(from, page)
			c.pass(30)
			if pages := c.known(); pages[to].State != models.StateMoved || pages[from].State != models.StateLive || pages[from].DuplicateOf != "" {
				t.Errorf("the server turned round: %s is %v, %s is %v", to, pages[to].State, from, pages[from].State)
			}
		})
	}
}
