package report

import (
	"math"
	"testing"
	"time"

	"recrawld/scheduler/changerate"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 s"}, {420 * time.Microsecond, "0.42 ms"}, {37 * time.Millisecond, "37 ms"}, {time.Second, "1 s"},
		{45 * time.Second, "45 s"}, {90 * time.Second, "1.5 min"}, {10 * time.Minute, "10 min"}, {time.Hour, "1 h"}, {6 * time.Hour, "6 h"},
		{26*time.Hour + 24*time.Minute, "26 h"}, {55*time.Hour + 12*time.Minute, "2.3 d"}, {14 * day, "14 d"},
		{9*day + 23*time.Hour, "10 d"}, {120 * day, "120 d"}, {5 * year / 2, "2.5 y"}, {-90 * time.Minute, "−1.5 h"},
		{math.MaxInt64, "never"}, {math.MinInt64, "−292 y"},
	} {
		if got := Span(tt.d); got != tt.want {
			t.Errorf("Span(%d) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		t             time.Time
		until, moment string
	}{
		{now.Add(56 * time.Hour), "in 2.3 d", "Mon 23 Nov 20:00"},
		{now.Add(-3 * time.Hour), "3 h ago", "Sat 21 Nov 09:00"},
		{now.Add(500 * time.Millisecond), "now", "Sat 21 Nov 12:00"},
		{now.Add(400 * day), "in 400 d", "26 Dec 2027 12:00"},
		{time.Time{}, "never", "never"},
	} {
		if got := Until(now, tt.t); got != tt.until {
			t.Errorf("Until(%v) = %q, want %q", tt.t, got, tt.until)
		}
		if got := Moment(now, tt.t); got != tt.moment {
			t.Errorf("Moment(%v) = %q, want %q", tt.t, got, tt.moment)
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, tt := range []struct {
		r    changerate.Rate
		want string
	}{
		{changerate.Rate{High: inf}, "–"},
		{changerate.Rate{PerDay: 1 / 9.1, Low: 1 / 13.0, High: 1 / 6.3}, "1 per 9.1 d (6.3–13)"},
		{changerate.Rate{PerDay: 8, Low: 2.5, High: inf}, "1 per 3 h (≤ 9.6)"},
		{changerate.Rate{High: 1 / 12.0}, "< 1 per 12 d"},
		{changerate.Rate{PerDay: 288, Low: 144, High: 360}, "1 per 5 min (4–10)"},
	} {
		if got := Rate(tt.r); got != tt.want {
			t.Errorf("Rate(%+v) = %q, want %q", tt.r, got, tt.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1234567), "-1,234,567"},
		{Count(int64(math.MinInt64)), "-9,223,372,036,854,775,808"},
		{Bytes(0), "0 B"}, {Bytes(1023), "1023 B"}, {Bytes(1024), "1 KiB"}, {Bytes(1258291), "1.2 MiB"},
		{Bytes(1<<40 - 1), "1 TiB"}, {Bytes(math.MaxInt64), "8192 PiB"},
		{Share(0, 0), "–"}, {Share(0, 5), "0 %"}, {Share(1, 1000), "< 1 %"}, {Share(999, 1000), "> 99 %"},
		{Share(37, 100), "37 %"}, {Share(5, 5), "100 %"},
		{Printable("a\x1b[31m\u009bb\tc"), "a\uFFFD[31m\uFFFDb\tc"}, {Printable("\xff"), "\uFFFD"},
		{Plural(1, "page"), "1 page"}, {Plural(3412, "page"), "3,412 pages"}, {Plural(2, "match"), "2 matches"},
		{Cycles(9, 56, 55*time.Hour+12*time.Minute, 14*day), "fr 9 / 56 (every 2.3 d, ceiling 14 d)"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestSpanNamesItsBins(t *testing.T) {
	t.Parallel()
	for upTo, want := range map[int]string{0: "1", 1: "1–2", 4: "1–16", 17: "1–131,072"} {
		if got := span(upTo); got != want {
			t.Errorf("span(%d) = %q, want %q", upTo, got, want)
		}
	}
}
