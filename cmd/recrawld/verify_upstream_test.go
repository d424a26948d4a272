package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawld/models"
)

// serveEras serves a site of nine pages, of which in its later era one has another text, one another comment, one is gone and one fails.
func serveEras(t *testing.T) (url string, later *atomic.Bool) {
	t.Helper()
	later = new(atomic.Bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		text := "<title>" + r.URL.Path + "</title><p>What stands here has been written for the page " + r.URL.Path + " and for no other."
		switch path := r.URL.Path; {
		case path == "/":
			for n := range 8 {
				text += fmt.Sprintf(`<p><a href="/%d.html">%d</a>`, n, n)
			}
		case !strings.HasSuffix(path, ".html") || later.Load() && path == "/3.html":
			http.NotFound(w, r)
			return
		case later.Load() && path == "/1.html":
			text += "<h2>News</h2><p>And a paragraph that was not there before, of some length, about quite another matter."
		case later.Load() && path == "/2.html":
			text += "<!-- made once more -->"
		case later.Load() && path == "/4.html":
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL, later
}

// TestVerifyUpstream: what a sample of the sites' pages says of our copies is what the server knows of them, and pages whose copies
// were out of date are named.
func TestVerifyUpstream(t *testing.T) {
	t.Parallel()
	url, later := serveEras(t)
	config, _ := configure(t, "")
	must(t, "run", "-c", config, url+"/", "--for", "3s")
	if code, _, stderr := command(t, "verify", "-c", config, "--upstream", "5"); code != exitFailed || !strings.Contains(stderr, "no daemon runs") {
		t.Errorf("without a daemon: exit code %d, %s", code, stderr)
	}
	p := launch(t, nil, "run", "-c", config)
	p.tells("READY=1")
	awaits(t, "nine pages have copies", func() bool {
		out, code := verifies(t, "-c", config, "--only", "mirror")
		return code == exitDone && out.Mirror.Files == 9 && out.Mirror.Waiting == 0
	})
	later.Store(true)
	out, code := verifies(t, "-c", config, "--upstream", "100")
	want := upstreamVerified{All: 9, Drawn: 9, Unchanged: 5, Alike: 1, Changed: 1, Vanished: 1, Silent: 1, Low: out.Upstream.Low, High: out.Upstream.High}
	if code != exitDone || !out.Right || *out.Upstream != want {
		t.Errorf("exit code %d, %+v; want %+v", code, *out.Upstream, want)
	}
	if low, high := out.Upstream.Low, out.Upstream.High; low < 0.02 || low > 0.05 || high < 0.6 || high > 0.7 {
		t.Errorf("two of eight copies out of date: %v to %v of all; want 0.032 to 0.651 (Clopper and Pearson)", low, high)
	}
	named := make(map[string]string)
	for _, trouble := range out.Troubles {
		named[strings.TrimPrefix(trouble.URL, url)], _, _ = strings.Cut(trouble.Why, " ")
	}
	if len(named) != 2 || named["/1.html"] != "changed" || named["/3.html"] != "missing" {
		t.Errorf("named are %v; want /1.html and /3.html", named)
	}
	// The copies are what is served now, but for the page that is gone and the one that fails.
	code, stdout, stderr := command(t, "verify", "-c", config, "--upstream", "100")
	if code != exitDone || !strings.Contains(stdout, "8 of 8 pages drawn at random: 7 unchanged, 1 without an answer") {
		t.Errorf("the second time: exit code %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := command(t, "verify", "-c", config, "--upstream", "5", "--mend"); code != exitUsage || !strings.Contains(stderr, "leave out") {
		t.Errorf("with --mend: exit code %d, %s", code, stderr)
	}
}

// TestNobodyIsLeftToWaitFor: a page that was removed meanwhile has no answer, and where no daemon runs any more the others are not waited for.
func TestNobodyIsLeftToWaitFor(t *testing.T) {
	t.Parallel()
	f, _ := filling(t, liteFile(t))
	const url = "https://docs.example.org/there"
	f.page(1, url, []step{{ago: time.Hour, kind: models.First, body: "<p>Here it is.", frMax: 4}},
		func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(day)) })
	there, _, err := findPage(t.Context(), f.store, url)
	f.must(err)
	removed := there
	removed.ID++
	r := verifyRun{verifyCmd: verifyCmd{Wait: 4 * time.Second}, look: &look{store: f.store}}
	r.out.Upstream = &upstreamVerified{}
	left, err := r.awaitAnswers(t.Context(), []models.Page{there, removed})
	if err != nil || len(left) != 1 || left[0].URL != url || r.out.Upstream.Silent != 1 {
		t.Errorf("waits for %d pages, %d without an answer, %v; want the one that is there, and the removed one without", len(left), r.out.Upstream.Silent, err)
	}
	if len(r.notes) != 1 || !strings.Contains(r.notes[0], "no daemon runs any more") {
		t.Errorf("says %q; want that no daemon runs any more", r.notes)
	}
}
