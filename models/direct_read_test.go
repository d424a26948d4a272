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

// notes keeps the statements that a store sends.
type notes struct {
	mu   sync.Mutex
	said []string // guarded by mu
}

func (n *notes) see(_ context.Context, s Statement) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, s.SQL)
}

// take is what was said since the last time.
func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	said := n.said
	n.said = nil
	return said
}

// TestSettingsForOtherServersComeOneByOne: a coordinator hands on, for each SET LOCAL, the whole text that it was part of, so that a
// server behind it began each transaction five times, set everything four times, and warned of it in its log.
func TestSettingsForOtherServersComeOneByOne(t *testing.T) {
	t.Parallel()
	var n notes
	s, err := Open(t.Context(), migrated.DSN(t), Options{Sharded: true, Conns: 1, Trace: n.see})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n.take()
	err = s.inTx(t.Context(), func(x *tx) error { _, err := x.exec(t.Context(), "SELECT 1"); return err })
	if err != nil {
		t.Fatal(err)
	}
	said := n.take()
	if len(said) != 8 || said[0] != "begin" || slices.ContainsFunc(said, func(q string) bool { return strings.Contains(q, ";") }) {
		t.Errorf("a transaction said %q, want its beginning, five settings, what it is for and its end", said)
	}
}

// TestClaimOnAShardTakesHosts: a claim on the server of a shard is one message, as on a PostgreSQL of one node, and leases hosts as
// Host.Take does.
func TestClaimOnAShardTakesHosts(t *testing.T) {
	t.Parallel()
	var n notes
	s := distributed(t, Options{Conns: 2, Trace: n.see})
	fill(t, s)
	before := hostsOf(t, s)
	c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: 5, Pages: 2, Delay: time.Second}
	for b := range int16(Buckets) {
		if s.shard(b) == s.shard(3) {
			c.Buckets = append(c.Buckets, b)
		}
	}
	n.take()
	leases, err := s.Claim(t.Context(), c)
	if err != nil || len(leases) != c.Hosts {
		t.Fatalf("Claim = %d leases, %v, want %d", len(leases), err, c.Hosts)
	}
	if said := n.take(); len(said) != 5 || !strings.Contains(said[2], "FROM hosts_") {
		t.Errorf("a claim said %d things: %q, want five, in one message to the shard's server", len(said), said)
	}
	after := hostsOf(t, s)
	for _, l := range leases {
		key := rowKey{l.Host.Bucket, l.Host.ID}
		want := before[key]
		want.Take(&c)
		if diff := cmp.Diff(want, l.Host); diff != "" || after[key] != want || len(l.Pages) != 2 {
			t.Errorf("a host was not leased as Take does, with %d pages (-want +got):\n%s", len(l.Pages), diff)
		}
	}
}

// TestWhatHasMovedIsReadWhereItIs: a store that took a shard for where it was reads what was written to it since.
func TestWhatHasMovedIsReadWhereItIs(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), distributed(t, Options{Conns: 2})
	fill(t, s)
	const bucket, sink = 3, "mirror"
	logged(t, s, slices.Repeat([]Event{{Bucket: bucket, Kind: EventNew, URL: "https://a.example/"}}, 9)...)
	heads, err := s.EventHeads(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetCursors(ctx, sink, nil, map[int16]EventRef{bucket: {Seq: 5, Mark: heads[bucket].Mark}}); err != nil {
		t.Fatal(err)
	}
	was := s.placement(bucket)
	if err := move(t, s, was); err != nil {
		t.Fatal(err)
	}
	other, err := Open(ctx, s.dsn, Options{Conns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.SetCursors(ctx, sink, nil, map[int16]EventRef{bucket: heads[bucket]}); err != nil {
		t.Fatal(err)
	}
	if s.placement(bucket) != was {
		t.Fatal("the store knows already that the shard was moved")
	}
	if seq, err := s.Cursor(ctx, sink, bucket); err != nil || seq != 9 {
		t.Errorf("Cursor = %d, %v, want 9", seq, err)
	}
	if now := s.placement(bucket); now == nil || now.node == was.node {
		t.Errorf("the shard is taken to lie on %+v still", now)
	}
}

// TestEveryBucketIsReadOnItsShard: what all shards are asked gives the same there as through the coordinator.
func TestEveryBucketIsReadOnItsShard(t *testing.T) {
	t.Parallel()
	var n notes
	direct := distributed(t, Options{Conns: 2, Trace: n.see})
	fill(t, direct)
	around, err := Open(t.Context(), direct.dsn, Options{Conns: 2, Coordinated: true})
	if err != nil {
		t.Fatal(err)
	}
	defer around.Close()
	n.take()
	got, err := direct.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range n.take() {
		if strings.Contains(query, "FROM hosts h") {
			t.Errorf("the coordinator was asked %s", query)
		}
	}
	want, err := around.Ready(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(got) < Buckets/2 {
		t.Errorf("Ready on the shards has %d buckets, %v (-coordinator +shards):\n%s", len(got), err, diff)
	}
}
