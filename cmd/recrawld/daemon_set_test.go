package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"recrawld/clock"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// machineSet is a machine whose clock is set while a worker reads it.
type machineSet struct{ by atomic.Int64 }

func (m *machineSet) read() clock.Reading { return (&machineOff{time.Duration(m.by.Load())}).read() }

func (m *machineSet) set(by time.Duration) { m.by.Store(int64(by)) }

// serverSet is a database whose server's clock is set while workers ask it: a function of that name stands before the server's own.
func serverSet(t *testing.T) (dsn string, set func(by time.Duration)) {
	t.Helper()
	dsn = pgtest.DSN(t)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	run := func(query string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE set_by (seconds float8)`)
	run(`INSERT INTO set_by VALUES (0)`)
	run(`CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
		$$ SELECT pg_catalog.clock_timestamp() + seconds * interval '1 second' FROM public.set_by $$`)
	run(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`)
	return dsn, func(by time.Duration) { run(fmt.Sprintf(`UPDATE set_by SET seconds = %f`, by.Seconds())) }
}

// TestFault_061_HostsAreAskedInTimeWhileAClockIsSet: whichever way, and whosever it is that the workers go by, none is asked sooner than its delay
// after the last time, by another clock, and none waits for as long as it was set back. This takes a minute, nearly all of it waiting, which
// all of them do at one time.
func TestFault_061_HostsAreAskedInTimeWhileAClockIsSet(t *testing.T) {
	t.Parallel()
	fields, sets := make(map[string]*apartField), make(map[string]func(by time.Duration))
	for name, begin := range map[string]func(*testing.T, *apartField) func(time.Duration){
		"the machine's own": func(t *testing.T, f *apartField) func(time.Duration) {
			m := new(machineSet)
			f.work(t, "sqlite", "one", m)
			return m.set
		},
		"a machine's beside the server's": func(t *testing.T, f *apartField) func(time.Duration) {
			m, dsn := new(machineSet), pgtest.DSN(t)
			f.work(t, dsn, "one", m)
			f.work(t, dsn, "two", new(machineSet))
			return func(by time.Duration) { m.set(by / 2) }
		},
		"the server's": func(t *testing.T, f *apartField) func(time.Duration) {
			dsn, set := serverSet(t)
			f.work(t, dsn, "one", new(machineSet))
			f.work(t, dsn, "two", new(machineSet))
			return set
		},
	} {
		fields[name] = newApartField(t, 6)
		sets[name] = begin(t, fields[name])
	}
	for i, by := range []time.Duration{0, 50 * time.Minute, -50 * time.Minute, 7 * time.Second, 0} {
		for name, f := range fields {
			f.await(t, 1+2*i)
			sets[name](by)
		}
	}
	for name, f := range fields {
		f.await(t, 12)
		f.inTime(t, name)
	}
}

// inTime fails the test where a host was asked sooner than its delay after the last time.
func (f *apartField) inTime(t *testing.T, clock string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for host, asks := range f.asked {
		for i := 1; i < len(asks); i++ {
			const late = 500 * time.Millisecond // that a request may have come here on a busy machine
			gap := asks[i].at.Sub(asks[i-1].at)
			if gap < apartDelay-late {
				t.Errorf("%s is set: %s was asked by worker %s for %s %v after worker %s asked for %s, want %v", clock, host, asks[i].worker,
					asks[i].path, gap, asks[i-1].worker, asks[i-1].path, apartDelay)
			}
		}
	}
}

// machineLate is a machine that has not run this process for a while, or whose database was away.
type machineLate struct {
	machineSet
	passed atomic.Int64
}

func (m *machineLate) read() clock.Reading {
	read, passed := m.machineSet.read(), time.Duration(m.passed.Load())
	return clock.Reading{Shown: read.Shown.Add(passed), Monotonic: read.Monotonic + passed}
}

// TestFault_061_WhatWasDueIsDueThoughItIsNoticedLate by the only worker that there is: nobody else has visited it.
func TestFault_061_WhatWasDueIsDueThoughItIsNoticedLate(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 10 * time.Minute} {
		m := new(machineLate)
		d, _ := builtOn(t, "sqlite", "one", m)
		bucket := aPageOf(t, d) // due an hour ago
		m.set(-12 * time.Hour)
		m.passed.Store(int64(late))
		settles(t, d)
		if due := dueIn(t, d, bucket, 0); due != 1 {
			t.Errorf("noticed %v late, %d hosts are due, want 1", late, due)
		}
	}
}

// settles lets workers notice by turns that the clock was set, and see to it.
func settles(t *testing.T, workers ...*daemon) {
	t.Helper()
	for range 1 + settleBeats {
		for _, d := range workers {
			if err := d.beatOnce(t.Context(), d.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// dueIn claims what is due by then.
func dueIn(t *testing.T, d *daemon, bucket int16, in time.Duration) int {
	t.Helper()
	leases, err := d.store.Claim(t.Context(), models.ClaimRequest{Now: d.clock.Now().Add(in), Lease: time.Minute, Owner: d.start.Worker.Name,
		Hosts: 1, Pages: 1, Delay: time.Second, Buckets: []int16{bucket}})
	if err != nil {
		t.Fatal(err)
	}
	return len(leases)
}

// TestFault_061_OneOfSeveralWorkersSeesToWhatWasDue, however late: the one that notices first. What is due later by the clock as it is since then
// stays so, also where another notices it minutes later.
func TestFault_061_OneOfSeveralWorkersSeesToWhatWasDue(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]struct{ one, two time.Duration }{"at once": {}, "both late, as the server was away": {10 * time.Minute, 10 * time.Minute},
		"the first by name late": {10 * time.Minute, 0}, "the second late": {0, 10 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, set := serverSet(t)
			machines := map[bool]*machineLate{true: new(machineLate), false: new(machineLate)}
			one, _ := builtOn(t, dsn, "one", machines[true])
			two, _ := builtOn(t, dsn, "two", machines[false])
			bucket := aPageOf(t, one) // due an hour ago
			passes := func(passed time.Duration) {
				t.Helper()
				set(passed - 12*time.Hour)
				for _, m := range machines {
					m.passed.Store(int64(passed))
				}
			}
			var there, later []*daemon
			for _, w := range []struct {
				*daemon
				late time.Duration
			}{{one, late.one}, {two, late.two}} {
				settles(t, w.daemon) // it is there, and all is well
				if w.late == max(late.one, late.two) && late.one != late.two {
					later = append(later, w.daemon)
				} else {
					there = append(there, w.daemon)
				}
			}
			passes(min(late.one, late.two))
			settles(t, there...)
			if due := dueIn(t, there[0], bucket, 0); due != 1 {
				t.Fatalf("%d hosts are due, want 1", due)
			}
			if _, err := there[0].store.Recover(t.Context(), there[0].clock.Now(), ""); err != nil {
				t.Fatal(err)
			}
			visitedUntil(t, dsn, there[0].clock.Now().Add(6*time.Hour))
			passes(max(late.one, late.two))
			settles(t, later...)
			for in, want := range map[time.Duration]int{time.Minute: 0, 7 * time.Hour: 1} {
				if due := dueIn(t, there[0], bucket, in); due != want {
					t.Errorf("%d hosts are due within %v of a visit after which it was to be due in 6 h, want %d", due, in, want)
				}
			}
		})
	}
}

// visitedUntil has all pages due at a moment, as a visit would.
func visitedUntil(t *testing.T, dsn string, due time.Time) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{`UPDATE pages SET due_at = $1`, `UPDATE hosts SET ready_at = $1`} {
		if _, err := db.ExecContext(t.Context(), query, int64(models.At(due))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFault_061_AClockThatWasYearsAheadIsSaid by a worker that goes on working when it is set right: what was written meanwhile lies years ahead.
func TestFault_061_AClockThatWasYearsAheadIsSaid(t *testing.T) {
	t.Parallel()
	m := new(machineSet)
	d, log := builtOn(t, "sqlite", "one", m)
	beats := func(times int) {
		t.Helper()
		for range times {
			if err := d.beatOnce(t.Context(), d.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	holds := func(want string) {
		t.Helper()
		if why := d.hold(); why != want && (want == "" || !strings.Contains(why, want)) {
			t.Errorf("hold() = %q, want %q", why, want)
		}
	}
	holds("")
	m.set(20 * 365 * 24 * time.Hour)
	holds("was set")
	beats(1)
	holds("left alone for its delay")
	beats(settleBeats)
	holds("")
	m.set(0)
	holds("was set")
	beats(1 + settleBeats)
	holds("recrawld db rewind")
	beats(10)
	holds("recrawld db rewind")
	for words, times := range map[string]int{"a clock was set forward": 1, "a clock was set back": 1, "by=175200h": 2} {
		if said := strings.Count(log.String(), words); said != times {
			t.Errorf("%q was said %d times, want %d:\n%s", words, said, times, log)
		}
	}
}

// A clock that is years ahead for a while removes nothing for its age: the history would be gone when it is set right.
func TestFault_061_AClockThatIsYearsAheadRemovesNothing(t *testing.T) {
	t.Parallel()
	m := new(machineSet)
	d, _ := builtOn(t, "sqlite", "one", m)
	passes := func(by, late time.Duration) {
		t.Helper()
		m.set(time.Duration(m.by.Load()) + by)
		if _, sure := d.agesBy(d.clock.Now()); sure != (by == 0) {
			t.Errorf("after the clock was set by %v nobody has looked at that, and ages are sure: %v", by, sure)
		}
		settles(t, d)
		for _, in := range []time.Duration{0, ageless - time.Minute, ageless + time.Minute} {
			now, want := d.clock.Now().Add(in), time.Duration(0)
			if in < ageless {
				want = late
			}
			aged, sure := d.agesBy(now)
			if got := now.Sub(aged); !sure || (got-want).Abs() > time.Minute {
				t.Errorf("%v after the clock was set by %v ages are counted by %v before, sure: %v, want %v", in, by, got, sure, want)
			}
		}
	}
	passes(0, 0)
	passes(50*time.Minute, 0)
	passes(20*365*24*time.Hour, 20*365*24*time.Hour)
	passes(-20*365*24*time.Hour, 0)
}

// A machine that stands still for an hour every night counts ages by as much less, and does not wait for a day without that.
func TestWhatIsOldIsRemovedThoughAMachineStandsStillEveryNight(t *testing.T) {
	t.Parallel()
	a, now := new(ages), clockTest
	for range 30 {
		now = now.Add(24 * time.Hour)
		a.leapt(time.Hour, now)
		if late := now.Sub(a.now(now)); late > 2*time.Hour || len(a.leaps) > 2 {
			t.Fatalf("ages are counted by %v before, with %d leaps, want two hours at most", late, len(a.leaps))
		}
	}
	for name, c := range map[string]struct {
		by   []time.Duration
		late time.Duration
	}{"twice": {[]time.Duration{time.Hour, 2 * time.Hour}, 3 * time.Hour}, "back": {[]time.Duration{-5 * time.Hour}, 0},
		"and back":              {[]time.Duration{100 * 24 * time.Hour, -100 * 24 * time.Hour}, 0},
		"back, and right again": {[]time.Duration{-100 * 24 * time.Hour, 100 * 24 * time.Hour}, 100 * 24 * time.Hour}} {
		a, now := new(ages), clockTest
		for _, by := range c.by {
			now = now.Add(by + time.Minute)
			a.leapt(by, now)
		}
		if late := now.Sub(a.now(now)); late != c.late {
			t.Errorf("%s: ages are counted by %v before, want %v", name, late, c.late)
		}
		if late := now.Add(ageless).Sub(a.now(now.Add(ageless))); late != 0 {
			t.Errorf("%s: a day later ages are counted by %v before, want none", name, late)
		}
	}
}

// TestFault_061_WhoWaitsForChangesIsAnsweredInTime, however far the clock is from the machine's own, and though it is set back meanwhile.
func TestFault_061_WhoWaitsForChangesIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	m := new(machineSet)
	m.set(-time.Hour)
	d, _ := builtOn(t, "sqlite", "one", m)
	d.start.Listen = "127.0.0.1:0"
	if err := d.openWeb(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.web.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/v1/changes?after=now&wait=2s", d.web.Addr()), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	var status atomic.Int32
	go func() {
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if status.Store(-1); err == nil {
			status.Store(int32(answer.StatusCode))
			answer.Body.Close()
		}
	}()
	awaits(t, "answered", func() bool {
		m.set(time.Duration(m.by.Load()) - time.Minute)
		if err := d.beatOnce(t.Context(), d.clock.Now()); err != nil {
			t.Fatal(err)
		}
		return status.Load() != 0
	})
	if got := status.Load(); got != http.StatusOK {
		t.Errorf("it is answered with %d, want 200", got)
	}
}

// A worker that died while the clock was ahead is not alive when that is set right.
func TestABeatThatLiesAheadIsOfNoLivingWorker(t *testing.T) {
	t.Parallel()
	now, w := clockTest, new(witness)
	rows := []models.Worker{{Name: "dead", RealBeatAt: models.At(now.Add(2 * time.Hour))}, {Name: "living", RealBeatAt: models.At(now)}}
	if alive := livingWorkers(rows, now.Add(time.Second)); !slices.Equal(alive, []string{"living"}) {
		t.Errorf("alive are %v, want the living one", alive)
	}
	w.living(rows, now.Add(2*time.Hour)) // both have just been seen by the clock that was ahead
	if peers := w.living(rows, now.Add(time.Second)); len(peers) != 2 {
		t.Errorf("%d workers are alive a moment after the clock was set back, want those that were seen", len(peers))
	}
	rows[1].RealBeatAt = models.At(now.Add(12 * time.Second))
	if peers := w.living(rows, now.Add(12*time.Second)); len(peers) != 1 || peers[0].Name != "living" {
		t.Errorf("alive are %v, want the one that beats", peers)
	}
}

// What was due stays due where a clock is set back, but for what came due because the clock had been set forward before.
func TestWhatWasDueIsTakenFromWhatWasSetForward(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by           []time.Duration
		due, forward time.Duration
		from, to     time.Duration // since the first time, by the clock as it would be
	}{
		"forward":             {by: []time.Duration{time.Hour}, forward: time.Hour, to: time.Hour},
		"back":                {by: []time.Duration{-time.Hour}, due: time.Hour, from: -time.Hour},
		"forward and back":    {by: []time.Duration{time.Hour, -time.Hour}, to: time.Hour},
		"forward and further": {by: []time.Duration{time.Hour, -3 * time.Hour}, due: 2 * time.Hour, from: -2 * time.Hour, to: time.Hour},
		"back and forward":    {by: []time.Duration{-time.Hour, time.Hour}, from: -time.Hour},
	} {
		s, now := settling{}, clockTest
		for _, by := range c.by {
			now = now.Add(by)
			s.move(by, now)
		}
		if s.due() != c.due || s.forward() != c.forward || s.from.Sub(clockTest) != c.from || s.to.Sub(clockTest) != c.to || s.beats != settleBeats {
			t.Errorf("%s: %+v, want due %v, forward %v, from %v to %v", name, s, c.due, c.forward, c.from, c.to)
		}
	}
}

func TestWhatWasSetForwardBeforeIsRemembered(t *testing.T) {
	t.Parallel()
	s, now := settling{}, clockTest
	for i, c := range []struct{ by, due, forward time.Duration }{{time.Hour, 0, time.Hour}, {-40 * time.Minute, 0, 0}, {-time.Hour, 40 * time.Minute, 0},
		{-time.Minute, time.Minute, 0}, {time.Second, 0, time.Second}, {-20 * 365 * 24 * time.Hour, 0, 0}} {
		now = now.Add(c.by)
		s.move(c.by, now)
		if s.due() != c.due || s.forward() != c.forward {
			t.Errorf("%d, set by %v: due within %v, forward by %v, want %v and %v", i, c.by, s.due(), s.forward(), c.due, c.forward)
		}
		s.beats = 0
	}
}
