package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

const (
	minCycle = time.Minute
	maxCycle = 366 * day

	defaultCycle = 6 * time.Hour
)

// checkCycle accepts a duration or a cron expression that comes up at all.
func checkCycle(text string) error {
	if !strings.ContainsAny(text, " @=") {
		d, err := parseDuration(text, "h")
		if err != nil {
			return err
		}
		return between(d, minCycle, maxCycle, FormatDuration)
	}
	return checkCron(text)
}

func checkCron(text string) error {
	// The parser slices out of bounds where a zone is all there is.
	zone, rest, _ := strings.Cut(text, " ")
	if strings.Contains(zone, "TZ=") && strings.TrimSpace(rest) == "" {
		return fmt.Errorf("%s has a time zone and no times", shown(text))
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return fmt.Errorf("%s is not a cron expression (five fields, as in \"0 */6 * * *\"): %w", shown(text), err)
	}
	// The search for the next time gives up after five years; a leap day comes within them from any year but around
	// 2100. Any moment does to begin at.
	if schedule.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return errors.New("cron expression " + shown(text) + " never comes up")
	}
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return between(every.Delay, minCycle, maxCycle, FormatDuration)
	}
	return nil
}
