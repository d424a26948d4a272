package scheduler

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/config"
)

func window(t *testing.T, from, to time.Duration, zone string, days ...time.Weekday) config.Window {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	w := config.Window{From: from, To: to, Zone: location}
	for _, d := range days {
		w.Days[d] = true
	}
	if len(days) == 0 {
		w.Days = [7]bool{true, true, true, true, true, true, true}
	}
	return w
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	night := window(t, 22*time.Hour, 6*time.Hour, "Europe/Berlin")
	office := window(t, 8*time.Hour, 18*time.Hour, "UTC", time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday)
	lateFriday := window(t, 22*time.Hour, 6*time.Hour, "UTC", time.Friday)
	for _, test := range []struct {
		name    string
		windows []config.Window
		at      string
		want    bool
	}{
		{"no windows", nil, "2026-11-20T12:00:00Z", true},
		{"22:00 Berlin opens at 21:00 UTC in winter", []config.Window{night}, "2026-11-20T21:00:00Z", true},
		{"before it opens", []config.Window{night}, "2026-11-20T20:59:59Z", false},
		{"after midnight", []config.Window{night}, "2026-11-21T04:59:59Z", true},
		{"its end is outside", []config.Window{night}, "2026-11-21T05:00:00Z", false},
		{"summer time moves it", []config.Window{night}, "2026-07-01T20:00:00Z", true},
		{"a working day", []config.Window{office}, "2026-11-20T12:00:00Z", true},
		{"Saturday", []config.Window{office}, "2026-11-21T12:00:00Z", false},
		{"Saturday morning belongs to Friday's night", []config.Window{lateFriday}, "2026-11-21T05:00:00Z", true},
		{"Sunday morning does not", []config.Window{lateFriday}, "2026-11-22T05:00:00Z", false},
		{"either of two", []config.Window{night, office}, "2026-11-20T12:00:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, test.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := Allowed(test.windows, at); got != test.want {
			t.Errorf("%s: Allowed(%s) = %v, want %v", test.name, test.at, got, test.want)
		}
	}
}

func TestIntoWindowIsAllowedAndSoon(t *testing.T) {
	t.Parallel()
	windows := []config.Window{
		window(t, 22*time.Hour, 6*time.Hour, "Europe/Berlin"),
		window(t, 2*time.Hour, 3*time.Hour, "America/New_York", time.Sunday),
		window(t, 0, 24*time.Hour, "UTC", time.Wednesday),
		window(t, 9*time.Hour, 9*time.Hour+time.Minute, "Pacific/Auckland", time.Tuesday, time.Friday),
	}
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfN(rapid.SampledFrom(windows), 1, 3).Draw(t, "windows")
		at := noon.Add(time.Duration(rapid.Int64Range(0, int64(3*365*24*time.Hour)).Draw(t, "at")))
		got := IntoWindow(chosen, at, rapid.Float64Range(0, 0.99).Draw(t, "u"))
		if got.Before(at) || !Allowed(chosen, got) {
			t.Fatalf("IntoWindow(%v) = %v, allowed %v", at, got, Allowed(chosen, got))
		}
		if got.Sub(at) > 15*24*time.Hour {
			t.Fatalf("IntoWindow(%v) = %v, more than fifteen days on", at, got)
		}
		if Allowed(chosen, at) && !got.Equal(at) {
			t.Fatalf("IntoWindow moved %v although it is allowed", at)
		}
	})
}
