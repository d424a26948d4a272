package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/models"
)

var smallSite = map[string]string{
	"/":       `<title>Start</title><p>See <a href="/a.html">a</a> and <a href="/b/">b</a>.`,
	"/a.html": `<title>A</title><p>Back to <a href="/">the start</a>.`,
	"/b/":     `<title>B</title><p>Nothing here.`,
}

func TestRunNeedsNoConfiguration(t *testing.T) {
	t.Parallel()
	site, data := serve(t, smallSite), filepath.Join(t.TempDir(), "data")
	p := launch(t, nil, "run", "--data", data, "--listen", "off", "-v", site.URL)
	p.tells("READY=1")
	p.says("msg=delivered") // the end alone waits for the mirror only some seconds
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Fatalf("exit code %d after SIGTERM, want 0:\n%s", code, p.output())
	}
	info, err := os.Stat(data)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory %v, %v; want mode 0700", info.Mode(), err)
	}
	name := strings.NewReplacer("http://", "", ":", "_").Replace(site.URL)
	if got, err := os.ReadFile(filepath.Join(data, "mirror", name, "index.html")); err != nil || string(got) != smallSite["/"] {
		t.Errorf("mirror of the start page = %q, %v; want what the site served", got, err)
	}
}

func TestWhatMayNotBeAskedIsRefusedBeforeAnythingIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no contact", []string{"https://example.org/"}, exitRefused, "contact"},
		{"a rehearsal on somebody's server", []string{"--contact", "me@example.net", "--speed", "10", "https://example.org/"}, exitRefused, "--speed"},
		{"slower than the world", []string{"--speed", "0.5"}, exitUsage, "--speed"},
		{"no number", []string{"--speed", "NaN"}, exitUsage, "--speed"},
		{"faster than anything", []string{"--speed", "+Inf"}, exitUsage, "--speed"},
		{"not a URL", []string{"nonsense"}, exitUsage, "nonsense"},
		{"others could reach it", []string{"--listen", "0.0.0.0:8686"}, exitUsage, "listen"},
		{"an anchor without a speed", []string{"--anchor", "2026-11-20T12:00:00Z,2026-11-20T12:00:00Z"}, exitUsage, "--speed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"run", "--data", filepath.Join(t.TempDir(), "data")}, test.args...)
			code, _, stderr := command(t, args...)
			if code != test.code || !strings.Contains(stderr, test.says) {
				t.Errorf("exit code %d, want %d; said %q, want %q in it", code, test.code, stderr, test.says)
			}
		})
	}
}

func TestFault_087_SecondDaemonIsRefused(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	p := launch(t, nil, "run", "-c", config)
	p.tells("READY=1")
	code, _, stderr := command(t, "run", "-c", config)
	if code != exitLocked || !strings.Contains(stderr, data) {
		t.Errorf("second daemon: exit code %d, said %q; want %d and the directory", code, stderr, exitLocked)
	}
	code, _, stderr = command(t, "restore", "-c", config, "--yes", config)
	if code != exitLocked {
		t.Errorf("restore while the daemon runs: exit code %d, said %q; want %d", code, stderr, exitLocked)
	}
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Errorf("first daemon: exit code %d", code)
	}
}

func TestFault_079_BrokenReloadLeavesTheOldConfigurationInForce(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, data := configure(t, "")
	p := launch(t, nil, "run", "-c", config)
	p.tells("READY=1")

	writeConfig(t, config, data, "cycel: 6h\n")
	p.signal(syscall.SIGHUP)
	p.tells("RELOADING=1")
	p.tells("old configuration stays in force")
	p.says("did you mean cycle?")

	writeConfig(t, config, data, "sites: [{url: \"https://example.org/\"}]\n")
	p.signal(syscall.SIGHUP)
	p.tells("old configuration stays in force")

	writeConfig(t, config, data, "cycle: 12h\nsites: [{url: \""+site.URL+"\"}]\n")
	p.signal(syscall.SIGHUP)
	p.tells("READY=1")
	p.says("cycle: 6h → 12h")
	site.isAsked(t, "/")
	p.signal(syscall.SIGTERM)
	p.ends()
}

// hangingSite answers robots.txt and then nothing until the test ends.
func hangingSite(t *testing.T) (url string, asked chan struct{}) {
	t.Helper()
	asked = make(chan struct{}, 100)
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		asked <- struct{}{}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	return server.URL, asked
}

func TestFault_078_SIGTERMWhileVisitingAbandonsAndTeachesNothing(t *testing.T) {
	t.Parallel()
	url, asked := hangingSite(t)
	config, data := configure(t, "worker: {grace: 1s}\n")
	p := launch(t, nil, "run", "-c", config, url)
	<-asked
	p.signal(syscall.SIGTERM)
	p.tells("STOPPING=1")
	if code := p.ends(); code != exitDone {
		t.Fatalf("exit code %d, want 0:\n%s", code, p.output())
	}
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	dump, err := store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if host := dump.Hosts[0]; host.LeaseUntil != 0 {
		t.Errorf("the host is held until %v after the end", host.LeaseUntil)
	}
	if page := dump.Pages[0]; page.Failures != 0 || page.DueAt == 0 || page.State != models.StateNew {
		t.Errorf("the page has %d failures, is due at %v, is %v; want it as if never asked for", page.Failures, page.DueAt, page.State)
	}
}

func TestFault_078_SecondSIGTERMEndsAtOnce(t *testing.T) {
	t.Parallel()
	url, asked := hangingSite(t)
	config, _ := configure(t, "worker: {grace: 5m, lease: 10m}\n")
	p := launch(t, nil, "run", "-c", config, url)
	<-asked
	p.signal(syscall.SIGTERM)
	p.tells("STOPPING=1")
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != -1 {
		t.Errorf("exit code %d, want the signal's own end", code)
	}
}

func TestWatchdogHearsTheLoop(t *testing.T) {
	t.Parallel()
	config, _ := configure(t, "")
	p := launch(t, []string{"WATCHDOG_USEC=2000000"}, "run", "-c", config)
	p.tells("READY=1")
	p.tells("WATCHDOG=1")
	p.tells("WATCHDOG=1")
}

func TestSitesAddedAndPausedMeanwhileArePickedUp(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, _ := configure(t, "")
	p := launch(t, nil, "run", "-c", config, "--log", "json")
	p.tells("READY=1")
	must(t, "add", "-c", config, "--yes", "--probes", "1", "--name", "little", site.URL)
	p.says(`"site added"`)
	site.isAsked(t, "/b/")
	must(t, "pause", "-c", config, "little")
	p.says(`"site paused"`)
	must(t, "resume", "--all", "-c", config)
	p.says(`"site resumed"`)
	if got := must(t, "visit", "-c", config, site.URL+"/a.html"); !strings.Contains(got, "not-modified") {
		t.Errorf("visit of a page that did not change said %q", got)
	}
	must(t, "remove", "-c", config, "--yes", "little")
	p.says(`"site removed"`)
	p.signal(syscall.SIGTERM)
	p.ends()
}

func TestSiteThatMayNotBeAskedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, _ := configure(t, "")
	p := launch(t, nil, "run", "-c", config, "--log", "json", site.URL)
	p.tells("READY=1")
	must(t, "import", "-c", config, imported(t, "http://192.0.2.9/x\n"))
	p.says(`"sites may not be visited"`)
	must(t, "pause", "--all", "-c", config)
	p.says(`"site paused"`)
	must(t, "resume", "--all", "-c", config)
	p.says(`"site resumed"`)
	p.signal(syscall.SIGHUP)
	p.says(`"configuration reloaded"`)
	why := must(t, "why", "-c", config, "http://192.0.2.9/x")
	if !strings.Contains(why, "contact") || strings.Contains(why, "disk") {
		t.Errorf("why does not say that the contact is missing:\n%s", why)
	}
	p.signal(syscall.SIGTERM)
	p.ends()
}

func imported(t *testing.T, list string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRehearsalGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	site := serve(t, smallSite)
	config, data := configure(t, "")
	args := []string{"run", "-c", config, "--speed", "100000", "--for", "3s", site.URL}
	must(t, args...)
	first := newest(t, data)
	code, _, stderr := command(t, "run", "-c", config)
	if code != exitUsage || !strings.Contains(stderr, "rehearsal") {
		t.Errorf("a plain run after a rehearsal: exit code %d, said %q; want it refused", code, stderr)
	}
	must(t, args...)
	if second := newest(t, data); second <= first {
		t.Errorf("the second rehearsal ended at %v, the first at %v: its clock ran backward", second, first)
	}
}

func newest(t *testing.T, data string) models.Instant {
	t.Helper()
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	at, err := store.NewestInstant(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestRootLeavesNothingThatTheOwnerCannotWrite(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	const nobody = 65534
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for _, above := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(above, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := launch(t, nil, "run", "--data", data, "--listen", "off", "--for", "1s")
	if code := p.ends(); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, p.output())
	}
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) < 3 {
		t.Fatalf("%d entries in the data directory, %v", len(entries), err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != nobody {
			t.Errorf("%s belongs to user %d, want %d", entry.Name(), owner, nobody)
		}
	}
}

func TestAWorkersNameIsItsOwn(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "worker: {name: twin}\n")
	must(t, "run", "-c", config, "--for", "100ms")
	store, err := models.Open(t.Context(), filepath.Join(data, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	beat := func() error {
		moment := models.At(clock.System{}.Now())
		return store.Beat(t.Context(), models.Worker{Name: "twin", Machine: "elsewhere", BeatAt: moment, RealBeatAt: moment})
	}
	if err := beat(); err != nil {
		t.Fatal(err)
	}
	other, end := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error {
		for machine := (clock.System{}); machine.SleepUntil(other, machine.Now().Add(beatEvery/10)) == nil; {
			if err := beat(); err != nil {
				return err
			}
		}
		return store.Close()
	})
	code, _, stderr := command(t, "run", "-c", config, "--for", "100ms")
	end()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	if code != exitLocked || !strings.Contains(stderr, "elsewhere") {
		t.Errorf("exit code %d, said %q; want %d and where the other one runs", code, stderr, exitLocked)
	}
}

// A port that is taken ends a daemon that was told to listen there, with a code of its own: systemd does not try again every two seconds.
func TestAPortThatIsTakenEndsWithACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	config, _ := configure(t, "")
	code, _, stderr := command(t, "run", "-c", config, "--listen", other.Addr().String())
	if code != exitLocked || !strings.Contains(stderr, other.Addr().String()+": name another address") {
		t.Errorf("exit code %d, said %q; want %d and the address", code, stderr, exitLocked)
	}
}
