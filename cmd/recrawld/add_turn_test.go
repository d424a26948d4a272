package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// overloaded is a site that answers so many requests and then wants to be left alone for an hour.
func overloaded(t *testing.T, answers int64) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n > answers:
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		case r.URL.Path != "/":
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("ETag", `"1"`)
			fmt.Fprint(w, `<a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// A host that says that it has too much to do is asked nothing more, neither by the look nor by the daemon before it wants to
// be; nor by another look.
func TestAddLeavesAnOverloadedHostAlone(t *testing.T) {
	t.Parallel()
	url, asked := overloaded(t, 3) // robots.txt, the page, a sitemap that is none
	path, data := configure(t, "")
	began := clock.System{}.Now()
	answer := must(t, "add", "-c", path, "--yes", url)
	if n := asked.Load(); n != 4 || !strings.Contains(answer, "too much to do") {
		t.Errorf("%d requests, want 4, of which the last was answered with 429, and that it is told:\n%s", n, answer)
	}
	for _, p := range dumpOf(t, data).Pages {
		if p.DueAt.Time().Before(began.Add(time.Hour)) {
			t.Errorf("%s is due at %v, want it an hour after %v as Retry-After says", p.URL, p.DueAt, began)
		}
	}
	code, _, complaint := command(t, "add", "-c", path, "--yes", "--name", "again", url+"/")
	if code != exitFailed || !strings.Contains(complaint, "left alone") || asked.Load() != 5 {
		t.Errorf("the first look at a host that is known: exit code %d, %d requests, %q; want it to ask once", code, asked.Load(), complaint)
	}
	code, _, complaint = command(t, "add", "-c", path, "--yes", "--name", "again", url+"/")
	if code != exitFailed || !strings.Contains(complaint, "left alone") || asked.Load() != 5 {
		t.Errorf("a look at a host that wants to be left alone: exit code %d, %d requests, %q; want it to ask nothing", code, asked.Load(), complaint)
	}
}

// A request of a look waits for the host's turn, and the daemon for the end of it.
func TestAddTakesTurnsWithTheDaemon(t *testing.T) {
	t.Parallel()
	const host, delay = "a.example", 10 * time.Second
	path := filepath.Join(t.TempDir(), databaseFile)
	store, err := models.Open(t.Context(), path, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	if err := store.Migrate(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	virtual := clock.NewVirtual(start)
	turns := &turns{store: store, daemon: virtual}
	t.Cleanup(func() { turns.close() })
	page := models.Discovery{Host: host, Page: models.Page{SiteID: 1, URL: "https://a.example/", DueAt: models.At(start)}}
	if _, err := store.AddPages(t.Context(), start, []models.Discovery{page}, 0); err != nil {
		t.Fatal(err)
	}
	claim := models.ClaimRequest{Now: start, Lease: time.Minute, Owner: "w", Hosts: 1, Pages: 1, Delay: delay, Buckets: []int16{models.BucketOf(host)}}
	leases, err := store.Claim(t.Context(), claim)
	if err != nil || len(leases) != 1 {
		t.Fatalf("Claim = %v, %v, want one lease", leases, err)
	}
	if _, err := store.Recover(t.Context(), start, ""); err != nil { // as if it had asked now
		t.Fatal(err)
	}
	slot, err := turns.begin(t.Context(), host, time.Minute)
	if err != nil || !virtual.Now().Equal(start.Add(delay)) {
		t.Fatalf("the look may ask at %v (%v), want %v", virtual.Now(), err, start.Add(delay))
	}
	claim.Now = virtual.Now().Add(30 * time.Second)
	if leases, err := store.Claim(t.Context(), claim); err != nil || len(leases) != 0 {
		t.Errorf("Claim while the look asks = %v, %v, want none", leases, err)
	}
	settings := config.Default().Defaults
	out := models.Outcome{Kind: models.First, Status: http.StatusOK, Sent: 1, Took: 4 * time.Second, Delay: delay}
	if err := turns.end(t.Context(), slot, &settings, &out); err != nil {
		t.Fatal(err)
	}
	leasesAt := func(at time.Time, want int) {
		t.Helper()
		claim.Now = at
		if leases, err := store.Claim(t.Context(), claim); err != nil || len(leases) != want {
			t.Errorf("Claim %v after the look = %v, %v, want %d leases", at.Sub(virtual.Now()), leases, err, want)
		}
	}
	spared := 5 * out.Took // its answers are slow
	leasesAt(virtual.Now().Add(spared-time.Millisecond), 0)
	leasesAt(virtual.Now().Add(spared), 1)
}
