package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
)

const day = 24 * time.Hour

// The arithmetic of the shipped rules, step by step.
func TestComparisonRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		rule    Func
		records int32
		bits    uint64
		every   time.Duration
		even    time.Duration
		want    time.Duration
	}{
		{"nutch begins at the even interval", Nutch, 1, 0, 0, 8 * day, 8 * day},
		{"nutch begins at 30 days without a budget", Nutch, 1, 0, 0, 0, 30 * day},
		{"nutch grows by 0.4", Nutch, 2, 0, 10 * day, 8 * day, 14 * day},
		{"nutch shrinks by 0.2", Nutch, 2, 1, 10 * day, 8 * day, 8 * day},
		{"nutch stays within a year", Nutch, 9, 0, 300 * day, 8 * day, 365 * day},
		{"storm begins at a day", Storm, 1, 0, 0, 8 * day, day},
		{"storm grows by half", Storm, 2, 0, 2 * day, 8 * day, 3 * day},
		{"storm moves half of the way to an hour", Storm, 2, 1, 25 * time.Hour, 8 * day, 13 * time.Hour},
		{"storm stays within 14 days", Storm, 9, 0, 13 * day, 8 * day, 14 * day},
		{"uniform keeps the even interval", Uniform, 9, 1, day, 8 * day, 8 * day},
		{"uniform is fixed without a budget", Uniform, 9, 1, day, 0, 0},
	} {
		in := Input{Stats: models.ChangeStats{Records: test.records, Bits: test.bits}, FRMax: 4, Start: 4, Ceiling: 100_000,
			Records: 20, Cycle: 15 * time.Minute, Every: test.every, Even: test.even}
		if got := test.rule(in).Every; got.Round(time.Second) != test.want {
			t.Errorf("%s: interval %v, want %v", test.name, got, test.want)
		}
	}
}

// Whatever the past, an interval lies within [1, ceiling] cycles, and fr_max is its number of cycles.
func TestComparisonIntervalsKeepTheirBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{
			Stats:   models.ChangeStats{Records: rapid.Int32Range(0, 1e6).Draw(t, "records"), Bits: rapid.Uint64().Draw(t, "bits")},
			FRMax:   rapid.IntRange(0, 1e6).Draw(t, "fr_max"),
			Ceiling: rapid.IntRange(1, 1e5).Draw(t, "ceiling"),
			Start:   rapid.IntRange(1, 1e5).Draw(t, "start"),
			Cycle:   time.Duration(rapid.Int64Range(int64(time.Minute), int64(366*day)).Draw(t, "cycle")),
			Every:   time.Duration(rapid.Int64Range(0, 1<<63-1).Draw(t, "every")),
			Even:    time.Duration(rapid.Int64Range(0, 1<<63-1).Draw(t, "even")),
		}
		for _, name := range []string{"nutch", "storm", "uniform"} {
			got := ByName[name](in)
			longest := times(in.Cycle, in.Ceiling)
			if got.FRMax < 1 || got.FRMax > in.Ceiling {
				t.Fatalf("%s(%+v) = fr_max %d, want within [1, %d]", name, in, got.FRMax, in.Ceiling)
			}
			if got.Every != 0 && (got.Every < in.Cycle || got.Every > longest) {
				t.Fatalf("%s(%+v) = every %v, want within [%v, %v]", name, in, got.Every, in.Cycle, longest)
			}
		}
	})
}
