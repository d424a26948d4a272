package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"recrawld/models"
)

var update = flag.Bool("update", false, "write the golden files")

var testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

var testOptions = Options{
	Now:   testNow,
	Sites: map[int32]string{1: "docs.example.org", 2: "blog", 3: "=cmd|' /C calc'!A0"},
	FRMax: func(int32) int32 { return 120 },
}

// golden compares with a file in testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got; -update writes it):\n%s", name, diff)
	}
}

// goldenDocument compares a document in all its forms.
func goldenDocument(t *testing.T, name string, d Document) {
	t.Helper()
	for form, write := range map[string]func(*bytes.Buffer) error{
		"pipe.txt": func(b *bytes.Buffer) error { return WriteText(b, d, Style{}) },
		"100.txt":  func(b *bytes.Buffer) error { return WriteText(b, d, Style{Width: 100, Color: true}) },
		"80.txt":   func(b *bytes.Buffer) error { return WriteText(b, d, Style{Width: 80}) },
		"csv":      func(b *bytes.Buffer) error { return WriteCSV(b, d) },
		"json":     func(b *bytes.Buffer) error { return WriteJSON(b, d) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Errorf("%s.%s: %v", name, form, err)
			continue
		}
		golden(t, name+"."+form, b.Bytes())
		if form == "json" && !json.Valid(b.Bytes()) {
			t.Errorf("%s: not JSON: %s", name, b.Bytes())
		}
	}
}

// examplePages are pages of three sites: many that change now and then, a few quick ones, one never visited.
func examplePages() []models.PageSummary {
	rng := rand.New(rand.NewPCG(1, 1))
	var pages []models.PageSummary
	for i := range 300 {
		site := int32(1)
		url := fmt.Sprintf("https://docs.example.org/en/guide%d/p%d.html", i%3, i)
		kind := "text/html"
		if i%6 == 0 {
			site, url = 2, fmt.Sprintf("http://blog.example.net/%d/", i)
		}
		if i%10 == 0 {
			kind = "application/pdf"
		}
		records := int32(2 + rng.IntN(40))
		pages = append(pages, models.PageSummary{
			SiteID: site, URL: url, State: models.StateLive, ContentType: kind, FRMax: 1 + int32(rng.ExpFloat64()*20)%120,
			Visits: records, Records: records, Changes: int32(rng.IntN(int(records)+2)) / 3,
			FirstAt: models.At(testNow.Add(-90 * day)), VisitedAt: models.At(testNow.Add(-day)),
		})
		if last := &pages[i]; site == 2 { // every page shows a clock, and some are copies
			last.ByteChanges, last.DuplicateOf = records-1, i%60 == 0
		} else if i%7 == 0 {
			last.ByteChanges = min(2*last.Changes+1, records-1)
		}
	}
	return append(pages,
		models.PageSummary{SiteID: 3, URL: "https://evil.example/=x", State: models.StateNew, FRMax: 120},
		models.PageSummary{SiteID: 1, URL: "https://docs.example.org/private", State: models.StateExcluded, FRMax: 1},
		models.PageSummary{SiteID: 1, URL: "https://docs.example.org/old", State: models.StateGone, FRMax: 1})
}

func ratesBy(by string, limit int) Document {
	o := testOptions
	o.By, o.Limit = by, limit
	rates := newChangeRates(o)
	for _, p := range examplePages() {
		rates.add(p)
	}
	return rates.document()
}

func TestChangeRates(t *testing.T) {
	t.Parallel()
	goldenDocument(t, "change-rates-site", ratesBy("site", 0))
	goldenDocument(t, "change-rates-directory", ratesBy("directory", 3))
	goldenDocument(t, "change-rates-type", ratesBy("type", 0))
}

func TestChangeRatesOfNothing(t *testing.T) {
	t.Parallel()
	goldenDocument(t, "change-rates-none", newChangeRates(testOptions).document())
}

func TestChangeRatesLeaveOutWhatIsNotVisited(t *testing.T) {
	t.Parallel()
	var pages int64
	for _, row := range ratesBy("site", 0).Rows {
		pages += row[1].Value.(int64)
	}
	if pages != 301 {
		t.Errorf("%d pages, want 301: the excluded and the gone one do not count", pages)
	}
}

func TestDirectoriesAreBounded(t *testing.T) {
	t.Parallel()
	o := testOptions
	o.By = "directory"
	rates := newChangeRates(o)
	for i := range maxGroups + 500 {
		rates.add(models.PageSummary{URL: fmt.Sprintf("https://h.example/%d/x", i), State: models.StateLive, FRMax: 1})
	}
	if len(rates.groups) != maxGroups+1 {
		t.Errorf("%d groups, want %d", len(rates.groups), maxGroups+1)
	}
	if rest := rates.groups[otherGroups]; rest == nil || rest.pages != 500 {
		t.Errorf("the rest = %+v, want 500 pages", rest)
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url   string
		depth int
		want  string
	}{
		{"https://a.example/", 2, "a.example/"},
		{"https://a.example/x", 2, "a.example/"},
		{"https://a.example/en/x", 2, "a.example/en/"},
		{"https://a.example:8080/en/guide/deep/x", 2, "a.example:8080/en/guide/"},
		{"https://a.example/en/guide/deep/x", 1, "a.example/en/"},
		{"https://a.example/x?p=/a/b", 3, "a.example/"},
		{"https://a.example", 2, "a.example/"},
	} {
		if got := directory(tt.url, tt.depth); got != tt.want {
			t.Errorf("directory(%q, %d) = %q, want %q", tt.url, tt.depth, got, tt.want)
		}
	}
}

func TestDaily(t *testing.T) {
	t.Parallel()
	today := DayNumber(testNow)
	rows := []models.Daily{
		{SiteID: 1, Day: today, Asked: 1412, NotModified: 1100, Same: 200, Changed: 80, First: 12, Failed: 20, Robots: 4,
			Skipped: 31, Bytes: 52 << 20, BytesSaved: 310 << 20},
		{SiteID: 2, Day: today, Asked: 3, Moved: 1, Gone: 2},
		{SiteID: 1, Day: today - 1, Asked: 900, NotModified: 900, BytesSaved: 100 << 20},
	}
	goldenDocument(t, "daily", dailyDocument(rows, testOptions))
	o := testOptions
	o.By = "site"
	goldenDocument(t, "daily-site", dailyDocument(rows, o))
}

func TestHosts(t *testing.T) {
	t.Parallel()
	host := func(name string, pages, failures int32, ready, backoff, lease time.Duration) models.HostSummary {
		at := func(d time.Duration) models.Instant {
			if d == 0 {
				return 0
			}
			return models.At(testNow.Add(d))
		}
		return models.HostSummary{RobotsStatus: 200, Host: models.Host{Name: name, Pages: pages, Failures: failures,
			Delay: 10 * time.Second, ReadyAt: at(ready), BackoffUntil: at(backoff), LeaseUntil: at(lease)}}
	}
	hosts := []models.HostSummary{
		host("docs.example.org", 3412, 0, time.Hour, 0, 0), host("blog.example.net", 50, 0, time.Minute, 0, time.Minute),
		host("down.example", 7, 4, 2*time.Hour, 2*time.Hour, 0), host("late.example", 8, 0, -time.Minute, 0, 0),
		host("shaky.example", 9, 1, time.Hour, -time.Hour, 0), host("quiet.example", 1, 0, 0, 0, 0),
	}
	hosts[3].RobotsStatus, hosts[4].RobotsClass, hosts[5].RobotsStatus = 404, models.DNSTemporary, 0
	goldenDocument(t, "hosts", hostDocument(hosts, testOptions))
}

func TestResponses(t *testing.T) {
	t.Parallel()
	rows := []models.Response{
		{Kind: models.Failed, Class: models.ConnTimeout, Visits: 3, Took: int64(9 * time.Second), LastAt: models.At(testNow)},
		{Kind: models.NotModified, Status: 304, Visits: 1200, Took: int64(60 * time.Second), LastAt: models.At(testNow)},
		{Kind: models.Changed, Status: 200, Visits: 90, Bytes: 9 << 20, Took: int64(20 * time.Second), LastAt: models.At(testNow.Add(-time.Hour))},
		{Kind: models.Failed, Class: models.ServerError, Status: 503, Visits: 12, LastAt: models.At(testNow.Add(-2 * day))},
		{Kind: models.Skipped, Visits: 40, LastAt: models.At(testNow)},
		{Kind: models.Changed, Status: 206},
	}
	goldenDocument(t, "responses", responseDocument(rows, testNow.Add(-7*day), testOptions))
}

func TestTextFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, d := range []Document{ratesBy("site", 0), ratesBy("directory", 0)} {
		for _, width := range []int{80, 100, 120} {
			var b bytes.Buffer
			if err := WriteText(&b, d, Style{Width: width, Color: true}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("a line of %d characters on a terminal of %d: %q", n, width, line)
				}
			}
		}
	}
}

func TestNoColourCodesInAPipe(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteText(&b, ratesBy("site", 0), Style{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("escape codes in plain text: %q", b.String())
	}
}

func TestFault_111_CSVGuardsFormulas(t *testing.T) {
	t.Parallel()
	d := Document{Columns: []Column{{Key: "text", Head: "text"}, {Key: "number", Head: "number"}}}
	for _, s := range []string{"=1+1", "+1", "-1", "@x", "\tx", "\rx", "plain", "", "a=b"} {
		d.Rows = append(d.Rows, Row{TextCell(s), OnlyValue(-1.5)})
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, d); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"text", "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "plain", "", "a=b"}
	for i, line := range lines {
		if line[0] != want[i] {
			t.Errorf("line %d: %q, want %q", i, line[0], want[i])
		}
		if i > 0 && line[1] != "-1.5" {
			t.Errorf("line %d: number %q, want -1.5 as it is", i, line[1])
		}
	}
}

func TestEveryReportIsComplete(t *testing.T) {
	t.Parallel()
	for name, r := range Reports {
		if r.Title == "" || r.About == "" || r.Make == nil {
			t.Errorf("report %s lacks a title, a sentence or its maker", name)
		}
	}
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	var h Histogram
	for _, n := range []int32{-5, 0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 100_000, 1 << 30} {
		h.Add(n)
	}
	want := "1:3 2:1 3-4:2 5-8:2 9-16:2 17-32:1 65537-131072:2"
	if got := h.String(); got != want {
		t.Errorf("histogram %q, want %q", got, want)
	}
	if got, want := (Histogram{8, 0, 1, 4}).Bars(3), "█·▁▄"; got != want {
		t.Errorf("bars %q, want %q", got, want)
	}
}

// TestHostsAndResponsesFitTheTerminal: a server with the longest words in every column, and the longest outcomes, in 80 columns.
func TestHostsAndResponsesFitTheTerminal(t *testing.T) {
	t.Parallel()
	slow := models.HostSummary{RobotsClass: models.ServerError, Host: models.Host{Name: "documentation.some-department.example.org:18443", Pages: 1_234_567,
		Delay: 100 * time.Millisecond, Failures: 1234, BackoffUntil: models.At(testNow.Add(200 * time.Hour)), ReadyAt: models.At(testNow.Add(200 * time.Hour))}}
	slow.Trials.Load.Response, slow.Trials.Load.Slowed = 1234*time.Millisecond, 90*time.Second
	documents := []Document{hostDocument([]models.HostSummary{slow}, Options{Now: testNow})}
	var responses []models.Response
	for kind := range models.OutcomeKind(40) {
		for class := range models.ErrorClass(40) {
			responses = append(responses, models.Response{Kind: kind, Class: class, Status: 599, Visits: 1_234_567, Bytes: 1 << 40, Took: 1 << 50,
				LastAt: models.At(testNow.Add(-100 * time.Hour))})
		}
	}
	documents = append(documents, responseDocument(responses, testNow.Add(-responsesSpan), Options{Now: testNow}))
	for _, d := range documents {
		var b strings.Builder
		if err := WriteText(&b, d, Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: a line of %d: %q", d.Name, n, line)
				break
			}
		}
	}
}
