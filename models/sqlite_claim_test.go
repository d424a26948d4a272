package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// ridingStore is a store with hosts that have a due page each, and a request for all of them.
func ridingStore(t *testing.T, hosts int) (*Store, ClaimRequest) {
	t.Helper()
	s := liteStore(t)
	var pages []Discovery
	for i := range hosts {
		name := fmt.Sprintf("host%d.example", i)
		pages = append(pages, Discovery{Host: name, Page: Page{SiteID: 1, URL: "https://" + name + "/"}})
	}
	if _, err := s.AddPages(t.Context(), planStart, pages, 0); err != nil {
		t.Fatal(err)
	}
	c := ClaimRequest{Now: planStart.Add(time.Hour), Lease: time.Minute, Owner: "w", Hosts: hosts, Pages: 1}
	for b := range int16(Buckets) {
		c.Buckets = append(c.Buckets, b)
	}
	return s, c
}

// claimDuring claims while a transaction does something, and ends with an error or not.
func claimDuring(t *testing.T, s *Store, c ClaimRequest, then func(x *tx) error) ([]Lease, error) {
	t.Helper()
	type claimed struct {
		leases []Lease
		err    error
	}
	got := make(chan claimed, 1)
	err := s.inTx(t.Context(), func(x *tx) error {
		go func() {
			leases, err := s.Claim(t.Context(), c)
			got <- claimed{leases, err}
		}()
		for !s.liteWriter.awaited() {
			runtime.Gosched()
		}
		return then(x)
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	answer := <-got
	return answer.leases, answer.err
}

// wantLeased checks that the leases are those that the store has.
func wantLeased(t *testing.T, s *Store, leases []Lease, want int) {
	t.Helper()
	hosts, err := hostTable.scan(s.rows(t.Context(), `SELECT `+hostTable.list()+` FROM hosts WHERE lease_until > 0`))
	if err != nil {
		t.Fatal(err)
	}
	stored := make(map[int64]Host)
	for _, h := range hosts {
		stored[h.ID] = h
	}
	for _, l := range leases {
		if stored[l.Host.ID] != l.Host || len(l.Pages) == 0 {
			t.Errorf("lease of %+v with %d pages, stored is %+v", l.Host, len(l.Pages), stored[l.Host.ID])
		}
	}
	if len(leases) != want || len(stored) != want {
		t.Errorf("%d hosts are leased, of which %d are stored, want %d", len(leases), len(stored), want)
	}
}

func TestAClaimRidesWithTheTransactionUnderWay(t *testing.T) {
	t.Parallel()
	s, c := ridingStore(t, 5)
	leases, err := claimDuring(t, s, c, func(x *tx) error {
		_, err := x.exec(t.Context(), `UPDATE hosts SET pages = pages + 1 WHERE name IN ('host1.example', 'host2.example')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantLeased(t, s, leases, 3) // the two that changed meanwhile are not leased as they were
	more, err := s.Claim(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	wantLeased(t, s, append(leases, more...), 5)
}

func TestAClaimOutlivesTheTransactionThatWasToCarryIt(t *testing.T) {
	t.Parallel()
	s, c := ridingStore(t, 5)
	leases, err := claimDuring(t, s, c, func(*tx) error { return ErrNotFound })
	if err != nil {
		t.Fatal(err)
	}
	wantLeased(t, s, leases, 5)
}

// TestClaimsThatCannotBeWritten: the transaction that carries them is not spoilt.
func TestClaimsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s, c := ridingStore(t, 5)
	if err := s.inTx(t.Context(), func(x *tx) error {
		return x.script(t.Context(), `CREATE TRIGGER no_leases BEFORE UPDATE ON hosts WHEN new.lease_until > 0
			BEGIN SELECT RAISE(FAIL, 'no leases today'); END`)
	}); err != nil {
		t.Fatal(err)
	}
	leases, err := claimDuring(t, s, c, func(x *tx) error {
		_, err := x.exec(t.Context(), `INSERT INTO meta (key, value) VALUES ('k', 'v')`)
		return err
	})
	if err == nil {
		t.Errorf("Claim = %d leases, want an error", len(leases))
	}
	wantLeased(t, s, nil, 0)
	if value, err := s.Meta(t.Context(), "k"); err != nil || value != "v" {
		t.Errorf("the other transaction left %q, %v, want v", value, err)
	}
}

func TestAClaimThatIsGivenUp(t *testing.T) {
	t.Parallel()
	s, c := ridingStore(t, 5)
	ctx, end := context.WithCancel(t.Context())
	got := make(chan error, 1)
	err := s.inTx(t.Context(), func(*tx) error {
		go func() {
			_, err := s.Claim(ctx, c)
			got <- err
		}()
		for !s.liteWriter.awaited() {
			runtime.Gosched()
		}
		end()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("Claim = %v, want %v", err, context.Canceled)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantLeased(t, s, nil, 0)
}

// TestACommitLetsClaimsGoFirst: one that waits need not wait for all of many results. The host here is ready before the commit
// and leased by its last result's time, so a claim of what it was can only come before that.
func TestACommitLetsClaimsGoFirst(t *testing.T) {
	t.Parallel()
	s, c := ridingStore(t, commitSlice+50)
	leases, err := s.Claim(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for _, l := range leases {
		results = append(results, richResult(l, c.Now))
	}
	last := results[0].Lease
	for i := range results { // the last one is of the largest bucket
		if r := results[i].Lease; r.Bucket > last.Bucket {
			last = r
		}
	}
	host, err := s.Host(t.Context(), last.Bucket, last.HostID)
	if err != nil {
		t.Fatal(err)
	}
	taken := host
	taken.LeaseOwner = "another"
	r := &rider{hosts: []Host{host}, leases: []Lease{{Host: taken}}, done: make(chan struct{})}
	s.liteWriter.wait(r)
	if _, err := s.Commit(t.Context(), c.Now, results); err != nil {
		t.Fatal(err)
	}
	<-r.done
	if r.err != nil || !r.leased[0] {
		t.Errorf("leased = %v, %v, want true: the claim waited for the whole commit", r.leased, r.err)
	}
}

// TestTheLogOfSQLiteStaysShort: nobody but the writer copies it into the database.
func TestTheLogOfSQLiteStaysShort(t *testing.T) {
	t.Parallel()
	path := liteFile(t)
	s := planStore(t, path)
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	const perRound = checkpointFrames / 2
	body := make([]byte, 3000)
	for range 8 {
		err := s.inTx(t.Context(), func(x *tx) error {
			for n := range perRound {
				body[0]++
				_, err := x.exec(t.Context(), `INSERT INTO notes (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body`,
					fmt.Sprint(n), body)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(2 * checkpointFrames * 4096); info.Size() > limit {
		t.Errorf("the log has %d bytes, want at most %d", info.Size(), limit)
	}
}

// TestTheLogOfSQLiteBeginsAnewWhereOthersWrite: what is written while the log is copied, always something, must not keep it from
// beginning anew for ever.
func TestTheLogOfSQLiteBeginsAnewWhereOthersWrite(t *testing.T) {
	t.Parallel()
	s := liteStore(t)
	w := s.liteWriter
	w.logFrames = 16
	body := make([]byte, 3000)
	write := func(rows int, then func()) {
		err := s.inTx(t.Context(), func(x *tx) error {
			then()
			body[0]++ // what is there already is not written
			for n := range rows {
				_, err := x.exec(t.Context(), `INSERT INTO notes (name, body) VALUES ($1, $2)
					ON CONFLICT (name) DO UPDATE SET body = excluded.body`, fmt.Sprint(n), body)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func() (frames, copied int64) {
		var busy int64
		if err := s.reader.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &frames, &copied); err != nil {
			t.Fatal(err)
		}
		return frames, copied
	}
	w.checkpoints.room <- struct{}{} // somebody is slow to copy
	write(2*longestLog*16, func() {})
	<-w.checkpoints.room
	copying := make(chan struct{})
	write(1, func() {
		go func() { defer close(copying); w.checkpoint(t.Context()) }()
		for frames, copied := look(); copied < frames; frames, copied = look() {
			runtime.Gosched()
		}
	})
	<-copying
	write(1, func() {})
	if frames, _ := look(); frames > longestLog*16 {
		t.Errorf("the log has %d pages, want at most %d", frames, longestLog*16)
	}
}

// A claim reads no more pages than it is bound to; the next one has the other hosts.
func TestAClaimOnSQLiteHasAsManyHostsAsItMayHavePages(t *testing.T) {
	t.Parallel()
	s, c := ridingStore(t, 0)
	const hosts, each = 14, 100
	var pages []Discovery
	for i := range hosts {
		name := fmt.Sprintf("host%d.example", i)
		for n := range each {
			pages = append(pages, Discovery{Host: name, Page: Page{SiteID: 1, URL: fmt.Sprintf("https://%s/%d", name, n)}})
		}
	}
	if _, err := s.AddPages(t.Context(), planStart, pages, 0); err != nil {
		t.Fatal(err)
	}
	c.Hosts, c.Pages = hosts, each
	for _, want := range []int{pagesPerLiteClaim / each, hosts - pagesPerLiteClaim/each, 0} {
		leases, err := s.Claim(t.Context(), c)
		if len(leases) != want || err != nil {
			t.Errorf("claimed %d hosts, %v, want %d, nil", len(leases), err, want)
		}
		for _, l := range leases {
			if len(l.Pages) != each {
				t.Errorf("%s has %d pages, want %d", l.Host.Name, len(l.Pages), each)
			}
		}
	}
}
