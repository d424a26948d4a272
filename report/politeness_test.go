package report

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// past is a visit so many milliseconds after a moment, which took so many.
func past(at, took int, kind models.OutcomeKind, status int16) models.PastVisit {
	return models.PastVisit{At: models.At(testNow.Add(-48*time.Hour)) + models.At(time.UnixMilli(int64(at))), Took: time.Duration(took) * time.Millisecond,
		Bytes: 100, Kind: kind, Status: status}
}

func sumsOf(visits ...models.PastVisit) asked {
	run := newAskedRun(testNow)
	for _, v := range visits {
		run.add(v)
	}
	return run.sums()
}

func TestWhatAHostWasAsked(t *testing.T) {
	t.Parallel()
	got := sumsOf(
		past(0, 100, models.RobotsFetched, 200),
		past(10_100, 200, models.First, 200),       // a gap of 10 s
		past(20_300, 5000, models.Failed, 503),     // 10 s
		past(21_300, 100, models.NotModified, 304), // while it was under way: no gap
		past(85_300, 100, models.NotModified, 304), // 60 s after the 503
		past(86_000_000, 100, models.Failed, 429),
	)
	want := asked{requests: 6, robotsRequests: 1, seen: 3, notModified: 2, gaps: 5, least: 0, atOnce: 2, toldToWait: 2, waits: 1}
	if got.requests != want.requests || got.robotsRequests != want.robotsRequests || got.seen != want.seen || got.notModified != want.notModified ||
		got.gaps != want.gaps || got.least != want.least || got.atOnce != want.atOnce || got.toldToWait != want.toldToWait {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got.leftAlone != 0 || got.waits != 1 {
		t.Errorf("left alone for %s after %d answers; a request went out while the 503 was under way", got.leftAlone, got.waits)
	}
	if got.perDay != 3 || got.bytesPerDay != 300 {
		t.Errorf("%g requests and %d bytes a day, want 3 and 300 in two days", got.perDay, got.bytesPerDay)
	}
	if hour := sumsOf(models.PastVisit{At: models.At(testNow.Add(-time.Hour)), Kind: models.First}); hour.perDay != 1 {
		t.Errorf("%g requests a day after one in an hour, want 1", hour.perDay)
	}
}

// Many requests in any order of lengths are added up as one who holds them all would.
func TestWhatAHostWasAskedAgreesWithAllOfIt(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		var visits []models.PastVisit
		at := 0
		for range 1 + rng.IntN(300) {
			at += int(rng.ExpFloat64() * 20_000)
			visits = append(visits, past(at, rng.IntN(30_000), models.First, 200))
		}
		got := sumsOf(visits...)
		var gaps []time.Duration
		most, end := 0, visits[0].At.Time()
		for i, v := range visits {
			begin := v.At.Time()
			if i > 0 {
				gaps = append(gaps, max(begin.Sub(end), 0))
			}
			under := 0
			for _, w := range visits[:i+1] {
				until := w.At.Time().Add(w.Took)
				if until.After(begin) || w == v {
					under++
				}
				if until.After(end) {
					end = until
				}
			}
			most = max(most, under)
		}
		slices.Sort(gaps)
		if int(got.gaps) != len(gaps) || got.atOnce < most-1 || got.atOnce > most {
			t.Fatalf("%d gaps and %d at once, want %d and %d", got.gaps, got.atOnce, len(gaps), most)
		}
		if len(gaps) == 0 {
			continue
		}
		for _, q := range []struct {
			got  time.Duration
			rank int
		}{{got.least, 0}, {got.p5, (len(gaps)*5+99)/100 - 1}, {got.median, (len(gaps)+1)/2 - 1}} {
			if want := gaps[q.rank]; q.got > want || q.got < want-want/50-time.Millisecond {
				t.Errorf("gap %d of %d is told to be %s, want %s", q.rank, len(gaps), q.got, want)
			}
		}
	}
}

func TestVisitsAreSortedByHostAndTime(t *testing.T) {
	t.Parallel()
	v := models.PastVisit{HostID: 1 << 62, At: models.At(testNow), Took: 3 * time.Second, Bytes: 1 << 40, Kind: models.Failed, Class: models.Shell, Status: 599}
	if diff := gocmp.Diff(v, pastOf(pastEntry(v))); diff != "" {
		t.Errorf("a visit is read back (-want +got):\n%s", diff)
	}
	earlier, otherHost := v, v
	earlier.At--
	otherHost.HostID--
	for name, before := range map[string]models.PastVisit{"an earlier one": earlier, "another host's": otherHost} {
		if cmp.Compare(string(pastEntry(before)), string(pastEntry(v))) >= 0 {
			t.Errorf("%s is not before it", name)
		}
	}
}

// politeHosts of the examples: one that is asked a lot, one that was asked once.
func examplePolite() []politeHost {
	busy := sumsOf(past(0, 100, models.RobotsFetched, 200), past(10_100, 200, models.First, 200), past(30_300, 5000, models.Failed, 503),
		past(95_300, 100, models.NotModified, 304), past(115_300, 100, models.NotModified, 304))
	quiet := sumsOf(past(5000, 10, models.Failed, 404))
	return []politeHost{
		{asked: busy, host: models.Host{Name: "docs.example.org", Delay: 20 * time.Second}, robots: []models.Robots{{Origin: "https://docs.example.org",
			Status: 200, Body: []byte("User-agent: *\nCrawl-delay: 20\n"), CrawlDelay: 20 * time.Second, FetchedAt: models.At(testNow.Add(-3 * time.Hour))}}},
		{asked: quiet, host: models.Host{Name: "quiet.example", Delay: 10 * time.Second}},
	}
}

func TestPoliteness(t *testing.T) {
	t.Parallel()
	o := testOptions
	o.Agent, o.Contact = "ExampleBot", "https://example.net/bot"
	goldenDocument(t, "politeness", politenessDocument(examplePolite(), o))
	o.Host = "docs.example.org"
	goldenDocument(t, "politeness-host", politenessDocument(examplePolite()[:1], o))
}

func TestPolitenessFitsTheTerminal(t *testing.T) {
	t.Parallel()
	h := examplePolite()[0]
	h.host.Name = "documentation.some-department.example.org:18443"
	h.requests, h.busiestRequests, h.bytesPerDay, h.perDay, h.toldToWait, h.atOnce = 123_456_789, 1_234_567, 1<<40, 1_234_567, 123_456, 64
	h.least, h.p5, h.median = 100*time.Hour, 101*time.Hour, 400*time.Hour
	var b strings.Builder
	if err := WriteText(&b, politenessDocument([]politeHost{h}, Options{Now: testNow, Agent: "ExampleBot", Host: "x"}), Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("a line of %d: %q", n, line)
		}
	}
}
