package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// Sink takes events. Deliver is called by one goroutine at a time.
type Sink interface {
	// Name tells its cursors from those of other sinks. It never changes.
	Name() string

	// Deliver returns nil when all of the events are durable, and a *Refused when all but those of the pages that it names
	// are. After any other error all of them come again, after a *Later when that says, and after a crash they may. Events of one
	// page are in order.
	Deliver(ctx context.Context, events []models.Event) error
}

// Log is the event log with the cursors of its sinks; models.Store is one.
type Log interface {
	// News lists the buckets with events that a sink has not delivered, and those where its cursor is ahead of them.
	News(ctx context.Context, sink string) ([]int16, error)

	// Events reads at most limit events of a bucket after a number, in order.
	Events(ctx context.Context, bucket int16, after int64, limit int) ([]models.Event, error)

	// Cursor is the number of the last event of a bucket that a sink has delivered; 0: none.
	Cursor(ctx context.Context, sink string, bucket int16) (int64, error)

	// SetCursors moves a sink's cursors, by bucket, all or none: from numbers, or from wherever they are where from is nil. It returns
	// models.ErrOtherEvents where they are not there, or an event that they are to move to is not.
	SetCursors(ctx context.Context, sink string, from map[int16]int64, to map[int16]models.EventRef) error

	// EventHeads is the newest event of each bucket that ever had one.
	EventHeads(ctx context.Context) (map[int16]models.EventRef, error)

	// Meta and SetMeta keep the lease; SetMeta writes where the value still is old and returns the one in force.
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, old, value string) (string, error)
}

// ErrBusy says that another process drains the sink.
var ErrBusy = errors.New("another process drains this sink")

const (
	poll       = time.Second
	backoffMin = time.Second
	backoffMax = time.Minute
	patience   = 3 * time.Second // with a database that does not answer, when the daemon stops
)

// Options sets up a Drain.
type Options struct {
	Owner  string       // this process, unique among those on the database; required
	Batch  int          // events handed over at a time; default 512
	Source Source       // what a sink that has missed events is made anew from; nil: it is only said that it has
	Log    *slog.Logger // required
}

// Drain moves events from a Log to a Sink, or tells a Digester of them.
type Drain struct {
	log   Log
	sink  interface{ Name() string }
	taker Sink                                   // the sink, where it takes batches; nil: it is a Digester
	turn  func(ctx context.Context) (int, error) // what is done while the lease is held; how many events were taken
	clock clock.Clock
	opts  Options
	next  int    // where among the buckets with news the next batch begins, so that none waits for ever
	place string // of the sink, as it was held against the one that the cursors are of; "": not yet

	given   given
	waiting waiting
	trouble trouble
	periods periods // of a Digester
}

// NewDrain returns a Drain. Intervals are by the machine's time, whatever the clock's speed.
func NewDrain(log Log, s Sink, c clock.Clock, o Options) *Drain {
	if o.Batch <= 0 {
		o.Batch = 512
	}
	d := &Drain{log: log, sink: s, taker: s, clock: c, opts: o}
	d.turn = d.batch
	if s, ok := s.(keeper); ok {
		s.Keep(d.renew)
	}
	return d
}

// idler is a sink that has something to do when there is no news.
type idler interface{ Idle(now time.Time) error }

// Run drains until the context ends, and returns its error. It waits for its turn while another process drains the
// sink, and tries again after errors, ever less often.
func (d *Drain) Run(ctx context.Context) error {
	defer d.release(ctx)
	wait, delivered, since := backoffMin, 0, d.clock.Now()
	for ctx.Err() == nil {
		n, err := d.round(ctx)
		if later, ok := errors.AsType[*Later](err); ok {
			if err = d.rest(ctx, later); err == nil {
				continue
			}
		}
		if n > 0 {
			delivered, wait = delivered+n, backoffMin
			continue
		}
		now := d.clock.Now()
		pause := d.pause(delivered, now.Sub(since))
		delivered, since = 0, now
		if err == nil && pause == d.clock.Real(poll) {
			err = d.idle()
		}
		switch {
		case errors.Is(err, ErrBusy):
			pause = d.clock.Real(lease / 4)
		case err != nil && ctx.Err() == nil:
			d.opts.Log.Warn("sink cannot deliver", slog.String("sink", d.sink.Name()), slog.Duration("retry", wait),
				slog.Any("error", err))
			pause, wait = d.clock.Real(wait), min(2*wait, backoffMax)
		default:
			wait = backoffMin
		}
		if err := d.clock.SleepUntil(ctx, now.Add(pause)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pause is how long to wait for more after so many events were delivered in some time: a poll, or less where a batch comes
// together sooner, so that what a sink needs of them is still in memory.
func (d *Drain) pause(delivered int, took time.Duration) time.Duration {
	longest := d.clock.Real(poll)
	if delivered == 0 {
		return longest
	}
	return max(min(took/time.Duration(delivered)*time.Duration(d.opts.Batch), longest), longest/8)
}

// Once drains until there is no news and returns how many events it delivered. It returns ErrBusy where another process
// drains the sink.
func (d *Drain) Once(ctx context.Context) (int, error) {
	defer d.release(ctx)
	total := 0
	for {
		n, err := d.round(ctx)
		total += n
		if err == nil && n == 0 {
			err = d.idle()
		}
		if err != nil || n == 0 {
			return total, err
		}
	}
}

// idle lets the sink do what it has to do when there is no news.
func (d *Drain) idle() error {
	if s, ok := d.sink.(idler); ok {
		return s.Idle(d.clock.Now())
	}
	return nil
}

// round holds the lease and takes a turn.
func (d *Drain) round(ctx context.Context) (int, error) {
	if err := d.hold(ctx); err != nil {
		if errors.Is(err, ErrBusy) {
			err = errors.Join(err, d.leave(ctx))
		}
		return 0, err
	}
	return d.turn(ctx)
}

// batch delivers one batch, if there is any.
func (d *Drain) batch(ctx context.Context) (int, error) {
	news, err := d.log.News(ctx, d.sink.Name())
	if err != nil {
		return 0, err
	}
	lacking, err := d.lacks(ctx)
	if err != nil {
		return 0, err
	}
	if len(news) == 0 && !lacking && !d.moved() {
		if again, err := d.retries(ctx); err != nil || !again {
			return 0, err
		}
	}
	end, err := d.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := d.settle(ctx); err != nil {
		return 0, err
	}
	b, err := d.read(ctx)
	if err == nil && b.missed && d.rebuilds() {
		if err = d.rebuild(ctx); err == nil {
			b, err = d.read(ctx)
		}
	} else if err == nil && d.given.lacking {
		d.given = given{} // it is given again what came behind its cursors
	}
	if err == nil {
		err = d.deliver(ctx, b)
	}
	if err != nil {
		return 0, err
	}
	return len(b.events), nil
}

// deliver hands a batch to the sink, after what waited, and notes what is delivered.
func (d *Drain) deliver(ctx context.Context, b haul) error {
	if err := d.readWaiting(ctx); err != nil {
		return err
	}
	events := d.waiting.before(b.events, d.clock.Now())
	if len(events) == 0 {
		return nil
	}
	if err := d.reviveIfTaken(ctx); err != nil {
		return err
	}
	d.given.add(b.cursors) // before that: what fails may have been taken
	passes, err := d.passes(ctx)
	if err != nil {
		return err
	}
	refused := &Refused{passes: passes}
	err = refused.join(d.taker.Deliver(ctx, events))
	// What the sink holds durably the cursors shall say, even when the daemon is stopping.
	last, cancel := outlasting(ctx)
	defer cancel()
	if noted := d.noteTrouble(last, err); noted != nil && err == nil {
		err = noted
	}
	if err != nil {
		return errors.Join(fmt.Errorf("deliver %d events: %w", len(events), err), d.noteCopies(last, err))
	}
	if err := d.withhold(last, events, refused); err != nil {
		return errors.Join(err, d.noteCopies(last, err))
	}
	if err := d.notePassed(last, refused, len(d.waiting.pages), false); err != nil {
		return err
	}
	if err := d.log.SetCursors(last, d.sink.Name(), b.from, b.cursors); err != nil {
		d.given.doubted = true
		return err
	}
	d.opts.Log.Debug("delivered", slog.String("sink", d.sink.Name()), slog.Int("events", len(b.events)))
	return nil
}

// haul is what a round delivers.
type haul struct {
	events  []models.Event
	from    map[int16]int64           // the cursors before them
	cursors map[int16]models.EventRef // and after
	missed  bool                      // they do not bring the sink up to date: some were pruned before it saw them, or it is ahead
}

// read takes the next batch.
func (d *Drain) read(ctx context.Context) (haul, error) {
	b := haul{from: make(map[int16]int64), cursors: make(map[int16]models.EventRef)}
	news, err := d.log.News(ctx, d.sink.Name()) // again: before its turn came others may have delivered
	if err != nil {
		return b, err
	}
	for i := range news {
		bucket := news[(d.next+i)%len(news)]
		after, err := d.log.Cursor(ctx, d.sink.Name(), bucket)
		if err != nil {
			return b, err
		}
		if ref, ok := d.given.refs[bucket]; ok && ref.Seq != after {
			d.given.doubted = true
		}
		more, err := d.log.Events(ctx, bucket, after, d.opts.Batch-len(b.events))
		if err != nil {
			return b, err
		}
		if len(more) == 0 || more[0].Seq != after+1 {
			b.missed = true
			d.opts.Log.Warn("events were pruned before the sink saw them, or the database went back", slog.String("sink", d.sink.Name()),
				slog.Int("bucket", int(bucket)), slog.Int64("after", after))
		}
		if len(more) == 0 {
			continue
		}
		b.events = append(b.events, more...)
		b.from[bucket], b.cursors[bucket] = after, more[len(more)-1].Ref()
		if len(b.events) >= d.opts.Batch {
			d.next = (d.next + i + 1) % len(news)
			break
		}
	}
	lacking, err := d.lacks(ctx)
	b.missed = b.missed || lacking
	return b, err
}
