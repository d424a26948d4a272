package main

import (
	"slices"
	"testing"
	"time"

	"recrawld/scheduler"
)

// A machine that is switched off every night, or a daemon that is started anew every day, must not keep its history for ever.
func TestOldRowsAreRemovedByADaemonThatRunsForHours(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	for _, name := range []string{"history", "events"} {
		jobs := d.jobs()
		i := slices.IndexFunc(jobs, func(j scheduler.Job) bool { return j.Name == name })
		began := d.clock.Now()
		first := jobs[i].Next(began)
		if wait := first.Sub(began); wait < time.Minute || wait > 2*time.Hour {
			t.Errorf("%s is done first %v after the start, want some minutes", name, wait)
		}
		if wait := jobs[i].Next(first).Sub(first); wait != 24*time.Hour {
			t.Errorf("%s is done again after %v, want a day", name, wait)
		}
	}
}
