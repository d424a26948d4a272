package models

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// aMoment is the names of columns that hold a moment which has to have passed, but for those of when something shall be.
var aMoment = regexp.MustCompile(`^(at|.*_at|.*_until|.*_since|missing_since|not_before|not_after)$`)

// rewindPages is how many pages of one host a clock that was ahead visited.
const rewindPages = 40

// visitedAhead fills a store as a daemon does whose clock is right at first and then years ahead.
func visitedAhead(t *testing.T, s *Store, ahead time.Time) {
	t.Helper()
	ctx := t.Context()
	if err := s.Migrate(ctx, planStart); err != nil {
		t.Fatal(err)
	}
	var found []Discovery
	for n := range rewindPages {
		found = append(found, Discovery{Host: "a.example", Page: Page{SiteID: 1, URL: fmt.Sprintf("https://a.example/%d", n)}},
			Discovery{Host: fmt.Sprintf("h%d.example", n), Page: Page{SiteID: 1, URL: fmt.Sprintf("https://h%d.example/", n)}})
	}
	if _, err := s.AddPages(ctx, planStart, found, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddSite(ctx, ahead, Site{Name: "late", URL: "https://late.example/"}); err != nil {
		t.Fatal(err)
	}
	early, err := s.AddSite(ctx, planStart, Site{Name: "early", URL: "https://early.example/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetGuarded(ctx, early.ID, At(ahead), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Approve(ctx, early.ID, ahead.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		at := ahead.Add(time.Duration(round) * time.Hour)
		leases, err := s.Claim(ctx, ClaimRequest{Now: at, Lease: time.Minute, Owner: "w", Hosts: 100, Pages: rewindPages, Buckets: allBuckets()})
		if err != nil || len(leases) == 0 {
			t.Fatalf("Claim = %d leases, %v", len(leases), err)
		}
		for _, l := range leases[round:] { // a lease of the last round stays, as of a worker that died
			if _, err := s.Commit(ctx, at, visitsAhead(l, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := At(ahead.Add(time.Hour))
	for _, statement := range []string{
		`UPDATE pages SET missing_since = $1, bytes_at = $1, fresh_until = $1 WHERE visits > 0`,
		`UPDATE robots SET fetched_at = $1, good_at = $1, expires_at = $1`,
		`UPDATE versions SET at = $1`, `UPDATE contents SET at = $1`, `UPDATE events SET not_before = $1, not_after = $1`,
		`UPDATE hosts SET open_at = $1, backoff_until = $1 WHERE name = 'h3.example'`,
		`INSERT INTO workers (name, machine, pid, release, started_at, beat_at, real_beat_at, visits, lost, in_flight)
			VALUES ('w', '', 1, '', $1, $1, $1, 0, 0, 0)`,
	} {
		if err := s.inTx(ctx, func(t *tx) error { _, err := t.exec(ctx, statement, int64(end)); return err }); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// visitsAhead are the results of the visits of a lease.
func visitsAhead(l Lease, at time.Time) []Result {
	var results []Result
	for i := range l.Pages {
		one := l
		one.Pages = l.Pages[i : i+1]
		r := richResult(one, at)
		r.Release = i == len(l.Pages)-1
		p := &r.Page
		p.Wanted, p.DueAt, p.State = 24*time.Hour, At(at.Add(23*time.Hour)), StateLive
		p.Stats.Records, p.TriedAt = p.Stats.Records+1, At(at)
		if p.Stats.FirstAt == 0 {
			p.Stats.FirstAt = At(at)
		}
		p.Stats.ChangedAt, p.Evidence = At(at), Evidence{Changes: 1, Days: 2000}
		r.Host.Trials.ProbedAt, r.Host.Delay = At(at), time.Second
		results = append(results, r)
	}
	return results
}

func TestRewindBringsEveryMomentBack(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, s *Store) {
		now := planStart.Add(time.Hour)
		visitedAhead(t, s, now.AddDate(4, 0, 0))
		if n := momentsAfter(t, s, At(now)); n["pages.visited_at"] == 0 || n["visits.at"] == 0 || n["events.at"] == 0 {
			t.Fatalf("the test wrote nothing ahead of now: %v", n)
		}
		r := Rewinding{Now: now, RetryMax: 24 * time.Hour, Interval: func(p *Page) time.Duration { return max(p.Wanted, time.Hour) },
			Known: func(b []byte, back Back) []byte { return []byte("back") }, Noise: func(b []byte, back Back) []byte { return []byte("quiet") },
			Note: func(_ string, b []byte, _ Back) []byte { return b }}
		done, err := s.Rewind(t.Context(), r)
		if err != nil || done["pages"] == 0 || done["visits"] == 0 || done["hosts"] == 0 || done["knowledge"] == 0 || done["memories"] == 0 {
			t.Fatalf("Rewind = %v, %v", done, err)
		}
		for column, n := range momentsAfter(t, s, At(now)) {
			t.Errorf("%d values of %s lie after now", n, column)
		}
		spreadDue(t, s, now)
		if again, err := s.Rewind(t.Context(), r); err != nil || slices.ContainsFunc(valuesOf(again), func(n int64) bool { return n > 0 }) {
			t.Errorf("Rewind once more = %v, %v, want nothing changed", again, err)
		}
		if err := s.CheckCounts(t.Context()); err != nil {
			t.Error(err)
		}
		claimable(t, s, now)
	}
	onEngines(t, func(t *testing.T, dsn string) { test(t, planStore(t, dsn)) })
	t.Run("sharded", func(t *testing.T) {
		t.Parallel()
		s, err := Open(t.Context(), migrated.DSN(t), Options{Sharded: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		test(t, s)
	})
}

func valuesOf(r Rewound) (all []int64) {
	for _, n := range r {
		all = append(all, n)
	}
	return all
}

// momentsAfter is how many values of each column that holds a moment lie after one, but for those of what is to come.
func momentsAfter(t *testing.T, s *Store, at Instant) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for _, table := range []string{"sites", "hosts", "robots", "pages", "visits", "versions", "contents", "events", "workers", "outbox"} {
		rows, err := s.reader.QueryContext(t.Context(), "SELECT * FROM "+table+" LIMIT 0")
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		rows.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range columns {
			shallBe := []string{"due_at", "ready_at", "open_at", "backoff_until"}
			if !aMoment.MatchString(column) || slices.Contains(shallBe, column) {
				continue
			}
			var n int
			query := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s > %d", table, column, at)
			if err := s.reader.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if n > 0 {
				found[table+"."+column] = n
			}
		}
	}
	return found
}

// spreadDue checks that the pages are due within their interval, not all at once, and that their hosts know it.
func spreadDue(t *testing.T, s *Store, now time.Time) {
	t.Helper()
	hours := make(map[Instant]int)
	for bucket := range int16(Buckets) {
		pages, err := s.PagesFrom(t.Context(), bucket, -1, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			if p.DueAt > At(now.Add(24*time.Hour)) {
				t.Errorf("%s is due at %v, after its interval", p.URL, p.DueAt)
			}
			if strings.HasPrefix(p.URL, "https://a.example/") && p.Visits > 0 {
				hours[(p.DueAt-At(now))/(6*60*60*1000)]++
				if p.Stats.VisitedAt-p.Stats.FirstAt != At(planStart.Add(time.Hour))-At(planStart) && p.Visits == 2 {
					t.Errorf("%s was visited %d ms after its first visit, want an hour", p.URL, p.Stats.VisitedAt-p.Stats.FirstAt)
				}
				if p.Evidence.Days > 1 {
					t.Errorf("%s has evidence of %v days in an hour", p.URL, p.Evidence.Days)
				}
			}
		}
	}
	for part, n := range hours {
		if n > rewindPages {
			t.Errorf("%d of some %d pages of a host are due in quarter %d of their interval", n, 2*rewindPages, part)
		}
	}
	var late int
	if err := s.reader.QueryRowContext(t.Context(), fmt.Sprintf("SELECT COUNT(*) FROM hosts WHERE lease_until > 0 OR ready_at > %d",
		At(now.Add(25*time.Hour)))).Scan(&late); err != nil || late > 0 {
		t.Errorf("%d hosts are leased or ready after their pages are due, %v", late, err)
	}
}

// claimable checks that all hosts are visited within a day.
func claimable(t *testing.T, s *Store, now time.Time) {
	t.Helper()
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: now.Add(25 * time.Hour), Lease: time.Minute, Hosts: 1000, Pages: 1, Buckets: allBuckets()})
	if err != nil || len(leases) != rewindPages+1 {
		t.Errorf("a day later %d hosts are claimed, %v, want %d", len(leases), err, rewindPages+1)
	}
}
