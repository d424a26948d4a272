package simulate

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"recrawld/internal/shared"
)

// The judge agrees with freshjudge, which was written by others and sees the trace and the log alone.
func TestJudgeAgreesWithFreshjudge(t *testing.T) {
	t.Parallel()
	source := shared.Path(t, "freshjudge/main.go")
	judge := filepath.Join(t.TempDir(), "freshjudge")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", judge, ".")
	build.Dir = filepath.Dir(source)
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("freshjudge cannot be built: %v\n%s", err, out)
	}
	for _, test := range []struct {
		trace      string
		meaningful bool
		x          float64
	}{
		{"ota-raw", true, 1},
		{"scoop-main", false, 0.3},
		{"slicer-forum", false, 3},
	} {
		t.Run(test.trace, func(t *testing.T) {
			t.Parallel()
			path := shared.Path(t, "traces/"+test.trace+".csv.gz")
			trace, err := ReadTrace(path, test.meaningful)
			if err != nil {
				t.Fatal(err)
			}
			perDay := trace.PerChange(test.x)
			log := everyOther(trace, RoundRobin(trace, perDay))
			got := theirs(t, judge, path, trace, log, test.meaningful, test.x)
			bounds, score := BoundsOf(trace, trace.Scored(Learn), perDay), Judge(trace, trace.Scored(Learn), log)
			for _, figure := range []struct {
				name        string
				ours, their float64
				within      float64
			}{
				{"freshness", score.Freshness, got.fresh, 1e-3},
				{"score", bounds.Of(score.Freshness), got.score, 1e-3 + 1e-3*math.Abs(got.score)},
				{"round robin", bounds.RoundRobin, got.uniform, 1e-3},
				{"bound", bounds.Clairvoyant, got.bound, 1e-3},
				{"waste", score.Waste, got.wasted, 2e-3},
				{"age in hours", score.Age.Hours(), got.age, 1e-3*got.age + 0.1},
				{"median delay in hours", score.Delay50.Hours(), got.delay50, 1e-3*got.delay50 + 0.1},
				{"visits a day", score.PerDay, got.perDay, 0.02},
				{"busiest week", score.Busiest, got.busiest, 0.3},
			} {
				t.Logf("%s: ours %.4f, theirs %.4f", figure.name, figure.ours, figure.their)
				if !(math.Abs(figure.ours-figure.their) <= figure.within) {
					t.Errorf("%s: ours %v, theirs %v", figure.name, figure.ours, figure.their)
				}
			}
		})
	}
}

// everyOther is a log that is not round robin: it leaves out every other page, so that freshness differs.
func everyOther(t *Trace, log []Seen) []Seen {
	var kept []Seen
	for _, v := range log {
		if v.Page%3 != 0 {
			kept = append(kept, v)
		}
	}
	return kept
}

type verdict struct{ bound, fresh, score, age, delay50, wasted, perDay, busiest, uniform float64 }

// theirs is what freshjudge says of a log.
func theirs(t *testing.T, judge, path string, trace *Trace, log []Seen, meaningful bool, x float64) verdict {
	t.Helper()
	visits := filepath.Join(t.TempDir(), "visits.ndjson")
	f, err := os.Create(visits)
	if err == nil {
		err = WriteVisits(f, trace, log)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-trace", path, "-rel", strconv.FormatFloat(x, 'f', -1, 64), "-ticks", "2000", "-visits", visits, "-only", "uniform"}
	if meaningful {
		args = append(args, "-meaningful")
	}
	out, err := exec.CommandContext(t.Context(), judge, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("freshjudge: %v\n%s", err, out)
	}
	number := func(pattern string) float64 {
		found := regexp.MustCompile(pattern).FindSubmatch(out)
		if found == nil {
			t.Fatalf("no %s in\n%s", pattern, out)
		}
		v, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return verdict{
		bound: number(`bound ([\d.]+)`), fresh: number(`VISIT-LOG +fresh ([\d.]+)`), score: number(`VISIT-LOG.*score +(-?[\d.]+)`),
		age: number(`VISIT-LOG.*age +([\d.]+)h`), delay50: number(`VISIT-LOG.*p50 +([\d.]+)h`), wasted: number(`VISIT-LOG.*wasted ([\d.]+)`),
		perDay: number(`mean ([\d.]+)`), busiest: number(`week ([\d.]+)`), uniform: number(`uniform +fresh ([\d.]+)`),
	}
}
