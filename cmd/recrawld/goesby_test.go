package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/models"
)

// TestCommandsGoByTheDaemonsFile: without -c a command goes by the file that the daemon went by, and says so; where that cannot be
// read it says that it goes by another.
func TestCommandsGoByTheDaemonsFile(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "budget: 77/day\nsites: [{url: \"http://127.0.0.1:9/docs/\", filter: {not: {extension: [zip]}}}]\n")
	must(t, "run", "-c", path, "--for", "1s")
	budget := func(t *testing.T, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := command(t, append([]string{"config", "show", "--data", data}, args...)...)
		if code != exitDone {
			t.Fatalf("config show: exit code %d: %s", code, stderr)
		}
		return stdout, stderr
	}
	stdout, stderr := budget(t)
	if !strings.Contains(stdout, "77/day") || !strings.Contains(stderr, "by "+path) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("without -c it says %q and shows\n%s\nwant the budget of the daemon's file, and one line that names it", stderr, stdout)
	}
	if _, stderr := budget(t, "-c", path); stderr != "" {
		t.Errorf("with -c it says %q, want nothing", stderr)
	}
	verdict := must(t, "filter", "test", "--data", data, "http://127.0.0.1:9/docs/a.zip")
	if !strings.Contains(verdict, "dropped") {
		t.Errorf("filter test goes by another filter than the daemon:\n%s", verdict)
	}
	if answer := must(t, "config", "check", "--data", data); !strings.Contains(answer, path) {
		t.Errorf("config check says %q, want it to check %s", answer, path)
	}
	writeConfig(t, path, data, "budget: nonsense\n")
	if code, stdout, _ := command(t, "config", "check", "--data", data); code != exitUsage || !strings.Contains(stdout, "nonsense") {
		t.Errorf("config check of a file with a mistake: exit code %d, %q", code, stdout)
	}
	if code, _, stderr := command(t, "status", "--data", data); code != exitUsage || !strings.Contains(stderr, path) {
		t.Errorf("status by a file with a mistake: exit code %d, %q", code, stderr)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr = budget(t); strings.Contains(stdout, "77/day") || !strings.Contains(stderr, path) || !strings.Contains(stderr, "the defaults") {
		t.Errorf("the file is gone, and it says %q; want the name of the file and that the defaults hold", stderr)
	}
}

// TestDaemonLeavesNoSecret: what it leaves in the database of its file has none of its text.
func TestDaemonLeavesNoSecret(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, data := configure(t, "sites: [{url: \"http://127.0.0.1:9/\", headers: {Authorization: \"${file:"+secret+"}\"}}]\n")
	must(t, "run", "-c", path, "--for", "1s")
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	keys, err := store.MetaKeys(t.Context(), goesByPrefix)
	if err != nil || len(keys) != 1 {
		t.Fatalf("notes of what the daemon goes by: %v, %v, want one", keys, err)
	}
	note, err := store.Meta(t.Context(), keys[0])
	if err != nil || strings.Contains(note, "sesame") || !strings.Contains(note, path) {
		t.Errorf("%s: %s, %v", keys[0], note, err)
	}
}

// TestFileOfWhichWorkerCommandsGoBy.
func TestFileOfWhichWorkerCommandsGoBy(t *testing.T) {
	t.Parallel()
	notes := []goesBy{
		{Worker: "old", Machine: "here", File: "/old.yaml", Digest: "o", At: 9},
		{Worker: "far", Machine: "there", File: "/etc/far.yaml", Digest: "f", At: 8},
		{Worker: "near", Machine: "here", File: "/near.yaml", Digest: "n", At: 1},
		{Worker: "bare", Machine: "here", Digest: "", At: 7},
	}
	here := func(file, digest string) goesBy { return goesBy{Machine: "here", File: file, Digest: digest} }
	for _, test := range []struct {
		name         string
		living       []string
		here         goesBy
		follow, says string
	}{
		{"one that lives here before all others", []string{"near", "far"}, here("", ""), "/near.yaml", "by /near.yaml"},
		{"none lives: the last one here", nil, here("", ""), "/old.yaml", "by /old.yaml"},
		{"the only one that lives is elsewhere", []string{"far"}, here("/a.yaml", "a"), "", "far on there goes by /etc/far.yaml"},
		{"elsewhere, and says the same", []string{"far"}, here("/a.yaml", "f"), "", ""},
		{"the same file", []string{"near"}, here("/near.yaml", "n"), "", ""},
		{"the same file, changed since", []string{"near"}, here("/near.yaml", "m"), "", "SIGHUP"},
		{"it began without a file", []string{"bare"}, here("/new.yaml", "x"), "", "next start"},
		{"neither has a file", []string{"bare"}, here("", ""), "", ""},
	} {
		follow, says := leading(notes, test.living, "here").compare(test.here, "DB")
		if follow != test.follow || !strings.Contains(says, test.says) || test.says == "" && says != "" {
			t.Errorf("%s: follows %q and says %q, want %q and %q", test.name, follow, says, test.follow, test.says)
		}
	}
	if got := differing(notes, []string{"near", "far"}); !strings.Contains(got, "near by /near.yaml on here, far by") && !strings.Contains(got, "far by /etc/far.yaml on there, near") {
		t.Errorf("two that live and differ: %q", got)
	}
	if got := differing(notes, []string{"near"}); got != "" {
		t.Errorf("one that lives: %q, want nothing", got)
	}
}
