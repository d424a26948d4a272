package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// Digester is a sink that tells once a period of all that happened in it, and not of events as they come.
type Digester interface {
	// Name tells its cursors from those of other sinks. It never changes.
	Name() string

	// Due is when the period ends that began at a moment. It is later than that.
	Due(began time.Time) time.Time

	// Digest tells of a period. It returns nil when that is done, with a memo that the next period is given. After an error the same
	// period comes again, after a *Later when that says, and after a crash it may: its End, Told and Memo are the same then, and so are
	// its events. It is called by one goroutine at a time, and reads the events once at the most.
	Digest(ctx context.Context, p *Period, events iter.Seq2[models.Event, error]) (memo string, err error)
}

// Period is what a Digester is to tell of.
type Period struct {
	Told time.Time // up to when was told before
	End  time.Time // no other period of the sink ended then
	Memo string    // what the one before left; "": there was none

	// Missed tells that some events were pruned before they were told. It is known once the events are read.
	Missed bool
}

// NewDigests returns a Drain for a Digester. Its first period begins when it is drained first: what was before is not told.
//
// Which events a period has is noted before it is told: whoever takes over from a process that dies in between tells the same again. Its
// cursors move when it is told.
func NewDigests(log Log, s Digester, c clock.Clock, o Options) *Drain {
	d := &Drain{log: log, sink: s, clock: c, opts: o}
	if d.opts.Batch <= 0 {
		d.opts.Batch = 512
	}
	d.turn = func(ctx context.Context) (int, error) { return d.digest(ctx, s) }
	return d
}

// Periods is the row under PeriodsKey: how far a Digester has told.
type Periods struct {
	Told models.Instant `json:"told"` // up to when; 0: it was never drained
	Turn models.Instant `json:"turn"` // when the last period was due to end
	Next models.Instant `json:"next"` // when the present one is
	Memo string         `json:"memo,omitempty"`

	Pending *pending `json:"pending,omitempty"` // the period that is being told; nil: none
}

// pending is a period that is being told.
type pending struct {
	End   models.Instant  `json:"end"`
	UpTo  map[int16]int64 `json:"up_to"`           // the last event of each bucket that has news
	Marks map[int16]int64 `json:"marks,omitempty"` // and its mark
	Done  bool            `json:"done,omitempty"`  // it is told, and Periods.Memo is what it left: only the cursors are to move
}

// refs is the events that UpTo and Marks name.
func (p *pending) refs() map[int16]models.EventRef {
	refs := make(map[int16]models.EventRef, len(p.UpTo))
	for bucket, seq := range p.UpTo {
		refs[bucket] = models.EventRef{Seq: seq, Mark: p.Marks[bucket]}
	}
	return refs
}

// PeriodsKey is the key of the row with the Periods of a Digester.
func PeriodsKey(sink string) string { return "sink-periods:" + sink }

// PeriodsIn reads that row.
func PeriodsIn(row string) (Periods, error) { return inRow[Periods](row, "periods") }

// periods is what a Drain knows of that row.
type periods struct {
	row   string // as it is in the database
	now   Periods
	known bool // it was read since this process holds the sink
}

// digest tells of a period that has ended, or of one that was being told when its process died.
func (d *Drain) digest(ctx context.Context, s Digester) (int, error) {
	if err := d.readPeriods(ctx); err != nil {
		return 0, err
	}
	if now := d.clock.Now(); d.periods.now.Pending == nil {
		if ended, err := d.endPeriod(ctx, s, now); err != nil || !ended {
			return 0, err
		}
	}
	if err := d.reviveIfTaken(ctx); err != nil {
		return 0, err
	}
	return d.tellPeriod(ctx, s)
}

func (d *Drain) readPeriods(ctx context.Context) (err error) {
	p := &d.periods
	if p.known {
		return nil
	}
	if p.row, err = d.log.Meta(ctx, PeriodsKey(d.sink.Name())); err != nil {
		return err
	}
	p.now, err = PeriodsIn(p.row)
	p.known = err == nil
	return err
}

func (d *Drain) writePeriods(ctx context.Context, now Periods) error {
	row, err := d.rewrite(ctx, PeriodsKey(d.sink.Name()), d.periods.row, now)
	if err != nil {
		d.periods.known = false
		return fmt.Errorf("note the periods of a sink: %w", err)
	}
	d.periods.row, d.periods.now = row, now
	return nil
}

// endPeriod notes which events the present period has, if that is over. The first one ever begins where the log ends. Where the clock
// has stepped back behind its beginning it begins now: the next mail would else come as much later as the clock was ahead.
func (d *Drain) endPeriod(ctx context.Context, s Digester, now time.Time) (ended bool, err error) {
	p := d.periods.now
	first := p.Told == 0
	if first || p.Told > models.At(now) {
		p.Told = models.At(now)
	}
	if first || p.Turn > models.At(now) {
		p.Turn = models.At(now)
	}
	due := s.Due(p.Turn.Time())
	p.Next = models.At(due)
	if first {
		heads, err := d.log.EventHeads(ctx)
		if err == nil {
			err = d.log.SetCursors(ctx, d.sink.Name(), nil, heads)
		}
		if err != nil {
			return false, err
		}
	}
	if now.Before(due) {
		return false, d.writePeriods(ctx, p)
	}
	if p.Pending, err = d.newsNow(ctx, now); err != nil {
		return false, err
	}
	p.Turn = models.At(lastDue(s, due, now))
	return true, d.writePeriods(ctx, p)
}

// newsNow is what a period that ends now has.
func (d *Drain) newsNow(ctx context.Context, now time.Time) (*pending, error) {
	heads, err := d.log.EventHeads(ctx) // before the news, or there were some that it has no end of
	if err != nil {
		return nil, err
	}
	news, err := d.log.News(ctx, d.sink.Name())
	if err != nil {
		return nil, err
	}
	p := &pending{End: models.At(now), UpTo: map[int16]int64{}, Marks: map[int16]int64{}}
	for _, bucket := range news {
		p.UpTo[bucket], p.Marks[bucket] = heads[bucket].Seq, heads[bucket].Mark
	}
	return p, nil
}

// mostPeriods is how many periods are counted that passed while nobody drained a sink. Where there were more the next one begins now.
const mostPeriods = 10_000

// lastDue is the last moment at which a period was due that has passed now, so that mails keep their time of day after a pause.
func lastDue(s Digester, due, now time.Time) time.Time {
	for range mostPeriods {
		next := s.Due(due)
		if next.After(now) {
			return due
		}
		due = next
	}
	return now
}

// tellPeriod tells of the period that is noted, unless that was done and only the rest of its notes is missing.
func (d *Drain) tellPeriod(ctx context.Context, s Digester) (int, error) {
	p := d.periods.now
	cursors := make(map[int16]int64, len(p.Pending.UpTo))
	done := len(p.Pending.UpTo) > 0
	for bucket, upTo := range p.Pending.UpTo {
		after, err := d.log.Cursor(ctx, d.sink.Name(), bucket)
		if err != nil {
			return 0, err
		}
		cursors[bucket] = after
		done = done && after == upTo // where it is ahead the database went back
	}
	n := 0
	if !done && !p.Pending.Done {
		period := Period{Told: p.Told.Time(), End: p.Pending.End.Time(), Memo: p.Memo}
		memo, err := d.keptWhile(ctx, func(ctx context.Context) (string, error) {
			return s.Digest(ctx, &period, d.pendingEvents(ctx, &period, cursors, p.Pending.UpTo, &n))
		})
		last, cancel := outlasting(ctx)
		defer cancel()
		if noted := d.noteTrouble(last, err); noted != nil && err == nil {
			err = noted
		}
		if err != nil {
			return 0, fmt.Errorf("tell of a period: %w", err)
		}
		ctx = last // what was told the cursors shall say, even when the daemon is stopping
		told := *p.Pending
		told.Done = true
		p.Memo, p.Pending = memo, &told
		if err := d.writePeriods(ctx, p); err != nil { // with the memo, before the cursors: these alone would say that it is told
			return 0, err
		}
	}
	lacking, buckets := false, len(p.Pending.UpTo)
	if !done {
		err := d.log.SetCursors(ctx, d.sink.Name(), cursors, p.Pending.refs())
		lacking = errors.Is(err, models.ErrOtherEvents) // with what has their numbers now it is told again, in the next period
		if err != nil && !lacking {
			return 0, err
		}
	}
	p.Told, p.Next, p.Pending = p.Pending.End, models.At(s.Due(p.Turn.Time())), nil
	d.opts.Log.Debug("told of a period", slog.String("sink", d.sink.Name()), slog.Int("events", n))
	err := d.writePeriods(ctx, p) // first: it fails where the cursors are others' since they took the sink over
	if err == nil && lacking {
		err = d.noteLacking(ctx, buckets)
	}
	return n, err
}

// pendingEvents are the events of a period, bucket by bucket.
func (d *Drain) pendingEvents(ctx context.Context, p *Period, after, upTo map[int16]int64, n *int) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		for bucket := range int16(models.Buckets) {
			at, end := after[bucket], upTo[bucket]
			p.Missed = p.Missed || at > end
			for at < end {
				events, err := d.log.Events(ctx, bucket, at, d.opts.Batch)
				if err != nil {
					yield(models.Event{}, err)
					return
				}
				if len(events) == 0 || events[0].Seq != at+1 {
					p.Missed = true
					d.opts.Log.Warn("events were pruned before the sink told of them", slog.String("sink", d.sink.Name()),
						slog.Int("bucket", int(bucket)), slog.Int64("after", at))
				}
				if len(events) == 0 {
					break
				}
				at = events[len(events)-1].Seq
				for _, e := range slices.DeleteFunc(events, func(e models.Event) bool { return e.Seq > end }) {
					*n++
					if !yield(e, nil) {
						return
					}
				}
			}
		}
	}
}

// keptWhile keeps the lease while f runs, however long that takes, and ends it when the lease is another's.
func (d *Drain) keptWhile(ctx context.Context, f func(context.Context) (string, error)) (string, error) {
	working, stop := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		var machine clock.System // a lease lasts as long as that shows
		for machine.SleepUntil(working, machine.Now().Add(lease/4)) == nil {
			if err := d.hold(working); err != nil {
				stop(err)
			}
		}
	}()
	memo, err := f(working)
	if cause := context.Cause(working); err != nil && cause != nil && ctx.Err() == nil {
		err = cause
	}
	stop(nil)
	<-kept
	return memo, err
}
