package main

import (
	"testing"
	"time"

	"recrawld/internal/origin/story"
	"recrawld/models"
)

// What the demo says it found are changes that there were: clocks and counters that passed for one are counted apart, or more
// would be found than the site made.
func TestDemoCountsMistakenChangesApart(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	world := story.Tell(1, start, 10*24*time.Hour)
	for _, h := range world.Hosts {
		h.Addr = "127.0.0.1:1"
	}
	host, _ := demoHost(world, story.Status)
	host.Addr = "127.0.0.1:2"
	var f demoFigures
	ticks, made := 0, 0
	for _, v := range host.Page("/").Versions[1:] {
		f.judge(world, models.Event{URL: host.URL("/"), NotBefore: models.At(v.At.Add(-time.Second)), At: models.At(v.At)})
		if v.Noise {
			ticks++
		} else {
			made++
		}
	}
	if ticks == 0 || made == 0 {
		t.Fatalf("the status page has %d ticks and %d changes: nothing to tell apart", ticks, made)
	}
	if f.mistaken != int64(ticks) || f.found != int64(made) {
		t.Errorf("found %d and mistaken %d, want %d and %d", f.found, f.mistaken, made, ticks)
	}
}

// Whoever ends the demo before its time reads how long it ran.
func TestHeadingOfADemoThatWasEnded(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	d := demo{demoCmd: demoCmd{For: 90 * time.Second}, start: start, began: start}
	if got, want := d.heading(start.AddDate(0, 0, 33), start.Add(40*time.Second+300*time.Millisecond)),
		"33 d of a made-up site in 40 s, from 23 November 2026 to 26 December 2026:"; got != want {
		t.Errorf("heading %q, want %q", got, want)
	}
}
