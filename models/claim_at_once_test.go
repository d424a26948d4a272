package models

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// atOnceStore opens a store of many hosts on PostgreSQL, whose statements are noted from then on when noted is called.
func atOnceStore(t *testing.T) (s *Store, noted func() []string) {
	t.Helper()
	var mu sync.Mutex
	var said []string
	s, err := Open(t.Context(), migrated.DSN(t), Options{Conns: 1, Trace: func(_ context.Context, st Statement) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, st.SQL)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	fill(t, s)
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		was := said
		said = nil
		return was
	}
}

// hostsOf reads all hosts by key.
func hostsOf(t *testing.T, s *Store) map[rowKey]Host {
	t.Helper()
	hosts, err := hostTable.scan(s.rows(t.Context(), `SELECT `+hostTable.list()+` FROM hosts`))
	if err != nil {
		t.Fatal(err)
	}
	byKey := make(map[rowKey]Host, len(hosts))
	for _, h := range hosts {
		byKey[rowKey{h.Bucket, h.ID}] = h
	}
	return byKey
}

// TestClaimAtOnceTakesHosts: the statement leases hosts as Host.Take does, those that ClaimRequest.few has, in the same order.
func TestClaimAtOnceTakesHosts(t *testing.T) {
	t.Parallel()
	s, noted := atOnceStore(t)
	for _, change := range []string{
		`UPDATE hosts SET delay = 1500000000 WHERE id % 3 = 0`, // patient
		`UPDATE hosts SET delay = 1000001, lease_token = 7, lease_until = 1, lease_owner = 'dead' WHERE id % 3 = 1`,
		`UPDATE hosts SET pages = 130, ready_at = ready_at + abs(id % 1000)`,
		`INSERT INTO robots SELECT bucket, id, name, 200, 0, NULL, 0, 0, 0, 0 FROM hosts WHERE id % 2 = 0`,
	} {
		if _, err := s.writer.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	before := hostsOf(t, s)
	c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: 40, Pages: 100, Buckets: []int16{9, 3, 200},
		Delay: time.Second, Patient: time.Second}
	var want []Host
	for _, bucket := range c.Buckets {
		var of []Host
		for _, h := range before {
			if h.Bucket == bucket {
				of = append(of, h)
			}
		}
		slices.SortFunc(of, func(a, b Host) int {
			if a.ReadyAt != b.ReadyAt {
				return int(a.ReadyAt - b.ReadyAt)
			}
			return compareKeys(rowKey{a.Bucket, a.ID}, rowKey{b.Bucket, b.ID})
		})
		want = append(want, of...)
	}
	want = c.few(want[:min(len(want), c.Hosts)], pagesPerClaim)
	for i := range want {
		want[i].Take(&c)
	}
	noted()
	leases, err := s.Claim(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if said := noted(); len(said) != 3 {
		t.Errorf("a claim said %d things: %q, want three, in one message", len(said), said)
	}
	after := hostsOf(t, s)
	var got []Host
	for _, l := range leases {
		got = append(got, l.Host)
		if diff := cmp.Diff(l.Host, after[rowKey{l.Host.Bucket, l.Host.ID}]); diff != "" {
			t.Errorf("the host in the lease is not the one in the database: %s", diff)
		}
		if wants := c.PagesOf(&l.Host); len(l.Pages) != min(wants, 2) || len(l.Robots) != int(1-l.Host.ID%2) {
			t.Errorf("lease of a host with a delay of %v: %d pages, %d robots.txt", l.Host.Delay, len(l.Pages), len(l.Robots))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 5 {
		t.Errorf("Claim leased %d hosts, not as Take does (-want +got):\n%s", len(got), diff)
	}
	for key, h := range before {
		if !slices.ContainsFunc(got, func(g Host) bool { return g.ID == h.ID }) && after[key] != h {
			t.Errorf("host %v was not leased and changed from %+v to %+v", key, h, after[key])
		}
	}
}

// TestClaimAtOnceReadsIndexes: each statement reads rows by the index that it names.
func TestClaimAtOnceReadsIndexes(t *testing.T) {
	t.Parallel()
	s, _ := atOnceStore(t)
	conn, err := s.keyed.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, statement := range []struct {
		query, types, args string
		indexes            []string
	}{
		{leaseReady, "", "('{1,2,3}', 1, 16, 1, 100, 1, 'w', 1, 400)", []string{"hosts_ready", "hosts_pkey"}},
		{robotsTaken, "", "", []string{"robots_pkey"}},
		{pagesTaken, "(bigint)", "(1)", []string{"pages_due"}},
	} {
		if _, err := conn.Conn().PgConn().Exec(t.Context(), "PREPARE planned"+statement.types+" AS "+statement.query).ReadAll(); err != nil {
			t.Fatalf("%s: %v", statement.query, err)
		}
		results, err := conn.Conn().PgConn().Exec(t.Context(), "EXPLAIN EXECUTE planned"+statement.args+"; DEALLOCATE planned").ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		for _, row := range results[0].Rows {
			plan.Write(append(row[0], '\n'))
		}
		for _, index := range statement.indexes {
			if !strings.Contains(plan.String(), " using "+index) {
				t.Errorf("%s\nis answered without %s:\n%s", statement.query, index, &plan)
			}
		}
		for _, other := range []string{"Seq Scan", "Bitmap", "Hash Join", "Merge Join"} {
			if strings.Contains(plan.String(), other) {
				t.Errorf("%s\nis answered with a %s:\n%s", statement.query, other, &plan)
			}
		}
	}
}
