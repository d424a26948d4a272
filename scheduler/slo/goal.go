package slo

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Goal is a service level: a share of the changes seen in time, or a share of the pages fresh.
type Goal struct {
	Share  float64       // above 0 and below 1
	Within time.Duration // how soon changes are seen; 0: the share of pages that are fresh at any time
}

// Fresh tells whether the goal is a share of fresh pages.
func (g Goal) Fresh() bool { return g.Within == 0 }

// String is the goal as ParseGoal reads it.
func (g Goal) String() string {
	share := strconv.FormatFloat(100*g.Share, 'g', 6, 64)
	if g.Fresh() {
		return share + "% fresh"
	}
	return share + "% of changes seen within " + g.Within.String()
}

var (
	within  = regexp.MustCompile(`^([0-9.]+)\s*% (?:of (?:all )?changes )?(?:are )?(?:seen )?(?:with)?in (\S+)$`)
	delayed = regexp.MustCompile(`^p([0-9.]+) (?:delay )?(?:of |<=? ?)?(\S+)$`)
	fresh   = regexp.MustCompile(`^([0-9.]+)\s*% (?:of (?:all )?pages )?(?:are )?fresh$`)
)

// ParseGoal reads "95% of changes seen within 6h" (or "95% within 6h"), "p95 delay 6h", or "90% fresh". Durations are
// read by the given function. The error says what to write.
func ParseGoal(text string, duration func(string) (time.Duration, error)) (Goal, error) {
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
	if g.Within, err = duration(parts[2]); err != nil {
		return Goal{}, err
	}
	if g.Within < time.Minute || g.Within > 366*24*time.Hour {
		return Goal{}, fmt.Errorf("%s is not between 1m and 366d", parts[2])
	}
	return g, nil
}
