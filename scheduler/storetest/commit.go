package storetest

import (
	"errors"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

func releaseSaysWhenReady(w *world) {
	w.add("a.example", 2)
	l := w.claimOne(2)
	results := w.visitAll(l)
	results[0].Page.DueAt = models.At(w.now.Add(time.Hour))
	w.mustCommit(results...)
	if got, want := w.ready("a.example"), w.now.Add(time.Hour); !got.Equal(want) {
		w.Errorf("ready at %v, want when the first page is due: %v", got, want)
	}
	w.now = w.now.Add(time.Hour)
	l = w.claimOne(1)
	r := w.visited(l, 0)
	r.Page.DueAt = models.At(w.now)
	r.Host.OpenAt, r.Host.BackoffUntil = models.At(w.now.Add(time.Minute)), models.At(w.now.Add(time.Hour))
	r.Host.Failures = 3
	w.mustCommit(r)
	h := w.host("a.example")
	if got, want := h.ReadyAt, models.At(w.now.Add(time.Hour)); got != want {
		w.Errorf("ready at %v, want the end of the back-off: %v", got, want)
	}
	if h.Failures != 3 || h.LeaseUntil != 0 || h.LeaseOwner != "" {
		w.Errorf("host = %+v, want 3 failures and no lease", h)
	}

	// Never due again: the host is not ready, ever.
	w.now = w.now.Add(time.Hour)
	l = w.claimOne(5)
	for i := range l.Pages {
		r := w.visited(l, i)
		r.Page.DueAt, r.Page.State, r.Page.Rule = 0, models.StateExcluded, models.RuleExcluded
		w.mustCommit(r)
	}
	w.now = w.now.Add(24 * time.Hour)
	for _, l := range w.claim(1, 5) {
		r := w.visited(l, 0)
		r.Page.DueAt = 0
		w.mustCommit(r)
	}
	if got := w.ready("a.example"); !got.IsZero() {
		w.Errorf("ready with no page ever due at %v, want never", got)
	}
}

func notReleasedStaysLeased(w *world) {
	w.add("a.example", 2)
	l := w.claimOne(2)
	r := w.visited(l, 0)
	r.Host.Delay = 5 * time.Second
	w.mustCommit(r)
	h := w.host("a.example")
	if h.LeaseUntil != models.At(l.Until) || h.ReadyAt != models.At(l.Until.Add(5*time.Second)) {
		w.Errorf("lease until %v, ready at %v, want %v and 5 s later", h.LeaseUntil, h.ReadyAt, l.Until)
	}
	w.mustCommit(w.visited(l, 1))
	if h := w.host("a.example"); h.LeaseUntil != 0 {
		w.Errorf("lease until %v after the last result, want none", h.LeaseUntil)
	}
}

// fullPage sets every field of a page.
func fullPage(p models.Page, at models.Instant) models.Page {
	p.State, p.Level, p.Note = models.StateMissing, 3, "filter: /private"
	p.DueAt, p.FRMax, p.Rule, p.Wanted = at+5000, 17, models.RuleHint, 36*time.Hour+time.Nanosecond
	p.Stats = models.ChangeStats{Records: 45, Changes: 10, Bits: 0xF00000000000000F, FirstAt: 1, VisitedAt: at, ChangedAt: at - 9}
	p.TriedAt, p.Failures, p.Class = at, 4, models.ServerError
	p.MissingSince, p.MissingVisits, p.FreshUntil = at-7, 2, at+99
	p.RedirectTo, p.Chain = "https://b.example/ü", []int64{1, 9007199254740993, 3}
	p.Version, p.ETag, p.LastModified = 12, `W/"x"`, "Mon, 05 Jan 2026 12:00:00 GMT"
	p.Digest, p.TextDigest = models.DigestOf([]byte("body")), models.DigestOf([]byte("text"))
	p.ContentType, p.Bytes, p.DuplicateOf, p.NoArchive = "text/html", 1<<40, "https://b.example/", true
	p.Children, p.FullAt, p.Threshold, p.Skips = 500, at-3, 400, 2
	p.Evidence = models.Evidence{Changes: -0.25, Days: 41.6}
	p.Print, p.Canonical = models.Print{15: 1}, "https://b.example/canonical"
	p.ByteChanges, p.BytesAt, p.LinkPrint = 44, at-2, -1<<63
	return p
}

func pageReadsBack(w *world) {
	w.add("a.example", 2)
	l := w.claimOne(2)
	r := w.visited(l, 0)
	r.Page = fullPage(r.Page, models.At(w.now))
	r.Version = &models.Version{Number: 12, At: models.At(w.now), Status: 200, Digest: r.Page.Digest, Bytes: 4,
		ContentType: "text/html", ETag: r.Page.ETag, LastModified: r.Page.LastModified, Significant: true,
		Significance: 0.7, Reasons: models.ReasonText | models.ReasonBytes,
		Record: models.Record{File: "00001.warc.gz", Offset: 1 << 33, Length: 99}}
	e := event(r, models.EventChanged)
	e.Version, e.Previous, e.NotBefore, e.NotAfter, e.Status = 12, 11, 5, 6, 200
	e.ContentType, e.LastModified, e.Digest, e.Bytes = "text/html", r.Page.LastModified, r.Page.Digest, 4
	e.RedirectTo, e.Record = "https://b.example/", r.Version.Record
	e.Significance, e.Reasons, e.Note = 0.7, models.ReasonBytes, "menu"
	r.Events = []models.Event{e}
	w.mustCommit(r)

	d := w.dump()
	if diff := cmp.Diff(r.Page, w.page("a.example", pageNumber(r.Page.URL))); diff != "" {
		w.Errorf("page (-written +read):\n%s", diff)
	}
	wantVersion, wantVisit := *r.Version, r.Visit
	wantVersion.Bucket, wantVersion.PageID = r.Page.Bucket, r.Page.ID
	wantVisit.Bucket, wantVisit.PageID = r.Page.Bucket, r.Page.ID
	e.Bucket, e.Seq, e.Mark = r.Page.Bucket, 1, d.Events[0].Mark
	if diff := cmp.Diff([]models.Version{wantVersion}, d.Versions); diff != "" {
		w.Errorf("versions (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff([]models.Visit{wantVisit}, d.Visits); diff != "" {
		w.Errorf("visits (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff([]models.Event{e}, d.Events); diff != "" {
		w.Errorf("events (-written +read):\n%s", diff)
	}
}

// pageNumber is n of pageURL(host, n), for n below 10.
func pageNumber(url string) int { return int(url[len(url)-1] - '0') }

func commitIsIdempotent(w *world) {
	w.add("a.example", 1)
	l := w.claimOne(1)
	r := w.visited(l, 0)
	r.Events = []models.Event{event(r, models.EventNew)}
	r.Version = &models.Version{Number: 1, At: r.Visit.At, ContentType: "text/html"}
	r.Discovered = []models.Discovery{found("a.example", 1)}
	r.Links, r.LinksKnown = []models.Link{{ChildBucket: 1, ChildID: 2}}, true
	w.mustCommit(r)
	before := w.dump()
	w.mustCommit(r)
	w.mustCommit(r, r)
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		w.Errorf("committed again (-before +after):\n%s", diff)
	}

	// The worker did not learn of the commit, and somebody else has the host by now.
	w.claimOne(1)
	if verdicts := w.commit(r); !errors.Is(verdicts[0], models.ErrLeaseLost) {
		w.Errorf("committed again after the next claim: %v, want %v", verdicts[0], models.ErrLeaseLost)
	}
}

// twoResultsOfOnePage: robots.txt was asked for, then the page.
func twoResultsOfOnePage(w *world) {
	w.add("a.example", 1)
	l := w.claimOne(1)
	first := w.visited(l, 0)
	first.Release, first.Visit.Kind = false, models.RobotsFetched
	first.Robots = &models.Robots{Origin: "https://a.example", Status: 200}
	l.Pages[0].Page = first.Page
	second := w.visited(l, 0)
	second.Page.ETag = "second"
	w.mustCommit(first, second)
	if p := w.page("a.example", 0); p.ETag != "second" || p.Visits != 2 {
		w.Errorf("page after two results = etag %q, %d visits, want that of the second, 2", p.ETag, p.Visits)
	}
	if n := len(w.dump().Visits); n != 2 {
		w.Errorf("%d visits in the history, want 2", n)
	}
}

func robotsComeWithLease(w *world) {
	w.add("a.example", 1)
	w.add("b.example", 1)
	want := models.Robots{Origin: "https://a.example", Status: 200, Body: []byte("User-agent: *\x00\xff\n"),
		CrawlDelay: 3 * time.Second, FetchedAt: 1, ExpiresAt: 2, GoodAt: 3, LeadsTo: "https://www.a.example/robots.txt", Hops: 2}
	for range 2 {
		for _, l := range w.claim(2, 1) {
			r := w.visited(l, 0)
			if l.Host.Name == "a.example" {
				robots := want
				r.Robots = &robots
				want.Bucket, want.HostID = l.Host.Bucket, l.Host.ID
			}
			w.mustCommit(r)
		}
		w.now = w.now.Add(24 * time.Hour)
		want.Status++
	}
	want.Status--
	for _, l := range w.claim(2, 1) {
		rows := []models.Robots{want}
		if l.Host.Name != "a.example" {
			rows = nil
		}
		if diff := cmp.Diff(rows, l.Robots); diff != "" {
			w.Errorf("robots of %s (-want +got):\n%s", l.Host.Name, diff)
		}
	}
	// No body and an empty one are the same: no rules.
	for _, body := range [][]byte{nil, {}} {
		w.now = w.now.Add(24 * time.Hour)
		for _, l := range w.claim(2, 1) {
			r := w.visited(l, 0)
			r.Robots = &models.Robots{Origin: "https://" + l.Host.Name, Status: 404, Body: body}
			w.mustCommit(r)
		}
		for _, r := range w.dump().Robots {
			if r.Body != nil {
				w.Errorf("robots body written as %#v, read as %#v, want nil", body, r.Body)
			}
		}
	}
}

func contentsAreKept(w *world) {
	w.add("a.example", 2)
	seen, fresh := models.DigestOf([]byte("seen")), models.DigestOf([]byte("fresh"))
	l := w.claimOne(2)
	results := w.visitAll(l)
	for i := range results {
		results[i].Content = &models.Content{Digest: seen, URL: results[i].Page.URL, At: models.At(w.now),
			Record: models.Record{File: "f", Offset: int64(i), Length: 1}}
	}
	w.mustCommit(results...)
	got, err := w.store.Contents(w.Context(), []models.Digest{seen, fresh})
	w.must(err)
	if diff := cmp.Diff(map[models.Digest]models.Content{seen: *results[0].Content}, got); diff != "" {
		w.Errorf("Contents (-want +got):\n%s", diff)
	}
	if none, err := w.store.Contents(w.Context(), nil); len(none) != 0 || err != nil {
		w.Errorf("Contents of nothing = %v, %v, want none", none, err)
	}
}

func textIsCleaned(w *world) {
	bad := "a\x00b\xff\xed\xa0\x80c"
	d := found("a.example", 0)
	d.Page.Note = bad
	w.addPages(d)
	l := w.claimOne(1)
	r := w.visited(l, 0)
	r.Page.ETag, r.Page.ContentType, r.Page.LastModified = bad, bad, bad
	r.Version = &models.Version{Number: 1, ETag: bad, ContentType: bad}
	r.Events = []models.Event{event(r, models.EventNew)}
	r.Events[0].RedirectTo, r.Events[0].Note = bad, bad
	r.Events[0].Significance, r.Version.Significance = float32(math.NaN()), float32(math.Inf(1))
	r.Robots = &models.Robots{Origin: bad, Body: []byte(bad), LeadsTo: bad}
	w.mustCommit(r)
	dump := w.dump()
	p := dump.Pages[0]
	for _, text := range []string{p.Note, p.ETag, p.ContentType, p.LastModified, dump.Versions[0].ETag,
		dump.Events[0].RedirectTo, dump.Events[0].Note, dump.Robots[0].Origin, dump.Robots[0].LeadsTo} {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") || !strings.HasPrefix(text, "a") {
			w.Errorf("text %q was stored as %q", bad, text)
		}
	}
	if e, v := dump.Events[0].Significance, dump.Versions[0].Significance; e != 0 || v != 0 {
		w.Errorf("significances that are none were stored as %v and %v, want 0", e, v)
	}
	if got := string(dump.Robots[0].Body); got != bad {
		w.Errorf("body of robots.txt = %q, want the bytes as they came: %q", got, bad)
	}
}

func dailySums(w *world) {
	w.add("a.example", 7)
	l := w.claimOne(7)
	results := w.visitAll(l)
	results[6].Page.Visits, results[6].Visit = results[6].Page.Visits-1, models.Visit{} // it was put off: no turn, of no day
	results[0].Page.Bytes = 1000
	results[0].Visit.Bytes = 10
	results[1].Visit.Kind, results[1].Visit.Bytes = models.Changed, 500
	results[2].Visit.Kind = models.Skipped
	results[3].Visit.Kind = models.Failed
	results[3].Robots = &models.Robots{Origin: "https://a.example"}
	results[4].Visit.Kind, results[4].Visit.Bytes = models.Noise, 40
	results[5].Visit.Kind, results[5].Visit.Bytes = models.Probed, 3
	w.mustCommit(results[:2]...)
	w.mustCommit(results...) // the first two are known
	want := []models.Daily{{Bucket: l.Host.Bucket, SiteID: 1, Day: models.DayOf(models.At(w.now)), Asked: 4, NotModified: 1,
		Same: 1, Changed: 1, Failed: 1, Robots: 2, Skipped: 1, Bytes: 553, BytesSaved: 1000}}
	if diff := cmp.Diff(want, w.dump().Daily); diff != "" {
		w.Errorf("daily sums (-want +got):\n%s", diff)
	}
}

// dailyLooks: what was found and lost of the pages that there are copies of is among the sums.
func dailyLooks(w *world) {
	w.add("a.example", 3)
	l := w.claimOne(3)
	first := w.visitAll(l)
	for i := range first[:2] {
		first[i].Before = &l.Pages[i].Page
		first[i].Visit.Kind, first[i].Page.State, first[i].Page.Version, first[i].Page.TriedAt = models.First, models.StateLive, 1, models.At(w.now)
	}
	w.mustCommit(first...)
	w.now = w.now.Add(48 * time.Hour)
	l = w.claimOne(3)
	results := w.visitAll(l)
	for i := range results {
		results[i].Before = &l.Pages[i].Page
		if results[i].Visit.Kind = models.Missing; results[i].Before.Version > 0 && i == 0 {
			results[i].Visit.Kind = models.NotModified
		}
	}
	w.mustCommit(results...)
	days, copies := w.dump().Daily, 0
	for _, p := range l.Pages {
		copies += int(p.Version)
	}
	last := days[len(days)-1]
	if copies != 2 || len(days) != 2 || days[0].Found != 2 || days[0].Lost != 0 || last.Found+last.Lost != 2 || last.Lost == 0 {
		w.Errorf("daily sums %+v of %d copies, want two found on the first day, and of these one found or both lost on the next", days, copies)
	}
}
