package main

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/sink"
)

// A sink that cannot be opened yet is opened when its events come again.
func TestASinkIsOpenedAgain(t *testing.T) {
	t.Parallel()
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := new(config.Config)
	c.Mirror.Dir = filepath.Join(inTheWay, "mirror")
	l := mirrorKind(c).make(sinkParts{archive: (*archive.Reader)(nil), log: slog.New(slog.DiscardHandler)}).(*lateSink)
	for range 2 {
		if err := l.Deliver(t.Context(), nil); err == nil {
			t.Fatal("a mirror was opened below a file")
		}
		if err := l.Idle(time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if err := l.Deliver(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// remadeSink is a sink that is made anew by a function.
type remadeSink struct {
	remake func(context.Context) error
}

func (remadeSink) Name() string                                  { return "mirror" }
func (remadeSink) Deliver(context.Context, []models.Event) error { return nil }
func (remadeSink) Close() error                                  { return nil }
func (r remadeSink) Rebuild(ctx context.Context, _ time.Time, _ iter.Seq2[models.Event, error]) error {
	return r.remake(ctx)
}

// emptyStore is a new database, and when it was made.
func emptyStore(t *testing.T) (*models.Store, time.Time) {
	t.Helper()
	store, err := models.Open(t.Context(), liteFile(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	now := clock.System{}.Now()
	if err := store.Migrate(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	return store, now
}

// A daemon that ends while it makes a sink anew leaves the wish for the next start: half of the sink is gone by then. One
// that fails says so, once.
func TestAWishForAReplayOutlivesTheDaemonThatBegan(t *testing.T) {
	t.Parallel()
	store, _ := emptyStore(t)
	wish, key := replayAsked+"2026-11-21T12:00:00Z", replayKey("mirror")
	if _, err := store.SetMeta(t.Context(), key, "", wish); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	log := slog.New(slog.DiscardHandler)
	for _, test := range []struct {
		name   string
		remake func(context.Context) error
		want   string
	}{
		{"one that is ended", func(ctx context.Context) error { end(); <-ctx.Done(); return ctx.Err() }, wish},
		{"one that fails", func(context.Context) error { return errors.New("no room") }, replayFailed + "replay mirror: no room"},
	} {
		late := &lateSink{name: mirrorSink, opened: remadeSink{test.remake}}
		r := &sinkRunner{sink: late, store: store, clock: clock.System{}, owner: "w", log: log,
			drain: sink.NewDrain(store, late, clock.System{}, sink.Options{Owner: "w", Log: log})}
		r.remake(ctx, wish)
		if got, err := store.Meta(t.Context(), key); got != test.want || err != nil {
			t.Errorf("%s leaves %q, %v, want %q", test.name, got, err, test.want)
		}
		ctx = t.Context()
	}
}

// A replay in the command's own process that is interrupted is left to the daemon.
func TestAReplayThatIsInterruptedIsLeftToTheDaemon(t *testing.T) {
	t.Parallel()
	store, err := models.Open(t.Context(), liteFile(t), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Migrate(t.Context(), clock.System{}.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	for _, test := range []struct {
		name   string
		replay func() (int64, error)
		want   string
	}{
		{"one that ends", func() (int64, error) { return 0, nil }, replayDone},
		{"one that finds bodies lost", func() (int64, error) { return 3, nil }, replayLost + "3"},
		{"one that fails", func() (int64, error) { return 0, errors.New("no room") }, replayFailed + "no room"},
		{"one that is interrupted", func() (int64, error) { interrupt(); return 0, ctx.Err() }, replayAsked},
	} {
		wished := ""
		_, err := replayNoted(ctx, store, "mirror", func() (int64, error) {
			wished, _ = store.Meta(t.Context(), replayKey("mirror"))
			return test.replay()
		})
		if !strings.HasPrefix(wished, replayAsked) {
			t.Errorf("%s: while it runs %q is noted, want a wish", test.name, wished)
		}
		if got, gone := store.Meta(t.Context(), replayKey("mirror")); gone != nil || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s leaves %q (%v, %v), want %q", test.name, got, gone, err, test.want)
		}
	}
}

// A daemon that was started before the sink came into the configuration never makes it anew: whoever asks for that is not kept waiting.
func TestAReplayOfASinkThatNoDaemonDrainsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	store, now := emptyStore(t)
	if err := store.Beat(t.Context(), models.Worker{Name: "w", BeatAt: models.At(now), RealBeatAt: models.At(now)}); err != nil {
		t.Fatal(err)
	}
	machine := clock.NewVirtual(now)
	_, err := askForReplay(t.Context(), store, machine, "webhook:w")
	if err == nil || !strings.Contains(err.Error(), "no daemon that runs drains it") || machine.Now().Sub(now) > time.Minute {
		t.Errorf("after %v: %v, want that no daemon drains it", machine.Now().Sub(now), err)
	}
	if wish, err := store.Meta(t.Context(), replayKey("webhook:w")); err != nil || !strings.HasPrefix(wish, replayAsked) {
		t.Errorf("it leaves %q, %v, want the wish for the next start", wish, err)
	}
}
