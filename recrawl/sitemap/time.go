package sitemap

import (
	"strings"
	"time"
)

// layout is a way to write a date, and how much later than its beginning it may be over: a date without a zone is read as
// UTC, and may be meant for any zone.
type layout struct {
	form string
	span func(time.Time) time.Time
}

// behind is how far the zone farthest behind UTC is behind it.
const behind = 12 * time.Hour

func atOnce(t time.Time) time.Time    { return t }
func someZone(t time.Time) time.Time  { return t.Add(behind) }
func oneMinute(t time.Time) time.Time { return t.Add(time.Minute) }
func oneDay(t time.Time) time.Time    { return t.AddDate(0, 0, 1).Add(behind) }
func oneMonth(t time.Time) time.Time  { return t.AddDate(0, 1, 0).Add(behind) }
func oneYear(t time.Time) time.Time   { return t.AddDate(1, 0, 0).Add(behind) }

// layouts are W3C dates (https://www.w3.org/TR/NOTE-datetime), what is often written for them, and the dates of RSS. Days
// before months or months before days, as in 02.01.2026, are not guessed at.
var layouts = [...]layout{
	{time.RFC3339, atOnce}, {"2006-01-02", oneDay}, {"2006-01-02T15:04Z07:00", oneMinute}, {"2006-01-02T15:04:05Z0700", atOnce},
	{"2006-01-02T15:04:05", someZone}, {"2006-01-02T15:04", someZone}, {"2006-01-02 15:04:05Z07:00", atOnce},
	{"2006-01-02 15:04:05 Z0700", atOnce}, {"2006-01-02 15:04:05", someZone}, {"2006-01-02 15:04", someZone},
	{"20060102", oneDay}, {"2006-01", oneMonth}, {"2006", oneYear},
	{"Mon, _2 Jan 2006 15:04:05 -0700", atOnce}, {"Mon, _2 Jan 2006 15:04:05 GMT", atOnce},
	{"Mon, _2 Jan 2006 15:04:05 UTC", atOnce}, {"_2 Jan 2006 15:04:05 -0700", atOnce}, {"_2 Jan 2006 15:04:05 GMT", atOnce},
}

// parseTime is when what a date names begins, and by when it is over in every zone that may be meant: the same where second
// and zone are told. Both are zero for what is no date.
func parseTime(s string) (begin, end time.Time) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 64 {
		return begin, end
	}
	for _, l := range layouts {
		if t, err := time.Parse(l.form, s); err == nil {
			t = t.UTC()
			return t, l.span(t)
		}
	}
	return begin, end
}
