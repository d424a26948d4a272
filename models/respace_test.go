package models

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const years = 50 * 365 * 24 * 3600

// respaced are hosts before and after, in seconds after the moment at which the clock showed something else.
var respaced = map[string]struct {
	set                       int // the clock, at 0
	now                       int // since 0, by the clock as it is now
	open, due, lease, backoff int
	opens, ready, leased      int // afterwards
	late, rest                int // Respacing.Due and Rest
	rests                     int // backoff afterwards
}{
	"forward, asked a moment ago":       {set: 3600, now: 3604, open: 9, due: -500, opens: 3614, ready: 3614},
	"by years":                          {set: years, now: years + 4, open: 9, due: -500, opens: years + 14, ready: years + 14},
	"forward, due later":                {set: 60, now: 64, open: 9, due: 5000, opens: 74, ready: 5000},
	"forward, to be left alone":         {set: 60, now: 64, open: 9, due: 1, backoff: 5000, opens: 74, rest: 60, rests: 5060, ready: 5060},
	"forward, left alone by another":    {set: 60, now: 64, open: -1, due: 1, backoff: 5000, opens: -1, rests: 5000, ready: 5000},
	"by years, to be left alone":        {set: years, now: years + 4, open: 9, due: 1, backoff: 5000, opens: years + 14, rest: years, rests: years + 5000, ready: years + 5000},
	"by years, left alone since":        {set: years, now: years + 4, open: 9, due: 1, backoff: years + 500, opens: years + 14, rest: years, rests: years + 7204, ready: years + 7204},
	"forward, a lease over, asked now":  {set: 60, now: 64, open: 9, due: -500, lease: -200, opens: 74, ready: 74, leased: -200},
	"back, to be left alone":            {set: -3600, now: -3596, open: -4000, due: -5000, backoff: 500, opens: -4000, rests: 500, ready: 500},
	"back by years, to be left alone":   {set: -years, now: -years + 4, open: 9, due: -years, backoff: 500, opens: -years + 14, rests: -years + 7204, ready: -years + 7204},
	"forward, open already":             {set: 60, now: 64, open: -1, due: 5000, opens: -1, ready: 5000},
	"forward, asked since":              {set: 60, now: 64, open: 72, due: 1, opens: 74, ready: 74},
	"forward, leased":                   {set: 3600, now: 3604, open: -20, due: -500, lease: 200, opens: -20, ready: 3604 + 300 + 10, leased: 3904},
	"forward, a lease that is over":     {set: 3600, now: 3604, open: -900, due: -500, lease: -200, opens: -900, ready: -190, leased: -200},
	"back, asked a moment ago":          {set: -3600, now: -3596, open: 9, due: -5000, opens: -3586, ready: -3586},
	"back by years":                     {set: -years, now: -years + 4, open: 9, due: -years, opens: -years + 14, ready: -years + 14},
	"back, asked before the time now":   {set: -3600, now: -3596, open: -4000, due: -5000, opens: -4000, ready: -4000},
	"back, was due":                     {set: -3600, now: -3596, late: 3600, open: -4000, due: -20, opens: -4000, ready: -3620},
	"back, was due, asked":              {set: -3600, now: -3596, late: 3600, open: 8, due: -20, opens: -3586, ready: -3586},
	"back, was not due":                 {set: -3600, now: -3596, late: 3600, open: -4000, due: 20, opens: -4000, ready: 20},
	"back after it was set forward":     {set: -3600, now: -3596, open: -4000, due: -20, opens: -4000, ready: -20},
	"back, asked since":                 {set: -3600, now: -3596, open: -3595, due: -5000, opens: -3586, ready: -3586},
	"back, booked for later":            {set: -3600, now: -3596, open: 70, due: -5000, opens: 70, ready: 70},
	"back, leased until long after now": {set: -3600, now: -3596, open: 9, due: -500, lease: 200, opens: -3586, ready: 210, leased: 200},
}

// TestHostsAreSpacedAnew after a clock was set: who was asked of late opens a delay after now, whichever way it was set, and who holds a
// lease keeps it; what was due, or to be left alone, is so still; nothing else changes.
func TestHostsAreSpacedAnew(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		const delay, lease = 10 * time.Second, 5 * time.Minute
		f := newFinder(t, dsn)
		page, err := f.s.Page(t.Context(), BucketOf("a.example"), PageID("https://a.example/"))
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range respaced {
			zero := f.now
			at := func(seconds int) time.Time { return zero.Add(time.Duration(seconds) * time.Second) }
			until := func(seconds int) Instant {
				if seconds == 0 {
					return 0
				}
				return At(at(seconds))
			}
			f.run(fmt.Sprintf(`UPDATE pages SET due_at = %d`, At(at(c.due))))
			ready := max(At(at(c.due)), At(at(c.open)), until(c.backoff))
			if c.lease != 0 {
				ready = until(c.lease) + Instant(delay.Milliseconds())
			}
			f.run(fmt.Sprintf(`UPDATE hosts SET open_at = %d, ready_at = %d, lease_until = %d, backoff_until = %d, delay = %d`,
				At(at(c.open)), ready, until(c.lease), until(c.backoff), delay))
			_, err := f.s.Respace(t.Context(), Respacing{Now: at(c.now).Add(-300 * time.Microsecond), From: at(min(c.set, 0)), To: at(max(c.set, 0)), Lease: lease,
				Due: time.Duration(c.late) * time.Second, Rest: time.Duration(c.rest) * time.Second, Most: 2 * time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			h, err := f.s.Host(t.Context(), page.Bucket, page.HostID)
			if err != nil {
				t.Fatal(err)
			}
			seconds := func(i Instant) int { return int(i.Time().Sub(zero) / time.Second) }
			if h.OpenAt != At(at(c.opens)) || h.ReadyAt != At(at(c.ready)) || h.LeaseUntil != until(c.leased) || h.BackoffUntil != until(c.rests) {
				t.Errorf("%s: the host opens at %d, is left alone until %d, ready at %d and leased until %d, want %d, %d, %d and %d", name, seconds(h.OpenAt),
					seconds(h.BackoffUntil), seconds(h.ReadyAt), seconds(h.LeaseUntil), c.opens, c.rests, c.ready, c.leased)
			}
		}
	})
}

// What was due is found by the hosts of a bucket: a bucket's pages alone would be all pages, read from all over the table.
func TestWhatWasDueReadsTheIndex(t *testing.T) {
	t.Parallel()
	s := planStore(t, liteFile(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	if plan := strings.Join(sqlitePlan(t, s, dueAgain), "\n"); !strings.Contains(plan, "pages_due (bucket=? AND host_id=? AND due_at>? AND due_at<?)") {
		t.Errorf("%s\nis answered by\n%s", dueAgain, plan)
	}
}
