// Command bench measures the daemon beside other programs that fetch the same pages: it runs `recrawld bench` and them in
// turn, round after round in alternating order, prints the ratios within the rounds with their spread, and writes them as
// JSON and into a section of BENCHMARKS.md. make bench runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"recrawld/clock"
	"recrawld/internal/pgtest"
)

// bench is a run under way.
type bench struct {
	clock.System
	recrawld string // the program
	rounds   int
	span     time.Duration
	pages    int // that other programs fetch
	only     *regexp.Regexp
	large    int // URLs of the large runs; 0: none
	postgres *pgtest.Server
	dir      string // for what other programs write

	figures []figure
	grown   []largeFigure
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{}
	only, out, report := "", "", ""
	flag.StringVar(&b.recrawld, "recrawld", "dist/recrawld", "the `program` to measure")
	flag.IntVar(&b.rounds, "rounds", 3, "how often everything is run")
	flag.DurationVar(&b.span, "for", 10*time.Second, "how long each run of recrawld is measured")
	flag.IntVar(&b.pages, "pages", 40000, "how many pages other programs, and a first crawl, fetch")
	flag.IntVar(&b.large, "large", 0, "measure with so many URLs on a hundredth as many hosts, too; 10000000 takes an hour")
	flag.StringVar(&only, "only", "", "run only what matches this `expression`")
	flag.StringVar(&out, "out", "dist/bench.json", "write the figures to this `file`")
	flag.StringVar(&report, "report", "", "write the tables into a section of this `file`")
	flag.Parse()
	if err := b.run(ctx, only, out, report); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures everything and writes what it found.
func (b *bench) run(ctx context.Context, only, out, report string) (err error) {
	if b.only, err = regexp.Compile(only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if b.recrawld, err = filepath.Abs(b.recrawld); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "recrawld-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.postgres, err = pgtest.Start(); err != nil {
		return err
	}
	defer b.postgres.Stop()
	runners := slices.DeleteFunc(b.runners(), func(r runner) bool { return !b.only.MatchString(r.name) })
	for round := range b.rounds {
		if round > 0 {
			slices.Reverse(runners)
		}
		for _, r := range runners {
			syscall.Sync() // what the one before wrote is not to be written while this one is measured
			found, err := r.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			for _, f := range found {
				f.Round, f.Load = round+1, load()
				b.figures = append(b.figures, f)
				fmt.Fprintf(os.Stdout, "round %d  %-28s %-10s %8.0f/s  %6.1f µs  %4.0f MB  load %.1f\n", f.Round, f.Row, f.Who, f.Rate, f.CPU, f.RSS, f.Load)
			}
		}
	}
	if b.large > 0 {
		if err := b.runLarge(ctx); err != nil {
			return err
		}
	}
	return b.write(out, report)
}
