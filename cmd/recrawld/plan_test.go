package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/policy"
	"recrawld/scheduler/slo"
)

// planned is what the plan command answers as JSON.
func planned(t *testing.T, dir string, args ...string) planAnswer {
	t.Helper()
	text, complaint, code := desk(t, dir, append([]string{"--json", "plan"}, args...)...)
	var a planAnswer
	if err := json.Unmarshal([]byte(text), &a); err != nil || code != exitDone {
		t.Fatalf("plan %q ends with %d: %s %v", args, code, complaint, err)
	}
	return a
}

// alwaysOpen is the filled data without the windows of the site docs.
func alwaysOpen(t *testing.T) string {
	t.Helper()
	dir := filledData(t)
	text := strings.Replace(filledConfig, "    windows: [\"22:00-06:00 Europe/Berlin\"]\n", "", 1)
	if err := os.WriteFile(filepath.Join(dir, "recrawld.yaml"), []byte(text), 0o600); err != nil || text == filledConfig {
		t.Fatalf("write a configuration without windows: %v", err)
	}
	return dir
}

// What a service level takes is a budget that reaches it, and no sooner.
func TestPlanIsItsOwnInverse(t *testing.T) {
	t.Parallel()
	dir := alwaysOpen(t)
	need := planned(t, dir, "docs", "--slo", "60% of changes seen within 3d")
	if need.Goal == nil || !need.Goal.Attainable || need.Goal.Best.Share > 0.601 || need.Pages == 0 {
		t.Fatalf("the plan is %+v", need)
	}
	budget := fmt.Sprintf("%.6f/day", need.Goal.Best.PerDay)
	got := planned(t, dir, "docs", "--slo", "p60 3d", "--budget", budget).Budgets
	if len(got) != 1 || got[0].From != "--budget" || math.Abs(got[0].Best.Share-0.6) > 1e-3 || math.Abs(got[0].Soonest-3*24*3600) > 300 {
		t.Errorf("a budget of %s reaches %+v, want 60%% within 3d", budget, got)
	}
	bytes := fmt.Sprintf("%.0fB/day", need.Goal.Best.Bytes)
	for _, budget := range []string{bytes, budget + ", 1TiB/day", "1000000/day, " + bytes} {
		got := planned(t, dir, "docs", "--slo", "p60 3d", "--budget", budget).Budgets
		if len(got) != 1 || math.Abs(got[0].Best.Share-0.6) > 1e-3 || math.Abs(got[0].Best.PerDay-need.Goal.Best.PerDay) > 0.01 {
			t.Errorf("a budget of %s reaches %+v, want 60%% within 3d by %v", budget, got, need.Goal.Best.PerDay)
		}
	}
	if less := planned(t, dir, "docs", "--slo", "p60 3d", "--budget", fmt.Sprintf("%.6f/day", need.Goal.Best.PerDay*0.8)).Budgets; *less[0].Suffices {
		t.Errorf("less than what is needed suffices: %+v", less)
	}
}

func TestPlanInWords(t *testing.T) {
	t.Parallel()
	dir, open := filledData(t), alwaysOpen(t)
	for line, wants := range map[string][]string{
		"docs --slo=p90_10d":                {"docs: ", " on 1 host", "To see 90% of the changes within 10d takes ", "All pages alike, every "},
		"docs --slo=p95_1h":                 {"Unattainable: to see 95% of the changes within 1h.", "by windows: visits are allowed in 33.3% of the week; widen windows (site docs, recrawld.yaml:6)"},
		"open --slo=p95_1m":                 {"by cycle: no page is visited more often than every cycle, 6h; shorten cycle (recrawld.yaml:2)"},
		"blog --slo=p95_2d":                 {"no page was visited twice yet", "takes each to change every 20 days", "about 0.05 changes a day", "takes 0.48 visits"},
		"open --slo=70%_fresh":              {"To keep 70% of the pages fresh takes "},
		"open --budget=1000000/day":         {"A budget of 1000000/day sees 95% of the changes within ", "visits a day of it cannot be made"},
		"open --slo=p95_2d --budget=1B/day": {"Unattainable: within a budget of 1B/day, which reaches ", "Raise it to 1", "B/day, or"},
		"open --slo=p95_2d --budget=1/day":  {"Unattainable: within a budget of 1/day, which reaches ", "Raise it to "},
	} {
		args := strings.Fields("plan " + line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		data := dir
		if args[1] == "open" {
			data, args[1] = open, "docs"
		}
		got, complaint, code := desk(t, data, args...)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("plan %s does not say %q but (%d, %s)\n%s", line, want, code, complaint, got)
			}
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	dir := filledData(t)
	for line, want := range map[string]string{
		"plan docs":                          "--slo",
		"plan docs --slo=often":              "is not a service level, write one like",
		"plan docs --slo=p95_6":              "has no unit",
		"plan docs --budget=off":             "is no budget",
		"plan docs --budget=2000":            "has no unit, write 2000/day",
		"plan docs --budget=50MB":            "has no unit, write 50MB/day",
		"plan docs --budget=9/day,8/day":     "is no budget",
		"plan elsewhere --slo=90%_fresh":     "no site \"elsewhere\"",
		"plan docs --slo=90%_fresh --budget": "--budget",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		if _, complaint, code := desk(t, dir, args...); code == exitDone || !strings.Contains(complaint, want) {
			t.Errorf("%s ends with %d and complains %q, want %q", line, code, complaint, want)
		}
	}
}

// A host that is full, a budget of bytes, and pages of which nothing is known.
func TestPlanOfASaturatedHost(t *testing.T) {
	t.Parallel()
	c := config.Default()
	s := &planSite{force: &inForce{config: c, origins: config.DefaultOrigins()}, name: "a", settings: c.Defaults, pages: 1000, unseen: 400,
		cycle: time.Hour, crawl: []time.Duration{2 * time.Minute}, site: slo.Site{
			Classes: []slo.Class{{Rate: 0.5, Pages: 1000}}, Hosts: []slo.Host{{Name: "a.test", Slot: 2 * time.Minute}},
			Shortest: time.Hour, Longest: 30 * day, Body: 10_000, Spared: 1,
		}, budgets: []planBudget{{Budget: "1MiB/day", From: "recrawld.yaml:3", Bytes: 1 << 20}}}
	a, err := s.answer(config.Goal{Share: 0.95, Within: 6 * time.Hour}, config.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Goal.By) != 1 || a.Goal.By[0] != "politeness" || math.Abs(a.Goal.Best.Share-0.18) > 1e-6 {
		t.Errorf("the plan is %+v, want 18%% and politeness", a.Goal)
	}
	if b := a.Budgets[0]; *b.Suffices || math.Abs(b.Best.Bytes-1<<20) > 0.01*(1<<20) && b.Best.PerDay < 720 {
		t.Errorf("the budget reaches %+v", b)
	}
	var text strings.Builder
	if err := a.write(&text, report.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a.test is asked every 2 min and so 720 times a day at most", "Crawl-delay of 2 min", "400 of 1,000 pages were not visited twice"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the answer does not say %q:\n%s", want, text.String())
		}
	}
}

// Under adaptive the longest interval follows a budget that is small, and what a service level takes is such a budget.
func TestPlanUnderASmallBudget(t *testing.T) {
	t.Parallel()
	c := config.Default()
	s := &planSite{force: &inForce{config: c, origins: config.DefaultOrigins()}, name: "a", settings: c.Defaults, pages: 100_000, cycle: 6 * time.Hour,
		site: slo.Site{Classes: []slo.Class{{Rate: 0.01, Pages: 50_000}, {Rate: 0, Pages: 50_000}}, Hosts: []slo.Host{{Name: "a.test"}},
			Shortest: 6 * time.Hour, Longest: 30 * day}}
	s.settings.Policy = "adaptive"
	last := 0.0
	for _, share := range []float64{0.51, 0.55, 0.6, 0.7} {
		need, err := s.answer(config.Goal{Share: share}, config.Budget{})
		if err != nil || !need.Goal.Attainable {
			t.Fatalf("%v fresh: %+v, %v", share, need, err)
		}
		got, err := s.answer(config.Goal{}, config.Budget{Requests: config.Rate{PerDay: need.Goal.Best.PerDay}})
		if err != nil || math.Abs(got.Budgets[0].Fresh-share) > 2e-3 || need.Goal.Best.PerDay < last {
			t.Errorf("%v fresh takes %v visits a day, which keep %+v fresh, %v", share, need.Goal.Best.PerDay, got.Budgets, err)
		}
		last = need.Goal.Best.PerDay
	}
	for _, perDay := range []float64{3, 2.5, 1} { // three rounds take centuries
		if got, err := s.answer(config.Goal{}, config.Budget{Requests: config.Rate{PerDay: perDay}}); err != nil || got.Budgets[0].Fresh < 0.5 {
			t.Errorf("%v visits a day keep %+v fresh, %v; want the half that never changes", perDay, got, err)
		}
	}
}

func TestPlanNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		planShare(0.95): "95%", planShare(0.9999): "99.9%", planShare(0.123): "12.3%", planCount(1929.2): "1,930", planCount(0.43): "0.43",
		planNumber(86.1): "86", planNumber(1240): "1,240", planSpan(90): "1m30s", planSpan(20784): "5h46m", planSpan(44512): "12h20m",
		planSpan(399600): "4d15h", planSpan(5e6): "58d",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a plan reckons with is the length of cron cycles, and not how long it is until one begins.
func TestPlanCountsCronCyclesAsLongAsTheyAre(t *testing.T) {
	t.Parallel()
	calendar, err := scheduler.ParseCycle("0 3 * * *")
	if err != nil {
		t.Fatal(err)
	}
	s := &planSite{settings: config.Default().Defaults}
	s.settings.Policy, s.settings.FRMax = policy.AdaptiveName, 10
	s.bounds(&look{calendar: calendar, now: time.Date(2026, 5, 1, 2, 59, 0, 0, time.UTC)})
	if s.site.Shortest != 24*time.Hour || s.site.Longest != 240*time.Hour {
		t.Errorf("pages are visited every %v to %v, want 24h to 240h", s.site.Shortest, s.site.Longest)
	}
}
