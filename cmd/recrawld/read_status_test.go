package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// What a day's visits found adds up: a person who reads of 1,346 visits and 71 findings asks where the others went.
func TestStatusTellsOfAllVisitsOfToday(t *testing.T) {
	t.Parallel()
	day := statusDay{Visits: 20, NotModified: 5, Changed: 1, New: 2, Moved: 3, Gone: 4, Failed: 5, Bytes: 2048, BytesSaved: 1024}
	want := "20 visits, 25 % not modified, 1 changed, 2 new, 3 moved, 4 not found, 5 failed; 2 KiB received, 1 KiB spared"
	if got := day.words(); got != want {
		t.Errorf("words() = %q, want %q", got, want)
	}
	if got := day.plus(day); got.Moved != 6 || got.Gone != 8 {
		t.Errorf("two such days: %d moved, %d gone, want 6 and 8", got.Moved, got.Gone)
	}
}

// Right after an import no page has an interval: 0 turns a day would say that none will be visited.
func TestStatusTellsOfPagesWithoutAnInterval(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]status{
		"0 turns a day at the present intervals":                           {},
		"12 turns a day at the present intervals":                          {PerDay: 12},
		"none yet: 2,000 pages to be visited first":                        {NoPlan: 2000},
		"12 turns a day at the present intervals; 3 pages without one yet": {PerDay: 12, NoPlan: 3},
	} {
		if got := s.planWords(); got != want {
			t.Errorf("planWords of %g turns a day and %d pages = %q, want %q", s.PerDay, s.NoPlan, got, want)
		}
	}
}

// How long a first pass takes by a budget is said while it is more than a day.
func TestBudgetTellsOfTheFirstPass(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]statusBudget{
		"2000/day, 0 of 2,000 requests used today; 90,000 pages never visited yet, at least 45 d at that pace": {Budget: "2000/day", PerDay: 2000, New: 90_000, First: 45 * 86400},
		"2000/day, 0 of 2,000 requests used today":                                                             {Budget: "2000/day", PerDay: 2000, New: 10, First: 432},
	} {
		if got := b.words(); got != want {
			t.Errorf("words of %d new pages = %q, want %q", b.New, got, want)
		}
	}
}

// Where a window has more than a day brings it is said why.
func TestBudgetTellsOfItsWindows(t *testing.T) {
	t.Parallel()
	const want = "100/day, 700 requests used today, 600 more than a day brings"
	b := statusBudget{Budget: "100/day", PerDay: 100, Used: 700}
	if got := b.words(); got != want {
		t.Errorf("words = %q, want %q", got, want)
	}
	if b.closes = true; b.words() != want+": what comes in while its windows are closed is spent as one opens" {
		t.Errorf("words of a budget with windows = %q", b.words())
	}
	window, err := config.ParseWindow("Sun 02:00-10:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	for _, always := range []bool{false, true} {
		c := config.Default()
		rows := []models.Site{{ID: 1}, {ID: 2}}
		for i := range rows {
			c.Sites = append(c.Sites, config.Site{ID: rows[i].ID, Settings: c.Defaults})
			if i > 0 || !always {
				c.Sites[i].Settings.Windows = []config.Window{window}
			}
		}
		l := &look{force: &inForce{config: c, rows: rows}}
		if all, first, second := l.closes(0), l.closes(1), l.closes(2); all == always || first == always || !second {
			t.Errorf("the first site has no windows: %v; the budget of all closes: %v, that of the first %v, of the second %v", always, all, first, second)
		}
	}
}

// TestStatusTellsOfAFullDisk: then nothing is visited, which the daemon itself may not be able to write down.
func TestStatusTellsOfAFullDisk(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "worker: {min_free: 0B}\n")
	must(t, "run", "-c", config, "--for", "100ms", "http://127.0.0.1:1/")
	for lines, want := range map[string]bool{"worker: {min_free: 0B}\n": false, "worker: {min_free: 1000000TiB}\n": true} {
		writeConfig(t, config, data, lines)
		text := must(t, "status", "-c", config)
		if got := strings.Contains(text, "none: the disk of "+data+" is nearly full: "); got != want {
			t.Errorf("with %q status says that the disk is nearly full: %v, want %v:\n%s", lines, got, want, text)
		}
	}
}

// What one worker may not do others do: a full disk is no word on them, and who looks elsewhere is told which of them stands still.
func TestStatusTellsWhichWorkerClaimsNothing(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	d := built(t, config)
	for name, share := range map[string]float64{"full": 0, "well": 0.5} {
		now := models.At(d.machine.Now())
		if err := d.store.Beat(t.Context(), models.Worker{Name: name, Machine: "m-" + name, StartedAt: now, BeatAt: now, RealBeatAt: now, Share: share}); err != nil {
			t.Fatal(err)
		}
	}
	text := must(t, "status", "--data", data)
	for line := range strings.Lines(text) {
		if held := strings.Contains(line, "claims nothing"); strings.Contains(line, "(full,") && !held || strings.Contains(line, "(well,") && held {
			t.Errorf("status says %q, want of the one with share 0 alone that it claims nothing", line)
		}
	}
	if !strings.Contains(text, "m-full") || strings.Count(text, "claims nothing") != 1 {
		t.Errorf("status does not say where the one is that claims nothing:\n%s", text)
	}
	for _, test := range []struct {
		store   string
		workers []workerStatus
		want    string
	}{
		{"postgres", []workerStatus{{Alive: true, Held: true}, {}}, "none"},
		{"postgres", []workerStatus{{Alive: true, Held: true}, {Alive: true}}, "none here"},
		{"sqlite", []workerStatus{{Alive: true}}, "none"}, // it has not looked at its disk yet
	} {
		if got := (status{Store: test.store, Workers: test.workers}).noVisits(); got != test.want {
			t.Errorf("noVisits on %s beside the workers %+v = %q, want %q", test.store, test.workers, got, test.want)
		}
	}
}

// One that died while it might claim nothing is dead, and not held.
func TestADeadWorkerIsNotHeld(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	d := built(t, config)
	long := models.At(d.machine.Now().Add(-time.Hour))
	if err := d.store.Beat(t.Context(), models.Worker{Name: "dead", Machine: "m", StartedAt: long, BeatAt: long, RealBeatAt: long}); err != nil {
		t.Fatal(err)
	}
	var s status
	if err := json.Unmarshal([]byte(must(t, "status", "--json", "--data", data)), &s); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Workers, func(w workerStatus) bool { return w.Name == "dead" })
	if i < 0 || s.Workers[i].Alive || s.Workers[i].Held {
		t.Errorf("status says of the workers %+v, want one that is dead and not held", s.Workers)
	}
}

// Workers that are named anew at each start, as in containers, do not fill the screen once they have ended: the last ones are told of, and how many there were.
func TestStatusCountsWorkersThatEndedLongAgo(t *testing.T) {
	t.Parallel()
	config, data := configure(t, "")
	d := built(t, config)
	for i := range 12 {
		began := models.At(d.machine.Now().Add(time.Duration(i-100) * time.Hour))
		if err := d.store.Beat(t.Context(), models.Worker{Name: fmt.Sprintf("pod-%d", 19-i), StartedAt: began, BeatAt: began}); err != nil {
			t.Fatal(err)
		}
	}
	text := must(t, "status", "--data", data)
	for name, want := range map[string]bool{"pod-8": true, "pod-9": true, "pod-10": true, "pod-11": false, "pod-19": false, d.start.Worker.Name: true, "9 more have ended before": true} {
		if got := strings.Contains(text, name); got != want {
			t.Errorf("status tells of %q: %v, want %v:\n%s", name, got, want, text)
		}
	}
}
