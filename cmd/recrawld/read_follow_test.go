package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/pgtest"
	"recrawld/models"
	"recrawld/report"
)

// filling is a data directory that pages are added to while somebody looks.
func filling(t *testing.T, dsn string) (*filler, library) {
	t.Helper()
	f, dir := &filler{t: t}, t.TempDir()
	var err error
	f.store, err = models.Open(t.Context(), dsn, models.Options{})
	f.must(err)
	t.Cleanup(func() { f.store.Close() })
	f.must(f.store.Migrate(t.Context(), filledNow.Add(-60*day)))
	f.archive, err = archive.Open(dir, archive.Options{Worker: "w", Now: func() time.Time { return filledNow }})
	f.must(err)
	t.Cleanup(func() { f.archive.Close() })
	f.sites()
	rows, err := f.store.Sites(t.Context())
	f.must(err)
	c := config.Default()
	c.Store = f.store.Dialect()
	force, err := putTogether(c, config.DefaultOrigins(), rows)
	f.must(err)
	bodies, err := archive.OpenReader(dir)
	f.must(err)
	t.Cleanup(func() { bodies.Close() })
	return f, library{f.store, force, bodies.Read, filledNow}
}

// onBoth runs a test on a database of each engine.
func onBoth(t *testing.T, test func(t *testing.T, dsn string)) {
	for name, dsn := range map[string]func() string{"sqlite": func() string { return liteFile(t) },
		"postgres": func() string { return pgtest.StartAlone(t).DSN() }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, dsn())
		})
	}
}

// appears is a page that is seen for the first time.
func (f *filler) appears(name string) {
	f.t.Helper()
	f.appearsOf(1, name)
}

func (f *filler) appearsOf(site int32, name string) {
	f.t.Helper()
	f.page(site, "https://docs.example.org/"+name, []step{{ago: time.Hour, kind: models.First, body: "<p>" + name, frMax: 4}},
		func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(day)) })
}

// acts is a clock that does something instead of each sleep, as long as there is something to do; then it ends the context.
type acts struct {
	*clock.Virtual
	todo []func()
	end  context.CancelFunc
}

// SleepUntil implements clock.Clock.
func (c *acts) SleepUntil(ctx context.Context, t time.Time) error {
	if len(c.todo) == 0 {
		c.end()
		return context.Canceled
	}
	c.todo[0]()
	c.todo = c.todo[1:]
	return c.Virtual.SleepUntil(ctx, t)
}

// followed is what follows a cursor as lines, while something is done between the looks.
func followed(t *testing.T, b library, after string, limit int, todo ...func()) []string {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var out bytes.Buffer
	f := follower{library: b, query: models.ChangesQuery{Limit: limit}, clock: &acts{clock.NewVirtual(filledNow), todo, end},
		stands: func() bool { return true }, write: func(d report.Document) error { return report.WriteLines(&out, d) }}
	at, err := feedCursor(ctx, b.store, after)
	if err == nil {
		err = f.run(ctx, at)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(out.String()))
}

// line is one of them.
type line struct {
	Kind, URL, Cursor, Site string
}

func readLine(t *testing.T, text string) (l line) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &l); err != nil || (l.Cursor == "") == (l.URL == "") {
		t.Fatalf("line %q: %v, want one of an event or of a cursor", text, err)
	}
	return l
}

func TestFollowTellsWhatComes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		f.appears("before")
		nothing := func() {}
		lines := followed(t, b, "now", 100, nothing, func() { f.appears("a"); f.appears("b") }, nothing, func() { f.appears("c") })
		var got []string
		for _, text := range lines {
			l := readLine(t, text)
			got = append(got, cmp.Or(strings.TrimPrefix(l.URL, "https://docs.example.org/"), "cursor"))
			if l.URL != "" && (l.Kind != "new" || l.Site != "docs") {
				t.Errorf("line %s, want a new page of the site docs", text)
			}
		}
		if want := []string{"cursor", "a", "b", "cursor", "c", "cursor"}; !slices.Equal(want, got) {
			t.Errorf("lines %v, want %v", got, want)
		}
	})
}

// Whoever is killed at any line goes on from the last cursor that they had done with all before, and misses nothing; of a page they
// see nothing in another order.
func TestFollowersThatAreKilledMissNothing(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	const pages = 9
	for i := range pages {
		f.appears(fmt.Sprint(i))
	}
	for limit := 1; limit < pages; limit += 3 {
		for killed := range 2 * pages {
			after, seen := "start", map[string]bool{}
			for run := 0; len(seen) < pages; run++ {
				if run > 5*pages {
					t.Fatalf("killed at line %d, %d at a time: only %v after %d runs", killed, limit, seen, run)
				}
				lines := followed(t, b, after, limit)
				for _, text := range lines[:min(killed%(limit+1)+run+1, len(lines))] {
					l := readLine(t, text)
					if after = cmp.Or(l.Cursor, after); l.Cursor == "" {
						seen[l.URL] = true
					}
				}
			}
		}
	}
}

// What is there already is told without a pause, however little of it at a time; and then nothing is said until something comes.
func TestFollowPausesOnlyWhereNothingIsLeft(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	for i := range 5 {
		f.appears(fmt.Sprint(i))
	}
	if lines := followed(t, b, "start", 2); len(lines) != 5+3 { // no look after a pause
		t.Errorf("%d lines, want 5 pages and 3 cursors:\n%s", len(lines), lines)
	}
	quiet := slices.Repeat([]func(){func() {}}, 200)
	if lines := followed(t, b, "now", 2, quiet...); len(lines) != 1 {
		t.Errorf("%d lines while nothing comes, want the cursor to go on from:\n%s", len(lines), lines)
	}
}

// A cursor moves on where all that comes is left out, so that it is not lost when that is pruned; but not with each look.
func TestFollowersOfLittleGetCursorsNowAndThen(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	b.now = filledNow
	var todo []func()
	for i := range 150 {
		todo = append(todo, func() {
			if i%3 == 0 {
				f.appears(fmt.Sprint(i))
			}
		})
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var cursors []string
	follow := follower{library: b, query: models.ChangesQuery{Limit: 10, Kinds: []models.EventKind{models.EventGone}},
		clock: &acts{clock.NewVirtual(filledNow), todo, end}, stands: func() bool { return true }, write: func(d report.Document) error {
			cursors = append(cursors, d.Cursor)
			return nil
		}}
	at, err := b.store.Newest(ctx)
	f.must(err)
	f.must(follow.run(ctx, at))
	if len(cursors) != 3 || len(slices.Compact(cursors)) != 3 {
		t.Errorf("%d cursors in two minutes and a half: %v, want 3 different ones", len(cursors), cursors)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	for _, flags := range [][]string{{"--after", "all"}, {"--json"}, {"--json", "--after", "start", "--site", "docs"}} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &endsAt{cancel: cancel, text: map[bool]string{true: "https://docs.example.org/install", false: "cursor"}[flags[0] == "--after"]}
		var complaint bytes.Buffer
		code := runContext(ctx, append([]string{"changes", "--follow", "--data", dir}, flags...), strings.NewReader(""), out, &complaint)
		if code != exitDone || complaint.Len() > 0 {
			t.Errorf("follow %q: exit code %d, %s", flags, code, complaint.String())
		}
		if flags[0] == "--after" && !strings.HasPrefix(out.said.String(), "when  ") {
			t.Errorf("follow %q says\n%s", flags, out.said.String())
		}
	}
	_, complaint, code := desk(t, dir, "changes", "--follow", "--after", "yesterday")
	if code != exitUsage || !strings.Contains(complaint, "there is now, start, all") {
		t.Errorf("exit code %d, %s", code, complaint)
	}
}

// A checkpoint that is restored takes the place of the database that is followed, to which nothing is written from then on.
func TestFollowEndsWhereACheckpointIsRestored(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	if _, complaint, code := desk(t, dir, "backup", checkpoint); code != exitDone {
		t.Fatal(complaint)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := &endsAt{text: "cursor", cancel: func() {
		if _, complaint, code := desk(t, dir, "restore", "--yes", checkpoint); code != exitDone {
			t.Error(complaint)
		}
	}}
	var complaint bytes.Buffer
	code := runContext(ctx, []string{"changes", "--follow", "--json", "--data", dir}, strings.NewReader(""), out, &complaint)
	if code != exitNotFound || !strings.Contains(complaint.String(), `begin anew after "all"`) {
		t.Errorf("exit code %d, %s; want %d and the way out", code, complaint.String(), exitNotFound)
	}
}

// endsAt ends a context when something is written.
type endsAt struct {
	said   bytes.Buffer
	text   string
	cancel context.CancelFunc
}

// Write implements io.Writer.
func (e *endsAt) Write(p []byte) (int, error) {
	n, err := e.said.Write(p)
	if strings.Contains(e.said.String(), e.text) {
		e.cancel()
	}
	return n, err
}
