package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const someTrace = `page,t,size,blob,op,batch
/a,1700000000,10,a1,add,1
/b,1700000000,10,b1,add,1
/a,1700900000,10,a2,modify,1
/a,1701800000,10,a3,modify,1
/b,1702000000,10,b2,modify,1
/a,1702700000,10,a4,modify,1
/b,1703600000,10,b3,modify,1
`

// simulateIn runs the command in a directory of its own that has the file trace.csv.
func simulateIn(t *testing.T, args ...string) (dir, out, complaint string, code int) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trace.csv"), []byte(someTrace), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", dir)
	}
	var stdout, stderr bytes.Buffer
	code = runContext(t.Context(), append([]string{"--data", dir, "simulate"}, args...), nil, &stdout, &stderr)
	return dir, stdout.String(), stderr.String(), code
}

func TestSimulateComparesPolicies(t *testing.T) {
	t.Parallel()
	dir, out, complaint, code := simulateIn(t, "--trace", "DIR/trace.csv", "--policy", "uniform,storm,oracle", "--budget", "1x,1/day", "--json",
		"--visits", "DIR/v.ndjson", "--chart", "DIR/c.svg")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, complaint)
	}
	var shown struct {
		Rows []struct {
			Subject   string  `json:"subject"`
			Policy    string  `json:"policy"`
			Budget    string  `json:"budget"`
			Freshness float64 `json:"freshness"`
			Visits    int     `json:"visits"`
		} `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(shown.Rows) != 6 {
		t.Fatalf("%d rows, want one for each of 3 policies and 2 budgets:\n%s", len(shown.Rows), out)
	}
	for _, r := range shown.Rows {
		if r.Subject != "trace" || r.Freshness <= 0 || r.Freshness > 1 || r.Visits == 0 {
			t.Errorf("row %+v", r)
		}
	}
	lines, err := os.ReadFile(filepath.Join(dir, "v-trace-storm-1-day.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	var visit struct {
		T    float64
		Page string
	}
	if err := json.Unmarshal(lines[:bytes.IndexByte(lines, '\n')], &visit); err != nil || visit.T < 1.7e9 || !strings.HasPrefix(visit.Page, "/") {
		t.Errorf("first visit %+v, %v", visit, err)
	}
	checkXML(t, filepath.Join(dir, "c.svg"), 2*6)
}

// checkXML reads a drawing to its end and counts the titles of its points.
func checkXML(t *testing.T, path string, titles int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := 0
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "title" {
			got++
		}
	}
	if got != titles {
		t.Errorf("the chart has %d points, want %d", got, titles)
	}
}

func TestSimulateShowsATable(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at the simulator in its own package")
	}
	t.Parallel()
	_, out, complaint, code := simulateIn(t, "--world", "office", "--pages", "50", "--hosts", "5", "--days", "20", "--policy", "adaptive,uniform")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, complaint)
	}
	for _, want := range []string{"office", "0.2/page/day", "adaptive", "uniform", "fresh", "score", "rhythm"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// With windows all visits are inside them.
func TestSimulateInWindows(t *testing.T) {
	t.Parallel()
	dir, _, complaint, code := simulateIn(t, "--world", "poisson", "--pages", "20", "--hosts", "2", "--days", "20", "--policy", "uniform",
		"--window", "Mon,Tue 22:00-04:00 Europe/Berlin", "--window", "Fri 10:00-11:00 UTC", "--visits", "DIR/v.ndjson")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, complaint)
	}
	f, err := os.Open(filepath.Join(dir, "v.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	visits, fridays := 0, 0
	for d := json.NewDecoder(f); d.More(); visits++ {
		var v struct{ T float64 }
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		at := time.UnixMilli(int64(v.T * 1000)).UTC()
		night := at.In(berlin).Add(-22 * time.Hour) // counted from ten in the evening
		switch {
		case at.Weekday() == time.Friday && at.Hour() == 10:
			fridays++
		case (night.Weekday() != time.Monday && night.Weekday() != time.Tuesday) || night.Hour() >= 6:
			t.Fatalf("a visit on %v", at.In(berlin).Format("Mon 15:04 MST"))
		}
	}
	if fridays == 0 || visits == fridays {
		t.Errorf("%d visits, %d of them on Fridays: want some in each window", visits, fridays)
	}
}

func TestSimulateComplains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":       {nil, exitUsage, "simulate what?"},
		"world":         {[]string{"--world", "mars"}, exitUsage, `no world "mars": there is burst, fixed-hour, office, poisson, sweep`},
		"policy":        {[]string{"--world", "office", "--policy", "best"}, exitUsage, `no policy "best": there is adaptive`},
		"no unit":       {[]string{"--world", "office", "--budget", "5"}, exitUsage, "has no unit, write 5/day"},
		"no file":       {[]string{"--trace", "DIR/none.csv.gz"}, exitUsage, "no such file"},
		"not a trace":   {[]string{"--trace", "DIR"}, exitFailed, "read trace"},
		"no history":    {[]string{"--history"}, exitNotFound, "nothing has been crawled"},
		"robots":        {[]string{"--world", "office", "--robots", "--policy", "oracle"}, exitUsage, "oracle weighs visits alone"},
		"window":        {[]string{"--world", "office", "--window", "22:00-06:00"}, exitUsage, `--window: "22:00-06:00" has no time zone, write "22:00-06:00 UTC"`},
		"bytes unknown": {[]string{"--world", "office", "--budget", "1MiB/day"}, exitUsage, "have no size"},
		"oracle bytes":  {[]string{"--trace", "DIR/trace.csv", "--budget", "1MiB/day", "--policy", "oracle"}, exitUsage, "oracle weighs visits alone"},
		"oracle hours":  {[]string{"--world", "office", "--window", "22:00-06:00 UTC", "--policy", "oracle"}, exitUsage, "oracle knows no hours"},
		"short cycle":   {[]string{"--world", "office", "--cycle", "1s"}, exitUsage, "--cycle 1s"},
		"no such world": {[]string{"--world", "office", "--pages", "0"}, exitUsage, "0 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, out, complaint, code := simulateIn(t, test.args...)
			if code != test.code || !strings.Contains(complaint, test.want) || out != "" {
				t.Errorf("exit %d, out %q, complaint %q; want exit %d and %q", code, out, complaint, test.code, test.want)
			}
		})
	}
}

// A history with next to no change in it makes every policy perfect, which says nothing of any.
func TestSimulateWantsAHistoryWithChanges(t *testing.T) {
	t.Parallel()
	site := serve(t, map[string]string{"/": "<p>this page stays as it is, whatever happens"})
	path, _ := configure(t, "sites: [{url: \""+site.URL+"/\"}]\n")
	seenTwice := func() bool {
		must(t, "visit", site.URL+"/", "-c", path)
		_, _, stderr := command(t, "simulate", "--history", "-c", path)
		return !strings.Contains(stderr, "seen twice")
	}
	runUntil(t, seenTwice, "run", "-c", path)
	code, stdout, stderr := command(t, "simulate", "--history", "-c", path)
	if code != exitNotFound || stdout != "" || !strings.Contains(stderr, "0 changes") || !strings.Contains(stderr, "3 are needed") {
		t.Errorf("exit %d, out %q, complaint %q; want exit %d, how many changes there are and are needed", code, stdout, stderr, exitNotFound)
	}
}

// Recorded visits are simulated twice: nobody knows when between two visits a page changed.
func TestSimulateHistory(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	var stdout, stderr bytes.Buffer
	code := runContext(t.Context(), []string{"--data", dir, "simulate", "--history", "--policy", "adaptive,uniform", "--budget", "1x"}, nil, &stdout, &stderr)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	for _, want := range []string{"history, optimistic", "history, pessimistic", "adaptive", "uniform"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
}
