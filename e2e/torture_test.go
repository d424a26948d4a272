package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/origin"
)

// kills is how often the torture kills the daemon.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("RECRAWLD_KILLS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RECRAWLD_KILLS=%q is no number of kills", text)
	}
	return n
}

// TestTortureFault_077_Kill kills the daemon again and again while it works. What was committed before a kill is there after
// it, with its body; what the origin served and nobody wrote down is what was under way at a kill, and no more than that;
// delays and robots.txt hold across the kills.
func TestTortureFault_077_Kill(t *testing.T) {
	n := kills(t)
	r := newRehearsal(t, "sqlite", max(75*time.Second, time.Duration(n)*2500*time.Millisecond))
	ledger := ledger{}
	var readyIn []time.Duration
	var killed []time.Time
	d := r.launch("")
	for i := range n {
		r.sleep(r.killAt(i, n))
		d.alive()
		ledger.note(readState(t, openDatabase(t, r.database())))
		d.kill()
		killed = append(killed, r.clock.Now())
		r.checkLedger(ledger, readState(t, openDatabase(t, r.database())), i)
		before := r.clock.Now()
		d = r.launch("")
		readyIn = append(readyIn, time.Duration(float64(r.clock.Now().Sub(before))/r.anchor.Speed))
	}
	r.sleep(r.end)
	r.awaitSinks(d)
	d.stop()
	s := readState(t, openDatabase(t, r.database()))
	r.reportSpan(s)
	r.checkLedger(ledger, s, n)
	r.checkAfterKills(s, killed)
	slowest := time.Duration(0)
	for _, took := range readyIn {
		slowest = max(slowest, took)
	}
	if slowest > 10*time.Second {
		t.Errorf("the slowest restart took %v, want under 10 s", slowest)
	}
	r.report("SIGKILL survived: %d of %d; %d acknowledged versions and %d acknowledged visits checked after every kill, 0 lost; "+
		"slowest restart %v", n, n, ledger.versions(), ledger.visits(), slowest.Round(time.Millisecond))
}

// killAt spreads the kills over the span, none at a moment that repeats from kill to kill.
func (r *rehearsal) killAt(i, n int) time.Time {
	step := r.end.Sub(r.anchor.At) / time.Duration(n+1)
	jitter := time.Duration((i*7919)%1000) * step / 2000
	return r.anchor.At.Add(time.Duration(i)*step + step/2 + jitter)
}

// checkAfterKills is what the clean run checks too, with room for the requests that a kill cut off.
func (r *rehearsal) checkAfterKills(s state, killed []time.Time) {
	r.t.Helper()
	entries := r.log.Entries(0)
	visits, orphans := r.match(s, entries)
	r.checkOrphans(orphans, visits, killed)
	r.checkVisits(s, visits)
	r.checkServed(s, visits)
	r.checkArchive(s)
	r.checkPoliteness(entries, visits)
	r.checkMirror(s, visits)
	r.checkSegments()
	r.checkFound(s)
	r.checkExcluded(s)
}

// longUnwritten is how long, in real time, a visit may be on its way into the database, from its request on: beside much other work it was 0.6 s.
const longUnwritten = 3 * time.Second

// checkOrphans makes sure that the requests without a visit are the last ones to their host before a kill: visits to one
// host are written in order, so a later one that was written means that an earlier one was lost.
func (r *rehearsal) checkOrphans(orphans []origin.Entry, visits []matched, killed []time.Time) {
	r.t.Helper()
	written := map[string][]time.Time{} // by host: when the requests of written visits began
	for _, m := range visits {
		written[m.entry.Host] = append(written[m.entry.Host], m.entry.Start)
	}
	var troubles []string
	oldest := time.Duration(0)
	for _, e := range orphans {
		i := slices.IndexFunc(killed, e.Start.Before)
		if i < 0 || slices.ContainsFunc(written[e.Host], func(at time.Time) bool { return at.After(e.Start) && at.Before(killed[i]) }) {
			troubles = append(troubles, fmt.Sprintf("%s at %v, %d", e.URL(), e.Start, e.Status))
			continue
		}
		oldest = max(oldest, time.Duration(float64(killed[i].Sub(e.Start))/r.anchor.Speed))
	}
	complain(r.t, "visits lost though no kill cut them off", troubles)
	if oldest > longUnwritten {
		r.t.Errorf("a visit was not written %v after its request, want it within %v", oldest.Round(time.Millisecond), longUnwritten)
	}
	r.report("requests whose visit a kill cut off before it was written: %d in %d kills, the oldest %v before the kill", len(orphans),
		len(killed), oldest.Round(time.Millisecond))
}

// awaitSinks waits, for at most a minute, until the mirror has every event: it had little time between the kills.
func (r *rehearsal) awaitSinks(d *daemon) {
	r.t.Helper()
	var machine clock.System
	db := openDatabase(r.t, r.database())
	began := machine.Now()
	for limit := began.Add(time.Minute); ; {
		d.alive()
		var behind int
		err := db.QueryRowContext(r.t.Context(), `SELECT COUNT(*) FROM buckets b WHERE b.next_seq - 1 >
			COALESCE((SELECT c.seq FROM sink_cursors c WHERE c.sink = 'mirror' AND c.bucket = b.bucket), 0)`).Scan(&behind)
		if err != nil {
			r.t.Fatal(err)
		}
		if behind == 0 {
			r.report("after the last kill the mirror had caught up within %v", machine.Now().Sub(began).Round(100*time.Millisecond))
			return
		}
		if machine.Now().After(limit) {
			r.t.Fatalf("the mirror is behind in %d buckets a minute after the last kill\n%s", behind, d.tail())
		}
		if err := machine.SleepUntil(r.t.Context(), machine.Now().Add(100*time.Millisecond)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// ledger is what the database said before a kill: what must be there for ever.
type ledger struct{ state }

// note remembers a state that was read from the running daemon's database: it was committed.
func (l *ledger) note(s state) { l.state = s }

func (l *ledger) versions() int { return l.count() }

func (l *ledger) visits() (n int) {
	for _, list := range l.state.visits {
		n += len(list)
	}
	return n
}

// checkLedger makes sure that a later state holds everything in the ledger, and that the archive gives the bodies back.
func (r *rehearsal) checkLedger(l ledger, s state, kill int) {
	r.t.Helper()
	var troubles []string
	var newest []versionRow
	for id, versions := range l.state.versions {
		for number, v := range versions {
			if s.versions[id][number] != v {
				troubles = append(troubles, fmt.Sprintf("version %d of %s was %+v and is %+v", number, l.pages[id].url, v,
					s.versions[id][number]))
			}
			if number == l.pages[id].version {
				newest = append(newest, v)
			}
		}
	}
	for id, visits := range l.state.visits {
		later := s.visits[id]
		for i, v := range visits {
			if i >= len(later) || later[i] != v {
				troubles = append(troubles, fmt.Sprintf("visit %d of %s is lost or changed", v.number, l.pages[id].url))
			}
		}
	}
	complain(r.t, fmt.Sprintf("acknowledged and lost at kill %d", kill+1), troubles)
	complain(r.t, fmt.Sprintf("newest versions without a body after kill %d", kill+1), r.unreadable(newest))
}
