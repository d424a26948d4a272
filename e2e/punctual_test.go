package e2e

import (
	"slices"
	"time"

	"recrawld/models"
)

// How punctual turns are: half of them are hardly late, in real time, however busy the machine is; and few come before the interval less what its
// end varies by, as those do that something else brings forward.
const (
	hardlyLate = 60 * time.Millisecond
	variedTo   = 0.85
	fewEarly   = 0.03
)

// checkPunctual makes sure that turns come when they are due by what the one before left as fr_max. Where the host has other pages to be visited, or the
// machine other work, they come later; of a daemon that oversleeps, or counts cycles otherwise, all do.
func (r *rehearsal) checkPunctual(s state) {
	r.t.Helper()
	var late []time.Duration
	early := 0
	for _, visits := range s.visits {
		for i := 1; i < len(visits); i++ {
			before, v := visits[i-1], visits[i]
			if before.rule != models.RulePolicy || !before.kind.Observed() && before.kind != models.Skipped {
				continue
			}
			interval, gap := time.Duration(before.frMax)*cycle, v.at.Time().Sub(before.at.Time())
			late = append(late, time.Duration(float64(gap-interval)/r.anchor.Speed))
			if float64(gap) < variedTo*float64(interval) {
				early++
			}
		}
	}
	if len(late) < 500 {
		r.t.Fatalf("only %d turns were due by an interval", len(late))
	}
	slices.Sort(late)
	median, share := late[len(late)/2], float64(early)/float64(len(late))
	if median > hardlyLate {
		r.t.Errorf("half of %d turns came more than %v of real time after they were due, want at most %v", len(late), median, hardlyLate)
	}
	if share > fewEarly {
		r.t.Errorf("%.1f %% of %d turns came before %.2f of their interval was over, want at most %.0f %%", 100*share, len(late), variedTo, 100*fewEarly)
	}
	r.report("punctual: of %d turns half came within %v of real time after their interval, 95 %% within %v, %.1f %% before %.2f of it", len(late),
		median.Round(100*time.Microsecond), late[len(late)*95/100].Round(time.Millisecond), 100*share, variedTo)
}
