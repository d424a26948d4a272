package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/policy"
)

// adaptive says in one sentence how the policy adaptive came to a due time: what was seen, what follows for the rate, and
// what a visit gains beside what it must gain.
func (r ruling) adaptive() string {
	e := r.explained
	if e == nil || e.Bound == scheduler.NothingSeen {
		return "adaptive: nothing to go by yet, so it stays at " + r.cycles(r.page.FRMax)
	}
	return fmt.Sprintf("adaptive: %s, about %s%s%s%s; %s%s", seenWords(e), report.Rate(e.Rate), neighbourWords(e), newsWords(e), hoursWords(e)+toldWords(e),
		worthWords(e), r.boundWords(e))
}

// hoursSure is how likely it must be that a host keeps to hours for that to be said as a fact.
const hoursSure = 0.9

// hoursWords says when most changes of the page's host come, where that is likely.
func hoursWords(e *scheduler.Explanation) string {
	h := e.Hours
	if h.Count == 0 {
		return ""
	}
	days := ""
	if h.Workdays {
		days = " from Monday to Friday"
	}
	perhaps := ""
	if h.Likely < hoursSure {
		perhaps = "perhaps "
	}
	return fmt.Sprintf(", %smostly between %02d:00 and %02d:00 UTC%s, after which it is visited", perhaps, h.From, (h.From+h.Count)%24, days)
}

func seenWords(e *scheduler.Explanation) string {
	return fmt.Sprintf("%s in %s", report.Plural(e.Changes, "change"), report.Plural(e.Visits, "visit"))
}

func neighbourWords(e *scheduler.Explanation) string {
	return fmt.Sprintf(", %s of that by its neighbours", report.Share(int64(math.Round(1000*e.Prior)), 1000))
}

// toldWords says what a visit need not look for.
func toldWords(e *scheduler.Explanation) string {
	if e.Told < 0.005 { // of which nothing worth saying is told
		return ""
	}
	return fmt.Sprintf(", %s of which its host's sitemaps or feeds, or its publisher, tell of: visits look for the others",
		report.Share(int64(math.Round(1000*e.Told)), 1000))
}

// noNews is how far from the usual the neighbours' changes may be without being news.
const noNews = 0.2

func newsWords(e *scheduler.Explanation) string {
	if math.Abs(math.Log(e.News)) < noNews {
		return ""
	}
	return fmt.Sprintf(", which since its last visit changed %s times as much as usual", decimal(e.News))
}

// worthWords says what a visit gains and what it must gain.
func worthWords(e *scheduler.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a visit gains %s of freshness now", report.Span(e.Worth))
	then := report.Span(e.WorthThen)
	switch price := priceWords(e); {
	case then == report.Span(e.Price) && e.WorthThen > e.Worth:
		fmt.Fprintf(&b, ", and when due %s", price)
	case e.WorthThen > e.Worth:
		fmt.Fprintf(&b, ", %s when due; it must gain %s", then, price)
	default:
		fmt.Fprintf(&b, "; it must gain %s", price)
	}
	if e.Importance != 1 {
		fmt.Fprintf(&b, ", all times its importance of %s", decimal(e.Importance))
	}
	return b.String()
}

// priceWords is what a visit must gain, and what sets that.
func priceWords(e *scheduler.Explanation) string {
	if e.Budget.IsZero() {
		return report.Span(e.Price)
	}
	words := fmt.Sprintf("the %s that %s asks for", report.Span(e.Price), budgetOf(e))
	if times := fmt.Sprintf("%.2g", e.Cost); times != "0" && times != "1" {
		words += " what takes " + times + " times the bytes of its usual visits"
	}
	return words
}

func budgetOf(e *scheduler.Explanation) string {
	if e.OwnSite {
		return "its site's budget of " + budgetWords(e.Budget)
	}
	return "the budget of " + budgetWords(e.Budget)
}

// boundWords says what else held the due time, and where it would be by what was learned since it was set.
func (r ruling) boundWords(e *scheduler.Explanation) string {
	interval := r.page.DueAt.Time().Sub(r.page.Stats.VisitedAt.Time())
	switch {
	case e.Bound == scheduler.AtLeast && e.AheadOf.Abs() < interval/8:
		return fmt.Sprintf("; no page is visited twice within a cycle (%s)", report.Span(r.calendar.Mean(r.now, 1, 0)))
	case e.Bound == scheduler.AtMost && e.AheadOf.Abs() < interval/8:
		if r.top > r.settings.FRMax {
			return fmt.Sprintf("; no page waits longer than the budget takes to visit all pages three times (%s)", report.Span(r.calendar.Mean(r.now, r.top, 0)))
		}
		return fmt.Sprintf("; no page waits longer than fr_max allows (%s)", r.ceiling())
	case e.Robots > 0 && e.AheadOf < -interval/16 && r.page.DueAt.Time().Before(e.ValidTo):
		return "; it is visited early, with other pages of its host, while robots.txt is valid"
	case !r.page.DueAt.Time().After(r.now):
		return "; its turn has come, and pages worth more go first"
	case e.Robots > 0 && e.AheadOf > interval/16 && r.page.DueAt.Time().After(e.ValidTo):
		return "; its host must be asked for robots.txt first, so it waits until it and other pages there are worth that request too, or a small budget has some visits saved up"
	case e.AheadOf > interval/4 && e.DueAt.After(r.now):
		return fmt.Sprintf("; by what was learned since, it could come %s sooner", report.Span(e.AheadOf))
	case e.AheadOf > interval/4:
		return "; by what was learned since, it could come now"
	case -e.AheadOf > interval/4:
		return fmt.Sprintf("; by what was learned since, it can wait %s longer", report.Span(-e.AheadOf))
	}
	return ""
}

// putOff says why a page waits for the sake of a budget: its site's is spent, or the visit would have gained too little.
func (r ruling) putOff() string {
	own := r.settings.Budget
	if e := r.explained; e != nil {
		own = config.Budget{}
		if e.OwnSite {
			own = e.Budget
		}
	}
	tooLittle := r.explained != nil && r.explained.Adaptive && (own.IsZero() || r.explained.Worth < r.explained.Price)
	switch {
	case tooLittle:
		return "put off when its turn came, since the budget gains more elsewhere; " + r.policy()
	case !own.IsZero():
		return fmt.Sprintf("put off: its site's budget of %s is spent for now, and its pages wait in line", budgetWords(own))
	}
	return "put off: the budget was spent when its turn came"
}

// budgetWords is a budget as the configuration has it: "2000/day", "0.2/page/day and 2GiB/day".
func budgetWords(b config.Budget) string { return strings.Join(budgetParts(b), " and ") }

// budgetParts are what a budget bounds, each as a configuration has it.
func budgetParts(b config.Budget) []string {
	var words []string
	if b.Requests.PerDay > 0 {
		words = append(words, b.Requests.String())
	}
	if b.Bytes > 0 {
		words = append(words, config.FormatSize(b.Bytes)+"/day")
	}
	return words
}

// decimal writes a factor with two digits that count.
func decimal(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.0f", x)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

// shownAdaptive is the JSON form of an explanation. Gains and prices are in days of freshness of a page of importance 1.
type shownAdaptive struct {
	Changes    int        `json:"changes"`
	Visits     int        `json:"visits"`
	Rate       *shownRate `json:"rate"`
	Prior      float64    `json:"prior_share"`
	News       float64    `json:"news"`
	Hours      *busyHours `json:"busy_hours,omitempty"`
	Stale      float64    `json:"stale_probability"`
	Importance float64    `json:"importance"`
	Price      float64    `json:"price"`
	Worth      float64    `json:"worth_now"`
	WorthThen  float64    `json:"worth_when_due"`
	DueAt      *time.Time `json:"due_at_by_now"` // by what is known now
	Bound      string     `json:"bound,omitempty"`
	Budget     string     `json:"budget,omitempty"`
	OwnSite    bool       `json:"budget_of_site"`
	Even       float64    `json:"even_interval_seconds,omitempty"`
	Leads      float64    `json:"new_pages_per_day,omitempty"`
	Cost       float64    `json:"visits_by_bytes,omitempty"` // of the usual size that it takes of a budget of bytes
	Robots     float64    `json:"robots_share,omitempty"`    // of a request that robots.txt counts for beside a visit
}

// busyHours is the JSON form of the hours in which most changes come, UTC.
type busyHours struct {
	From     int     `json:"from"`
	Count    int     `json:"count"`
	Workdays bool    `json:"workdays"`
	Likely   float64 `json:"likely"`
}

func adaptiveJSON(e *scheduler.Explanation) *shownAdaptive {
	if e == nil || !e.Adaptive {
		return nil
	}
	inDays := func(d time.Duration) float64 { return d.Hours() / 24 }
	var busy *busyHours
	if e.Hours.Count > 0 {
		busy = &busyHours{e.Hours.From, e.Hours.Count, e.Hours.Workdays, e.Hours.Likely}
	}
	return &shownAdaptive{Hours: busy, Changes: e.Changes, Visits: e.Visits, Rate: rateJSON(e.Rate), Prior: e.Prior, News: e.News, Stale: e.Stale,
		Importance: e.Importance, Price: inDays(e.Price), Worth: inDays(e.Worth), WorthThen: inDays(e.WorthThen),
		DueAt: when(models.At(e.DueAt)), Bound: string(e.Bound), Budget: budgetWords(e.Budget), OwnSite: e.OwnSite, Even: e.Even.Seconds(),
		Leads: e.Leads, Cost: e.Cost, Robots: e.Robots}
}

// explain asks what is known of a page whose policy is adaptive or that a budget put off; nil for any other.
func (l *look) explain(ctx context.Context, w *why) error {
	p := &w.page
	s := l.force.config.Site(p.SiteID).Settings
	if s.Policy != policy.AdaptiveName && p.Rule != models.RuleBudget {
		return nil
	}
	learned, err := scheduler.OpenMind(ctx, l.store, p)
	if err != nil {
		return err
	}
	learned.Follow(&w.host)
	e := learned.Explain(l.force.planner, p, l.now)
	rows, err := l.store.HostRobots(ctx, p.Bucket, p.HostID)
	if err != nil {
		return err
	}
	e.ExplainRobots(&w.host, rows)
	w.ruling.explained = &e
	return nil
}
