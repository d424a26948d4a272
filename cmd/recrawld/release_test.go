package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// A release that is begun does not bring tables up to date under a worker of an earlier one, which would hold its
// hosts and its results for ever: it names the worker and changes nothing. A worker that has ended is in nobody's way.
func TestTablesAreNotChangedUnderAWorkerAtWork(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			path, store := earlierDatabase(t, engine)
			if code, _, stderr := command(t, "status", "-c", path); code != exitFailed || !strings.Contains(stderr, "earlier release") ||
				!strings.Contains(stderr, "in place of the one that may still run") {
				t.Errorf("status of a database of an earlier release: exit code %d, said %q; want %d and what to start", code, stderr, exitFailed)
			}
			stop := keepBeating(t, store, models.Worker{Name: "w7", Machine: "elsewhere", PID: 4711})
			code, _, stderr := command(t, "run", "-c", path)
			if code != exitFailed || !strings.Contains(stderr, "w7 on elsewhere") || !strings.Contains(stderr, "stop it") {
				t.Errorf("run beside a worker of an earlier release: exit code %d, said %q; want %d, the worker and the way out", code, stderr, exitFailed)
			}
			stop()
			if code, _, stderr := command(t, "run", "--for", "1s", "-c", path); code != exitFailed || strings.Contains(stderr, "w7") ||
				!strings.Contains(stderr, "migrate") {
				t.Errorf("run after the worker has ended: exit code %d, said %q; want a try at the tables", code, stderr)
			}
		})
	}
}

// A command beside the daemon leaves tables of an earlier release as they are, also where nobody is at work on them: the binary that is
// installed as the daemon's could not read them any more.
func TestCommandsLeaveTheTablesToTheDaemon(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			path, store := earlierDatabase(t, engine)
			before, err := store.Behind(t.Context())
			if err != nil || before == 0 {
				t.Fatalf("the earlier database is at step %d, %v", before, err)
			}
			list := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(list, []byte("http://127.0.0.1:9/a\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			commands := [][]string{{"pause", "--all"}, {"import", list}, {"add", "--yes", "http://127.0.0.1:9/"}, {"visit", "http://127.0.0.1:9/"}, {"db", "rewind", "--yes"}}
			for _, args := range commands {
				code, _, stderr := command(t, append(args, "-c", path)...)
				if code != exitFailed || !strings.Contains(stderr, "earlier release") || !strings.Contains(stderr, "start the daemon of this release") {
					t.Errorf("%s: exit code %d, said %q; want %d and what brings the tables up to date", args[0], code, stderr, exitFailed)
				}
				if step, err := store.Behind(t.Context()); step != before || err != nil {
					t.Errorf("%s brought the tables from step %d to %d, %v", args[0], before, step, err)
				}
			}
			if engine == "sqlite" { // restore makes a new file
				return
			}
			if code, _, stderr := command(t, "restore", "--yes", checkpoint(t), "-c", path); code != exitUsage || !strings.Contains(stderr, "create a new one") {
				t.Errorf("restore: exit code %d, said %q; want %d and the way out", code, stderr, exitUsage)
			}
			if step, err := store.Behind(t.Context()); step != before || err != nil {
				t.Errorf("restore brought the tables from step %d to %d, %v", before, step, err)
			}
		})
	}
}

// Of workers that begin at once on an empty database, or on one of an earlier release that nobody works on, the first one makes the tables and
// begins: it is not in the way of the others.
func TestAWorkerOfTheSameReleaseIsInNobodysWay(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	stop := keepBeating(t, d.store, models.Worker{Name: "first", Machine: "elsewhere", PID: 4711})
	defer stop()
	if step, err := d.g.untilNobodyIsAtWork(t.Context(), lookAtWork(d.store)); step != 0 || err != nil {
		t.Errorf("untilNobodyIsAtWork beside one that was quicker: step %d, %v, want 0: the tables are up to date", step, err)
	}
}

// checkpoint is a file with one of a database without pages.
func checkpoint(t *testing.T) string {
	t.Helper()
	path, data := configure(t, "")
	file := filepath.Join(data, "all.backup")
	must(t, "backup", file, "-c", path)
	return file
}

// earlierDatabase is a database that lacks the newest step of its tables, as far as it says itself, and its configuration: a step that is
// tried finds what it makes there already.
func earlierDatabase(t *testing.T, engine string) (path string, store *models.Store) {
	t.Helper()
	lines, driver := "", "sqlite"
	if engine == "postgres" {
		lines, driver = "store: \""+pgtest.DSN(t)+"\"\n", "pgx"
	}
	path, data := configure(t, lines)
	must(t, "pause", "--all", "-c", path) // makes the tables where there are none
	dsn := filepath.Join(data, databaseFile)
	if engine == "postgres" {
		dsn = strings.Trim(strings.TrimPrefix(strings.TrimSpace(lines), "store: "), `"`)
	}
	execute(t, driver, dsn, `DELETE FROM schema_migrations WHERE version = (SELECT MAX(version) FROM schema_migrations)`)
	store, err := models.Open(t.Context(), dsn, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return path, store
}

func execute(t *testing.T, driver, dsn, statement string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// keepBeating lets a worker be alive until stop, which lets it end as a worker does.
func keepBeating(t *testing.T, store *models.Store, w models.Worker) (stop func()) {
	t.Helper()
	beat := func(real time.Time) error {
		w.BeatAt, w.RealBeatAt = models.At(clock.System{}.Now()), models.At(real)
		return store.Beat(t.Context(), w)
	}
	if err := beat(clock.System{}.Now()); err != nil {
		t.Fatal(err)
	}
	until, end := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error {
		for machine := (clock.System{}); machine.SleepUntil(until, machine.Now().Add(beatEvery/10)) == nil; {
			if err := beat(machine.Now()); err != nil {
				return err
			}
		}
		return beat(time.Time{})
	})
	return func() {
		end()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// Whether a worker is at work is told by its beats alone: its machine and its process say nothing where each has a container of its own, with
// one name of a host and process 1, and its clock nothing where it is not ours.
func TestWhoIsAtWork(t *testing.T) {
	t.Parallel()
	host, _ := os.Hostname()
	for name, test := range map[string]struct {
		machine     string
		pid         int
		since       time.Duration // its last beat, when it is looked at first; negative: ahead
		until       time.Duration // it beats for so long from then on; negative: it does not
		ends        bool          // and says so then
		refuse      bool
		least, most time.Duration
	}{
		"on another machine":          {machine: "other", pid: 1, until: time.Hour, refuse: true, least: beatEvery / 2, most: 2 * beatEvery},
		"in another container":        {machine: host, pid: os.Getpid(), until: time.Hour, refuse: true, least: beatEvery / 2, most: 2 * beatEvery},
		"by another clock":            {machine: "other", since: 5 * time.Minute, until: time.Hour, refuse: true, least: beatEvery / 2, most: 2 * beatEvery},
		"by a clock that is ahead":    {machine: "other", since: -time.Hour, until: time.Hour, refuse: true, least: beatEvery / 2, most: 2 * beatEvery},
		"that was just killed":        {machine: host, pid: 1 << 30, until: -1, least: alive, most: alive + beatEvery},
		"whose machine is gone":       {machine: "other", since: 1000 * time.Hour, until: -1, least: alive, most: alive + beatEvery},
		"that ends while it is asked": {machine: "other", until: 0, ends: true, most: beatEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, g := clock.System{}.Now(), globals{Log: slog.New(slog.DiscardHandler)}
			passed := func() time.Duration { return clock.System{}.Now().Sub(began) }
			look := func(context.Context) ([]models.Worker, int, error) {
				w := models.Worker{Name: "w", Machine: test.machine, PID: int32(test.pid)}
				beat := began.Add(min(passed(), test.until).Truncate(beatEvery))
				if w.RealBeatAt = models.At(beat.Add(-test.since)); test.ends && passed() > test.until {
					w.RealBeatAt = 0
				}
				return []models.Worker{{Name: "ended"}, w}, 7, nil
			}
			step, err := g.untilNobodyIsAtWork(t.Context(), look)
			took := passed()
			if (err != nil) != test.refuse || step != 7 || took < test.least || took > test.most {
				t.Errorf("a worker %s: step %d, %v after %v, want refused %v after %v to %v", name, step, err, took, test.refuse, test.least, test.most)
			}
		})
	}
}

// One that begins while others are watched is at work, too.
func TestAWorkerThatBeginsMeanwhileIsAtWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, g := clock.System{}.Now(), globals{Log: slog.New(slog.DiscardHandler)}
		_, err := g.untilNobodyIsAtWork(t.Context(), func(context.Context) ([]models.Worker, int, error) {
			workers := []models.Worker{{Name: "silent", RealBeatAt: 1}}
			if (clock.System{}).Now().Sub(began) > alive/2 {
				workers = append(workers, models.Worker{Name: "new", RealBeatAt: 2})
			}
			return workers, 7, nil
		})
		if err == nil || !strings.Contains(err.Error(), "worker new") {
			t.Errorf("untilNobodyIsAtWork beside one that began meanwhile: %v, want an error that names it", err)
		}
	})
}

// A worker that was taken for dead while tables were brought up to date ends, and does not write as it knows them.
func TestAWorkerEndsWhenALaterReleaseHasTheTables(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	d := built(t, path)
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { ended <- d.run(ctx) }()
	execute(t, "sqlite", filepath.Join(data, databaseFile)+"?_pragma=busy_timeout(30000)", `INSERT INTO schema_migrations VALUES (9999, 'later', '', 1)`)
	if err := <-ended; !errors.Is(err, models.ErrNewerSchema) || !strings.Contains(err.Error(), "use the later release") {
		t.Errorf("the daemon ended with %v, want to hear of the later release", err)
	}
}
