package main

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateAnswers = flag.Bool("update", false, "write the golden files")

// readings are reading commands by the name of the file with what they answer on the filled data.
var readings = map[string]string{
	"status":          "status",
	"due":             "due --next 7d",
	"due-site":        "due --next 7d --site blog",
	"changes":         "changes --since 10d",
	"changes-kind":    "changes --since 30d --kind changed --limit 2",
	"show":            "show https://docs.example.org/install --limit 3",
	"show-bare":       "show docs.example.org/old",
	"show-version":    "show docs.example.org/install --version 2",
	"show-newest":     "show docs.example.org/install --version=-1",
	"show-text":       "show docs.example.org/prices --text",
	"show-said":       "show docs.example.org/prices --text --version 1 --json",
	"show-header":     "show docs.example.org/install --version 1 --header",
	"diff":            "diff https://docs.example.org/install",
	"diff-range":      "diff https://docs.example.org/install 1..4",
	"diff-raw":        "diff https://docs.example.org/install 1 --raw",
	"diff-lines":      "diff https://docs.example.org/prices 4..5 --lines --all",
	"diff-noise":      "diff https://docs.example.org/prices",
	"diff-html":       "diff https://docs.example.org/prices 4..5 --format html",
	"diff-unified":    "diff https://docs.example.org/prices 4..5 --format unified",
	"diff-source":     "diff https://docs.example.org/source-only",
	"diff-binary":     "diff https://docs.example.org/logo.png",
	"diff-itself":     "diff https://docs.example.org/install 2..2",
	"why":             "why https://docs.example.org/install",
	"why-noise":       "why https://docs.example.org/prices",
	"why-outage":      "why https://docs.example.org/outage",
	"why-duplicate":   "why https://docs.example.org/prices-copy",
	"show-noise":      "show https://docs.example.org/prices --limit 4",
	"show-duplicate":  "show https://docs.example.org/prices-copy",
	"changes-weight":  "changes --since 60d --min-significance 0.5",
	"why-new":         "why https://docs.example.org/fresh",
	"why-failing":     "why https://docs.example.org/slow",
	"why-gone":        "why https://docs.example.org/old",
	"why-excluded":    "why https://docs.example.org/private/x",
	"why-paused":      "why https://blog.example.net/",
	"noise":           "noise docs",
	"noise-none":      "noise blog",
	"report-site":     "report change-rates",
	"report-type":     "report change-rates --by type --format csv",
	"report-cost":     "report cost --since 90d",
	"report-daily":    "report daily --since 90d",
	"report-hosts":    "report hosts",
	"report-foreseen": "report calibration",
	"report-hints":    "report hints",
	"report-response": "report responses --since 90d",
	"report-polite":   "report politeness",
	"report-rhythm":   "report rhythm --since 60d",
}

// sizes vary with the engine's release, not with us.
var sizes = regexp.MustCompile(`database [\d.]+ [KM]iB, archive [\d.]+ KiB`)

func TestReadingCommands(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	t.Run("all", func(t *testing.T) {
		for name, line := range readings {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				answer, complaint, code := desk(t, dir, strings.Fields(line)...)
				if code != exitDone || complaint != "" {
					t.Errorf("%s: exit code %d, %q", line, code, complaint)
				}
				answer = sizes.ReplaceAllString(answer, "database SIZE, archive SIZE")
				sameAsFile(t, filepath.Join("testdata", "read", name+".txt"), answer)
			})
		}
	})
}

func sameAsFile(t *testing.T, path, got string) {
	t.Helper()
	if *updateAnswers {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got; -update writes it):\n%s", path, diff)
	}
}

// Every reading command answers with JSON that a program can read, whatever its text looks like.
func TestReadingCommandsAsJSON(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	for name, line := range readings {
		if strings.HasPrefix(name, "show-") && name != "show-bare" || strings.Contains(line, "csv") {
			continue
		}
		answer, complaint, code := desk(t, dir, append(strings.Fields(line), "--json")...)
		var value map[string]any
		if err := json.Unmarshal([]byte(answer), &value); err != nil || code != exitDone {
			t.Errorf("%s --json: exit code %d, %s, %v: %s", line, code, complaint, err, answer)
		}
		inTheManualOfJSON(t, line, pathsIn("", value))
	}
}

func TestReadingCommandsRefuse(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	tests := []struct {
		line string
		code int
		want string // in the answer or the complaint
	}{
		{"why https://docs.example.org/nowhere", exitNotFound, "it would be kept if it were found"},
		{"why https://docs.example.org/private/nowhere", exitNotFound, "robots.txt line 2: Disallow: /private/"},
		{"why https://docs.example.org/a.jpg", exitNotFound, "filter line 8: not extension jpg"},
		{"why https://elsewhere.example/", exitNotFound, "outside https://docs.example.org/"},
		{"why https://docs.example.org/nowhere --json", exitNotFound, `"known": false`},
		{"why ftp://docs.example.org/", exitUsage, "scheme is not http or https"},
		{"show https://docs.example.org/nowhere", exitNotFound, "not found: https://docs.example.org/nowhere"},
		{"show https://docs.example.org/install --version 9", exitNotFound, "has no version 9: the newest is 4"},
		{"diff https://docs.example.org/install 1..9", exitNotFound, "has no version 9"},
		{"diff https://docs.example.org/install x", exitUsage, "is no range of versions"},
		{"diff https://docs.example.org/fresh", exitNotFound, "nothing to compare"},
		{"show https://docs.example.org/old --text", exitNotFound, "is gone; its last copy is version 1"},
		{"show https://docs.example.org/install --text --header", exitUsage, "together"},
		{"due --site nobody", exitNotFound, "there is docs, blog"},
		{"due --next -3h", exitUsage, "next"},
		{"changes --after tomorrow", exitUsage, "not a cursor, or not all of it; there is now, start"},
		{"changes --kind unheard", exitUsage, "there is new, changed"},
		{"changes --min-significance 2", exitUsage, "from 0 to 1"},
		{"changes --min-significance NaN", exitUsage, "from 0 to 1"},
		{"report nothing", exitUsage, "there is calibration, change-rates, cost, daily, hints, hosts, politeness, responses"},
		{"report change-rates --by moon", exitUsage, "there is site, directory, type"},
		{"report hosts --by site", exitUsage, "has no --by"},
		{"report change-rates --since 7d", exitUsage, "has no --since: it tells of all that is known by now; over time there is report cost, daily, politeness, responses"},
		{"report cost --by directory --since 7d", exitUsage, "has no --since: it tells of all that is known by now; over time there is --by site, day"},
	}
	for _, test := range tests {
		answer, complaint, code := desk(t, dir, strings.Fields(test.line)...)
		if code != test.code || !strings.Contains(answer+complaint, test.want) {
			t.Errorf("%s: exit code %d, %q, %q; want %d and %q", test.line, code, answer, complaint, test.code, test.want)
		}
	}
}

func TestReadingCommandsWithoutData(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"status", "due", "changes", "why https://example.org/", "report daily"} {
		_, complaint, code := desk(t, filepath.Join(t.TempDir(), "none"), strings.Fields(line)...)
		if code != exitNotFound || !strings.Contains(complaint, "nothing has been crawled") {
			t.Errorf("%s: exit code %d, %q, want %d", line, code, complaint, exitNotFound)
		}
	}
}

// The versions list of a page goes through a spreadsheet.
func TestReportAsCSV(t *testing.T) {
	t.Parallel()
	answer, _, code := desk(t, filledData(t), "report", "change-rates", "--by", "directory", "--format", "csv")
	lines, err := csv.NewReader(strings.NewReader(answer)).ReadAll()
	if err != nil || code != exitDone || len(lines) < 3 || lines[0][0] != "directory" {
		t.Errorf("exit code %d, %v: %q", code, err, answer)
	}
}
