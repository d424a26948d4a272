package e2e

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"recrawld/internal/origin"
)

// kills is how often the torture kills the daemon.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("RECRAWLD_KILLS")
	if text == "" {
		if testing.Short() {
			return 3
		}
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RECRAWLD_KILLS=%q is no number of kills", text)
	}
	return n
}

// TestTortureKill kills the daemon again and again while it works. What was committed before a kill is there after it,
// with its body; what the origin served and nobody wrote down is what was under way at a kill, and no more than that;
// delays and robots.txt hold across the kills.
func TestTortureKill(t *testing.T) {
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
	r.checkOrphans(orphans, killed)
	r.checkVisits(s, visits)
	r.checkServed(s, visits)
	r.checkArchive(s)
	r.checkPoliteness(entries)
	r.checkMirror(s, visits)
	r.checkSegments()
	r.checkFound(s)
	r.checkExcluded(s)
}

// checkOrphans makes sure that the requests without a visit are those under way, or not yet committed, at a kill.
func (r *rehearsal) checkOrphans(orphans []origin.Entry, killed []time.Time) {
	r.t.Helper()
	// A visit is written within some ten milliseconds after its request, on a slow disk within a second.
	uncommitted := r.clock.Real(time.Second)
	var troubles []string
	for _, e := range orphans {
		excused := false
		for _, at := range killed {
			excused = excused || (!e.Start.After(at) && at.Sub(e.Start) < uncommitted)
		}
		if !excused {
			troubles = append(troubles, fmt.Sprintf("%s at %v, %d", e.URL(), e.Start, e.Status))
		}
	}
	complain(r.t, "requests without a visit and without a kill", troubles)
	r.report("requests whose visit a kill cut off: %d in %d kills", len(orphans), len(killed))
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
