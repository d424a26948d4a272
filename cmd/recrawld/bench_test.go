package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// benchFor runs a short bench in a process of its own and returns its figures.
func benchFor(t *testing.T, args ...string) benchFigures {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"bench"}, args...)...)
	cmd.Env = append(os.Environ(), asRecrawld+"=1", "TMPDIR="+t.TempDir())
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("recrawld bench %v: %v\n%s", args, err, said.String())
	}
	var f benchFigures
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatalf("recrawld bench %v printed %q: %v", args, out.String(), err)
	}
	return f
}

func TestBenchRefresh(t *testing.T) {
	t.Parallel()
	f := benchFor(t, "refresh", "--hosts", "3", "--pages", "40", "--for", "30s", "--json")
	if got := f.Outcomes["not-modified"] + f.Outcomes["changed"] + f.Outcomes["same-bytes"]; got != f.Visits || f.Visits == 0 {
		t.Errorf("%d of %d visits found a page changed or not: %v", got, f.Visits, f.Outcomes)
	}
	if f.Outcomes["changed"] > f.Visits/5 {
		t.Errorf("of %d visits %d found a change, want some 5 %%", f.Visits, f.Outcomes["changed"])
	}
	if f.VisitsPerS <= 0 || f.CPU <= 0 || f.RSSMB <= 0 || f.Claims.N == 0 || f.Commits.P99MS <= 0 {
		t.Errorf("figures are missing: %+v", f)
	}
}

func TestBenchEndsWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	f := benchFor(t, "refresh", "--hosts", "2", "--pages", "2000", "--for", "300ms", "--latency", "20ms", "--json")
	if f.Seconds < 0.3 || f.Visits >= 4000 {
		t.Errorf("measured %.2f s and %d visits, want 0.3 s and fewer than all 4000", f.Seconds, f.Visits)
	}
}

func TestBenchCrawl(t *testing.T) {
	t.Parallel()
	f := benchFor(t, "crawl", "--hosts", "2", "--pages", "60", "--for", "60s", "--tls", "--size", "3000", "--json")
	if got := f.Outcomes["first"]; got != f.Visits || f.Visits == 0 || !f.Mirrored {
		t.Errorf("%d of %d visits were first ones, mirrored: %v; %v", got, f.Visits, f.Mirrored, f.Outcomes)
	}
}

func TestBenchRefusesInPlainWords(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(full+"/something", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--hosts", "0"}, "0 hosts: from 1 to"},
		{[]string{"--pages=-1"}, "-1 pages a host"},
		{[]string{"--changes", "2"}, "it lies between 0 and 1"},
		{[]string{"--latency=-1s"}, "is not a duration"},
		{[]string{"--for", "0s"}, "the time to measure is more than nothing"},
		{[]string{"--store", "postgres"}, "name an empty database"},
		{[]string{"--data", full}, "is not empty"},
	} {
		var out, said bytes.Buffer
		code := runContext(t.Context(), append([]string{"bench", "refresh"}, c.args...), strings.NewReader(""), &out, &said)
		if code != exitUsage || !strings.Contains(said.String(), c.want) {
			t.Errorf("bench refresh %v = exit code %d, %q, want %d, %q", c.args, code, said.String(), exitUsage, c.want)
		}
	}
}
