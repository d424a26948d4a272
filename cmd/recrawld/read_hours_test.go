package main

import (
	"testing"

	"recrawld/scheduler"
	"recrawld/scheduler/changerate"
)

func TestWhySaysWhenAHostChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hours changerate.Hours
		want  string
	}{
		{changerate.Hours{}, ""},
		{changerate.Hours{From: 5, Count: 1, Likely: 0.97}, ", mostly between 05:00 and 06:00 UTC, after which it is visited"},
		{changerate.Hours{From: 22, Count: 10, Workdays: true, Likely: 0.7},
			", perhaps mostly between 22:00 and 08:00 UTC from Monday to Friday, after which it is visited"},
	} {
		if got := hoursWords(&scheduler.Explanation{Hours: tt.hours}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.hours, got, tt.want)
		}
	}
}
