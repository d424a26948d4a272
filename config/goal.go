package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Goal is a service level: a share of the changes seen in time, or a share of the pages fresh. The zero Goal promises nothing.
type Goal struct {
	Share  float64       // above 0 and below 1
	Within time.Duration // how soon changes are seen, 1m–366d; 0: the share of pages that are fresh at any time
}

// IsZero tells whether nothing is promised.
func (g Goal) IsZero() bool { return g == Goal{} }

// Fresh tells whether the goal is a share of fresh pages.
func (g Goal) Fresh() bool { return g.Within == 0 }

// String is the goal as ParseGoal reads it.
func (g Goal) String() string {
	share := strconv.FormatFloat(100*g.Share, 'g', 6, 64)
	if g.Fresh() {
		return share + "% fresh"
	}
	return share + "% of changes seen within " + FormatDuration(g.Within)
}

var (
	within  = regexp.MustCompile(`^([0-9.]+)\s*% (?:of (?:all )?changes )?(?:are )?(?:seen )?(?:with)?in (\S+)$`)
	delayed = regexp.MustCompile(`^p([0-9.]+) (?:delay )?(?:of |<=? ?)?(\S+)$`)
	fresh   = regexp.MustCompile(`^([0-9.]+)\s*% (?:of (?:all )?pages )?(?:are )?fresh$`)
)

// ParseGoal reads "95% of changes seen within 6h" (or "95% within 6h"), "p95 delay 6h", or "90% fresh". The error says what
// to write.
func ParseGoal(text string) (Goal, error) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	parts := within.FindStringSubmatch(text)
	if parts == nil {
		parts = delayed.FindStringSubmatch(text)
	}
	isFresh := false
	if parts == nil {
		parts = fresh.FindStringSubmatch(text)
		isFresh = parts != nil
	}
	if parts == nil {
		return Goal{}, fmt.Errorf("%q is not a service level, write one like \"95%% of changes seen within 6h\", \"p95 delay 6h\" or \"90%% fresh\"", text)
	}
	percent, err := strconv.ParseFloat(parts[1], 64)
	if err != nil || !(percent > 0 && percent < 100) {
		return Goal{}, fmt.Errorf("%s is not a share, write one above 0%% and below 100%%: of all changes none is seen for sure", parts[1])
	}
	g := Goal{Share: percent / 100}
	if isFresh {
		return g, nil
	}
	if g.Within, err = parseDuration(parts[2], "h"); err == nil {
		err = checkWithin(g.Within)
	}
	if err != nil {
		return Goal{}, err
	}
	return g, nil
}

// check holds a goal to its bounds.
func (g Goal) check() error {
	if !(g.Share > 0 && g.Share < 1) {
		return fmt.Errorf("%s is not a share above 0%% and below 100%%", formatPercent(g.Share))
	}
	if g.Fresh() {
		return nil
	}
	return checkWithin(g.Within)
}

func checkWithin(d time.Duration) error { return between(d, time.Minute, 366*day, FormatDuration) }

// goal is a service level; off is none.
func goal(at *Goal) scalar[Goal] {
	return orOff(scalar[Goal]{at: at, parse: ParseGoal, format: Goal.String, bound: Goal.check})
}
