// Command freshbench prints every figure of what the adaptive policy shall reach, beside the policies it is compared
// with: on change histories, on made-up worlds, under politeness, and what it costs. A figure that is not reached is
// printed as such. make bench-freshness runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/simulate"
)

// bench is what all parts of the run have in common.
type bench struct {
	out    io.Writer
	traces string // folder of the histories; may be missing
	judge  string // folder of freshjudge; may be missing
	small  bool   // smaller worlds
	short  bool   // only the first trace
	fits   string // folder of what the histories taught; "": it is not asked for
	leave  bool   // score the histories with what the others taught
	quick  bool   // leave out the long runs of fitting
	only   string // the histories to score then; "": all
	now    func() time.Time
	errors io.Writer // where a line goes for each run that is done

	began  time.Time
	missed []string // goals that were not reached
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{out: os.Stdout, errors: os.Stderr, now: clock.System{}.Now}
	flag.StringVar(&b.traces, "traces", "../shared/traces", "folder of the change histories")
	flag.StringVar(&b.judge, "judge", "../shared/freshjudge", "folder of the independent judge")
	flag.BoolVar(&b.small, "small", false, "a tenth of the pages in made-up worlds")
	flag.BoolVar(&b.short, "short", false, "only the smallest history")
	flag.StringVar(&b.fits, "fit", "", "fit the weights that the adaptive policy begins with on the histories, and nothing else; a `folder` keeps what each taught")
	flag.BoolVar(&b.leave, "leave-out", false, "score the histories with weights fitted on the others, too; with -fit, nothing else")
	flag.BoolVar(&b.quick, "quick", false, "with -fit: of the largest histories only the middle budget")
	flag.StringVar(&b.only, "only", "", "with -leave-out: score only these histories, a `list` with commas")
	flag.Parse()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "freshbench:", err)
		os.Exit(1)
	}
}

// run prints everything.
func (b *bench) run(ctx context.Context) error {
	b.began = b.now()
	parts := []func(context.Context) error{b.histories, b.leftOut, b.rawBytes, b.poisson, b.rhythms, b.polite, b.costs}
	if b.fits != "" {
		parts = []func(context.Context) error{b.fitted}
	}
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "\n%d processors, %.0f s\n", runtime.GOMAXPROCS(0), b.now().Sub(b.began).Seconds())
	if len(b.missed) == 0 {
		fmt.Fprintln(b.out, "every goal is reached")
		return nil
	}
	fmt.Fprintf(b.out, "%d goals are not reached:\n", len(b.missed))
	for _, goal := range b.missed {
		fmt.Fprintln(b.out, "  "+goal)
	}
	return nil
}

// title begins a part.
func (b *bench) title(text string) { fmt.Fprintf(b.out, "\n== %s\n\n", text) }

// goal prints a figure beside what it shall be.
func (b *bench) goal(name string, value float64, reached bool, want string) {
	verdict := "reached"
	if !reached {
		verdict = "not reached"
		b.missed = append(b.missed, fmt.Sprintf("%s: %.4g, want %s", name, value, want))
	}
	fmt.Fprintf(b.out, "  %-66s %8.4g   want %-9s %s\n", name, value, want, verdict)
}

func (b *bench) atLeast(name string, value, want float64) {
	b.goal(name, value, value >= want, fmt.Sprintf("≥ %g", want))
}

func (b *bench) atMost(name string, value, want float64) {
	b.goal(name, value, value <= want, fmt.Sprintf("≤ %g", want))
}

// all runs trials, as many at a time as there are processors, and returns the results in their order. The last ones, which
// have the largest budgets, begin first: so no processor waits for long at the end.
func (b *bench) all(ctx context.Context, trials []simulate.Trial) ([]simulate.Result, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	results := make([]simulate.Result, len(trials))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := len(trials) - 1; i >= 0; i-- {
		group.Go(func() (err error) {
			results[i], err = trials[i].Do(ctx, b.now)
			if err == nil {
				b.done(&results[i])
			}
			return err
		})
	}
	return results, group.Wait()
}

// done says on the way that a run is done: some take a minute. It is safe for concurrent use as far as its writer is.
func (b *bench) done(r *simulate.Result) {
	fmt.Fprintf(b.errors, "%5.0f s  %s %s %s: %d visits in %.1f s\n", b.now().Sub(b.began).Seconds(), r.Subject.Trace.Name, r.Spending,
		r.Policy, len(r.Log), r.Took.Seconds())
}

// trialsOf are the policies with one budget on one subject.
func trialsOf(s simulate.Subject, spending string, sight simulate.Sight, policies []string) ([]simulate.Trial, error) {
	budget, err := simulate.ParseSpending(spending)
	if err != nil {
		return nil, err
	}
	y, err := simulate.Measure(s, budget)
	if err != nil {
		return nil, err
	}
	trials := make([]simulate.Trial, len(policies))
	for i, policy := range policies {
		trials[i] = simulate.Trial{Yardstick: y, Policy: policy, Sight: sight}
		if policy == "classic" {
			trials[i].Cycle = 24 * time.Hour // it counts whole cycles: its paper, and freshjudge, have it in days
		}
	}
	return trials, nil
}
