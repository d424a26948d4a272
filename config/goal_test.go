package config

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseGoal(t *testing.T) {
	t.Parallel()
	want := Goal{0.95, 6 * time.Hour}
	for text, want := range map[string]Goal{
		"95% of changes seen within 6h": want, "95% within 6h": want, "95% of changes within 6h": want,
		"95 % of all changes are seen in 6h": want, "p95 delay 6h": want, "P95 6h": want, "p95 delay <= 6h": want,
		"p99.9 delay of 30m": {0.999, 30 * time.Minute}, "p50 2d": {0.5, 2 * day},
		"90% fresh": {Share: 0.9}, "90% of pages are fresh": {Share: 0.9}, "  90%   fresh ": {Share: 0.9},
	} {
		got, err := ParseGoal(text)
		if err != nil || math.Abs(got.Share-want.Share) > 1e-12 || got.Within != want.Within {
			t.Errorf("ParseGoal(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "95%", "fresh", "0% fresh", "100% fresh", "101% within 6h", "95% within 6", "p95",
		"95% within 1s", "95% within 0h", "95% within 10000h", "..% fresh", "p95 delay never"} {
		if got, err := ParseGoal(text); err == nil || got != (Goal{}) {
			t.Errorf("ParseGoal(%q) = %+v, %v, want an error", text, got, err)
		}
	}
}

// A goal is written as it is read.
func TestGoalIsItsOwnWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := Goal{Share: float64(rapid.IntRange(1, 9999).Draw(t, "share")) / 10_000}
		if rapid.Bool().Draw(t, "within") {
			g.Within = time.Duration(rapid.IntRange(1, 366*24*60).Draw(t, "minutes")) * time.Minute
		}
		got, err := ParseGoal(g.String())
		if err != nil || math.Abs(got.Share-g.Share) > 1e-9 || got.Within != g.Within || g.check() != nil {
			t.Errorf("ParseGoal(%q) = %+v, %v, want %+v", g, got, err, g)
		}
	})
}
