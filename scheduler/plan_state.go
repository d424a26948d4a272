package scheduler

import (
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/load"
)

// failingAfter is how many failures in a row make a page's error state: one event on entering, one on leaving.
const failingAfter = 3

// moved records where the page leads. That it leads there counts as its content: another target is a change, and the
// same one after a passing 404 is not. It is news where the event log last said something else.
func (d *draft) moved() {
	again := d.before.RedirectTo == d.out.RedirectTo
	stands := d.before.State == models.StateMoved || d.before.State == models.StateMissing
	d.record(!again)
	d.answered(models.StateMoved)
	d.Page.RedirectTo = d.out.RedirectTo
	d.Page.FreshUntil = models.At(d.out.FreshUntil)
	if !again || !stands || d.before.Failures >= failingAfter {
		d.event(models.EventMoved)
	}
	d.leads(targetsOf(d.out.Links), append(append([]int64(nil), d.before.Chain...), d.before.ID))
	for i := range d.Discovered {
		d.Discovered[i].Anew = !again
	}
	d.choose()
	d.freeOther()
	d.schedule()
}

// leads takes over where a redirect leads, on the level of the page. What a page needs it needs wherever that lies.
func (d *draft) leads(targets []target, chain []int64) {
	if d.before.Requisite {
		d.require(targets, d.before.Level, chain)
		return
	}
	d.discover(targets, d.before.Level, chain)
}

// missing counts a 404. Its good copy stays; only after enough of them, over enough time, is the page gone. The visits
// that confirm it are spread over that time and teach nothing.
func (d *draft) missing() {
	d.miss()
	since := d.Page.MissingSince.Time()
	visits := int32(d.settings.GoneVisits)
	confirmed := d.Page.MissingVisits >= visits && d.now.Sub(since) >= d.settings.GoneOver
	if confirmed || d.before.State == models.StateGone { // what answered 410 and now 404 is as gone as it was
		if !d.heldBack() {
			d.gone(since)
		}
		return
	}
	gap := d.settings.GoneOver / time.Duration(max(visits-1, 1))
	due := d.now.Add(gap)
	if d.Page.MissingVisits >= visits {
		due = since.Add(d.settings.GoneOver)
	}
	d.due(due, models.RuleMissing)
}

// miss counts a visit that did not find the page.
func (d *draft) miss() {
	d.freeOther()
	d.Page.MissingVisits++
	if d.Page.MissingVisits == 1 {
		d.Page.MissingSince = models.At(d.now)
	}
	if d.before.State != models.StateGone {
		d.Page.State, d.Page.Note = models.StateMissing, d.absence()
		d.Page.Failures, d.Page.Class = 0, models.ClassNone
	}
}

// declaredGone is a 410: the server says itself that the page is gone.
func (d *draft) declaredGone() {
	d.miss()
	if !d.heldBack() {
		d.gone(d.Page.MissingSince.Time())
	}
}

// gone keeps the last good copy and looks again only rarely, and ever more so.
func (d *draft) gone(since time.Time) {
	known := d.before.State == models.StateGone
	d.Page.State = models.StateGone
	d.Page.Failures, d.Page.Class = 0, models.ClassNone
	if !known || d.before.Failures > 0 { // a failure in between wrote its own note
		d.Page.Note = d.absence() + " since " + since.UTC().Format(time.DateTime)
	}
	if !known {
		d.event(models.EventGone)
	}
	d.due(d.planner.goneUntil(&d.Page, d.settings, d.now), models.RuleGone)
}

// What is gone is looked at after half the time for which it has been gone, at most after a year: a site whose pages come and go has more of them each
// year, for ever, and its budget has not. One that comes back is found as late, by half of the time that it was gone.
const (
	goneShare   = 2
	goneLongest = 366 * 24 * time.Hour
)

// goneUntil is when a page that is gone and was looked at then is looked at again.
func (p *Planner) goneUntil(page *models.Page, s *config.Settings, looked time.Time) time.Time {
	wait := min(looked.Sub(page.MissingSince.Time())/goneShare, goneLongest)
	cycles := max(s.FRMax, int(wait/max(p.calendar.Mean(looked, 1, 0), time.Second)))
	return p.calendar.Due(looked, cycles, s.Vary, chance(page.ID, page.Visits, useVary))
}

// disbelieves tells whether a page that is gone and due because it was named waits for its time after all: what names pages of its host that are
// not there was found to do so since.
func (p *Planner) disbelieves(h *models.Host, page *models.Page, now time.Time) (deferral, bool) {
	if page.Rule != models.RuleNamed || !page.NamedSince() || !h.Trials.DoubtsNamed(models.At(now)) {
		return deferral{}, false
	}
	until := p.goneUntil(page, p.settings(page.SiteID), page.TriedAt.Time())
	return deferral{until: until, why: "others that were named were not there"}, until.After(now)
}

// absence says how the page is not there: by a status, with status 200 and the host's own page for that, or by a redirect.
func (d *draft) absence() string {
	switch {
	case d.out.Kind == models.Moved:
		return "redirects to " + d.out.RedirectTo + ", as a page does that is lost"
	case d.out.Status == 200:
		return d.out.Detail
	case d.out.Status == 410:
		return "answers 410 Gone"
	}
	return "answers 404 Not Found"
}

// excluded keeps what we have and asks no more; the rules are looked at again as rarely as the ceiling allows.
func (d *draft) excluded() {
	if d.before.GivenUp() {
		d.givenUp()
		return
	}
	d.Page.State = models.StateExcluded
	d.Page.Failures, d.Page.Class = 0, models.ClassNone
	d.Page.Note = d.out.Detail
	if d.before.State != models.StateExcluded {
		d.event(models.EventExcluded)
	}
	if d.out.Aside {
		d.discover(targetsOf(d.out.Links), d.before.Level, nil) // what stands for it
		d.seldom(models.RuleExcluded)
		return
	}
	d.rarely(models.RuleExcluded)
}

// asideFor is how long a page that is left aside waits for its next look at most: so its family is seen to be left aside no more, and soon after the
// others of it are asked for.
const asideFor = 7 * 24 * time.Hour

// seldom is rarely for what is left aside.
func (d *draft) seldom(rule models.Rule) {
	n := min(d.planner.calendar.CyclesUntil(d.now, d.now.Add(asideFor)), d.settings.FRMax)
	d.due(d.planner.calendar.Due(d.now, max(n, 1), d.settings.Vary, d.chance(useVary)), rule)
}

func (d *draft) rarely(rule models.Rule) {
	d.due(d.planner.calendar.Due(d.now, d.settings.FRMax, d.settings.Vary, d.chance(useVary)), rule)
}

// failed moves the page on its own error clock: the learned rate, fr_max and the copy stay as they are. What came with
// status 200 and without the page's content (ErrorClass.Transient) is such a failure too: the page's row says so at once,
// the event log after failingAfter of them, as of every other failure.
func (d *draft) failed() {
	class := d.out.Class
	if class.Ours() {
		wait := time.Minute
		switch class {
		case models.OwnPanic:
			wait = time.Hour // a bug does not mend itself, and the site is asked each time
		case models.OwnRules:
			wait = 10 * time.Minute // somebody has to mend it
		}
		d.due(d.now.Add(backoff(1, wait, 0, d.chance(useBackoff))), models.RuleBackoff)
		return
	}
	d.Page.Failures++
	d.Page.Class = class
	d.Page.Note = d.out.Detail
	if d.Page.Failures == failingAfter && d.Page.State != models.StateGone && d.Page.State != models.StateExcluded {
		d.event(models.EventFailing)
	}
	d.turnedRound()
	first, longest := FirstRetry(class), d.planner.calendar.Interval(d.now, d.settings.FRMax)
	if class.Transient() {
		longest = min(longest, max(d.pace(), soonest))
		if d.before.Version == 0 { // there is no copy that a reader waits for to be right again
			first = max(first, soonest)
		}
	}
	next := d.now.Add(backoff(d.Page.Failures, first, longest, d.chance(useBackoff)))
	if d.out.Until.After(d.now) {
		next = earlier(next, later(d.out.Until.Add(time.Minute), d.now.Add(first)))
	}
	d.due(next, models.RuleBackoff)
}

// soonest is how often a page that answers without its content is asked for at most once some retries brought nothing.
const soonest = time.Hour

// pace is the interval at which a page is visited where nothing is wrong with it. One that answers without its content is asked for no less
// often than that: what stands in its place must be seen to stand, and the host bears it. One that never showed anything is asked no more often than its
// budget pays for all pages alike: of a forum whose profiles only members see these would have many times their share.
func (d *draft) pace() time.Duration {
	if d.before.Wanted > 0 {
		return d.before.Wanted
	}
	every := d.planner.calendar.Interval(d.now, max(int(d.before.FRMax), 1))
	if d.before.Version == 0 {
		every = max(every, d.planner.purses.term(d.Page.SiteID).even)
	}
	return every
}

// FirstRetry is how long after its first failure of a class a page is tried again, at the latest. An error page and a shell without content pass as an error of
// the server does; a log-in form and a block page stay, as a refusal does, and asking again soon makes a block worse; a cache that is behind others
// keeps what it has for hours, and what it has is the older copy. An address that is not
// dialled costs nobody anything, and somebody may just be allowing it.
func FirstRetry(class models.ErrorClass) time.Duration {
	switch class {
	case models.Refused, models.RedirectLoop, models.RedirectTooMany, models.RedirectBlocked, models.BodyTooLarge, models.TLSCertificate, models.LoginWall, models.BlockPage, models.OlderCopy:
		return 6 * time.Hour // these rarely mend themselves within the hour
	}
	return 15 * time.Minute
}

// backoff doubles from first with each failure in a row, to at most longest (but never under first), less up to a
// quarter by u so that what failed together does not come back together, and up to an eighth once that is longest: it is spread by then,
// and a page whose pace that is shall be asked hardly more often than always.
func backoff(failures int32, first, longest time.Duration, u float64) time.Duration {
	wait := first
	for i := int32(1); i < failures && wait < longest; i++ {
		wait *= 2
	}
	wait = max(min(wait, longest), first)
	share := 4.0
	if wait == longest {
		share = 8
	}
	return wait - time.Duration(u*float64(wait)/share)
}

// resumeHeard is how long a worker may take to hear of a resume.
const resumeHeard = 10 * time.Second

// deferred waits for the window to open, or for the site to be resumed (which makes its pages due at once: a
// page that comes so while we know of no resume is looked at again soon, lest the resume be lost on it), or for what pays for
// it. A page that came before it was due stays due then; where that was no use, its host is not asked for such a page again
// before its next visit.
func (d *draft) deferred() {
	if d.out.HostWaits {
		d.Host.OpenAt = max(d.Host.OpenAt, models.NotBefore(d.out.Until))
		return
	}
	early := d.before.DueAt.Time().After(d.now)
	if early {
		d.Host.Ahead = d.Host.Ahead && !d.out.Until.IsZero()
	}
	if d.planner.paused[d.Page.SiteID] {
		wait := d.planner.calendar.Interval(d.now, 1)
		if d.before.Rule == models.RuleManual || d.before.Rule == models.RuleResumed {
			wait = min(wait, resumeHeard)
		}
		d.due(d.now.Add(wait), models.RulePaused)
		d.Page.Rule = models.RulePaused
		return
	}
	if early && !d.out.Gathers {
		return
	}
	switch until := d.out.Until; {
	case until.IsZero():
		d.outside(d.now)
	case d.before.Rule == models.RuleBudget && d.out.Spent && !Allowed(d.settings.Windows, until):
		d.outside(until)
	case d.before.State == models.StateGone:
		d.due(until, models.RuleGone)
	default:
		d.due(until, models.RulePolicy)
	}
	if d.out.Spent {
		d.Page.Rule = models.RuleBudget // also where that lies in another window: it is paid for
	}
}

// outside makes a page that waited until a moment outside its site's windows due when one opens, in its turn.
func (d *draft) outside(at time.Time) {
	due := InTurn(d.settings.Windows, d.Page.HostID, waitsSince(d.settings.Windows, d.before), at, 0)
	d.Page.DueAt = models.At(later(due, d.now.Add(time.Millisecond)))
	d.Page.Rule = models.RuleWindow
	if keptInWindow(d.before.Rule) {
		d.Page.Rule = d.before.Rule
	}
}

// host moves the host's politeness and error clock on.
func (d *draft) host() {
	h, out := &d.Host, d.out
	if out.Kind != models.Deferred {
		h.Ahead = d.planner.early(d.settings)
	}
	if out.Sent > 0 || out.Delay > 0 { // otherwise nobody looked at what robots.txt asks for
		rule := DelayRule(d.settings, out.Delay)
		fresh := !h.BackoffUntil.Time().After(visitedAt(out, d.now))
		h.Trials.Load = load.Next(h.Trials.Load, out, fresh, rule)
		h.Delay = load.Delay(h.Trials.Load, rule)
	}
	if out.Sent > 0 {
		h.OpenAt = max(h.OpenAt, opensAfter(d.now, h.Delay))
	}
	switch {
	case out.Kind == models.Failed && out.Class.HostWide():
		h.Failures++
		h.BackoffUntil = models.NotBefore(d.now.Add(hostBackoff(out.Class, h.Failures, h.Delay, d.chance(useBackoff))))
	case h.BackoffUntil.Time().After(visitedAt(out, d.now)):
		// The host asked for rest while this request was under way: its answer ends nothing.
	case out.Kind.Asked() && !out.Class.Ours():
		h.Failures, h.BackoffUntil = 0, 0
	}
	if wait := out.RetryAfter; !wait.IsZero() {
		h.BackoffUntil = max(h.BackoffUntil, models.NotBefore(earlier(wait, d.now.Add(d.settings.RetryMax))))
	}
}

// DelayRule is what bounds the delay of a host under the settings of a site; asked is what robots.txt asks for. Whoever
// grants a site several requests at a time grants it as many times the load.
func DelayRule(s *config.Settings, asked time.Duration) load.Rule {
	return load.Rule{Base: max(s.Delay, asked), Longest: s.DelayMax, Factor: s.DelayFactor / float64(max(s.Concurrency, 1))}
}

// hostBackoff is how long a whole host rests after so many host-wide failures in a row. A name that does not exist
// rests an hour, a day, a week; a host that says it is overloaded rests a minute and doubles; the others get three quick
// tries, since one bad page looks like a bad host at first.
func hostBackoff(class models.ErrorClass, failures int32, delay time.Duration, u float64) time.Duration {
	switch class {
	case models.DNSNotFound:
		steps := []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}
		return backoff(1, steps[min(int(failures), len(steps))-1], 0, u)
	case models.TooManyRequests:
		return max(delay, backoff(failures, time.Minute, 6*time.Hour, u))
	case models.RobotsUnreachable:
		return max(delay, backoff(failures, 10*time.Minute, 12*time.Hour, u))
	}
	if failures <= 3 {
		return delay * time.Duration(failures)
	}
	return max(delay, backoff(failures-3, time.Minute, 6*time.Hour, u))
}
