package recrawl

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

func page(body string, fields ...string) hostile.Answer {
	all := map[string]string{"Content-Type": "text/html"}
	for i := 0; i+1 < len(fields); i += 2 {
		all[fields[i]] = fields[i+1]
	}
	return hostile.Whole(200, all, body)
}

func TestFault_032_Charsets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ charset, body, title string }{
		"unknown":      {"x-martian", "<title>plain</title>", "plain"},
		"wrong":        {"utf-8", "<title>caf\xe9</title>", "caf\uFFFD"},
		"Latin-1":      {"iso-8859-1", "<title>caf\xe9</title>", "café"},
		"BOM wins":     {"iso-8859-1", "\xef\xbb\xbf<title>caf\xc3\xa9</title>", "café"},
		"UTF-16 bytes": {"utf-16le", "<\x00t\x00i\x00t\x00l\x00e\x00>\x00a\x00", "a"},
	} {
		o := listen(t, map[string]hostile.Answer{"/": page(test.body, "Content-Type", "text/html; charset="+test.charset)})
		out := newRig(t, nil).fetch(o.URL("/"))
		wantBody(t, out, test.body)
		if out.Title != test.title {
			t.Errorf("%s: title %q, want %q", name, out.Title, test.title)
		}
	}
}

func TestFault_047_ManyLinks(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&body, "<a href=/%d>x</a>", i)
	}
	o := listen(t, map[string]hostile.Answer{"/": page(body.String())})
	r := newRig(t, nil)
	if out := r.fetch(o.URL("/")); len(out.Links) != r.settings.LinksPerPage {
		t.Errorf("%d links are kept, want %d", len(out.Links), r.settings.LinksPerPage)
	}
}

func TestFault_048_HostileHTML(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"depth":      strings.Repeat("<div>", 100_000) + "<a href=/x>",
		"unclosed":   "<a href=/x><b><i><table><tr><td><!-- <script> <style> <textarea",
		"attribute":  `<a title="` + strings.Repeat("y", 800<<10) + `" href=/x>`,
		"NULs":       "<a\x00b href=/x><\x00a href=/y\x00><a hre\x00f=/z>",
		"attributes": "<a " + strings.Repeat("b=c ", 100_000) + "href=/x>",
		"brackets":   strings.Repeat("<", 900<<10),
		"entities":   strings.Repeat("&amp;lt;&#0;&#xffffff;", 40_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/": page(body)})
			out := newRig(t, nil).fetch(o.URL("/"))
			wantBody(t, out, body)
			if out.Took > 5*time.Second {
				t.Errorf("took %v", out.Took)
			}
		})
	}
}

func TestFault_049_BaseAndRefresh(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/base": page("<base href=http://other.test/dir/><a href=x>"),
		"/meta": page(`<meta http-equiv=refresh content="0; url=/meta"><p>loop`),
	})
	r := newRig(t, nil)
	if out := r.fetch(o.URL("/base")); len(out.Links) != 1 || out.Links[0].URL != "http://other.test/dir/x" || out.Links[0].Relative {
		t.Errorf("links = %v, want one on the host of the base", out.Links)
	}
	out := r.fetch(o.URL("/meta"))
	wantKind(t, out, models.First)
	if out.RedirectTo != "" {
		t.Errorf("a meta refresh is taken for a redirect to %s", out.RedirectTo)
	}
}

// TestFault_049_RefreshAtOnce: a page that says next to nothing and leads elsewhere at once is a redirect, as site generators write them for a page
// that was renamed. What waits before it leads on, says something, leads to itself or does so without scripts alone is a page.
func TestFault_049_RefreshAtOnce(t *testing.T) {
	t.Parallel()
	const leads = `<meta http-equiv=refresh content="0; url=/new">`
	for body, to := range map[string]string{
		"<title>/new</title><link rel=canonical href=/new><meta name=robots content=noindex>" + leads:               "/new",
		leads + "<p>Redirecting to <a href=/new>its new place</a>":                                                  "/new",
		leads + "<p>" + strings.Repeat("what it is about ", 40):                                                     "",
		`<meta http-equiv=refresh content="30; url=/new"><p>soon elsewhere`:                                         "",
		`<meta http-equiv=refresh content="0; url=/"><p>again`:                                                      "",
		`<noscript>` + leads + `</noscript><p>shown by scripts`:                                                     "",
		`<meta http-equiv=refresh content="0; url=http://192.0.2.1/inside"><p>where nobody may go, so it is a page`: "",
	} {
		o := listen(t, map[string]hostile.Answer{"/": page(body)})
		out := newRig(t, nil).fetch(o.URL("/"))
		if to == "" {
			wantKind(t, out, models.First)
			wantBody(t, out, body)
			continue
		}
		wantKind(t, out, models.Moved)
		if out.RedirectTo != o.URL(to) || len(out.Links) != 1 || out.Links[0].URL != o.URL(to) || out.Body != nil || out.Title != "" || out.Header != nil {
			t.Errorf("%s leads to %q with links %v, title %q, a body of %d bytes; want %s alone", body, out.RedirectTo, out.Links, out.Title, len(out.Body), o.URL(to))
		}
	}
}

// TestFault_049_RefreshInPlaceOfACopy: a page that has a copy which says something has not moved because for once it leads elsewhere at once. One whose copy
// does no more has, so has one that led there before, and one that names as its canonical URL what it leads to.
func TestFault_049_RefreshInPlaceOfACopy(t *testing.T) {
	t.Parallel()
	const leads = `<title>/new</title><meta http-equiv=refresh content="0; url=/new">`
	served := "<p>" + strings.Repeat("What it is about. ", 40)
	o := listen(t, map[string]hostile.Answer{"/": func(c *hostile.Conn) { page(served)(c) }})
	r := newRig(t, nil)
	first := pageOf(t, o.URL("/"))
	held := after(first, r.visit(first))
	served = leads
	if out := r.visit(held); out.Kind == models.Moved || out.RedirectTo != "" {
		t.Errorf("a copy that says something: %s to %q, want that it has not moved", out.Kind, out.RedirectTo)
	}
	served = `<link rel=canonical href=/new>` + leads // as Hugo, Jekyll, MkDocs and Docusaurus write it: it says that it is the other page
	if out := r.visit(held); out.Kind != models.Moved || out.RedirectTo != o.URL("/new") {
		t.Errorf("in place of a copy that says something, where it is the page's canonical URL: %s to %q, want moved to /new", out.Kind, out.RedirectTo)
	}
	served = leads
	led := held
	led.RedirectTo = o.URL("/new")
	wantKind(t, r.visit(led), models.Moved)
	same := held
	same.Digest = models.DigestOf([]byte(leads))
	wantKind(t, r.visit(same), models.Moved)
}

// TestFault_057_LastModified sends back whatever the server says, and believes none of it.
func TestFault_057_LastModified(t *testing.T) {
	t.Parallel()
	for _, stamp := range []string{"Fri, 01 Jan 2100 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "yesterday"} {
		o := listen(t, map[string]hostile.Answer{"/": page("<p>x", "Last-Modified", stamp)})
		r := newRig(t, nil)
		first := pageOf(t, o.URL("/"))
		out := r.visit(first)
		if !out.FreshUntil.IsZero() || out.LastModified != stamp {
			t.Errorf("Last-Modified %q: kept as %q, fresh until %v", stamp, out.LastModified, out.FreshUntil)
		}
		r.visit(after(first, out))
		if got := o.Requests()[1].Header.Get("If-Modified-Since"); got != stamp {
			t.Errorf("Last-Modified %q came back as %q", stamp, got)
		}
	}
}

func TestFault_059_VaryStar(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": page("<p>x", "Vary", "*", "ETag", `"1"`)})
	r := newRig(t, nil)
	first := pageOf(t, o.URL("/"))
	r.visit(after(first, r.visit(first)))
	if got := o.Requests()[1].Header.Get("If-None-Match"); got != `"1"` {
		t.Errorf("with Vary: * the condition is %q", got)
	}
}

// broken is a clock that panics from its second reading on: after the answer, where the page is read.
type broken struct {
	clock.System
	readings atomic.Int32
}

func (b *broken) Now() time.Time {
	if b.readings.Add(1) > 1 {
		panic("a bug of ours")
	}
	return today
}

func TestFault_080_Panic(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	o := listen(t, map[string]hostile.Answer{"/": page("<p>x", "ETag", `"1"`)})
	r := newRig(t, func(c *Config, _ *config.Settings) {
		c.Clock, c.Log = &broken{}, slog.New(slog.NewTextHandler(&logged, nil))
	})
	out := r.fetch(o.URL("/"))
	wantFailed(t, out, models.OwnPanic)
	if out.Sent != 1 || out.ETag != "" || !strings.Contains(logged.String(), "goroutine") {
		t.Errorf("after a panic: Sent %d, ETag %q, log %q", out.Sent, out.ETag, logged.String())
	}
}

// TestManyVisitsAtOnce shares one visitor among good and bad servers, and wants nothing left running behind it.
func TestManyVisitsAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("visits", func(t *testing.T) {
		o := listen(t, map[string]hostile.Answer{
			"/good": page("<p>good"), "/slow": hostile.StalledBody(), "/bomb": hostile.GzipBomb(8<<20, 1),
			"/reset": hostile.ResetMidBody(), "/endless": hostile.EndlessBody(), "/silent": hostile.Silent(),
		})
		r := newRig(t, func(c *Config, _ *config.Settings) {
			c.Limits.RateWindow, c.Limits.Header = 8*time.Second, 8*time.Second // that sixty visits take on busy processors, under the race detector
		})
		var visits sync.WaitGroup
		for i := range 60 {
			path := []string{"/good", "/slow", "/bomb", "/reset", "/endless", "/silent"}[i%6]
			target := pageOf(t, o.URL(path))
			robots := allowAll(t, target)
			visits.Go(func() {
				out := r.turn(t.Context(), target, robots)
				if good := out.Kind == models.First; good != (path == "/good") {
					t.Errorf("%s = %v %v (%s)", path, out.Kind, out.Class, out.Detail)
				}
			})
		}
		visits.Wait()
	})
	var machine clock.System
	for range 500 { // connections end a moment after they are closed
		if runtime.NumGoroutine() <= before {
			return
		}
		if err := machine.SleepUntil(t.Context(), machine.Now().Add(10*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
