package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is a suffix and how many base units (nanoseconds, bytes) it stands for.
type unit struct {
	suffix string
	size   int64
}

// The largest come first: formatting takes the first that fits. Weeks are read but not written: 30d and 28d are easier
// to compare than 30d and 4w.
var (
	durationUnits = []unit{
		{"d", int64(24 * time.Hour)}, {"h", int64(time.Hour)}, {"m", int64(time.Minute)}, {"s", int64(time.Second)},
		{"ms", int64(time.Millisecond)}, {"us", int64(time.Microsecond)}, {"ns", 1}, {"w", int64(7 * 24 * time.Hour)},
	}
	sizeUnits = []unit{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
	}
)

// ParseDuration reads a duration with its unit, as in "90s", "6h", "1h30m", "30d", "2w" or "1.5h". A day is 24 hours.
// A number without a unit is an error that says what to write.
func ParseDuration(text string) (time.Duration, error) { return parseDuration(text, "s") }

// parseDuration is ParseDuration with the unit to advise where none is written.
func parseDuration(text, advice string) (time.Duration, error) {
	if isNumber(text) {
		return 0, fmt.Errorf("%s has no unit, write %s%s", text, text, advice)
	}
	n, err := sumUnits(text, durationUnits)
	if positive, found := strings.CutPrefix(text, "-"); found {
		if _, err := sumUnits(positive, durationUnits); err == nil {
			return 0, fmt.Errorf("%s is not a duration, none is less than 0s: write one like 90s, 6h or 30d", shown(text))
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration, write one like 90s, 6h or 30d", shown(text))
	}
	return time.Duration(n), nil
}

// ParseSize reads a number of bytes with its unit, as in "512MiB", "2GiB" or "10MB". A number without a unit is an
// error that says what to write.
func ParseSize(text string) (int64, error) {
	if isNumber(text) {
		return 0, fmt.Errorf("%s has no unit, write %sMiB or %sB", text, text, text)
	}
	n, err := sumUnits(text, sizeUnits)
	if err != nil {
		return 0, fmt.Errorf("%s is not a size, write one like 512MiB, 2GiB or 10MB", shown(text))
	}
	return n, nil
}

// parsePercent reads "15%" as 0.15. The result is finite.
func parsePercent(text string) (float64, error) {
	number, found := strings.CutSuffix(text, "%")
	if !found && isNumber(text) {
		v, _ := strconv.ParseFloat(text, 64)
		if v > 0 && v < 1 {
			return 0, fmt.Errorf("%s has no unit, write %s", text, formatPercent(v))
		}
		return 0, fmt.Errorf("%s has no unit, write %s%%", text, text)
	}
	if !found || !isNumber(number) {
		return 0, fmt.Errorf("%s is not a percentage, write one like 15%%", shown(text))
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a percentage, write one like 15%%", shown(text))
	}
	return v / 100, nil
}

// sumUnits reads numbers each followed by a unit and adds them up.
func sumUnits(text string, units []unit) (int64, error) {
	rest, sum := text, 0.0
	if rest == "" {
		return 0, strconv.ErrSyntax
	}
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return 0, strconv.ErrSyntax
		}
		number, err := strconv.ParseFloat(rest[:end], 64)
		if err != nil {
			return 0, err
		}
		u, ok := leadingUnit(rest[end:], units)
		if !ok {
			return 0, strconv.ErrSyntax
		}
		sum += number * float64(u.size)
		rest = rest[end+len(u.suffix):]
	}
	if sum >= math.MaxInt64 {
		return 0, strconv.ErrRange
	}
	return int64(math.Round(sum)), nil
}

// leadingUnit finds the unit that text begins with and that ends it or is followed by a digit.
func leadingUnit(text string, units []unit) (unit, bool) {
	end := strings.IndexAny(text, "0123456789")
	if end < 0 {
		end = len(text)
	}
	for _, u := range units {
		if text[:end] == u.suffix {
			return u, true
		}
	}
	return unit{}, false
}

// isNumber tells whether text is a plain decimal number. Only this form is taken: what strconv.ParseFloat reads beyond
// it (inf, 0x1p-2, 1_0) nobody means.
func isNumber(text string) bool {
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// FormatDuration writes a duration as ParseDuration reads it, in the fewest units that are exact: "6h", "1h30m", "90d".
func FormatDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0s"
	case d == math.MinInt64:
		return d.String() // has no positive counterpart
	case d < 0:
		return "-" + FormatDuration(-d)
	}
	var b strings.Builder
	rest := int64(d)
	for _, u := range durationUnits {
		if n := rest / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10) + u.suffix)
			rest %= u.size
		}
	}
	return b.String()
}

// FormatSize writes a number of bytes as ParseSize reads it, in the largest unit that is exact: "64MiB", "10MB", "17B".
func FormatSize(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// formatPercent writes a share as parsePercent reads it. Twelve digits hide that 0.07 × 100 is not quite 7.
func formatPercent(v float64) string {
	return strconv.FormatFloat(v*100, 'g', 12, 64) + "%"
}

// shown quotes a value for a message and keeps it short.
func shown(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}
