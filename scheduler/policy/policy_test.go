package policy

import (
	"testing"

	"pgregory.net/rapid"

	"recrawld/models"
)

// The worked example of the rule: 45 records, 10 changes among the last 20, fr_max 3 becomes 2.
func TestClassicWorkedExample(t *testing.T) {
	t.Parallel()
	in := Input{Stats: models.ChangeStats{Records: 45, Bits: 0b1010101010101010101}, FRMax: 3, Ceiling: 120, Records: 20}
	if got := Differ(in.Stats, 20); got != 10 {
		t.Fatalf("Differ(%b, 20) = %d, want 10", in.Stats.Bits, got)
	}
	want := Choice{FRMax: 2, X: 20, Count: 10, B: 2}
	if got := Classic(in); got != want {
		t.Errorf("Classic(45 records, 10 changes in the last 20, fr_max 3) = %+v, want %+v", got, want)
	}
}

func TestClassic(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		stats   models.ChangeStats
		frMax   int
		ceiling int
		want    Choice
	}{
		{"no record", models.ChangeStats{}, 4, 120, Choice{FRMax: 4}},
		{"first record", models.ChangeStats{Records: 1}, 4, 120, Choice{FRMax: 2, X: 1, B: 1}},
		{"never changed", models.ChangeStats{Records: 500}, 20, 120, Choice{FRMax: 20, X: 20, B: 20}},
		{"always changed", models.ChangeStats{Records: 500, Bits: ^uint64(0)}, 9, 120, Choice{FRMax: 5, X: 20, Count: 19, B: 1}},
		{"at the floor", models.ChangeStats{Records: 500, Bits: ^uint64(0)}, 1, 120, Choice{FRMax: 1, X: 20, Count: 19, B: 1}},
		{"one old change", models.ChangeStats{Records: 30, Bits: 1 << 19}, 10, 120, Choice{FRMax: 15, X: 20, B: 20}},
		{"one change just inside", models.ChangeStats{Records: 30, Bits: 1 << 18}, 10, 120, Choice{FRMax: 15, X: 20, Count: 1, B: 20}},
		{"above the ceiling", models.ChangeStats{Records: 30}, 90, 10, Choice{FRMax: 10, X: 20, B: 20}},
		{"three of five", models.ChangeStats{Records: 5, Bits: 0b1011}, 8, 120, Choice{FRMax: 4, X: 5, Count: 3, B: 1}},
	} {
		in := Input{Stats: test.stats, FRMax: test.frMax, Ceiling: test.ceiling, Records: 20}
		if got := Classic(in); got != test.want {
			t.Errorf("%s: Classic(%+v) = %+v, want %+v", test.name, in, got, test.want)
		}
	}
}

func TestPoliciesKeepTheirBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{
			Stats:   models.ChangeStats{Records: rapid.Int32Range(0, 1e6).Draw(t, "records"), Bits: rapid.Uint64().Draw(t, "bits")},
			FRMax:   rapid.IntRange(0, 1e6).Draw(t, "fr_max"),
			Ceiling: rapid.IntRange(1, 1e5).Draw(t, "ceiling"),
			Start:   rapid.IntRange(1, 1e5).Draw(t, "start"),
			Records: rapid.IntRange(2, 64).Draw(t, "limit"),
		}
		for _, name := range Names() {
			if got := ByName[name](in).FRMax; got < 1 || got > in.Ceiling {
				t.Fatalf("%s(%+v) = %d, want within [1, %d]", name, in, got, in.Ceiling)
			}
		}
	})
}

// More changes never make the interval longer.
func TestClassicIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{
			Stats: models.ChangeStats{Records: rapid.Int32Range(1, 100).Draw(t, "records"), Bits: rapid.Uint64().Draw(t, "bits")},
			FRMax: rapid.IntRange(1, 200).Draw(t, "fr_max"), Ceiling: 1000, Records: rapid.IntRange(2, 64).Draw(t, "limit"),
		}
		more := in
		more.Stats.Bits |= 1 << rapid.IntRange(0, 63).Draw(t, "bit")
		if a, b := Classic(in).FRMax, Classic(more).FRMax; b > a {
			t.Fatalf("Classic(%b) = %d, with one more change %d", in.Stats.Bits, a, b)
		}
	})
}
