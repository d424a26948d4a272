package scheduler

import (
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// A page waited for its host where it is visited as soon as that opens, as a clock shows it that goes on between two visits; not where it waited behind
// the robots.txt that it asked for itself.
func TestWhatWaitsForItsHost(t *testing.T) {
	t.Parallel()
	w := &Worker{Config: Config{Clock: clock.NewVirtual(noon)}}
	page, opens := livePage(), models.At(noon.Add(time.Hour))
	at := func(after time.Duration, owed, follows bool) slot {
		return slot{at: opens.Time().Add(after), before: opens, owed: owed, follows: follows}
	}
	for name, c := range map[string]struct {
		taken slot
		delay time.Duration
		want  bool
	}{
		"as it opens":                         {at(0, false, false), 10 * time.Second, true},
		"a moment later":                      {at(3*time.Microsecond, false, false), 10 * time.Second, true},
		"long after":                          {at(time.Minute, false, false), 10 * time.Second, false},
		"behind its robots.txt":               {at(0, true, true), 10 * time.Second, false},
		"without a delay, behind another":     {at(3*time.Millisecond, false, true), 0, true},
		"without a delay, of a lease of now":  {at(3*time.Millisecond, false, false), 0, false},
		"without a delay, long after another": {at(time.Second, false, true), 0, false},
		"without a delay, behind robots.txt":  {at(0, true, true), 0, false},
	} {
		if got := w.late(&page, c.taken, c.delay); got != c.want {
			t.Errorf("%s: late = %v, want %v", name, got, c.want)
		}
	}
}
