package sitemap

import (
	"strings"
	"time"
)

// layouts are W3C dates (https://www.w3.org/TR/NOTE-datetime), what is often written for them, and the dates of RSS. A
// date without a zone is UTC. Days before months or months before days, as in 02.01.2026, are not guessed at.
var layouts = [...]string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"20060102", "2006-01", "2006",
	"Mon, _2 Jan 2006 15:04:05 -0700", "Mon, _2 Jan 2006 15:04:05 GMT", "Mon, _2 Jan 2006 15:04:05 UTC",
	"_2 Jan 2006 15:04:05 -0700", "_2 Jan 2006 15:04:05 GMT",
}

// parseTime is the zero time for what is no date.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 64 {
		return time.Time{}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
