package verify

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestInterval: values of Clopper and Pearson's interval as R's binom.test gives them, and of the one-sided bound where none or all are bad.
func TestInterval(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bad, n    int64
		low, high float64
	}{
		{1, 10, 0.002528579, 0.4450161},
		{5, 100, 0.01643188, 0.1128349},
		{50, 100, 0.3983211, 0.6016789},
		{0, 1000, 0, 1 - math.Pow(0.05, 1.0/1000)},
		{10, 10, math.Pow(0.05, 0.1), 1},
		{0, 0, 0, 1},
	} {
		low, high := Interval(test.bad, test.n)
		if math.Abs(low-test.low) > 1e-6 || math.Abs(high-test.high) > 1e-6 {
			t.Errorf("Interval(%d, %d) = %.7f to %.7f, want %.7f to %.7f", test.bad, test.n, low, high, test.low, test.high)
		}
	}
	if _, high := Interval(0, 10_000); math.Abs(high*10_000/3-1) > 0.01 {
		t.Errorf("with none of 10,000 bad at most %v are, want three in that many: the rule of three", high)
	}
}

// TestIntervalHoldsWhatItPromises: the chance that fewer are found than at its low end, or more than at its high end, is 2.5 % there, by the
// sum of the binomial distribution; and it lies about the share that was found and grows with it.
func TestIntervalHoldsWhatItPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := int64(rapid.IntRange(2, 3000).Draw(t, "n"))
		bad := int64(rapid.IntRange(1, int(n-1)).Draw(t, "bad"))
		low, high := Interval(bad, n)
		if share := float64(bad) / float64(n); !(0 < low && low < share && share < high && high < 1) {
			t.Fatalf("Interval(%d, %d) = %v to %v, about %v", bad, n, low, high, share)
		}
		for _, end := range []struct {
			p    float64
			most int64
			want float64
		}{{high, bad, 0.025}, {low, bad - 1, 0.975}} {
			if got := binomial(end.most, n, end.p); math.Abs(got-end.want) > 1e-6 {
				t.Fatalf("Interval(%d, %d): at %v the chance of at most %d is %v, want %v", bad, n, end.p, end.most, got, end.want)
			}
		}
		if next, _ := Interval(bad+1, n); next <= low {
			t.Fatalf("Interval(%d, %d) begins at %v, with one more bad at %v", bad, n, low, next)
		}
	})
}

// binomial is the chance of at most k of n.
func binomial(k, n int64, p float64) float64 {
	sum := 0.0
	for i := int64(0); i <= k; i++ {
		all, _ := math.Lgamma(float64(n + 1))
		some, _ := math.Lgamma(float64(i + 1))
		rest, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(all - some - rest + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

// TestIntervalOfMany: it comes to something also where a sample is as large as any.
func TestIntervalOfMany(t *testing.T) {
	t.Parallel()
	const n = 10_000_000
	for _, bad := range []int64{1, 1000, n / 2, n - 1} {
		low, high := Interval(bad, n)
		share := float64(bad) / n
		width := 2 * 1.96 * math.Sqrt(share*(1-share)/n)
		if !(low < share && share < high) || high-low < width/2 || high-low > 4*width {
			t.Errorf("Interval(%d, %d) = %v to %v, want some %v about %v", bad, n, low, high, width, share)
		}
	}
}
