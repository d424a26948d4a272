package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/policy"
)

// ruling is why a page is due when it is, put together for a person. It is pure.
type ruling struct {
	page     models.Page
	history  []models.Visit // the newest first
	settings config.Settings
	top      int // the ceiling in force of what waits by its worth, in cycles
	calendar scheduler.Calendar
	cycle    string
	now      time.Time

	explained *scheduler.Explanation // for the policy adaptive; nil: nothing is known
	original  models.Page            // of which the page is a duplicate; the zero Page: it is none, or that one is not known any more
	budget    string                 // that all visits wait for; "": there is none
}

// sentence says which rule set the due time, with its numbers.
func (r ruling) sentence() string {
	p := r.page
	switch p.Rule {
	case models.RuleStart:
		return r.begins()
	case models.RulePolicy:
		return r.policy() + r.varied()
	case models.RuleHint:
		return fmt.Sprintf("the server promised that it stays as it is until %s (Expires or max-age), which is later than the "+
			"policy asks for (%s; at most %s ahead is believed)", report.Moment(r.now, p.FreshUntil.Time()), report.Span(p.Wanted),
			report.Span(r.settings.HintMax))
	case models.RuleWindow:
		return "moved into a time window of its site (" + windowWords(r.settings.Windows) + "); " + r.policy()
	case models.RuleBackoff:
		return r.backoff()
	case models.RuleHost:
		return "its host rests"
	case models.RuleParent:
		return "a page that links here was read again in full, because enough of the pages it names had changed: this one was " +
			"brought forward with them"
	case models.RuleMissing:
		return r.missing()
	case models.RuleGuarded:
		return fmt.Sprintf("it has not been found since %s (%s: it %s), and would be gone; but so many pages of its site or host are lost at once "+
			"that none counts as gone until they are back, or are seen to come and go as a rule, or somebody says: recrawld approve", report.Moment(r.now, p.MissingSince.Time()),
			report.Plural(p.MissingVisits, "visit"), r.absence())
	case models.RuleApproved:
		return fmt.Sprintf("it has not been found since %s, and somebody approved: it is gone if it is not found now", report.Moment(r.now, p.MissingSince.Time()))
	case models.RuleGone:
		return "it is gone; it is looked at once more every " + r.ceiling() + ", or after half of the time for which it has been gone where that is longer, at most a year" + r.namedInVain()
	case models.RuleExcluded:
		return "it may not be asked for; that is looked at again after " + r.ceiling() + " at most"
	case models.RulePaused:
		return "its site is paused: its turns pass without a visit"
	case models.RuleResumed:
		return "its site is resumed, and was paused when its turn came"
	case models.RuleManual:
		return "somebody asked for it to be visited now"
	case models.RuleLost:
		return "the archive has lost its body, so it is fetched anew, as soon as the budget allows"
	case models.RuleUnnamed:
		return fmt.Sprintf("no page's copy has named it since %s: it is not visited until one does again, or by recrawld visit; its versions stay",
			report.Moment(r.now, p.UnnamedAt.Time()))
	case models.RuleNamed:
		return r.named()
	case models.RuleStale:
		return r.stale()
	case models.RuleAside:
		return "it is one of the pages by which it is known what all of its family do, ask for noindex and nofollow or are other addresses of pages that are visited, so it is looked at once a week at most; noindex: all visits each as any page, and duplicates: off what is known by its canonical page"
	case models.RuleBudget:
		if p.Lost {
			return "the archive has lost its body, so it is fetched anew; " + r.putOff()
		}
		return r.putOff()
	case models.RuleDuplicate:
		return r.duplicate()
	case models.RuleOriginal:
		return r.follows()
	case models.RuleSitemap:
		return fmt.Sprintf("the site's sitemap (or feed) said on %s that it changed", max(p.ToldAt, p.DueAt).Time().UTC().Format(time.DateOnly))
	case models.RuleAnnounced:
		return fmt.Sprintf("its publisher said on %s that it changed (IndexNow or WebSub)", report.Moment(r.now, p.AnnouncedAt.Time()))
	case models.RuleList:
		return r.list()
	}
	return p.Rule.String()
}

// begins says when a new page is visited.
func (r ruling) begins() string {
	waits := "its host has a turn"
	if r.budget != "" {
		waits += " and the budget of " + r.budget + " pays for it, after what was due before it"
	}
	return "it is new and is visited as soon as " + waits + "; it starts with " + r.cycles(r.page.FRMax)
}

// named says who named a page that is due for it.
func (r ruling) named() string {
	if r.page.NamedSince() {
		return fmt.Sprintf("it is gone, and on %s something named it that did not before (a sitemap or feed, a page that links to it, a redirect): it may be there again",
			report.Moment(r.now, r.page.NamedAt.Time()))
	}
	return "a page names it again, which none did for a while"
}

// namedInVain says what came of it that a page which is gone was named, or did not.
func (r ruling) namedInVain() string {
	p := r.page
	switch {
	case p.NamedSince():
		return fmt.Sprintf("; something named it on %s that did not before, which was for nothing too often on its host", report.Moment(r.now, p.NamedAt.Time()))
	case p.NamedAt > p.MissingSince:
		return fmt.Sprintf("; something named it on %s that did not before, and it was not there", report.Moment(r.now, p.NamedAt.Time()))
	}
	return "; sooner once something names it that does not now"
}

// stale says why a page is asked for again that a cache has just answered for.
func (r ruling) stale() string {
	return fmt.Sprintf("a cache answered at %s with what it may not keep that long, and fetches it anew once it was asked: it is asked again",
		report.Moment(r.now, r.page.TriedAt.Time()))
}

// missing says what it takes for a page to be gone that is not found.
func (r ruling) missing() string {
	p := r.page
	words := fmt.Sprintf("it %s, %s since %s; ", r.absence(), times(p.MissingVisits), report.Moment(r.now, p.MissingSince.Time()))
	switch answer := r.absence(); {
	case strings.HasPrefix(answer, "answers 410"):
		return words + "it counts as gone if it does so once more, hours after the first time: it may be one of many that are lost at once"
	case strings.HasPrefix(answer, "redirects"):
		return words + "it counts as moved there if it does so once more, hours after the first time: it may be one of many that are lost at once"
	}
	return words + fmt.Sprintf("it counts as gone after %s over at least %s", report.Plural(r.settings.GoneVisits, "visit"), report.Span(r.settings.GoneOver))
}

// absence is what a page answers that is not found.
func (r ruling) absence() string {
	if r.page.State == models.StateMissing && r.page.Failures == 0 && r.page.Note != "" {
		return r.page.Note
	}
	return "answers 404 Not Found"
}

// varied says how much earlier the visit may be than the interval, which keeps its time of day from being always the same.
func (r ruling) varied() string {
	if r.settings.Vary == 0 || r.settings.Policy != "classic" && r.settings.Policy != "fixed" {
		return ""
	}
	return fmt.Sprintf(", less up to %.0f %% so that the time of day varies", 100*r.settings.Vary)
}

// list says why a sitemap or feed, or a page that is read as one, is read when it is.
func (r ruling) list() string {
	p := r.page
	switch e := r.explained; {
	case p.Stats.Records > 0 && p.Entries == 0 && e != nil && e.Leads > 0:
		return fmt.Sprintf("visits to it lead to a new page every %s that nothing named before, so it is read every %s though it is not worth that itself",
			report.Span(time.Duration(24*float64(time.Hour)/e.Leads)), report.Span(p.Wanted))
	case p.Stats.Records > 0 && p.Entries == 0:
		return fmt.Sprintf("it is where new pages are found, as the start page of its site or because visits to it led to some, so it is read every %s though it is not worth that itself", report.Span(p.Wanted))
	case p.Stats.Records == 0:
		return "it is named as a sitemap or feed, and is read before the new pages that wait"
	case p.Entries == 1 && !r.settings.AddsListed(int(p.Level)):
		return fmt.Sprintf("it is a sitemap or feed that names one of the pages that are visited at most, and is read for these alone: every %s; the longer it says nothing new of them, the less often",
			report.Span(p.Wanted))
	}
	return fmt.Sprintf("it is a sitemap or feed of %s and says which of them changed, so it is read every %s; the longer it says nothing new, the less often",
		report.Plural(p.Entries, "page"), report.Span(p.Wanted))
}

// backoff says why a page that fails is tried again when it is.
func (r ruling) backoff() string {
	p := r.page
	if p.Failures == 0 && len(r.history) > 0 && r.history[0].Class == models.OwnRules {
		return "the daemon may not ask its site: no contact is given (agent.contact or --contact), or the daemon rehearses " +
			"(--speed), which it does on this machine alone; nothing was asked, and it is looked at again in 10 minutes"
	}
	if p.Failures == 0 {
		return "the last visit failed on our own side (disk, memory or network); it is tried again soon and counts for nothing"
	}
	if p.Class.Transient() {
		kept := "the last good version stays"
		if p.Version == 0 || p.Lost {
			kept = "it is not taken for the page yet"
		}
		out := "the state says what is waited for, and recrawld noise --clear takes what stands there for the page at once"
		if p.Class == models.LoginWall && len(r.history) > 0 && r.history[0].Status != http.StatusOK { // it leads to a log-in: nothing stands there
			out = "the state says where it leads"
		}
		return fmt.Sprintf("the last answer was not the page (%s), %s in a row: %s. It is asked again soon at first, then as often as always; %s",
			p.Class, report.Plural(p.Failures, "visit"), kept, out)
	}
	return fmt.Sprintf("the last visit failed (%s), %s in a row; it is tried again after a time that doubles with each failure, "+
		"%s at most, and keeps its interval of %s", p.Class, report.Plural(p.Failures, "failure"),
		report.Span(max(scheduler.FirstRetry(p.Class), r.calendar.Interval(r.now, r.settings.FRMax))), r.cycles(p.FRMax))
}

// duplicate says why a page that is visited under another URL is looked at now and then.
func (r ruling) duplicate() string {
	p, o := r.page, r.original
	next := "; its next visit shows whether it changed, too"
	switch {
	case p.State == models.StateMoved:
		return fmt.Sprintf("it leads to %s, which is visited for both; it is looked at when that one leads elsewhere or is not found, and at least every %s", p.RedirectTo,
			r.ceiling())
	case o.URL == "":
		return fmt.Sprintf("its content was that of %s, which is not known any more; its next visit makes it a page of its own", p.DuplicateOf)
	case o.State != models.StateLive:
		return fmt.Sprintf("its content was that of %s, which is %s by now%s", p.DuplicateOf, o.State, next)
	case o.Stats.ChangedAt > p.Stats.VisitedAt:
		return fmt.Sprintf("its content was that of %s when it was last looked at; that one has changed since, %s%s", p.DuplicateOf,
			report.Moment(r.now, o.Stats.ChangedAt.Time()), next)
	}
	return fmt.Sprintf("its content is that of %s, which is visited for both; it is looked at when that one changes, and at least every %s to see whether that still holds",
		p.DuplicateOf, r.ceiling())
}

// follows says what became of the page of which a page is a duplicate, so that it is visited.
func (r ruling) follows() string {
	p, o := r.page, r.original
	switch {
	case p.State == models.StateMoved:
		return fmt.Sprintf("it led to %s, which leads elsewhere or is not found by now: it may be the page itself", p.RedirectTo)
	case o.URL == "":
		return r.duplicate()
	case o.State != models.StateLive:
		return fmt.Sprintf("its content was that of %s, which is %s by now: it may be a page of its own", p.DuplicateOf, o.State)
	case o.DuplicateOf != "":
		return fmt.Sprintf("its content was that of %s, which is a duplicate itself by now", p.DuplicateOf)
	}
	return fmt.Sprintf("its content was that of %s when it was last looked at; that one has changed since, and its duplicates follow", p.DuplicateOf)
}

// policy says how fr_max came about.
func (r ruling) policy() string {
	p := r.page
	switch r.settings.Policy {
	case "fixed":
		return fmt.Sprintf("fixed: every %s", r.cycles(p.FRMax))
	case policy.AdaptiveName:
		return r.adaptive()
	case "classic":
	default:
		return fmt.Sprintf("%s: every %s", r.settings.Policy, report.Span(p.Wanted))
	}
	c, before, known := r.choice()
	switch {
	case c.X == 0:
		return fmt.Sprintf("%s: nothing to go by yet, so it stays at %s", r.settings.Policy, r.cycles(p.FRMax))
	case !known:
		return fmt.Sprintf("%s: %s, so b = %s; fr_max is %s", r.settings.Policy, records(c), b(c), r.cycles(p.FRMax))
	}
	half := (before + c.B) / 2
	sum := fmt.Sprintf("(%d + %d) / 2 = %d", before, c.B, half)
	if c.FRMax < half {
		sum += fmt.Sprintf(", held at the ceiling of %d", c.FRMax)
	} else if c.FRMax > half {
		sum += ", but at least 1"
	}
	return fmt.Sprintf("%s: %s, b = %s: %s, that is %s", r.settings.Policy, records(c), b(c), sum, r.every(p.FRMax))
}

// records is "20 records looked at, 10 differ".
func records(c policy.Choice) string {
	words := fmt.Sprintf("%d records looked at", c.X)
	if c.X == 1 {
		words = "1 record looked at"
	}
	switch c.Count {
	case 0:
		return words + ", none differs"
	case 1:
		return words + ", 1 differs"
	}
	return fmt.Sprintf("%s, %d differ", words, c.Count)
}

// b is how b was reckoned: "20 / 10 = 2".
func b(c policy.Choice) string {
	if c.Count < 2 {
		return fmt.Sprint(c.B)
	}
	return fmt.Sprintf("%d / %d = %d", c.X, c.Count, c.B)
}

// choice does the policy's arithmetic again for the last record. known tells whether the interval before it is in the
// history and the result is the page's: not so when the settings have changed since or the history was pruned.
func (r ruling) choice() (c policy.Choice, before int, known bool) {
	decide, ok := policy.ByName[r.settings.Policy]
	if !ok || r.settings.Policy != "classic" && r.settings.Policy != "fixed" {
		return c, 0, false // it looks at more than the history has
	}
	before, found := r.before()
	in := policy.Input{Stats: r.page.Stats, FRMax: before, Start: r.settings.FR, Ceiling: r.settings.FRMax, Records: r.settings.Records}
	c = decide(in)
	return c, before, found && c.FRMax == int(r.page.FRMax)
}

// before is fr_max as it was before the last record.
func (r ruling) before() (frMax int, found bool) {
	for i, v := range r.history {
		if !v.Kind.Observed() && v.Kind != models.Moved {
			continue
		}
		if i+1 < len(r.history) {
			return int(r.history[i+1].FRMax), true
		}
		return r.settings.FR, v.Number == 1
	}
	return r.settings.FR, false
}

// cycles is "4 cycles (1 d)".
func (r ruling) cycles(n int32) string {
	return fmt.Sprintf("%s (%s)", report.Plural(n, "cycle"), report.Span(r.calendar.Interval(r.now, int(n))))
}

// every is "2 cycles of 6 h", or with a cron schedule "2 cycles of 0 */6 * * *".
func (r ruling) every(n int32) string {
	cycle := r.cycle
	if d, err := config.ParseDuration(cycle); err == nil {
		cycle = report.Span(d)
	}
	return fmt.Sprintf("%s of %s", report.Plural(n, "cycle"), cycle)
}

// ceiling is the longest that a page waits for another reason than its worth.
func (r ruling) ceiling() string {
	return report.Span(r.calendar.Interval(r.now, r.settings.FRMax))
}

func windowWords(windows []config.Window) string {
	words := make([]string, len(windows))
	for i, w := range windows {
		words[i] = w.String()
	}
	return strings.Join(words, ", ")
}
