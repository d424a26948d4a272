package storetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"recrawld/models"
)

// Compare does the same random things to a store and to a simpler one that is known to be right, and fails where they
// answer differently or end with different rows. Both are opened for at most so many pages a host that visits find; 0: any number.
func Compare(t *testing.T, open, model func(t *testing.T, pagesPerHost int) Store) {
	rapid.Check(t, func(rt *rapid.T) {
		perHost := rapid.SampledFrom([]int{0, 0, 2}).Draw(rt, "pages a host")
		p := &pair{T: rt, ctx: t.Context(), store: open(t, perHost), model: model(t, perHost), now: start}
		if c, ok := p.store.(io.Closer); ok { // its test is over, and a server has only so many connections
			rt.Cleanup(func() { _ = c.Close() })
		}
		p.syncSites([]models.Site{{Name: "one"}, {Name: "two"}})
		p.add(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"add":        p.add,
			"claim":      p.claim,
			"further":    p.further,
			"commit":     p.commit,
			"visit":      p.visit,
			"wait":       p.wait,
			"recover":    p.recover,
			"now":        p.visitNow,
			"hear":       p.announce,
			"ahead":      p.claimAhead,
			"sweep":      p.sweep,
			"administer": oneOf(p.pause, p.guard, p.configure, p.removeSite, p.clear, p.lose),
			"tend":       oneOf(p.drain, p.prune, p.beat, p.order, p.merge, p.weigh, p.name),
		})
		p.same("rows at the end", p.dump(p.store), p.dump(p.model))
		p.ok(checkCounts(p.ctx, p.store))
	})
}

// oneOf does one of several things, which are not worth as many turns as others.
func oneOf(actions ...func(*rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) { actions[rapid.IntRange(0, len(actions)-1).Draw(t, "which")](t) }
}

// pair is two stores to which the same is done.
type pair struct {
	*rapid.T
	ctx          context.Context
	store, model Store
	now          time.Time
	leases       []held // open or lost
	committed    []models.Result
	serial       int
}

// held is a lease and how far the due pages of its host are handed out.
type held struct {
	models.Lease
	handed models.Handed
}

// same fails where the two stores answered differently.
func (p *pair) same(what string, got, want any) {
	p.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(models.Event{}, "Mark")); diff != "" {
		p.Fatalf("%s (-model +store):\n%s", what, diff)
	}
}

// both does the same to the two stores, of which neither may fail but for what it does not find, and returns what both answered.
func both[T any](p *pair, what string, do func(Store) (T, error)) T {
	p.Helper()
	got, err := do(p.store)
	want, wrong := do(p.model)
	for _, err := range []error{err, wrong} {
		if err != nil && !errors.Is(err, models.ErrNotFound) {
			p.Fatalf("%s: %v", what, err)
		}
	}
	p.same(what+": not found", err != nil, wrong != nil)
	p.same(what, got, want)
	return got
}

// each is both for what answers nothing.
func (p *pair) each(what string, do func(Store) error) {
	p.Helper()
	both(p, what, func(s Store) (bool, error) { return true, do(s) })
}

func (p *pair) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *pair) dump(s Store) models.Dump {
	d, err := s.Dump(p.ctx)
	p.ok(err)
	return d
}

func (p *pair) add(t *rapid.T) {
	pages := discoveries(rapid.SliceOfN(rapid.Custom(p.drawFound), 1, 6).Draw(t, "pages"))
	limit := rapid.SampledFrom([]int{0, 3}).Draw(t, "limit")
	both(p, "AddPages", func(s Store) (models.Added, error) { return s.AddPages(p.ctx, p.now, pages, limit) })
}

func (p *pair) claim(t *rapid.T) {
	p.claimAs(t, time.Time{})
}

func (p *pair) claimAs(t *rapid.T, ahead time.Time) {
	c := models.ClaimRequest{Now: p.now, Ahead: ahead, Lease: lease, Owner: rapid.SampledFrom([]string{"w", "v"}).Draw(t, "owner"),
		Hosts: rapid.IntRange(1, 3).Draw(t, "hosts"), Pages: rapid.IntRange(1, 3).Draw(t, "pages"), Delay: 5 * time.Second,
		Patient: 10 * time.Second}
	c.Buckets = []int16{models.BucketOf("a.example"), models.BucketOf(sameBucket(1)[0])}
	for _, l := range both(p, "Claim", func(s Store) ([]models.Lease, error) { return s.Claim(p.ctx, c) }) {
		p.leases = append(p.leases, held{l, handed(l)})
	}
}

// further lets one of the last leases go on with what is due behind its last page.
func (p *pair) further(t *rapid.T) {
	l := p.drawLease(t)
	hosts := []models.Handed{{Bucket: 3, HostID: 4711}, l.handed}
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	pages := both(p, "Further", func(s Store) ([][]models.LeasedPage, error) { return s.Further(p.ctx, p.now, limit, hosts) })
	for _, page := range pages[1] { // one that was due again is there as it is now
		l.Pages = slices.DeleteFunc(l.Pages, func(old models.LeasedPage) bool { return old.ID == page.ID })
		l.Pages = append(l.Pages, page)
		l.handed = handed(l.Lease)
	}
}

// drawLease draws one of the last leases, which may be lost.
func (p *pair) drawLease(t *rapid.T) *held {
	if len(p.leases) == 0 {
		t.Skip("no lease")
	}
	return &p.leases[rapid.IntRange(max(0, len(p.leases)-4), len(p.leases)-1).Draw(t, "lease")]
}

func (p *pair) wait(t *rapid.T) {
	p.now = p.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		p.now = p.now.Add(20 * time.Hour)
	}
	both(p, "Ready", func(s Store) ([]models.BucketReady, error) { return s.Ready(p.ctx) })
	both(p, "Twins", func(s Store) (map[int64][]models.Twin, error) { return s.Twins(p.ctx, printKeys) })
	both(p, "Whereabouts", func(s Store) (map[models.PageKey]models.Whereabouts, error) { return s.Whereabouts(p.ctx, fewKeys()) })
	both(p, "Contents", func(s Store) (map[models.Digest]models.Content, error) { return s.Contents(p.ctx, bodies()) })
}

// commit commits visits to some pages of some leases, late ones and old results among them.
func (p *pair) commit(t *rapid.T) {
	var results []models.Result
	for range rapid.IntRange(1, 3).Draw(t, "leases") {
		l := p.drawLease(t)
		for i := range l.Pages {
			if rapid.IntRange(0, 3).Draw(t, "visit") > 0 {
				r := p.drawResult(t, &l.Lease, i)
				l.Pages[i].Page = r.Page
				results = append(results, r)
			}
		}
	}
	if len(p.committed) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		results = append(results, rapid.SampledFrom(p.committed).Draw(t, "old"))
	}
	both(p, "Commit", func(s Store) ([]string, error) {
		verdicts, err := s.Commit(p.ctx, p.now, results)
		return verdictWords(verdicts), err
	})
	p.committed = append(p.committed, results...)
}

// visit claims hosts and commits visits to them, which is what is done most.
func (p *pair) visit(t *rapid.T) {
	p.claim(t)
	p.commit(t)
}

func verdictWords(verdicts []error) []string {
	words := make([]string, len(verdicts))
	for i, err := range verdicts {
		switch {
		case errors.Is(err, models.ErrLeaseLost):
			words[i] = "lost"
		case err != nil:
			words[i] = err.Error()
		}
	}
	return words
}

func (p *pair) recover(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "crash") > 0 {
		t.Skip("no crash")
	}
	owner := rapid.SampledFrom([]string{"", "w", "nobody"}).Draw(t, "owner")
	both(p, "Recover", func(s Store) (int, error) { return s.Recover(p.ctx, p.now, owner) })
}
