package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/sink"
)

// outageSpeed is how fast the daemon's clock goes: a day takes a little more than two seconds.
const outageSpeed = 36000

// outageSite is a site that can be down while it answers 200, and of which one page can be replaced.
type outageSite struct {
	*httptest.Server
	down, replaced atomic.Bool
}

// The pages of the site, and what is there in their place.
var outagePages = []string{"/", "/a.html", "/b.html", "/c.html", "/d.html"}

const (
	outageText   = `<title>Be right back</title><p>We are down for maintenance. Please try again later.`
	replacedText = `<title>B</title><p>All of this has moved into the handbook of the house.`
)

func outageBody(path string) string {
	links := ""
	for _, to := range outagePages {
		links += fmt.Sprintf("<li><a href=%s>%s</a>", to, to)
	}
	return fmt.Sprintf("<title>Page %s</title><ul>%s</ul><main>", path, links) +
		strings.Repeat(fmt.Sprintf("<p>What is said on the page %s of this site is said at some length and nowhere else.", path), 8)
}

func serveOutages(t *testing.T) *outageSite {
	t.Helper()
	s := &outageSite{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case s.down.Load():
			fmt.Fprint(w, outageText)
		case s.replaced.Load() && r.URL.Path == "/b.html":
			fmt.Fprint(w, replacedText)
		default:
			fmt.Fprint(w, outageBody(r.URL.Path))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestAnOutageWithStatus200LosesNothing runs the daemon through six hours and three days in which a site answers everything with 200 and a
// maintenance page: no copy is replaced, nothing counts as changed, nothing is gone; and a page that is then replaced for good is
// accepted after some days, with one event.
func TestAnOutageWithStatus200LosesNothing(t *testing.T) {
	t.Parallel()
	site := serveOutages(t)
	config, data := filepath.Join(t.TempDir(), "recrawld.yaml"), filepath.Join(t.TempDir(), "data")
	text := "data: " + data + "\nlisten: off\ncycle: 1h\nbackup: {every: off}\n" +
		"defaults: {delay: 0s, policy: fixed, fr: 4, fr_max: 24, vary: 0%, parents: off, hint_max: off}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, nil, "run", "-c", config, "--speed", fmt.Sprint(outageSpeed), site.URL+"/")
	p.tells("READY=1")
	d := &outageDaemon{process: p, data: data, site: site.URL}
	all := func(holds func(models.Page) bool) func(models.Dump) bool {
		return func(now models.Dump) bool {
			for _, p := range now.Pages {
				if !holds(p) {
					return false
				}
			}
			return len(now.Pages) == len(outagePages)
		}
	}
	well := all(func(p models.Page) bool { return p.Version == 1 && p.Failures == 0 && p.State == models.StateLive })
	d.until("all pages are held", well)
	d.until("all pages are mirrored", func(models.Dump) bool {
		return !slices.ContainsFunc(outagePages, func(path string) bool { return d.mirrored(path) == "" })
	})
	for _, lasts := range []time.Duration{6 * time.Hour, 72 * time.Hour} {
		site.down.Store(true)
		d.until("all pages are seen to be down", all(func(p models.Page) bool { return p.Failures > 1 && p.Class == models.ErrorPage }))
		d.passes(lasts)
		d.kept("in an outage of "+lasts.String(), outagePages...)
		if why := must(t, "why", "-c", config, site.URL+"/a.html"); !strings.Contains(why, "of its host; the last good version stays") {
			t.Errorf("why in an outage:\n%s", why)
		}
		site.down.Store(false)
		d.until("all pages are well again", well)
		d.kept("after an outage of "+lasts.String(), outagePages...)
	}
	site.replaced.Store(true)
	d.until("the page is what it has become", func(now models.Dump) bool {
		return slices.ContainsFunc(now.Pages, func(p models.Page) bool { return p.Version == 2 })
	})
	d.until("the mirror has it", func(models.Dump) bool { return d.mirrored("/b.html") == replacedText })
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.output())
	}
	d.kept("when one page was replaced", "/", "/a.html", "/c.html", "/d.html")
	var changed []models.Event
	for _, e := range d.dump().Events {
		if e.Kind == models.EventChanged || e.Kind == models.EventGone || e.Kind == models.EventRefreshed {
			changed = append(changed, e)
		}
	}
	if len(changed) != 1 || changed[0].Kind != models.EventChanged || changed[0].URL != site.URL+"/b.html" {
		t.Fatalf("events: %+v, want one change of /b.html", changed)
	}
	if stood := changed[0].At.Time().Sub(changed[0].NotBefore.Time()); stood < 4*24*time.Hour {
		t.Errorf("it is a change after %v, want four days at least", stood)
	}
}

// outageDaemon is the daemon that follows such a site.
type outageDaemon struct {
	*process
	data, site string
}

// dump reads its database.
func (d *outageDaemon) dump() models.Dump {
	d.t.Helper()
	store, err := models.Open(d.t.Context(), filepath.Join(d.data, databaseFile), models.Options{ReadOnly: true})
	if err != nil {
		d.t.Fatal(err)
	}
	defer store.Close()
	all, err := store.Dump(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// until waits for something to be in the database.
func (d *outageDaemon) until(what string, holds func(models.Dump) bool) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	var machine clock.System
	for !holds(d.dump()) {
		if err := machine.SleepUntil(ctx, machine.Now().Add(100*time.Millisecond)); err != nil {
			d.t.Fatalf("not so: %s:\n%s", what, d.output())
		}
	}
}

// passes waits for so much time by the daemon's clock.
func (d *outageDaemon) passes(span time.Duration) {
	d.t.Helper()
	var machine clock.System
	if err := machine.SleepUntil(d.t.Context(), machine.Now().Add(span/outageSpeed)); err != nil {
		d.t.Fatal(err)
	}
}

// kept checks that pages have their first version, in the database and in the mirror.
func (d *outageDaemon) kept(when string, paths ...string) {
	d.t.Helper()
	for _, p := range d.dump().Pages {
		path := strings.TrimPrefix(p.URL, d.site)
		if slices.Contains(paths, path) && (p.Version != 1 || p.State != models.StateLive || d.mirrored(path) != outageBody(path)) {
			d.t.Errorf("%s %s is %v with version %d, the mirror holds %.60q", when, path, p.State, p.Version, d.mirrored(path))
		}
	}
}

// mirrored is what the mirror holds of a page.
func (d *outageDaemon) mirrored(path string) string {
	body, _ := os.ReadFile(filepath.Join(d.data, "mirror", filepath.FromSlash(sink.Name(d.site+path)))) // no file is no body
	return string(body)
}
