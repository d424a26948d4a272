package recrawl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// site is a host of some pages, each with a content of its own, that are visited when they are due.
type site struct {
	*life
	origin *hostile.Origin
	urls   []string
	visits map[string]int
}

// newSite makes a host of n pages that are kept and visited once a day.
func newSite(t *testing.T, n int) *site {
	t.Helper()
	s := &site{origin: listen(t, nil), visits: map[string]int{}}
	s.life = newLife(t, func(_ *Config, s *config.Settings) { s.Policy, s.FR, s.FRMax, s.Vary = "fixed", 24, 24*14, 0 })
	s.step = time.Minute
	for i := range n {
		url := s.origin.URL(fmt.Sprintf("/docs/%d", i))
		s.urls = append(s.urls, url)
		s.shows(i)
		wantKind(t, s.turn(url), models.First)
	}
	return s
}

// shows has pages answer with their contents, and with a tag as sites do that send what stands in a page's place without one.
func (s *site) shows(pages ...int) {
	for _, i := range pages {
		main := strings.ReplaceAll(terms(fmt.Sprint(i+2, " pounds")), "storage", strings.Repeat("stor", i+1)) +
			strings.Repeat(fmt.Sprintf("<p>The rules of part %d are laid down in the handbook, which is sent on request.</p>", i), i+1)
		s.origin.Set(fmt.Sprintf("/docs/%d", i), page(framed(fmt.Sprint("Rules ", i), main, 0)))
	}
}

// absent has pages answer with the same text.
func (s *site) absent(body string, pages ...int) {
	for _, i := range pages {
		s.origin.Set(fmt.Sprintf("/docs/%d", i), page(body))
	}
}

// until visits pages as they are due until so long from now; each is told of every visit.
func (s *site) until(long time.Duration, each func(url string, out models.Outcome)) {
	s.t.Helper()
	for end := s.clock.Now().Add(long); ; {
		next := s.urls[0]
		for _, url := range s.urls {
			if s.pages[url].DueAt < s.pages[next].DueAt {
				next = url
			}
		}
		due := s.pages[next].DueAt.Time()
		if due.After(end) {
			s.step = end.Sub(s.clock.Now())
			if err := s.clock.SleepUntil(s.t.Context(), end); err != nil {
				s.t.Fatal(err)
			}
			return
		}
		s.step = max(due.Sub(s.clock.Now()), 0)
		out := s.turn(next)
		s.visits[next]++
		if each != nil {
			each(next, out)
		}
	}
}

const (
	downForMaintenance = `<!doctype html><title>Example Services</title><h1>We'll be back soon</h1><p>We are down for maintenance.</p>`
	noSuchRules        = `<!doctype html><title>Example Services</title><p>Sorry, this document could not be found.</p>`
)

// wantKept fails where a page has another version than its first, or a change.
func (s *site) wantKept(url string) {
	s.t.Helper()
	if p := s.pages[url]; p.Version != 1 || p.Stats.Changes != 0 || p.ByteChanges != 0 {
		s.t.Errorf("%s has version %d, %d changes", url, p.Version, p.Stats.Changes)
	}
}

// TestFault_041_OutageWithStatus200: a host answers everything with status 200 and a maintenance page, for hours or for weeks. No copy
// is replaced, no change is seen, the page says since when and what is waited for, and afterwards all is as it was; meanwhile the
// host is asked some times soon, and then no more often than ever.
func TestFault_041_OutageWithStatus200(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	frame := framed("Maintenance", `<p>At present we move our machines into another hall. All of our services stand still until that is done, and
		we ask for your patience. Nothing that you have entrusted to us is lost, all contracts go on, and no fee is due for these days.</p>
		<p>Our people on the telephone know no more than what is written here; please do not call them. As soon as there is news it will stand
		here. What was ordered before the move is sent out afterwards, in the order in which it came.</p>`, 3)
	for name, test := range map[string]struct {
		pages int
		body  string
		lasts time.Duration
		asked int // at most, of a page
	}{
		"six hours":                {6, downForMaintenance, 6 * time.Hour, 6},
		"three days":               {6, downForMaintenance, 3 * day, 10},
		"three weeks":              {6, downForMaintenance, 21 * day, 30},
		"three days, one page":     {1, downForMaintenance, 3 * day, 10},
		"six hours, in its frame":  {6, frame, 6 * time.Hour, 6},
		"six days, in its frame":   {6, frame, 6 * day, 16},
		"two weeks, in its frame":  {6, frame, 14 * day, 25},
		"four weeks, in its frame": {12, frame, 28 * day, 43},
		"twenty hours, one page":   {1, frame, 20 * time.Hour, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, test.pages)
			s.until(12*time.Hour, nil)
			all := make([]int, test.pages)
			for i := range all {
				all[i] = i
			}
			s.absent(test.body, all...)
			began := s.clock.Now()
			clear(s.visits)
			s.until(test.lasts, func(url string, out models.Outcome) {
				wantFailed(t, out, models.ErrorPage)
				if p := s.pages[url]; !strings.Contains(p.Note, "since 2026-01-0") || !strings.Contains(p.Note, "the last good version stays") {
					t.Errorf("%s after %v: %q", url, s.clock.Now().Sub(began), p.Note)
				}
			})
			s.shows(all...)
			for _, url := range s.urls {
				if n := s.visits[url]; n > test.asked {
					t.Errorf("%s was asked for %d times in %v, more than %d", url, n, test.lasts, test.asked)
				}
			}
			s.until(day+time.Hour, func(url string, out models.Outcome) { wantKind(t, out, models.SameBytes) })
			for _, url := range s.urls {
				s.wantKept(url)
				if p := s.pages[url]; p.State != models.StateLive || p.Failures != 0 || p.Note != "" {
					t.Errorf("%s is %v, %d failures, %q", url, p.State, p.Failures, p.Note)
				}
			}
			if noise := content.DecodeHost(s.past.memories[models.HostMemoryID]).Noise(); len(noise) > 0 {
				t.Errorf("afterwards the host is remembered to show %v", noise)
			}
		})
	}
}

// TestFault_041_FoundInAnOutage: a page that is found while its host is down has no content yet, and neither has one that is not kept.
func TestFault_041_FoundInAnOutage(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	s.absent(downForMaintenance, 0, 1, 2, 3)
	s.until(2*24*time.Hour, nil)
	found := s.origin.URL("/docs/3")
	wantFailed(t, s.turn(found), models.ErrorPage)
	clear(s.past.bodies) // as of pages that ask not to be kept
	wantFailed(t, s.turn(s.urls[0]), models.ErrorPage)
	s.shows(0, 1, 2, 3)
	s.urls = append(s.urls, found)
	s.until(2*24*time.Hour, nil)
	for _, url := range s.urls {
		s.wantKept(url)
		if p := s.pages[url]; p.State != models.StateLive || p.Failures > 0 {
			t.Errorf("%s is %v, %d failures", url, p.State, p.Failures)
		}
	}
}

// TestFault_041_OnePageBecameShort: where one page alone is replaced by a short text, and stays so, that is a change, after days.
func TestFault_041_OnePageBecameShort(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4)
	s.absent(`<!doctype html><title>Example Services</title><p>This service has come to its end; thank you all.</p>`, 2)
	began, changed := s.clock.Now(), time.Duration(0)
	s.until(10*24*time.Hour, func(url string, out models.Outcome) {
		switch {
		case url != s.urls[2]:
			wantKind(t, out, models.SameBytes)
		case out.Kind == models.Changed && changed == 0:
			changed = s.clock.Now().Sub(began)
		case changed > 0:
			wantKind(t, out, models.SameBytes)
		}
	})
	if days := changed.Hours() / 24; days < 4 || days > 6 {
		t.Errorf("it is a change after %.1f days, want four and some", days)
	}
	if p := s.pages[s.urls[2]]; p.Version != 2 || p.Stats.Changes != 1 || p.State != models.StateLive || p.Failures != 0 {
		t.Errorf("version %d, %d changes, %v", p.Version, p.Stats.Changes, p.State)
	}
	s.wantKept(s.urls[0])
}

// TestFault_042_Soft404WithoutAProbe: pages that are no more get the host's text for that while others are well: they are missing after
// a day, as if they had answered 404, gone by the rules for that, their copies kept; and what comes back is as it was.
func TestFault_042_Soft404WithoutAProbe(t *testing.T) {
	t.Parallel()
	s := newSite(t, 6)
	s.absent(noSuchRules, 1, 4)
	missing := map[string]bool{}
	s.until(12*24*time.Hour, func(url string, out models.Outcome) {
		if missing[url] = missing[url] || out.Kind == models.Missing; missing[url] {
			wantKind(t, out, models.Missing)
		}
	})
	for i, url := range s.urls {
		s.wantKept(url)
		want := models.StateLive
		if i == 1 || i == 4 {
			want = models.StateGone
		}
		if p := s.pages[url]; p.State != want {
			t.Errorf("%s is %v (%s), want %v", url, p.State, p.Note, want)
		}
	}
	s.shows(1, 4)
	s.until(15*24*time.Hour, nil)
	for _, url := range s.urls {
		s.wantKept(url)
		if p := s.pages[url]; p.State != models.StateLive {
			t.Errorf("%s is %v (%s) afterwards", url, p.State, p.Note)
		}
	}
}

// TestFault_041_PutTogether: pages that are replaced for good by one and the same text of the size of a page have that text after a week.
func TestFault_041_PutTogether(t *testing.T) {
	t.Parallel()
	s := newSite(t, 5)
	body := framed("All of our rules", `<p>Whoever opens an account with us from May on finds everything that is to be known in this one paper, which takes the place of all
		that stood here before. It was written anew by our lawyers, is much shorter, and holds for everybody alike.</p><p>Nobody has to do
		anything: what was agreed before goes on unchanged until its end, and whoever does not like the new paper may leave at any time without
		giving a reason, and gets back what was paid in advance.</p>`, 4)
	s.absent(body, 1, 2, 3)
	began := s.clock.Now()
	s.until(9*24*time.Hour, func(url string, out models.Outcome) {
		if after := s.clock.Now().Sub(began); out.Kind == models.Changed && after < 7*24*time.Hour {
			t.Errorf("%s has changed after %v", url, after)
		}
	})
	for i, url := range s.urls {
		want := int32(1)
		if i >= 1 && i <= 3 {
			want = 2
		}
		if p := s.pages[url]; p.Version != want || p.State != models.StateLive || p.Failures > 0 {
			t.Errorf("%s has version %d, %v, %q; want version %d", url, p.Version, p.State, p.Note, want)
		}
	}
}

// TestFault_041_MixedOutage: for days and for weeks a host answers in turn with 200 and a maintenance page, 503, 404, and a redirect to its
// log-in form, whichever each page gets after the first time. No copy is replaced, none of many pages is gone, and afterwards all is as it was: nothing is
// remembered of any page as showing something else.
func TestFault_041_MixedOutage(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	answers := []hostile.Answer{page(downForMaintenance), hostile.Whole(503, nil, "down"), hostile.Whole(404, nil, "no"),
		hostile.Whole(302, map[string]string{"Location": "/login"}, "")}
	for name, test := range map[string]struct {
		pages int
		lasts time.Duration
		most  int // answers of the host that are mixed
	}{
		"three days, one page":     {1, 3 * day, 2},
		"three days, five pages":   {5, 3 * day, 2},
		"three weeks, five pages":  {5, 21 * day, 2},
		"three days, twelve pages": {12, 3 * day, 4},
		"three weeks, twelve":      {12, 21 * day, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, test.pages)
			s.until(12*time.Hour, nil)
			began, all := s.clock.Now(), make([]int, test.pages)
			set := func(i, visit int) {
				s.origin.Set(fmt.Sprintf("/docs/%d", i), answers[(min(visit, 1)*i*7+visit*5+visit/3)%test.most])
			}
			for i := range all {
				all[i] = i
				set(i, 0)
			}
			s.until(test.lasts, func(url string, out models.Outcome) {
				if out.Kind == models.Changed {
					t.Errorf("%s has changed after %v", url, s.clock.Now().Sub(began))
				}
				for i := range all {
					if s.urls[i] == url {
						set(i, s.visits[url])
					}
				}
			})
			for _, url := range s.urls {
				if p := s.pages[url]; p.State == models.StateGone {
					t.Errorf("%s is gone at the end: %s", url, p.Note)
				}
			}
			s.shows(all...)
			s.until(15*day, nil)
			for _, url := range s.urls {
				s.wantKept(url)
				if p := s.pages[url]; p.State != models.StateLive || p.Failures != 0 || p.Note != "" {
					t.Errorf("%s is %v, %d failures, %q", url, p.State, p.Failures, p.Note)
				}
			}
			if noise := content.DecodeHost(s.past.memories[models.HostMemoryID]).Noise(); len(noise) > 0 {
				t.Errorf("afterwards the host is remembered to show %v", noise)
			}
			if s.host.GuardedAt != 0 {
				t.Errorf("afterwards the host is guarded: %+v", s.host.Trials.Losses)
			}
		})
	}
}
