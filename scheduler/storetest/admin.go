package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func eventsHaveNoGaps(w *world) {
	w.add("a.example", 3)
	for i, r := range w.visitAll(w.claimOne(3)) {
		for range i + 1 {
			r.Events = append(r.Events, event(r, models.EventChanged))
		}
		w.mustCommit(r)
	}
	bucket, _ := keysOf("a.example", 0)
	all, err := w.store.Events(w.Context(), bucket, 0, 100)
	w.must(err)
	for i, e := range all {
		if e.Seq != int64(i+1) {
			w.Errorf("event %d has number %d", i+1, e.Seq)
		}
	}
	if len(all) != 6 {
		w.Fatalf("%d events, want 6", len(all))
	}
	some, err := w.store.Events(w.Context(), bucket, 2, 3)
	w.must(err)
	if diff := cmp.Diff(all[2:5], some); diff != "" {
		w.Errorf("three events after 2 (-want +got):\n%s", diff)
	}
}

// publish commits n events on a host and returns its bucket.
func (w *world) publish(host string, n int) int16 {
	w.Helper()
	w.add(host, 1)
	bucket, id := keysOf(host, 0)
	w.must(w.store.VisitNow(w.Context(), w.now, bucket, id))
	r := w.visited(w.claimOne(1), 0)
	for range n {
		r.Events = append(r.Events, event(r, models.EventChanged))
	}
	w.mustCommit(r)
	return bucket
}

// moveCursor moves the cursor of a sink to an event.
func (w *world) moveCursor(sink string, bucket int16, seq int64) {
	w.Helper()
	ref := models.EventRef{}
	if seq > 0 {
		events, err := w.store.Events(w.Context(), bucket, seq-1, 1)
		w.must(err)
		ref = events[0].Ref()
	}
	w.must(w.store.SetCursors(w.Context(), sink, nil, map[int16]models.EventRef{bucket: ref}))
}

// cursorsAreOfTheLog: they move from where they are, and to events that are there.
func cursorsAreOfTheLog(w *world) {
	a := w.publish("a.example", 2)
	events, err := w.store.Events(w.Context(), a, 0, 2)
	w.must(err)
	first, last := events[0].Ref(), events[1].Ref()
	for what, move := range map[string]struct {
		from map[int16]int64
		to   models.EventRef
	}{
		"to an event that another has the number of": {nil, models.EventRef{Seq: 2, Mark: last.Mark ^ 1<<60}},
		"ahead of the log":                           {nil, models.EventRef{Seq: 3, Mark: last.Mark}},
		"from where it is not":                       {map[int16]int64{a: 1}, last},
	} {
		err := w.store.SetCursors(w.Context(), "mirror", move.from, map[int16]models.EventRef{a: move.to})
		if !errors.Is(err, models.ErrOtherEvents) {
			w.Errorf("SetCursors %s: %v, want ErrOtherEvents", what, err)
		}
	}
	w.must(w.store.SetCursors(w.Context(), "mirror", map[int16]int64{}, map[int16]models.EventRef{a: first}))
	w.must(w.store.SetCursors(w.Context(), "mirror", map[int16]int64{a: 1}, map[int16]models.EventRef{a: last}))
	if seq, err := w.store.Cursor(w.Context(), "mirror", a); seq != 2 || err != nil {
		w.Errorf("Cursor = %d, %v, want 2", seq, err)
	}
}

func sinkFindsNews(w *world) {
	a, b := w.publish("a.example", 2), w.publish("b.example", 1)
	news := func(sink string, want ...int16) {
		w.Helper()
		slices.Sort(want)
		got, err := w.store.News(w.Context(), sink)
		w.must(err)
		if !slices.Equal(got, want) {
			w.Errorf("news for %s in buckets %v, want %v", sink, got, want)
		}
	}
	news("mirror", a, b)
	w.moveCursor("mirror", a, 1)
	news("mirror", a, b)
	w.moveCursor("mirror", a, 2)
	news("mirror", b)
	news("webhook", a, b)
	if seq, err := w.store.Cursor(w.Context(), "mirror", a); seq != 2 || err != nil {
		w.Errorf("Cursor = %d, %v, want 2", seq, err)
	}
	if seq, err := w.store.Cursor(w.Context(), "mirror", b); seq != 0 || err != nil {
		w.Errorf("Cursor of a sink that delivered nothing = %d, %v, want 0", seq, err)
	}
	w.moveCursor("mirror", a, 0) // a replay
	news("mirror", a, b)
}

func eventsArePruned(w *world) {
	a := w.publish("a.example", 4)
	w.now = w.now.Add(time.Hour)
	w.publish("a.example", 1)
	w.moveCursor("mirror", a, 5)
	prune := func(want int64, sinks ...string) {
		w.Helper()
		if n, err := w.store.PruneEvents(w.Context(), w.now, sinks, 2); n != want || err != nil {
			w.Errorf("PruneEvents for %v = %d, %v, want %d", sinks, n, err, want)
		}
	}
	prune(0, "mirror", "webhook")
	w.moveCursor("webhook", a, 3)
	prune(3, "mirror", "webhook")
	prune(1)
	left, err := w.store.Events(w.Context(), a, 0, 10)
	w.must(err)
	if len(left) != 1 || left[0].Seq != 5 {
		w.Errorf("events left = %v, want number 5", left)
	}
	w.publish("a.example", 1)
	if left, err := w.store.Events(w.Context(), a, 5, 10); err != nil || len(left) != 1 || left[0].Seq != 6 {
		w.Errorf("the next event = %v, %v, want number 6", left, err)
	}
}

// Whoever reads on behind what was removed is to meet the gap, and behind what is left none: a clock that stepped back leaves
// older events behind newer ones.
func eventsArePrunedInOrder(w *world) {
	w.add("a.example", 1)
	bucket, _ := keysOf("a.example", 0)
	r := w.visited(w.claimOne(1), 0)
	for _, later := range []time.Duration{0, 3 * time.Hour, time.Hour} {
		e := event(r, models.EventChanged)
		e.At = models.At(w.now.Add(later))
		r.Events = append(r.Events, e)
	}
	w.mustCommit(r)
	if n, err := w.store.PruneEvents(w.Context(), w.now.Add(2*time.Hour), nil, 1); n != 1 || err != nil {
		w.Errorf("PruneEvents = %d, %v, want the 1 before the first that is kept", n, err)
	}
	left, err := w.store.Events(w.Context(), bucket, 0, 10)
	w.must(err)
	if len(left) != 2 || left[0].Seq != 2 || left[1].Seq != 3 {
		w.Errorf("events left = %v, want numbers 2 and 3", left)
	}
}

func visitsArePruned(w *world) {
	w.add("a.example", 2)
	for range 5 {
		for len(w.claimAndCommit(1, 2)) > 0 {
		}
		w.now = w.now.Add(24 * time.Hour)
	}
	n, err := w.store.PruneVisits(w.Context(), start.Add(60*time.Hour), 2)
	w.must(err)
	var numbers []int32
	for _, v := range w.dump().Visits {
		numbers = append(numbers, v.Number)
	}
	if want := []int32{4, 5, 4, 5}; n != 6 || !slices.Equal(numbers, want) {
		w.Errorf("PruneVisits removed %d and left %v, want 6 and %v", n, numbers, want)
	}
	n, err = w.store.PruneVisits(w.Context(), w.now, 100)
	if left := len(w.dump().Visits); n != 2 || left != 2 || err != nil {
		w.Errorf("PruneVisits of all = %d, %v and left %d, want the last row of each page left", n, err, left)
	}
}

// claimAndCommit visits what is due.
func (w *world) claimAndCommit(hosts, pages int) []models.Lease {
	w.Helper()
	leases := w.claim(hosts, pages)
	for _, l := range leases {
		w.mustCommit(w.visitAll(l)...)
	}
	return leases
}

func recovers(w *world) {
	w.add("a.example", 3)
	w.setDelay(10 * time.Second)
	w.now = w.now.Add(10 * time.Second)
	l := w.claimOne(1)
	w.add("idle.example", 1)
	const since = 5*time.Second + 300*time.Microsecond // what a database keeps is rounded so that no delay is shorter
	w.now = w.now.Add(since)
	if n, err := w.store.Recover(w.Context(), w.now, "somebody else"); n != 0 || err != nil {
		w.Errorf("Recover of another's leases = %d, %v, want 0", n, err)
	}
	n, err := w.store.Recover(w.Context(), w.now, l.Host.LeaseOwner)
	if n != 1 || err != nil {
		w.Errorf("Recover = %d, %v, want 1", n, err)
	}
	if got, want := w.ready("a.example"), w.now.Add(10*time.Second); got.Before(want) || got.Sub(want) > time.Millisecond {
		w.Errorf("recovered host ready at %v, want a politeness delay from now: %v", got, want)
	}
	if got, want := w.ready("idle.example"), w.now.Add(-since); !got.Equal(want) {
		w.Errorf("idle host ready at %v, want %v as before", got, want)
	}
	if verdicts := w.commit(w.visited(l, 0)); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("commit by the dead daemon: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
}

// What delay a host wants is not known before its first visit is written: until then it is that of the claim, whoever dies.
func newHostsAreSparedToo(w *world) {
	w.add("a.example", 1)
	w.add("b.example", 1)
	c := w.request(2, 1)
	c.Delay = 10 * time.Second
	leases, err := w.store.Claim(w.Context(), c)
	w.must(err)
	if len(leases) != 2 {
		w.Fatalf("%d leases, want 2", len(leases))
	}
	for _, l := range leases {
		if got, want := w.ready(l.Host.Name), w.now.Add(lease+c.Delay); !got.Equal(want) {
			w.Errorf("%s, never visited, is ready at %v, want a delay after its lease: %v", l.Host.Name, got, want)
		}
		if l.Host.Name == "b.example" {
			r := w.visited(l, 0)
			r.Host.Delay = time.Second
			w.mustCommit(r)
		}
	}
	w.now = w.now.Add(5 * time.Second)
	for range 2 { // a daemon that dies again and again
		_, err = w.store.Recover(w.Context(), w.now, "")
		w.must(err)
		if got, want := w.ready("a.example"), w.now.Add(c.Delay); !got.Equal(want) {
			w.Errorf("recovered host, never visited, is ready at %v, want a delay from now: %v", got, want)
		}
		w.now = w.now.Add(c.Delay)
		c.Now = w.now
		leases, err := w.store.Claim(w.Context(), c)
		w.must(err)
		if len(leases) != 1 || leases[0].Host.Name != "a.example" {
			w.Errorf("Claim a delay later = %v, want a.example", leases)
		}
	}
	w.now = w.now.Add(24 * time.Hour)
	c.Now = w.now
	leases, err = w.store.Claim(w.Context(), c)
	w.must(err)
	delays := map[string]time.Duration{}
	for _, l := range leases {
		delays[l.Host.Name] = l.Host.Delay
	}
	if delays["b.example"] != time.Second {
		w.Errorf("delays of leased hosts = %v, want %v of b.example, as its visit found", delays, time.Second)
	}
}

func workersBeat(w *world) {
	b := models.Worker{Name: "b", Machine: "m", PID: 1 << 22, Release: "v1", StartedAt: 1, BeatAt: 2, RealBeatAt: 3, Visits: 4,
		Lost: 5, InFlight: 6}
	w.must(w.store.Beat(w.Context(), b))
	w.must(w.store.Beat(w.Context(), models.Worker{Name: "a"}))
	b.BeatAt = 9
	w.must(w.store.Beat(w.Context(), b))
	got, err := w.store.Workers(w.Context())
	w.must(err)
	if diff := cmp.Diff([]models.Worker{{Name: "a"}, b}, got); diff != "" {
		w.Errorf("workers (-want +got):\n%s", diff)
	}
	w.must(w.store.Leave(w.Context(), "a"))
	w.must(w.store.Leave(w.Context(), "a"))
	if got, err := w.store.Workers(w.Context()); len(got) != 1 || err != nil {
		w.Errorf("workers after one left = %v, %v, want b", got, err)
	}
}

func metaIsSetOnce(w *world) {
	for _, step := range []struct{ old, value, want string }{
		{"", "first", "first"}, {"", "second", "first"}, {"other", "third", "first"}, {"first", "o\x00d\xffd", "o\uFFFDd\uFFFDd"},
		{"o\x00d\xffd", "fourth", "fourth"},
	} {
		got, err := w.store.SetMeta(w.Context(), "clock", step.old, step.value)
		if got != step.want || err != nil {
			w.Errorf("SetMeta from %q to %q = %q, %v, want %q", step.old, step.value, got, err, step.want)
		}
	}
	if got, err := w.store.Meta(w.Context(), "clock"); got != "fourth" || err != nil {
		w.Errorf("Meta = %q, %v, want fourth", got, err)
	}
	if got, err := w.store.Meta(w.Context(), "never"); got != "" || err != nil {
		w.Errorf("Meta that was never set = %q, %v, want none", got, err)
	}
}

func newestInstant(w *world) {
	newest := func(want models.Instant) {
		w.Helper()
		if got, err := w.store.NewestInstant(w.Context()); got != want || err != nil {
			w.Errorf("NewestInstant = %v, %v, want %v", got, err, want)
		}
	}
	newest(0)
	w.add("a.example", 1)
	w.mustCommit(w.visitAll(w.claimOne(1))...)
	newest(models.At(start.Truncate(24 * time.Hour))) // the day of the visit
	w.publish("b.example", 1)
	newest(models.At(start))
	w.must(w.store.Beat(w.Context(), models.Worker{Name: "w", BeatAt: models.At(start) + 1}))
	newest(models.At(start) + 1)
	_, err := w.store.AddSite(w.Context(), start.Add(time.Hour), models.Site{Name: "s"})
	w.must(err)
	newest(models.At(start.Add(time.Hour)))
}
