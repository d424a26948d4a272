package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"recrawld/internal/origin"
	"recrawld/internal/pgtest"
	"recrawld/models"
	"recrawld/simulate"
)

// What the policies are compared on: requests a day, robots.txt included, for 76 pages whose text changes about
// five times a day together; the highest fr_max leaves a policy all freedom. The history ends before robots.txt excludes pages. A day
// takes 0.6 s: where it is much shorter, what a visit costs the machine keeps the budget from being spent.
const (
	contestBudget = 12
	contestFRMax  = 120
	contestSpan   = 80 * time.Second
)

// leastSpent is the part of the budget that each spends at least: of three runs beside three to fourteen other processes the least of any was 0.86.
const leastSpent = 0.6

// contestant is a daemon, or several workers on one database, that follows the pages with a budget.
type contestant struct {
	*rehearsal
	name    string
	workers []string
	running []*daemon

	entries []origin.Entry // its requests, as the origin saw them
	score   simulate.Score // of the copies that it held
	robots  int
	busiest int // requests in the busiest seven days
}

// TestEndToEndAdaptive has the policies follow the same months of real pages at one time with the same budget, the
// adaptive one in one process, in two on PostgreSQL, and in one that is killed on the way. The origin's log says what each
// spent and how fresh its copies were.
func TestEndToEndAdaptive(t *testing.T) {
	first := time.Date(2025, 12, 25, 0, 0, 0, 0, time.UTC)
	base := openRehearsal(t, first, func(last time.Time) time.Time { return last.Add(-104 * 24 * time.Hour) }, contestSpan)
	killed := base.enter("adaptive-killed", "adaptive", "sqlite", "")
	all := []*contestant{
		base.enter("uniform", "uniform", "sqlite", ""), base.enter("classic", "classic", "sqlite", ""),
		base.enter("adaptive", "adaptive", "sqlite", ""), base.enter("adaptive-two", "adaptive", pgtest.DSN(t), "a", "b"), killed,
	}
	for _, c := range all {
		c.start()
	}
	base.sleep(base.anchor.At.Add(base.end.Sub(base.anchor.At) * 6 / 10))
	before, died := killed.killOnce()
	base.sleep(base.end)
	for _, c := range all {
		for _, d := range c.running {
			d.stop()
		}
	}
	trace := base.trace()
	for _, c := range all {
		c.judge(trace)
		c.check()
	}
	killed.checkLearned(before, died)
	base.printContest(trace, all)
	compare(t, all[0], all[2:4])
}

// compare makes sure that none of the contestants keeps its copies staler than the one that visits all pages alike, nor fetches
// nearly as much of robots.txt, which they share among the pages of a host. On a busy machine a budget of so many visits a
// second is not spent in full, and who spent less may have as much less fresh: the first visits bring more than the last. How
// busy it is uniform says, beside it: where that spends its budget, so does who is compared, but for a little.
func compare(t *testing.T, uniform *contestant, others []*contestant) {
	t.Helper()
	budget, want := contestBudget*uniform.end.Sub(uniform.anchor.At).Hours()/24, float64(len(uniform.spent()))
	for _, c := range others {
		share := float64(len(c.spent())) / want
		if want > 0.95*budget && share < 0.8 {
			t.Errorf("%s spent %d requests of %.0f while the machine was quick enough for uniform to spend %.0f", c.name, len(c.spent()), budget, want)
		}
		if share >= 0.97 {
			share = 1
		}
		if c.score.Freshness < share*uniform.score.Freshness-0.01 {
			t.Errorf("%s kept %.4f fresh with %d requests, uniform %.4f with %.0f", c.name, c.score.Freshness, len(c.spent()), uniform.score.Freshness, want)
		}
		if want < 0.9*budget {
			t.Logf("uniform made %.0f requests of %.0f: the machine is too busy to share robots.txt while it is good", want, budget)
		} else if c.robots*10 > uniform.robots*9 {
			t.Errorf("%s fetched robots.txt %d times, uniform %d times", c.name, c.robots, uniform.robots)
		}
	}
}

// enter makes a contestant that asks the origin by a name of its own.
func (r *rehearsal) enter(name, policy, store string, workers ...string) *contestant {
	r.t.Helper()
	own := *r
	own.dir, own.store = r.t.TempDir(), store
	own.configure(settings{agent: name, policy: policy, frMax: contestFRMax, budget: fmt.Sprintf("%d/day", contestBudget)})
	return &contestant{rehearsal: &own, name: name, workers: workers}
}

// start launches its workers.
func (c *contestant) start() {
	c.t.Helper()
	for _, worker := range c.workers {
		c.running = append(c.running, c.launch(worker))
	}
}

// trace is when the visible text of each page changed: what a copy must follow to be fresh.
func (r *rehearsal) trace() *simulate.Trace {
	r.t.Helper()
	t := &simulate.Trace{Name: "pages", From: models.At(r.anchor.At), To: models.At(r.end)}
	for _, h := range r.corpus.Hosts {
		for _, p := range h.Pages() {
			if p.Path != origin.RobotsPath && p.Versions[0].At.Before(r.end) {
				t.Pages = append(t.Pages, r.life(h.URL(p.Path), p))
			}
		}
	}
	return t
}

// life is the history of one page since the clock runs, or since it appeared.
func (r *rehearsal) life(url string, p *origin.Page) simulate.Life {
	r.t.Helper()
	from := max(p.Index(r.anchor.At), 0)
	l := simulate.Life{Name: url, URL: url, Born: models.At(p.Versions[from].At)}
	l.Born = max(l.Born, models.At(r.anchor.At))
	last := ""
	for i := from; i < len(p.Versions) && p.Versions[i].At.Before(r.end); i++ {
		body, err := p.Versions[i].Body()
		if err != nil {
			r.t.Fatal(err)
		}
		text := origin.VisibleText(body)
		if i > from && text != last {
			l.Changes = append(l.Changes, models.At(p.Versions[i].At))
		}
		last = text
	}
	return l
}

// judge works out what the contestant spent and how fresh its copies were, from the origin's log alone.
func (c *contestant) judge(trace *simulate.Trace) {
	index := map[string]int32{}
	for i := range trace.Pages {
		index[trace.Pages[i].URL] = int32(i)
	}
	var log []simulate.Seen
	for _, e := range sortedByStart(c.log.Entries(0)) {
		if !strings.HasPrefix(e.Agent, c.name+"/") && !strings.HasPrefix(e.Agent, c.name+" ") {
			continue
		}
		c.entries = append(c.entries, e)
		if e.Robots() {
			c.robots++
		}
		if page, ok := index[e.URL()]; ok && e.Digest != "" && !e.Broken {
			log = append(log, simulate.Seen{At: models.At(e.Start), Page: page})
		}
	}
	c.score = simulate.Judge(trace, trace.Scored(simulate.Learn), log)
	first := 0
	for i, e := range c.spent() {
		for e.Start.Sub(c.entries[first].Start) > 7*24*time.Hour {
			first++
		}
		c.busiest = max(c.busiest, i-first+1)
	}
}

// spent is what it asked for by the end. Until a daemon hears on a busy machine that it is to stop it has days more, and what they bring.
func (c *contestant) spent() []origin.Entry {
	after := slices.IndexFunc(c.entries, func(e origin.Entry) bool { return e.Start.After(c.end) })
	if after < 0 {
		return c.entries
	}
	return c.entries[:after]
}

// check holds the contestant's requests against its budget, its politeness, and what it wrote down.
func (c *contestant) check() {
	c.t.Helper()
	days := c.end.Sub(c.anchor.At).Hours() / 24
	if most := contestBudget*days + 10; float64(len(c.spent())) > most {
		c.t.Errorf("%s made %d requests in %.0f days, more than its budget of %d a day", c.name, len(c.spent()), days, contestBudget)
	}
	if c.busiest > 7*contestBudget*5/4 {
		c.t.Errorf("%s made %d requests in seven days, its budget is %d", c.name, c.busiest, 7*contestBudget)
	}
	if least := contestBudget * days * leastSpent; float64(len(c.spent())) < least {
		c.t.Errorf("%s made only %d requests in %.0f days, with a budget of %d a day", c.name, len(c.spent()), days, contestBudget)
	}
	s := readState(c.t, openDatabase(c.t, c.database()))
	visits, orphans := c.match(s, c.entries)
	p := c.corpus.CheckPoliteness(c.entries, delay, c.rulesHold(), setOut(visits)) // two requests at once are a gap below 0
	complain(c.t, c.name+": delays not kept", p.Breaches)
	complain(c.t, c.name+": requests that robots.txt forbids", p.Forbidden)
	if len(orphans) > 0 && c.name != "adaptive-killed" {
		c.t.Errorf("%s: %d requests have no visit, such as %s at %v", c.name, len(orphans), orphans[0].URL(), orphans[0].Start)
	}
	c.checkOncePerDue(s)
}

// printContest prints what each spent and what it got for it.
func (r *rehearsal) printContest(trace *simulate.Trace, all []*contestant) {
	r.t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "policy\trequests\tof them robots\tof the budget\tbusiest week\tfresh\tdelay p50\tp95\twithout news\tshortest gap\t")
	days := r.end.Sub(r.anchor.At).Hours() / 24
	for _, c := range all {
		p := c.corpus.CheckPoliteness(c.entries, delay, c.rulesHold(), nil) // for the gaps alone
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f %%\t%d\t%.4f\t%.1f d\t%.1f d\t%.0f %%\t%.2f\t\n", c.name, len(c.spent()), c.robots,
			100*float64(len(c.spent()))/(contestBudget*days), c.busiest, c.score.Freshness, c.score.Delay50.Hours()/24,
			c.score.Delay95.Hours()/24, 100*c.score.Waste, p.Tightest)
	}
	if err := w.Flush(); err != nil {
		r.t.Fatal(err)
	}
	r.report("%d pages, %d changes of their text in %.0f days, %d requests a day each:\n%s", len(trace.Pages), trace.Changed(), days,
		contestBudget, b.String())
}

// sortedByStart is a log in the order of time.
func sortedByStart(entries []origin.Entry) []origin.Entry {
	slices.SortStableFunc(entries, func(a, b origin.Entry) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Seq, b.Seq)) })
	return entries
}
