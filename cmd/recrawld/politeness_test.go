package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/clock"
)

// logged is a request as the server saw it.
type logged struct {
	path       string
	begin, end time.Time
	status     int
}

// loggingSite keeps a log of its own. /busy says 503, pages have an ETag, and robots.txt asks for a delay.
type loggingSite struct {
	*httptest.Server
	mu    sync.Mutex // guards what is below
	under int
	most  int
	log   []logged
}

func (s *loggingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	entry := logged{path: r.URL.Path, begin: clock.System{}.Now(), status: http.StatusOK}
	s.mu.Lock()
	s.under++
	s.most = max(s.most, s.under)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/robots.txt":
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "User-agent: *\nCrawl-delay: 0.4\n")
	case r.URL.Path == "/busy":
		entry.status = http.StatusServiceUnavailable
		w.WriteHeader(entry.status)
	case r.Header.Get("If-None-Match") != "":
		entry.status = http.StatusNotModified
		w.WriteHeader(entry.status)
	default:
		w.Header().Set("ETag", `"1"`)
		fmt.Fprintf(w, "<title>%s</title><p>The page at %s, with the links <a href=/>home</a> <a href=/a>a</a> <a href=/busy>busy</a>", r.URL.Path, r.URL.Path)
	}
	entry.end = clock.System{}.Now()
	s.mu.Lock()
	s.under--
	s.log = append(s.log, entry)
	s.mu.Unlock()
}

func (s *loggingSite) requests() []logged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// politeRow is a row of the report.
type politeRow struct {
	Host      string   `json:"host"`
	Requests  int      `json:"requests"`
	Robots    int      `json:"robots_requests"`
	Delay     float64  `json:"delay_seconds"`
	Gaps      int      `json:"gaps"`
	Least     float64  `json:"gap_least_seconds"`
	Median    float64  `json:"gap_median_seconds"`
	AtOnce    int      `json:"at_once"`
	Busiest   int      `json:"busiest_requests"`
	Told      int      `json:"told_to_wait"`
	LeftAlone *float64 `json:"left_alone_seconds"`
	Unchanged *float64 `json:"unchanged_share"`
	Status    int      `json:"robots_status"`
	Crawl     float64  `json:"robots_crawl_delay_seconds"`
	Digest    string   `json:"robots_sha256"`
}

// TestTheReportOnPolitenessSaysWhatTheServerSaw holds the report against the server's own log: as many requests, for robots.txt too, no gap that the
// server saw shorter, as many answers 503 and 304.
func TestTheReportOnPolitenessSaysWhatTheServerSaw(t *testing.T) {
	t.Parallel()
	site := new(loggingSite)
	site.Server = httptest.NewServer(site)
	t.Cleanup(site.Close)
	config, _ := configure(t, "agent: {name: PoliteBot, contact: me@example.net}\nsites: [{url: \""+site.URL+"/\", delay: 100ms}]\n")
	count := func(of func(logged) bool) (n int) {
		for _, l := range site.requests() {
			if of(l) {
				n++
			}
		}
		return n
	}
	is := func(status int) func(logged) bool { return func(l logged) bool { return l.status == status } }
	runUntil(t, func() bool { return count(is(http.StatusServiceUnavailable)) > 0 && len(site.requests()) >= 4 }, "run", "-c", config)
	runUntil(t, func() bool {
		for _, path := range []string{"/", "/a"} {
			must(t, "visit", "-c", config, site.URL+path)
		}
		log := site.requests()
		return count(is(http.StatusNotModified)) > 2 && log[len(log)-1].status != http.StatusServiceUnavailable
	}, "run", "-c", config)
	var got struct{ Rows []politeRow }
	text := must(t, "report", "politeness", "-c", config, "--host", site.URL, "--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Rows) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	row, log := got.Rows[0], site.requests()
	robots, busy := count(func(l logged) bool { return l.path == "/robots.txt" }), count(is(http.StatusServiceUnavailable))
	if row.Host != strings.TrimPrefix(site.URL, "http://") || row.Requests != len(log) || row.Robots != robots || row.Told != busy || row.AtOnce != site.most {
		t.Errorf("report %+v; the server saw %d requests, %d for robots.txt, %d answers 503, %d at once", row, len(log), robots, busy, site.most)
	}
	least, rest := time.Hour, time.Hour
	for i := range log[1:] {
		gap := log[i+1].begin.Sub(log[i].end)
		least = min(least, gap)
		if log[i].status == http.StatusServiceUnavailable {
			rest = min(rest, gap)
		}
	}
	const clocks = 0.002 // the history has milliseconds
	if row.Gaps != len(log)-1 || row.Least < 0.4-clocks || row.Least > least.Seconds()+clocks || row.Median < row.Least {
		t.Errorf("report %+v; the shortest gap of %d that the server saw was %s, and 400 ms were asked for", row, len(log)-1, least)
	}
	if row.LeftAlone == nil || *row.LeftAlone > rest.Seconds()+clocks || *row.LeftAlone < row.Least {
		t.Errorf("report %+v; the server saw %s after its answers 503", row, rest)
	}
	unchanged, pages := count(is(http.StatusNotModified)), len(log)-robots-busy
	if row.Unchanged == nil || math.Abs(*row.Unchanged-float64(unchanged)/float64(pages)) > 1e-9 { // it has 12 digits
		t.Errorf("report %+v; of %d pages the server answered %d with 304", row, pages, unchanged)
	}
	if row.Status != 200 || row.Crawl != 0.4 || len(row.Digest) != 64 || row.Delay < 0.4 {
		t.Errorf("report %+v; robots.txt asks for 0.4 s", row)
	}
	told := must(t, "report", "politeness", "-c", config, "--host", row.Host)
	for _, want := range []string{"asks as PoliteBot, contact me@example.net", "Crawl-delay of 400 ms obeyed", "answers with 429 or 503", "crash"} {
		if !strings.Contains(strings.Join(strings.Fields(told), " "), want) && !(want == "answers with 429 or 503" && busy == 1) {
			t.Errorf("the report does not say %q:\n%s", want, told)
		}
	}
	for _, args := range [][]string{{"--site", row.Host}, nil} {
		if csv := must(t, append([]string{"report", "politeness", "-c", config, "--format", "csv"}, args...)...); !strings.Contains(csv, "\n"+row.Host+","+fmt.Sprint(row.Requests)+",") {
			t.Errorf("%v: %s", args, csv)
		}
	}
}

func TestTheReportOnPolitenessRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"politeness --host nowhere.example": exitNotFound, "hosts --host example.org": exitUsage} {
		if answer, complaint, code := desk(t, filledData(t), append([]string{"report"}, strings.Fields(line)...)...); code != want || complaint == "" {
			t.Errorf("report %s: exit code %d, %s%s", line, code, answer, complaint)
		}
	}
}
