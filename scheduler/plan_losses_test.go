package scheduler

import (
	"fmt"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// lossHost is a host that is visited page by page, and what became of them.
type lossHost struct {
	*testing.T
	planner *Planner
	host    models.Host
	pages   []models.Page
	now     time.Time
	events  []models.EventKind
}

func newLossHost(t *testing.T, pages int, set func(*config.Settings), guards map[int32]SiteGuard) *lossHost {
	t.Helper()
	c := testConfig()
	if set != nil {
		set(&c.Sites[0].Settings)
	}
	h := &lossHost{T: t, planner: testPlanner(t, c).Guard(guards), now: noon}
	for i := range pages {
		p := livePage()
		p.URL = fmt.Sprintf("http://one.test/p%d", i)
		p.ID = models.PageID(p.URL)
		h.pages = append(h.pages, p)
	}
	h.host = testLease(h.pages[0]).Host
	h.host.Pages = int32(pages)
	return h
}

// visits has pages answer so, from one on up to another, a second after the other.
func (h *lossHost) visits(from, to int, out models.Outcome) {
	for i := from; i < to; i++ {
		out.At = h.now
		r := h.planner.Plan(&models.Lease{Host: h.host}, h.pages[i], &out, h.now)
		h.host, h.pages[i], h.now = r.Host, r.Page, h.now.Add(time.Second)
		for _, e := range r.Events {
			h.events = append(h.events, e.Kind)
		}
	}
}

// are fails the test unless so many pages are in that state, and the host is guarded or not.
func (h *lossHost) are(when string, state models.PageState, want int, guarded bool) {
	h.Helper()
	got := 0
	for _, p := range h.pages {
		if p.State == state {
			got++
		}
	}
	if got != want || (h.host.GuardedAt != 0) != guarded {
		h.Errorf("%s: %d pages are %v, the host is guarded since %v; want %d, guarded: %t; losses %+v", when, got, state, h.host.GuardedAt, want, guarded,
			h.host.Trials.Losses)
	}
}

// A host whose pages are lost at once is guarded by itself, among however many others of its site, from the visit on that shows it: none
// of them is gone, whatever the answer, until they are back or somebody approves.
func TestHostWhosePagesVanishIsGuarded(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]models.Outcome{"404": notFound, "410": goneAway,
		"to the front page":          {Kind: models.Moved, Status: 302, Sent: 1, RedirectTo: "http://one.test/"},
		"to whoever bought the name": {Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "https://parking.test/"},
	} {
		h := newLossHost(t, 12, nil, nil)
		h.visits(0, 12, out)
		held := 12
		if name == "410" { // it is believed of the first
			held -= fewGone
		}
		if h.are(name, models.StateMissing, held, true); len(h.events) != 12-held {
			t.Errorf("%s: events %v, want %d", name, h.events, 12-held)
		}
		h.events = nil
		for range 4 {
			h.now = h.now.Add(24 * time.Hour)
			h.visits(0, 12, out)
		}
		if h.are(name+", days later", models.StateMissing, held, true); len(h.events) > 0 {
			t.Errorf("%s: events %v, want none", name, h.events)
		}
		for i := range 3 {
			h.pages[i].Rule = models.RuleApproved
		}
		h.visits(0, 3, out)
		h.are(name+", three approved of", models.StateMissing, 9, true)
		h.events = nil
		h.visits(3, 12, same)
		h.are(name+", the others back", models.StateLive, 9, false)
		for _, e := range h.events {
			if e != models.EventRestored {
				t.Errorf("%s: event %v of a page that is back", name, e)
			}
		}
	}
}

// A host that says 410 of more than a few pages is not believed before these are sure to have been seen together; asked for sooner they are
// as missing as before.
func TestManyAreGoneOnlyWhenSeenTogether(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 30, nil, nil)
	h.visits(20, 30, same)
	h.visits(0, fewGone+1, goneAway)
	h.are("at once", models.StateGone, fewGone, false)
	p := h.pages[fewGone]
	if p.State != models.StateMissing || p.Note != "answers 410 Gone" || p.DueAt.Time().Sub(p.MissingSince.Time()) != guardSees || p.Rule != models.RuleMissing {
		t.Errorf("the next one is %v, %q, due at %v by %v, want it missing, because of a 410, and asked for once more in %v", p.State, p.Note, p.DueAt,
			p.Rule, guardSees)
	}
	h.now = h.now.Add(guardSees / 2)
	h.visits(fewGone, fewGone+1, goneAway)
	if now := h.pages[fewGone]; now.State != models.StateMissing || now.DueAt != p.DueAt {
		t.Errorf("asked for sooner it is %v, due at %v, want it missing and due at %v", now.State, now.DueAt, p.DueAt)
	}
	h.now = h.now.Add(guardSees / 2)
	h.visits(fewGone, fewGone+1, goneAway)
	h.are("once more", models.StateGone, fewGone+1, false)
	unguarded := newLossHost(t, 30, func(s *config.Settings) { s.GoneGuard = 0 }, nil)
	unguarded.visits(0, 30, goneAway)
	unguarded.are("unguarded", models.StateGone, 30, false)
}

// Whose pages are lost one by one, or as ever, or are few, or whose site is not to be guarded, is not held back.
func TestHostWhosePagesGoIsNotGuarded(t *testing.T) {
	t.Parallel()
	unguarded := func(s *config.Settings) { s.GoneGuard = 0 }
	for name, test := range map[string]struct {
		pages, lost int
		set         func(*config.Settings)
		guards      map[int32]SiteGuard
	}{
		"few":          {12, 9, nil, nil},
		"two of two":   {2, 2, nil, nil},
		"a fifth":      {60, 12, nil, nil},
		"guard is off": {12, 12, unguarded, nil},
		"as ever":      {40, 16, nil, map[int32]SiteGuard{1: {LossPerDay: 0.2}}},
	} {
		h := newLossHost(t, test.pages, test.set, test.guards)
		h.visits(0, 1, goneAway) // they are counted since then
		h.visits(test.lost, test.pages, same)
		h.visits(1, test.lost, goneAway)
		h.now = h.now.Add(3 * time.Hour)
		h.visits(0, test.lost, goneAway)
		h.are(name, models.StateGone, test.lost, false)
	}
}

// Pages that are lost a few a week add up to nothing.
func TestLossesOfWeeksAgoAreForgotten(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 40, nil, nil)
	for i := 0; i < 30; i += 3 {
		h.visits(i, i+3, goneAway)
		h.visits(i+3, 40, same)
		h.now = h.now.Add(7 * 24 * time.Hour)
		h.visits(i, i+3, goneAway)
	}
	h.are("after ten weeks", models.StateGone, 30, false)
}

// What was gone before a host was guarded does not keep it guarded: that is over when of what was held back all is back or approved of, and
// what is lost next is counted anew.
func TestGuardOfAHostEndsWithWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]models.Outcome{"back": same, "approved of": goneAway} {
		h := newLossHost(t, 30, nil, nil)
		for i := range 9 { // one after the other, and all gone
			h.visits(i, i+1, goneAway)
			h.now = h.now.Add(guardSees)
			h.visits(i, i+1, goneAway)
		}
		h.visits(10, 30, same)
		h.visits(9, 10, goneAway)
		h.now = h.now.Add(guardSees)
		h.visits(9, 10, goneAway)
		h.are(name+", the tenth", models.StateGone, 9, true)
		h.pages[9].Rule = models.RuleApproved
		h.visits(9, 10, back)
		h.are(name, models.StateMissing, 0, false)
		h.visits(10, 11, notFound)
		h.are(name+", and one lost after that", models.StateMissing, 1, false)
	}
}

// A host that is guarded is so no longer than what it is guarded for is settled: pages that are excluded are waited for no more, neither are
// those that nobody looks at any more while others are looked at, since their site was removed; nor does it begin while the guard is off, or
// stays for what was gone then.
func TestGuardOfAHostEndsWhereNothingIsWaitedFor(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	excluded := models.Outcome{Kind: models.Excluded, Detail: "exclude /old/"}
	begin := func(t *testing.T) *lossHost {
		h := newLossHost(t, 20, nil, nil)
		h.visits(12, 20, same)
		h.visits(0, 12, notFound)
		h.are("lost", models.StateMissing, 12, true)
		return h
	}
	next := func(h *lossHost, days int) { // the others' visits, when they are due
		for range days {
			h.now = h.now.Add(day)
			for i := 12; i < 20; i++ {
				h.pages[i].DueAt = models.At(h.now)
			}
			h.visits(12, 20, same)
		}
	}
	h := begin(t)
	h.visits(0, 12, excluded)
	h.are("excluded", models.StateExcluded, 12, false)
	h = begin(t)
	h.visits(0, 11, excluded)
	h.visits(11, 12, same)
	h.are("excluded but for one, which is back", models.StateLive, 9, false)

	h = begin(t) // and removed: fr_max is 30 days in this configuration
	next(h, 60)
	h.are("for as long as they may not be due", models.StateMissing, 12, true)
	next(h, 2)
	h.are("unseen for longer", models.StateMissing, 12, false)
	h.visits(12, 13, notFound)
	h.are("and one lost after that", models.StateMissing, 13, false)

	h = begin(t)
	next(h, 30)
	h.visits(0, 1, notFound)
	next(h, 40)
	h.are("one was looked at", models.StateMissing, 12, true)
	h.now = h.now.Add(100 * day)
	h.visits(12, 20, same)
	next(h, 20)
	h.are("nobody looked at any", models.StateMissing, 12, true)

	h = begin(t)
	c := testConfig()
	c.Sites[0].Settings.GoneGuard = 0
	on := h.planner
	h.planner = testPlanner(t, c)
	for range 4 {
		h.now = h.now.Add(day)
		h.visits(0, 12, notFound)
	}
	h.planner = on
	h.visits(12, 20, same)
	h.are("gone while the guard was off", models.StateGone, 12, false)
}

// A host with few pages is guarded when all of them are lost: until they are back, or one turns out to have been there all the time, or for thirty days,
// after which they are gone without anybody's word.
func TestWholeHostWithFewPagesIsGuarded(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	next := func(h *lossHost, days, from int, out models.Outcome) {
		for range days {
			h.now = h.now.Add(day)
			for i := range h.pages {
				h.pages[i].DueAt = models.At(h.now)
			}
			h.visits(from, len(h.pages), out)
		}
	}
	for name, out := range map[string]models.Outcome{"404": notFound, "410": goneAway} {
		h := newLossHost(t, 5, nil, nil)
		h.visits(0, 5, out)
		held := 5
		if name == "410" {
			held -= fewGone
		}
		h.are(name, models.StateMissing, held, true)
		next(h, 29, 0, out)
		h.are(name+", weeks later", models.StateMissing, held, true)
		next(h, 3, 0, out)
		h.are(name+", a month later", models.StateGone, 5, false)

		h = newLossHost(t, 5, nil, nil)
		h.visits(0, 5, out)
		next(h, 9, 0, out)
		next(h, 1, 0, same)
		h.are(name+", back after days", models.StateLive, 5, false)
	}
	h := newLossHost(t, 5, nil, nil)
	h.visits(0, 3, notFound)
	h.are("three", models.StateMissing, 3, true)
	h.visits(3, 5, same)
	h.are("the others are there", models.StateMissing, 3, false)
	next(h, 1, 0, notFound)
	next(h, 1, 0, notFound)
	next(h, 1, 0, notFound)
	h.are("now they are lost as well", models.StateGone, 5, false)
}

// What a host with few pages is guarded for ends after thirty days, too, where one of them came back, or where others are named that are not there; and one
// that was guarded for many stays so while few of them are still waited for.
func TestGuardOfFewPagesEndsAndThatOfManyStays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	next := func(h *lossHost, days, from, to int, out models.Outcome) {
		for range days {
			h.now = h.now.Add(day)
			for i := range h.pages {
				h.pages[i].DueAt = models.At(h.now)
			}
			h.visits(from, to, out)
		}
	}
	h := newLossHost(t, 8, nil, nil)
	h.visits(0, 8, notFound)
	next(h, 1, 0, 1, same)
	next(h, 28, 1, 8, notFound)
	h.are("one is back", models.StateMissing, 7, true)
	next(h, 5, 1, 8, notFound)
	h.are("one is back, a month later", models.StateGone, 7, false)

	h = newLossHost(t, 5, nil, nil)
	h.visits(0, 5, notFound)
	h.host.Pages += 20
	next(h, 33, 0, 5, notFound)
	h.are("others are named, a month later", models.StateGone, 5, false)

	h = newLossHost(t, 40, nil, nil)
	h.visits(0, 30, notFound)
	h.are("most are lost", models.StateMissing, 30, true)
	next(h, 1, 0, 21, same)
	h.visits(30, 31, same)
	next(h, 3, 21, 30, notFound)
	h.are("nine of thirty are waited for, and one was there all the time", models.StateMissing, 9, true)

	h = newLossHost(t, 12, nil, nil)
	h.visits(0, 12, notFound)
	next(h, 3, 0, 12, notFound)
	h.are("all are lost", models.StateMissing, 12, true)
	for i := range 3 {
		h.pages[i].Rule = models.RuleApproved
	}
	h.visits(0, 3, notFound)
	next(h, 40, 3, 12, notFound)
	h.are("nine of twelve are waited for, three were approved of", models.StateMissing, 9, true)
}

// A page that is itself and a redirect in turn is one that leads there, however often: no other page does.
func TestOnePageThatFlipsDoesNotStray(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 3, nil, nil)
	for range 3 {
		h.visits(0, 1, redirect)
		h.are("redirected", models.StateMoved, 1, false)
		h.visits(0, 1, same)
	}
	h.visits(1, 2, redirect)
	h.are("another page leads there", models.StateMissing, 1, false)
}

// Pages that are moved lead each to another page, and are where they lead at once; so does one that leads to the front page, as soon as it is sure
// to have been seen.
func TestMovedPagesAreNotLost(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 30, nil, nil)
	for i := range h.pages {
		h.visits(i, i+1, models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: fmt.Sprintf("https://new.test/view?id=%d", i)})
	}
	h.are("each to another page", models.StateMoved, 30, false)
	front := models.Outcome{Kind: models.Moved, Status: 301, Sent: 1, RedirectTo: "https://one.test/"}
	h = newLossHost(t, 30, nil, nil)
	h.visits(0, 1, front)
	h.visits(1, 30, same)
	h.are("one to the front page", models.StateMissing, 1, false)
	h.now = h.now.Add(guardSees)
	h.visits(0, 1, front)
	if h.are("two hours later", models.StateMoved, 1, false); len(h.events) != 1 || h.events[0] != models.EventMoved {
		t.Errorf("events %v, want that it moved", h.events)
	}
}

// A log-in form is told where its reader came from, and is one all the same: the first page is there, what follows is held back.
func TestPagesThatAllLeadToALogInFormAreHeldBack(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 40, nil, nil)
	for i := range h.pages {
		h.visits(i, i+1, models.Outcome{Kind: models.Moved, Status: 302, Sent: 1, RedirectTo: fmt.Sprintf("https://one.test/login?next=%%2Fp%d&lang=en", i)})
	}
	h.are("at once", models.StateMissing, 39, true)
}

// Of a guarded site no page is where all others lead, on whichever host.
func TestGuardedSiteHoldsBackWhatLeadsAstray(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 2, nil, map[int32]SiteGuard{1: {Held: true}})
	out := models.Outcome{Kind: models.Moved, Status: 302, Sent: 1, RedirectTo: "https://parking.test/"}
	for range 3 {
		h.visits(0, 2, out)
		h.now = h.now.Add(24 * time.Hour)
	}
	h.are("guarded", models.StateMissing, 2, false)
	out.RedirectTo = "https://elsewhere.test/sale"
	h.visits(0, 2, out)
	h.are("leading elsewhere next", models.StateMissing, 2, false)
	if h.pages[0].Rule != models.RuleGuarded || h.pages[0].Note != "redirects to https://elsewhere.test/sale, as a page does that is lost" {
		t.Errorf("due by %v, note %q", h.pages[0].Rule, h.pages[0].Note)
	}
}

// A redirect while the host is down, as other answers show that come with status 200, is one of a page that is lost; once a page has shown its
// content again, or of that nothing was heard for days, it is where the page leads.
func TestRedirectOfAHostThatIsDownStrays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		absent, shown time.Duration // ago; 0: never
		want          models.PageState
	}{
		"down":           {time.Hour, 2 * time.Hour, models.StateMissing},
		"down, unseen":   {time.Hour, 0, models.StateMissing},
		"well":           {2 * time.Hour, time.Hour, models.StateMoved},
		"down long ago":  {48 * time.Hour, 0, models.StateMoved},
		"was never down": {0, 0, models.StateMoved},
	} {
		h := newLossHost(t, 3, nil, nil)
		for at, ago := range map[*models.Instant]time.Duration{&h.host.Trials.AbsentAt: test.absent, &h.host.Trials.ShownAt: test.shown} {
			if ago > 0 {
				*at = models.At(h.now.Add(-ago))
			}
		}
		h.visits(0, 1, redirect)
		h.are(name, test.want, 1, false)
		h.now = h.now.Add(guardSees)
		h.visits(0, 1, redirect)
		h.are(name+", two hours later", models.StateMoved, 1, false)
	}
}

// A host whose pages answer 200 with its page for what is not there is known by that as long as they do: forgotten after two months, they would
// not be missing any more but show nobody knows what, until others were seen to be well once more.
func TestPagesMissingWithStatus200KeepTheirHostKnown(t *testing.T) {
	t.Parallel()
	h := newLossHost(t, 2, nil, nil)
	h.pages[1].ContentType = "text/html"
	h.host.Trials.Absent(h.now)
	for range 10 {
		h.now = h.now.Add(10 * 24 * time.Hour)
		h.visits(0, 1, models.Outcome{Kind: models.Missing, Status: 200, Sent: 1})
		h.visits(1, 2, same)
	}
	if trials := h.host.Trials; trials.AbsentAt == 0 || trials.ShownAt < trials.AbsentAt {
		t.Errorf("after a hundred days a page was absent at %v, one was well at %v", trials.AbsentAt, trials.ShownAt)
	}
}
