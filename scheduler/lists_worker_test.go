package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
	"recrawld/scheduler"
	"recrawld/simulate"
)

// The world of these tests: pages of one host that change on their own, for some days, under a budget.
const (
	listedPages  = 60
	listedDays   = 90
	settlingDays = 15 // that count for nothing
	listedBudget = 30 // requests a day, robots.txt and lists included
)

var listedFrom = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// lastmods says what a host's sitemap says: of a page that last changed then, at now; "": it has no sitemap.
type lastmods func(changed, now time.Time) string

func honest(changed, _ time.Time) string { return changed.Format(time.RFC3339) }
func ofDay(changed, _ time.Time) string  { return changed.Format(time.DateOnly) }
func madeNow(_, now time.Time) string    { return now.Format(time.RFC3339) }

// silent was honest until the days that count.
func silent(changed, _ time.Time) string {
	return min2(changed, listedFrom.AddDate(0, 0, settlingDays)).Format(time.RFC3339)
}

// listedHost is a server with pages that change, and what is asked of it.
type listedHost struct {
	clock   *clock.Virtual
	says    lastmods // nil: no sitemap
	alone   bool     // its pages are known and nothing is followed; the sitemap names as many others, which change twice a day
	changes [listedPages][]time.Time
	base    string
	address netip.Addr // which its name stands for

	mu      sync.Mutex
	fetched [listedPages][]time.Time // guarded by mu; when each page was served, or found to be as it was
	lists   int                      // guarded by mu; requests for the sitemap
}

// newListedHost makes a host whose pages change every four days on average, some every day and some never; the same seed
// makes the same changes.
func newListedHost(t *testing.T, seed uint64, says lastmods) *listedHost {
	t.Helper()
	h := &listedHost{clock: clock.NewVirtual(listedFrom), says: says}
	dice := rand.New(rand.NewPCG(seed, 7))
	for i := range h.changes {
		every := 24 * time.Hour * time.Duration(1+2*(i%8))
		for at := listedFrom.Add(-100 * 24 * time.Hour); at.Before(listedFrom.AddDate(0, 0, listedDays)); {
			h.changes[i] = append(h.changes[i], at)
			at = at.Add(time.Duration(dice.ExpFloat64() * float64(every))).Truncate(time.Second)
		}
	}
	server := httptest.NewUnstartedServer(h)
	server.Listener.Close()
	server.Listener, h.address = listenAnywhere(t)
	server.Start()
	t.Cleanup(server.Close)
	h.base = fmt.Sprintf("http://listed-%d.test:%s", seed, listedPort)
	return h
}

// listedPort is the port of all hosts. Those of one seed have one name as well: the URLs of pages draw the times of their visits, and so
// hosts differ in what their lists say alone. Each has an address of its own.
const listedPort = "38471"

func listenAnywhere(t *testing.T) (net.Listener, netip.Addr) {
	t.Helper()
	for range 100 {
		address := netip.AddrFrom4([4]byte{127, 77, byte(rand.IntN(256)), byte(1 + rand.IntN(254))})
		if l, err := net.Listen("tcp", net.JoinHostPort(address.String(), listedPort)); err == nil {
			return l, address
		}
	}
	t.Fatal("no loopback address has the port free")
	return nil, netip.Addr{}
}

// LookupNetIP implements recrawl.Resolver: every name is the host's.
func (h *listedHost) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{h.address}, nil
}

// version is how often a page has changed by now, and when it last did.
func (h *listedHost) version(page int, now time.Time) (int, time.Time) {
	n, met := slices.BinarySearchFunc(h.changes[page], now, time.Time.Compare)
	if !met {
		n--
	}
	return n, h.changes[page][n]
}

// ServeHTTP implements http.Handler.
func (h *listedHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	var page int
	switch {
	case r.URL.Path == "/robots.txt":
		if h.says != nil {
			fmt.Fprintf(w, "Sitemap: %s/sitemap.xml\n", h.base)
		}
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html")
		for i := range listedPages {
			fmt.Fprintf(w, "<p>Page number %d <a href=/%d>is here</a></p>", i, i)
		}
	case r.URL.Path == "/sitemap.xml" && h.says != nil:
		h.lists++
		h.sitemap(w, now)
	default:
		if n, err := fmt.Sscanf(r.URL.Path, "/%d", &page); n != 1 || err != nil || page >= listedPages {
			http.NotFound(w, r)
			return
		}
		version, _ := h.version(page, now)
		h.fetched[page] = append(h.fetched[page], now)
		tag := fmt.Sprintf(`"%d"`, version)
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%d</title><main><p>%s</p></main>", page, strings.Repeat(fmt.Sprintf("word%dof%d. ", version, page), 30))
	}
}

func (h *listedHost) sitemap(w http.ResponseWriter, now time.Time) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, "<urlset>")
	for i := range listedPages {
		_, changed := h.version(i, now)
		fmt.Fprintf(w, "<url><loc>%s/%d</loc><lastmod>%s</lastmod></url>", h.base, i, h.says(changed, now))
		if h.alone {
			fmt.Fprintf(w, "<url><loc>%s/other/%d</loc><lastmod>%s</lastmod></url>", h.base, i, now.Truncate(12*time.Hour).Format(time.RFC3339))
		}
	}
	fmt.Fprint(w, "</urlset>")
}

// staleness is the share of time in which our copies were out of date.
func (h *listedHost) staleness() float64 {
	from, to := listedFrom.AddDate(0, 0, settlingDays), listedFrom.AddDate(0, 0, listedDays)
	var stale time.Duration
	for page, changes := range h.changes {
		for i, changed := range changes {
			until := to
			if k, _ := slices.BinarySearchFunc(h.fetched[page], changed, time.Time.Compare); k < len(h.fetched[page]) {
				until = h.fetched[page][k]
			}
			if i+1 < len(changes) && changes[i+1].Before(until) {
				until = changes[i+1]
			}
			if until = min2(until, to); until.After(from) {
				stale += until.Sub(max2(changed, from))
			}
		}
	}
	return stale.Hours() / to.Sub(from).Hours() / listedPages
}

func min2(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func max2(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (h *listedHost) visits() int {
	n := 0
	for i := range h.fetched {
		n += len(h.fetched[i])
	}
	return n
}

// shelf keeps the newest body of each page, in memory. It implements scheduler.Archive and recrawl.Past.
type shelf struct {
	mu     sync.Mutex
	bodies map[string][]byte // guarded by mu
	kinds  map[string]string // guarded by mu
	store  *simulate.Memory
}

func (s *shelf) Append(c models.Capture) (models.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies[c.URL], s.kinds[c.URL] = c.Outcome.Body, c.Outcome.ContentType
	return models.Record{File: "shelf", Length: 1}, nil
}

func (s *shelf) Sync() error { return nil }

func (s *shelf) Body(_ context.Context, p *models.Page) ([]byte, string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.bodies[p.URL]
	return body, s.kinds[p.URL], ok, nil
}

func (s *shelf) Page(ctx context.Context, bucket int16, id int64) (models.Page, error) {
	return s.store.Page(ctx, bucket, id)
}

func (s *shelf) Memory(ctx context.Context, bucket int16, host, page int64) ([]byte, error) {
	return s.store.Memory(ctx, bucket, host, page)
}

// until ends a worker when its clock has come to a time.
type until struct {
	scheduler.Visitor
	clock *clock.Virtual
	at    time.Time
	end   context.CancelFunc
}

func (u *until) Visit(ctx context.Context, t models.Turn) models.Outcome {
	if !u.clock.Now().Before(u.at) {
		u.end()
		return models.Outcome{Kind: models.Interrupted, At: t.Now}
	}
	return u.Visitor.Visit(ctx, t)
}

// follow lets a worker follow the host's pages to the end, by real requests, and returns its store.
func (h *listedHost) follow(t *testing.T, edit func(*config.Settings)) *simulate.Memory {
	t.Helper()
	c := config.Default()
	c.Defaults.Policy, c.Defaults.Delay, c.Defaults.FR = "adaptive", time.Second, 1
	c.Defaults.Audit, c.Defaults.Probe = 0, 0
	c.Budget = config.Budget{Requests: config.Rate{PerDay: listedBudget}}
	if edit != nil {
		edit(&c.Defaults)
	}
	urls := []string{h.base + "/"}
	for i := range h.changes {
		if h.alone {
			urls = append(urls, fmt.Sprintf("%s/%d", h.base, i))
		}
	}
	return followSite(t, h.clock, h, &c, listedFrom.AddDate(0, 0, listedDays), urls...)
}

// followSite lets a worker follow a site, whose start page is the first of the pages that are known, until a time, by real requests, and returns
// its store.
func followSite(t *testing.T, clk *clock.Virtual, names recrawl.Resolver, c *config.Config, end time.Time, urls ...string) *simulate.Memory {
	t.Helper()
	site := config.Site{ID: 1, Name: "site", URL: urls[0], Settings: c.Defaults}
	c.Sites = []config.Site{site}
	planner, err := scheduler.NewPlanner(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := scope.Compile(site)
	if err != nil {
		t.Fatal(err)
	}
	store := simulate.NewMemory(simulate.MemoryOptions{})
	kept := &shelf{bodies: make(map[string][]byte), kinds: make(map[string]string), store: store}
	visitor, err := recrawl.New(recrawl.Config{Agent: config.Agent{Name: "recrawld"}, Clock: clk, Past: kept, Resolver: names,
		Network: config.Network{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: []uint16{80}},
		Sites:   func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, inside, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer visitor.Close()
	for _, url := range urls {
		u, err := canon.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		adds(t, store, listedFrom, 1, u.String())
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := scheduler.NewWorker(scheduler.Config{Store: store, Archive: kept, Clock: clk, Log: slog.New(slog.DiscardHandler),
		Visitor: &until{visitor, clk, end, stop}, Name: "w", Lease: time.Hour}, planner)
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return store
}

// trial is the ledger of the host's lists.
func (h *listedHost) trial(t *testing.T, store *simulate.Memory) models.Trial {
	t.Helper()
	dump, err := store.Dump(t.Context())
	if err != nil || len(dump.Hosts) != 1 {
		t.Fatalf("%d hosts, %v", len(dump.Hosts), err)
	}
	return dump.Hosts[0].Trials.By[models.HintSitemap]
}

// followListed has a host followed and returns for how much of the time its pages were stale.
func followListed(t *testing.T, name string, seed uint64, list lastmods) float64 {
	t.Helper()
	h := newListedHost(t, seed, list)
	h.alone = name == "known alone"
	store := h.follow(t, func(s *config.Settings) {
		if h.alone {
			s.Level = 0
		}
	})
	if known, err := store.PagesKnown(t.Context()); known > listedPages+2 || err != nil {
		t.Errorf("%d pages are known, %v; want those of the host, its start page and its list", known, err)
	}
	trial, s := h.trial(t, store), h.staleness()
	t.Logf("%-10s stale %.4f, %d visits to pages, %d to the list, %+v", name, s, h.visits(), h.lists, trial)
	if most := listedBudget*listedDays + 10; h.visits()+h.lists > most {
		t.Errorf("%d requests, want at most %d", h.visits()+h.lists, most)
	}
	if believed := trial.DistrustedAt == 0; believed == (name == "made now") {
		t.Errorf("believed: %v, %+v", believed, trial)
	}
	return s
}

// TestSitemapsAreWorthWhatTheyTell: of hosts with the same changes and the same budget, one with an honest sitemap is kept
// far fresher, also where pages that are not known stay so, and one whose sitemap lies, or says nothing any more, about as fresh as one without a sitemap, on the mean of some.
func TestSitemapsAreWorthWhatTheyTell(t *testing.T) {
	t.Parallel()
	says := map[string]lastmods{"none": nil, "honest": honest, "known alone": honest, "of the day": ofDay, "made now": madeNow, "silent": silent}
	stale := make(map[string]float64)
	seeds := 4
	if testing.Short() { // where only simultaneity is looked at, that of a visitor and its server: one world, and no comparison
		says, seeds = map[string]lastmods{"honest": honest}, 1
	}
	var mu sync.Mutex
	t.Run("hosts", func(t *testing.T) {
		for name, list := range says {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(seeds) {
					s := followListed(t, name, seed+1, list)
					mu.Lock()
					stale[name] += s / float64(seeds)
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("stale on the mean: %v", stale)
	if testing.Short() {
		return
	}
	for name, most := range map[string]float64{"honest": 0.4, "known alone": 0.5, "of the day": 0.7, "made now": 1.08, "silent": 1.08} {
		if stale[name] > stale["none"]*most {
			t.Errorf("stale for %.4f of the time with the sitemap %q and %.4f with none, want at most %v times that", stale[name], name, stale["none"], most)
		}
	}
}
