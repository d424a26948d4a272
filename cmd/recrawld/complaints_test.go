package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"recrawld/models"
	"recrawld/scheduler"
)

// What a person is told of where something is wrong names the thing and the way out.
func TestComplaintsSayWhatToDo(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, databaseFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path, data := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms", "http://127.0.0.1:1/")
	for name, test := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"an empty database":    {[]string{"status", "--data", empty}, exitNotFound, []string{empty, "recrawld run or recrawld add"}},
		"no file to check":     {[]string{"config", "check", "--data", empty}, exitUsage, []string{empty, "config init"}},
		"a file not there":     {[]string{"config", "check", "/nowhere.yaml"}, exitUsage, []string{"/nowhere.yaml"}},
		"no such site":         {[]string{"due", "--site", "x", "--data", data}, exitNotFound, []string{`no site "x": there is 127.0.0.1:1`}},
		"no such site to stop": {[]string{"pause", "x", "--data", data}, exitNotFound, []string{`no site "x": there is 127.0.0.1:1`}},
		"no site to stop":      {[]string{"pause", "--data", data}, exitUsage, []string{"name a site, or say --all"}},
		"no site to resume":    {[]string{"resume", "--data", data}, exitUsage, []string{"name a site, or say --all"}},
		"one, and all of them": {[]string{"pause", "127.0.0.1:1", "--all", "--data", data}, exitUsage, []string{"name a site, or say --all, not both"}},
		"an empty name":        {[]string{"remove", "--yes", "", "--data", data}, exitNotFound, []string{`no site "": there is 127.0.0.1:1`}},
		"a link to a contact":  {[]string{"add", "--contact", "mailto:a@b.test", "http://127.0.0.1:1/", "--data", data}, exitUsage, []string{`agent.contact: "mailto:a@b.test"`, `write "a@b.test"`}},
		"a time without unit":  {[]string{"run", "--for", "20", "--data", data}, exitUsage, []string{"--for: 20 has no unit, write 20s"}},
		"no time":              {[]string{"worker", "--for", "2y", "--data", data}, exitUsage, []string{"--for:", "write one like 90s, 6h or 30d"}},
		"a name is missing":    {[]string{"report"}, exitUsage, []string{`expected "<name>" (recrawld report --help lists what there is)`}},
		"a flag of none":       {[]string{"sink", "list", "--x"}, exitUsage, []string{"(recrawld sink list --help lists what there is)"}},
		"no such command":      {[]string{"staus"}, exitUsage, []string{`did you mean "status"? (recrawld --help lists what there is)`}},
		"nor to show":          {[]string{"config", "show", "--site", "x", "--data", data}, exitNotFound, []string{`no site "x": there is 127.0.0.1:1`}},
	} {
		code, _, complaint := command(t, test.args...)
		for _, want := range test.want {
			if code != test.code || !strings.Contains(complaint, want) {
				t.Errorf("%s: exit code %d, said %q; want %d and %q", name, code, complaint, test.code, want)
			}
		}
	}
}

// Links out of a site, or to what robots.txt forbids, are not kept: whether a page has one to the URL is not known.
func TestWhyOfAURLOutsideDoesNotDenyThatItIsLinkedTo(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	must(t, "run", "-c", path, "--for", "100ms", server.URL)
	if _, out, _ := command(t, "why", "http://elsewhere.example/", "-c", path); !strings.Contains(out, "links to it are not followed") {
		t.Errorf("why of a URL outside said %q", out)
	}
	if _, out, _ := command(t, "why", server.URL+"/x", "-c", path); !strings.Contains(out, "no page that was read links to it") {
		t.Errorf("why of a URL inside said %q", out)
	}
}

// Of what links do not lead to it is said whether a page may need it to be shown.
func TestWhyOfAURLOutsideTellsWhetherPagesMayNeedIt(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	path, _ := configure(t, "sites:\n  - { url: "+server.URL+"/docs/, name: docs, requisites: site, requisites_filter: { not: { extension: zip } } }\n")
	must(t, "run", "-c", path, "--for", "100ms")
	tests := []struct{ url, said, json string }{
		{server.URL + "/a.png", "it would be kept if a page were found to need it", `"requisite":{"allowed":true,`},
		{server.URL + "/a.zip", "also as something that a page needs to be shown: requisites_filter", `"requisite":{"allowed":false,`},
		{"http://elsewhere.example/a.png", "also as something that a page needs to be shown:", `"requisite":{"allowed":false,`},
		{server.URL + "/docs/a", "it would be kept if it were found", `"allowed":true`},
	}
	for _, test := range tests {
		if _, out, _ := command(t, "why", test.url, "-c", path); !strings.Contains(strings.Join(strings.Fields(out), " "), test.said) {
			t.Errorf("why %s says %s, want %q", test.url, out, test.said)
		}
		if _, out, _ := command(t, "why", "--json", test.url, "-c", path); !strings.Contains(strings.Join(strings.Fields(out), ""), test.json) {
			t.Errorf("why --json %s says %s, want %q", test.url, out, test.json)
		}
	}
}

func TestAFileOfSomebodyElseSaysSudo(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	complain(&said, fmt.Errorf("lock the data directory: %w", &fs.PathError{Op: "open", Path: "/var/lib/recrawld/lock", Err: syscall.EACCES}))
	if want := "recrawld: lock the data directory: open /var/lib/recrawld/lock: permission denied " +
		"(run it as the user whose /var/lib/recrawld is, or with sudo)\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
	said.Reset()
	complain(&said, fmt.Errorf("listen: %w", syscall.EACCES))
	if strings.Contains(said.String(), "sudo") {
		t.Errorf("of a port: %q", said.String())
	}
}

func TestManySitesAreNotAllNamed(t *testing.T) {
	t.Parallel()
	names := strings.Fields(strings.Repeat("site ", 1000))
	if got, want := noSite("x", names).Error(), strings.Repeat("site, ", 9)+"site and 990 more (recrawld status)"; !strings.HasSuffix(got, want) {
		t.Errorf("noSite() = %q, want it to end in %q", got, want)
	}
	if got, want := noSite("watch", nil).Error(), "recrawld add URL --name NAME"; !strings.Contains(got, want) {
		t.Errorf("noSite() = %q where there is no site, want the way out: %q", got, want)
	}
}

// A page's error clock begins at a quarter of an hour, or at six hours, also where fr_max allows less.
func TestBackoffInWordsIsNotShorterThanItsFirstStep(t *testing.T) {
	t.Parallel()
	for class, want := range map[models.ErrorClass]string{models.ServerError: "15 min at most", models.Refused: "6 h at most"} {
		r := ruled(t, 1, func(r *ruling) {
			r.cycle, r.settings.FRMax, r.page.Rule, r.page.Failures, r.page.Class = "1m", 8, models.RuleBackoff, 1, class
		})
		calendar, err := scheduler.ParseCycle("1m")
		if err != nil {
			t.Fatal(err)
		}
		r.calendar = calendar
		if got := r.sentence(); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", class, got, want)
		}
	}
}

// Every reading command has a JSON form.
func TestDBCheckHasJSON(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms", "http://127.0.0.1:1/")
	var got struct {
		Pages int64
		Right bool
	}
	if _, out, _ := command(t, "db", "check", "--json", "-c", path); json.Unmarshal([]byte(out), &got) != nil || got.Pages != 1 || !got.Right {
		t.Errorf("db check --json said %q, want one page, right", out)
	}
}
