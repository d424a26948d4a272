package sink

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/models"
)

// goBack leaves the first events of bucket 1 and cursors that go no further, as a standby that was so far.
func (m *memory) goBack(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[1] = m.events[1][:n]
	for name, seq := range m.cursors {
		m.cursors[name] = min(seq, int64(n))
	}
}

// The database went back behind what the mirror was given: its pages are those of the database again, whether others have the numbers
// by then or not. What is found again comes again.
func TestAMirrorThatIsAheadOfItsDatabaseIsMadeAnew(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	for _, again := range []bool{false, true} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		d := sourced(log, log, openMirror(t, dir, s))
		drain := func(what string, want map[string]string) {
			t.Helper()
			drained(t, d)
			if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
				t.Errorf("numbers given again: %t: %s (-want +got):\n%s", again, what, diff)
			}
		}
		one, two := s.event(models.EventNew, a, "one", 1), s.event(models.EventChanged, a, "two", 2)
		log.add(1, one)
		drain("before", map[string]string{"a.org/a.html": "one"})
		log.add(1, two)
		drain("with what is lost then", map[string]string{"a.org/a.html": "two"})
		log.goBack(1)
		want, copied := map[string]string{"a.org/a.html": "one"}, []models.Event{one}
		if again {
			bee := s.event(models.EventNew, b, "bee", 1)
			log.add(1, bee)
			want["a.org/b.html"], copied = "bee", append(copied, bee)
		}
		log.current = copied
		drain("without it", want)
		if lacked, err := LackedIn(log.meta[LackedKey("mirror")]); err != nil || lacked.At == 0 || lacked.Buckets != 1 {
			t.Errorf("numbers given again: %t: noted is %+v, %v, want one bucket", again, lacked, err)
		}
		log.add(1, two)
		want["a.org/a.html"] = "two"
		drain("found again", want)
	}
}

// failing is a Source that cannot be read.
type failing struct{ *memory }

func (failing) Current(context.Context) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) { yield(models.Event{}, errDied) }
}

// Who knows that the mirror is ahead of its database dies while it is made anew, or has it no more: the next one makes it anew, once.
func TestAMirrorThatIsAheadIsMadeAnewByTheNextProcess(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.org/a.html", "https://a.org/b.html"
	for _, dies := range []bool{false, true} {
		dir, s, log := t.TempDir(), newShelf(t), newMemory()
		m := openMirror(t, dir, s)
		one, two := s.event(models.EventNew, a, "one", 1), s.event(models.EventNew, b, "two", 1)
		log.add(1, one, two)
		before := sourced(log, failing{log}, m)
		drained(t, before)
		log.goBack(1)
		log.current = []models.Event{one}
		if !dies { // the other server's row of the lease is old
			log.meta[LeaseKey("mirror")] = fmt.Sprintf("%d another", models.At(clock.System{}.Now().Add(lease)))
		}
		if _, err := before.Once(t.Context()); err == nil {
			t.Fatal("it made the mirror anew")
		}
		log.meta[LeaseKey("mirror")] = LeaseFreed
		next := sourced(log, log, m)
		drained(t, next)
		want := map[string]string{"a.org/a.html": "one"}
		if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
			t.Errorf("dies: %t: files differ (-want +got):\n%s", dies, diff)
		}
		log.add(1, two)
		log.current = nil // it is not read again
		want["a.org/b.html"] = "two"
		drained(t, sourced(log, log, m))
		if diff := cmp.Diff(want, filesOf(t, dir)); diff != "" {
			t.Errorf("dies: %t: found again: files differ (-want +got):\n%s", dies, diff)
		}
	}
}

// A server that takes another's place may have a clock that is behind: the lease is renewed by it, and what was given is held against
// what that server has.
func TestALeaseOfAClockThatWasAheadIsRenewed(t *testing.T) {
	t.Parallel()
	log := newMemory()
	d := drainOf(log, &recorder{}, "w", 10)
	log.meta[d.leaseKey()] = fmt.Sprintf("%d w", models.At(clock.System{}.Now().Add(time.Hour)))
	if err := d.hold(t.Context()); err != nil || !d.given.doubted {
		t.Errorf("hold = %v, asks whether the database has what was given: %t", err, d.given.doubted)
	}
}

// A cursor that a release from before there were marks wrote ahead of the log is met at the next start.
func TestACursorAheadOfTheLogIsMetAtTheStart(t *testing.T) {
	t.Parallel()
	const a = "https://a.org/a.html"
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	log.add(1, s.event(models.EventNew, a, "one", 1))
	log.current = []models.Event{s.event(models.EventNew, a, "one", 1)}
	log.cursors[key("mirror", 1)] = 2
	log.events[2], log.cursors[key("mirror", 2)] = nil, 1
	d := sourced(log, log, openMirror(t, dir, s))
	drained(t, d)
	if diff := cmp.Diff(map[string]string{"a.org/a.html": "one"}, filesOf(t, dir)); diff != "" || log.cursors[key("mirror", 1)] != 1 {
		t.Errorf("the cursor is at %d, files differ (-want +got):\n%s", log.cursors[key("mirror", 1)], diff)
	}
	if seq := log.cursors[key("mirror", 2)]; seq != 0 {
		t.Errorf("the cursor of a bucket without events is at %d: the mirror is made anew all the time", seq)
	}
	log.add(1, s.event(models.EventChanged, a, "two", 2))
	if n := drained(t, d); n != 1 {
		t.Errorf("the next event: %d were delivered, want 1", n)
	}
}

// whileTold is everySix during whose next period something happens.
type whileTold struct {
	everySix
	then func()
}

func (s *whileTold) Digest(ctx context.Context, p *Period, events iter.Seq2[models.Event, error]) (string, error) {
	memo, err := s.everySix.Digest(ctx, p, events)
	s.then()
	return memo, err
}

// The database goes back while a period is told: what it has then is told in the next one.
func TestADigestOfWhatIsLostIsFollowedByWhatCameInstead(t *testing.T) {
	t.Parallel()
	log, c, s := newMemory(), clock.NewVirtual(noon), &whileTold{}
	s.then = func() {
		log.goBack(1)
		log.add(1, models.Event{}, models.Event{})
		s.then = func() {}
	}
	d := digestsTo(log, s, c)
	drained(t, d)
	log.add(1, models.Event{}, models.Event{}, models.Event{})
	for range 2 {
		pass(t, c, 6*time.Hour)
		drained(t, d)
	}
	if len(s.told) != 2 || !slices.Equal(s.told[1].Events, []string{"1/1", "1/2", "1/3"}) {
		t.Errorf("told was %+v, want the three that there are in the end in a second period", s.told)
	}
	if seq := log.cursors[key("mail:w", 1)]; seq != 3 {
		t.Errorf("the cursor is at %d, want 3", seq)
	}
}
