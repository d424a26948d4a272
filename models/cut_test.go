package models

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
)

// cutter stands between a store and its server and cuts the connection over which a certain message comes.
type cutter struct {
	listener net.Listener
	server   string // path of the socket

	mu     sync.Mutex // guards what is below
	left   int        // messages until the cut; 0: none comes
	arrive bool       // the server gets the message and its answer is lost; else it never gets it
	cut    bool
}

// startCutter returns a cutter before the server of a DSN, and the DSN that leads through it.
func startCutter(t *testing.T, dsn string) (*cutter, string) {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(config.Host) {
		t.Skip("the server is not reached by a socket")
	}
	dir, err := os.MkdirTemp("", "cut") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	name := fmt.Sprintf("/.s.PGSQL.%d", config.Port)
	c := &cutter{server: config.Host + name}
	if c.listener, err = net.Listen("unix", dir+name); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); c.serve() }()
	t.Cleanup(func() { c.listener.Close(); <-done })
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	return c, u.String()
}

// arm has the connection cut at the n-th message from now on.
func (c *cutter) arm(n int, arrive bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.arrive, c.cut = n, arrive, false
}

// disarm lets all through again and tells whether a connection was cut.
func (c *cutter) disarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = 0
	return c.cut
}

// due tells whether the connection of this message is to be cut.
func (c *cutter) due() (cut, arrive bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return false, false
	}
	c.left--
	c.cut = c.left == 0
	return c.cut, c.arrive
}

func (c *cutter) serve() {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		group.Go(func() { c.pass(client) })
	}
}

func (c *cutter) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", c.server)
	if err != nil {
		return
	}
	var deaf sync.Mutex // held where the client is not to hear the server's answer
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			deaf.Lock()
			if err == nil {
				_, err = client.Write(buf[:n])
			}
			deaf.Unlock()
			if err != nil {
				return
			}
		}
	}()
	defer func() { server.Close(); <-answered }()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		cut, arrive := c.due()
		if cut && !arrive {
			return
		}
		if cut {
			deaf.Lock()
			client.Close()
			deaf.Unlock()
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
		if cut {
			// The server carries out what it has got before it reads that nobody is there any more.
			_ = server.(*net.UnixConn).CloseWrite()
			_, _ = io.Copy(io.Discard, server)
			return
		}
	}
}

// TestFault_089_AConnectionCutAtEachMessageOfACommit cuts the connection to PostgreSQL at each message of a commit, before it
// arrives and after, and commits the same results again until that succeeds. What the database holds then is what it holds
// without a cut.
func TestFault_089_AConnectionCutAtEachMessageOfACommit(t *testing.T) {
	t.Parallel()
	cutter, through := startCutter(t, migrated.DSN(t))
	stores := []*Store{planStore(t, through), planStore(t, migrated.DSN(t))}
	for _, s := range stores {
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		if _, err := s.AddPages(t.Context(), planStart, cutPages(0), 0); err != nil {
			t.Fatal(err)
		}
	}
	now, cuts := planStart, 0
	for _, arrive := range []bool{false, true} {
		for n, cut := 1, true; cut; n++ {
			now = now.Add(time.Hour)
			batches := [][]Result{cutResults(t, stores[0], now, n), cutResults(t, stores[1], now, n)}
			cutter.arm(n, arrive)
			if cut = commitThrough(t, stores[0], now, batches[0]) && cutter.disarm(); cut {
				cuts++
			}
			commitThrough(t, stores[1], now, batches[1])
			if n%6 == 0 || !cut {
				compareDumps(t, stores, fmt.Sprintf("cut at message %d or shortly before (arrives: %t)", n, arrive))
			}
		}
	}
	if cuts < 20 {
		t.Errorf("%d cuts, want 20 or more: did the results go through the cutter?", cuts)
	}
}

// compareDumps holds the first of two databases against the second, in which no connection was cut.
func compareDumps(t *testing.T, stores []*Store, where string) {
	t.Helper()
	var dumps [2]Dump
	for i, s := range stores {
		var err error
		if dumps[i], err = s.Dump(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckCounts(t.Context()); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	if d := cmp.Diff(dumps[1], dumps[0], cmpopts.IgnoreFields(Event{}, "Mark")); d != "" {
		t.Fatalf("%s: the databases differ (-without, +with the cut):\n%s", where, d)
	}
}

// commitThrough commits until that succeeds and returns true.
func commitThrough(t *testing.T, s *Store, now time.Time, results []Result) bool {
	t.Helper()
	var err error
	for range 5 {
		var verdicts []error
		if verdicts, err = s.Commit(t.Context(), now, results); err == nil {
			if err := errors.Join(verdicts...); err != nil {
				t.Fatalf("Commit = %v", err)
			}
			return true
		}
	}
	t.Fatalf("Commit: %v", err)
	return false
}

// cutPages are new pages of a host for each of three buckets.
func cutPages(round int) []Discovery {
	var found []Discovery
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		found = append(found, Discovery{Host: host, Page: Page{SiteID: 1, URL: fmt.Sprintf("http://%s/%d", host, round), DueAt: At(planStart)}})
	}
	return found
}

// cutResults claims all hosts and gives, for each of their pages, a result that writes something of every kind.
func cutResults(t *testing.T, s *Store, now time.Time, round int) []Result {
	t.Helper()
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: now, Lease: time.Hour / 2, Owner: "w", Hosts: 10, Pages: 1000,
		Buckets: []int16{BucketOf("a.example"), BucketOf("b.example"), BucketOf("c.example")}})
	if err != nil || len(leases) != 3 {
		t.Fatalf("Claim = %d leases, %v", len(leases), err)
	}
	var results []Result
	for _, l := range leases {
		for i := range l.Pages {
			before := l.Pages[i].Page
			after := before
			after.Visits++
			after.Version++
			after.State, after.DueAt = StateLive, At(now.Add(time.Minute))
			digest := DigestOf(fmt.Appendf(nil, "%s %d", before.URL, round))
			record := Record{File: "f", Offset: int64(after.Version), Length: 1}
			results = append(results, Result{Lease: LeaseRef{l.Host.Bucket, l.Host.ID, l.Host.LeaseToken}, Page: after,
				Before: &before, Host: l.Host, Release: i == len(l.Pages)-1,
				Visit:   Visit{Number: after.Visits, At: At(now), Kind: Changed, Version: after.Version},
				Version: &Version{Number: after.Version, At: At(now), Digest: digest, Record: record},
				Content: &Content{Digest: digest, Record: record, URL: before.URL, At: At(now)},
				Events:  []Event{{Kind: EventChanged, URL: before.URL, At: At(now), Version: after.Version, Record: record}},
				Filed:   []Filing{{Key: int64(round), PageBucket: before.Bucket, PageID: before.ID}},
				Memory:  []byte("m"), Knowledge: []byte("k"),
				Discovered: cutPages(min(round, 3)), LinksKnown: true, Forward: At(now), ForwardOf: At(now),
			})
		}
	}
	return results
}
