package scheduler

import (
	"net/url"
	"strings"
	"time"

	"recrawld/models"
)

// SiteGuard is what is known of a site whose pages may be lost at once: so many that it is more likely its mistake than its will.
type SiteGuard struct {
	Held       bool           // none counts as gone
	ApprovedAt models.Instant // but those that were missing by then
	LossPerDay float64        // the share of its pages that is usually lost in a day
}

// guardSees is how long a page with a copy is missing at least before it counts as gone, or as being where many lead: whoever looks over all
// sites, every hour, has then seen it among the others.
const guardSees = 2 * time.Hour

// fewGone is up to how many pages that a host lost lately a 410 is final at once: who says of one page that it is gone means it, who says so of
// all may have lost his database.
const fewGone = 2

// losses counts what the visit says of the host's pages with a copy, and begins and ends to guard them. All of it lies in the host's row,
// which comes with the lease: it holds from the next visit on, and no visit reads anything for it. Requisites have no say: each release of a
// site may name all of them anew.
func (d *draft) losses() {
	before, kind, l := d.before, d.out.Kind, &d.Host.Trials.Losses
	if before.Requisite || d.settings.GoneGuard == 0 && l.Since == 0 || before.Version == 0 && kind != models.First {
		return
	}
	waited := before.State == models.StateMissing && before.MissingSince >= l.Since
	if l.Since != 0 && (waited || l.SeenAt == 0 || d.now.Sub(before.DueAt.Time()) > lookedLate) {
		l.SeenAt = models.At(d.now)
	}
	d.stray = d.strays()
	if kind.Observed() {
		l.InARow = 0
	}
	was := before.State == models.StateMissing || before.State == models.StateGone
	switch {
	case kind == models.Missing || kind == models.Gone || d.stray:
		if was || d.settings.GoneGuard == 0 {
			return
		}
		d.lose()
	case d.stillNowhere():
		return
	case kind == models.Excluded && waited:
		l.Lost = max(l.Lost, 1) - 1
	case !kind.Observed() && kind != models.Moved || l.Since == 0:
	case was && before.MissingSince >= l.Since:
		l.Lost, l.Found = max(l.Lost, 1)-1, l.Found+1
		if before.State == models.StateGone {
			l.Final = max(l.Final, 1) - 1
		}
	case before.Stats.VisitedAt < l.Since:
		if l.Few() { // not all of them are lost
			d.Host.GuardedAt = 0
		}
		l.Found++
		l.LookDays += d.lookDays()
		if kind == models.First && d.Host.GuardedAt != 0 {
			l.New++
		}
	}
	if kind == models.Moved && before.RedirectTo != d.out.RedirectTo {
		l.Toward, l.From = toward(before.URL, d.out.RedirectTo), before.ID
	}
	d.guardHost()
}

// lose counts a page as lost, after what was counted before where that is long ago or came to nothing.
func (d *draft) lose() {
	l := &d.Host.Trials.Losses
	age := d.now.Sub(l.Since.Time())
	calm := age > 24*time.Hour && (l.Share() < d.lossLimit()/2 || isUsual(l.Share(), d.usualLoss(), d.lossDays()))
	if d.Host.GuardedAt == 0 && (l.Since == 0 || calm || age > models.VanishDays*24*time.Hour) {
		*l = l.Clear()
		l.Since = models.At(d.now)
	}
	if d.Host.GuardedAt != 0 && d.before.Stats.VisitedAt >= d.Host.GuardedAt {
		l.Later++
	}
	l.Lost, l.SeenAt = l.Lost+1, models.At(d.now)
	l.LookDays, l.InARow = l.LookDays+d.lookDays(), l.InARow+1
}

// lookDays is for how many days the look at the page stands.
func (d *draft) lookDays() uint64 {
	return uint64(models.LookDays(d.before.Stats.VisitedAt, models.At(d.now)))
}

// lossLimit is the share of the host's pages from which on too many are lost since the first was, or while it is guarded in a day. What was not
// looked at for longer had as long to be lost.
func (d *draft) lossLimit() float64 {
	days := 1.0
	if d.Host.GuardedAt == 0 {
		days = d.lossDays()
	}
	return models.LossLimit(d.settings.GoneGuard, d.usualLoss(), days)
}

// lossDays is for how many days pages of the host may have been lost that are, those from the first one on or, where it is guarded, up to then.
func (d *draft) lossDays() float64 {
	until := d.now
	if d.Host.GuardedAt != 0 {
		until = d.Host.GuardedAt.Time()
	}
	l := &d.Host.Trials.Losses
	return max(until.Sub(l.Since.Time()).Hours()/24, l.EachLook(), 1)
}

// isUsual tells whether such a share of the pages is no more than may be lost in so many days, given what is in a day as a rule.
func isUsual(share, perDay, days float64) bool { return share < models.LossLimit(0, perDay, days) }

// usualLoss is the share of the host's pages that is lost in a day as a rule, by what is known of the site, and of the host.
func (d *draft) usualLoss() float64 {
	return max(d.planner.guards[d.Page.SiteID].LossPerDay, float64(d.Host.Trials.Losses.Usual))
}

// turned tells whether a host's pages come and go as a rule, so that what it is guarded for is no more than is usual as far as that is known by now, or
// would have gone by now. What is learned of that is kept.
func (d *draft) turned() bool {
	l, days := &d.Host.Trials.Losses, d.lossDays()
	if isUsual(l.AtOnce(), d.usualLoss(), days) {
		return true
	}
	times, held := l.Turned(), d.now.Sub(d.Host.GuardedAt.Time()).Hours()/24
	if times == 0 {
		return false
	}
	perDay := max(l.PerDay(held), float64(l.Usual))
	if !isUsual(l.AtOnce(), perDay, days) {
		if held < models.HeldDays || times < models.HeldTurns && held < models.HeldMost {
			return false
		}
		perDay = max(perDay, models.UsualAtOnce(l.AtOnce(), days))
	}
	l.Usual = float32(min(perDay, 1))
	return true
}

// lookedLate is how late a visit may be for what was not looked at meanwhile to say anything: who stood still saw none of the host's pages.
const lookedLate = 24 * time.Hour

// unseen is for how long none of the pages that are waited for may be looked at while others of the host are: twice as long as any page waits
// for its visit. Then there are none any more: their site was removed.
func (d *draft) unseen() time.Duration {
	return 2*d.planner.calendar.Interval(d.now, d.planner.longest) + lookedLate
}

// wholeHeld is how long the pages of a host that has few are held back without anybody's word: of thousands of such hosts some go every day, and
// nobody approves of each.
const wholeHeld = 30 * 24 * time.Hour

// guardHost begins to guard the host's pages, or ends it. Where all that was held back is back, excluded, removed or approved of, what was lost
// before that is usual from then on.
func (d *draft) guardHost() {
	l, limit := d.Host.Trials.Losses, d.lossLimit()
	switch guarded := d.Host.GuardedAt != 0; {
	case d.settings.GoneGuard == 0 && !guarded:
	case !guarded && (l.Lost >= models.VanishPages && l.Share() >= limit || l.Whole(d.Host.Pages-d.Host.Requisites) && !d.wholeIsUsual()):
		d.Host.GuardedAt, d.Host.Trials.Losses.Later, d.Host.Trials.Losses.New = models.At(d.now), 0, 0
	case guarded && (l.Waiting() == 0 || d.now.Sub(l.SeenAt.Time()) > d.unseen() || d.turned()):
		d.Host.GuardedAt, d.Host.Trials.Losses = 0, d.Host.Trials.Losses.Clear()
	case guarded && l.Share() < limit/2:
		d.Host.GuardedAt = 0
	}
}

// wholeIsUsual tells whether so many are lost in a day as a rule that all of a few pages may well be lost since the first was.
func (d *draft) wholeIsUsual() bool {
	return models.VanishTimes*d.usualLoss()*d.lossDays() > 1
}

// guarded tells whether no page of the site, or of the host, counts as gone.
func (d *draft) guarded() bool {
	return d.settings.GoneGuard > 0 && (d.Host.GuardedAt != 0 || d.planner.guards[d.Page.SiteID].Held)
}

// heldBack leaves a page missing that would be gone, or elsewhere, where there is a copy of it and it is no requisite: until it is sure to have been seen among the
// others, and if it is guarded as long as that is. Then it is visited as often as it was before, and its copy is kept wherever it is, until
// somebody approves or it is found again. The page's own rule tells of that sooner than its site does: what is approved of comes back at
// once, before every worker has heard.
func (d *draft) heldBack() bool {
	if d.before.Requisite {
		return false
	}
	l := &d.Host.Trials.Losses
	if d.Host.GuardedAt != 0 && l.Few() && d.now.Sub(d.Host.GuardedAt.Time()) > wholeHeld {
		d.Host.GuardedAt, *l = 0, l.Clear()
	}
	approved := d.Page.MissingSince <= d.planner.guards[d.Page.SiteID].ApprovedAt || d.before.Rule == models.RuleApproved
	counted := d.Page.MissingSince >= l.Since && l.Waiting() > 0
	seen := d.Page.MissingSince.Time().Add(guardSees)
	switch {
	case d.before.State == models.StateGone || d.before.Version == 0:
		return false
	case d.settings.GoneGuard == 0:
		if counted {
			l.Final++
		}
		return false
	case approved:
		if counted {
			l.Final++
			d.guardHost()
		}
		return false
	case d.guarded():
		d.due(d.planner.calendar.Due(d.now, min(int(d.Page.FRMax), d.settings.FRMax), d.settings.Vary, d.chance(useVary)), models.RuleGuarded)
		d.Page.Rule = models.RuleGuarded // also where that lies in a window: it is what Approve looks for
		return true
	case d.now.Before(seen) && (d.out.Kind != models.Gone || l.Lost > fewGone):
		d.due(seen, models.RuleMissing)
		return true
	}
	if counted {
		l.Final++
	}
	return false
}

// strays tells whether a page with a copy redirects as it does where all pages of a site lead to its front page, a log-in form or whoever
// has bought its name: to a front page that it is not, or where another page of its host led lately, or while the host is down. Where pages
// are moved each leads to another one.
func (d *draft) strays() bool {
	before, to := d.before, d.out.RedirectTo
	live := before.State == models.StateLive || before.State == models.StateMissing
	if d.out.Kind != models.Moved || !live || before.RedirectTo != "" || before.Version == 0 {
		return false
	}
	held, l := before.State == models.StateMissing && d.guarded(), d.Host.Trials.Losses
	return held || d.down() || isFront(to) && !isFront(before.URL) || l.From != before.ID && toward(before.URL, to) == l.Toward
}

// downLately is how long ago the last answer without a page's content may be for the host to be down.
const downLately = 48 * time.Hour

// down tells whether lately a page of the host answered with status 200 without its content, and none has shown its own since: what else such a
// host answers is part of that more likely than it is what the site wants.
func (d *draft) down() bool {
	t := &d.Host.Trials
	return t.AbsentAt > t.ShownAt && d.now.Sub(t.AbsentAt.Time()) < downLately
}

// strayed holds a page back that strays; where it is not held back it is where it leads.
func (d *draft) strayed() {
	d.miss()
	if !d.heldBack() {
		d.moved()
	}
}

// isFront tells whether a canonical URL is that of a front page.
func isFront(raw string) bool {
	_, rest, _ := strings.Cut(raw, "://")
	_, path, _ := strings.Cut(rest, "/")
	return path == ""
}

// toward names where a page leads. That a log-in form is told where its reader came from makes it no other.
func toward(from, to string) int64 {
	_, rest, _ := strings.Cut(from, "://")
	_, path, _ := strings.Cut(rest, "/")
	if form, query, asks := strings.Cut(to, "?"); asks && path != "" {
		if told, err := url.QueryUnescape(query); err == nil && strings.Contains(told, path) {
			to = form
		}
	}
	return models.PageID(to)
}
