package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/internal/prefilled"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/scheduler"
)

// filledNow is the moment at which the reading commands find the filled data: a rehearsal that has ended.
var filledNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

const filledConfig = `agent: {contact: me@example.net}
cycle: 6h
sites:
  - url: https://docs.example.org/
    name: docs
    windows: ["22:00-06:00 Europe/Berlin"]
    filter:
      not: {extension: [jpg]}
    ignore: [.advert, footer]
  - url: https://blog.example.net/
    name: blog
`

// step is one visit of a filled page: when, seen from filledNow, what it found and what it decided.
type step struct {
	ago   time.Duration
	kind  models.OutcomeKind
	body  string
	frMax int32
	class models.ErrorClass

	weight  float32 // of a change
	reasons models.Reasons
}

// filler writes pages with their history into a data directory as a daemon would have.
type filler struct {
	t       testing.TB
	store   *models.Store
	archive *archive.Archive
	learned []byte // what the next page's visit learns of its host's noise
	needed  bool   // the next page is a requisite
}

// filledData makes a data directory with two sites and their histories, and its configuration, and returns its path.
func filledData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	filled.CopyTo(t, dir)
	return dir
}

var filled = prefilled.Folder{Fill: func(t testing.TB, dir string) {
	t.Helper()
	withTables.CopyTo(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "recrawld.yaml"), []byte(filledConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	fillMore(t, dir, func(f *filler) {
		f.sites()
		f.docs()
		f.blog()
		f.stand()
	})
}}

// fillMore adds to a data directory with a configuration, in a segment of its own.
func fillMore(t testing.TB, dir string, fill func(*filler)) {
	t.Helper()
	g := &globals{ConfigPath: filepath.Join(dir, "recrawld.yaml"), Data: dir}
	c, _, err := g.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	store, err := g.openStoreForWriting(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	kept, err := archive.Open(filepath.Join(dir, "archive"), archive.Options{Worker: "w", Now: func() time.Time { return filledNow }})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	fill(&filler{t: t, store: store, archive: kept})
}

func (f *filler) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *filler) sites() {
	rows, err := f.store.SyncSites(f.t.Context(), filledNow.Add(-60*day), []models.Site{
		{Name: "docs", URL: "https://docs.example.org/"}, {Name: "blog", URL: "https://blog.example.net/"}})
	f.must(err)
	f.must(f.store.SetPaused(f.t.Context(), rows[1].ID, true, filledNow))
}

// stand stops the clock at filledNow: a rehearsal whose last worker has ended then.
func (f *filler) stand() {
	anchor, err := json.Marshal(clock.Anchor{RealAt: filledNow, At: filledNow, Speed: 1000})
	f.must(err)
	_, err = f.store.SetMeta(f.t.Context(), anchorKey, "", string(anchor))
	f.must(err)
	f.must(f.store.Beat(f.t.Context(), models.Worker{Name: "desk-0", Machine: "desk", PID: 4242, Release: "1.0",
		StartedAt: models.At(filledNow.Add(-60 * day)), BeatAt: models.At(filledNow), Visits: 91}))
}

// page adds a page, gives it its history and ends with what finish sets.
func (f *filler) page(site int32, raw string, steps []step, finish func(*models.Page, *models.Host)) {
	f.t.Helper()
	u, err := canon.Parse(raw)
	f.must(err)
	page := scheduler.NewPage(u.String(), u.HostName(), site, int16(strings.Count(u.Path(), "/")), 4)
	page.DueAt, page.Requisite, f.needed = models.At(filledNow.Add(-50*day)), f.needed, false
	_, err = f.store.AddPages(f.t.Context(), filledNow.Add(-50*day), []models.Discovery{{Page: page, Host: u.HostName()}}, 0)
	f.must(err)
	leases, err := f.store.Claim(f.t.Context(), models.ClaimRequest{Buckets: []int16{page.Bucket}, Now: filledNow,
		Lease: time.Minute, Owner: "desk-0", Hosts: 1, Pages: 1})
	f.must(err)
	if len(leases) != 1 {
		f.t.Fatalf("%d leases for %s, want 1", len(leases), raw)
	}
	host := leases[0].Host
	host.Delay, host.OpenAt = 10*time.Second, 0
	results := f.results(leases[0], page, steps)
	last := &results[len(results)-1]
	if last.HostMemory, f.learned = f.learned, nil; last.HostMemory != nil {
		last.Events = append(last.Events, models.Event{Bucket: page.Bucket, At: models.At(filledNow.Add(-8 * day)), Kind: models.EventTemplate, SiteID: site,
			PageID: page.ID, URL: page.URL, Reasons: models.ReasonTemplate, Note: "Handbook, edition of the third hand, read by the house"})
	}
	finish(&last.Page, &host)
	last.Host, last.Release = host, true
	verdicts, err := f.store.Commit(f.t.Context(), filledNow, results)
	f.must(err)
	for _, verdict := range verdicts {
		f.must(verdict)
	}
}

func (f *filler) results(lease models.Lease, page models.Page, steps []step) []models.Result {
	var results []models.Result
	ref := models.LeaseRef{Bucket: lease.Host.Bucket, HostID: lease.Host.ID, Token: lease.Host.LeaseToken}
	for _, s := range steps {
		r := models.Result{Lease: ref, Host: lease.Host}
		page = f.visit(page, s, &r)
		r.Page = page
		r.Visit = models.Visit{Bucket: page.Bucket, PageID: page.ID, Number: page.Visits, At: models.At(filledNow.Add(-s.ago)),
			Kind: s.kind, Class: s.class, Status: statusOf[s.kind], Took: 52 * time.Millisecond, Bytes: int64(len(s.body)),
			FRMax: page.FRMax, Version: page.Version, Rule: page.Rule}
		results = append(results, r)
	}
	if len(results) == 0 { // known, not visited yet
		page.DueAt = models.At(filledNow.Add(5 * time.Minute))
		results = append(results, models.Result{Lease: ref, Host: lease.Host, Page: page})
	}
	return results
}

var statusOf = map[models.OutcomeKind]int16{models.First: 200, models.Changed: 200, models.SameText: 200, models.SameBytes: 200, models.Noise: 200,
	models.NotModified: 304, models.Missing: 404, models.Gone: 410, models.Moved: 301}

// visit moves a page on by a step and adds what the step brings to its result.
func (f *filler) visit(page models.Page, s step, r *models.Result) models.Page {
	at := models.At(filledNow.Add(-s.ago))
	page.Visits++
	page.TriedAt, page.Rule, page.FRMax = at, models.RulePolicy, max(s.frMax, 1)
	page.Wanted = time.Duration(page.FRMax) * 6 * time.Hour
	if s.kind.Observed() {
		page.State = models.StateLive
		page.Stats = recorded(page.Stats, at, s.kind == models.Changed)
	}
	if s.kind.OtherBytes() {
		page.ByteChanges, page.BytesAt = page.ByteChanges+1, at
	}
	if s.body == "" {
		return page
	}
	page.Version++
	page.Digest, page.Bytes, page.ContentType = models.DigestOf([]byte(s.body)), int64(len(s.body)), "text/html"
	switch path.Ext(page.URL) {
	case ".png":
		page.ContentType = "image/png"
	case ".css":
		page.ContentType = "text/css"
	case ".js":
		page.ContentType = "text/javascript"
	}
	out := models.Outcome{Kind: s.kind, At: at.Time(), Status: 200, Proto: "HTTP/1.1", Body: []byte(s.body), Digest: page.Digest,
		Header: []byte("Content-Type: " + page.ContentType + "\r\n"), ContentType: page.ContentType}
	record, err := f.archive.Append(models.Capture{URL: page.URL, Outcome: out})
	f.must(err)
	r.Version = &models.Version{Bucket: page.Bucket, PageID: page.ID, Number: page.Version, At: at, Status: 200, Digest: page.Digest,
		Bytes: page.Bytes, ContentType: page.ContentType, Significant: s.kind == models.First || s.kind == models.Changed, Significance: s.weight, Reasons: s.reasons, Record: record}
	kind := map[models.OutcomeKind]models.EventKind{models.First: models.EventNew, models.Changed: models.EventChanged,
		models.SameText: models.EventRefreshed, models.Noise: models.EventRefreshed}[s.kind]
	r.Events = []models.Event{{Bucket: page.Bucket, At: at, Kind: kind, SiteID: page.SiteID, PageID: page.ID, URL: page.URL,
		Requisite: page.Requisite, Version: page.Version, Previous: page.Version - 1, Bytes: page.Bytes, Digest: page.Digest, ContentType: page.ContentType,
		Significance: s.weight, Reasons: s.reasons}}
	return page
}

func recorded(s models.ChangeStats, at models.Instant, changed bool) models.ChangeStats {
	s.Records++
	s.VisitedAt = at
	if s.Records == 1 {
		s.FirstAt = at
		return s
	}
	s.Bits <<= 1
	if changed {
		s.Bits |= 1
		s.Changes++
		s.ChangedAt = at
	}
	return s
}

// docs is a site with a page of every fate.
func (f *filler) docs() {
	const docs = "https://docs.example.org/"
	rest := func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(17 * time.Hour)) }
	f.page(1, docs+"install", installSteps(), func(p *models.Page, h *models.Host) {
		rest(p, h)
		p.ETag, p.Children, p.FullAt, p.Threshold = `"a1"`, 12, models.At(filledNow.Add(-day)), 400
	})
	f.page(1, docs+"source-only", []step{{ago: 9 * day, kind: models.First, body: "<p>Same<!-- 1 -->", frMax: 4},
		{ago: 5 * day, kind: models.SameText, body: "<p>Same<!-- 2 -->", frMax: 3, reasons: models.ReasonMarkupOnly}}, rest)
	f.page(1, docs+"logo.png", []step{{ago: 9 * day, kind: models.First, body: "\x89PNG\x00\x01", frMax: 4},
		{ago: 5 * day, kind: models.Changed, body: "\x89PNG\x00\x02\x03", frMax: 3, weight: 1,
			reasons: models.ReasonBytes}}, rest)
	f.page(1, docs+"old", []step{{ago: 20 * day, kind: models.First, body: "<p>Old", frMax: 4}, {ago: 9 * day, kind: models.Gone, frMax: 4}},
		func(p *models.Page, h *models.Host) {
			rest(p, h)
			p.State, p.Rule, p.Note = models.StateGone, models.RuleGone, "answers 410 Gone since 2026-11-12 12:00:00"
		})
	f.page(1, docs+"private/x", []step{{ago: 2 * day, kind: models.Excluded, frMax: 4}}, func(p *models.Page, h *models.Host) {
		rest(p, h)
		p.State, p.Rule, p.Note = models.StateExcluded, models.RuleExcluded, "robots.txt line 2: Disallow: /private/"
	})
	f.page(1, docs+"slow", []step{{ago: 3 * day, kind: models.First, body: "<p>Slow", frMax: 4},
		{ago: time.Hour, kind: models.Failed, class: models.BodySlow, frMax: 4}}, func(p *models.Page, _ *models.Host) {
		p.DueAt, p.Rule = models.At(filledNow.Add(-time.Minute)), models.RuleBackoff
		p.Failures, p.Class, p.Note = 2, models.BodySlow, "no end after 2 min"
	})
	f.page(1, docs+"prices", priceSteps(), rest)
	f.page(1, docs+"prices-copy", []step{{ago: 30 * day, kind: models.First, body: pricePage(17, "9.50 €"), frMax: 4}}, func(p *models.Page, h *models.Host) {
		rest(p, h)
		p.Rule, p.DuplicateOf = models.RuleDuplicate, docs+"prices"
	})
	f.learn()
	f.page(1, docs+"outage", []step{{ago: 3 * day, kind: models.First, body: "<p>All is well, and was so for long", frMax: 4},
		{ago: time.Hour, kind: models.Failed, class: models.ErrorPage, frMax: 4}}, func(p *models.Page, h *models.Host) {
		p.DueAt, p.Rule = models.At(filledNow.Add(time.Hour)), models.RuleBackoff
		p.Failures, p.Class, p.Note = 1, models.ErrorPage, "\"We will be back soon\""
		h.Trials = filledTrials()
	})

	f.page(1, docs+"fresh", nil, func(*models.Page, *models.Host) {})
	f.robots("docs.example.org", "User-agent: *\nDisallow: /private/\n")
}

// installSteps are 24 visits a day apart with three changes.
func installSteps() []step {
	text := func(version string) string {
		return "<title>Install</title><h1>Install</h1><p>Get version " + version + ".<p>Run it.<p>That is all."
	}
	steps := []step{{ago: 24 * day, kind: models.First, body: text("1.0"), frMax: 4}}
	for i := 23; i >= 1; i-- {
		s := step{ago: time.Duration(i) * day, kind: models.NotModified, frMax: 6}
		if i%7 == 3 {
			s.kind, s.body = models.Changed, text("1."+string(rune('0'+4-i/7)))
			s.weight, s.reasons = 0.83, models.ReasonText
		}
		if i == 1 {
			s.frMax = 6 // floor((6 + 20/3) / 2)
		}
		steps = append(steps, s)
	}
	return steps
}

// blog is a paused site on a slow host in back-off.
func (f *filler) blog() {
	f.page(2, "https://blog.example.net/", []step{{ago: 30 * day, kind: models.First, body: "<p>Blog", frMax: 4},
		{ago: 2 * time.Hour, kind: models.Failed, class: models.ConnTimeout, frMax: 4}}, func(p *models.Page, h *models.Host) {
		p.DueAt, p.Rule, p.Failures, p.Class = models.At(filledNow.Add(time.Hour)), models.RulePaused, 1, models.ConnTimeout
		h.Failures, h.BackoffUntil = 5, models.At(filledNow.Add(3*time.Hour))
		h.Delay, h.Trials.Load.Response = 24*time.Second, 4800*time.Millisecond
	})
}

// robots gives a host its robots.txt, by way of a turn that is spent on it.
func (f *filler) robots(name, body string) {
	page, err := f.store.Page(f.t.Context(), models.BucketOf(name), models.PageID("https://"+name+"/slow"))
	f.must(err)
	leases, err := f.store.Claim(f.t.Context(), models.ClaimRequest{Buckets: []int16{page.Bucket}, Now: filledNow, Lease: time.Minute,
		Owner: "desk-0", Hosts: 1, Pages: 1})
	f.must(err)
	host := leases[0].Host
	page.Visits++
	_, err = f.store.Commit(f.t.Context(), filledNow, []models.Result{{Release: true, Page: page, Host: host,
		Lease: models.LeaseRef{Bucket: host.Bucket, HostID: host.ID, Token: host.LeaseToken},
		Visit: models.Visit{Bucket: page.Bucket, PageID: page.ID, Number: page.Visits, At: models.At(filledNow.Add(-time.Minute)),
			Kind: models.RobotsFetched, Status: 200, FRMax: page.FRMax, Rule: page.Rule, Version: page.Version},
		Robots: &models.Robots{Bucket: host.Bucket, HostID: host.ID, Origin: "https://" + name, Status: 200, Body: []byte(body),
			FetchedAt: models.At(filledNow.Add(-3 * time.Hour)), GoodAt: models.At(filledNow.Add(-3 * time.Hour)),
			ExpiresAt: models.At(filledNow.Add(21 * time.Hour))}}})
	f.must(err)
}

// desk is a reading command on filled data, with its answer and its exit code.
func desk(t *testing.T, dir string, args ...string) (answer, complaint string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = runContext(context.WithoutCancel(t.Context()), append(args, "--data", dir), strings.NewReader(""), &stdout, io.Writer(&stderr))
	return strings.ReplaceAll(stdout.String(), dir, "DATA"), stderr.String(), code
}
