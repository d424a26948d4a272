package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/robots"
	"recrawld/report"
	"recrawld/scheduler/changerate"
)

// whyCmd says when a page is visited next and why then, or why it is not.
type whyCmd struct {
	URL string `arg:"" help:"The page."`
}

// historyRead is how many visits are read to reckon with, historyShown how many are shown.
const (
	historyRead  = 500
	historyShown = 10
)

// Run implements the command.
func (c whyCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (c whyCmd) read(ctx context.Context, l *look) error {
	page, u, err := l.page(ctx, c.URL)
	if errors.Is(err, models.ErrNotFound) {
		return l.whyUnknown(ctx, u)
	}
	if err != nil {
		return err
	}
	w, err := l.why(ctx, page, u)
	if err != nil {
		return err
	}
	if l.JSON {
		return l.printJSON(w.json(l))
	}
	return w.write(l)
}

// why is all that bears on the next visit of a page.
type why struct {
	page    models.Page
	site    models.Site
	host    models.Host
	share   models.ChildShare
	history []models.Visit // the newest first
	rate    changerate.Rate
	ruling  ruling
	scope   verdict
	robots  verdict
	place   string    // what its host waits for, beyond its own time; "": nothing
	stays   heldNames // for which page of its site it stays although it is not named; the zero value: for none
	slowed  string    // why its host is asked less often than the settings say; "": it is not

	hubs       []shownHub     // that its feed names
	newest     models.Version // the zero Version: there is none
	unmatched  []string       // selectors of the site's settings that match nothing in it, as sentences
	unfollowed bool           // it asks that its links be not followed
}

// verdict is what a rule says about asking for a page.
type verdict struct {
	Keep bool   `json:"allowed"`
	Rule string `json:"rule"`
}

func (l *look) why(ctx context.Context, p models.Page, u canon.URL) (why, error) {
	w := why{page: p}
	for _, row := range l.force.rows {
		if row.ID == p.SiteID {
			w.site = row
		}
	}
	var err error
	if w.host, err = l.store.Host(ctx, p.Bucket, p.HostID); err != nil {
		return w, err
	}
	if w.slowed, err = l.slowed(ctx, w.host, p.SiteID); err != nil {
		return w, err
	}
	w.place = placeWords(w.host, l.force.config.Worker.SlowShare, l.now)
	if w.stays, err = l.stays(ctx, p); err != nil {
		return w, err
	}
	if w.history, err = l.store.History(ctx, p.Bucket, p.ID, 0, historyRead); err != nil {
		return w, err
	}
	if w.share, err = l.store.Share(ctx, p); err != nil {
		return w, err
	}
	if w.robots, err = l.robotsVerdict(ctx, u); err != nil {
		return w, err
	}
	if w.hubs, err = l.hubs(ctx, p.ID); err != nil {
		return w, err
	}
	w.scope = l.scopeVerdict(&p, u)
	w.rate = l.rateOf(p.Stats, w.history)
	w.ruling = ruling{page: p, history: w.history, settings: l.force.config.Site(p.SiteID).Settings, calendar: l.calendar,
		top:   l.force.planner.Ceiling(p.SiteID, l.now),
		cycle: l.force.config.Cycle, now: l.now, budget: l.paysFirst(p.SiteID)}
	if p.DuplicateOf != "" {
		if w.ruling.original, _, err = l.page(ctx, p.DuplicateOf); err != nil && !errors.Is(err, models.ErrNotFound) {
			return w, err
		}
	}
	if err = l.explain(ctx, &w); err != nil || p.Version == 0 {
		return w, err
	}
	if w.newest, err = l.store.Version(ctx, p.Bucket, p.ID, p.Version); errors.Is(err, models.ErrNotFound) {
		return w, nil
	}
	w.unmatched, w.unfollowed = l.unmatchedIn(w.newest, p, u), l.unfollowedIn(w.newest, p, u)
	return w, err
}

// scopeVerdict is what the rules of its site say today about a page.
func (l *look) scopeVerdict(p *models.Page, u canon.URL) verdict {
	_, pages := l.force.site(p.SiteID)
	if pages == nil {
		return verdict{Keep: true, Rule: "its site is not configured any more"}
	}
	v := pages.DecideKnown(u, recrawl.KnownAs(p))
	if v.Keep && p.Requisite && !pages.Decide(u, int(p.Level)).Keep {
		v.Rule = "kept because pages need it to be shown, by " + v.Rule
	}
	return verdict{Keep: v.Keep, Rule: v.Rule}
}

// robotsVerdict is what the robots.txt that we hold says about a URL.
func (l *look) robotsVerdict(ctx context.Context, u canon.URL) (verdict, error) {
	name := u.HostName()
	rows, err := l.store.HostRobots(ctx, models.BucketOf(name), models.HostID(name))
	if err != nil {
		return verdict{}, err
	}
	for _, row := range rows {
		if row.Origin != u.Origin() {
			continue
		}
		return l.readRobots(row, u), nil
	}
	return verdict{Keep: true, Rule: "robots.txt has not been asked for yet"}, nil
}

func (l *look) readRobots(row models.Robots, u canon.URL) verdict {
	since := report.Until(l.now, row.FetchedAt.Time())
	v := robots.Parse(row.Body).Verdict(l.force.config.Agent.Name, u.RequestURI())
	switch {
	case row.LeadsTo != "":
		return verdict{Keep: true, Rule: "robots.txt redirects to " + row.LeadsTo + ", which is asked for next"}
	case row.Class != models.ClassNone && row.GoodAt == 0:
		return verdict{Rule: fmt.Sprintf("robots.txt could not be had (%s, %s), so nothing may be asked for", row.Class, since)}
	case v.Line > 0:
		return verdict{Keep: v.Allowed, Rule: fmt.Sprintf("robots.txt line %d: %s (read %s)", v.Line, v.Text, since)}
	case len(row.Body) == 0:
		return verdict{Keep: true, Rule: fmt.Sprintf("robots.txt has no rules (%s)", since)}
	}
	return verdict{Keep: true, Rule: fmt.Sprintf("no rule of robots.txt matches (read %s)", since)}
}

// rateOf estimates the change rate from the history where it has every record, with the gaps as they were, and else from
// the page's sums.
func (l *look) rateOf(s models.ChangeStats, history []models.Visit) changerate.Rate {
	var seen []changerate.Comparison
	var newer *models.Visit
	records := int32(0)
	for i := range history {
		v := &history[i]
		if !v.Kind.Observed() {
			continue
		}
		records++
		if newer != nil {
			seen = append(seen, changerate.Comparison{Gap: newer.At.Time().Sub(v.At.Time()), Changed: newer.Kind == models.Changed})
		}
		newer = v
	}
	if records < s.Records || len(seen) == 0 {
		return l.rate(s)
	}
	return changerate.Irregular(seen)
}

// next is when the visit can take place: the page's due time, or later where its host must rest.
func (w why) next() time.Time {
	due := w.page.DueAt.Time()
	rest := w.host.BackoffUntil.Time()
	if w.place != "" {
		rest = w.host.OpenAt.Time()
	}
	if w.page.DueAt != 0 && rest.After(due) {
		return rest
	}
	return due
}

// write shows everything to a person.
func (w why) write(l *look) error {
	fmt.Fprintln(l.Stdout, l.style.Bold(l.style.Address(w.page.URL)))
	words := facts{style: l.style}
	w.schedule(l, &words)
	w.seen(l, &words)
	w.rules(l, &words)
	if err := words.write(l.Stdout); err != nil {
		return err
	}
	return w.timeline(l)
}

// schedule says when, and by which rule.
func (w why) schedule(l *look, words *facts) {
	p := w.page
	if p.State != models.StateLive || p.Failures > 0 || p.Note != "" {
		words.add("state", "%s", l.stateWords(p))
	}
	switch {
	case p.DueAt == 0:
		words.add("next", "%s", l.style.Bold("never"))
	case w.site.Paused:
		words.add("next", "%s (recrawld resume %s)", l.style.Bold("not while its site is paused"), w.site.Name)
	case p.State == models.StateExcluded:
		words.add("next", "%s; its rules are looked at again %s", l.style.Bold("not visited"), l.dueMoment(p.DueAt.Time()))
	default:
		words.add("next", "%s", l.style.Bold(l.dueMoment(w.next())))
		words.add("interval", "%s", l.cycles(p))
	}
	words.add("because", "%s", w.ruling.sentence())
	words.add("named", "%s", w.named(l.now))
	words.add("host", "%s", w.hostWords(l))
	words.add("waits", "%s", w.place)
	words.add("slowed", "%s", w.slowed)
}

func (w why) hostWords(l *look) string {
	state, tone := report.HostState(w.host, l.now)
	words := fmt.Sprintf("%s: ", w.host.Name)
	switch state {
	case "back-off":
		return words + l.style.Paint(tone, fmt.Sprintf("rests %s more", report.Span(w.host.BackoffUntil.Time().Sub(l.now)))) +
			fmt.Sprintf(", %s in a row", report.Plural(w.host.Failures, "failure"))
	case "visited":
		return words + "is being visited, by " + w.host.LeaseOwner
	}
	return words + fmt.Sprintf("%s, %s between requests", report.Plural(w.host.Pages, "page"), report.Span(w.host.Delay))
}

// seen says what was learned.
func (w why) seen(l *look, words *facts) {
	p := w.page
	words.add("visited", "%s", l.visitedWords(p))
	if p.Stats.Records > 0 {
		words.add("changed", "%s", l.changesWords(p, w.rate))
		words.add("pattern", "%s", bitsWords(p.Stats))
	}
	if w.bounded() && w.rate.PerDay > 0 && p.DueAt != 0 {
		every := w.gap(l)
		words.add("so", "visited every %s of late, our copy is fresh %.0f %% of the time, out of date by %s on average",
			report.Span(every), 100*changerate.Freshness(w.rate.PerDay, every),
			report.Span(changerate.Age(w.rate.PerDay, every).Round(time.Second)))
	}
	words.add("differs", "%s", w.newestWords(l))
	words.add("selectors", "%s", strings.Join(w.unmatched, "; "))
	words.add("duplicate of", "%s", l.style.Address(p.DuplicateOf))
	words.add("validators", "%s", validatorWords(p))
	words.add("distrusted", "%s", strings.Join(report.Reproaches(w.host, l.now), " "))
	if p.FreshUntil.Time().After(l.now) {
		words.add("promised", "no change until %s (Expires or max-age)", report.Moment(l.now, p.FreshUntil.Time()))
	}
	words.add("children", "%s", l.childrenWords(p, w.share))
	if w.unfollowed {
		words.add("links", "not followed, as the page asks by nofollow in its head or in X-Robots-Tag")
	}
	for i := range w.hubs {
		words.add("hub", "%s", w.hubs[i].words(l.now, l.style))
	}
}

// gap is the mean time between the last records, as far as they go back: what is left of the interval after skipped turns,
// hints, windows and waiting hosts. Without two records it is the interval.
func (w why) gap(l *look) time.Duration {
	var newest, oldest models.Instant
	n := 0
	for _, v := range w.history {
		if n > historyShown {
			break
		}
		if !v.Kind.Observed() {
			continue
		}
		if newest == 0 {
			newest = v.At
		}
		oldest = v.At
		n++
	}
	if n < 2 {
		return l.calendar.Interval(l.now, int(w.page.FRMax))
	}
	return newest.Time().Sub(oldest.Time()) / time.Duration(n-1)
}

// bounded tells whether the rate has bounds on both sides: a page that changed at every visit may change at any rate.
func (w why) bounded() bool { return !math.IsInf(w.rate.High, 1) }

// bitsWords draws the last 64 comparisons, the newest last: a bar where the page differed, a dot where it did not.
func bitsWords(s models.ChangeStats) string {
	n := min(int(s.Records)-1, 64)
	if n < 1 {
		return ""
	}
	var b strings.Builder
	for i := n - 1; i >= 0; i-- {
		if s.Bits>>i&1 == 1 {
			b.WriteRune('█')
		} else {
			b.WriteRune('·')
		}
	}
	return b.String() + " now"
}

// rules says what scope and robots.txt have to say, where they forbid the page or a person would ask.
func (w why) rules(l *look, words *facts) {
	words.add("scope", "%s", w.scope.words(l))
	words.add("robots", "%s", w.robots.words(l))
}

func (v verdict) words(l *look) string {
	if v.Keep {
		return "allowed: " + v.Rule
	}
	return l.style.Paint(report.Bad, "forbidden") + ": " + v.Rule
}

// timeline shows the last visits.
func (w why) timeline(l *look) error {
	if len(w.history) == 0 {
		return nil
	}
	d := report.Document{At: l.now, Columns: []report.Column{
		{Head: "visit", Right: true}, {Head: "when"}, {Head: "outcome"}, {Head: "status", Right: true, Drop: 1},
		{Head: "took", Right: true, Drop: 2}, {Head: "received", Right: true, Drop: 3}, {Head: "fr_max", Right: true}, {Head: "next by"},
	}}
	for _, v := range w.history[:min(len(w.history), historyShown)] {
		outcome := report.Cell{Text: v.Kind.String(), Tone: report.OutcomeTone(v.Kind)}
		if v.Class != models.ClassNone {
			outcome.Text = v.Class.String()
		}
		status, took := report.Cell{}, report.Cell{}
		if v.Status > 0 {
			status.Text = fmt.Sprint(v.Status)
		}
		if v.Took > 0 {
			took.Text = report.Span(v.Took)
		}
		d.Rows = append(d.Rows, report.Row{report.OnlyText(fmt.Sprintf("#%d", v.Number)), report.OnlyText(l.ago(v.At)), outcome, status,
			took, report.BytesCell(v.Bytes), report.OnlyText(fmt.Sprint(v.FRMax)), report.OnlyText(v.Rule.String())})
	}
	if _, err := io.WriteString(l.Stdout, "\n"); err != nil {
		return err
	}
	return report.WriteText(l.Stdout, d, l.style)
}
