package models

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// crash ends a context when a store sends its n-th statement from now: what was not committed by then is lost, as when the
// process dies.
type crash struct {
	mu   sync.Mutex
	left int // guarded by mu; 0: none
	die  context.CancelFunc
}

func (c *crash) see(context.Context, Statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left > 0 {
		if c.left--; c.left == 0 {
			c.die()
		}
	}
}

// in returns a context that ends at the n-th statement.
func (c *crash) in(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	ctx, die := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.die = n, die
	return ctx, die
}

// TestNothingIsLostBetweenBuckets crashes commits on a sharded server at any statement. What a commit found out for other
// buckets is there after Deliver if the visit is, and not if not; then the outbox is empty.
func TestNothingIsLostBetweenBuckets(t *testing.T) {
	t.Parallel()
	var c crash
	s, err := Open(t.Context(), migrated.DSN(t), Options{Sharded: true, Trace: c.see})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	round, crashed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		f := &family{T: rt, ctx: t.Context(), s: s, now: planStart.Add(time.Duration(round) * 24 * time.Hour), name: fmt.Sprint(round)}
		f.begin(rapid.IntRange(1, 3).Draw(rt, "parents"), rapid.IntRange(1, 3).Draw(rt, "children"))
		ctx, die := c.in(t.Context(), rapid.IntRange(1, 90).Draw(rt, "statement"))
		_, err := s.Commit(ctx, f.now, f.results)
		if ctx.Err() != nil {
			crashed++
		}
		die()
		if err != nil && rapid.Bool().Draw(rt, "again") { // the database was away, the process lived
			if _, err := s.Commit(t.Context(), f.now, f.results); err != nil {
				rt.Fatal(err)
			}
		}
		f.await()
		if n := rapid.IntRange(0, 12).Draw(rt, "second crash"); n > 0 {
			ctx, die := c.in(t.Context(), n)
			_, _ = s.Deliver(ctx, f.now.Add(time.Minute))
			die()
		}
		if _, err := s.Deliver(t.Context(), f.now.Add(time.Minute)); err != nil {
			rt.Fatal(err)
		}
		f.check()
	})
	t.Logf("%d commits, %d of them crashed", round, crashed)
	if crashed == 0 {
		t.Error("no commit was crashed")
	}
}

// family is parents, each of which found a page on a host of another bucket and brings forward children in other buckets.
type family struct {
	*rapid.T
	ctx      context.Context
	s        *Store
	now      time.Time
	name     string
	results  []Result
	children int
}

func (f *family) host(kind string, parent, n int) string {
	return fmt.Sprintf("%s%d-%d.round%s.example", kind, parent, n, f.name)
}

// begin adds parents and children and takes the parents' leases.
func (f *family) begin(parents, children int) {
	f.children = children
	var pages []Discovery
	var buckets []int16
	for p := range parents {
		host := f.host("parent", p, 0)
		pages = append(pages, Discovery{Host: host, Page: Page{SiteID: 1, URL: "https://" + host + "/", DueAt: At(f.now), Rule: RulePolicy}})
		buckets = append(buckets, BucketOf(host))
		for c := range children {
			host := f.host("child", p, c)
			pages = append(pages, Discovery{Host: host, Page: Page{SiteID: 1, URL: "https://" + host + "/", Rule: RulePolicy,
				DueAt: At(f.now.Add(12 * time.Hour))}})
		}
	}
	if _, err := f.s.AddPages(f.ctx, f.now, pages, 0); err != nil {
		f.Fatal(err)
	}
	leases, err := f.s.Claim(f.ctx, ClaimRequest{Buckets: buckets, Now: f.now, Lease: time.Minute, Owner: "w", Hosts: 1000, Pages: 1})
	if err != nil {
		f.Fatal(err)
	}
	for p := range parents {
		host := f.host("parent", p, 0)
		i := slices.IndexFunc(leases, func(l Lease) bool { return l.Host.Name == host })
		if i < 0 {
			f.Fatalf("%s is not leased", host)
		}
		f.results = append(f.results, f.visit(leases[i], p))
	}
}

// visit is the result of a parent's visit.
func (f *family) visit(l Lease, parent int) Result {
	p := l.Pages[0].Page
	p.Visits, p.DueAt, p.Children = 1, At(f.now.Add(24*time.Hour)), int32(f.children)
	r := Result{Lease: LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken}, Release: true, Page: p, Host: l.Host,
		Visit: Visit{Number: 1, At: At(f.now), Kind: Changed}, LinksKnown: true, Forward: At(f.now), ForwardOf: At(f.now),
		Content: &Content{Digest: DigestOf([]byte(p.URL)), URL: p.URL}}
	for c := range f.children {
		host := f.host("child", parent, c)
		r.Links = append(r.Links, Link{ChildBucket: BucketOf(host), ChildID: PageID("https://" + host + "/")})
		found := f.host("found", parent, c)
		r.Discovered = append(r.Discovered, Discovery{Host: found, Page: Page{SiteID: 1, URL: "https://" + found + "/", Level: 3, Chain: []int64{4, 5}}})
	}
	return r
}

// await waits for the locks of what a crash left behind: the server may still be busy with its COMMIT, or about to lock more hosts, so
// that the two may wait for each other in a circle.
func (f *family) await() {
	err := f.s.try(f.ctx, func() error {
		var hosts int
		return f.s.reader.QueryRowContext(f.ctx, "SELECT COUNT(*) FROM (SELECT id FROM hosts ORDER BY bucket, id FOR UPDATE) h").Scan(&hosts)
	})
	if err != nil {
		f.Fatal(err)
	}
}

// check compares what is there with what was committed.
func (f *family) check() {
	var left int
	if err := f.s.reader.QueryRowContext(f.ctx, "SELECT COUNT(*) FROM outbox").Scan(&left); err != nil || left > 0 {
		f.Fatalf("%d parcels are left, %v, want none", left, err)
	}
	for parent := range f.results {
		committed := f.page(f.host("parent", parent, 0)).Visits == 1
		for c := range f.children {
			found, child := f.page(f.host("found", parent, c)), f.page(f.host("child", parent, c))
			if got := found.ID != 0; got != committed {
				f.Fatalf("visit committed: %v; the page that it found is there: %v", committed, got)
			}
			if committed && (found.Level != 3 || len(found.Chain) != 2 || found.DueAt != At(f.now) || found.State != StateNew) {
				f.Fatalf("the page that was found is %+v", found)
			}
			if got := child.Rule == RuleParent && child.DueAt == At(f.now); got != committed {
				f.Fatalf("visit committed: %v; its child was brought forward: %v", committed, got)
			}
			f.checkHost(f.host("child", parent, c), child.DueAt)
			if committed {
				f.checkHost(f.host("found", parent, c), found.DueAt)
			}
		}
	}
}

// page reads a host's page, the zero Page where there is none.
func (f *family) page(host string) Page {
	pages, err := pageTable.scan(f.s.rows(f.ctx, `SELECT `+pageTable.prefixed("")+` FROM pages WHERE bucket = $1 AND id = $2`,
		BucketOf(host), PageID("https://"+host+"/")))
	if err != nil || len(pages) > 1 {
		f.Fatal(len(pages), err)
	}
	return append(pages, Page{})[0]
}

func (f *family) checkHost(name string, due Instant) {
	hosts, err := hostTable.scan(f.s.rows(f.ctx, `SELECT `+hostTable.list()+` FROM hosts WHERE bucket = $1 AND id = $2`,
		BucketOf(name), HostID(name)))
	if err != nil || len(hosts) != 1 {
		f.Fatal(name, len(hosts), err)
	}
	if h := hosts[0]; h.Pages != 1 || h.ReadyAt != due {
		f.Fatalf("host %s has %d pages and is ready at %v, want 1 and %v", name, h.Pages, h.ReadyAt, due)
	}
}

// What is packed comes out as it was.
func TestParcelsKeepDiscoveries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d Discovery
		for _, field := range append(pageTable.fields(&d.Page), &d.Host) {
			drawField(t, field)
		}
		b, err := packed{d}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back packed
		if err := back.UnmarshalJSON(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, back.Discovery); diff != "" {
			t.Errorf("a parcel's discovery (-packed +unpacked):\n%s", diff)
		}
	})
}

// drawField gives a field a value, or leaves it zero.
func drawField(t *rapid.T, field any) {
	if rapid.Bool().Draw(t, "zero") {
		return
	}
	switch f := field.(type) {
	case *string:
		*f = rapid.String().Draw(t, "text")
	case *bool:
		*f = true
	case *float32:
		*f = rapid.Float32Range(-1e9, 1e9).Draw(t, "real")
	case *int64:
		*f = rapid.Int64().Draw(t, "int64")
	case *int32:
		*f = rapid.Int32().Draw(t, "int32")
	case *int16:
		*f = rapid.Int16().Draw(t, "int16")
	case *Instant:
		*f = Instant(rapid.Int64().Draw(t, "instant"))
	case *bitsField:
		*f = bitsField(rapid.Uint64().Draw(t, "bits"))
	case *chainField:
		*f = rapid.SliceOfN(rapid.Int64(), 1, 3).Draw(t, "chain")
	case *Print:
		copy(f[:], rapid.SliceOfN(rapid.Byte(), len(f), len(f)).Draw(t, "print"))
	case *Digest:
		copy(f[:], rapid.SliceOfN(rapid.Byte(), len(f), len(f)).Draw(t, "digest"))
	}
}
