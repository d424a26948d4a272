package recrawl

import (
	"strings"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/recrawl/content"
)

// finds adds a page that is known from now on, and gives it its first turn.
func (s *site) finds(path, body string) (string, models.Outcome) {
	s.t.Helper()
	url := s.origin.URL(path)
	s.origin.Set(path, page(body))
	s.step = time.Minute
	found := pageOf(s.t, url)
	found.FRMax = 24
	s.pages[url] = found
	out := s.turn(url)
	s.urls = append(s.urls, url)
	return url, out
}

const (
	noPage    = `<!doctype html><title>Page not found – Example Services</title><h1>Page not found</h1><p>Sorry, the page you requested does not exist.</p>`
	wantsName = `<!doctype html><title>Sign in – Example Services</title><form><p>User name</p><input><input type=password><button>Go</button></form>`
)

// TestFault_041_FirstCopyInAnOutage: pages that never showed anything else are found while their host answers 200 with what is clearly
// no page. None of them becomes a version, nobody hears of one, they are asked sparingly, and afterwards each is a new page.
func TestFault_041_FirstCopyInAnOutage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body  string
		class models.ErrorClass
	}{
		"maintenance": {downForMaintenance, models.ErrorPage}, "not found": {noPage, models.ErrorPage},
		"a log-in form": {wantsName, models.LoginWall}, "a block page": {`<title>Just a moment...</title><p>Checking your browser`, models.BlockPage},
	} {
		for _, pages := range []int{1, 4} {
			s := newSite(t, 0)
			for i := range pages {
				_, out := s.finds("/docs/"+string(rune('0'+i)), test.body)
				wantFailed(t, out, test.class)
				if out.Body != nil || !strings.Contains(out.Detail, "it is not taken for the page yet") {
					t.Errorf("%s: a body of %d bytes, %q", name, len(out.Body), out.Detail)
				}
			}
			s.until(5*24*time.Hour, func(url string, out models.Outcome) { wantFailed(t, out, test.class) })
			for i, url := range s.urls {
				if p := s.pages[url]; p.Version != 0 || s.visits[url] > 11 {
					t.Errorf("%s: %s has version %d after %d visits", name, url, p.Version, s.visits[url])
				}
				s.shows(i)
			}
			firsts := 0
			s.until(2*24*time.Hour, func(_ string, out models.Outcome) {
				if out.Kind == models.First {
					firsts++
				}
			})
			for _, url := range s.urls {
				s.wantKept(url)
				if p := s.pages[url]; p.State != models.StateLive || p.Failures > 0 || p.Note != "" {
					t.Errorf("%s: afterwards %s is %v, %q", name, url, p.State, p.Note)
				}
			}
			if noise := content.DecodeHost(s.past.memories[models.HostMemoryID]).Noise(); firsts != pages || len(noise) > 0 {
				t.Errorf("%s: afterwards %d pages are new, the host shows %v", name, firsts, noise)
			}
		}
	}
}

// TestFault_042_NewPageThatIsNotThere: a link that leads to nothing, answered with 200, is missing after a day and never a document, while
// others of the host are well.
func TestFault_042_NewPageThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	url, _ := s.finds("/docs/none", noPage)
	began, missing := s.clock.Now(), time.Duration(0)
	s.until(9*24*time.Hour, func(at string, out models.Outcome) {
		if at == url && out.Kind == models.Missing && missing == 0 {
			missing = s.clock.Now().Sub(began)
		}
	})
	if p := s.pages[url]; p.Version != 0 || p.State != models.StateGone || missing < 24*time.Hour || missing > 49*time.Hour {
		t.Errorf("version %d, %v, missing after %v", p.Version, p.State, missing)
	}
}

// TestShortPagesThatSpeakOfErrors: documentation of errors is taken at once where it says more than an error does, and after a night where it does not, if
// others of the host are well.
func TestShortPagesThatSpeakOfErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<p>The server answers so if the page you requested could not be found under any name that it knows.</p>", 4)
	s := newSite(t, 3)
	for path, test := range map[string]struct {
		body string
		kind models.OutcomeKind
	}{
		"/docs/e1":    {framed("Errors of the server", long, 0), models.First},
		"/docs/e2":    {framed("Timeout", "<p>Raised when the time is over.</p>", 0), models.First},
		"/docs/e3":    {framed("Status 503", "<p>503 Service Unavailable: raised by a server that has too much to do.</p>", 0), models.Failed},
		"/login":      {wantsName, models.First},
		"/docs/frame": {`<html><frameset><frame src=/docs/1></frameset></html>`, models.First},
		"/docs/leads": {`<title>Redirecting</title><p>Redirecting to <a href=/docs/2>the rules</a>`, models.First},
	} {
		url, out := s.finds(path, test.body)
		if wantKind(t, out, test.kind); out.Kind != models.Failed {
			continue
		}
		began, taken := s.clock.Now(), time.Duration(0)
		s.until(2*24*time.Hour, func(at string, out models.Outcome) {
			if at == url && out.Kind == models.First {
				taken = s.clock.Now().Sub(began)
			}
		})
		if taken < 12*time.Hour || taken > 36*time.Hour {
			t.Errorf("%s is taken after %v", path, taken)
		}
	}
}

// TestFault_041_NoWitnessOfItsOwnOutage: a page whose first version was what its host shows in an outage does not say by it, visit after visit, that the host
// is well: copies of others stay.
func TestFault_041_NoWitnessOfItsOwnOutage(t *testing.T) {
	t.Parallel()
	const moving = `<!doctype html><title>Example Services</title><p>Our machines move into another hall these days.</p>`
	for name, tag := range map[string]string{"whole answers": "", "304": `"1"`} {
		s := newSite(t, 3)
		s.absent(moving, 0, 1, 2)
		url, out := s.finds("/docs/new", moving) // nobody knows of the outage yet
		wantKind(t, out, models.First)
		if tag != "" {
			answer := page(moving, "ETag", tag)
			s.origin.Set("/docs/new", answer)
		}
		s.until(21*24*time.Hour, func(at string, out models.Outcome) {
			if at != url {
				wantFailed(t, out, models.ErrorPage)
			} else if !out.Kind.Unchanged() {
				t.Errorf("%s: the new page is %v", name, out.Kind)
			}
		})
		for _, url := range s.urls {
			s.wantKept(url)
		}
	}
}
