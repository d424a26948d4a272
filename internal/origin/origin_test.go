package origin

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/internal/shared"
	"recrawld/internal/solo"
)

var start = time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)

// newWorld has one host with a page of every validator, each with two versions ten hours apart and gone after twenty.
func newWorld() *World {
	h := NewHost("docs")
	h.CrawlDelay = 90 * time.Second
	h.Forbidden = []Ban{{Prefix: "/private/"}, {Prefix: "/late/", From: start.Add(5 * time.Hour)}}
	for v := NoValidator; v <= BothValidators; v++ {
		h.Add(&Page{Path: "/" + v.String(), Title: v.String(), Traits: Traits{Validator: v, Gzip: v == ETag},
			Versions: []Version{
				{At: start.Add(time.Hour), Body: constant("<p>one</p>")},
				{At: start.Add(10 * time.Hour), Body: constant("<p>two</p>")},
				{At: start.Add(20 * time.Hour), Status: http.StatusGone},
			}})
	}
	h.AddRobots(start)
	return &World{Hosts: []*Host{h}}
}

// serve runs a world on a virtual clock that the test moves.
func serve(t *testing.T, w *World) (*clock.Virtual, *Log) {
	t.Helper()
	c := clock.NewVirtual(start)
	name := filepath.Join(t.TempDir(), "requests.ndjson")
	log, err := NewLog(name)
	if err != nil {
		t.Fatal(err)
	}
	server, err := Listen(w, c, log, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v, want nil", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return c, log
}

func get(t *testing.T, url string, head map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range head {
		r.Header.Set(key, value)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func move(t *testing.T, c *clock.Virtual, to time.Duration) {
	t.Helper()
	if err := c.SleepUntil(t.Context(), start.Add(to)); err != nil {
		t.Fatal(err)
	}
}

func TestPageLivesItsVersions(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, log := serve(t, w)
	url := w.Hosts[0].URL("/none")
	type seen struct {
		Status int
		Body   string
	}
	var got []seen
	for _, at := range []time.Duration{0, time.Hour, 9 * time.Hour, 10 * time.Hour, 20 * time.Hour} {
		move(t, c, at)
		resp, body := get(t, url, nil)
		if resp.StatusCode != http.StatusOK {
			body = ""
		}
		got = append(got, seen{resp.StatusCode, body})
	}
	want := []seen{{404, ""}, {200, "<p>one</p>"}, {200, "<p>one</p>"}, {200, "<p>two</p>"}, {410, ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers over time (-want +got):\n%s", diff)
	}
	served := Served(log.Entries(0))[url]
	if len(served) != 2 || served[0].Version != 0 || served[1].Version != 1 {
		t.Errorf("Served() = %+v, want versions 0 and 1", served)
	}
}

func TestConditionsAreMetByTheSameVersionOnly(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, log := serve(t, w)
	for v := NoValidator; v <= BothValidators; v++ {
		url := w.Hosts[0].URL("/" + v.String())
		move(t, c, 2*time.Hour)
		resp, _ := get(t, url, nil)
		head := map[string]string{}
		if tag := resp.Header.Get("ETag"); tag != "" {
			head["If-None-Match"] = tag
		}
		if at := resp.Header.Get("Last-Modified"); at != "" {
			head["If-Modified-Since"] = at
		}
		want := http.StatusNotModified
		if v == NoValidator {
			want = http.StatusOK
		}
		if resp, _ := get(t, url, head); resp.StatusCode != want {
			t.Errorf("%v: conditional GET of the same version = %d, want %d", v, resp.StatusCode, want)
		}
	}
	move(t, c, 11*time.Hour)
	for v := ETag; v <= BothValidators; v++ {
		url := w.Hosts[0].URL("/" + v.String())
		head := map[string]string{"If-None-Match": `"stale"`, "If-Modified-Since": start.Format(http.TimeFormat)}
		if resp, body := get(t, url, head); resp.StatusCode != http.StatusOK || body != "<p>two</p>" {
			t.Errorf("%v: stale conditional GET = %d %q, want 200 and the new body", v, resp.StatusCode, body)
		}
	}
	tally := w.Count(log.Entries(0))
	if tally.NotModified != 4 || tally.OK != 10 || len(tally.Unfounded) != 0 {
		t.Errorf("Count() = %+v, want 4 not modified, 10 ok, none unfounded", tally)
	}
}

func TestGzipIsForThoseWhoAcceptIt(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, _ := serve(t, w)
	move(t, c, time.Hour)
	url := w.Hosts[0].URL("/etag")
	if resp, body := get(t, url, map[string]string{"Accept-Encoding": "identity"}); resp.Header.Get("Content-Encoding") != "" || body != "<p>one</p>" {
		t.Errorf("identity asked: encoding %q, body %q", resp.Header.Get("Content-Encoding"), body)
	}
	if resp, body := get(t, url, nil); !resp.Uncompressed || body != "<p>one</p>" {
		t.Errorf("gzip asked: uncompressed by the client %v, body %q", resp.Uncompressed, body)
	}
}

func TestPolitenessIsJudgedFromTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld()
	host := w.Hosts[0]
	host.Addr = "127.0.0.1:1"
	at := func(path string, from, to time.Duration, flying int) Entry {
		return Entry{Host: host.Addr, Path: path, Start: start.Add(from), End: start.Add(to), InFlight: flying}
	}
	entries := []Entry{
		at("/etag", 0, time.Second, 1),
		at("/late/x", 2*time.Minute, 121*time.Second, 1),
		at("/etag", 3*time.Minute, 181*time.Second, 1),
		at("/etag", 3*time.Minute, 182*time.Second, 2),
		at("/late/x", 6*time.Hour, 6*time.Hour, 1),
		at("/private/x", 7*time.Hour, 7*time.Hour, 1),
	}
	got := w.CheckPoliteness(entries, 30*time.Second, 2*time.Hour, nil)
	if len(got.Breaches) != 2 || len(got.Forbidden) != 1 || got.MaxInFlight != 2 || got.Gaps != 5 {
		t.Errorf("CheckPoliteness() = %+v, want 2 breaches, 1 forbidden, 2 in flight, 5 gaps", got)
	}
	if got.Shortest != -time.Second {
		t.Errorf("shortest gap = %v, want -1s", got.Shortest)
	}
	if !strings.Contains(strings.Join(got.Forbidden, " "), "/private/x") {
		t.Errorf("forbidden = %v, want /private/x alone: /late/x was remembered as allowed", got.Forbidden)
	}
	slow := []Entry{at("/late/x", 9*time.Hour, 9*time.Hour, 1)}
	slow[0].Seq = 7
	for sets, want := range map[time.Duration]int{6 * time.Hour: 0, 9 * time.Hour: 1} {
		if got := w.CheckPoliteness(slow, 30*time.Second, 2*time.Hour, map[int]time.Time{7: start.Add(sets)}); len(got.Forbidden) != want {
			t.Errorf("forbidden = %v of a visit that set out after %v and was sent after 9h, want %d", got.Forbidden, sets, want)
		}
	}
}

func TestRobotsFileChangesWithTheBans(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c, _ := serve(t, w)
	url := w.Hosts[0].URL(RobotsPath)
	_, before := get(t, url, nil)
	move(t, c, 5*time.Hour)
	_, after := get(t, url, nil)
	if want := "User-agent: *\nDisallow: /private/\nCrawl-delay: 90\n"; before != want {
		t.Errorf("robots.txt = %q, want %q", before, want)
	}
	if want := "User-agent: *\nDisallow: /private/\nDisallow: /late/\nCrawl-delay: 90\n"; after != want {
		t.Errorf("robots.txt after the ban = %q, want %q", after, want)
	}
}

func TestCorpusLoads(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	corpus, err := LoadCorpus(shared.Path(t, "pages"), t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer corpus.Close()
	if len(corpus.Hosts) != 3 {
		t.Fatalf("hosts = %d, want 3", len(corpus.Hosts))
	}
	versions := 0
	for _, h := range corpus.Hosts {
		for _, p := range h.Pages() {
			for i := 1; i < len(p.Versions); i++ {
				if !p.Versions[i].At.After(p.Versions[i-1].At) {
					t.Errorf("%s%s: version %d is not later than the one before", h.Label, p.Path, i)
				}
			}
			if p.Path != "/" && p.Path != RobotsPath {
				versions += len(p.Versions)
			}
		}
	}
	if versions != 8*40 {
		t.Errorf("versions = %d, want 320 of eight documents", versions)
	}
	page := corpus.Hosts[0].Page("/legal/privacy-policy.html")
	if page == nil {
		t.Fatalf("the first document has no page, got %v", corpus.Hosts[0].Pages()[0].Path)
	}
	body, err := page.Versions[0].Body()
	if err != nil || len(body) != 77942 {
		t.Errorf("first body = %d bytes, %v, want 77942", len(body), err)
	}
	if text := VisibleText(body); !strings.Contains(text, "Brevo") || strings.Contains(text, "function(") {
		t.Errorf("visible text = %.80q…, want the words and no script", text)
	}
}
