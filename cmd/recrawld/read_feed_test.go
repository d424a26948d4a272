package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// fed is what a program reads of `changes --json`.
type fed struct {
	Rows []struct {
		At, Kind, URL string
		Version       int
	}
	Cursor string
}

func feedOf(t *testing.T, dir string, flags ...string) fed {
	t.Helper()
	answer, complaint, code := desk(t, dir, append([]string{"changes", "--json"}, flags...)...)
	var f fed
	if err := json.Unmarshal([]byte(answer), &f); err != nil || code != exitDone {
		t.Fatalf("changes %q: exit code %d, %s, %v: %s", flags, code, complaint, err, answer)
	}
	return f
}

// TestChangesGoOnFromACursor reads all changes in one go and three at a time: each answer begins where the one before ended.
func TestChangesGoOnFromACursor(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	for _, filter := range [][]string{nil, {"--kind", "changed"}, {"--site", "docs", "--min-significance", "0.5"}} {
		all := feedOf(t, dir, append(filter, "--after", "start", "--limit", "0")...)
		if len(all.Rows) < 4 {
			t.Fatalf("%q: only %d changes", filter, len(all.Rows))
		}
		seen := feedOf(t, dir, append(filter, "--since", "3650d", "--limit", "0")...)
		if len(seen.Rows) != len(all.Rows) || seen.Cursor != "" {
			t.Errorf("%q: %d changes without --after and the cursor %q, want %d and none", filter, len(seen.Rows), seen.Cursor, len(all.Rows))
		}
		count := map[string]int{}
		for _, r := range all.Rows {
			count[strings.Join([]string{r.At, r.Kind, r.URL}, " ")]++
		}
		for at, n := "start", 3; n == 3; {
			part := feedOf(t, dir, append(filter, "--after", at, "--limit", "3")...)
			for _, r := range part.Rows {
				count[strings.Join([]string{r.At, r.Kind, r.URL}, " ")]--
			}
			at, n = part.Cursor, len(part.Rows)
		}
		for row, n := range count {
			if n != 0 {
				t.Errorf("%q: three at a time %s is listed %d times less", filter, row, n)
			}
		}
		for _, at := range []string{all.Cursor, "now"} {
			if rest := feedOf(t, dir, append(filter, "--after", at)...); len(rest.Rows) > 0 || rest.Cursor == "" {
				t.Errorf("%q: %d changes after %q, want none and a cursor", filter, len(rest.Rows), at)
			}
		}
	}
	text, _, _ := desk(t, dir, "changes", "--after", "start", "--limit", "1")
	if want := "go on with --after "; !strings.Contains(text, want) {
		t.Errorf("changes --after start says\n%swant %q", text, want)
	}
}

// A database that went back to a checkpoint gives the numbers of events again: a cursor of before would pass over some.
func TestACursorOfBeforeARestoreIsRefused(t *testing.T) {
	t.Parallel()
	config, _ := configure(t, "")
	must(t, "import", "-c", config, imported(t, "http://127.0.0.1:9/a\n"))
	var f fed
	if err := json.Unmarshal([]byte(must(t, "changes", "--json", "--after", "now", "-c", config)), &f); err != nil {
		t.Fatal(err)
	}
	must(t, "changes", "--after", f.Cursor, "-c", config)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	must(t, "backup", "-c", config, checkpoint)
	must(t, "restore", "-c", config, "--yes", checkpoint)
	code, _, complaint := command(t, "changes", "--after", f.Cursor, "-c", config)
	if code != exitNotFound || !strings.Contains(complaint, "a checkpoint was restored") {
		t.Errorf("exit code %d, %q, want %d and why", code, complaint, exitNotFound)
	}
}

func TestACursorOfElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	other, err := models.Open(t.Context(), liteFile(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := other.Migrate(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	if err := other.NoteRestored(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	at, err := other.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, complaint, code := desk(t, filledData(t), "changes", "--after", at.String())
	if code != exitNotFound || !strings.Contains(complaint, `begin anew after "all"`) {
		t.Errorf("exit code %d, %q, want %d and the way out", code, complaint, exitNotFound)
	}
}
