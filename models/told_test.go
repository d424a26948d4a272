package models

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTells: whatever a list tells of, no page is chosen twice, none that was visited since, and no more than is said.
func TestTells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Result{Lease: LeaseRef{HostID: 1}, Page: Page{ID: 99, SiteID: 1},
			Telling: Telling{At: 100, Forward: rapid.IntRange(0, 10).Draw(t, "forward"), Marked: rapid.IntRange(0, 10).Draw(t, "marked")}}
		var pages []Page
		for id := range int64(rapid.IntRange(0, 30).Draw(t, "pages")) {
			p := Page{ID: id, HostID: 1, SiteID: 1, State: StateLive, Rule: Rule(rapid.IntRange(1, int(RuleList)).Draw(t, "rule")),
				DueAt: Instant(rapid.IntRange(0, 300).Draw(t, "due"))}
			p.Stats.VisitedAt = Instant(rapid.IntRange(0, 120).Draw(t, "visited"))
			pages = append(pages, p)
			at := Instant(rapid.IntRange(1, 100).Draw(t, "told"))
			r.Told = append(r.Told, Told{PageID: id, Since: at - Instant(rapid.IntRange(0, 50).Draw(t, "for")), At: at})
		}
		forward, marked := r.Tells(pages)
		alone := slices.DeleteFunc(slices.Clone(marked), func(id int64) bool { return slices.Contains(forward, id) })
		if len(forward) > r.Telling.Forward || len(alone) > r.Telling.Marked {
			t.Fatalf("%d and %d chosen, at most %d and %d may be", len(forward), len(alone), r.Telling.Forward, r.Telling.Marked)
		}
		for _, list := range [][]int64{forward, marked} {
			if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(slices.Clone(sorted))) != len(list) {
				t.Fatalf("chosen twice: %v", list)
			}
		}
		for _, id := range marked {
			if p := pages[id]; p.Stats.VisitedAt >= r.Told[id].Since {
				t.Fatalf("marked: %+v, changed since %v", p, r.Told[id].Since)
			}
		}
		for _, id := range append(forward, marked...) {
			if p := pages[id]; p.Stats.VisitedAt >= r.Told[id].At || p.Rule == RuleDuplicate || p.DueAt == 0 {
				t.Fatalf("chosen: %+v, told at %v", p, r.Told[id].At)
			}
		}
		for _, id := range forward {
			if p := pages[id]; p.DueAt <= r.Telling.At || p.Rule == RuleManual || p.Rule == RulePaused || p.Rule == RuleBudget {
				t.Fatalf("brought forward: %+v", p)
			}
		}
	})
}

// TestTellsOfDays: a list that gives days alone tells for sure of a page that was visited on that day, where no visit has found a change
// since the day began: it was never judged otherwise, and brought pages forward for nothing at each reading.
func TestTellsOfDays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		stats ChangeStats
		sure  bool
	}{
		{"found the same on the day", ChangeStats{FirstAt: 10, ChangedAt: 20, VisitedAt: 80}, true},
		{"never seen to change", ChangeStats{FirstAt: 10, VisitedAt: 80}, true},
		{"changed on the day", ChangeStats{FirstAt: 10, ChangedAt: 60, VisitedAt: 80}, false},
		{"first seen on the day", ChangeStats{FirstAt: 60, VisitedAt: 80}, false},
		{"not visited since", ChangeStats{FirstAt: 10, ChangedAt: 20, VisitedAt: 40}, true},
	} {
		page := Page{ID: 7, HostID: 1, SiteID: 1, State: StateLive, Rule: RulePolicy, DueAt: 300, Stats: test.stats}
		r := Result{Lease: LeaseRef{HostID: 1}, Page: Page{ID: 99, SiteID: 1}, Told: []Told{{PageID: 7, Since: 50, At: 100}}, Telling: Telling{At: 100, Forward: 1}}
		if forward, marked := r.Tells([]Page{page}); len(forward) != 1 || (len(marked) == 1) != test.sure {
			t.Errorf("%s: brought forward %v and marked %v, want it marked: %v", test.name, forward, marked, test.sure)
		}
	}
}

// TestTrialsOfFourHints: trials that were written before lists were on trial are read, and what is known of the four hints
// alone is written as it was then.
func TestTrialsOfFourHints(t *testing.T) {
	t.Parallel()
	var four Trials
	four.Note(Finding{HintExpires, HintLate}, trialNow)
	value, err := four.Value()
	if err != nil {
		t.Fatal(err)
	}
	if b := value.([]byte); len(b) != 1+3+4*5+2*4+5 { // numbers of one byte each, but for one time of six
		t.Errorf("%d bytes: % x", len(b), b)
	}
	var got Trials
	if err := got.Scan(value); err != nil || got != four {
		t.Errorf("read %+v, %v, want %+v", got, err, four)
	}
}

// TestSitemapsMayBeSilent: that a list or a publisher says nothing of a change costs no trust.
func TestSitemapsMayBeSilent(t *testing.T) {
	t.Parallel()
	var trials Trials
	for _, hint := range []Hint{HintSitemap, HintAnnounced} {
		for range 4 {
			trials.Note(Finding{hint, HintMiss}, trialNow)
		}
		if tr := trials.By[hint]; tr.Misses != 4 || !trials.Trusts(hint) || tr.InARow != 0 {
			t.Errorf("after four changes that it said nothing of: %v %+v", hint, tr)
		}
	}
}

// TestTrialsOfPublishersAlone: what is known of a later hint is kept where nothing is of one between.
func TestTrialsOfPublishersAlone(t *testing.T) {
	t.Parallel()
	var alone, got Trials
	alone.Note(Finding{HintAnnounced, HintHit}, trialNow)
	value, err := alone.Value()
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Scan(value); err != nil || got != alone {
		t.Errorf("read %+v, %v, want %+v", got, err, alone)
	}
}
