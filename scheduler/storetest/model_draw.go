package storetest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
)

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

// rarely draws whether something is so, once in so many times.
func rarely(t *rapid.T, times int, what string) bool {
	return rapid.IntRange(1, times).Draw(t, what) == times
}

// drawText draws a text that may need to be cleaned.
func drawText(t *rapid.T, what string) string {
	return rapid.SampledFrom([]string{"", "said", "o\x00d\xffd"}).Draw(t, what)
}

// drawBytes draws what a store does not look into, or nothing.
func drawBytes(t *rapid.T, what string) []byte {
	return rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, what)
}

// fewPages is how many pages a host has at most: few, or what is done to one would seldom meet what was done to it before.
const fewPages = 4

// fewKeys are those of all these pages, of one twice, and of one that there never is.
func fewKeys() (all []models.PageKey) {
	for _, host := range append(sameBucket(2), "a.example") {
		for n := range fewPages + 1 {
			bucket, id := keysOf(host, n)
			all = append(all, models.PageKey{Bucket: bucket, ID: id})
		}
	}
	return append(all, all[0])
}

// drawFound draws a page of a few hosts, most of which share a bucket: a new one, or one of which something is known. Which it is
// follows from its URL: a first visit to a page that goes and is found anew meanwhile is taken for one to that.
func (p *pair) drawFound(t *rapid.T) drawn {
	host := rapid.SampledFrom(append(sameBucket(2), "a.example")).Draw(t, "host")
	n := rapid.IntRange(0, fewPages-1).Draw(t, "page")
	d := found(host, n)
	d.Page.SiteID = p.drawSite(t)
	d.Page.Requisite = rarely(t, 4, "requisite")
	d.Page.Level = int16(n % 3)
	if rapid.Bool().Draw(t, "planned") {
		d.Page.Rule = models.RulePolicy
		d.Page.DueAt = p.drawInstant(t)
	}
	if n >= fewPages/2 {
		d.Page.State, d.Page.Version, d.Page.Stats.FirstAt = models.StateLive, 1, models.At(start)
		d.Page.Stats.VisitedAt, d.Page.Lost = p.drawInstant(t), rapid.Bool().Draw(t, "lost")
	}
	return drawn{d}
}

// drawSite draws the ID of a site, or of one that is not there any more or not yet.
func (p *pair) drawSite(t *rapid.T) int32 {
	return rapid.SampledFrom([]int32{1, 1, 1, 2, 3}).Draw(t, "site")
}

// drawInstant draws a moment around now, or never.
func (p *pair) drawInstant(t *rapid.T) models.Instant {
	if rarely(t, 6, "never") {
		return 0
	}
	return models.At(p.now.Add(time.Duration(rapid.IntRange(-60, 300).Draw(t, "seconds")) * time.Second))
}

// drawResult draws what came of a visit to a page of a lease that began a while ago.
func (p *pair) drawResult(t *rapid.T, l *models.Lease, i int) models.Result {
	ago := time.Duration(max(rapid.IntRange(-60, 60).Draw(t, "ago"), 0)) * time.Second
	w := world{now: p.now.Add(-ago)}
	if tried := l.Pages[i].TriedAt.Time(); tried.After(w.now) {
		w.now = tried
	}
	r := w.visited(*l, i)
	r.Release = rapid.Bool().Draw(t, "release")
	r.Page.DueAt, r.Page.Rule = p.drawInstant(t), drawRule(t)
	p.drawHost(t, &r)
	if rarely(t, 8, "no turn") {
		due, rule := r.Page.DueAt, r.Page.Rule
		r.Page, r.Visit = l.Pages[i].Page, models.Visit{}
		r.Page.DueAt, r.Page.Rule = due, rule
		return r
	}
	r.Visit.Kind = models.OutcomeKind(rapid.Int16Range(1, int16(models.OutcomeKinds())).Draw(t, "kind"))
	r.Visit.Bytes, r.Visit.Rule = rapid.Int64Range(0, 9).Draw(t, "wire"), r.Page.Rule
	if rapid.Bool().Draw(t, "state") {
		p.drawState(t, &r)
	}
	p.drawSeen(t, &r)
	p.drawBody(t, &r)
	for range rapid.IntRange(0, 2).Draw(t, "events") {
		p.serial++
		e := event(r, models.EventChanged)
		e.RedirectTo, e.Note = fmt.Sprint(p.serial), drawText(t, "event")
		r.Events = append(r.Events, e)
	}
	p.drawChildren(t, l.Host.Name, &r)
	return r
}

// drawRule draws what set a due time, most often what a store looks at.
func drawRule(t *rapid.T) models.Rule {
	if rarely(t, 4, "any rule") {
		return models.Rule(rapid.Int16Range(1, int16(models.Rules())).Draw(t, "rule"))
	}
	return rapid.SampledFrom([]models.Rule{models.RulePolicy, models.RulePolicy, models.RuleHint, models.RulePaused, models.RuleGuarded,
		models.RuleAnnounced}).Draw(t, "rule")
}

// drawHost draws what a visit leaves its host as.
func (p *pair) drawHost(t *rapid.T, r *models.Result) {
	r.Host.Delay = time.Duration(rapid.IntRange(0, 12).Draw(t, "delay")) * time.Second
	r.Host.OpenAt = models.At(p.now.Add(r.Host.Delay))
	r.Host.Ahead = rapid.Bool().Draw(t, "ahead")
	r.Host.Failures = rapid.Int32Range(0, 1).Draw(t, "host failures")
	if rarely(t, 4, "found") {
		f := models.Finding{Hint: models.Hint(rapid.IntRange(0, 3).Draw(t, "hint")), Verdict: models.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict"))}
		r.Host.Trials.Note(f, p.now)
	}
	if rarely(t, 4, "vanish") {
		r.Host.Trials.Losses = models.Losses{Since: models.At(p.now), Lost: rapid.Uint32Range(0, 300).Draw(t, "pages lost"), Toward: r.Page.ID}
		r.Host.GuardedAt = models.Instant(rapid.IntRange(0, 1).Draw(t, "guarded")) * models.At(p.now)
	}
	if rarely(t, 5, "backoff") {
		r.Host.BackoffUntil = models.At(p.now.Add(time.Minute))
	}
}

// drawState draws the state of a page after a visit.
func (p *pair) drawState(t *rapid.T, r *models.Result) {
	if rapid.Bool().Draw(t, "not live") {
		r.Page.State = models.PageState(rapid.Int16Range(1, int16(models.StateExcluded)).Draw(t, "state"))
	}
	r.Page.Failures = rapid.Int32Range(0, 1).Draw(t, "failures")
	r.Page.Class = models.ErrorClass(rapid.Int16Range(0, int16(models.ErrorClasses())).Draw(t, "class"))
	r.Page.Note, r.Page.RedirectTo = drawText(t, "note"), drawText(t, "redirect")
	r.Page.MissingVisits, r.Page.MissingSince = r.Page.MissingVisits+1, models.At(p.now)
	r.Page.Chain = rapid.SliceOfN(rapid.Int64(), 0, 2).Draw(t, "chain")
	r.Visit.Class = r.Page.Class
	if rarely(t, 3, "gone") { // and waits for its time, so that who names it has it looked at
		r.Page.State, r.Page.Failures, r.Page.Rule = models.StateGone, 0, models.RuleGone
		r.Page.MissingSince, r.Page.DueAt = models.At(p.now), models.At(p.now.Add(24*time.Hour))
	}
}

// drawSeen draws what a visit saw of its page and of its host beside a new version.
func (p *pair) drawSeen(t *rapid.T, r *models.Result) {
	r.Page.Bytes = rapid.Int64Range(0, 9).Draw(t, "bytes")
	r.Page.Evidence.Days = rapid.Float32().Draw(t, "days")
	r.Page.ETag = drawText(t, "etag")
	r.Page.Importance, r.Page.ToldAt, r.Page.AnnouncedAt, r.Page.UnnamedAt, r.Page.NamedAt = 7, 7, 7, 7, 7 // which no visit writes
	if rarely(t, 4, "learned") {
		r.Knowledge = drawBytes(t, "knowledge")
	}
	if rarely(t, 4, "remembered") {
		r.Memory, r.HostMemory = drawBytes(t, "memory"), drawBytes(t, "host memory")
	}
	if rarely(t, 3, "robots") {
		origin := rapid.SampledFrom([]string{"https://", "http://"}).Draw(t, "scheme") + r.Host.Name
		r.Robots = &models.Robots{Origin: origin, FetchedAt: r.Visit.At, Body: drawBytes(t, "rules"), LeadsTo: drawText(t, "leads to")}
	}
	for range rapid.IntRange(0, 2).Draw(t, "filings") {
		f := models.Filing{Key: rapid.SampledFrom(printKeys).Draw(t, "key"), PageBucket: r.Page.Bucket, PageID: r.Page.ID}
		if rapid.Bool().Draw(t, "filed") {
			r.Filed = append(r.Filed, f)
		} else {
			r.Unfiled = append(r.Unfiled, f)
		}
	}
}

// bodies are the digests of what is drawn as bodies.
func bodies() (all []models.Digest) {
	for n := range byte(2) {
		all = append(all, models.DigestOf([]byte{n}))
	}
	return all
}

// drawBody draws a new version, or the body of one that was lost.
func (p *pair) drawBody(t *rapid.T, r *models.Result) {
	regained := r.Page.Lost && rapid.Bool().Draw(t, "regained")
	if !regained && !rarely(t, 3, "changed") {
		return
	}
	if !regained || rapid.Bool().Draw(t, "another") {
		r.Page.Version++
		r.Page.Stats.ChangedAt = r.Visit.At
	}
	digest := rapid.SampledFrom(bodies()).Draw(t, "body")
	record := models.Record{File: drawText(t, "file"), Offset: int64(r.Visit.At), Length: 9}
	r.Regained = regained
	r.Version = &models.Version{Number: r.Page.Version, At: r.Visit.At, Digest: digest, Record: record}
	r.Content = &models.Content{Digest: digest, Record: record, URL: r.Page.URL, At: r.Visit.At}
}

// drawChildren draws what a page of a host names: links, which bring pages forward, and as a list pages that changed.
func (p *pair) drawChildren(t *rapid.T, host string, r *models.Result) {
	if rapid.Bool().Draw(t, "links") {
		p.drawLinks(t, r)
	}
	if rarely(t, 3, "forward") {
		r.Forward, r.ForwardOf = models.At(p.now), p.drawInstant(t)
	}
	if rarely(t, 3, "duplicates") {
		of := rapid.Custom(p.drawFound).Draw(t, "duplicate")
		row := of.Row(p.now)
		r.Duplicates = append(r.Duplicates, models.Duplicate{Bucket: row.Bucket, PageID: row.ID, DueAt: p.drawInstant(t), Led: rapid.Bool().Draw(t, "led")})
	}
	if !rarely(t, 4, "tells") {
		return
	}
	for n := range fewPages + 1 { // one of them twice
		_, id := keysOf(host, n%fewPages)
		told := models.Told{PageID: id, Since: p.drawInstant(t), Came: rapid.Bool().Draw(t, "came")}
		told.At = told.Since + models.Instant(rapid.IntRange(0, 60_000).Draw(t, "perhaps until"))
		r.Told = append(r.Told, told)
	}
	r.Telling = models.Telling{At: models.At(p.now), Forward: rapid.IntRange(0, 2).Draw(t, "forward"), Marked: rapid.IntRange(0, 2).Draw(t, "marked")}
	r.Page.Entries = int32(len(r.Told))
}

// drawLinks gives a result links, and makes discoveries of some.
func (p *pair) drawLinks(t *rapid.T, r *models.Result) {
	r.LinksKnown = true
	r.Page.FullAt = models.At(p.now)
	for _, d := range discoveries(rapid.SliceOfN(rapid.Custom(p.drawFound), 0, 4).Draw(t, "children")) {
		row := d.Row(p.now)
		r.Links = append(r.Links, models.Link{ChildBucket: row.Bucket, ChildID: row.ID})
		if rapid.Bool().Draw(t, "new") {
			d.Anew = rarely(t, 4, "anew")
			r.Discovered = append(r.Discovered, d)
		}
	}
	r.Page.Children = int32(len(r.Links))
}
