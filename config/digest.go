package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Digest is what people are told of at a time: what a Mail and a Chat have in common.
type Digest struct {
	Every  string   // how often at most: a duration (1m–366d), a time of day ("Mon-Fri 07:00 Europe/Berlin") or a cron expression
	Sites  []string // names of the sites that are told of; none: all
	Kinds  []string // of events that are told of; default DigestKinds
	Weight float64  // key min_significance: changes of less are left out, 0–1; default 0
}

// DigestKinds are those of EventKinds that a person wants to hear of: pages that were refreshed say what they said.
func DigestKinds() []string {
	return []string{"new", "changed", "moved", "gone", "restored", "removed"}
}

// digestFields are the keys of a Digest, as those of what has one.
func digestFields[T any](in func(*T) *Digest) []field[T] {
	return []field[T]{
		{key: "every", of: func(t *T) value { return word(&in(t).Every, checkEvery) }},
		{key: "sites", of: func(t *T) value { return words(&in(t).Sites, checkName) }},
		{key: "kinds", of: func(t *T) value { return words(&in(t).Kinds, oneOf(EventKinds()...)) }},
		{key: "min_significance", of: func(t *T) value { return number(&in(t).Weight, 0, 1) }},
	}
}

// whole tells what is missing of a Digest, each key of which is good.
func (g *Digest) whole() error {
	if len(g.Kinds) == 0 {
		return errors.New("has no kinds, leave them out for those that a person wants to hear of")
	}
	return nil
}

// Due is the first moment behind another one at which it is told.
func (g *Digest) Due(after time.Time) time.Time {
	if d, err := ParseDuration(g.Every); err == nil {
		return after.Add(d)
	}
	if t, err := parseDayTime(g.Every); err == nil {
		return t.next(after)
	}
	schedule, err := cron.ParseStandard(g.Every)
	if err != nil { // what check refuses
		return after.Add(day)
	}
	return schedule.Next(after)
}

// checkEvery accepts a duration, a time of day with its zone, or a cron expression.
func checkEvery(text string) error {
	if strings.Contains(text, ":") && !strings.Contains(text, "=") { // which the zone of a cron expression has
		_, err := parseDayTime(text)
		return err
	}
	return checkCycle(text)
}

// dayTime is a time of day on some weekdays.
type dayTime struct {
	days [7]bool
	at   time.Duration
	zone *time.Location
}

// parseDayTime reads "07:00 Europe/Berlin" or "Mon-Fri 07:00 Europe/Berlin".
func parseDayTime(text string) (t dayTime, err error) {
	parts := strings.Fields(text)
	t.days = [7]bool{true, true, true, true, true, true, true}
	if len(parts) == 3 {
		if t.days, err = parseDays(parts[0]); err != nil {
			return t, err
		}
		parts = parts[1:]
	}
	if len(parts) == 0 || len(parts) > 2 {
		return t, fmt.Errorf("%s is not a time of day, write one like %q", shown(text), "Mon-Fri 07:00 Europe/Berlin")
	}
	at, ok := parseTimeOfDay(parts[0])
	switch {
	case !ok || at == day:
		return t, fmt.Errorf("%s is not a time of day, write one like 07:00", shown(parts[0]))
	case len(parts) == 1:
		return t, fmt.Errorf("%s has no time zone, write %q", shown(text), text+" UTC")
	}
	t.at = at
	t.zone, err = parseZone(parts[1])
	return t, err
}

// next is when it comes next. Where the clocks of the zone pass over it, it comes as much later as they do.
func (t dayTime) next(after time.Time) time.Time {
	y, m, d := after.In(t.zone).Date()
	for i := 0; ; i++ {
		next := time.Date(y, m, d+i, int(t.at/time.Hour), int(t.at%time.Hour/time.Minute), 0, 0, t.zone)
		meant := time.Date(y, m, d+i, 0, 0, 0, 0, time.UTC).Add(t.at)
		next = next.Add(max(meant.Sub(wall(next)), 0)) // Date goes back over a gap in zones west of UTC
		if next.After(after) && t.days[time.Date(y, m, d+i, 12, 0, 0, 0, t.zone).Weekday()] {
			return next.UTC()
		}
	}
}

// wall is what a clock on the wall shows, as a time of UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
