package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"recrawld/internal/origin/story"
	"recrawld/models"
)

func TestPanelFitsTheTerminal(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	world := story.Tell(1, start, 10*24*time.Hour)
	f := demoFigures{now: start.Add(5 * 24 * time.Hour), asked: 12345, found: 321, made: 456,
		sum: models.Daily{NotModified: 7000}, pages: map[string]models.PageSummary{}}
	for i, h := range world.Hosts {
		h.Addr = "127.0.0.1:" + strings.Repeat("9", 5)
		f.sections = append(f.sections, demoSection{label: h.Label, pages: 20, frMax: int64(30 * (i + 1)), visits: 4000, changes: 300})
	}
	for _, at := range demoFollowed() {
		h, ok := demoHost(world, at[0])
		if !ok || h.Page(at[1]) == nil {
			t.Fatalf("the panel follows %s%s, which does not exist", at[0], at[1])
		}
		f.pages[h.URL(at[1])] = models.PageSummary{FRMax: 63, Records: 1000, Changes: 12}
	}
	for range demoRecent {
		f.recent = append(f.recent, models.Event{At: models.At(start), Kind: models.EventMoved, URL: world.Hosts[1].URL("/2026/03/" +
			strings.Repeat("long-", 20)), RedirectTo: world.Hosts[0].URL("/help/questions")})
	}
	for _, size := range [][2]int{{110, 40}, {100, 30}, {80, 24}, {40, 10}} {
		var out bytes.Buffer
		p := &demoPanel{out: &out, world: world, cycle: demoCycle, speed: 86400, length: time.Minute, colour: true, width: size[0],
			height: size[1], traces: map[string][]int32{}}
		for range 60 {
			out.Reset()
			p.draw(f, 30*time.Second, start)
		}
		lines := strings.Split(strings.NewReplacer("\x1b[K", "", "\x1b[J", "", "\x1b[?25l", "").Replace(out.String()), "\n")
		if len(lines) > size[1] {
			t.Errorf("%d lines on a terminal of %d", len(lines), size[1])
		}
		for _, line := range lines[1:] {
			if n := visibleWidth(line); n > size[0] {
				t.Errorf("a line is %d wide on a terminal of %d: %q", n, size[0], line)
			}
		}
	}
}

func TestSparklineRisesWithTheInterval(t *testing.T) {
	t.Parallel()
	if got, want := sparkline([]int32{1, 2, 8, 64}, 10), "▁▂▅█"; got != want {
		t.Errorf("sparkline() = %q, want %q", got, want)
	}
	long := make([]int32, 500)
	for i := range long {
		long[i] = 1
	}
	long[499] = 64
	if got, want := sparkline(long, 5), "▁▁▁▁█"; got != want {
		t.Errorf("sparkline() of a long history = %q, want %q, the present last", got, want)
	}
}

func TestBarCountsEighths(t *testing.T) {
	t.Parallel()
	for length, want := range map[float64]string{0: "", 0.5: "▌", 1: "█", 2.25: "██▎"} {
		if got := barOf(length); got != want {
			t.Errorf("barOf(%v) = %q, want %q", length, got, want)
		}
	}
}

func TestClipKeepsBothEnds(t *testing.T) {
	t.Parallel()
	if got, want := clip("abcdefghij", 5), "ab…ij"; got != want {
		t.Errorf("clip() = %q, want %q", got, want)
	}
	if got := clip("short", 5); got != "short" {
		t.Errorf("clip() = %q, want it unchanged", got)
	}
}
