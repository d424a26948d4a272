package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/report"
	"recrawld/simulate"
)

// simulateCmd compares policies on what is past or made up.
type simulateCmd struct {
	Trace   []string `placeholder:"FILE" help:"A change trace, CSV or CSV.gz: page,t,size,blob,op. May be given several times."`
	World   []string `placeholder:"NAME" help:"A made-up world; listed below."`
	History bool     `help:"The visits that this daemon recorded. A change lies somewhere between two visits, so there are two results: optimistic, pessimistic."`

	Policy  []string `placeholder:"NAME" default:"adaptive,classic,uniform" help:"The policies, compared; listed below."`
	Budget  []string `placeholder:"BUDGET" help:"0.02/page/day, 2000/day, 1x (visits a true change), 2GiB/day or off; several are compared. Default 0.3x,1x,3x, for worlds 0.2/page/day."`
	Observe string   `enum:"meaningful,bytes" default:"meaningful" help:"What a visit takes for a change, where a trace tells: meaningful changes alone, or all of the bytes."`
	Stale   string   `enum:"meaningful,bytes" default:"meaningful" help:"What makes a copy stale, where a trace tells."`

	Folders      bool     `help:"The first part of a page's name in a trace is its host; otherwise a trace is one host."`
	Whole        bool     `help:"Servers send a page whole where it has not changed, as those do that do not answer conditionally. Counts for budgets of bytes."`
	Robots       bool     `help:"A host that is visited on a day costs a request for its robots.txt more, out of the same budget."`
	LastModified string   `enum:"none,all" default:"none" help:"Whether answers say when the page last changed."`
	Announced    float64  `placeholder:"SHARE" help:"How many of the changes publishers announce by IndexNow, 0 to 1."`
	Listed       float64  `placeholder:"SHARE" help:"How many of the changes the hosts' sitemaps tell of by a new date, 0 to 1."`
	FalseDates   float64  `placeholder:"N" help:"Dates of sitemaps that move although nothing changed, beside each change."`
	Cycle        span     `placeholder:"TIME" help:"The scheduling cycle: the shortest interval, 1m to 366d. Default 15m, or a twentieth of the time in which a budget of visits reaches all pages once, where that is less, but 1m at least."`
	Longest      span     `placeholder:"TIME" help:"The longest interval, as fr_max sets it; default none."`
	Window       []string `sep:"none" placeholder:"WINDOW" help:"When visits are allowed, as windows sets it: \"22:00-06:00 UTC\". May be given several times; default always."`

	Pages   int     `default:"10000" help:"Pages of a world."`
	Hosts   int     `default:"100" help:"Hosts of a world."`
	Days    float64 `default:"120" help:"Days of a world; as with traces, the first quarter is not scored."`
	Seed    uint64  `default:"1" help:"Another number makes another world of the kind."`
	Weights bool    `help:"Pages of a world matter unequally."`
	Polite  float64 `placeholder:"N" help:"Half of the hosts of a world allow only so many visits a day for each of their pages."`

	Visits string `type:"path" placeholder:"FILE" help:"Write the visits as NDJSON; with several runs one file each, named after them."`
	Chart  string `type:"path" placeholder:"FILE.svg" help:"Draw freshness and staleness against budget."`
}

// Help lists worlds, policies and columns below the flags.
func (simulateCmd) Help() string {
	b := new(strings.Builder)
	b.WriteString("Runs the daemon's own scheduler on a clock of its own over what is known of the past, and measures how fresh it would have kept the pages.\n\nWorlds:\n\n")
	for _, name := range simulate.Worlds() {
		fmt.Fprintf(b, "  %-11s %s\n", name, simulate.AboutWorld(name))
	}
	fmt.Fprintf(b, "\nPolicies: %s; for comparison %s, and %s, which knows each page's true average change rate.\n",
		strings.Join(slices.DeleteFunc(config.Policies(), config.ForComparison), ", "),
		strings.Join(slices.DeleteFunc(config.Policies(), func(p string) bool { return !config.ForComparison(p) }), ", "), simulate.Oracle)
	b.WriteString(`
Columns:

  fresh      share of the pages' time during which the copy equalled the page
  score      0 is round robin, 1 a clairvoyant that knows every change beforehand
  E          staleness beside that of the best even intervals at known rates (worlds): 1.00 is as good
  rhythm     share of what knowing the hours of the week is worth, beyond E = 1, that was reached (worlds)
  age        mean time that a copy had been stale
  p50, p95   from a change to the visit that saw it
  waste      share of the visits that found nothing new
  a day      visits a day, and in the busiest week
  received   bytes a day that the visits brought, where sizes are known
  robots     requests for robots.txt a day, beside them (--robots)
  lists      readings of sitemaps a day, likewise (--listed)
  never      pages without a visit; starved: last visited more than ten even intervals ago
`)
	return b.String()
}

// Run implements the command.
func (c simulateCmd) Run(ctx context.Context, g *globals) error {
	trials, err := c.trials(ctx, g)
	if err != nil {
		return err
	}
	results, err := runTrials(ctx, trials)
	if err != nil {
		return err
	}
	if err := c.write(results); err != nil {
		return err
	}
	d := simulated(clock.System{}.Now(), results)
	if g.JSON {
		return report.WriteJSON(g.Stdout, d)
	}
	return report.WriteText(g.Stdout, d, terminalStyle(g.Stdout))
}

// runTrials runs as many at a time as there are processors.
func runTrials(ctx context.Context, trials []simulate.Trial) ([]simulate.Result, error) {
	results := make([]simulate.Result, len(trials))
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // short-lived memory is what this command makes, and there is enough
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range trials {
		group.Go(func() (err error) {
			results[i], err = trials[i].Do(ctx, clock.System{}.Now)
			return err
		})
	}
	return results, group.Wait()
}

// trials are all policies with all budgets on all subjects, in this order from the inside out.
func (c simulateCmd) trials(ctx context.Context, g *globals) ([]simulate.Trial, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	windows, err := c.windows()
	if err != nil {
		return nil, err
	}
	subjects, err := c.subjects(ctx, g)
	if err != nil {
		return nil, err
	}
	var trials []simulate.Trial
	for _, s := range subjects {
		budgets, err := c.budgets(s)
		if err != nil {
			return nil, err
		}
		for _, b := range budgets {
			y, err := simulate.Measure(s, b)
			if err != nil {
				return nil, err
			}
			for _, policy := range c.Policy {
				trials = append(trials, simulate.Trial{Yardstick: y, Policy: policy, Cycle: time.Duration(c.Cycle), Longest: time.Duration(c.Longest),
					Windows: windows, Sight: simulate.Sight{Bytes: c.Observe == "bytes", LastModified: c.LastModified == "all", Whole: c.Whole, Robots: c.Robots,
						Listed: simulate.Listings{Share: c.Listed, False: c.FalseDates}},
					Said: simulate.Publishers{Share: c.Announced}})
			}
		}
	}
	return trials, nil
}

// check refuses what can be told to be wrong without opening anything.
func (c simulateCmd) check() error {
	if len(c.Trace) == 0 && len(c.World) == 0 && !c.History {
		return usagef("simulate what? --trace FILE, --world %s or --history", strings.Join(simulate.Worlds(), "|"))
	}
	known := append(config.Policies(), simulate.Oracle)
	for _, policy := range c.Policy {
		if !slices.Contains(known, policy) {
			return usagef("no policy %q: there is %s", policy, strings.Join(known, ", "))
		}
		if c.Robots && policy == simulate.Oracle {
			return usagef("--robots: %s weighs visits alone", simulate.Oracle)
		}
		if c.Listed > 0 && policy == simulate.Oracle {
			return usagef("--listed: %s weighs visits alone", simulate.Oracle)
		}
		if len(c.Window) > 0 && policy == simulate.Oracle {
			return usagef("--window: %s knows no hours", simulate.Oracle)
		}
	}
	for _, world := range c.World {
		if !slices.Contains(simulate.Worlds(), world) {
			return usagef("no world %q: there is %s", world, strings.Join(simulate.Worlds(), ", "))
		}
	}
	budgets, err := c.budgets(simulate.Subject{})
	if err != nil {
		return err
	}
	if ofBytes := func(b simulate.Spending) bool { return b.Bytes > 0 }; slices.ContainsFunc(budgets, ofBytes) {
		switch {
		case len(c.World) > 0:
			return usagef("--budget: pages of a made-up world have no size, so bytes cannot be its budget")
		case slices.Contains(c.Policy, simulate.Oracle):
			return usagef("--budget: %s weighs visits alone", simulate.Oracle)
		}
	}
	if every := time.Duration(c.Cycle); every != 0 && every < time.Minute || every > 366*24*time.Hour {
		return usagef("--cycle %s is not between 1m and 366d", every)
	}
	if !(c.Announced >= 0 && c.Announced <= 1) {
		return usagef("--announced %v is no share, which is from 0 to 1", c.Announced)
	}
	if !(c.Listed >= 0 && c.Listed <= 1) {
		return usagef("--listed %v is no share, which is from 0 to 1", c.Listed)
	}
	if !(c.FalseDates >= 0 && c.FalseDates <= 100) {
		return usagef("--false-dates %v is not from 0 to 100", c.FalseDates)
	}
	if !(c.Polite >= 0) || math.IsInf(c.Polite, 1) {
		return usagef("--polite %v is no number of visits", c.Polite)
	}
	return nil
}

// subjects reads and makes what to simulate.
func (c simulateCmd) subjects(ctx context.Context, g *globals) ([]simulate.Subject, error) {
	var subjects []simulate.Subject
	for _, path := range c.Trace {
		t, err := simulate.ReadTrace(path, c.Stale == "meaningful")
		if err != nil {
			return nil, named(err)
		}
		if c.Folders {
			t.HostPerFolder()
		}
		subjects = append(subjects, simulate.Subject{Trace: t})
	}
	for _, world := range c.World {
		made, err := simulate.Make(simulate.Plan{World: world, Pages: c.Pages, Hosts: c.Hosts, Days: c.Days, Seed: c.Seed,
			Weights: c.Weights, Saturated: c.Polite})
		if err != nil {
			return nil, usagef("%w", err)
		}
		subjects = append(subjects, simulate.Subject{Trace: made.Trace, Made: &made})
	}
	if c.History {
		recorded, err := historySubjects(ctx, g)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, recorded...)
	}
	return subjects, nil
}

// windows are those of the flag.
func (c simulateCmd) windows() ([]config.Window, error) {
	var windows []config.Window
	for _, text := range c.Window {
		w, err := config.ParseWindow(text)
		if err != nil {
			return nil, usagef("--window: %w", err)
		}
		windows = append(windows, w)
	}
	return windows, nil
}

// budgets are those of the flag, or the usual ones for the subject.
func (c simulateCmd) budgets(s simulate.Subject) ([]simulate.Spending, error) {
	words := c.Budget
	switch {
	case len(words) > 0:
	case s.Made != nil:
		words = []string{"0.2/page/day"}
	default:
		words = []string{"0.3x", "1x", "3x"}
	}
	var budgets []simulate.Spending
	for _, word := range words {
		b, err := simulate.ParseSpending(word)
		if err != nil {
			return nil, usagef("--budget: %w", err)
		}
		budgets = append(budgets, b)
	}
	return budgets, nil
}

// write writes the files that were asked for.
func (c simulateCmd) write(results []simulate.Result) error {
	if c.Visits != "" {
		for _, r := range results {
			if err := writeVisits(c.visitsFile(r, len(results) > 1), r); err != nil {
				return err
			}
		}
	}
	if c.Chart == "" {
		return nil
	}
	if err := os.WriteFile(c.Chart, chart(results), 0o644); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// visitsFile is the file for a result: with several, visits.ndjson becomes visits-TRACE-POLICY-BUDGET.ndjson.
func (c simulateCmd) visitsFile(r simulate.Result, several bool) string {
	if !several {
		return c.Visits
	}
	ending := filepath.Ext(c.Visits)
	name := strings.Join([]string{r.Subject.Trace.Name, r.Policy, r.Spending.String()}, "-")
	return strings.TrimSuffix(c.Visits, ending) + "-" + strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(name) + ending
}

func writeVisits(path string, r simulate.Result) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write visits: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return simulate.WriteVisits(f, r.Subject.Trace, r.Log)
}
