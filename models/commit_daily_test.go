package models

import "testing"

// A page that there is a copy of counts once a day as found, and once as lost, until it is found again.
func TestLooksOfADay(t *testing.T) {
	t.Parallel()
	const now, yesterday = Instant(20_000*millisADay + 5000), Instant(19_999*millisADay + 5000)
	for _, test := range []struct {
		name        string
		kind        OutcomeKind
		before      *Page
		found, lost int64
	}{
		{"not modified", NotModified, &Page{State: StateLive, Version: 1, TriedAt: yesterday}, 1, 0},
		{"never tried", Changed, &Page{State: StateLive, Version: 1}, 1, 0},
		{"back again", Changed, &Page{State: StateMissing, Version: 3, TriedAt: yesterday}, 1, 0},
		{"for the second time", NotModified, &Page{State: StateLive, Version: 1, Stats: ChangeStats{VisitedAt: now - 4000}, TriedAt: now - 4000}, 0, 0},
		{"after no answer", NotModified, &Page{State: StateLive, Version: 1, Failures: 1, Stats: ChangeStats{VisitedAt: yesterday}, TriedAt: now - 4000}, 1, 0},
		{"for the first time", First, &Page{State: StateNew}, 1, 0},
		{"not found", Missing, &Page{State: StateLive, Version: 1, TriedAt: yesterday}, 0, 1},
		{"not found again", Missing, &Page{State: StateMissing, Version: 1, TriedAt: yesterday}, 0, 0},
		{"found today and lost", Missing, &Page{State: StateLive, Version: 1, Stats: ChangeStats{VisitedAt: now - 1}, TriedAt: now - 1}, 0, 1},
		{"lost today and found", NotModified, &Page{State: StateMissing, Version: 1, Stats: ChangeStats{VisitedAt: now - 2}, TriedAt: now - 1}, 1, 0},
		{"gone, and found", Changed, &Page{State: StateGone, Version: 1, TriedAt: yesterday}, 1, 0},
		{"said to be gone", Gone, &Page{State: StateLive, Version: 1, TriedAt: yesterday}, 0, 1},
		{"gone before", Missing, &Page{State: StateGone, Version: 1, TriedAt: yesterday}, 0, 0},
		{"not found, without a copy", Missing, &Page{State: StateNew}, 0, 0},
		{"no answer", Failed, &Page{State: StateLive, Version: 1, TriedAt: yesterday}, 0, 0},
		{"leads elsewhere", Moved, &Page{State: StateLive, Version: 1, TriedAt: yesterday}, 0, 0},
		{"nobody knows what was before", NotModified, nil, 0, 0},
	} {
		var d Daily
		d.Count(&Result{Before: test.before, Visit: Visit{Kind: test.kind, At: now}})
		if d.Found != test.found || d.Lost != test.lost || d.FoundDays != test.found || d.LostDays != test.lost {
			t.Errorf("%s: %d found and %d lost, %d and %d days, want %d and %d", test.name, d.Found, d.Lost, d.FoundDays, d.LostDays, test.found, test.lost)
		}
	}
}

// A look stands for the days since the one before: how many pages there are of which some are looked at daily and others yearly is told by that.
func TestLooksStandForDays(t *testing.T) {
	t.Parallel()
	const now = Instant(20_000*millisADay + 5000)
	for _, test := range []struct {
		name        string
		kind        OutcomeKind
		state       PageState // after it
		ago         Instant   // days; 0: never
		found, lost int64
	}{
		{"found after a month", NotModified, StateLive, 30, 30, 0},
		{"found after years", NotModified, StateLive, 3000, LookedDays, 0},
		{"never looked at", Changed, StateLive, 0, 1, 0},
		{"lost after a week", Missing, StateMissing, 7, 0, 7},
		{"said to be gone after a month", Gone, StateMissing, 30, 0, 30},
		{"leads elsewhere", Moved, StateMoved, 30, 0, 0},
		{"leads where others lead", Moved, StateMissing, 30, 0, 30},
		{"the clock was set back", NotModified, StateLive, -3, 1, 0},
	} {
		before := &Page{State: StateLive, Version: 1}
		if test.ago != 0 {
			before.Stats.VisitedAt = now - test.ago*millisADay
		}
		var d Daily
		d.Count(&Result{Before: before, Page: Page{State: test.state}, Visit: Visit{Kind: test.kind, At: now}})
		if d.FoundDays != test.found || d.LostDays != test.lost {
			t.Errorf("%s: %d days found and %d lost, want %d and %d", test.name, d.FoundDays, d.LostDays, test.found, test.lost)
		}
	}
}
