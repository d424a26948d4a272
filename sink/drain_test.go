package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/models"
)

// memory is a Log and a Source in memory.
type memory struct {
	mu      sync.Mutex
	events  map[int16][]models.Event
	cursors map[string]int64
	marks   int64
	meta    map[string]string
	current []models.Event
}

func newMemory() *memory {
	return &memory{events: map[int16][]models.Event{}, cursors: map[string]int64{}, meta: map[string]string{}}
}

func (m *memory) add(bucket int16, events ...models.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		m.marks++
		e.Bucket, e.Seq, e.Mark = bucket, int64(len(m.events[bucket])+1), m.marks
		m.events[bucket] = append(m.events[bucket], e)
	}
}

func key(sink string, bucket int16) string { return fmt.Sprint(sink, " ", bucket) }

func (m *memory) News(_ context.Context, sink string) ([]int16, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var news []int16
	for bucket, events := range m.events {
		if int64(len(events)) != m.cursors[key(sink, bucket)] {
			news = append(news, bucket)
		}
	}
	slices.Sort(news)
	return news, nil
}

func (m *memory) Events(_ context.Context, bucket int16, after int64, limit int) ([]models.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rest := m.events[bucket][min(after, int64(len(m.events[bucket]))):]
	return slices.Clone(rest[:min(len(rest), limit)]), nil
}

func (m *memory) Cursor(_ context.Context, sink string, bucket int16) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cursors[key(sink, bucket)], nil
}

func (m *memory) SetCursors(ctx context.Context, sink string, from map[int16]int64, to map[int16]models.EventRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for bucket, ref := range to {
		moved := from != nil && m.cursors[key(sink, bucket)] != from[bucket]
		if events := m.events[bucket]; moved || ref.Seq > int64(len(events)) || ref.Seq > 0 && events[ref.Seq-1].Ref() != ref {
			return models.ErrOtherEvents
		}
	}
	for bucket, ref := range to {
		m.cursors[key(sink, bucket)] = ref.Seq
	}
	return nil
}

func (m *memory) Meta(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.meta[key], nil
}

func (m *memory) SetMeta(_ context.Context, key, old, value string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.meta[key] == old {
		m.meta[key] = value
	}
	return m.meta[key], nil
}

func (m *memory) EventHeads(context.Context) (map[int16]models.EventRef, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	heads := map[int16]models.EventRef{}
	for bucket, events := range m.events {
		if len(events) > 0 {
			heads[bucket] = events[len(events)-1].Ref()
		}
	}
	return heads, nil
}

func (m *memory) Current(context.Context) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		for _, e := range m.current {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// recorder is a Sink that keeps what it is given, and fails when told to.
type recorder struct {
	mu    sync.Mutex
	got   []string
	fails int
}

func (*recorder) Name() string { return "recorder" }

func (r *recorder) Deliver(_ context.Context, events []models.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails > 0 {
		r.fails--
		return errors.New("sink is away")
	}
	for _, e := range events {
		r.got = append(r.got, fmt.Sprintf("%d/%d %s", e.Bucket, e.Seq, e.URL))
	}
	return nil
}

func (r *recorder) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func drainOf(log Log, s Sink, owner string, batch int) *Drain {
	return NewDrain(log, s, clock.System{}, Options{Owner: owner, Batch: batch, Log: slog.New(slog.DiscardHandler)})
}

func named(prefix string, n int) []models.Event {
	events := make([]models.Event, n)
	for i := range events {
		events[i] = models.Event{URL: fmt.Sprint(prefix, i)}
	}
	return events
}

func TestOnceDeliversEverythingInOrder(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 3, 7, 1000} {
		log, r := newMemory(), &recorder{}
		log.add(3, named("a", 20)...)
		log.add(200, named("b", 5)...)
		d := drainOf(log, r, "one", batch)
		if n, err := d.Once(t.Context()); n != 25 || err != nil {
			t.Fatalf("batch %d: Once = %d, %v, want 25", batch, n, err)
		}
		for _, bucket := range []int16{3, 200} {
			var seqs []int64
			for _, line := range r.seen() {
				var b int16
				var seq int64
				var url string
				if _, err := fmt.Sscanf(line, "%d/%d %s", &b, &seq, &url); err != nil {
					t.Fatal(err)
				}
				if b == bucket {
					seqs = append(seqs, seq)
				}
			}
			if !slices.IsSorted(seqs) || len(seqs) != len(log.events[bucket]) {
				t.Errorf("batch %d: bucket %d delivered as %v", batch, bucket, seqs)
			}
		}
		if n, err := d.Once(t.Context()); n != 0 || err != nil {
			t.Errorf("batch %d: second Once = %d, %v, want 0", batch, n, err)
		}
	}
}

func TestABusyBucketDoesNotStarveOthers(t *testing.T) {
	t.Parallel()
	log, r := newMemory(), &recorder{}
	log.add(1, named("a", 100)...)
	log.add(2, named("b", 1)...)
	d := drainOf(log, r, "one", 10)
	for range 2 {
		if _, err := d.round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(r.seen(), "2/1 b0") {
		t.Errorf("after two batches %v were delivered, want bucket 2 among them", r.seen())
	}
}

func TestCursorsStayWhereTheSinkFailed(t *testing.T) {
	t.Parallel()
	log, r := newMemory(), &recorder{fails: 1}
	log.add(1, named("a", 3)...)
	d := drainOf(log, r, "one", 10)
	if n, err := d.Once(t.Context()); n != 0 || err == nil {
		t.Fatalf("Once = %d, %v, want an error", n, err)
	}
	if n, err := d.Once(t.Context()); n != 3 || err != nil {
		t.Errorf("second Once = %d, %v, want 3", n, err)
	}
}

func TestRunRetriesAndGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, r := newMemory(), &recorder{fails: 5}
		log.add(1, named("a", 2)...)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- drainOf(log, r, "one", 10).Run(ctx) }()
		at := func(after time.Duration) []string {
			if err := (clock.System{}).SleepUntil(t.Context(), clock.System{}.Now().Add(after)); err != nil {
				t.Fatal(err)
			}
			return r.seen()
		}
		if got := at(30 * time.Second); len(got) != 0 { // 1 + 2 + 4 + 8 + 16
			t.Errorf("after 30 s of failures %v were delivered", got)
		}
		if got := at(2 * time.Second); len(got) != 2 {
			t.Errorf("after the sink came back %v were delivered, want 2", got)
		}
		log.add(2, named("b", 1)...)
		if got := at(2 * time.Second); len(got) != 3 {
			t.Errorf("after news %v were delivered, want 3", got)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want context.Canceled", err)
		}
		if got := log.meta["sink-lease:recorder"]; got != "0 nobody" {
			t.Errorf("lease after Run = %q, want it given up", got)
		}
	})
}

func TestOneProcessDrainsASink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, r := newMemory(), &recorder{}
		one, two := drainOf(log, r, "one", 10), drainOf(log, r, "two", 10)
		if err := one.hold(t.Context()); err != nil {
			t.Fatal(err)
		}
		log.add(1, named("a", 2)...)
		if _, err := two.Once(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("Once beside another process: error = %v, want ErrBusy", err)
		}
		if err := two.Replay(t.Context(), log); !errors.Is(err, ErrBusy) {
			t.Errorf("Replay beside another process: error = %v, want ErrBusy", err)
		}
		// The first one dies; its lease runs out.
		if err := (clock.System{}).SleepUntil(t.Context(), clock.System{}.Now().Add(lease)); err != nil {
			t.Fatal(err)
		}
		if n, err := two.Once(t.Context()); n != 2 || err != nil {
			t.Errorf("Once after the lease = %d, %v, want 2", n, err)
		}
	})
}

// TestFault_061_ALeaseOfAClockThatRanAheadHoldsNothingUp takes over from a process whose clock was a day ahead when it died.
func TestFault_061_ALeaseOfAClockThatRanAheadHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]int{24 * time.Hour: 1, lease / 2: 0} {
		log, r := newMemory(), &recorder{}
		log.add(1, named("a", 1)...)
		until := models.At(clock.System{}.Now().Add(lease).Add(ahead))
		log.meta["sink-lease:recorder"] = fmt.Sprintf("%d other", until)
		if n, err := drainOf(log, r, "one", 10).Once(t.Context()); n != want || (err == nil) != (want == 1) {
			t.Errorf("Once beside a lease of a clock %v ahead = %d, %v, want %d", ahead, n, err, want)
		}
	}
}

func TestManyProcessesDeliverEachEventOnce(t *testing.T) {
	t.Parallel()
	log, r := newMemory(), &recorder{}
	for bucket := range int16(8) {
		log.add(bucket, named("a", 50)...)
	}
	var processes sync.WaitGroup
	for p := range 4 {
		d := drainOf(log, r, fmt.Sprint("p", p), 7)
		processes.Go(func() {
			for {
				news, err := log.News(t.Context(), r.Name())
				if err != nil || len(news) == 0 {
					return
				}
				if _, err := d.Once(t.Context()); err != nil && !errors.Is(err, ErrBusy) {
					t.Errorf("Once: %v", err)
					return
				}
			}
		})
	}
	processes.Wait()
	got := r.seen()
	slices.Sort(got)
	if n := len(slices.Compact(slices.Clone(got))); n != 400 || len(got) != 400 {
		t.Errorf("%d events delivered, %d different, want 400 once each", len(got), n)
	}
}

func TestReplayOfAPlainSinkStartsOver(t *testing.T) {
	t.Parallel()
	log, r := newMemory(), &recorder{}
	log.add(1, named("a", 3)...)
	d := drainOf(log, r, "one", 10)
	if _, err := d.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	want := []string{"1/1 a0", "1/2 a1", "1/3 a2", "1/1 a0", "1/2 a1", "1/3 a2"}
	if d := cmp.Diff(want, r.seen()); d != "" {
		t.Errorf("deliveries differ (-want +got):\n%s", d)
	}
}

func TestReplayRebuildsTheMirrorWithoutOldEvents(t *testing.T) {
	t.Parallel()
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	log.add(1, s.event(models.EventNew, a, "one", 1), s.event(models.EventChanged, a, "two", 2), s.event(models.EventNew, b, "bee", 1))
	m := openMirror(t, dir, s)
	d := drainOf(log, m, "one", 10)
	if _, err := d.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	deliver(t, m, s.event(models.EventNew, "https://a.org/stray.html", "stray", 1)) // a page that was removed since
	want := map[string]string{"a.org/a.html": "two"}
	log.current = []models.Event{s.event(models.EventNew, a, "two", 2), plain(models.EventGone, b, 4)}
	log.cursors = map[string]int64{}
	if err := d.Replay(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if seq := log.cursors[key("mirror", 1)]; seq != 3 {
		t.Errorf("cursor = %d, want 3", seq)
	}
	log.add(1, s.event(models.EventChanged, a, "three", 3))
	if n, err := d.Once(t.Context()); n != 1 || err != nil {
		t.Fatalf("Once = %d, %v, want 1", n, err)
	}
	want["a.org/a.html"] = "three"
	if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, dir); len(rows) != 2 || rows[a].Version != 3 {
		t.Errorf("manifest = %+v, want two rows", rows)
	}
}

func TestPauseFollowsTheNews(t *testing.T) {
	t.Parallel()
	d := drainOf(newMemory(), &recorder{}, "one", 500)
	for _, test := range []struct {
		delivered  int
		took, want time.Duration
	}{
		{0, time.Second, time.Second},
		{500, time.Millisecond, time.Second / 8}, // a batch at once, and nothing behind it
		{50, time.Second, time.Second},
		{400, 100 * time.Millisecond, 125 * time.Millisecond}, // less than a batch, as fast as many
		{501, 501 * time.Millisecond, 500 * time.Millisecond},
		{4000, 2 * time.Second, 250 * time.Millisecond},
		{100_000, time.Second, time.Second / 8},
		{1000, time.Hour, time.Second},
		{600, 290 * 365 * 24 * time.Hour, time.Second}, // on a fast clock
	} {
		if got := d.pause(test.delivered, test.took); got != test.want {
			t.Errorf("pause after %d events in %s = %s, want %s", test.delivered, test.took, got, test.want)
		}
	}
}

// A sink is held by whoever's lease ends after a moment: not by who crashed long ago, nor by who gave it up.
func TestHeldBy(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_000_000)
	for row, want := range map[string]string{
		"": "", LeaseFreed: "", "1000000 a 7": "", "1000001 a 7": "a 7", "999 crashed": "", "soon a": "", "99999999999999999999 a": "",
	} {
		if got := HeldBy(row, now); got != want {
			t.Errorf("%q is held by %q, want %q", row, got, want)
		}
	}
}
