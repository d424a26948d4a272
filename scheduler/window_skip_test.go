package scheduler

import (
	"testing"
	"time"

	"recrawld/config"
)

// A local time that the change of the clocks skips is the moment of the change or later, east of Greenwich and west of it: a
// window never opens before its hour.
func TestFault_063_ASkippedHourOpensNoWindowEarly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		zone   string
		change time.Time // when local 02:00 becomes 03:00
	}{
		{"Europe/Berlin", time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)},
		{"America/New_York", time.Date(2026, 3, 8, 7, 0, 0, 0, time.UTC)},
		{"America/Los_Angeles", time.Date(2026, 3, 8, 10, 0, 0, 0, time.UTC)},
	} {
		for name, w := range map[string]config.Window{
			"02:30-04:00": window(t, 150*time.Minute, 4*time.Hour, test.zone),
			"02:00-03:00": window(t, 2*time.Hour, 3*time.Hour, test.zone),
		} {
			for minutes := -120; minutes < 0; minutes++ {
				at := test.change.Add(time.Duration(minutes) * time.Minute)
				if Allowed([]config.Window{w}, at) {
					t.Errorf("%s %s: Allowed at %s, want not before %s", name, test.zone, at.In(w.Zone), test.change.In(w.Zone))
					break
				}
			}
		}
		till := window(t, 0, 150*time.Minute, test.zone)
		if at := test.change.Add(-time.Minute); !Allowed([]config.Window{till}, at) {
			t.Errorf("00:00-02:30 %s: not Allowed at %s, want until the hour is skipped", test.zone, at.In(till.Zone))
		}
	}
}

// Of a local time that comes twice the first counts, in every zone.
func TestFault_063_ARepeatedHourIsTheFirst(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		zone     string
		from, to time.Duration
		opens    time.Time
	}{
		{"Europe/Berlin", 150 * time.Minute, 4 * time.Hour, time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)},
		{"America/New_York", 90 * time.Minute, 4 * time.Hour, time.Date(2026, 11, 1, 5, 30, 0, 0, time.UTC)},
		{"Australia/Lord_Howe", 105 * time.Minute, 4 * time.Hour, time.Date(2026, 4, 4, 14, 45, 0, 0, time.UTC)},
		{"Europe/Berlin", 4 * time.Hour, 5 * time.Hour, time.Date(2026, 10, 25, 3, 0, 0, 0, time.UTC)},
	} {
		w := []config.Window{window(t, test.from, test.to, test.zone)}
		if Allowed(w, test.opens.Add(-time.Second)) || !Allowed(w, test.opens) {
			t.Errorf("window %s: Allowed a second before %s is %v and then %v, want false and true", w[0], test.opens,
				Allowed(w, test.opens.Add(-time.Second)), Allowed(w, test.opens))
		}
	}
}

// TestFault_063_LeapDaysAndLateYears: a cycle of leap days skips the years without one, and time does not end in 2038.
func TestFault_063_LeapDaysAndLateYears(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cycle    string
		at, want time.Time
	}{
		{"0 6 29 2 *", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 2, 29, 6, 0, 0, 0, time.UTC)},
		{"24h", time.Date(2028, 2, 28, 12, 0, 0, 0, time.UTC), time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC)},
		{"0 0 * * *", time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC), time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)},
		{"24h", time.Date(2038, 1, 18, 12, 0, 0, 0, time.UTC), time.Date(2038, 1, 19, 12, 0, 0, 0, time.UTC)},
		{"0 0 * * *", time.Date(2038, 1, 19, 3, 14, 8, 0, time.UTC), time.Date(2038, 1, 20, 0, 0, 0, 0, time.UTC)},
	} {
		if got := mustParse(t, test.cycle).Due(test.at, 1, 0, 0.5); !got.Equal(test.want) {
			t.Errorf("%s after %s is due %s, want %s", test.cycle, test.at, got, test.want)
		}
	}
}
