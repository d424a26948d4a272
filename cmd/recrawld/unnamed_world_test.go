package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
	"recrawld/scheduler"
)

// deploying is a made-up site under a virtual clock, with a daemon's store, archive and worker that visits it over real connections.
type deploying struct {
	*daemon
	t      *testing.T
	clk    *clock.Virtual
	site   models.Site
	base   string
	answer func(path string, now time.Time) string // "": 404; "to …": a redirect; else the body
	linked string                                  // the Link header of the start page; "": none
	beside func(ctx context.Context)               // called before each visit; nil: nothing is done

	mu    sync.Mutex
	asked map[string]int         // guarded by mu; requests by path
	days  map[int]map[string]int // guarded by mu; and by day
	from  time.Time
}

func newDeploying(t *testing.T, answer func(path string, now time.Time) string) *deploying {
	t.Helper()
	store, _ := emptyStore(t)
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &deploying{t: t, clk: clock.NewVirtual(from), answer: answer, asked: make(map[string]int), days: make(map[int]map[string]int), from: from}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.base = server.URL
	dir := t.TempDir()
	kept, err := archive.Open(filepath.Join(dir, "archive"), archive.Options{Worker: "w", Now: w.clk.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	w.daemon = &daemon{store: store, archive: kept, past: &past{store: store, bodies: kept.Reader}, clock: w.clk, log: slog.New(slog.DiscardHandler),
		start: config.Config{Data: dir, Worker: config.Worker{Name: "w"}}}
	w.site, err = store.AddSite(t.Context(), from, models.Site{Name: "docs", URL: w.base + "/"})
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Cycle = "24h"
	c.Defaults.FR, c.Defaults.FRMax, c.Defaults.Policy, c.Defaults.Requisites = 1, 1, "fixed", config.RequisitesAll
	c.Defaults.Delay, c.Defaults.Vary, c.Defaults.Probe, c.Defaults.Parents.Threshold = time.Second, 0, 0, 0
	force, err := putTogether(c, config.DefaultOrigins(), []models.Site{w.site})
	if err != nil {
		t.Fatal(err)
	}
	w.force.Store(force)
	return w
}

// day is how many days have passed.
func (w *deploying) day() int { return int(w.clk.Now().Sub(w.from) / (24 * time.Hour)) }

// ServeHTTP answers as the site does at the moment.
func (w *deploying) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	path, day := r.URL.Path, w.day()
	w.asked[path]++
	if w.days[day] == nil {
		w.days[day] = make(map[string]int)
	}
	w.days[day][path]++
	w.mu.Unlock()
	body := ""
	if path != "/robots.txt" {
		body = w.answer(path, w.clk.Now())
	}
	tag := strconv.Quote(models.DigestOf([]byte(body)).String())
	switch {
	case body == "":
		http.NotFound(rw, r)
	case len(body) > 3 && body[:3] == "to ":
		http.Redirect(rw, r, body[3:], http.StatusFound)
	case r.Header.Get("If-None-Match") == tag:
		rw.WriteHeader(http.StatusNotModified)
	default:
		kinds := map[string]string{".css": "text/css", ".js": "text/javascript", ".png": "image/png", ".woff2": "font/woff2"}
		if kind := kinds[filepath.Ext(path)]; kind != "" {
			rw.Header().Set("Content-Type", kind)
		} else {
			rw.Header().Set("Content-Type", "text/html")
		}
		if path == "/" && w.linked != "" {
			rw.Header().Set("Link", w.linked)
		}
		rw.Header().Set("ETag", tag)
		fmt.Fprint(rw, body)
	}
}

// Visit implements scheduler.Visitor: it does what is done beside, and ends the worker in time.
type besideVisits struct {
	scheduler.Visitor
	world *deploying
	until time.Time
	end   context.CancelFunc
}

func (b *besideVisits) Visit(ctx context.Context, turn models.Turn) models.Outcome {
	if !b.world.clk.Now().Before(b.until) {
		b.end()
		return models.Outcome{Kind: models.Interrupted, At: turn.Now}
	}
	if b.world.beside != nil {
		b.world.beside(ctx)
	}
	return b.Visitor.Visit(ctx, turn)
}

// follow has a worker follow the site for so many days.
func (w *deploying) follow(days int) {
	w.t.Helper()
	w.startAt(w.site.ID, "/")
	w.visitFor(days)
}

// startAt adds the start page of a site.
func (w *deploying) startAt(site int32, path string) {
	w.t.Helper()
	u, err := canon.Parse(w.base + path)
	if err != nil {
		w.t.Fatal(err)
	}
	start := scheduler.NewPage(u.String(), u.HostName(), site, 0, 1)
	start.DueAt = models.At(w.clk.Now())
	if _, err := w.store.AddPages(w.t.Context(), w.clk.Now(), []models.Discovery{{Page: start, Host: u.HostName()}}, 0); err != nil {
		w.t.Fatal(err)
	}
}

// visitFor has a worker visit what is due for so many days.
func (w *deploying) visitFor(days int) {
	w.t.Helper()
	visitor, err := recrawl.New(recrawl.Config{Agent: config.Agent{Name: "recrawld"}, Clock: w.clk, Past: w.past,
		Network: config.Network{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Ports: []uint16{portOf(w.t, w.base)}},
		Sites:   func(id int32) (config.Site, *scope.Scope, *content.Rules) { return w.force.Load().visited(id) }})
	if err != nil {
		w.t.Fatal(err)
	}
	defer visitor.Close()
	ctx, end := context.WithCancel(w.t.Context())
	defer end()
	worker := scheduler.NewWorker(scheduler.Config{Store: w.store, Archive: w.archive, Clock: w.clk, Log: w.log, Name: "w", Lease: time.Hour,
		Visitor: &besideVisits{visitor, w, w.clk.Now().AddDate(0, 0, days), end}}, w.force.Load().planner)
	if err := worker.Run(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func portOf(t *testing.T, base string) uint16 {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// page is the page of a path.
func (w *deploying) page(path string) models.Page {
	w.t.Helper()
	u, err := canon.Parse(w.base + path)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := w.store.Page(w.t.Context(), models.BucketOf(u.HostName()), models.PageID(u.String()))
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return p
}

// assetPaths are what stands in the bodies of this world's pages for what they need.
var assetPaths = regexp.MustCompile(`/assets/[a-z0-9.]+`)

// assetsIn are the paths that the newest copy of a page names.
func (w *deploying) assetsIn(p *models.Page) []string {
	w.t.Helper()
	if p.Version == 0 || !models.MayName(p.ContentType) {
		return nil
	}
	body, _, ok, err := w.past.Body(w.t.Context(), p)
	if err != nil || !ok {
		w.t.Fatalf("the copy of %s: %v, %v", p.URL, ok, err)
	}
	return assetPaths.FindAllString(string(body), -1)
}

// pages are all pages by their paths.
func (w *deploying) pages() map[string]models.Page {
	w.t.Helper()
	all := make(map[string]models.Page)
	for bucket := range int16(models.Buckets) {
		some, err := w.store.PagesFrom(w.t.Context(), bucket, -1, 10_000)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, p := range some {
			all[p.URL[len(w.base):]] = p
		}
	}
	return all
}
