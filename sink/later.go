package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"recrawld/models"
)

// Later is the error of a sink that says itself when it is to be tried again. What it was given comes again then.
type Later struct {
	From time.Time // when it was said: before that the clock has stepped back, and At means nothing any more
	At   time.Time // when; zero: it is parked, until its process begins anew or it is made anew
	Why  error
}

// Error implements error.
func (l *Later) Error() string { return l.Why.Error() }

// Unwrap returns what is wrong.
func (l *Later) Unwrap() error { return l.Why }

func (l *Later) parked() bool { return l.At.IsZero() }

// due tells whether the sink is to be tried again.
func (l *Later) due(now time.Time) bool {
	return !l.parked() && (!now.Before(l.At) || now.Before(l.From))
}

// reviver is a sink that may be parked.
type reviver interface {
	Revive()       // it is tried again at once
	Failing() bool // it took nothing since it failed: where it passes over events in between that does not mean that it is back
}

// mender is a sink that is parked until something is mended that it can see by itself.
type mender interface {
	Mended() bool // it is to be tried again; asked every few seconds
}

// Trouble is how long a sink takes nothing any more, and why. The zero Trouble is none.
type Trouble struct {
	Since models.Instant `json:"since,omitempty"`
	Next  models.Instant `json:"next,omitempty"` // when it is tried again; 0: it is parked
	Why   string         `json:"why,omitempty"`
}

// Parked tells whether the sink is not tried again until its process begins anew or it is made anew.
func (t Trouble) Parked() bool { return t.Since > 0 && t.Next == 0 }

// TroubleKey is the key of the row with the Trouble of a sink.
func TroubleKey(sink string) string { return "sink-trouble:" + sink }

// TroubleIn reads that row.
func TroubleIn(row string) (Trouble, error) { return inRow[Trouble](row, "trouble") }

// inRow reads a row of a sink; one that is not there is the zero value.
func inRow[T any](row, what string) (T, error) {
	var t, none T
	if row == "" {
		return none, nil
	}
	if err := json.Unmarshal([]byte(row), &t); err != nil {
		return none, fmt.Errorf("read the %s of a sink: %w", what, err)
	}
	return t, nil
}

// trouble is what a Drain knows of that row.
type trouble struct {
	row   string // as it is in the database
	now   Trouble
	known bool // it was read since this process holds the sink
	told  bool // the log has it
}

// noteTrouble notes whether the sink took what it was given, by the error that it returned, and tells when that changes.
func (d *Drain) noteTrouble(ctx context.Context, err error) error {
	later, failed := errors.AsType[*Later](err)
	if err != nil && !failed {
		return nil
	}
	t := &d.trouble
	if !t.known {
		if err := d.readTrouble(ctx); err != nil {
			return err
		}
	}
	before := t.now
	if !failed {
		if s, ok := d.sink.(reviver); before.Since == 0 || ok && s.Failing() {
			return nil
		}
		d.opts.Log.Info("sink takes events again", slog.String("sink", d.sink.Name()), slog.Time("since", before.Since.Time()))
		t.told = false
		return d.writeTrouble(ctx, Trouble{})
	}
	now := Trouble{Since: before.Since, Why: later.Why.Error()}
	if now.Since == 0 {
		now.Since = models.At(d.clock.Now())
	}
	if !later.parked() {
		now.Next = models.At(later.At)
	}
	switch {
	case now.Parked() && !(t.told && before.Parked()):
		d.opts.Log.Warn("sink is parked, until recrawld sink replay or the next start", slog.String("sink", d.sink.Name()), slog.Any("error", later.Why))
	case !now.Parked() && !t.told:
		d.opts.Log.Warn("sink takes nothing, it is tried again ever less often", slog.String("sink", d.sink.Name()), slog.Any("error", later.Why))
	}
	t.told = true
	return d.writeTrouble(ctx, now)
}

func (d *Drain) readTrouble(ctx context.Context) (err error) {
	t := &d.trouble
	if t.row, err = d.log.Meta(ctx, TroubleKey(d.sink.Name())); err != nil {
		return err
	}
	t.now, err = TroubleIn(t.row)
	t.known = err == nil
	return err
}

// reviveIfTaken revives the sink where another process had it meanwhile that noted otherwise: one that is parked here may have been
// asked for anew there.
func (d *Drain) reviveIfTaken(ctx context.Context) error {
	s, ok := d.sink.(reviver)
	if !ok || d.trouble.known || !s.Failing() {
		return nil
	}
	before := d.trouble.row
	if err := d.readTrouble(ctx); err != nil {
		return err
	}
	if d.trouble.row != before {
		s.Revive()
	}
	return nil
}

func (d *Drain) writeTrouble(ctx context.Context, now Trouble) error {
	row, err := d.rewrite(ctx, TroubleKey(d.sink.Name()), d.trouble.row, now)
	if err != nil {
		d.trouble.known = false
		return fmt.Errorf("note the trouble of a sink: %w", err)
	}
	d.trouble.row, d.trouble.now = row, now
	return nil
}

// rest waits until a sink is to be tried again, and keeps the lease meanwhile: else others would try it in between.
func (d *Drain) rest(ctx context.Context, later *Later) error {
	for {
		now := d.clock.Now()
		s, ok := d.sink.(mender)
		if later.due(now) || ok && s.Mended() {
			return nil
		}
		next := now.Add(d.clock.Real(lease / 4))
		if !later.parked() && later.At.Before(next) {
			next = later.At
		}
		if err := d.clock.SleepUntil(ctx, next); err != nil {
			return err
		}
		if err := d.hold(ctx); err != nil {
			return err
		}
		if !d.trouble.known { // another one had the lease meanwhile
			return d.reviveIfTaken(ctx)
		}
	}
}

// teller is a sink that is made anew by being told of every page as it is.
type teller interface {
	// Tell is Deliver for pages as they are, which have no place in the log: a telling that began at another moment is another one. Among
	// them are those of removed sites that it has not heard of. It refuses pages as Deliver does.
	Tell(ctx context.Context, began time.Time, pages []models.Event) error
}

// tell tells a sink of all pages, but for those that it adds to refused. It goes on while the sink takes nothing, unless that is parked.
func (d *Drain) tell(ctx context.Context, s teller, current iter.Seq2[models.Event, error], refused *Refused) error {
	began := d.clock.Now()
	var pages []models.Event
	for e, err := range d.held(ctx, current) {
		if err != nil {
			return err
		}
		if len(pages) == d.opts.Batch {
			if err := d.tellSome(ctx, s, began, pages, refused); err != nil {
				return err
			}
			pages = pages[:0]
		}
		pages = append(pages, e)
	}
	return d.tellSome(ctx, s, began, pages, refused)
}

func (d *Drain) tellSome(ctx context.Context, s teller, began time.Time, pages []models.Event, refused *Refused) error {
	for {
		err := refused.join(s.Tell(ctx, began, pages))
		if noted := d.noteTrouble(ctx, err); noted != nil {
			return noted
		}
		later, failed := errors.AsType[*Later](err)
		if !failed || later.parked() {
			return err
		}
		if err := d.rest(ctx, later); err != nil {
			return err
		}
	}
}
