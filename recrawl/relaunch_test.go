package recrawl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// relaunched has all pages of a site show other texts under other titles in another frame, each its own.
func (s *site) relaunched(edition string) {
	for i := range s.urls {
		var main strings.Builder
		for part := range 14 {
			fmt.Fprintf(&main, "<div class=card><p>%s %c%c has been written anew by %c%c for the %s house, and replaces chapter %c%c of whatever was said earlier</p></div>",
				edition, 'A'+i, 'a'+part, 'K'+i, 'k'+i, edition, 'b'+part, 'c'+i)
		}
		s.origin.Set(fmt.Sprintf("/docs/%d", i), page(fmt.Sprintf("<title>%s %c%c</title><div id=app><h1>%s, %c%c</h1>%s</div>", edition, 'A'+i, 'b'+i, edition, 'A'+i, 'a'+i, main.String())))
	}
}

// accepted visits pages until each has its second version, and returns after how long each had it: since it was first seen.
func (s *site) accepted(long time.Duration) (after []time.Duration) {
	s.t.Helper()
	seen, had := map[string]time.Time{}, map[string]time.Duration{}
	s.until(long, func(url string, out models.Outcome) {
		if _, is := seen[url]; !is && (out.Kind == models.Failed || out.Kind == models.Changed) {
			seen[url] = s.clock.Now()
		}
		if _, is := had[url]; !is && out.Kind == models.Changed {
			had[url] = s.clock.Now().Sub(seen[url])
		}
	})
	for _, url := range s.urls {
		if _, is := had[url]; !is {
			had[url] = -1
		}
		after = append(after, had[url])
	}
	return after
}

// TestARelaunchIsNoOutage: all pages of a site have other texts under other titles in another frame at once. Each is what the page is now when
// seen twice, as soon as three pages became another document each; those of fewer after a day, while no other page is known to be well.
func TestARelaunchIsNoOutage(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{1: 30 * time.Hour, 2: 30 * time.Hour, 5: 8 * time.Hour, 12: 8 * time.Hour} {
		s := newSite(t, n)
		for i, url := range s.urls { // spread over the day
			p := s.pages[url]
			p.DueAt = models.At(p.DueAt.Time().Add(time.Duration(i) * 90 * time.Minute))
			s.pages[url] = p
		}
		s.until(48*time.Hour, nil)
		s.relaunched("New")
		after := s.accepted(4 * 24 * time.Hour)
		for i, took := range after {
			if took < 0 || took > want || i > 2 && took > 15*time.Minute && n > 3 {
				t.Errorf("of %d pages number %d is accepted %v after it was seen", n, i, took)
			}
		}
		for _, url := range s.urls {
			if p := s.pages[url]; p.Version != 2 || p.Stats.Changes != 1 || p.State != models.StateLive || p.Failures > 0 {
				t.Errorf("of %d pages %s has version %d, %d changes, %v, %q", n, url, p.Version, p.Stats.Changes, p.State, p.Note)
			}
		}
	}
}

// TestAPageThatShrankIsSeenTheSameDay: of a page that has next to nothing to say any more, in its own frame and while others of its host are
// well, that is what it is after half a day; outside its frame after days, and so is an error.
func TestAPageThatShrankIsSeenTheSameDay(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		body        string
		least, most time.Duration
	}{
		"an empty list":        {framed("Rules 2", "<p>There are no entries in this list at present.</p>", 3), day / 2, day},
		"it moved":             {framed("Rules 2", "<p>This article is part of <a href=/docs/9>part nine</a>.</p>", 3), day / 2, day},
		"a redirect of a wiki": {framed("Rules 2", "<p>Redirect to: <a href=/docs/9>part nine</a></p>", 3), day / 2, day},
		"a redirect to nobody": {framed("Rules 2", "<p>Redirect error</p>", 3), 7 * day, 9 * day},
		"all is well":          {framed("Rules 2", "<p>All systems operational.</p>", 3), day / 2, day},
		"a loading screen":     {framed("Rules 2", "<p>Loading …</p>", 3), 7 * day, 9 * day},
		"without its frame":    {"<title>Rules 2</title><p>There are no entries in this list at present.</p>", 4 * day, 6 * day},
	} {
		s := newSite(t, 5)
		for i, url := range s.urls { // spread over the day
			p := s.pages[url]
			p.DueAt = models.At(p.DueAt.Time().Add(time.Duration(i) * 5 * time.Hour))
			s.pages[url] = p
		}
		s.until(48*time.Hour, nil)
		s.absent(test.body, 2)
		if took := s.accepted(12 * day)[2]; took < test.least || took > test.most {
			t.Errorf("%s: accepted after %v, want %v to %v", name, took, test.least, test.most)
		}
	}
}

// TestPagesThatLeadElsewhere: a page that only leads elsewhere by now, as a generator writes it for one that was renamed, has moved there after half a
// day, also where several of its host were renamed at once. While all lead to one place the host is down.
func TestPagesThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	leads := func(to any) string {
		return fmt.Sprintf(`<html><head><meta http-equiv="refresh" content="0; url=/new/%v"></head></html>`, to)
	}
	for _, test := range []struct {
		name  string
		pages []int
		one   bool
		moved bool
	}{{"each elsewhere", []int{1, 2, 3}, false, true}, {"all to one", []int{0, 1, 2, 3, 4}, true, false}} {
		s := newSite(t, 5)
		s.until(48*time.Hour, nil)
		for _, i := range test.pages {
			if s.absent(leads(i), i); test.one {
				s.absent(leads("maintenance"), i)
			}
		}
		start, visits := s.clock.Now(), s.visits[s.urls[2]]
		s.until(3*day, func(url string, out models.Outcome) {
			if out.Kind == models.Changed {
				t.Errorf("%s: %s has changed after %v", test.name, url, s.clock.Now().Sub(start))
			}
		})
		p := s.pages[s.urls[2]]
		if moved := p.State == models.StateMoved && p.RedirectTo == s.origin.URL("/new/2"); moved != test.moved {
			t.Errorf("%s: it is %v to %q after %d visits, %q", test.name, p.State, p.RedirectTo, s.visits[s.urls[2]]-visits, p.Note)
		}
	}
}
