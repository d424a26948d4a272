package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/sink"
)

// writtenAhead fills a data directory by a clock that is years ahead.
func writtenAhead(t *testing.T, data string, ahead time.Time) *models.Store {
	t.Helper()
	ctx := t.Context()
	store, err := models.Open(ctx, filepath.Join(data, databaseFile), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(store.Migrate(ctx, ahead))
	_, err = store.AddSite(ctx, ahead, models.Site{Name: "a", URL: "https://a.example/"})
	must(err)
	_, err = store.AddPages(ctx, ahead, []models.Discovery{{Host: "a.example", Page: models.Page{SiteID: 1, URL: "https://a.example/"}}}, 0)
	must(err)
	must(store.Beat(ctx, models.Worker{Name: "old", BeatAt: models.At(ahead)}))
	must(store.Merge(ctx, importanceNote, func([]byte) []byte {
		return toNote(importanceTurn{Of: "x", At: models.At(ahead), choreHold: choreHold{"w", models.At(ahead)}})
	}))
	must(store.Merge(ctx, noteCounted, func([]byte) []byte { return []byte(fmt.Sprintf(`{"At":%d}`, models.At(ahead))) }))
	_, err = store.SetMeta(ctx, sink.LeaseKey("mirror"), "", fmt.Sprintf("%d old", models.At(ahead)))
	must(err)
	return store
}

func TestRewindIsTheWayOutOfAHeldDaemon(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	must(t, "config", "check", "-c", path)
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	now := clock.System{}.Now()
	store := writtenAhead(t, data, now.AddDate(4, 0, 0))
	held := func() string {
		newest, err := store.NewestInstant(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return holdBehind(now, newest.Time())
	}
	if why := held(); !strings.Contains(why, "recrawld db rewind") {
		t.Fatalf("held with %q, want the way out named", why)
	}
	if said := must(t, "status", "-c", path); !strings.Contains(said, "recrawld db rewind") {
		t.Errorf("recrawld status says %q, want the way out named", said)
	}
	if code, _, _ := command(t, "db", "rewind", "-c", path); code != exitUsage {
		t.Errorf("db rewind with nobody to ask: exit code %d, want %d", code, exitUsage)
	}
	if err := store.Beat(t.Context(), models.Worker{Name: "busy", Machine: "elsewhere", RealBeatAt: models.At(clock.System{}.Now())}); err != nil {
		t.Fatal(err)
	}
	if code, _, said := command(t, "db", "rewind", "--yes", "-c", path); code != exitLocked || !strings.Contains(said, `"busy"`) {
		t.Errorf("db rewind beside a living worker: exit code %d, %q; want %d and its name", code, said, exitLocked)
	}
	if err := store.Leave(t.Context(), "busy"); err != nil {
		t.Fatal(err)
	}
	if said := must(t, "db", "rewind", "--yes", "-c", path); !strings.Contains(said, "1 sites") || !strings.Contains(said, "2 notes") {
		t.Errorf("db rewind says %q, want what it brought back", said)
	}
	if why, said := held(), must(t, "status", "-c", path); why != "" || strings.Contains(said, "recrawld db rewind") {
		t.Errorf("held afterwards: %s; recrawld status says %q", why, said)
	}
	lease, err := store.Meta(t.Context(), sink.LeaseKey("mirror"))
	turn, err2 := store.Note(t.Context(), importanceNote)
	if err != nil || err2 != nil || lease != "0 nobody" || fromNote[importanceTurn](turn).At > models.At(clock.System{}.Now()) {
		t.Errorf("the sink's lease is %q, importance %s, %v, %v", lease, turn, err, err2)
	}
	if said := must(t, "db", "rewind", "--yes", "-c", path); !strings.Contains(said, "nothing is changed") {
		t.Errorf("db rewind once more says %q", said)
	}
}

// beating is a clock on whose sleep a worker beats.
type beating struct {
	clock.Clock
	beat func()
}

func (b beating) SleepUntil(ctx context.Context, at time.Time) error {
	b.beat()
	return b.Clock.SleepUntil(ctx, at)
}

// A worker whose machine's clock is ahead is told from one that died then by whether it goes on beating.
func TestRewindLooksForWorkersWhoseClockIsAhead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, moves := range map[string]int64{"dead": 0, "alive": 2000} {
		store := writtenAhead(t, t.TempDir(), now)
		row := models.Worker{Name: "w", RealBeatAt: models.At(now.AddDate(4, 0, 0))}
		beat := func() {
			if err := store.Beat(t.Context(), row); err != nil {
				t.Error(err)
			}
			row.RealBeatAt += models.Instant(moves)
		}
		beat()
		err := nobodyAlive(t.Context(), store, beating{clock.NewVirtual(now), beat})
		if got := exitCode(err) == exitLocked; got != (moves > 0) {
			t.Errorf("a worker that is %s: %v", name, err)
		}
	}
}
