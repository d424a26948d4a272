package main

import (
	"context"
	"fmt"

	"recrawld/models"
	"recrawld/simulate"
)

// make makes a world of the usual size.
func (b *bench) world(p simulate.Plan) (simulate.Subject, error) {
	p.Pages, p.Hosts, p.Days, p.Seed = 3000, 60, 120, 1
	if b.small {
		p.Pages, p.Hosts = 600, 12
	}
	made, err := simulate.Make(p)
	return simulate.Subject{Trace: made.Trace, Made: &made}, err
}

// compare runs the policies on a world with one budget and prints a line.
func (b *bench) compare(ctx context.Context, p simulate.Plan, spending string, names []string) (map[string]simulate.Result, error) {
	s, err := b.world(p)
	if err != nil {
		return nil, err
	}
	trials, err := trialsOf(s, spending, simulate.Sight{}, names)
	if err != nil {
		return nil, err
	}
	results, err := b.all(ctx, trials)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]simulate.Result)
	weights := ""
	if p.Weights {
		weights = "weighted"
	}
	fmt.Fprintf(b.out, "  %-11s %-8s %13s ", p.World, weights, spending)
	for _, r := range results {
		byName[r.Policy] = r
		fmt.Fprintf(b.out, "  %s %.4f (%.2f)", r.Policy, r.Score.Freshness, r.Excess())
	}
	fmt.Fprintln(b.out)
	return byName, nil
}

// poisson measures the excess staleness where pages change independently at constant rates.
func (b *bench) poisson(ctx context.Context) error {
	b.title("Poisson worlds: freshness, and staleness beside that of the known-rate optimum (E)")
	names := []string{"adaptive", simulate.Oracle, "classic", "nutch", "storm", "uniform"}
	type point struct {
		spending string
		weights  bool
		results  map[string]simulate.Result
	}
	var points []point
	for _, weights := range []bool{false, true} {
		for _, spending := range []string{"0.05/page/day", "0.2/page/day", "1/page/day"} {
			results, err := b.compare(ctx, simulate.Plan{World: "poisson", Weights: weights}, spending, names)
			if err != nil {
				return err
			}
			points = append(points, point{spending, weights, results})
		}
	}
	fmt.Fprintln(b.out)
	for _, p := range points {
		kind := "unweighted"
		if p.weights {
			kind = "weighted"
		}
		a := p.results["adaptive"]
		b.atMost(fmt.Sprintf("3. E, Poisson %s at %s", kind, p.spending), a.Excess(), 1.10)
		early := firstDays(a, 25)
		b.atMost(fmt.Sprintf("3. E of the first 25 days, Poisson %s at %s", kind, p.spending), (1-early)/(1-a.Best), 1.25)
		if p.weights {
			b.atLeast("3. less staleness than Nutch, weighted, at "+p.spending, less(a, p.results["nutch"]), 0.30)
			b.atLeast("3. less staleness than StormCrawler, weighted, at "+p.spending, less(a, p.results["storm"]), 0.45)
		}
	}
	return nil
}

// firstDays is the freshness over the first days.
func firstDays(r simulate.Result, days int) float64 {
	t := r.Subject.Trace
	w := simulate.Window{From: t.From, To: t.From + models.Instant(days)*24*3600*1000}
	return simulate.Judge(t, w, r.Log).Freshness
}

// less is the share of the other's staleness that a result does without.
func less(r, other simulate.Result) float64 {
	return 1 - (1-r.Score.Freshness)/(1-other.Score.Freshness)
}

// rhythms measures the worlds where knowing the rates is not all.
func (b *bench) rhythms(ctx context.Context) error {
	b.title("Worlds with a structure beyond the rates")
	names := []string{"adaptive", simulate.Oracle, "nutch", "storm", "uniform"}
	type point struct {
		world   string
		weights bool
		result  simulate.Result
	}
	var points []point
	for _, world := range []string{"office", "fixed-hour", "sweep", "burst"} {
		for _, weights := range []bool{false, true} {
			results, err := b.compare(ctx, simulate.Plan{World: world, Weights: weights}, "0.2/page/day", names)
			if err != nil {
				return err
			}
			points = append(points, point{world, weights, results["adaptive"]})
		}
	}
	fmt.Fprintln(b.out)
	for _, p := range points {
		kind := p.world
		if p.weights {
			kind += ", weighted"
		}
		if p.world == "burst" {
			fmt.Fprintf(b.out, "  %-66s %8.4g   (no goal: the rates alone do not bound it)\n", "3. E, "+kind, p.result.Excess())
			continue
		}
		b.goal("3. E, "+kind, p.result.Excess(), p.result.Excess() < 1, "< 1")
		if p.result.Phase == p.result.Phase { // there is a rhythm
			fmt.Fprintf(b.out, "     known rates %.4f, known rates and rhythm %.4f, adaptive %.4f\n", p.result.Best, p.result.Phase, p.result.Score.Freshness)
			b.atLeast("3. share of the rhythm's worth, "+kind, p.result.Captured(), 0.60)
		}
	}
	return nil
}

// polite measures what politeness costs, and that it is kept.
func (b *bench) polite(ctx context.Context) error {
	b.title("Half of the hosts saturated by politeness")
	var points []simulate.Result
	for _, weights := range []bool{false, true} {
		results, err := b.compare(ctx, simulate.Plan{World: "poisson", Weights: weights, Saturated: 0.08}, "0.2/page/day",
			[]string{"adaptive", "nutch", "uniform"}) // half of the demand on hosts that let through 40 % of their share
		if err != nil {
			return err
		}
		points = append(points, results["adaptive"])
	}
	fmt.Fprintln(b.out)
	for _, r := range points {
		b.atMost("4. E against the host-constrained optimum", r.Excess(), 1.15)
		broken := simulate.Impolite(r.Subject.Trace, r.Log)
		b.goal("4. visits that broke a host's limit", float64(broken), broken == 0, "0")
	}
	return nil
}
