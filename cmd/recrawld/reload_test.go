package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
)

// built is a daemon that was put together and does not run.
func built(t *testing.T, path string) *daemon {
	t.Helper()
	var g globals
	g.connect(strings.NewReader(""), io.Discard, &bytes.Buffer{})
	g.ConfigPath = path
	d, err := newDaemon(t.Context(), &g, &runCmd{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// breakVisitors makes visitors fail until the function it returns is called.
func breakVisitors(d *daemon) (mend func()) {
	works := d.visitor.make
	d.visitor.make = func(*config.Config) (*recrawl.Visitor, error) { return nil, errors.New("out of order") }
	return func() { d.visitor.make = works }
}

func TestSiteThatCannotBePutInForceNowIsTriedAgain(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	site, err := d.store.AddSite(t.Context(), d.clock.Now(), models.Site{Name: "six", URL: "http://[::1]:9/"})
	if err != nil {
		t.Fatal(err)
	}
	mend := breakVisitors(d)
	if err := d.followSites(t.Context(), d.clock.Now()); err == nil {
		t.Fatal("followSites() with a broken visitor = nil, want an error")
	}
	mend()
	if err := d.followSites(t.Context(), d.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if _, known := d.force.Load().sites[site.ID]; !known {
		t.Error("the site is not in force after the second try")
	}
}

// TestReloadTellsOfASiteThatLeftTheFile: it is visited all the same, which whoever took it out does not expect.
func TestReloadTellsOfASiteThatLeftTheFile(t *testing.T) {
	t.Parallel()
	const sites = "sites: [{url: \"http://127.0.0.1:9/\", name: here}]\n"
	path, data := configure(t, sites)
	d := built(t, path)
	if err := d.reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&said, nil))
	for lines, want := range map[string]bool{sites: false, "": true} {
		said.Reset()
		writeConfig(t, path, data, lines)
		if err := d.reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(said.String(), "recrawld remove forgets it\" site=here"); got != want {
			t.Errorf("with %q the log says so: %v, want %v:\n%s", lines, got, want, said.String())
		}
		writeConfig(t, path, data, sites)
		if err := d.reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheStartTellsOfASiteThatLeftTheFile as a reload does, once: while the daemon did not run is when most files are written anew.
func TestTheStartTellsOfASiteThatLeftTheFile(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "sites: [{url: \"http://127.0.0.1:9/\", name: here}]\n")
	const words = "recrawld remove forgets it\" site=here"
	begin := func() string {
		t.Helper()
		code, _, stderr := command(t, "run", "-c", path, "--for", "100ms")
		if code != exitDone {
			t.Fatalf("run: exit code %d: %s", code, stderr)
		}
		return stderr
	}
	if said := begin(); strings.Contains(said, words) {
		t.Errorf("with the site in the file the log says\n%s\nwant nothing of the kind", said)
	}
	writeConfig(t, path, data, "")
	if said := begin(); !strings.Contains(said, words) {
		t.Errorf("with the site out of the file the log says\n%s\nwant %q", said, words)
	}
	must(t, "remove", "here", "--yes", "-c", path)
	if said := begin(); strings.Contains(said, words) {
		t.Errorf("after its removal the log says\n%s\nwant nothing of the kind", said)
	}
}

func TestReloadThatFailsLateChangesNothing(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	d := built(t, path)
	before := d.force.Load().config.Cycle
	writeConfig(t, path, data, "cycle: 12h\nagent: {name: other}\n")
	mend := breakVisitors(d)
	if err := d.reload(t.Context()); err == nil {
		t.Fatal("reload() with a broken visitor = nil, want an error")
	}
	mend()
	if _, err := d.store.AddSite(t.Context(), d.clock.Now(), models.Site{Name: "six", URL: "http://[::1]:9/"}); err != nil {
		t.Fatal(err)
	}
	if err := d.followSites(t.Context(), d.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if got := d.force.Load().config.Cycle; got != before {
		t.Errorf("cycle = %v after a reload that failed, want %v", got, before)
	}
}

func TestReloadHoldsPagesToTheLeaseOfTheRunningWorker(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	d := built(t, path)
	writeConfig(t, path, data, "worker: {lease: 30m}\nsites: [{url: \"http://127.0.0.1:9/\", page_time: 10m}]\n")
	if err := d.reload(t.Context()); err == nil || !strings.Contains(err.Error(), "page_time 10m") {
		t.Errorf("reload() = %v, want page_time 10m refused under a lease of %v", err, d.start.Worker.Lease)
	}
	rows, err := d.store.Sites(t.Context())
	if err != nil || len(rows) != 0 {
		t.Errorf("sites after the refused reload: %v, %v; want none", rows, err)
	}
}

func TestRefusedStartURLLeavesNoSiteBehind(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	code, _, stderr := command(t, "run", "--data", data, "--listen", "off", "https://example.org/")
	if code != exitRefused {
		t.Fatalf("exit code %d, said %q; want %d", code, stderr, exitRefused)
	}
	if sites := dumpOf(t, data).Sites; len(sites) != 0 {
		t.Errorf("sites after the refusal: %v, want none", sites)
	}
	must(t, "run", "--data", data, "--listen", "off", "--for", "100ms")
}
