package sink

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"recrawld/models"
)

// Withheld is a page that its sink could not take for a reason of the page's own. Its events wait in the database, in order,
// while those of other pages go on.
type Withheld struct {
	URL    string         `json:"url"`
	Why    string         `json:"why"`
	Since  models.Instant `json:"since"`
	Away   bool           `json:"away,omitempty"` // its copy is not to be had here
	Events []models.Event `json:"events"`
}

const (
	// maxWithheld is how many pages wait at most. Where there are more it is not the pages: everything waits then.
	maxWithheld = 1000

	retryMin   = 10 * time.Second // until a page that waits is tried again, and then twice as long each time, up to RetryMax
	retryBatch = 64               // pages without news that are tried again in one delivery
)

// RetryMax is how long a page that waits is not tried again at most, in real time.
const RetryMax = 10 * time.Minute

// WithheldKey is the key of the row with the pages that a sink could not take.
func WithheldKey(sink string) string { return "sink-withheld:" + sink }

// WithheldIn reads that row, the page that waits longest first.
func WithheldIn(row string) ([]Withheld, error) {
	if row == "" {
		return nil, nil
	}
	var pages []Withheld
	if err := json.Unmarshal([]byte(row), &pages); err != nil {
		return nil, fmt.Errorf("read what a sink withholds: %w", err)
	}
	return pages, nil
}

// waiting is what a Drain knows of the pages that wait.
type waiting struct {
	row   string // as it is in the database
	pages []Withheld
	tried map[string]try // by URL; none: since this process holds the sink it was not tried
	known bool           // it was read since this process holds the sink
}

// try says when a page that waits is tried again.
type try struct {
	next time.Time
	wait time.Duration // before that
}

// readWaiting reads what waits: no other process changes it while this one holds the sink.
func (d *Drain) readWaiting(ctx context.Context) (err error) {
	w := &d.waiting
	if w.row, err = d.log.Meta(ctx, WithheldKey(d.sink.Name())); err != nil {
		return err
	}
	w.pages, err = WithheldIn(w.row)
	w.known = err == nil
	return err
}

// retries tells whether a page that waits is to be tried again.
func (d *Drain) retries(ctx context.Context) (bool, error) {
	if !d.waiting.known {
		if err := d.readWaiting(ctx); err != nil {
			return false, err
		}
	}
	now := d.clock.Now()
	return slices.ContainsFunc(d.waiting.pages, func(p Withheld) bool { return d.waiting.due(p.URL, now) }), nil
}

func (w *waiting) due(url string, now time.Time) bool { return !now.Before(w.tried[url].next) }

// before puts the events of pages that waited before others: of those that the others are of, so that nothing overtakes them,
// and of those that are to be tried again.
func (w *waiting) before(events []models.Event, now time.Time) []models.Event {
	if len(w.pages) == 0 {
		return events
	}
	news := make(map[string]bool, len(events))
	for _, e := range events {
		news[e.URL] = true
	}
	var all []models.Event
	again := 0
	for _, p := range w.pages {
		if !news[p.URL] {
			if again == retryBatch || !w.due(p.URL, now) {
				continue
			}
			again++
		}
		all = append(all, p.Events...)
	}
	return append(all, events...)
}

// after is what waits when some events were delivered but for those of the pages refused.
func (w *waiting) after(delivered []models.Event, refused *Refused, now time.Time) []Withheld {
	tried := make(map[string]bool, len(delivered))
	for _, e := range delivered {
		tried[e.URL] = true
	}
	since := make(map[string]models.Instant, len(w.pages))
	var next []Withheld
	for _, p := range w.pages {
		since[p.URL] = p.Since
		if !tried[p.URL] {
			next = append(next, p)
		}
	}
	for _, p := range refused.Pages {
		next = append(next, Withheld{URL: p.URL, Why: p.Why.Error(), Since: cmp.Or(since[p.URL], models.At(now)), Away: p.Away, Events: last(p.Events)})
	}
	slices.SortFunc(next, func(a, b Withheld) int { return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.URL, b.URL)) })
	return next
}

// last leaves of the events of a page those that count for how it ends: of two of a kind the later one, which says all that the
// earlier does, unless that alone has a status. So a page that waits for long has some events and not thousands.
func last(events []models.Event) []models.Event {
	var kept []models.Event
	for i, e := range events {
		later := slices.ContainsFunc(events[i+1:], func(l models.Event) bool { return l.Kind == e.Kind && (l.Status != 0 || e.Status == 0) })
		if !later {
			kept = append(kept, e)
		}
	}
	return kept
}

// withhold notes what waits after a delivery, before the cursors pass it.
func (d *Drain) withhold(ctx context.Context, delivered []models.Event, refused *Refused) error {
	w, now := &d.waiting, d.clock.Now()
	next := w.after(delivered, refused, now)
	d.tryLater(next, refused, now) // also where they are too many: else the first of them were tried each time, and never the others
	for i := len(next) - 1; refused.passes && i >= 0 && len(next) > maxWithheld; i-- {
		if next[i].Away {
			refused.passed, refused.why = refused.passed+1, errors.New(next[i].Why)
			next = slices.Delete(next, i, i+1)
		}
	}
	if len(next) > maxWithheld {
		return tooMany(len(next), refused)
	}
	if err := d.writeWaiting(ctx, next); err != nil {
		return err
	}
	before := make(map[string]bool, len(w.pages))
	for _, p := range w.pages {
		before[p.URL] = true
	}
	for _, p := range next {
		if !before[p.URL] {
			d.opts.Log.Warn("sink cannot take a page, which waits; the others go on", slog.String("sink", d.sink.Name()),
				slog.String("page", p.URL), slog.Duration("retry", w.tried[p.URL].wait), slog.String("error", p.Why))
		}
	}
	for _, p := range w.pages {
		if !slices.ContainsFunc(next, func(n Withheld) bool { return n.URL == p.URL }) {
			d.opts.Log.Info("sink has taken a page that waited", slog.String("sink", d.sink.Name()), slog.String("page", p.URL))
		}
	}
	w.pages = next
	return nil
}

// tryLater puts off the pages just refused, each for longer than the last time, and forgets when others were tried that do not wait.
func (d *Drain) tryLater(next []Withheld, refused *Refused, now time.Time) {
	tried := make(map[string]try, len(next))
	for _, p := range next {
		if t, ok := d.waiting.tried[p.URL]; ok {
			tried[p.URL] = t
		}
	}
	for _, p := range refused.Pages {
		wait := min(max(2*tried[p.URL].wait, retryMin), RetryMax)
		tried[p.URL] = try{next: now.Add(d.clock.Real(wait)), wait: wait}
	}
	d.waiting.tried = tried
}

// withholdAnew is withhold for a sink that was made anew: what waited before is of no account.
func (d *Drain) withholdAnew(ctx context.Context, refused *Refused) error {
	if err := d.readWaiting(ctx); err != nil {
		return err
	}
	d.waiting.pages = nil
	return d.withhold(ctx, nil, refused)
}

// writeWaiting writes what waits, if that differs from what is there.
func (d *Drain) writeWaiting(ctx context.Context, next []Withheld) error {
	if len(next) == 0 && d.waiting.row == "" {
		return nil
	}
	if next == nil {
		next = []Withheld{} // an empty value would stand for a row that was never set
	}
	row, err := d.rewrite(ctx, WithheldKey(d.sink.Name()), d.waiting.row, next)
	if err != nil {
		return fmt.Errorf("note what a sink withholds: %w", err)
	}
	d.waiting.row = row
	return nil
}
