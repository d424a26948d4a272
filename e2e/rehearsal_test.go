package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/origin"
	"recrawld/internal/pgtest"
	"recrawld/internal/shared"
)

// scratch is a folder that all tests share: it holds the daemon's binary.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "recrawld-e2e-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := pgtest.Run(m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// longTest skips the test where the end-to-end tests have a run of their own.
func longTest(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("with -short no end-to-end test runs: make e2e and make kill do")
	}
}

// The span of history that is replayed, and how it is visited. A cycle of a day is about 70 ms of real time, the delay
// of an hour about 3 ms.
const (
	cycle = 24 * time.Hour
	delay = time.Hour
	frMax = 30
)

// rehearsal is a replay of the real pages with a daemon that follows them.
type rehearsal struct {
	t      *testing.T
	dir    string
	corpus *origin.Corpus
	anchor clock.Anchor
	clock  clock.System
	log    *origin.Log
	store  string // "sqlite" or the address of a database
	end    time.Time
}

// newRehearsal loads the world, starts its origin and writes a configuration: the clock runs from now on.
func newRehearsal(t *testing.T, store string, span time.Duration) *rehearsal {
	t.Helper()
	first := time.Date(2023, 9, 25, 0, 0, 0, 0, time.UTC)
	// After its last change the world stands still until every page had its turn once more.
	r := openRehearsal(t, first, func(last time.Time) time.Time { return last.Add((frMax + 15) * cycle) }, span)
	r.store = store
	r.configure(settings{agent: "recrawld", policy: "classic", frMax: frMax})
	return r
}

// openRehearsal loads the world and starts its origin: from now on its clock runs from first to
// an end that is told by the world's last change, in a span of real time.
func openRehearsal(t *testing.T, first time.Time, end func(last time.Time) time.Time, span time.Duration) *rehearsal {
	t.Helper()
	longTest(t)
	program(t)
	r := &rehearsal{t: t, dir: t.TempDir(), corpus: theCorpus(t)}
	var err error
	if r.log, err = origin.NewLog(filepath.Join(r.dir, "requests.ndjson")); err != nil {
		t.Fatal(err)
	}
	_, last := r.corpus.Span()
	r.end = end(last)
	now := clock.System{}.Now()
	r.anchor = clock.Anchor{RealAt: now, At: first, Speed: float64(r.end.Sub(first)) / float64(span)}
	r.clock = clock.NewSystem(r.anchor)
	r.serve()
	return r
}

// corpus is the world, once it was loaded. Rehearsals follow one another, each with an origin of its own.
var corpus *origin.Corpus

// theCorpus loads the world, once a test process.
func theCorpus(t *testing.T) *origin.Corpus {
	t.Helper()
	if corpus == nil {
		var err error
		if corpus, err = origin.LoadCorpus(shared.Path(t, "pages"), scratch, 0); err != nil {
			t.Fatal(err)
		}
	}
	return corpus
}

// serve runs the origin until the test ends.
func (r *rehearsal) serve() {
	server, err := origin.Listen(r.corpus.World, r.clock, r.log, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("origin: %v", err)
		}
		if err := r.log.Close(); err != nil {
			r.t.Errorf("origin's log: %v", err)
		}
	})
}

// settings are what daemons differ in.
type settings struct {
	agent  string // the name by which the origin knows it
	policy string
	frMax  int
	budget string // "" for none
}

func (r *rehearsal) configure(s settings) {
	text := fmt.Sprintf(`cycle: 24h
listen: off
agent: {name: %s}
worker: {min_free: 16MiB, grace: 10s}
backup: {every: off}
history: {keep: 36500d}
defaults:
  policy: %s
  fr: 2
  fr_max: %d
  delay: %v
  delay_max: 12h
  level: 1
`, s.agent, s.policy, s.frMax, "1h")
	if s.budget != "" {
		text += "budget: " + s.budget + "\n"
	}
	if err := os.WriteFile(r.path("recrawld.yaml"), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rehearsal) path(name string) string { return filepath.Join(r.dir, name) }

// data is the daemon's directory.
func (r *rehearsal) data() string { return r.path("data") }

// database is what openDatabase takes.
func (r *rehearsal) database() string {
	if r.store == "sqlite" {
		return filepath.Join(r.data(), "recrawld.db")
	}
	return r.store
}

// launch starts a daemon with the origin's clock on the start page of every host. Workers need names of their own.
func (r *rehearsal) launch(worker string) *daemon {
	r.t.Helper()
	d := r.begin(worker)
	d.awaitReady()
	return d
}

// begin is launch without waiting until the daemon is ready.
func (r *rehearsal) begin(worker string) *daemon {
	r.t.Helper()
	var starts []string
	for _, h := range r.corpus.Hosts {
		starts = append(starts, h.URL("/"))
	}
	return r.run(worker, starts...)
}

// run is begin with other start pages, or none.
func (r *rehearsal) run(worker string, starts ...string) *daemon {
	r.t.Helper()
	args := []string{"run", "--config", r.path("recrawld.yaml"), "--data", r.data(), "--store", r.store,
		"--speed", fmt.Sprint(r.anchor.Speed),
		"--anchor", r.anchor.RealAt.Format(time.RFC3339Nano) + "," + r.anchor.At.Format(time.RFC3339Nano)}
	if worker != "" {
		args = append(args, "--worker", worker)
	}
	return begin(r.t, r.path("daemon"+worker+".log"), append(args, starts...)...)
}

// sleep waits until the world's clock shows a moment.
func (r *rehearsal) sleep(to time.Time) {
	r.t.Helper()
	if err := r.clock.SleepUntil(r.t.Context(), to); err != nil {
		r.t.Fatal(err)
	}
}

// report prints a figure of the run.
func (r *rehearsal) report(format string, args ...any) {
	r.t.Helper()
	r.t.Logf(format, args...)
}

// slowerUntilRight has a rehearsal pass in a span of real time, which says what is wrong, and again in twice and four times that while anything is: other
// work may have kept visits from coming when they were due.
func slowerUntilRight(t *testing.T, span time.Duration, rehearse func(*testing.T, time.Duration) (wrong []string)) {
	t.Helper()
	for _, times := range []time.Duration{1, 2, 4} {
		wrong := rehearse(t, times*span)
		if len(wrong) == 0 {
			return
		}
		report := t.Logf
		if times == 4 {
			report = t.Errorf
		}
		if report("in %v:\n%s", times*span, strings.Join(wrong, "\n")); t.Failed() {
			return
		}
	}
}

// complain fails the test with the first few of many troubles.
func complain(t *testing.T, what string, troubles []string) {
	t.Helper()
	if n := len(troubles); n > 0 {
		t.Errorf("%s: %d\n  %s", what, n, strings.Join(troubles[:min(n, 10)], "\n  "))
	}
}
