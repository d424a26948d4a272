package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

var planStart = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// hotPath runs every hot statement on a filled store: claim, commit with all that a result can hold, ready, contents, whereabouts,
// events.
func hotPath(t *testing.T, s *Store) {
	t.Helper()
	ctx, now := t.Context(), planStart.Add(time.Hour)
	c := ClaimRequest{Now: now, Lease: time.Minute, Owner: "w", Hosts: 40, Pages: 3, Patient: time.Second}
	for b := range int16(8) {
		c.Buckets = append(c.Buckets, b)
	}
	for range 8 { // PostgreSQL makes its general plan at the sixth time
		leases, err := s.Claim(ctx, c)
		if err != nil || len(leases) == 0 {
			t.Fatalf("Claim = %d leases, %v", len(leases), err)
		}
		handed := make([]Handed, len(leases))
		for i, l := range leases {
			handed[i] = Handed{Bucket: l.Host.Bucket, HostID: l.Host.ID}
		}
		if further, err := s.Further(ctx, now, 3, handed); err != nil || len(further[0]) == 0 {
			t.Fatalf("Further = %v, %v, want pages", further, err)
		}
		if _, err := s.Further(ctx, now, 3, handed[:1]); err != nil {
			t.Fatal(err)
		}
		var results []Result
		for _, l := range leases {
			results = append(results, richResult(l, now))
		}
		if _, err := s.Commit(ctx, now, results); err != nil {
			t.Fatal(err)
		}
		learnPath(t, s, c, leases[0].Host)
		if _, err := s.Ready(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Contents(ctx, []Digest{DigestOf([]byte("seen"))}); err != nil {
			t.Fatal(err)
		}
		if twins, err := s.Twins(ctx, []int64{1, 2, -3}); err != nil || len(twins[1]) == 0 {
			t.Fatalf("Twins = %v, %v, want some", twins, err)
		}
		if there, err := s.Whereabouts(ctx, []PageKey{results[0].Page.Whereabouts().PageKey, {Bucket: 3, ID: 7}}); err != nil || len(there) != 1 {
			t.Fatalf("Whereabouts = %v, %v, want that of one page", there, err)
		}
		if _, err := s.Events(ctx, 1, 0, 10); err != nil {
			t.Fatal(err)
		}
		readersPath(t, s)
		now = now.Add(2 * time.Hour)
		c.Now = now
	}
}

// readersPath runs the statements of who follows the events: a sink that has delivered all, and a feed that is read on to the end.
func readersPath(t *testing.T, s *Store) {
	t.Helper()
	heads, err := s.EventHeads(t.Context())
	if err == nil {
		err = s.SetCursors(t.Context(), "mirror", nil, heads)
	}
	if err != nil || len(heads) == 0 {
		t.Fatalf("EventHeads = %v, %v", heads, err)
	}
	at, err := s.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for bucket := range heads { // an event of each bucket is not read yet
		at.seqs[bucket], at.marks[bucket] = at.seqs[bucket]-1, 0
	}
	if _, _, err := s.Feed(t.Context(), at, ChangesQuery{Limit: 1000}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SeenChanges(t.Context(), at, 0, nil, func(SeenChange) {}); err != nil {
		t.Fatal(err)
	}
}

// learnPath runs the hot statements of the adaptive policy: a claim ahead of time, a sweep over a host, its knowledge,
// a note.
func learnPath(t *testing.T, s *Store, c ClaimRequest, h Host) {
	t.Helper()
	ctx := t.Context()
	c.Now = planStart.Add(-time.Minute) // when the second page of the hosts above is not due yet
	early, err := s.Ahead(ctx, c.Now, 4)
	if err != nil || len(early) == 0 {
		t.Fatalf("Ahead = %v, %v, want buckets", early, err)
	}
	c.Ahead = early[len(early)-1].At
	if leases, err := s.Claim(ctx, c); err != nil || len(leases) == 0 {
		t.Fatalf("Claim ahead of time = %d leases, %v", len(leases), err)
	}
	var due []Due
	var worths []Worth
	err = s.HostPages(ctx, h.Bucket, h.ID, func(p *Page) bool {
		due = append(due, Due{Bucket: p.Bucket, HostID: p.HostID, PageID: p.ID, Visits: p.Visits, DueAt: p.DueAt, FRMax: 1})
		worths = append(worths, Worth{Bucket: p.Bucket, PageID: p.ID, Importance: 1})
		return true
	})
	if err != nil || len(due) == 0 {
		t.Fatalf("HostPages yielded %d pages, %v", len(due), err)
	}
	if err := errors.Join(s.Reschedule(ctx, due), s.SetImportance(ctx, worths)); err != nil {
		t.Fatal(err)
	}
	if body, learned, err := s.Knowledge(ctx, h.Bucket, h.ID); err != nil || len(body) == 0 || learned == 0 {
		t.Fatalf("Knowledge = %q, %d, %v", body, learned, err)
	}
	if body, err := s.Memory(ctx, h.Bucket, h.ID, HostMemoryID); err != nil || string(body) != "host" {
		t.Fatalf("Memory = %q, %v", body, err)
	}
	if _, err := s.LinksFrom(ctx, h.Bucket, Link{ParentID: 5}, 3); err != nil {
		t.Fatal(err)
	}
	if err := s.Merge(ctx, "price", func(old []byte) []byte { return append(old, 1) }); err != nil {
		t.Fatal(err)
	}
}

// richResult is a result that makes Commit run all of its statements.
func richResult(l Lease, now time.Time) Result {
	p := l.Pages[0].Page
	p.Visits++
	p.DueAt, p.Children, p.FullAt = At(now.Add(time.Hour)), 2, At(now)
	p.Stats.VisitedAt = At(now)
	found := Discovery{Host: l.Host.Name, Page: Page{SiteID: 1, URL: fmt.Sprintf("%s/new/%d", p.URL, p.Visits)}}
	child := found.Row(now)
	l.Host.Ahead = true
	return Result{
		Lease:   LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken},
		Release: true, Page: p, Host: l.Host, Knowledge: []byte("known"),
		Memory: []byte("page"), HostMemory: []byte("host"),
		Visit:      Visit{Number: p.Visits, At: At(now), Kind: Changed},
		Robots:     &Robots{Origin: "https://" + l.Host.Name},
		Version:    &Version{Number: p.Visits},
		Content:    &Content{Digest: DigestOf([]byte(child.URL))},
		Filed:      []Filing{{Key: child.ID, PageBucket: p.Bucket, PageID: p.ID}, {Key: 1, PageBucket: p.Bucket, PageID: p.ID}},
		Unfiled:    []Filing{{Key: 5, PageBucket: p.Bucket, PageID: p.ID}, {Key: -5, PageBucket: p.Bucket, PageID: p.ID}},
		Events:     []Event{{At: At(now), Kind: EventChanged, PageID: p.ID, URL: p.URL}},
		Discovered: []Discovery{found}, LinksKnown: true,
		Links:   []Link{{ChildBucket: child.Bucket, ChildID: child.ID}, {ChildBucket: (p.Bucket + 1) % Buckets, ChildID: 5}},
		Forward: At(now), ForwardOf: At(now),
		Duplicates: []Duplicate{{child.Bucket, child.ID, At(now), false}, {(p.Bucket + 1) % Buckets, 5, At(now), true}},
	}
}

// fill adds enough hosts and pages that no engine would rather read a whole table.
func fill(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	const hosts, pages = 3000, 2
	var found []Discovery
	for h := range hosts {
		for p := range pages {
			host := fmt.Sprintf("h%d.example", h)
			found = append(found, Discovery{Host: host, Page: Page{SiteID: 1, URL: fmt.Sprintf("https://%s/%d", host, p)}})
		}
	}
	if _, err := s.AddPages(t.Context(), planStart, found, 0); err != nil {
		t.Fatal(err)
	}
}

// planStore opens a store with one connection.
func planStore(t *testing.T, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{Conns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// bigTables are those that no hot statement may read as a whole.
var bigTables = []string{"hosts", "pages", "visits", "versions", "contents", "links", "events", "robots", "knowledge",
	"memories", "prints"}

func TestHotStatementsUseIndexesOnSQLite(t *testing.T) {
	t.Parallel()
	s := planStore(t, liteFile(t))
	fill(t, s)
	if err := s.inTx(t.Context(), func(t *tx) error { return t.script(context.Background(), "ANALYZE") }); err != nil {
		t.Fatal(err)
	}
	hotPath(t, s)
	statements := []string{readFilings, walkPages(false), readKnowledge, readMemory, readLinks, countEachOf, earliestHosts, bucketsReady, bucketsReadyOrAhead, nextAhead}
	statements = append(statements, prepared(t, s)...)
	for _, query := range statements {
		if strings.HasPrefix(query, "INSERT") {
			continue
		}
		for _, step := range sqlitePlan(t, s, query) {
			for _, table := range bigTables {
				if step == "SCAN "+table || strings.HasPrefix(step, "SCAN "+table[:1]+" ") || step == "SCAN "+table[:1] {
					t.Errorf("%s\nreads all of %s: %s", query, table, step)
				}
			}
			if strings.Contains(step, "(bucket=?)") && !strings.HasPrefix(step, "SEARCH b") { // buckets has one row each
				t.Errorf("%s\nreads a whole bucket: %s", query, step)
			}
		}
	}
}

// prepared is the statements that SQLite's connections have run.
func prepared(t *testing.T, s *Store) []string {
	t.Helper()
	var ran []string
	for _, pool := range []*litePool{s.liteWriter.litePool, s.liteReader} {
		pool.mu.Lock()
		for _, c := range pool.idle {
			ran = slices.AppendSeq(ran, maps.Keys(c.statements))
		}
		pool.mu.Unlock()
	}
	return slices.DeleteFunc(ran, func(query string) bool { return len(query) < 20 }) // BEGIN and the like
}

// TestClaimsLeaveMemoriesAlone: what is remembered of pages and hosts is read when a visit needs it, never with a lease.
func TestClaimsLeaveMemoriesAlone(t *testing.T) {
	t.Parallel()
	claim := func(t *testing.T, s *Store) {
		t.Helper()
		c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: 40, Pages: 3, Buckets: []int16{0, 1, 2}}
		if leases, err := s.Claim(t.Context(), c); err != nil || len(leases) == 0 {
			t.Fatalf("Claim = %d leases, %v", len(leases), err)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := liteFile(t)
		fill(t, planStore(t, path))
		s := planStore(t, path)
		claim(t, s)
		ran := prepared(t, s)
		for _, query := range ran {
			if strings.Contains(query, "memories") {
				t.Errorf("a claim runs %s", query)
			}
		}
		if len(ran) == 0 {
			t.Error("a claim runs nothing")
		}
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := planStore(t, migrated.DSN(t))
		fill(t, s)
		before := reads(t, s, "pages", "memories")
		claim(t, s)
		after := reads(t, s, "pages", "memories")
		if after[0] == before[0] || after[1] != before[1] {
			t.Errorf("a claim reads pages %d times and memories %d times", after[0]-before[0], after[1]-before[1])
		}
	})
}

// flushStatistics has the server count what the store's connections did so far: each tells it once a second at most.
func flushStatistics(t *testing.T, s *Store) {
	t.Helper()
	for _, pool := range []*pgxpool.Pool{s.pool, s.keyed} {
		for _, conn := range pool.AcquireAllIdle(t.Context()) {
			_, err := conn.Exec(t.Context(), "SELECT pg_stat_force_next_flush()")
			conn.Release()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// reads is how often tables were read, by any way.
func reads(t *testing.T, s *Store, tables ...string) []int64 {
	t.Helper()
	flushStatistics(t, s)
	counts := make([]int64, len(tables))
	for i, table := range tables {
		err := s.writer.QueryRowContext(t.Context(), `SELECT COALESCE(seq_scan, 0) + COALESCE(idx_scan, 0)
			FROM pg_stat_user_tables WHERE relname = $1`, table).Scan(&counts[i])
		if err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

// TestEarlyClaimsReadTheirOwnIndex: what looks for hosts to be visited early never walks through those that are leased,
// held back or not to be visited early.
func TestEarlyClaimsReadTheirOwnIndex(t *testing.T) {
	t.Parallel()
	s := planStore(t, liteFile(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{nextAhead, claimAhead, bucketsReadyOrAhead} {
		if plan := strings.Join(sqlitePlan(t, s, query), "\n"); !strings.Contains(plan, "hosts_ahead (bucket=? AND ready_at>?") {
			t.Errorf("%s\nis answered by\n%s", query, plan)
		}
	}
}

// sqlitePlan is the steps of a statement.
func sqlitePlan(t *testing.T, s *Store, query string) []string {
	t.Helper()
	args := make([]any, 60) // more than any statement takes; the values do not matter
	rows, err := s.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.dialect.statement(query), args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		t.Errorf("%s: no plan", query)
	}
	return steps
}

func TestHotStatementsUseIndexesOnPostgres(t *testing.T) {
	t.Parallel()
	for name, sharded := range map[string]bool{"one node": false, "sharded": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := planStore(t, migrated.DSN(t))
			s.sharded = sharded
			usesIndexes(t, s)
		})
	}
}

func usesIndexes(t *testing.T, s *Store) {
	t.Helper()
	fill(t, s)
	for _, statement := range []string{
		`INSERT INTO links SELECT n % 256, n, '\x01' || int8send(n) || '\x00' FROM generate_series(1, 20000) n`,
		`INSERT INTO robots SELECT bucket, id, name, 200, 0, NULL, 0, 0, 0, 0 FROM hosts`,
		`INSERT INTO knowledge SELECT bucket, id, 'known' FROM hosts`,
		`INSERT INTO memories SELECT bucket, host_id, id, 'seen' FROM pages`,
		`INSERT INTO visits SELECT bucket, id, 1000, 0, 1, 0, 0, 0, 0, 1, 0, 1 FROM pages`,
		`INSERT INTO prints SELECT n % 256, (n % 256)::bigint << 56 | n, 1, n FROM generate_series(1, 20000) n`,
		`INSERT INTO contents SELECT get_byte(d, 0), d, '', 0, 0, '', 0 FROM (
			SELECT sha256(n::text::bytea) d FROM generate_series(1, 20000) n) x`,
		`INSERT INTO events SELECT n % 256, 100000 + n, 0, 1, 1, n, '', 0, 0, 0, 0, 0, '', '', NULL, 0, '', '', 0, 0, 0, 0, ''
			FROM generate_series(1, 20000) n`,
		`ANALYZE`,
	} {
		if _, err := s.writer.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	before := fullReads(t, s)
	hotPath(t, s)
	for table, n := range fullReads(t, s) {
		if n > before[table] {
			t.Errorf("claims and commits read all of %s %d times", table, n-before[table])
		}
	}
}

// fullReads is how often each big table was read from end to end.
func fullReads(t *testing.T, s *Store) map[string]int64 {
	t.Helper()
	flushStatistics(t, s)
	reads := make(map[string]int64)
	for _, table := range bigTables {
		var n int64
		err := s.writer.QueryRowContext(t.Context(), "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = $1", table).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		reads[table] = n
	}
	return reads
}
