package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/pgtest"
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

// runWithSecret runs a daemon by a file that has a secret in another file.
func runWithSecret(t *testing.T) (path, data, secret string) {
	t.Helper()
	secret = filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, data = configure(t, "sites: [{url: \"http://127.0.0.1:9/\", headers: {Authorization: \"${file:"+secret+"}\"}}]\n")
	must(t, "run", "-c", path, "--for", "1s")
	return path, data, secret
}

// TestDaemonLeavesNoSecret: what it leaves in the database of its file has none of its text.
func TestDaemonLeavesNoSecret(t *testing.T) {
	t.Parallel()
	path, data, _ := runWithSecret(t)
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

// TestCommandsOnACopyGoNotByTheFileOfTheOriginal: what it says of directories beside the data is not said of a copy, and verify
// --mend would make the original's mirror anew from it.
func TestCommandsOnACopyGoNotByTheFileOfTheOriginal(t *testing.T) {
	t.Parallel()
	mirror := filepath.Join(t.TempDir(), "mirror")
	path, data := configure(t, "mirror: {dir: "+mirror+"}\n")
	must(t, "run", "-c", path, "--for", "1s")
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, "config", "show", "--data", copied)
	if code != exitDone || strings.Contains(stdout, mirror) || !strings.Contains(stderr, path) || !strings.Contains(stderr, "-c FILE") {
		t.Errorf("of a copy config show says, with exit code %d, %q and shows\n%s\nwant its own mirror, and the way to the original's file", code, stderr, stdout)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	if stdout := must(t, "config", "show", "--data", link); !strings.Contains(stdout, mirror) {
		t.Errorf("by another name of the same directory it shows\n%s\nwant the mirror of the daemon's file", stdout)
	}
}

// TestCommandsOnAPostgreSQLHaveTheDataOfTheDaemon: a command that is given the database alone finds what lies beside it.
func TestCommandsOnAPostgreSQLHaveTheDataOfTheDaemon(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	paths, datas := make([]string, 2), make([]string, 2)
	for i, name := range []string{"one", "two"} {
		paths[i], datas[i] = configure(t, fmt.Sprintf("worker: {name: %s}\nbudget: %d/day\n", name, 77+i))
		must(t, "run", "-c", paths[i], "--store", dsn, "--for", "1s")
	}
	stdout := must(t, "config", "show", "--store", dsn)
	for _, want := range []string{"78/day", filepath.Join(datas[1], "backups")} {
		if !strings.Contains(stdout, want) {
			t.Errorf("config show of the database shows\n%s\nwant %s as in the file of the newest worker", stdout, want)
		}
	}
	other := t.TempDir()
	if stdout := must(t, "config", "show", "--store", dsn, "--data", other); !strings.Contains(stdout, filepath.Join(other, "backups")) {
		t.Errorf("with --data it shows\n%s\nwant what lies in %s", stdout, other)
	}
}

// TestCommandsDoWithoutTheDaemonsSecrets: a file with secrets that the command may not read, or that the unit alone has, does not keep
// it from answering.
func TestCommandsDoWithoutTheDaemonsSecrets(t *testing.T) {
	t.Parallel()
	path, data, secret := runWithSecret(t)
	answers := func(what string) {
		t.Helper()
		if code, _, stderr := command(t, "status", "--data", data); code != exitDone || !strings.Contains(stderr, path) {
			t.Errorf("%s: exit code %d, %q, want an answer and the name of the file", what, code, stderr)
		}
	}
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	answers("a secret that is not there")
	writeConfig(t, path, data, "store: \"postgres://crawl:${credential:db}@127.0.0.1/crawl\"\n")
	answers("a credential of the unit")
}

// TestTheFileOfTheWorkingDirectoryIsNothingToSay: the daemon and the command find the same file by themselves, by the directory that they
// are run in.
func TestTheFileOfTheWorkingDirectoryIsNothingToSay(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("recrawld-data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("recrawld-data", "recrawld.yaml"), []byte("listen: \"off\"\nbudget: 77/day\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "run", "--for", "1s")
	if code, stdout, stderr := command(t, "config", "show"); code != exitDone || stderr != "" || !strings.Contains(stdout, "77/day") {
		t.Errorf("config show: exit code %d, it says %q beside the answer, want nothing; %s", code, stderr, stdout)
	}
}

// TestRelativeDirectoriesAreTheDaemons: what the file names relative to the daemon's working directory lies there for a command that is run
// elsewhere, whether it was led to the file or has found the same one.
func TestRelativeDirectoriesAreTheDaemons(t *testing.T) {
	at := t.TempDir()
	t.Chdir(at)
	lines := "data: " + filepath.Join(at, "data") + "\nlisten: off\nmirror: {dir: my-mirror}\nbackup: {dir: my-backups}\n"
	beside := filepath.Join(at, "data", "recrawld.yaml")
	if err := errors.Join(os.Mkdir("data", 0o700), os.WriteFile("own.yaml", []byte(lines), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"own.yaml", beside} {
		must(t, "run", "-c", file, "--for", "100ms")
		t.Chdir(t.TempDir())
		answer := must(t, "config", "show", "--json", "--data", filepath.Join(at, "data"))
		for _, dir := range []string{"my-mirror", "my-backups"} {
			if want := fmt.Sprintf("%q", filepath.Join(at, dir)); !strings.Contains(answer, want) {
				t.Errorf("by %s, config show has no %s:\n%s", file, want, answer)
			}
		}
		t.Chdir(at)
		if err := errors.Join(os.WriteFile(beside, []byte(lines), 0o600), os.RemoveAll("own.yaml")); err != nil {
			t.Fatal(err)
		}
	}
}
