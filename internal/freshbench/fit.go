package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"recrawld/scheduler/changerate"
	"recrawld/simulate"
)

// fitting is how the histories make weights to begin with. The numbers are the prototype's; what the spreads are
// multiplied by made no difference there between 0.15 and 1.
var fitting = changerate.Fitting{Temper: 0.3, Narrow: 0.3, Widest: 0.4, Rounds: 300}

// fits are the weights that the histories make: all of them, and each of them left out.
type fits struct {
	all     *changerate.Weights
	without map[string]*changerate.Weights // by the name of the trace left out
}

// fit learns weights from the histories and prints them, ready to be put into the source.
func (b *bench) fit(ctx context.Context, subjects []simulate.Subject) (fits, error) {
	b.title("Weights fitted on the histories")
	lessons, err := b.lessons(ctx, subjects)
	if err != nil {
		return fits{}, err
	}
	f := fits{all: fitting.Fit(lessons), without: make(map[string]*changerate.Weights)}
	lists := [][]changerate.Weight{changerate.Defaults().List(), f.all.List()}
	fmt.Fprintf(b.out, "  %-30s %15s %15s", "", "default", "all")
	for i, s := range subjects {
		name := s.Trace.Name
		f.without[name] = fitting.Fit(slices.Delete(slices.Clone(lessons), i, i+1))
		lists = append(lists, f.without[name].List())
		fmt.Fprintf(b.out, " %15s", "−"+name)
	}
	fmt.Fprintln(b.out)
	for i, w := range lists[0] {
		fmt.Fprintf(b.out, "  %-30s", w.Name)
		for _, list := range lists {
			fmt.Fprintf(b.out, "   %6.3f ±%5.3f", list[i].Mean, list[i].Spread)
		}
		fmt.Fprintln(b.out)
	}
	return f, b.keep(f)
}

// lessons are what each history teaches with the usual budgets, beginning with weights that say nothing. What was
// learned is kept in the folder of the fits, and read from there the next time.
func (b *bench) lessons(ctx context.Context, subjects []simulate.Subject) ([]changerate.Lesson, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	learned := make([]*changerate.Weights, len(subjects)*len(spendings))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range subjects {
		for j, spending := range spendings {
			group.Go(func() (err error) {
				learned[i*len(spendings)+j], err = b.learned(ctx, s, spending)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	lessons := make([]changerate.Lesson, len(subjects))
	for i, w := range learned {
		if w != nil {
			lessons[i/len(spendings)].Add(w.LessonSince(changerate.Broad()))
		}
	}
	return lessons, nil
}

// learned are the weights at the end of one run, nil where it is too long for this time.
func (b *bench) learned(ctx context.Context, s simulate.Subject, spending string) (*changerate.Weights, error) {
	path := filepath.Join(b.fits, s.Trace.Name+"-"+spending+".weights")
	kept, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	w := new(changerate.Weights)
	if err == nil && w.UnmarshalBinary(kept) == nil { // those of an older model are learned anew
		return w, nil
	}
	if !b.affordable(s.Trace, spending) {
		return nil, nil
	}
	trials, err := trialsOf(s, spending, simulate.Sight{}, []string{"adaptive"})
	if err != nil {
		return nil, err
	}
	trials[0].Weights = changerate.Broad()
	result, err := trials[0].Do(ctx, b.now)
	if err != nil {
		return nil, err
	}
	if kept, err = result.Learned.MarshalBinary(); err != nil {
		return nil, err
	}
	return result.Learned, errors.Join(os.MkdirAll(b.fits, 0o755), os.WriteFile(path, kept, 0o644))
}

// affordable leaves out the longest runs where only the quick ones are asked for.
func (b *bench) affordable(t *simulate.Trace, spending string) bool {
	return !b.quick || spending == "1x" || changes(t) < 10_000
}

func changes(t *simulate.Trace) (n int) {
	for i := range t.Pages {
		n += len(t.Pages[i].Changes)
	}
	return n
}

// leftOut scores the histories, each with the kept weights that were fitted on the others, where that is asked for: it
// takes as long as the scores of the adaptive policy did.
func (b *bench) leftOut(ctx context.Context) error {
	if !b.leave {
		fmt.Fprintf(b.out, "\n  %-66s not measured: -leave-out does\n", leftOutGoal)
		return nil
	}
	subjects, err := b.subjects(true)
	if err != nil || len(subjects) == 0 {
		return err
	}
	f, err := readFits(keptFits)
	if err != nil {
		return err
	}
	b.title("Real histories with weights fitted on the others")
	var trials []simulate.Trial
	for _, s := range subjects {
		for _, spending := range spendings {
			more, err := trialsOf(s, spending, simulate.Sight{}, []string{"adaptive"})
			if err != nil {
				return err
			}
			more[0].Weights = f.without[s.Trace.Name]
			trials = append(trials, more...)
		}
	}
	results, err := b.all(ctx, trials)
	if err != nil {
		return err
	}
	sum := 0.0
	for i, r := range results {
		if i%len(spendings) == 0 {
			fmt.Fprintf(b.out, "  %-14s", r.Subject.Trace.Name)
		}
		fmt.Fprintf(b.out, "  %s %6.3f", r.Spending, r.Worth())
		if i%len(spendings) == len(spendings)-1 {
			fmt.Fprintln(b.out)
		}
		sum += r.Worth()
	}
	fmt.Fprintln(b.out)
	b.atLeast(leftOutGoal, sum/float64(len(results)), 0.29)
	b.atLeast("2. the same, worst score of a history and budget", worst(results), -0.005)
	return nil
}

const leftOutGoal = "1. adaptive, mean score, each history left out of its weights"

// leaveOut scores the histories with the defaults, with weights fitted on all of them and with weights fitted on all
// others, which is the honest figure.
func (b *bench) leaveOut(ctx context.Context, subjects []simulate.Subject, f fits) error {
	b.title("Scores with other weights to begin with")
	fmt.Fprintf(b.out, "  %-14s %5s %9s %9s %9s\n", "", "", "default", "all", "left out")
	var sums [3]float64
	worst := [3]float64{1, 1, 1}
	rows := 0
	for _, s := range subjects {
		for _, spending := range spendings {
			if !b.affordable(s.Trace, spending) {
				continue
			}
			scores, err := b.scores(ctx, s, spending, []*changerate.Weights{nil, f.all, f.without[s.Trace.Name]})
			if err != nil {
				return err
			}
			fmt.Fprintf(b.out, "  %-14s %5s", s.Trace.Name, spending)
			for i, score := range scores {
				sums[i] += score
				worst[i] = min(worst[i], score)
				fmt.Fprintf(b.out, " %9.3f", score)
			}
			fmt.Fprintln(b.out)
			rows++
		}
	}
	fmt.Fprintf(b.out, "  %-20s %9.3f %9.3f %9.3f\n", "mean", sums[0]/float64(rows), sums[1]/float64(rows), sums[2]/float64(rows))
	fmt.Fprintf(b.out, "  %-20s %9.3f %9.3f %9.3f\n\n", "worst", worst[0], worst[1], worst[2])
	b.atLeast(leftOutGoal, sums[2]/float64(rows), 0.29)
	return nil
}

// jitter is what the budgets of small histories are multiplied by: their scores move by chance.
var jitter = []float64{1, 0.97, 1.03, 0.985, 1.015}

// scores are those of the adaptive policy beginning with some weights, on average over slightly different budgets where
// that is quick.
func (b *bench) scores(ctx context.Context, s simulate.Subject, spending string, begin []*changerate.Weights) ([]float64, error) {
	times := jitter
	if len(s.Trace.Pages) >= 100 {
		times = jitter[:1]
	}
	budget, err := simulate.ParseSpending(spending)
	if err != nil {
		return nil, err
	}
	var trials []simulate.Trial
	for _, factor := range times {
		about := simulate.Spending{PerChange: budget.PerChange * factor}
		y, err := simulate.Measure(s, about)
		if err != nil {
			return nil, err
		}
		for _, w := range begin {
			trials = append(trials, simulate.Trial{Yardstick: y, Policy: "adaptive", Weights: w})
		}
	}
	results, err := b.all(ctx, trials)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(begin))
	for i, r := range results {
		scores[i%len(begin)] += r.Worth() / float64(len(times))
	}
	return scores, nil
}

// fitted learns weights, and judges them where that is asked for.
func (b *bench) fitted(ctx context.Context) error {
	subjects, err := b.subjects(true)
	if err != nil || len(subjects) == 0 {
		return err
	}
	f, err := b.fit(ctx, subjects)
	if err != nil || !b.leave {
		return err
	}
	if b.only != "" {
		subjects = slices.DeleteFunc(subjects, func(s simulate.Subject) bool {
			return !slices.Contains(strings.Split(b.only, ","), s.Trace.Name)
		})
	}
	return b.leaveOut(ctx, subjects, f)
}
