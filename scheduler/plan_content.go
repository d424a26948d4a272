package scheduler

import (
	"math"
	"slices"

	"recrawld/config"
	"recrawld/models"
)

// version adds a version and its event where the answer brought bytes that the page did not have. A page that asks not
// to be archived is followed, but its body is not kept.
func (d *draft) version() {
	out := d.out
	if out.Body == nil && out.Digest.IsZero() {
		return
	}
	d.Page.Digest, d.Page.TextDigest, d.Page.LinkPrint = out.Digest, out.TextDigest, out.LinkPrint
	d.Page.Print, d.Page.Canonical = out.Print, out.Canonical
	kind, ok := eventOf[out.Kind]
	again := d.before.Lost && out.Kind == models.SameBytes && out.Body != nil
	switch {
	case again: // the version that is known, whose body goes to the archive once more, and to the sinks that could not have it
		kind = models.EventRefreshed
	case !ok:
		return
	default:
		d.Page.Version++
	}
	d.Regained = d.before.Lost
	d.Page.Bytes = length(out)
	d.Version = &models.Version{
		Bucket: d.Page.Bucket, PageID: d.Page.ID, Number: d.Page.Version, At: models.At(d.now),
		Status: int16(out.Status), Digest: out.Digest, TextDigest: out.TextDigest, Bytes: d.Page.Bytes,
		ContentType: out.ContentType, ETag: out.ETag, LastModified: out.LastModified,
		Significant: !out.Kind.Unchanged(), Significance: out.Significance, Reasons: out.Reasons,
	}
	d.event(kind)
}

// length is that of a body, or what of it came over the wire where it was not handed on.
func length(out *models.Outcome) int64 {
	if out.Body == nil {
		return out.WireBytes
	}
	return int64(len(out.Body))
}

// eventOf says what a new body of that kind is called in the event log.
var eventOf = map[models.OutcomeKind]models.EventKind{
	models.First:    models.EventNew,
	models.Changed:  models.EventChanged,
	models.SameText: models.EventRefreshed,
	models.Noise:    models.EventRefreshed,
}

// happened is the last moment at which the change that the visit found can have happened: the visit itself, unless the date of
// the content is trusted, or its publisher, who is believed, said before that it changed. Either is then when it happened.
func (d *draft) happened(kind models.EventKind) models.Instant {
	now := models.At(d.now)
	if kind != models.EventChanged {
		return now
	}
	if at := models.At(d.dated()); at > d.before.Stats.VisitedAt && at < now {
		return at
	}
	if announced(d.before) && d.Host.Trials.By[models.HintAnnounced].Believed() {
		return min(d.before.AnnouncedAt, now)
	}
	return now
}

// event adds an entry to the log. Pages of which there never was a copy are no news to anybody who follows the copies,
// unless they redirect.
func (d *draft) event(kind models.EventKind) {
	if d.Page.Version == 0 && kind != models.EventMoved {
		return
	}
	d.Events = append(d.Events, models.Event{
		Bucket: d.Page.Bucket, At: models.At(d.now), Kind: kind, SiteID: d.Page.SiteID, PageID: d.Page.ID,
		URL: d.Page.URL, Requisite: d.Page.Requisite, Version: d.Page.Version, Previous: d.before.Version,
		NotBefore: d.before.Stats.VisitedAt, NotAfter: d.happened(kind), Status: int16(d.out.Status),
		ContentType: d.Page.ContentType, LastModified: d.Page.LastModified, Digest: d.Page.Digest,
		Bytes: d.Page.Bytes, RedirectTo: d.Page.RedirectTo, Significance: d.out.Significance, Reasons: d.out.Reasons,
	})
}

// children takes over the links of a page that was parsed: all of them may be new pages, the first ChildrenKept of them
// are remembered as its children. After a full crawl that enough changed children asked for, those of them that were not
// visited since the full crawl before are brought forward.
func (d *draft) children() {
	if !d.out.LinksKnown {
		return
	}
	targets := targetsOf(d.out.Links)
	added := targets
	if aside := func(to target) bool { return to.Aside }; slices.ContainsFunc(targets, aside) {
		added = slices.DeleteFunc(slices.Clone(targets), aside)
	}
	d.discover(added, d.before.Level+1, nil)
	d.LinksKnown = true
	kept := targets[:min(len(targets), d.settings.ChildrenKept)]
	d.Links = make([]models.Link, 0, len(kept))
	for _, to := range kept {
		if to.id != d.Page.ID {
			d.Links = append(d.Links, models.Link{
				Bucket: d.Page.Bucket, ParentID: d.Page.ID, ChildBucket: to.bucket, ChildID: to.id,
			})
		}
	}
	d.Page.Children = int32(len(d.Links))
	d.Page.FullAt = models.At(d.now)
	if d.out.Full {
		d.Forward, d.ForwardOf = models.At(d.now), d.before.FullAt
	}
}

// mostNested is how many levels requisites may lie below the deepest one of links: a style that imports another, which needs a font, is
// three. Styles that import one another without end are a trap.
const mostNested = 10

// RequisiteLevel is the level of what a page on a level needs to be shown: the one below it, also where links end, for what is kept is to be
// kept whole. false: what it needs is too deep to be found.
func RequisiteLevel(of int16, settings *config.Settings) (int16, bool) {
	level := int(of) + 1
	return int16(min(level, math.MaxInt16)), level <= settings.Level+mostNested
}

// requisites takes over what the page needs to be shown, whatever it is itself: a style needs fonts and other styles. They are nobody's
// children.
func (d *draft) requisites() {
	if len(d.out.Requisites) == 0 {
		return
	}
	if level, ok := RequisiteLevel(d.before.Level, d.settings); ok {
		d.require(targetsOf(d.out.Requisites), level, nil)
	}
}

// target is a link with the keys of what it names, which are hashes: each is computed once.
type target struct {
	models.FoundLink
	bucket   int16
	host, id int64
}

func targetsOf(links []models.FoundLink) []target {
	targets := make([]target, len(links))
	for i, l := range links {
		t := target{FoundLink: l, id: models.PageID(l.URL)}
		if i > 0 && l.Host == links[i-1].Host {
			t.bucket, t.host = targets[i-1].bucket, targets[i-1].host
		} else {
			t.bucket, t.host = models.BucketOf(l.Host), models.HostID(l.Host)
		}
		targets[i] = t
	}
	return targets
}

// discover adds what links name as pages due at once, if their level is within the limit. Lists are added at the limit otherwise.
func (d *draft) discover(targets []target, level int16, chain []int64) {
	beyond := int(level) > d.settings.Level
	if beyond {
		targets = slices.DeleteFunc(slices.Clone(targets), func(to target) bool { return !to.List }) // the others are children all the same
		if len(targets) == 0 {
			return
		}
		level = int16(d.settings.Level)
	}
	d.Discovered = nil
	d.find(targets, level, chain, false)
	if beyond {
		d.assign()
	}
}

// assign gives lists that are found beyond the level of a site to another that adds what they name.
func (d *draft) assign() {
	for i := range d.Discovered {
		p := &d.Discovered[i].Page
		if site := d.planner.adderOf(p.URL); site != 0 {
			p.SiteID, p.Level = site, models.ListLevel
		}
	}
}

// require is discover for requisites, which have no such limit. What is discovered as a link is no requisite.
func (d *draft) require(targets []target, level int16, chain []int64) {
	linked := make(map[int64]bool, len(d.Discovered))
	for i := range d.Discovered {
		linked[d.Discovered[i].Page.ID] = true
	}
	d.find(slices.DeleteFunc(targets, func(to target) bool { return linked[to.id] }), level, chain, true)
}

// find adds pages due at once. Lists come before what is due since the budget began its round of all pages: what they name is not
// known before.
func (d *draft) find(targets []target, level int16, chain []int64, requisite bool) {
	d.Discovered = slices.Grow(d.Discovered, len(targets))
	for i := range targets {
		if to := &targets[i]; to.id != d.Page.ID {
			page := newPage(to, d.Page.SiteID, level, d.settings.FR)
			page.DueAt, page.Chain, page.Requisite = models.At(d.now), chain, requisite
			if to.List && d.settings.Lists != config.ListsOff {
				page.Rule, page.DueAt = models.RuleList, models.At(d.now.Add(-d.planner.purses.term(d.Page.SiteID).even))
			}
			d.Discovered = append(d.Discovered, models.Discovery{Page: page, Host: to.Host})
		}
	}
}

// NewPage is a page that nothing is known of yet: the interval it starts with is fr cycles. The caller sets DueAt.
func NewPage(url, host string, siteID int32, level int16, fr int) models.Page {
	return newPage(&targetsOf([]models.FoundLink{{URL: url, Host: host}})[0], siteID, level, fr)
}

func newPage(to *target, siteID int32, level int16, fr int) models.Page {
	return models.Page{
		Bucket: to.bucket, ID: to.id, HostID: to.host, SiteID: siteID, URL: to.URL,
		State: models.StateNew, Level: level, FRMax: int32(fr), Rule: models.RuleStart,
	}
}
