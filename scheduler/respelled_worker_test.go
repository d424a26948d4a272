package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// redirect is what a visit finds where its page leads elsewhere: back to what led to it is a loop.
func redirect(turn *models.Turn, to string) models.Outcome {
	out := models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, At: turn.Now, RedirectTo: to, Permanent: true}
	if slices.Contains(turn.Page.Chain, models.PageID(to)) {
		out.Kind, out.Class = models.Failed, models.RedirectLoop
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

// TestALoopOfKnownPagesIsNoMove: pages that were known each by itself, with copies, and that redirect to each other, or in a longer circle, are errors
// and have not moved: the last of them is found so at once, and the first, which seemed to have moved, as soon. Each is itself again when it
// answers, and one that truly moved before the other began to lead back stays moved.
func TestALoopOfKnownPagesIsNoMove(t *testing.T) {
	t.Parallel()
	for _, circle := range [][]string{{"/a", "/b"}, {"/a", "/b", "/c", "/d"}} {
		eachStore(t, func(t *testing.T, c *copies) {
			var urls []string
			for i, path := range circle {
				urls = append(urls, "http://shop.test"+path)
				c.add(urls[i], shopPage(path, "149.00", prose(300, uint64(i)), ""))
			}
			c.pass(20)
			for i, url := range urls {
				c.leads[url] = urls[(i+1)%len(urls)]
			}
			c.pass(30)
			for _, url := range urls {
				if p := c.known()[url]; p.State != models.StateLive || p.Class != models.RedirectLoop || p.Failures < 3 || p.Version != 1 || p.RedirectTo != "" {
					t.Errorf("%s is in a circle of %d: it is %v and leads to %q, failed %d times (%v), with version %d", url, len(urls), p.State, p.RedirectTo, p.Failures, p.Class, p.Version)
				}
			}
			clear(c.leads)
			c.pass(20)
			for _, url := range urls {
				if p := c.known()[url]; p.State != models.StateLive || p.Failures > 0 || p.Version != 1 {
					t.Errorf("%s is back: it is %v, and failed %d times, with version %d", url, p.State, p.Failures, p.Version)
				}
			}
			c.leads[urls[0]] = urls[1]
			c.pass(30)
			c.leads[urls[1]] = urls[0]
			c.pass(30)
			pages := c.known()
			if a, b := pages[urls[0]], pages[urls[1]]; a.State != models.StateMoved || a.Failures == 0 || b.State != models.StateLive || b.Class != models.RedirectLoop {
				t.Errorf("%s moved, and then what it led to led back: it is %v and failed %d times, that is %v (%v)", urls[0], a.State, a.Failures, b.State, b.Class)
			}
		})
	}
}

// TestACircleIsSeenAtOnce: as soon as the last page of a circle has its turn, all that seemed to have moved are looked at again, each is told of as being
// back once, and from then on they are asked no more often than other errors. What never showed anything is not back.
func TestACircleIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		var urls []string
		for i := range 4 {
			urls = append(urls, fmt.Sprintf("http://h%d.test/boots", i))
			c.add(urls[i], shopPage(fmt.Sprint(i), "149.00", prose(300, uint64(i)), ""))
		}
		c.pass(20)
		const empty = "http://empty.test/boots"
		c.add(empty, "")
		c.leads[empty] = urls[0]
		for i, url := range urls {
			c.leads[url] = urls[(i+1)%len(urls)]
		}
		for turns := 0; c.known()[urls[3]].Failures == 0 && turns < 20; turns++ {
			c.pass(1)
		}
		c.pass(1)
		for _, url := range urls {
			if p := c.known()[url]; p.State != models.StateLive || p.Class != models.RedirectLoop {
				t.Errorf("a day after the circle closed %s is %v (%v), due in %v", url, p.State, p.Class, p.DueAt.Time().Sub(c.clock.Now()))
			}
		}
		visits := c.known()[urls[0]].Visits
		c.pass(30)
		if n := c.known()[urls[0]].Visits - visits; n > 10 {
			t.Errorf("%s is asked for %d times in the 30 days after, want some 8", urls[0], n)
		}
		told := make(map[string]int)
		for _, e := range c.dump().Events {
			told[e.URL+" "+e.Kind.String()]++
		}
		for _, url := range urls {
			if moved, back := told[url+" moved"], told[url+" restored"]; moved > 1 || back != moved {
				t.Errorf("%s is told to have moved %d times, and to be back %d times", url, moved, back)
			}
		}
		if p := c.known()[empty]; told[empty+" restored"] > 0 || p.State == models.StateLive {
			t.Errorf("%s, which showed nothing ever, is %v, and told %d times to be back", empty, p.State, told[empty+" restored"])
		}
	})
}

// TestALoopOverTwoHostsIsNoMove: a page with a copy that leads to an unknown one of another host, which leads back, is itself again as soon as that is seen,
// and not when its own next turn comes.
func TestALoopOverTwoHostsIsNoMove(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		const bare, www = "http://shop.test/boots", "http://www.shop.test/boots"
		c.add(bare, shopPage("Boots", "149.00", prose(300, 1), ""))
		c.pass(20)
		c.leads[bare], c.leads[www] = www, bare
		for turns := 0; c.known()[bare].RedirectTo == "" && turns < 20; turns++ { // until it is seen to lead there
			c.pass(1)
		}
		c.pass(1)
		if p := c.known()[bare]; p.State != models.StateLive || p.Class != models.RedirectLoop || p.RedirectTo != "" {
			t.Errorf("%s led to %s, which leads back: it is %v (%v), due in %v", bare, www, p.State, p.Class, p.DueAt.Time().Sub(c.clock.Now()))
		}
	})
}

// TestAWayWithoutAnEndIsNoMove: more redirects in a row than are followed are an error of each page on the way that is far from its end.
func TestAWayWithoutAnEndIsNoMove(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		var urls []string
		for i := range 14 {
			urls = append(urls, fmt.Sprintf("http://shop.test/%d", i))
			c.add(urls[i], shopPage(fmt.Sprint(i), "149.00", prose(300, uint64(i)), ""))
		}
		c.pass(20)
		for i, url := range urls[:13] {
			c.leads[url] = urls[i+1]
		}
		c.pass(30)
		pages := c.known()
		if first, near := pages[urls[0]], pages[urls[9]]; first.State != models.StateLive || first.Class != models.RedirectTooMany || near.State != models.StateMoved || near.Failures > 0 {
			t.Errorf("the first of 14 in a row is %v (%v), the tenth %v (%v)", first.State, first.Class, near.State, near.Class)
		}
	})
}
