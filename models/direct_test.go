package models

import (
	"context"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"recrawld/internal/pgtest"
)

func TestPlacementNamesTables(t *testing.T) {
	t.Parallel()
	p := &placement{names: map[string]string{"pages": "pages_7", "hosts": "hosts_5", "links": "links_3"}, texts: make(map[string]string)}
	for query, want := range map[string]string{
		"SELECT pages FROM hosts WHERE id = $1":                           "SELECT pages FROM hosts_5 AS hosts WHERE id = $1",
		"SELECT p.id FROM hosts h JOIN\n\tpages p ON p.host_id = h.id":    "SELECT p.id FROM hosts_5 h JOIN\n\tpages_7 p ON p.host_id = h.id",
		"SELECT 1 FROM links AS l":                                        "SELECT 1 FROM links_3 AS l",
		"UPDATE pages SET due_at = v.d FROM unnest($1) AS v (d)":          "UPDATE pages_7 AS pages SET due_at = v.d FROM unnest($1) AS v (d)",
		"INSERT INTO hosts (id, pages) SELECT * FROM unnest($1, $2)":      "INSERT INTO hosts_5 AS hosts (id, pages) SELECT * FROM unnest($1, $2)",
		"DELETE FROM links USING pages WHERE links.bucket = pages.bucket": "DELETE FROM links_3 AS links USING pages_7 AS pages WHERE links.bucket = pages.bucket",
		"COPY pages (id) FROM STDIN":                                      "COPY pages_7 (id) FROM STDIN",
		"SELECT 1 FROM sites FOR UPDATE":                                  "SELECT 1 FROM sites FOR UPDATE",
		"SELECT 1 FROM hosts FOR UPDATE SKIP LOCKED":                      "SELECT 1 FROM hosts_5 AS hosts FOR UPDATE SKIP LOCKED",
	} {
		for range 2 { // the second time it is known
			if got := p.statement(query); got != want {
				t.Errorf("statement(%q) = %q, want %q", query, got, want)
			}
		}
	}
}

// TestWhoMovesAShardWaits: a shard stays where it is while a transaction is at work in it, and the next one finds it where it
// was moved to, and what the first one wrote.
func TestWhoMovesAShardWaits(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), distributed(t, Options{Conns: 2})
	const bucket = 3
	first := s.placement(bucket)
	if first == nil {
		t.Fatal("the servers of the shards are not known")
	}
	moved := make(chan error, 1)
	err := s.inShard(ctx, bucket, func(x *tx) error {
		if _, err := x.exec(ctx, `UPDATE buckets SET next_seq = 7 WHERE bucket = $1`, bucket); err != nil {
			return err
		}
		go func() { moved <- move(t, s, first) }()
		for waits := 0; waits == 0; { // for the lock that the transaction has
			err := s.reader.QueryRowContext(ctx, `SELECT COUNT(*) FROM citus_lock_waits`).Scan(&waits)
			if err != nil {
				return err
			}
			select {
			case err := <-moved:
				t.Errorf("the shard was moved under the transaction: %v", err)
				moved <- err
				return nil
			default:
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-moved; err != nil {
		t.Fatalf("move a shard: %v", err)
	}
	var next int64
	err = s.inShard(ctx, bucket, func(x *tx) error {
		rows, err := x.rows(ctx, `SELECT next_seq FROM buckets WHERE bucket = $1`, bucket)
		return eachRow(rows, err, func(rows answer) error { return rows.Scan(&next) })
	})
	if err != nil || next != 7 {
		t.Errorf("after the move next_seq = %d, %v, want 7", next, err)
	}
	if second := s.placement(bucket); second == nil || second.node == first.node {
		t.Errorf("the shard is taken to lie on %+v, and was moved from there", second)
	}
}

// move moves a shard to the other server.
func move(t *testing.T, s *Store, p *placement) error {
	t.Helper()
	var other node
	err := s.reader.QueryRowContext(t.Context(), `SELECT nodename, nodeport FROM pg_dist_node
		WHERE shouldhaveshards AND groupid <> $1 LIMIT 1`, p.node.group).Scan(&other.host, &other.port)
	if err != nil {
		return err
	}
	_, err = s.reader.ExecContext(t.Context(), `SELECT citus_move_shard_placement($1, $2, $3, $4, $5, 'block_writes')`,
		p.shard, p.node.host, p.node.port, other.host, other.port)
	return err
}

// distributed is a filled store on a cluster.
func distributed(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), pgtest.Citus(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Distribute(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHotPathOnCitus runs every hot statement on a cluster, on the servers of the shards and through the coordinator.
func TestHotPathOnCitus(t *testing.T) {
	t.Parallel()
	for name, coordinated := range map[string]bool{"direct": false, "coordinated": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := distributed(t, Options{Conns: 1, Coordinated: coordinated})
			if direct := s.placement(1) != nil; direct == coordinated {
				t.Fatalf("the servers of the shards are known: %t", direct)
			}
			fill(t, s)
			hotPath(t, s)
			if n, err := s.Deliver(t.Context(), planStart.Add(100*time.Hour)); n > 0 || err != nil {
				t.Errorf("Deliver = %d, %v, want nothing left", n, err)
			}
		})
	}
}

// TestWhoMayNotLockShardsAsksTheCoordinator: a role that may write but does not own the tables.
func TestWhoMayNotLockShardsAsksTheCoordinator(t *testing.T) {
	t.Parallel()
	owner := distributed(t, Options{Conns: 2})
	fill(t, owner)
	const role = "recrawld_test_guest"
	run := func(ctx context.Context, statements ...string) {
		for _, statement := range statements {
			if _, err := owner.reader.ExecContext(ctx, statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}
	run(t.Context(), `CREATE ROLE `+role+` LOGIN`, `GRANT ALL ON SCHEMA public TO `+role, `GRANT ALL ON ALL TABLES IN SCHEMA public TO `+role)
	defer run(context.WithoutCancel(t.Context()), `DROP OWNED BY `+role, `DROP ROLE `+role)
	u, err := url.Parse(owner.dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	guest, err := Open(t.Context(), u.String(), Options{Conns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close()
	if p := guest.placement(1); p != nil {
		t.Errorf("the server of shard %d is asked directly", p.shard)
	}
	leases, err := guest.Claim(t.Context(), ClaimRequest{Buckets: allBuckets(), Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: 5, Pages: 1})
	if err != nil || len(leases) == 0 {
		t.Errorf("Claim = %d leases, %v", len(leases), err)
	}
}

// A server that did not answer when it was first asked is left to the coordinator.
func TestServersThatDoNotAnswerAreNotAskedAgain(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{dsn: "postgres://nobody@127.0.0.1/none", nodes: nodes{answer: make(map[node]bool), pools: make(map[string]*pgxpool.Pool)}}
	p := &placement{shard: 1, node: node{host: "127.0.0.1", port: silent.Addr().(*net.TCPAddr).Port, group: 1}}
	silent.Close() // nobody listens there
	for range 2 {
		if db := s.connectionsTo(t.Context(), p, 1); db != nil {
			t.Error("there are connections to a server that does not answer")
		}
		if answers, asked := s.nodes.answer[p.node]; answers || !asked {
			t.Errorf("the server answers: %t, was asked: %t", answers, asked)
		}
	}
}
