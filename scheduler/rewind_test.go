package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// A budget goes on with what was left of it: neither full again, nor empty until the moment comes that was written.
func TestRewindNoteKeepsWhatIsLeftOfABudget(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	back := models.Back{Now: models.At(now), By: 1000}
	ahead := note{requests: 2.5, bytes: -3, at: now.Add(700 * time.Millisecond), room: time.Hour, of: allowance{100, 1e6}}
	for _, body := range [][]byte{ahead.encode(), ahead.encode()[:olderNoteSize]} {
		got := decodeNote(RewindNote("budget/all", body, back), now, clockAhead)
		if want := (note{requests: 2.5, bytes: -3, at: now.Add(-300 * time.Millisecond), room: time.Hour, of: allowance{100, 1e6}}); got != want {
			t.Errorf("the budget is %+v, want %+v", got, want)
		}
	}
	passed := note{requests: 1, at: now.Add(-time.Hour)}.encode()
	for name, body := range map[string][]byte{"budget/all": passed, "price/all": ahead.encode(), "budget/odd": []byte("odd")} {
		if got := RewindNote(name, body, back); string(got) != string(body) {
			t.Errorf("%s was changed", name)
		}
	}
}
