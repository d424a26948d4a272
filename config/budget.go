package config

import (
	"fmt"
	"strconv"
	"strings"
)

// The bounds of budgets. A page that is asked for once in 27 years is not kept fresh, and one that is asked for more
// than once a minute has no cycle that short.
const (
	leastPerDay, mostPerDay         = 0.001, 1e10
	leastPerPageDay, mostPerPageDay = 0.0001, 1440
	leastBytesPerDay                = 1 * kib
	mostBytesPerDay                 = 1 << 50
)

// DefaultBudget is what the policy adaptive spends where no budget is set: a page is visited every five days on
// average.
func DefaultBudget() Budget { return Budget{Requests: Rate{PerDay: 0.2, PerPage: true}} }

// IsZero tells whether b bounds nothing.
func (b Budget) IsZero() bool { return b.Requests.PerDay == 0 && b.Bytes == 0 }

// EffectiveBudget is the budget of all sites together: Budget, or DefaultBudget where none is set at all and every site
// has the policy adaptive, which cannot do without one. A Config without sites counts as one with the defaults.
func (c *Config) EffectiveBudget() Budget {
	if !c.Budget.IsZero() {
		return c.Budget
	}
	if len(c.Sites) == 0 && (c.Defaults.Policy != adaptive || !c.Defaults.Budget.IsZero()) {
		return Budget{}
	}
	for i := range c.Sites {
		if s := &c.Sites[i].Settings; s.Policy != adaptive || !s.Budget.IsZero() {
			return Budget{}
		}
	}
	return DefaultBudget()
}

// SiteBudget is the budget of one site alone, beside that of all: its own, or DefaultBudget where its policy is adaptive
// and neither it nor EffectiveBudget bounds anything. The zero Budget says that only the budget of all bounds the site.
func (c *Config) SiteBudget(s *Settings) Budget {
	if s.Policy == adaptive && s.Budget.IsZero() && c.EffectiveBudget().IsZero() {
		return DefaultBudget()
	}
	return s.Budget
}

// Of is r in requests a day where so many pages are known; 0 says that there is no bound.
func (r Rate) Of(pages int64) float64 {
	if r.PerPage {
		return r.PerDay * float64(pages)
	}
	return r.PerDay
}

// String is r as ParseRate reads it: "2000/day", "0.2/page/day", or "off" for no bound.
func (r Rate) String() string {
	switch number := strconv.FormatFloat(r.PerDay, 'f', -1, 64); {
	case r.PerDay == 0:
		return "off"
	case r.PerPage:
		return number + "/page/day"
	default:
		return number + "/day"
	}
}

// ParseRate reads a number of requests a day, "2000/day", or for each page known, "0.2/page/day"; "off" is no bound. The
// error says what to write instead.
func ParseRate(text string) (Rate, error) {
	if text == "off" {
		return Rate{}, nil
	}
	number, unit, found := strings.Cut(strings.ReplaceAll(text, "_", ""), "/")
	v, err := strconv.ParseFloat(number, 64)
	if !isNumber(number) || err != nil {
		return Rate{}, fmt.Errorf("%s is not a rate, write one like 2000/day or 0.2/page/day", shown(text))
	}
	r := Rate{PerDay: v, PerPage: unit == "page/day"}
	switch {
	case v == 0:
		return Rate{}, errNothing(text)
	case !found && v > mostPerPageDay:
		return Rate{}, fmt.Errorf("%s has no unit, write %s/day", shown(text), number)
	case !found:
		return Rate{}, fmt.Errorf("%s has no unit, write %s/day for all pages together or %[2]s/page/day for each", shown(text), number)
	case !r.PerPage && unit != "day":
		return Rate{}, fmt.Errorf("%s is not in days, write one like 2000/day or 0.2/page/day", shown(text))
	}
	return r, r.check()
}

// errNothing is the error of a budget of 0, by which some mean none at all and others no bound.
func errNothing(text string) error {
	return fmt.Errorf("%s would visit nothing, and off is no bound: write more than 0, or pause sites (recrawld pause SITE)", shown(text))
}

func (r Rate) check() error {
	if r.PerDay == 0 && !r.PerPage {
		return nil
	}
	low, high := leastPerDay, mostPerDay
	if r.PerPage {
		low, high = leastPerPageDay, mostPerPageDay
	}
	return between(r.PerDay, low, high, func(v float64) string { return Rate{v, r.PerPage}.String() })
}

func requests(at *Rate) scalar[Rate] {
	return scalar[Rate]{at: at, parse: ParseRate, format: Rate.String, bound: Rate.check}
}

// bytesADay is a number of bytes a day, "2GiB/day".
func bytesADay(at *int64) scalar[int64] {
	format := func(n int64) string { return FormatSize(n) + "/day" }
	return orOff(scalar[int64]{
		at: at, parse: ParseBytesADay, format: format,
		bound: func(n int64) error { return between(n, leastBytesPerDay, mostBytesPerDay, format) },
	})
}

// ParseBytesADay reads a number of bytes a day, "2GiB/day". The error says what to write instead.
func ParseBytesADay(text string) (int64, error) {
	size, unit, found := strings.Cut(text, "/")
	n, err := ParseSize(size)
	switch {
	case err == nil && n == 0:
		return 0, errNothing(text)
	case err == nil && unit == "day":
		return n, nil
	case err == nil && !found:
		return 0, fmt.Errorf("%s has no unit, write %s/day", shown(text), FormatSize(n))
	}
	return 0, fmt.Errorf("%s is not a size a day, write one like 512MiB/day or 2GiB/day", shown(text))
}

// bytesASecond reads "10MB/s".
func bytesASecond(at *int64) scalar[int64] {
	format := func(n int64) string { return FormatSize(n) + "/s" }
	return orOff(scalar[int64]{
		at: at, parse: parseBytesASecond, format: format,
		bound: func(n int64) error { return between(n, 64*kib, 1<<50, format) },
	})
}

func parseBytesASecond(text string) (int64, error) {
	size, unit, found := strings.Cut(text, "/")
	n, err := ParseSize(size)
	switch {
	case err == nil && unit == "s":
		return n, nil
	case err == nil && n > 0 && !found:
		return 0, fmt.Errorf("%s has no unit of time, write %s/s", shown(text), FormatSize(n))
	}
	return 0, fmt.Errorf("%s is not a size a second, write one like 512KiB/s or 10MB/s", shown(text))
}

// budgetShort is budget: 2000/day, short for budget: {requests: 2000/day}, and budget: off, which bounds neither.
func budgetShort(b *Budget) value {
	v := requests(&b.Requests)
	parse := v.parse
	v.parse = func(text string) (Rate, error) {
		if text == "off" {
			b.Bytes = 0
		}
		r, err := parse(text)
		if n, wrong := ParseBytesADay(text); err != nil && wrong == nil {
			return r, fmt.Errorf("%s is a size, and this a number of requests: write budget: { bytes: %s/day }", shown(text), FormatSize(n))
		}
		if size, _, _ := strings.Cut(text, "/"); err != nil && isZeroSize(size) {
			return r, errNothing(text)
		}
		return r, err
	}
	return v
}

// isZeroSize tells whether a text is 0 bytes, with its unit.
func isZeroSize(text string) bool {
	n, err := ParseSize(text)
	return err == nil && n == 0
}
