package scheduler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// The world of these tests: a host of which all pages go on one day, and some come back where they were.
const (
	returningPages = 40
	deadPages      = 100 // that stay away
	goneOn         = 10  // the day on which all of them go
	backFrom       = 60  // the day on which the first is back; the others are on the days after it
	returningDays  = 140

	returningBudget = 20 // requests a day
)

// returning is a host, and what names its pages.
type returning struct {
	listed bool // the sitemap names what is there, with dates from before it went
	linked bool // the front page links to what is there
	lies   bool // the sitemap names what is gone as well, with the time of its reading
	turns  bool // the front page links to some of what is gone, to others each time
	once   bool // the sitemap names all that is gone on one day, and on no other

	clock   *clock.Virtual
	base    string
	address netip.Addr

	mu    sync.Mutex
	named [returningPages]time.Time // guarded by mu; when something named each page first after it was back
	found [returningPages]time.Time // guarded by mu; when it was first served after that
	looks int                       // guarded by mu; requests for what is gone
	dice  *rand.Rand                // guarded by mu
}

func onDay(n int) time.Time { return listedFrom.AddDate(0, 0, n) }

// there tells whether a page is.
func there(page int, now time.Time) bool {
	return now.Before(onDay(goneOn)) || page < returningPages && !now.Before(onDay(backFrom+page))
}

// LookupNetIP implements recrawl.Resolver.
func (h *returning) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{h.address}, nil
}

// ServeHTTP implements http.Handler.
func (h *returning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, page := h.clock.Now(), 0
	switch _, err := fmt.Sscanf(r.URL.Path, "/page/%d", &page); {
	case r.URL.Path == "/robots.txt":
		if h.listed || h.lies || h.once {
			fmt.Fprintf(w, "Sitemap: %s/sitemap.xml\n", h.base)
		}
	case r.URL.Path == "/sitemap.xml":
		w.Header().Set("Content-Type", "application/xml")
		h.list(w, now)
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html")
		h.front(w, now)
	case err == nil && there(page, now):
		if now.After(onDay(goneOn)) && h.found[page].IsZero() {
			h.found[page] = now
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%d</title><main><p>%s</p></main>", page, strings.Repeat(fmt.Sprintf("word%d. ", page), 30))
	default:
		h.looks++
		http.NotFound(w, r)
	}
}

func (h *returning) list(w http.ResponseWriter, now time.Time) {
	fmt.Fprintf(w, "<urlset><url><loc>%s/</loc></url>", h.base)
	once := h.once && !now.Before(onDay(backFrom)) && now.Before(onDay(backFrom+1))
	for i := range returningPages + deadPages {
		switch is := there(i, now); {
		case is && !h.once:
			h.name(i, now)
			fmt.Fprintf(w, "<url><loc>%s/page/%d</loc><lastmod>2020-02-02</lastmod></url>", h.base, i)
		case !is && (h.lies || once):
			fmt.Fprintf(w, "<url><loc>%s/page/%d</loc><lastmod>%s</lastmod></url>", h.base, i, now.Format(time.RFC3339))
		}
	}
	fmt.Fprint(w, "</urlset>")
}

func (h *returning) front(w http.ResponseWriter, now time.Time) {
	fmt.Fprintf(w, "<p>%s</p>", strings.Repeat(fmt.Sprintf("day%d ", int(now.Sub(listedFrom).Hours()/24)), 30))
	for i := range returningPages + deadPages {
		is := there(i, now)
		if is && (h.linked || now.Before(onDay(goneOn))) || !is && h.turns && h.dice.IntN(10) == 0 {
			h.name(i, now)
			fmt.Fprintf(w, "<p>Page number %d <a href=/page/%d>is here</a></p>", i, i)
		}
	}
}

// name notes that a page is named.
func (h *returning) name(page int, now time.Time) {
	if page < returningPages && !now.Before(onDay(backFrom+page)) && h.named[page].IsZero() {
		h.named[page] = now
	}
}

// follow has the host followed, and returns how long after they were back its pages were found, on the mean, and
// how long at most after they were named.
func (h *returning) follow(t *testing.T, perDay float64) (late, after time.Duration) {
	t.Helper()
	h.clock, h.dice = clock.NewVirtual(listedFrom), rand.New(rand.NewPCG(1, 1))
	server := httptest.NewUnstartedServer(h)
	server.Listener.Close()
	server.Listener, h.address = listenAnywhere(t)
	server.Start()
	t.Cleanup(server.Close)
	h.base = "http://returning.test:" + listedPort
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Delay, c.Defaults.GoneGuard, c.Defaults.Probe = "classic", time.Second, 0, 0
	if c.Defaults.FRMax = 40; perDay > 0 {
		c.Budget = config.Budget{Requests: config.Rate{PerDay: perDay}}
	}
	store := followSite(t, h.clock, h, &c, onDay(returningDays), h.base+"/")
	missed := 0
	for i, at := range h.found {
		if at.IsZero() {
			missed, at = missed+1, onDay(returningDays)
		}
		late += at.Sub(onDay(backFrom+i)) / returningPages
		if named := h.named[i]; !named.IsZero() {
			after = max(after, at.Sub(named))
		}
	}
	dump, err := store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("back for %.1f d on the mean when found, up to %v after they were named, %d not found; %d looks at what is gone; %+v",
		late.Hours()/24, after, missed, h.looks, dump.Hosts[0].Trials.By[models.HintNamed])
	return late, after
}

// TestPagesThatComeBackAreFound: what names pages that are back has them found when it is read next, and that at once, also under a budget; what names
// pages that are not there costs next to nothing.
func TestPagesThatComeBackAreFound(t *testing.T) {
	t.Parallel()
	looks := make(map[string]int)
	var mu sync.Mutex
	t.Run("hosts", func(t *testing.T) {
		for name, test := range map[string]struct {
			*returning
			perDay float64       // the budget; 0: none
			late   time.Duration // at most, on the mean
			after  time.Duration // at most, after they were named
		}{
			"nothing":         {&returning{}, 0, 0, 0},
			"a sitemap":       {&returning{listed: true}, 0, 24 * time.Hour, 10 * time.Minute},
			"links":           {&returning{linked: true}, 0, 36 * time.Hour, 10 * time.Minute},
			"lies of dates":   {&returning{lies: true}, 0, 0, 0},
			"links in turn":   {&returning{turns: true}, 0, 0, 0},
			"all on one day":  {&returning{once: true}, 0, 0, 0},
			"with a budget":   {&returning{listed: true}, returningBudget, 48 * time.Hour, 48 * time.Hour},
			"lies, a budget":  {&returning{lies: true}, returningBudget, 0, 0},
			"nothing, budget": {&returning{}, returningBudget, 0, 0},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				late, after := test.follow(t, test.perDay)
				if test.late > 0 && (late > test.late || after > test.after) {
					t.Errorf("pages are back for %v on the mean when they are found, up to %v after they are named; want at most %v and %v", late, after, test.late, test.after)
				}
				if test.late == 0 && late < 8*24*time.Hour {
					t.Errorf("pages that nothing is to be believed of are found after %v: these hosts show nothing", late)
				}
				mu.Lock()
				defer mu.Unlock()
				looks[name] = test.looks
			})
		}
	})
	for name, beside := range map[string]string{"lies of dates": "nothing", "links in turn": "nothing", "all on one day": "nothing", "lies, a budget": "nothing, budget"} {
		if most := looks[beside] * 6 / 5; looks[name] > most {
			t.Errorf("%s: %d looks at what is gone, want at most %d", name, looks[name], most)
		}
	}
}
