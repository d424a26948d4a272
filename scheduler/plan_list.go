package scheduler

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/scheduler/policy"
)

// A list, a sitemap or a feed, is a page like others, and what it says is worth more than itself: one visit may tell which of
// thousands of pages changed. How far it is believed is the ledger's to say (models.HintSitemap), host by host: a page that is
// visited after it was told of has changed, a hit, or not, a false alarm.

// How many pages a reading of a list brings forward, or marks.
const (
	listSample  = 5 // while it has not been right so often yet, or a third of the time wrong: so many tell whether it is
	listDoubted = 1 // where it is not believed: it shows whether it is right again
	listGrown   = 4 // a list is believed in so many times as many pages as it was right about,
	listQuarter = 4 // or in a quarter of the host's pages, whichever is more
)

// named adds the lists that a robots.txt names, or that are there though none does.
func (d *draft) named() {
	if givesTurn(d.out.Kind) && len(d.out.Links) > 0 {
		d.discover(targetsOf(d.out.Links), models.ListLevel, nil)
	}
}

// adder is a site that adds what the lists of its host name, and the directory that it starts in.
type adder struct {
	directory string
	site      int32
}

// directoryOf is a URL up to the last slash of its path.
func directoryOf(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// adderOf is the first site that adds what a list names: it starts where the list is, or above. 0: there is none.
func (p *Planner) adderOf(url string) int32 {
	for _, a := range p.adders {
		if strings.HasPrefix(url, a.directory) {
			return a.site
		}
	}
	return 0
}

// passOn gives a list beyond the level of its site, from which nothing is added, to a site that adds what it names, as one that was set up since. It is
// read at once then, as if it never was.
func (d *draft) passOn() {
	if d.Page.Entries == 0 || int(d.before.Level) < d.settings.Level {
		return
	}
	site := d.planner.adderOf(d.Page.URL)
	if site == 0 || site == d.Page.SiteID {
		return
	}
	d.Page.SiteID, d.Page.Level, d.Page.Entries = site, models.ListLevel, 0
	d.Page.ETag, d.Page.LastModified, d.Page.Digest = "", "", models.Digest{}
	d.Page.Rule, d.Page.DueAt = models.RuleList, models.At(d.now)
}

// listing takes over what a list says: the pages that it names may be new, and those that it tells of are brought forward as
// far as it is believed.
func (d *draft) listing() {
	l := d.out.Listing
	switch {
	case l == nil && (d.out.Kind.OtherBytes() || d.out.Kind == models.First):
		d.Page.Entries = 0
		return
	case l == nil:
		return
	}
	d.Page.Entries = l.Entries
	if l.Named != nil {
		d.Page.Entries = max(int32(len(l.Named)), 1) // as that of a list it is read, though of nothing that is known
	}
	d.discover(targetsOf(d.out.Links), d.before.Level+1, nil)
	if d.Told = slices.Concat(l.Told, l.Gone); len(d.Told) > 0 {
		most, all := believed(&d.Host, models.HintSitemap)
		d.Telling = models.Telling{At: models.At(d.now), Forward: max(most, listDoubted)}
		if all {
			d.Telling.Marked = len(d.Told)
		}
	}
}

// believed is how many pages of a host somebody's word brings forward at a time, and whether he is believed of all others too.
func believed(h *models.Host, by models.Hint) (most int, all bool) {
	t, quarter := &h.Trials.By[by], max(int(h.Pages)/listQuarter, 1)
	switch {
	case t.Doubted():
		return 0, false
	case !t.Believed():
		return min(listSample, quarter), false
	case t.InARow > 0:
		return quarter, false
	}
	return max(quarter, listGrown*int(t.Hits)), true
}

// Announced is how many pages of a host its publisher's word brings forward at a time. It is about few pages mostly, and a sample's
// worth is taken from whoever is believed at all. What is not brought forward is remembered, and shows whether he is right again.
func Announced(h *models.Host) int {
	most, _ := believed(h, models.HintAnnounced)
	if most == 0 {
		return 0
	}
	return max(most, listSample)
}

// told tells whether a list of its host told of the page since it was last visited.
func told(before *models.Page) bool {
	return before.ToldAt > before.Stats.VisitedAt && before.Stats.Records > 0
}

// announced tells whether the page's publisher said that it changed since it was last visited.
func announced(before *models.Page) bool {
	return before.AnnouncedAt > before.Stats.VisitedAt && before.Stats.Records > 0
}

// heard tells whether a page is due because it was said for sure to have changed since its last visit, or was due already then. A cache that
// answered in between with what it had does not end that.
func heard(p *models.Page) bool {
	again := p.Rule == models.RuleStale
	return told(p) && (p.Rule == models.RuleSitemap || again || p.DueAt <= p.ToldAt) || (p.Rule == models.RuleAnnounced || again) && announced(p)
}

// ofTold is what a visit shows of the lists of its host: whether a page that they told of has changed, or that they said
// nothing of a change, although they told of the page before.
func (d *draft) ofTold() (models.Verdict, bool) {
	switch {
	case told(d.before) && d.differs():
		return models.HintHit, true
	case told(d.before) && d.out.Kind.Unchanged():
		return models.HintFalseAlarm, true
	case d.before.ToldAt != 0 && d.out.Kind == models.Changed && d.before.Rule != models.RuleSitemap:
		return models.HintMiss, true
	}
	return 0, false
}

// ofAnnounced is what a visit shows of the word of its page's publisher, likewise. A page that is back has changed; one that is not
// there, as before, or leads where it did, has not. What was said of one that is not there counts for one visit, which says no more of
// its content than those before.
func (d *draft) ofAnnounced() (models.Verdict, bool) {
	lost, said, kind := d.before.State == models.StateMissing || d.before.State == models.StateGone, announced(d.before), d.out.Kind
	if lost {
		said = d.before.AnnouncedAt > max(d.before.Stats.VisitedAt, d.before.TriedAt)
	}
	switch {
	case said && (d.differs() || lost && kind.Observed()):
		return models.HintHit, true
	case said && (kind.Unchanged() || kind == models.Moved || lost && (kind == models.Missing || kind == models.Gone)):
		return models.HintFalseAlarm, true
	case d.before.AnnouncedAt != 0 && kind == models.Changed && !announced(d.before) && d.before.Rule != models.RuleAnnounced:
		return models.HintMiss, true
	}
	return 0, false
}

// ofNamed is what a visit shows of what named its page, which was gone, and had not before: whether it is there.
func (d *draft) ofNamed() (models.Verdict, bool) {
	kind, class := d.out.Kind, d.out.Class
	refused := kind == models.Failed && !class.HostWide() && !class.Ours()
	switch {
	case !d.before.NamedSince():
	case kind.Observed():
		return models.HintHit, true
	case kind == models.Missing, kind == models.Gone, kind == models.Moved, refused:
		return models.HintFalseAlarm, true
	}
	return 0, false
}

// differs tells whether the visit found that the page has changed, moved or gone.
func (d *draft) differs() bool {
	there := d.before.State != models.StateMissing && d.before.State != models.StateGone
	kind := d.out.Kind
	return kind == models.Changed || there && (kind == models.Gone || kind == models.Missing) ||
		kind == models.Moved && d.before.RedirectTo != d.out.RedirectTo
}

// How often the policy adaptive has a list read. It counts a page's own changes, and of a page that changes all the time it
// expects nothing: no copy of it stays fresh. But a list is not read for its own sake.
const (
	listShare = 4 // the visits to a list are at most so many times fewer than those to the pages that it names
	listDoubt = 8 // and so many times fewer again where it is not believed
)

// reread sets the interval of a list under the policy adaptive: the shortest that its pages pay for after it said something
// new, twice the last one after it did not. Under other policies a list is a page like any other.
func (d *draft) reread() {
	if d.settings.Policy != policy.AdaptiveName {
		return
	}
	if d.Page.Entries == 0 {
		if every, leads := d.planner.leadEvery(&d.Page, d.now); leads && every < d.every {
			d.every, d.list = every, true
		}
		return
	}
	names := d.Page.Entries
	if l := d.out.Listing; l != nil && l.Index {
		names = max(names, d.Host.Pages)
	}
	shortest := d.planner.calendar.Interval(d.now, 1)
	even := cmp.Or(d.planner.purses.term(d.Page.SiteID).even, guess)
	every := max(shortest, listShare*min(even/time.Duration(names), longest/listShare), d.pays(float64(names)/even.Hours()*24))
	if d.Host.Trials.By[models.HintSitemap].Doubted() {
		every = listDoubt * min(every, longest/listDoubt)
	}
	if !d.said() {
		every = max(every, 2*d.before.Wanted)
	}
	latest := d.planner.longestFrom(d.now, d.now, d.Page.SiteID)
	if names == 1 && !d.settings.AddsListed(int(d.before.Level)) {
		d.every, d.list = min(every, latest), true // it changes for pages that nobody knows
	} else if every < cmp.Or(d.every, latest) {
		d.every, d.list = every, true
	}
}

// pays is after how long it pays to read a list again that tells of pages at the rate at which it just did, or at which the budget
// visits its pages, most a day, where that is less. 0: it told of nothing.
func (d *draft) pays(most float64) time.Duration {
	told := 0
	if l := d.out.Listing; l != nil {
		told = len(l.Told)
	}
	if told == 0 {
		return 0
	}
	since := max(d.now.Sub(d.before.Stats.VisitedAt.Time()), d.planner.calendar.Interval(d.now, 1))
	perDay := min(float64(told)/since.Hours()*24, most)
	price := d.planner.mind.priceOf(d.planner.question(&d.Page, d.settings, d.now))
	return restock(price, perDay)
}

// restock is after how long it pays to look again where pages wait, so many more a day. A look costs the price p, in page-days, and of a
// pages a day each waits half an interval T for it on average: p/T + a·T/2 a day is least at T = √(2p/a), as with orders of a fixed cost
// (Harris, "How many parts to make at once", Factory 1913).
func restock(price, perDay float64) time.Duration { return span(math.Sqrt(2 * price / perDay)) }

// said tells whether the visit found that a list says something new: where it adds no pages, of those that are known.
func (d *draft) said() bool {
	l := d.out.Listing
	return d.out.Kind == models.First || d.out.Kind == models.Changed && (l == nil || l.Named == nil || len(l.Told) > 0)
}

// onlyKnown leaves of what a list says that adds no pages what it says of those that are known and visited: what is gone, or out of scope, is
// not looked at for it, but for what is gone and may be there again. It needs no lease.
func (w *Worker) onlyKnown(ctx context.Context, host *models.Host, l *models.Listing) {
	if l == nil || len(l.Named) == 0 {
		return
	}
	keys := make([]models.PageKey, len(l.Named))
	for i, id := range l.Named {
		keys[i] = models.PageKey{Bucket: host.Bucket, ID: id}
	}
	known, err := w.Store.Whereabouts(ctx, keys)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("which pages of a list are known cannot be read: it counts as if all were", "host", host.Name, "err", err)
		}
		return
	}
	idle := func(id int64) bool {
		p, found := known[models.PageKey{Bucket: host.Bucket, ID: id}]
		return !found || !p.State.Paid()
	}
	l.Named = slices.DeleteFunc(l.Named, idle)
	for _, t := range l.Told {
		if known[models.PageKey{Bucket: host.Bucket, ID: t.PageID}].State == models.StateGone {
			l.Gone = append(l.Gone, t)
		}
	}
	l.Told = slices.DeleteFunc(l.Told, func(t models.Told) bool { return idle(t.PageID) })
}

// listedAtOnce is how many pages that a list names are added together with the list's visit. More are added before, so many
// in a transaction: whoever waits for the database waits for no more.
const listedAtOnce = 2000

// addListed adds the many pages that lists name. Should the visit itself not be written then, the list is read again, and
// its pages are known.
func (c *committer) addListed(ctx context.Context, batch []*finished) error {
	for _, f := range batch {
		r := &f.result
		most := f.planner.settings(r.Page.SiteID).PagesPerHost
		for f.outcome.Listing != nil && len(r.Discovered) > listedAtOnce {
			slice := r.Discovered[:listedAtOnce]
			err := c.ask(ctx, "add pages of a list", func() error {
				_, err := c.store.AddPages(ctx, c.clock.Now(), slice, most)
				return err
			})
			if err != nil {
				return err
			}
			r.Discovered = r.Discovered[listedAtOnce:]
		}
	}
	return nil
}
