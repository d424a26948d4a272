package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"recrawld/scheduler/changerate"
	"recrawld/simulate"
)

// policies in the order of the columns.
var policies = []string{"adaptive", simulate.Oracle, "classic", "nutch", "storm", "uniform"}

var spendings = []string{"0.3x", "1x", "3x"}

// histories scores every policy on every trace.
func (b *bench) histories(ctx context.Context) error {
	b.title("Real histories: score, 0 is round robin, 1 a clairvoyant (0.3, 1 and 3 visits a true change)")
	subjects, err := b.subjects(true)
	if err != nil || len(subjects) == 0 {
		return err
	}
	results, sums, err := b.table(ctx, subjects, simulate.Sight{})
	if err != nil {
		return err
	}
	rows := float64(len(results) / len(policies)) // each has a trace and a budget
	mean := func(policy string) float64 { return sums[policy] / rows }
	fmt.Fprintln(b.out)
	b.atLeast("1. adaptive, mean score over all traces and budgets", mean("adaptive"), 0.33)
	b.atLeast("1. adaptive beside the hindsight oracle", mean("adaptive")/mean(simulate.Oracle), 1.4)
	b.atLeast("2. adaptive, worst score of a trace and budget", worst(results), -0.005)
	b.calibrated(results)
	return b.judged(ctx, results)
}

// subjects reads the traces; a folder that is missing is none.
func (b *bench) subjects(all bool) ([]simulate.Subject, error) {
	paths, err := filepath.Glob(filepath.Join(b.traces, "*.csv.gz"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		fmt.Fprintf(b.out, "no histories in %s: not scored\n", b.traces)
		return nil, nil
	}
	var subjects []simulate.Subject
	for _, path := range paths {
		if b.short && !strings.Contains(path, "ota-raw") {
			continue
		}
		t, err := simulate.ReadTrace(path, true)
		if err != nil {
			return nil, err
		}
		if all || noisy(t) {
			subjects = append(subjects, simulate.Subject{Trace: t})
		}
	}
	return subjects, nil
}

// noisy tells whether a trace has changes of the bytes that are none of the content.
func noisy(t *simulate.Trace) bool {
	for i := range t.Pages {
		if len(t.Pages[i].Noise) > 0 {
			return true
		}
	}
	return false
}

// table runs all policies on the subjects with the usual budgets, prints a line for each trace and budget and the mean, and
// returns the results and the sums of the scores.
func (b *bench) table(ctx context.Context, subjects []simulate.Subject, sight simulate.Sight) ([]simulate.Result, map[string]float64, error) {
	fmt.Fprintf(b.out, "  %-14s %5s", "", "")
	for _, policy := range policies {
		fmt.Fprintf(b.out, " %9s", policy)
	}
	fmt.Fprintln(b.out)
	var all []simulate.Result
	sums := make(map[string]float64)
	for _, s := range subjects {
		var trials []simulate.Trial
		for _, spending := range spendings {
			more, err := trialsOf(s, spending, sight, policies)
			if err != nil {
				return nil, nil, err
			}
			trials = append(trials, more...)
		}
		results, err := b.all(ctx, trials)
		if err != nil {
			return nil, nil, err
		}
		b.lines(results, sums)
		all = append(all, results...)
	}
	fmt.Fprintf(b.out, "  %-20s", "mean")
	for _, policy := range policies {
		fmt.Fprintf(b.out, " %9.3f", sums[policy]/float64(len(all)/len(policies)))
	}
	fmt.Fprintln(b.out)
	return all, sums, nil
}

// lines prints the scores of one trace, a line a budget, and adds them up.
func (b *bench) lines(results []simulate.Result, sums map[string]float64) {
	for i, r := range results {
		if i%len(policies) == 0 {
			fmt.Fprintf(b.out, "  %-14s %5s", r.Subject.Trace.Name, r.Spending)
		}
		fmt.Fprintf(b.out, " %9.3f", r.Worth())
		sums[r.Policy] += r.Worth()
		if i%len(policies) == len(policies)-1 {
			fmt.Fprintln(b.out)
		}
		if r.PerDay > 0 && r.Score.OverBudget(r.PerDay, r.Window) {
			b.missed = append(b.missed, fmt.Sprintf("%s on %s at %s spends %.2f a day of %.2f", r.Policy, r.Subject.Trace.Name, r.Spending, r.Score.PerDay, r.PerDay))
		}
	}
}

// worst is the lowest score of the adaptive policy.
func worst(results []simulate.Result) float64 {
	low := math.Inf(1)
	for _, r := range results {
		if r.Policy == "adaptive" {
			low = min(low, r.Worth())
		}
	}
	return low
}

// rawBytes scores the policies where nearly every visit looks changed.
func (b *bench) rawBytes(ctx context.Context) error {
	b.title("The same where a visit takes each change of the bytes for a change")
	subjects, err := b.subjects(false)
	if err != nil || len(subjects) == 0 {
		return err
	}
	results, _, err := b.table(ctx, subjects, simulate.Sight{Bytes: true})
	if err != nil {
		return err
	}
	fmt.Fprintln(b.out)
	b.atLeast("2. adaptive, worst score where bytes are seen", worst(results), -0.05)
	return nil
}

// calibrated compares what the adaptive policy foresaw with what it found.
func (b *bench) calibrated(results []simulate.Result) {
	var foresight changerate.Foresight
	for _, r := range results {
		if r.Policy == "adaptive" {
			foresight.Merge(&r.Foresight)
		}
	}
	all, made := &foresight.Corrected, &foresight.Made
	fmt.Fprintf(b.out, "\n  predicted chance that a visit sees a change, by decile, and what was seen:\n\n")
	for i, d := range all.Deciles {
		if d.Visits > 0 {
			fmt.Fprintf(b.out, "  %3d–%3d %%  %8d visits  predicted %5.1f %%  seen %5.1f %%  off by %5.1f points\n", 10*i, 10*i+10, d.Visits,
				100*d.Predicted/float64(d.Visits), 100*float64(d.Changed)/float64(d.Visits), 100*d.Off())
		}
	}
	fmt.Fprintf(b.out, "\n  Brier score %.4f, logarithmic loss %.4f; as the model made them, uncorrected, %.4f, %.4f, worst decile off by %.1f points\n\n",
		all.Brier(), all.LogLoss(), made.Brier(), made.LogLoss(), 100*made.Worst())
	b.atMost("6. adaptive, predicted against seen, worst decile, in points", 100*all.Worst(), 3)
}

// judged has freshjudge score the visits of the adaptive policy.
func (b *bench) judged(ctx context.Context, results []simulate.Result) error {
	dir, err := os.MkdirTemp("", "freshbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	judge := filepath.Join(dir, "freshjudge")
	build := exec.CommandContext(ctx, "go", "build", "-o", judge, ".")
	build.Dir = b.judge
	if _, err := os.Stat(filepath.Join(b.judge, "main.go")); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(b.out, "\nno freshjudge in %s: the visits are not judged by others\n", b.judge)
		return nil
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build freshjudge: %w\n%s", err, out)
	}
	fmt.Fprintf(b.out, "\n  freshjudge on the written visits of adaptive:\n\n")
	apart := 0.0
	for _, r := range results {
		if r.Policy != "adaptive" {
			continue
		}
		line, score, err := b.ask(ctx, judge, dir, r)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "  %-14s %5s  ours %.3f  %s\n", r.Subject.Trace.Name, r.Spending, r.Worth(), line)
		apart = max(apart, math.Abs(score-r.Worth()))
	}
	fmt.Fprintln(b.out)
	b.atMost("our judge and freshjudge, largest difference of a score", apart, 0.002)
	return nil
}

var (
	judgedLine = regexp.MustCompile(`VISIT-LOG +(.*)`)
	judgedOver = regexp.MustCompile(`visits/day.*`)
)

// ask is what freshjudge says of one log.
func (b *bench) ask(ctx context.Context, judge, dir string, r simulate.Result) (line string, score float64, err error) {
	visits := filepath.Join(dir, "visits.ndjson")
	f, err := os.Create(visits)
	if err == nil {
		err = errors.Join(simulate.WriteVisits(f, r.Subject.Trace, r.Log), f.Close())
	}
	if err != nil {
		return "", 0, err
	}
	out, err := exec.CommandContext(ctx, judge, "-trace", filepath.Join(b.traces, r.Subject.Trace.Name+".csv.gz"), "-meaningful",
		"-rel", strings.TrimSuffix(r.Spending.String(), "x"), "-ticks", "2000", "-only", "none", "-visits", visits).CombinedOutput()
	if err != nil {
		return "", 0, fmt.Errorf("freshjudge: %w\n%s", err, out)
	}
	found := judgedLine.FindSubmatch(out)
	if found == nil {
		return "", 0, fmt.Errorf("freshjudge says nothing of the visits:\n%s", out)
	}
	if _, err := fmt.Sscanf(string(found[1]), "fresh %f score %f", new(float64), &score); err != nil {
		return "", 0, fmt.Errorf("freshjudge: %w\n%s", err, out)
	}
	fields := strings.Fields(string(found[1]))
	_, over, _ := strings.Cut(string(judgedOver.Find(out)), ": ")
	return strings.Join(fields[:4], " ") + ", " + over, score, nil
}
