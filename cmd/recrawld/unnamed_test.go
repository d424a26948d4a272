package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// releases is a site of ten pages with a new release every four days: each names its own script, style and images, one of which is where another
// leads, and its style a font. What former releases named answers as ever.
func releases(path string, now time.Time) string {
	release := int(now.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) / (4 * 24 * time.Hour))
	name, hash, _ := strings.Cut(strings.TrimPrefix(path, "/assets/"), ".")
	hash, _, _ = strings.Cut(hash, ".")
	switch {
	case path == "/":
		links := ""
		for i := range 9 {
			links += fmt.Sprintf("<a href=/p%d>page %d</a> ", i, i)
		}
		return fmt.Sprintf("<title>Docs</title><link rel=stylesheet href=/assets/site.%d.css>%s<img src=/assets/hero.%d.png>", release, links, release)
	case len(path) == 3 && path[1] == 'p':
		return fmt.Sprintf("<title>Page %c</title><link rel=stylesheet href=/assets/site.%d.css><script src=/assets/app.%d.js></script><p>What page %c says.",
			path[2], release, release, path[2]) + fmt.Sprintf("<a href=/>home</a><img src=/assets/led.%d.png>", release)
	case name == "led":
		return "to /assets/target." + hash + ".png"
	case name == "site":
		return "@font-face { src: url(/assets/font." + hash + ".woff2) }"
	case strings.HasPrefix(path, "/assets/"):
		return path
	}
	return ""
}

// perDay is how many visits a day were made to requisites in the last days.
func (w *deploying) perDay(last int) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := 0
	for day := w.day() - last; day < w.day(); day++ {
		for path, n := range w.days[day] {
			if strings.HasPrefix(path, "/assets/") {
				sum += n
			}
		}
	}
	return float64(sum) / float64(last)
}

// TestFormerReleasesAreNotVisited follows a site with releases for 44 days. Without a look at what is named each asset of each release is visited
// every day; with it those of the present one are, and of the former ones until two looks have not found them. Their copies stay.
func TestFormerReleasesAreNotVisited(t *testing.T) {
	if testing.Short() {
		t.Skip("weeks of visits by one worker: what is simultaneous about them others show")
	}
	t.Parallel()
	const days, last = 44, 8
	without := newDeploying(t, releases)
	without.follow(days)
	with := newDeploying(t, releases)
	with.beside = func(ctx context.Context) {
		if err := with.passUnnamed(ctx, with.clk.Now(), unnamedEvery); err != nil {
			t.Error(err)
		}
	}
	with.follow(days)
	before, after := without.perDay(last), with.perDay(last)
	t.Logf("visits to requisites a day, days %d to %d of %d releases of 6 assets: %.1f without, %.1f with", days-last, days, days/4, before, after)
	// 6 assets for each release: of the present one, and of those of two weeks and two days, two looks and how late these are.
	if before < 6*(days-last)/4 || after > 6*(16/4+2) || after < 6 {
		t.Errorf("%.1f visits a day to requisites without a look, %.1f with it", before, after)
	}
	for path, p := range with.pages() {
		var release int
		if n, err := fmt.Sscanf(strings.TrimLeft(path, "/abcdefghijklmnopqrstuvwxyz"), ".%d.", &release); n != 1 || err != nil {
			continue
		}
		switch former := release < (days-20)/4; {
		case former && (p.Rule != models.RuleUnnamed || p.DueAt != 0 || p.State != models.StateExcluded):
			t.Errorf("%s of a former release is %s, due at %s by %s, want it given up", path, p.State, p.DueAt, p.Rule)
		case former && p.Version == 0 && !p.LeadsAway():
			t.Errorf("%s of a former release has no copy", path)
		case release == (days-1)/4 && (p.GivenUp() || p.State == models.StateExcluded):
			t.Errorf("%s of the present release is %s by %s", path, p.State, p.Rule)
		}
	}
	counts, err := with.store.PageCounts(t.Context())
	if r := models.RequisitesBySite(counts)[with.site.ID]; err != nil || r.Kept > 6*6 || r.Resting < 6*(days-24)/4 {
		t.Errorf("%+v requisites, %v, want those of former releases to rest", r, err)
	}
	if err := with.store.CheckCounts(t.Context()); err != nil {
		t.Error(err)
	}
}
