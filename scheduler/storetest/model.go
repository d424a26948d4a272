package storetest

import (
	"context"
	"errors"
	"fmt"
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
// answer differently or end with different rows.
func Compare(t *testing.T, open, model func(t *testing.T) Store) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &pair{T: rt, ctx: t.Context(), store: open(t), model: model(t), now: start}
		if c, ok := p.store.(io.Closer); ok { // its test is over, and a server has only so many connections
			rt.Cleanup(func() { _ = c.Close() })
		}
		p.sites()
		rt.Repeat(map[string]func(*rapid.T){
			"add":     p.add,
			"claim":   p.claim,
			"commit":  p.commit,
			"wait":    p.wait,
			"recover": p.recover,
			"pause":   p.pause,
			"now":     p.visitNow,
			"hear":    p.announce,
			"remove":  p.removeSite,
			"prune":   p.prune,
			"ahead":   p.claimAhead,
			"sweep":   p.sweep,
			"merge":   p.merge,
			"weigh":   p.weigh,
		})
		p.same("rows at the end", p.dump(p.store), p.dump(p.model))
		p.ok(checkCounts(p.ctx, p.store))
	})
}

// pair is two stores to which the same is done.
type pair struct {
	*rapid.T
	ctx          context.Context
	store, model Store
	now          time.Time
	leases       []models.Lease // open or lost
	committed    []models.Result
	serial       int
}

// same fails where the two stores answered differently.
func (p *pair) same(what string, got, want any) {
	p.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateErrors()); diff != "" {
		p.Fatalf("%s (-model +store):\n%s", what, diff)
	}
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

func (p *pair) sites() {
	sites := []models.Site{{Name: "one"}, {Name: "two"}}
	a, err := p.store.SyncSites(p.ctx, p.now, sites)
	p.ok(err)
	b, err := p.model.SyncSites(p.ctx, p.now, sites)
	p.ok(err)
	p.same("sites", a, b)
}

// drawn is a page that is printed short where a test fails: of a whole one most of the output would be zeros.
type drawn struct{ models.Discovery }

// GoString is what tells the page from others that are drawn.
func (d drawn) GoString() string {
	return fmt.Sprintf("{%s site %d rule %v due %d}", d.Page.URL, d.Page.SiteID, d.Page.Rule, d.Page.DueAt)
}

func discoveries(pages []drawn) []models.Discovery {
	out := make([]models.Discovery, len(pages))
	for i := range pages {
		out[i] = pages[i].Discovery
	}
	return out
}

// drawFound draws a page of a few hosts, most of which share a bucket.
func (p *pair) drawFound(t *rapid.T) drawn {
	host := rapid.SampledFrom(append(sameBucket(3), "a.example")).Draw(t, "host")
	d := found(host, rapid.IntRange(0, 5).Draw(t, "page"))
	d.Page.SiteID = rapid.Int32Range(1, 2).Draw(t, "site")
	d.Page.Requisite = rapid.IntRange(0, 3).Draw(t, "requisite") == 0
	if rapid.Bool().Draw(t, "planned") {
		d.Page.Rule = models.RulePolicy
		d.Page.DueAt = p.drawInstant(t)
	}
	return drawn{d}
}

// drawInstant draws a moment around now, or never.
func (p *pair) drawInstant(t *rapid.T) models.Instant {
	if rapid.IntRange(0, 5).Draw(t, "never") == 0 {
		return 0
	}
	return models.At(p.now.Add(time.Duration(rapid.IntRange(-60, 300).Draw(t, "seconds")) * time.Second))
}

func (p *pair) add(t *rapid.T) {
	pages := discoveries(rapid.SliceOfN(rapid.Custom(p.drawFound), 1, 6).Draw(t, "pages"))
	limit := rapid.SampledFrom([]int{0, 4}).Draw(t, "limit")
	a, err := p.store.AddPages(p.ctx, p.now, pages, limit)
	p.ok(err)
	b, err := p.model.AddPages(p.ctx, p.now, pages, limit)
	p.ok(err)
	p.same("AddPages", a, b)
}

func (p *pair) claim(t *rapid.T) {
	p.claimAs(t, time.Time{})
}

func (p *pair) claimAs(t *rapid.T, ahead time.Time) {
	c := models.ClaimRequest{Now: p.now, Ahead: ahead, Lease: lease, Owner: "w", Hosts: rapid.IntRange(1, 3).Draw(t, "hosts"),
		Pages: rapid.IntRange(1, 3).Draw(t, "pages"), Delay: 5 * time.Second, Patient: 10 * time.Second}
	c.Buckets = []int16{models.BucketOf("a.example"), models.BucketOf(sameBucket(1)[0])}
	a, err := p.store.Claim(p.ctx, c)
	p.ok(err)
	b, err := p.model.Claim(p.ctx, c)
	p.ok(err)
	p.same("Claim", a, b)
	p.leases = append(p.leases, a...)
}

func (p *pair) wait(t *rapid.T) {
	p.now = p.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
	a, err := p.store.Ready(p.ctx)
	p.ok(err)
	b, err := p.model.Ready(p.ctx)
	p.ok(err)
	p.same("Ready", a, b)
	c, err := p.store.Twins(p.ctx, printKeys)
	p.ok(err)
	d, err := p.model.Twins(p.ctx, printKeys)
	p.ok(err)
	p.same("Twins", c, d)
}

// commit commits visits to some pages of some leases, late ones and old results among them.
func (p *pair) commit(t *rapid.T) {
	if len(p.leases) == 0 {
		t.Skip("no lease")
	}
	var results []models.Result
	for range rapid.IntRange(1, 3).Draw(t, "leases") {
		l := &p.leases[rapid.IntRange(max(0, len(p.leases)-4), len(p.leases)-1).Draw(t, "lease")]
		for i := range l.Pages {
			if rapid.IntRange(0, 3).Draw(t, "visit") > 0 {
				r := p.drawResult(t, l, i)
				l.Pages[i].Page = r.Page
				results = append(results, r)
			}
		}
	}
	if len(p.committed) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		results = append(results, rapid.SampledFrom(p.committed).Draw(t, "old"))
	}
	a, err := p.store.Commit(p.ctx, p.now, results)
	p.ok(err)
	b, err := p.model.Commit(p.ctx, p.now, results)
	p.ok(err)
	p.same("Commit", verdictWords(a), verdictWords(b))
	p.committed = append(p.committed, results...)
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

func (p *pair) drawResult(t *rapid.T, l *models.Lease, i int) models.Result {
	w := world{now: p.now}
	r := w.visited(*l, i)
	r.Release = rapid.Bool().Draw(t, "release")
	r.Page.DueAt = p.drawInstant(t)
	r.Page.Bytes = rapid.Int64Range(0, 9).Draw(t, "bytes")
	r.Page.Rule = rapid.SampledFrom([]models.Rule{models.RulePolicy, models.RulePaused}).Draw(t, "rule")
	r.Visit.Kind = models.OutcomeKind(rapid.Int16Range(1, int16(models.Probed)).Draw(t, "kind"))
	r.Host.Delay = time.Duration(rapid.IntRange(0, 12).Draw(t, "delay")) * time.Second
	r.Host.OpenAt = models.At(p.now.Add(r.Host.Delay))
	r.Host.Ahead = rapid.Bool().Draw(t, "ahead")
	r.Page.Evidence.Days = rapid.Float32().Draw(t, "days")
	r.Page.Importance = 7
	if rapid.IntRange(0, 3).Draw(t, "learned") == 0 {
		r.Knowledge = rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "knowledge")
	}
	if rapid.IntRange(0, 3).Draw(t, "remembered") == 0 {
		r.Memory, r.HostMemory = rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "memory"), rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "host memory")
	}
	if rapid.IntRange(0, 3).Draw(t, "found") == 0 {
		f := models.Finding{Hint: models.Hint(rapid.IntRange(0, 3).Draw(t, "hint")), Verdict: models.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict"))}
		r.Host.Trials.Note(f, p.now)
	}
	if rapid.IntRange(0, 4).Draw(t, "backoff") == 0 {
		r.Host.BackoffUntil = models.At(p.now.Add(time.Minute))
	}
	for range rapid.IntRange(0, 2).Draw(t, "events") {
		p.serial++
		e := event(r, models.EventChanged)
		e.RedirectTo = fmt.Sprint(p.serial)
		r.Events = append(r.Events, e)
	}
	if rapid.IntRange(0, 2).Draw(t, "changed") == 0 {
		r.Page.Version++
		r.Page.Stats.ChangedAt = models.At(p.now)
		r.Version = &models.Version{Number: r.Page.Version, At: r.Visit.At}
		digest := models.DigestOf([]byte{byte(rapid.IntRange(0, 3).Draw(t, "body"))})
		r.Content = &models.Content{Digest: digest, URL: r.Page.URL, At: r.Visit.At}
	}
	for range rapid.IntRange(0, 2).Draw(t, "filings") {
		f := models.Filing{Key: rapid.SampledFrom(printKeys).Draw(t, "key"), PageBucket: r.Page.Bucket, PageID: r.Page.ID}
		if rapid.Bool().Draw(t, "filed") {
			r.Filed = append(r.Filed, f)
		} else {
			r.Unfiled = append(r.Unfiled, f)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "robots") == 0 {
		r.Robots = &models.Robots{Origin: "https://" + l.Host.Name, FetchedAt: r.Visit.At}
	}
	if rapid.Bool().Draw(t, "links") {
		p.drawLinks(t, &r)
	}
	if rapid.IntRange(0, 2).Draw(t, "forward") == 0 {
		r.Forward, r.ForwardOf = models.At(p.now), p.drawInstant(t)
	}
	return r
}

// drawLinks gives a result links, and makes discoveries of some.
func (p *pair) drawLinks(t *rapid.T, r *models.Result) {
	r.LinksKnown = true
	r.Page.FullAt = models.At(p.now)
	for _, d := range discoveries(rapid.SliceOfN(rapid.Custom(p.drawFound), 0, 4).Draw(t, "children")) {
		row := d.Row(p.now)
		r.Links = append(r.Links, models.Link{ChildBucket: row.Bucket, ChildID: row.ID})
		if rapid.Bool().Draw(t, "new") {
			r.Discovered = append(r.Discovered, d)
		}
	}
	r.Page.Children = int32(len(r.Links))
}

func (p *pair) recover(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "crash") > 0 {
		t.Skip("no crash")
	}
	owner := rapid.SampledFrom([]string{"", "w", "nobody"}).Draw(t, "owner")
	a, err := p.store.Recover(p.ctx, p.now, owner)
	p.ok(err)
	b, err := p.model.Recover(p.ctx, p.now, owner)
	p.ok(err)
	p.same("Recover", a, b)
}

func (p *pair) pause(t *rapid.T) {
	site, paused := rapid.Int32Range(1, 2).Draw(t, "site"), rapid.Bool().Draw(t, "paused")
	p.same("SetPaused", p.store.SetPaused(p.ctx, site, paused, p.now) == nil, p.model.SetPaused(p.ctx, site, paused, p.now) == nil)
}

func (p *pair) visitNow(t *rapid.T) {
	row := rapid.Custom(p.drawFound).Draw(t, "page")
	page := row.Row(p.now)
	a, b := p.store.VisitNow(p.ctx, p.now, page.Bucket, page.ID), p.model.VisitNow(p.ctx, p.now, page.Bucket, page.ID)
	p.same("VisitNow", errors.Is(a, models.ErrNotFound), errors.Is(b, models.ErrNotFound))
	p.same("VisitNow", a == nil, b == nil)
}

func (p *pair) announce(t *rapid.T) {
	var about models.Announcement
	for _, d := range rapid.SliceOfN(rapid.Custom(p.drawFound), 1, 5).Draw(t, "pages") {
		row := d.Row(p.now)
		about.Bucket, about.HostID, about.SiteID = row.Bucket, row.HostID, row.SiteID
		about.Pages = append(about.Pages, row.ID) // those of another host are none of the announcement's
	}
	most := rapid.IntRange(0, 3).Draw(t, "most")
	a, err := p.store.Announce(p.ctx, p.now, about, func(*models.Host) int { return most })
	p.ok(err)
	b, err := p.model.Announce(p.ctx, p.now, about, func(*models.Host) int { return most })
	p.ok(err)
	p.same("Announce", a, b)
}

func (p *pair) removeSite(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "remove") > 0 {
		t.Skip("site stays")
	}
	p.same("RemoveSite", p.store.RemoveSite(p.ctx, 2, p.now) == nil, p.model.RemoveSite(p.ctx, 2, p.now) == nil)
}

func (p *pair) prune(t *rapid.T) {
	before := p.now.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "age")) * time.Second)
	a, err := p.store.PruneVisits(p.ctx, before, 3)
	p.ok(err)
	b, err := p.model.PruneVisits(p.ctx, before, 3)
	p.ok(err)
	p.same("PruneVisits", a, b)
	sinks := slices.Repeat([]string{"mirror"}, rapid.IntRange(0, 1).Draw(t, "sinks"))
	a, err = p.store.PruneEvents(p.ctx, before, sinks, 3)
	p.ok(err)
	b, err = p.model.PruneEvents(p.ctx, before, sinks, 3)
	p.ok(err)
	p.same("PruneEvents", a, b)
}
