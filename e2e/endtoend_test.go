package e2e

import (
	"strings"
	"testing"
	"time"

	"recrawld/internal/origin"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// TestEndToEndSQLite follows three years of real pages and holds everything that was stored against what was served.
func TestEndToEndSQLite(t *testing.T) {
	r := newRehearsal(t, "sqlite", 50*time.Second)
	d := r.launch("")
	r.sleep(r.end)
	d.stop()
	s := readState(t, openDatabase(t, r.database()))
	entries := r.log.Entries(0)
	visits, orphans := r.match(s, entries)
	r.reportSpan(s)
	if len(orphans) > 0 {
		t.Errorf("%d requests have no visit, such as %s at %v", len(orphans), orphans[0].URL(), orphans[0].Start)
	}
	r.checkProbes(s, entries)
	r.checkPunctual(s)
	r.checkVisits(s, visits)
	r.checkServed(s, visits)
	r.checkArchive(s)
	r.checkConditions(s, entries, visits)
	r.checkPoliteness(entries, visits)
	r.checkSpread(visits)
	r.checkMirror(s, visits)
	r.checkSegments()
	r.checkFound(s)
	r.checkExcluded(s)
}

// TestEndToEndPostgres has two worker processes follow the same pages on one PostgreSQL.
func TestEndToEndPostgres(t *testing.T) {
	r := newRehearsal(t, pgtest.DSN(t), 50*time.Second)
	first := r.launch("a")
	second := r.launch("b")
	r.sleep(r.end)
	first.stop()
	second.stop()
	s := readState(t, openDatabase(t, r.database()))
	entries := r.log.Entries(0)
	visits, orphans := r.match(s, entries)
	r.reportSpan(s)
	if len(orphans) > 0 {
		t.Errorf("%d requests have no visit, such as %s at %v: fetched twice for one due time", len(orphans), orphans[0].URL(),
			orphans[0].Start)
	}
	r.checkProbes(s, entries)
	r.checkPunctual(s)
	r.checkVisits(s, visits)
	r.checkServed(s, visits)
	r.checkArchive(s)
	r.checkPoliteness(entries, visits)
	r.checkOncePerDue(s)
	r.checkShares(entries)
	r.checkMirror(s, visits)
	r.checkSegments()
	r.checkFound(s)
	r.checkExcluded(s)
}

// reportSpan prints what was replayed.
func (r *rehearsal) reportSpan(s state) {
	r.t.Helper()
	turns := map[models.OutcomeKind]int{}
	for _, visits := range s.visits {
		for _, v := range visits {
			turns[v.kind]++
		}
	}
	defer r.report("turns: %s", kindsText(turns))
	r.report("%d hosts, %d pages known, %v of history (%s to %s) at --speed %.0f", len(r.corpus.Hosts), len(s.pages),
		r.end.Sub(r.anchor.At).Round(24*time.Hour), r.anchor.At.Format(time.DateOnly), r.end.Format(time.DateOnly), r.anchor.Speed)
}

// checkFound makes sure that every page of the world was discovered and has a good copy at the end.
func (r *rehearsal) checkFound(s state) {
	r.t.Helper()
	found := 0
	for _, h := range r.corpus.Hosts {
		for _, p := range h.Pages() {
			if p.Path == origin.RobotsPath {
				continue
			}
			row, known := s.pages[s.byURL[h.URL(p.Path)]]
			if known && row.version > 0 {
				found++
				continue
			}
			// A page may end as a tiny page that leads elsewhere by meta refresh.
			if !known || row.state != models.StateMoved {
				r.t.Errorf("%s%s is not there: %+v", h.Label, p.Path, row)
			}
		}
	}
	r.report("pages of the world with a good copy at the end: %d", found)
}

// checkExcluded makes sure that the pages which robots.txt came to exclude are known as that; that they were not asked
// for any more is for checkPoliteness to see.
func (r *rehearsal) checkExcluded(s state) {
	r.t.Helper()
	excluded := 0
	for _, h := range r.corpus.Hosts {
		for _, p := range h.Pages() {
			if p.Path == origin.RobotsPath || !h.Forbids(p.Path, r.end) {
				continue
			}
			excluded++
			if row := s.pages[s.byURL[h.URL(p.Path)]]; row.state != models.StateExcluded || row.version == 0 {
				r.t.Errorf("%s%s is %v with version %d, want it excluded with its last copy kept", h.Label, p.Path, row.state, row.version)
			}
		}
	}
	if excluded == 0 {
		r.t.Error("no page was excluded on the way")
	}
	r.report("pages that robots.txt excluded on the way: %d, no longer asked for, last copy kept", excluded)
}

// checkOncePerDue makes sure that no page was fetched twice for one due time: its visits are numbered without a gap, and
// no two of them lie closer than the host's delay, as two workers' would that had taken the same page.
func (r *rehearsal) checkOncePerDue(s state) {
	r.t.Helper()
	var pairs int
	for id, visits := range s.visits {
		var observed []visitRow
		for i, v := range visits {
			if v.number != int32(i+1) {
				r.t.Errorf("%s: visit %d stands at place %d", s.pages[id].url, v.number, i+1)
			}
			if v.kind.Observed() {
				observed = append(observed, v)
			}
		}
		for i := 1; i < len(observed); i++ {
			before, v := observed[i-1], observed[i]
			pairs++
			if gap := v.at.Time().Sub(before.at.Time()); gap < delay {
				r.t.Errorf("%s: visits %d and %d are %v apart", s.pages[id].url, before.number, v.number, gap)
			}
		}
	}
	r.report("no page fetched twice for one due time: %d pairs of visits that follow each other, numbered without a gap", pairs)
}

// checkShares makes sure that both workers took part, as the origin saw them at once.
func (r *rehearsal) checkShares(entries []origin.Entry) {
	r.t.Helper()
	db := openDatabase(r.t, r.database())
	rows, err := db.QueryContext(r.t.Context(), "SELECT record_file, COUNT(*) FROM versions GROUP BY record_file")
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	stored, all := map[string]int{}, 0
	for rows.Next() {
		var file string
		var n int
		if err := rows.Scan(&file, &n); err != nil {
			r.t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			if strings.HasPrefix(file, "recrawld-"+name+"-") {
				stored[name], all = stored[name]+n, all+n
			}
		}
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	if least := all / 4; all == 0 || stored["a"] < least || stored["b"] < least {
		r.t.Errorf("versions were stored by %v, want a good part by each of two workers", stored)
	}
	busy := 0
	for i := 1; i < len(entries); i++ {
		if entries[i].Start.Before(entries[i-1].End) && entries[i].Host != entries[i-1].Host {
			busy++
		}
	}
	r.report("both workers stored versions, %v; %d requests began while one to another host was under way", stored, busy)
}
