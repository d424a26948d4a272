package scheduler

import (
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// Planner turns the outcome of a visit into what is to be written. It is pure: the same arguments give the same
// Result, and it may be used by many goroutines. A change of the configuration is a new Planner.
type Planner struct {
	calendar Calendar
	config   *config.Config
	paused   map[int32]bool
	guards   map[int32]SiteGuard
	pageTime time.Duration // the longest of any site
	delay    time.Duration // likewise
	longest  int           // likewise, in cycles: fr_max
	sites    map[int32]*config.Settings
	starts   map[int64]bool // the start pages of the sites, by ID
	adders   []adder        // the sites that add what the lists of their hosts name
	learns   bool           // the policy of a site learns of all pages together
	gathers  bool           // a site keeps what its pages need to be shown

	mind     *Mind   // what the adaptive policy knows
	purses   *purses // the budgets; nil: there are none
	spendAll bool    // every policy may be visited early where the budget has a visit to spare
}

// NewPlanner returns a planner for a valid configuration and the IDs of the sites that are paused.
func NewPlanner(c *config.Config, paused map[int32]bool) (*Planner, error) {
	calendar, err := ParseCycle(c.Cycle)
	if err != nil {
		return nil, err
	}
	p := &Planner{calendar: calendar, config: c, paused: paused, pageTime: PageTime(c), delay: c.Defaults.Delay, longest: c.Defaults.FRMax, mind: NewMind(nil),
		sites: make(map[int32]*config.Settings, len(c.Sites)), starts: make(map[int64]bool, len(c.Sites)), learns: c.Defaults.Policy == policy.AdaptiveName,
		gathers: c.Defaults.KeepsRequisites()}
	for i := range c.Sites {
		s := &c.Sites[i].Settings
		if p.sites[c.Sites[i].ID] == nil {
			p.sites[c.Sites[i].ID] = s
		}
		if s.Level > 0 { // otherwise nothing is followed that it leads to
			p.starts[models.PageID(c.Sites[i].URL)] = true
		}
		if s.AddsListed(models.ListLevel) {
			p.adders = append(p.adders, adder{directoryOf(c.Sites[i].URL), c.Sites[i].ID})
		}
		p.learns = p.learns || s.Policy == policy.AdaptiveName
		p.gathers = p.gathers || s.KeepsRequisites()
		p.delay, p.longest = max(p.delay, s.Delay), max(p.longest, s.FRMax)
	}
	return p, nil
}

// settings are those of a site. There may be thousands of sites, and a visit asks several times.
func (p *Planner) settings(site int32) *config.Settings {
	if s := p.sites[site]; s != nil {
		return s
	}
	return &p.config.Defaults
}

// question is the adaptive policy's about a page.
func (p *Planner) question(page *models.Page, s *config.Settings, now time.Time) question {
	t, top := p.purses.term(page.SiteID), p.Ceiling(page.SiteID, now)
	return question{page: page, settings: s, now: now, cycle: p.calendar.Interval(now, 1), top: top,
		ceiling: p.lasts(top, s, now, now), even: t.even, usual: t.usual, account: t.account}
}

// SpendAll returns a planner under which the whole budget is spent, on the pages that are due first, whatever the policy:
// how policies are compared at one budget.
func (p *Planner) SpendAll() *Planner {
	q := *p
	q.spendAll = true
	return &q
}

// Guard returns a planner that goes by what is known of sites whose pages may be lost at once, by their IDs.
func (p *Planner) Guard(sites map[int32]SiteGuard) *Planner {
	q := *p
	q.guards = sites
	return &q
}

// with is the planner of a worker that knows this, under its budgets.
func (p *Planner) with(m *Mind, money *purses) *Planner {
	q := *p
	q.mind, q.purses = m, money
	return &q
}

// Calendar is the planner's calendar.
func (p *Planner) Calendar() Calendar { return p.calendar }

// hold tells whether a page whose turn has come must wait instead, because its site is paused or now lies outside its
// windows, and why. A page that is lost waits for them also where somebody asked for it: earlier releases made what the archive has lost
// due as if somebody had.
func (p *Planner) hold(page *models.Page, now time.Time) (deferral, bool) {
	switch {
	case p.paused[page.SiteID]:
		return deferral{why: "the site is paused"}, true
	case (page.Rule != models.RuleManual || page.Lost) && !Allowed(p.settings(page.SiteID).Windows, now):
		return deferral{why: "outside the site's time windows", closed: true}, true
	case page.DueAt.Time().After(now) && !p.early(p.settings(page.SiteID)):
		return deferral{why: "not due yet"}, true
	}
	return deferral{}, false
}

// early tells whether the policy lets pages be visited before they are due, where the budget has a visit to spare.
func (p *Planner) early(s *config.Settings) bool {
	return p.spendAll || s.Policy == policy.AdaptiveName
}

// Plan is the decision: the result of a visit to page under lease, at the moment now when the answer was complete. The
// archive records of a new version are not known yet; the committer fills them in.
func (p *Planner) Plan(lease *models.Lease, page models.Page, out *models.Outcome, now time.Time) models.Result {
	var r models.Result
	p.plan(&r, lease, &page, out, now, false)
	return r
}

// plan is Plan into r, which may hold an older result; late tells that the page waited for its host, not for the budget.
func (p *Planner) plan(r *models.Result, lease *models.Lease, page *models.Page, out *models.Outcome, now time.Time, late bool) {
	*r = models.Result{}
	d := draft{Result: r, planner: p, settings: p.settings(page.SiteID), before: page, out: out, now: now, late: late, robots: lease.Robots}
	d.Lease = models.LeaseRef{Bucket: lease.Host.Bucket, HostID: lease.Host.ID, Token: lease.Host.LeaseToken}
	d.Page = *page // one by one: a tuple of such rows is copied twice
	d.Host = lease.Host
	d.Robots = out.Robots
	if out.Kind != models.Deferred { // no turn: nothing happened that a person would look for in the history
		d.Page.Visits++
	}
	if out.Kind.Asked() {
		d.Page.TriedAt = models.At(now)
	}
	d.Memory, d.HostMemory = out.Memory, out.HostMemory
	d.ledger()
	d.named()
	d.retract()
	d.losses()
	d.page()
	d.template()
	d.host()
	if out.Kind == models.Deferred {
		return
	}
	d.Visit = models.Visit{
		Bucket: page.Bucket, PageID: page.ID, Number: d.Page.Visits, At: models.At(visitedAt(out, now)),
		Kind: out.Kind, Class: out.Class, Status: int16(out.Status), Took: out.Took, Bytes: out.Received(),
		FRMax: d.Page.FRMax, Version: d.Page.Version, Rule: d.Page.Rule,
	}
}

func visitedAt(out *models.Outcome, now time.Time) time.Time {
	if out.At.IsZero() {
		return now
	}
	return out.At
}

// draft is a Result in the making: before is the page as it was leased, Page is the page as it shall be.
type draft struct {
	*models.Result
	planner  *Planner
	settings *config.Settings
	before   *models.Page
	out      *models.Outcome
	now      time.Time
	late     bool // the page waited for its host
	robots   []models.Robots
	every    time.Duration // the interval that the policy chose; 0: FRMax cycles
	list     bool          // that is the interval of a list that is read for what it tells
	stray    bool          // the page redirects as those do that are lost

	originalAt models.Instant // when the page of which this is a duplicate was first seen; 0: it is none, or that is not known
}

// page moves the page on by what the visit found.
func (d *draft) page() {
	switch kind := d.out.Kind; {
	case kind.Observed():
		d.observed()
	case d.stray:
		d.strayed()
	case kind == models.Moved:
		d.moved()
	case kind == models.Missing:
		d.missing()
	case kind == models.Gone:
		d.declaredGone()
	case kind == models.Failed:
		d.failed()
	case kind == models.Excluded:
		d.excluded()
	case kind == models.Skipped:
		d.skipped()
	case kind == models.Deferred:
		d.deferred()
	}
	// RobotsFetched, Probed and Interrupted leave the page due as it was.
}

// observed counts a record, takes over what the answer said, and schedules by the policy. What a cache kept too long is no record where it
// is what we have: it says nothing of the page since. Where it is something else, both visits are one.
func (d *draft) observed() {
	behind := d.behind()
	switch {
	case behind:
	case d.repeats():
		d.recorded()
	default:
		d.record(d.out.Kind == models.Changed || d.before.RedirectTo != "")
	}
	d.answered(models.StateLive)
	if d.out.Kind != models.NotModified {
		d.Page.ContentType, d.Page.NoArchive = d.out.ContentType, d.out.NoArchive
	}
	d.Page.ETag, d.Page.LastModified = d.out.ETag, d.out.LastModified
	d.Page.FreshUntil = models.At(d.out.FreshUntil)
	d.version()
	d.otherBytes()
	d.children()
	d.listing()
	d.requisites()
	d.next(behind)
	d.passOn()
}

// skipped puts a parent's turn off by its interval. Skipping never carries a page past the ceiling: a turn
// that would come later comes then, and is not skipped again.
func (d *draft) skipped() {
	d.Page.Skips++
	d.schedule()
	seen := d.Page.Stats.VisitedAt.Time()
	ceiling := seen.Add(d.planner.longestFrom(seen, d.now, d.Page.SiteID))
	if d.Page.DueAt < models.At(ceiling) { // which is cut to milliseconds as that is
		return
	}
	d.Page.Skips = int16(d.settings.Parents.MaxSkips)
	if last := later(ceiling, d.planner.calendar.Due(d.now, 1, 0, 0)); d.Page.DueAt.Time().After(last) {
		d.due(last, models.RulePolicy)
	}
}

// record counts a visit that saw the content.
func (d *draft) record(changed bool) {
	if !d.stillNowhere() {
		d.learn(changed)
	}
	s, at := &d.Page.Stats, models.At(d.now)
	s.Records++
	s.VisitedAt = at
	if s.Records == 1 {
		s.FirstAt = at
		return
	}
	s.Bits <<= 1
	if changed {
		s.Bits |= 1
		s.Changes++
		s.ChangedAt = at
	}
}

// answered ends every error state.
func (d *draft) answered(state models.PageState) {
	wasUp := d.before.State == state && d.before.Failures < failingAfter
	d.Page.State = state
	d.Page.Note, d.Page.RedirectTo = "", ""
	d.Page.Failures, d.Page.Class = 0, models.ClassNone
	d.Page.MissingSince, d.Page.MissingVisits, d.Page.Skips = 0, 0, 0
	if d.out.Threshold != 0 {
		d.Page.Threshold = d.out.Threshold
	}
	if !wasUp && d.before.Version > 0 && d.out.Kind.Unchanged() && !d.out.Kind.OtherBytes() {
		d.event(models.EventRestored)
	}
}

// choose lets the policy set the interval.
func (d *draft) choose() {
	in := policy.Input{
		Stats: d.Page.Stats, FRMax: int(d.Page.FRMax),
		Start: d.settings.FR, Ceiling: d.planner.Ceiling(d.Page.SiteID, d.now), Records: d.settings.Records,
		Cycle: d.planner.calendar.Interval(d.now, 1), Every: d.before.Wanted, Even: d.planner.purses.term(d.Page.SiteID).even,
	}
	if d.settings.Policy == policy.AdaptiveName {
		q := d.planner.question(&d.Page, d.settings, d.now)
		q.robots = robotsShareOf(d.robots, d.Host.Pages, q.even)
		in.Outlook = d.planner.mind.outlook(q)
		in.Outlook.Chance = d.chance(useRound)
	}
	choice := policy.ByName[d.settings.Policy](in)
	d.Page.FRMax, d.every = int32(choice.FRMax), choice.Every
	d.reread()
}

// learn lets the adaptive policy learn from a record, before it is counted.
func (d *draft) learn(changed bool) {
	if d.settings.Policy != policy.AdaptiveName {
		return
	}
	q := d.planner.question(d.before, d.settings, d.now)
	q.length, q.dated, q.told, q.kind = length(d.out), d.dated(), heard(d.before), d.out.Kind
	if pages := d.planner.purses.known(q.payer()); !hasMost(&d.Host, pages) {
		q.spread = pages
	}
	if d.before.Stats.Records > 0 { // a first visit says nothing of the price
		q.lost = d.planner.purses.takeLost(q.payer())
	}
	d.Page.Evidence = d.planner.mind.observed(q, changed, d.late)
}

// dated is when the content that the visit found came to be, as the server says; the zero time where it says nothing, or is
// not trusted. A date that lies only moments before the visit, beside the time since the one before, is held for that of the
// answer's making: such pages would seem to have changed just now, each time.
func (d *draft) dated() time.Time {
	at := d.out.ModifiedAt
	if at.IsZero() || !d.Host.Trials.Trusts(models.HintLastModified) {
		return time.Time{}
	}
	since := d.now.Sub(d.before.Stats.VisitedAt.Time())
	if d.before.Stats.Records == 0 {
		since = justMade * 24 * time.Hour
	}
	if d.now.Sub(at) < since/justMade {
		return time.Time{}
	}
	return at
}
