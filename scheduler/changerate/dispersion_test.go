package changerate

import (
	"testing"

	"pgregory.net/rapid"
)

// commits is what visits to a hundred pages teach, each every fourth day for so many weeks, that change all at once on some days, at
// any hour.
func commits(seed uint64, weeks int) *rhythm {
	const pages, every, rate = 100, 4.0, 1.0 / 15
	r, uniform := new(rhythm), uniformOf(seed*31+5)
	end := float64(7 * weeks)
	var commits []float64
	for at := 15 * uniform(); at < end; at += 30 * uniform() {
		commits = append(commits, at)
	}
	var last [pages]float64
	for at := 0.0; at < end; at += every / pages {
		page := int(at*pages/every+0.5) % pages
		var changed float64
		for _, when := range commits {
			if when > last[page] && when <= at {
				changed = when
			}
		}
		if last[page] > 0 {
			r.learn(Gamma{Shape: 20, Days: 20 / rate}, 20_000+last[page], 20_000+at, at-last[page], changed > 0, min(20_000+changed, changed*1e9))
		}
		last[page] = at
	}
	return r
}

// Pages that change each by themselves are of dispersion 1, those that change together of many.
func TestDispersion(t *testing.T) {
	t.Parallel()
	var d dispersion
	if got := d.size(); got != usualDispersion {
		t.Errorf("before anything was seen it is %v, want %v", got, usualDispersion)
	}
	for seed := range uint64(5) {
		alone, together := flat(seed, 4000), commits(seed, 40)
		if got := alone.clumps.size(); got > 2 {
			t.Errorf("seed %d: of changes that come alone it is %v, want 1, and no more than 2", seed, got)
		}
		if got := together.clumps.size(); got < 10 {
			t.Errorf("seed %d: of a hundred changes at once it is %v, want more than 10", seed, got)
		}
	}
}

// A few commits that touch all pages make no hours, whatever hours they came at; of single changes as many would.
func TestCommitsAreNoRhythm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := commits(seed, 10)
		if s, likely := r.week(new(customs)); s != nil {
			t.Errorf("seed %d: hours are %.2f likely, dispersion %.1f", seed, likely, r.clumps.size())
		}
	}
}

// Whatever is entered, the dispersion is finite and at least 1.
func TestDispersionIsFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d dispersion
		for range rapid.IntRange(0, 200).Draw(t, "visits") {
			d.add(rapid.Float64Range(1, lastDay).Draw(t, "at"), rapid.Float64Range(0, 1).Draw(t, "chance"), rapid.Bool().Draw(t, "changed"))
		}
		if got := d.size(); !(got >= 1 && got < 1e6) {
			t.Errorf("dispersion %v", got)
		}
	})
}
