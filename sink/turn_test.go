package sink

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/models"
)

var errDied = errors.New("the process died")

// frozenIn has a process stop where its mirror comes to a step: stopped is closed there, and it dies when thaw is.
func frozenIn(m *Mirror, at string) (stopped, thaw chan struct{}) {
	stopped, thaw = make(chan struct{}), make(chan struct{})
	first := true
	m.tree.before = func(step, _ string) error {
		switch {
		case step == at && first:
			first = false
			close(stopped)
			<-thaw
		case !first:
			return errDied // at the next step
		}
		return nil
	}
	return stopped, thaw
}

// TestFault_095_AThawedProcessPutsNoOldCopyIntoTheMirror freezes a process in the midst of a delivery for longer than its lease,
// while another one takes over and a newer copy comes. Then the first one thaws, does one step more and dies.
func TestFault_095_AThawedProcessPutsNoOldCopyIntoTheMirror(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"write", "sync", "rename", "log"} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		const a = "https://a.org/a.html"
		one, two := openMirror(t, dir, s), openMirror(t, dir, s)
		synctest.Test(t, func(t *testing.T) {
			first, second := drainOf(log, one, "one", 10), drainOf(log, two, "two", 10)
			log.add(1, s.event(models.EventNew, a, "old", 1))
			stopped, thaw := frozenIn(one, step)
			died := make(chan error)
			go func() {
				_, err := first.Once(t.Context())
				died <- err
			}()
			<-stopped
			if err := (clock.System{}).SleepUntil(t.Context(), clock.System{}.Now().Add(2*lease)); err != nil {
				t.Fatal(err)
			}
			log.add(1, s.event(models.EventChanged, a, "new", 2))
			if _, err := second.Once(t.Context()); err != nil && !errors.Is(err, ErrBusy) {
				t.Errorf("%s: Once of the second process: %v", step, err)
			}
			close(thaw)
			if err := <-died; !errors.Is(err, errDied) {
				t.Errorf("%s: Once of the first process: %v, want it dead", step, err)
			}
			if _, err := second.Once(t.Context()); err != nil {
				t.Errorf("%s: Once of the second process: %v", step, err)
			}
		})
		if d := cmp.Diff(map[string]string{"a.org/a.html": "new"}, filesOf(t, dir)); d != "" {
			t.Errorf("frozen at %q: files differ (-want +got):\n%s", step, d)
		}
	}
}

// TestOpeningWaitsForItsTurn opens a mirror that another process uses: its temporary files are not to be swept.
func TestOpeningWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	m := openMirror(t, dir, s)
	end, err := m.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenMirror(dir, MirrorOptions{Archive: s, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, ErrBusy) {
		t.Errorf("OpenMirror while it is used: %v, want ErrBusy", err)
	}
	end()
	if err := openMirror(t, dir, s).Close(); err != nil {
		t.Error(err)
	}
}

// pruned is a log that has lost the first events of bucket 1.
type pruned struct {
	*memory
	upTo int64
}

func (p pruned) Events(ctx context.Context, bucket int16, after int64, limit int) ([]models.Event, error) {
	if bucket == 1 {
		after = max(after, p.upTo)
	}
	return p.memory.Events(ctx, bucket, after, limit)
}

func sourced(log Log, source Source, s Sink) *Drain {
	return NewDrain(log, s, clock.System{}, Options{Owner: "one", Batch: 10, Source: source, Log: slog.New(slog.DiscardHandler)})
}

// TestAMirrorThatMissedEventsIsMadeAnew turns the mirror on again after the events of meanwhile were pruned: some of a bucket's, and
// all of another's.
func TestAMirrorThatMissedEventsIsMadeAnew(t *testing.T) {
	t.Parallel()
	const a, b, c = "https://a.org/a.html", "https://a.org/b.html", "https://c.org/c.html"
	for name, upTo := range map[string]int64{"the first of them": 2, "all of them": 3} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		log.add(1, s.event(models.EventNew, a, "one", 1), s.event(models.EventNew, b, "bee", 1), s.event(models.EventChanged, b, "bees", 2))
		log.add(2, s.event(models.EventNew, c, "sea", 1))
		log.current = []models.Event{s.event(models.EventNew, a, "one", 1), s.event(models.EventNew, b, "bees", 2),
			s.event(models.EventNew, c, "sea", 1)}
		if _, err := sourced(pruned{log, upTo}, log, openMirror(t, dir, s)).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"a.org/a.html": "one", "a.org/b.html": "bees", "c.org/c.html": "sea"}
		if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
			t.Errorf("%s: files differ (-want +got):\n%s", name, d)
		}
		if news, err := log.News(t.Context(), "mirror"); len(news) > 0 || err != nil {
			t.Errorf("%s: news = %v, %v, want none", name, news, err)
		}
	}
}

// TestAMirrorInAnotherPlaceIsMadeAnew moves the mirror to an empty directory, and empties that one.
func TestAMirrorInAnotherPlaceIsMadeAnew(t *testing.T) {
	t.Parallel()
	s, log := newShelf(t), newMemory()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	log.add(1, s.event(models.EventNew, a, "one", 1))
	first, second := t.TempDir(), t.TempDir()
	want := map[string]string{"a.org/a.html": "one"}
	for version, dir := range []string{first, second, second, first} {
		if version == 2 {
			for _, name := range []string{own, "a.org"} {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		e := s.event(models.EventChanged, b, strings.Repeat("b", version+1), int32(version+1))
		log.add(1, e)
		log.current = []models.Event{s.event(models.EventNew, a, "one", 1), e}
		want["a.org/b.html"] = strings.Repeat("b", version+1)
		m := openMirror(t, dir, s)
		if _, err := sourced(log, log, m).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
			t.Errorf("place %d: files differ (-want +got):\n%s", version, d)
		}
	}
}

// silent is a log whose database does not answer any more once it is asked for the lease a second time.
type silent struct {
	*memory
	asked int
}

func (s *silent) Meta(ctx context.Context, key string) (string, error) {
	if s.asked++; s.asked > 1 {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return s.memory.Meta(ctx, key)
}

// TestADrainEndsThoughTheDatabaseIsSilent stops a drain whose database has stopped to answer.
func TestADrainEndsThoughTheDatabaseIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- drainOf(&silent{memory: newMemory()}, &recorder{}, "one", 10).Run(ctx) }()
		machine := clock.System{}
		if err := machine.SleepUntil(t.Context(), machine.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		began := machine.Now()
		cancel()
		<-done
		if took := machine.Now().Sub(began); took > 4*time.Second {
			t.Errorf("Run ended %v after its context, want 4 s at most", took)
		}
	})
}

// TestRebuildLeavesTheFilesOfOthersAlone makes a mirror anew in a directory in which others keep files, as the data directory
// itself would be; the second time after one that did not end.
func TestRebuildLeavesTheFilesOfOthersAlone(t *testing.T) {
	t.Parallel()
	dir, s := t.TempDir(), newShelf(t)
	want := map[string]string{"recrawld.db": "all that is known", "archive/recrawld-w0.warc.gz": "all bodies", "a.org/notes.txt": "mine"}
	for name, text := range want {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	m := openMirror(t, dir, s)
	stays, flushed, logged := s.event(models.EventNew, "https://a.org/a.html", "one", 1),
		s.event(models.EventNew, "https://a.org/b.html", "two", 1), s.event(models.EventNew, "https://c.org/c.html", "three", 1)
	deliver(t, m, stays, flushed)
	if err := m.flush(); err != nil {
		t.Fatal(err)
	}
	deliver(t, m, logged)
	rebuild := func(err error) error {
		return m.Rebuild(t.Context(), noon, func(yield func(models.Event, error) bool) { _ = yield(stays, nil) && yield(stays, err) })
	}
	if err := rebuild(errDied); !errors.Is(err, errDied) {
		t.Fatalf("Rebuild = %v, want it ended half-way", err)
	}
	if err := rebuild(nil); err != nil {
		t.Fatal(err)
	}
	want["a.org/a.html"] = "one"
	if d := cmp.Diff(want, filesOf(t, dir)); d != "" {
		t.Errorf("files differ (-want +got):\n%s", d)
	}
	if _, err := os.Stat(filepath.Join(dir, trash, noon.Format(time.DateOnly), "c.org/c.html")); err != nil {
		t.Errorf("the file that no page has: %v, want it in the trash", err)
	}
	if _, err := os.Stat(filepath.Join(dir, retiredFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was known before is still there: %v", err)
	}
}
