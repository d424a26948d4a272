package models

import "time"

// Instant is a moment in Unix milliseconds, UTC; 0 means never. It is what the database keeps: one integer column on
// every engine, no time zone to lose.
type Instant int64

// At turns a time into an Instant. The zero time is never.
func At(t time.Time) Instant {
	if t.IsZero() {
		return 0
	}
	return Instant(t.UnixMilli())
}

// NotBefore is the first Instant that is not before a time, for what must not happen sooner. The zero time is never.
func NotBefore(t time.Time) Instant {
	at := At(t)
	if at.Time().Before(t) {
		at++
	}
	return at
}

// Time is the moment as a time in UTC; never is the zero time.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(i)).UTC()
}

// Add moves an instant; never stays never.
func (i Instant) Add(d time.Duration) Instant {
	if i == 0 {
		return 0
	}
	return i + Instant(d.Milliseconds())
}

// String is RFC 3339 in UTC, or "never".
func (i Instant) String() string {
	if i == 0 {
		return "never"
	}
	return i.Time().Format(time.RFC3339)
}
