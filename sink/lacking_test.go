package sink

import (
	"context"
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

// A cursor that a release from before there were marks wrote ahead of the log is met at the next start.
func TestACursorAheadOfTheLogIsMetAtTheStart(t *testing.T) {
	t.Parallel()
	const a = "https://a.org/a.html"
	dir, s, log := t.TempDir(), newShelf(t), newMemory()
	log.add(1, s.event(models.EventNew, a, "one", 1))
	log.current = []models.Event{s.event(models.EventNew, a, "one", 1)}
	log.cursors[key("mirror", 1)] = 2
	d := sourced(log, log, openMirror(t, dir, s))
	drained(t, d)
	if diff := cmp.Diff(map[string]string{"a.org/a.html": "one"}, filesOf(t, dir)); diff != "" || log.cursors[key("mirror", 1)] != 1 {
		t.Errorf("the cursor is at %d, files differ (-want +got):\n%s", log.cursors[key("mirror", 1)], diff)
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
