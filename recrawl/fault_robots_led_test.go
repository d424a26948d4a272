package recrawl

import (
	"fmt"
	"testing"
	"time"

	"recrawld/internal/hostile"
	"recrawld/models"
)

// robotsThrough is robotsOf, with as many visits as its redirects take.
func (r *rig) robotsThrough(page models.Page) models.Robots {
	r.t.Helper()
	row := r.robotsOf(page)
	for visits := 1; row.LeadsTo != ""; visits++ {
		if visits > 10 {
			r.t.Fatalf("robots.txt is still to be asked for after %d visits: %+v", visits, row)
		}
		row = r.robotsOf(page, row)
	}
	return row
}

func TestFault_072_RobotsRedirects(t *testing.T) {
	t.Parallel()
	rules := robotsText("User-agent: *\nDisallow: /\n")
	other := listen(t, map[string]hostile.Answer{"/r": rules})
	chain := func(hops int) map[string]hostile.Answer {
		answers := map[string]hostile.Answer{fmt.Sprintf("/%d", hops): rules}
		for i := range hops {
			from := fmt.Sprintf("/%d", i)
			if i == 0 {
				from = "/robots.txt"
			}
			answers[from] = hostile.Redirect(302, fmt.Sprintf("/%d", i+1))
		}
		return answers
	}
	for name, test := range map[string]struct {
		answers  map[string]hostile.Answer
		class    models.ErrorClass
		requests int
		allowed  bool
	}{
		"5 hops":     {chain(5), models.ClassNone, 6, false},
		"6 hops":     {chain(6), models.ClassNone, 6, true},
		"loop":       {map[string]hostile.Answer{"/robots.txt": hostile.Redirect(301, "/robots.txt")}, models.ClassNone, 6, true},
		"other host": {map[string]hostile.Answer{"/robots.txt": hostile.Redirect(301, other.URL("/r"))}, models.ClassNone, 1, false},
		"private":    {map[string]hostile.Answer{"/robots.txt": hostile.Redirect(301, "http://10.0.0.1/robots.txt")}, models.BlockedAddress, 1, false},
		"file":       {map[string]hostile.Answer{"/robots.txt": hostile.Redirect(301, "file:///etc/passwd")}, models.RedirectBlocked, 1, false},
		"nowhere":    {map[string]hostile.Answer{"/robots.txt": hostile.Redirect(301)}, models.RedirectBad, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, test.answers)
			r := newRig(t, nil)
			page := pageOf(t, o.URL("/page"))
			row := r.robotsThrough(page)
			if row.Class != test.class || len(o.Requests()) != test.requests {
				t.Errorf("row = %v after %d requests, want %v after %d", row.Class, len(o.Requests()), test.class, test.requests)
			}
			out := r.turn(t.Context(), page, row)
			if asked := out.Sent > 0; asked != test.allowed {
				t.Errorf("the page was asked for: %v, want %v (%v %s)", asked, test.allowed, out.Kind, out.Detail)
			}
		})
	}
}

// While robots.txt is followed nothing else is asked for, whatever an older one allows; the rules of the last hop are those
// of the page's origin, and where they cannot be had the wait grows as if there were no redirects.
func TestFault_072_RobotsAreFollowedOneRequestAVisit(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/robots.txt": hostile.Redirect(301, "/elsewhere"),
		"/elsewhere": hostile.Then(robotsText("User-agent: *\nDisallow: /\nCrawl-delay: 30\n"), hostile.Whole(503, nil, ""))})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/page"))
	good := models.Robots{Origin: r.robotsOf(page).Origin, Status: 200, FetchedAt: models.At(today.Add(-25 * time.Hour)),
		ExpiresAt: models.At(today.Add(-time.Hour)), GoodAt: models.At(today.Add(-25 * time.Hour)), CrawlDelay: 20 * time.Second}
	led := r.robotsOf(page, good)
	if led.LeadsTo != o.URL("/elsewhere") || led.Hops != 1 || led.GoodAt != good.GoodAt || led.Class != models.ClassNone {
		t.Fatalf("row after a redirect = %+v, want it to lead on and to keep what was known", led)
	}
	row := r.robotsOf(page, led)
	if row.LeadsTo != "" || row.Hops != 0 || row.CrawlDelay != 30*time.Second || row.ExpiresAt != models.At(today.Add(24*time.Hour)) {
		t.Errorf("row at the end = %+v, want its rules for a day", row)
	}
	if out := r.turn(t.Context(), page, row); out.Kind != models.Excluded {
		t.Errorf("the page is %v, want it excluded by the rules that the redirect led to", out.Kind)
	}
	for _, wait := range []time.Duration{robotsRetry, 2 * robotsRetry, 4 * robotsRetry} {
		row = r.robotsOf(page, r.robotsOf(page, expired(row)))
		if got := row.ExpiresAt.Time().Sub(today); row.Class != models.ServerError || got != wait {
			t.Errorf("after another failure robots.txt is asked for in %v (%v), want %v", got, row.Class, wait)
		}
	}
}

// expired is a row whose time is over, as long as it was.
func expired(row models.Robots) models.Robots {
	lasted := row.ExpiresAt - row.FetchedAt
	row.ExpiresAt = models.At(today)
	row.FetchedAt = row.ExpiresAt - lasted
	return row
}
