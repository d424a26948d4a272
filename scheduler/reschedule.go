package scheduler

import (
	"fmt"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/policy"
)

// Pacing is what of the settings the due times of waiting pages follow, as text that is the same for the same settings: the cycle, and the
// site's policy, fr_max, windows and, where the policy keeps to it, fr.
func Pacing(cycle string, s *config.Settings) string {
	windows := make([]string, len(s.Windows))
	for i, w := range s.Windows {
		windows[i] = w.String()
	}
	fr := 0
	if s.Policy == "fixed" {
		fr = s.FR
	}
	return fmt.Sprintf("%s %s %d %d %s", strings.TrimSpace(cycle), s.Policy, fr, s.FRMax, strings.Join(windows, ","))
}

// Reschedule is when a waiting page is due by the settings that are in force, where that is another time than the one that it waits for:
// its site's Pacing has changed since its last visit. false: the page stays as it is. It is pure.
//
// Under fixed and classic the page is due as if these settings had planned its last visit. Under adaptive, whose due times come of what
// a visit is worth, it stays where it is within a cycle and the ceiling of its last visit. A time that has passed already is spread
// over the new interval, and none comes later than it would have, lest all that waited for a long cycle come at once: what waits
// for a moment within that interval keeps it, so that a page that was spread is not drawn nearer each time that this is asked again.
//
// A page that is due already, that is asked for, that fails, or that waits for a promise, a list's word or its budget stays.
func (p *Planner) Reschedule(page *models.Page, now time.Time) (models.Due, bool) {
	was := page.DueAt.Time()
	if !waits(page) || !was.After(now) {
		return models.Due{}, false
	}
	s, from := p.settings(page.SiteID), lastTurn(page)
	cycles := p.cyclesOf(page, s, from, now)
	interval := p.calendar.Interval(from, cycles)
	due, wanted := p.calendar.Due(from, cycles, s.Vary, chance(page.ID, page.Visits, useVary)), interval
	if s.Policy == policy.AdaptiveName {
		due = earlier(later(was, from.Add(p.calendar.Interval(from, 1))), from.Add(p.longestFrom(from, now, page.SiteID)))
		wanted = due.Sub(from)
	}
	if page.Skips > 0 { // no skip carries it past the ceiling
		seen := page.Stats.VisitedAt.Time()
		due = earlier(due, seen.Add(p.longestFrom(seen, now, page.SiteID)))
	}
	promise := promised(page, s, due)
	kept := promise.After(due)
	if due = promise; !due.After(now) {
		due = p.overdue(page, s, now, cycles)
	}
	rule, at := page.Rule, InTurn(s.Windows, page.HostID, due, now, chance(page.ID, page.Visits, useWindow))
	switch {
	case kept, !at.Equal(due):
		rule = models.RuleWindow
	case rule == models.RuleWindow, s.Policy != policy.AdaptiveName: // under which alone a list has an interval of its own
		rule = models.RulePolicy
	}
	if page.Skips > 0 {
		wanted = at.Sub(from) // by which lastTurn finds the skipped turn again
	}
	if at.Sub(was).Abs() <= interval/16 && int32(cycles) == page.FRMax {
		return models.Due{}, false
	}
	return models.Due{Bucket: page.Bucket, HostID: page.HostID, PageID: page.ID, Visits: page.Visits, WasDue: page.DueAt,
		DueAt: models.At(at), FRMax: int32(cycles), Wanted: wanted, Rule: rule}, true
}

// promised is the new due time of a page, not before what the server promised where a window, and not that alone, may have set the old one.
func promised(page *models.Page, s *config.Settings, due time.Time) time.Time {
	if page.Rule != models.RuleWindow || page.FreshUntil == 0 || s.HintMax == 0 {
		return due
	}
	most := earlier(page.FreshUntil.Time(), page.Stats.VisitedAt.Time().Add(s.HintMax))
	return later(due, earlier(most, page.DueAt.Time()))
}

// overdue is when a waiting page comes whose time would have passed: when it would have come, or sooner within its interval.
func (p *Planner) overdue(page *models.Page, s *config.Settings, now time.Time, cycles int) time.Time {
	was := page.DueAt.Time()
	if !was.After(now.Add(p.calendar.Interval(now, cycles))) {
		return was
	}
	return earlier(was, p.calendar.Spread(now, cycles, s.Vary, chance(page.ID, page.Visits, useVary)))
}

// waits tells whether a page waits for its turn and for nothing else.
func waits(page *models.Page) bool {
	return (page.State == models.StateLive || page.State == models.StateMoved) && page.Failures == 0 && page.DueAt != 0 && page.Stats.VisitedAt != 0 && !heard(page) &&
		(page.Rule == models.RulePolicy || page.Rule == models.RuleWindow || page.Rule == models.RuleList)
}

// Every is the interval of a page at a time under the settings that are in force; false: it does not wait for its turn alone. It is pure.
func (p *Planner) Every(page *models.Page, now time.Time) (time.Duration, bool) {
	if !waits(page) {
		return 0, false
	}
	from, s := lastTurn(page), p.settings(page.SiteID)
	if s.Policy == policy.AdaptiveName {
		return min(max(page.Wanted, p.calendar.Mean(from, 1, 0)), p.calendar.Mean(from, p.Ceiling(page.SiteID, now), 0)), true
	}
	return p.calendar.Mean(from, p.cyclesOf(page, s, from, now), s.Vary), true
}

// lastTurn is the moment from which a page's interval counts: its last visit, or a turn since at which it was skipped.
func lastTurn(page *models.Page) time.Time {
	visited := page.Stats.VisitedAt.Time()
	if page.Skips > 0 && page.Wanted > 0 {
		return later(visited, page.DueAt.Time().Add(-page.Wanted))
	}
	return visited
}

// cyclesOf is a page's interval in cycles under the settings that are in force.
func (p *Planner) cyclesOf(page *models.Page, s *config.Settings, from, now time.Time) int {
	switch s.Policy {
	case "fixed":
		return policy.Fixed(policy.Input{Start: s.FR, Ceiling: s.FRMax}).FRMax
	case policy.AdaptiveName:
		return policy.Cycles(page.Wanted, p.calendar.Interval(from, 1), p.Ceiling(page.SiteID, now), chance(page.ID, page.Visits, useRound))
	}
	return min(max(int(page.FRMax), 1), s.FRMax)
}
