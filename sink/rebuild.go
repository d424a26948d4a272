package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"recrawld/models"
)

// Source knows the present state of every page, however old the events that led to it; models.Store is one.
type Source interface {
	// EventHeads is the newest event of each bucket that ever had one.
	EventHeads(ctx context.Context) (map[int16]models.EventRef, error)

	// Current tells of each page as if it had just become what it is: its newest copy (EventNew), and then that it
	// moved, is gone, fails or is excluded. Pages without a copy, of which nothing is known, are left out.
	Current(ctx context.Context) iter.Seq2[models.Event, error]
}

// rebuilder is a sink that can be made anew from the present state.
type rebuilder interface {
	Rebuild(ctx context.Context, now time.Time, current iter.Seq2[models.Event, error]) error
}

// Replay makes the sink's side anew and then drains what happened meanwhile. A sink that holds state, as Mirror does, is
// rebuilt from the source, and a Webhook is told of every page as it is, which need no old events; any other one gets all events
// that are still there again. It returns ErrBusy where another process drains the sink.
func (d *Drain) Replay(ctx context.Context, source Source) error {
	if err := d.hold(ctx); err != nil {
		return err
	}
	defer d.release(ctx)
	if s, ok := d.sink.(reviver); ok {
		s.Revive()
	}
	if d.taker != nil {
		if err := d.again(ctx, source); err != nil {
			return fmt.Errorf("replay %s: %w", d.sink.Name(), err)
		}
	}
	_, err := d.Once(ctx)
	if _, later := errors.AsType[*Later](err); later && d.taker != nil {
		return nil // it was told of every page; what happened meanwhile comes when its time is
	}
	return err
}

func (d *Drain) again(ctx context.Context, source Source) error {
	end, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return d.remake(ctx, source)
}

// remake brings the sink to the present state of the source, or back before the first event.
func (d *Drain) remake(ctx context.Context, source Source) error {
	lacked, err := d.log.Meta(ctx, LackedKey(d.sink.Name()))
	if err != nil {
		return err
	}
	// Before the pages are read: what is read may then be newer than the cursors say and come again, never the reverse.
	heads, err := d.ends(ctx, source)
	if err != nil {
		return err
	}
	switch s := d.sink.(type) {
	case rebuilder:
		refused := new(Refused)
		if err := refused.join(s.Rebuild(ctx, d.clock.Now(), d.held(ctx, d.present(ctx, source, heads)))); err != nil {
			return err
		}
		if err := d.withholdAnew(ctx, refused); err != nil {
			return err
		}
	case teller:
		refused := &Refused{passes: true} // else it began anew each time
		if err := d.tell(ctx, s, d.present(ctx, source, heads), refused); err != nil {
			return err
		}
		if err := d.withholdAnew(ctx, refused); err != nil {
			return err
		}
		if err := d.notePassed(ctx, refused, len(d.waiting.pages), true); err != nil {
			return err
		}
	default:
		for bucket := range heads {
			heads[bucket] = models.EventRef{}
		}
	}
	if err := d.log.SetCursors(ctx, d.sink.Name(), nil, heads); err != nil {
		return err
	}
	d.given = given{refs: heads}
	if err := d.noteAnew(ctx, lacked); err != nil {
		return err
	}
	return d.settled(ctx)
}

// ends is where the cursors belong of a sink that is made anew: at the newest event of each bucket, or before the first of one that never
// had any, where the cursor is ahead.
func (d *Drain) ends(ctx context.Context, source Source) (map[int16]models.EventRef, error) {
	heads, err := source.EventHeads(ctx)
	if err != nil {
		return nil, err
	}
	news, err := d.log.News(ctx, d.sink.Name())
	for _, bucket := range news {
		if _, has := heads[bucket]; !has {
			heads[bucket] = models.EventRef{}
		}
	}
	return heads, err
}

// isMadeAnew tells whether the sink is one that can be made anew without the events that it has missed.
func (d *Drain) isMadeAnew() bool {
	_, rebuilt := d.sink.(rebuilder)
	_, told := d.sink.(teller)
	return rebuilt || told
}

// rebuilds tells whether it can be here.
func (d *Drain) rebuilds() bool { return d.isMadeAnew() && d.opts.Source != nil }

// rebuild makes the sink anew, because what it holds cannot be brought up to date by events.
func (d *Drain) rebuild(ctx context.Context) error {
	d.opts.Log.Warn("the sink is made anew", slog.String("sink", d.sink.Name()))
	if err := d.remake(ctx, d.opts.Source); err != nil {
		return fmt.Errorf("make %s anew: %w", d.sink.Name(), err)
	}
	d.opts.Log.Info("the sink is anew", slog.String("sink", d.sink.Name()))
	return nil
}

// held is a sequence of events during which the lease is kept.
func (d *Drain) held(ctx context.Context, events iter.Seq2[models.Event, error]) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		n := 0
		for e, err := range events {
			if n++; err == nil && n%d.opts.Batch == 0 {
				err = d.hold(ctx)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Rebuild makes the tree and the manifest what the given events say, and moves every other file that the mirror has made to the
// trash of the day; files of others stay, and so do those of removed sites, as it was promised to who removed them. Until it has ended the manifest knows only a part; ended half-way it is to be done
// again. It refuses pages as Deliver does.
func (m *Mirror) Rebuild(ctx context.Context, now time.Time, current iter.Seq2[models.Event, error]) error {
	if err := m.manifest.retire(); err != nil {
		return fmt.Errorf("mirror: reset manifest: %w", err)
	}
	m.lost = losses{}
	defer func() { m.tellLost(); m.without = m.lost.pages }()
	refused := new(Refused)
	var events []models.Event
	for e, err := range current {
		if err != nil {
			return fmt.Errorf("mirror: read pages: %w", err)
		}
		// Never between two events of a page: the first may be refused.
		if len(events) >= rebuildBatch && e.URL != events[len(events)-1].URL {
			if err := refused.join(m.deliverSome(ctx, events)); err != nil {
				return err
			}
			events = events[:0]
		}
		events = append(events, e)
	}
	if err := refused.join(m.deliverSome(ctx, events)); err != nil {
		return err
	}
	if err := m.flush(); err != nil {
		return err
	}
	if err := refused.join(m.discardStrangers(now)); err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	if len(refused.Pages) > 0 {
		return refused
	}
	return nil
}

const rebuildBatch = 512

// discardStrangers moves the files that the mirror once made and the manifest does not know any more to the trash. It refuses
// those that it cannot move, as if their page had just gone. The next Rebuild knows them too: their refusal may never be noted.
func (m *Mirror) discardStrangers(now time.Time) error {
	known, told := make(map[fileKey]struct{}), make(map[fileKey]struct{})
	err := m.manifest.old(func(r Row) error {
		if r.hasFile() || r.State == stateLost || r.State == stateWithheld { // of the latter the file may be the last copy
			known[fileKeyOf(r.Path)] = struct{}{}
		} else if r.State == models.EventRemoved.String() {
			told[fileKeyOf(r.Path)] = struct{}{}
		}
		return nil
	})
	if err == nil {
		err = m.keepRemoved(known, told)
	}
	if err != nil {
		return err
	}
	refused := new(Refused)
	var left []Row
	err = m.manifest.retired(func(r Row) error {
		if _, ok := known[fileKeyOf(r.Path)]; ok {
			return nil
		}
		held, err := m.tree.looks(r.Path)
		if held && err == nil {
			m.options.Log.Warn("mirror discards a file that no page has", slog.String("file", r.Path))
			err = m.tree.discard(r.Path, now)
		}
		if !m.tree.ofOneName(err) {
			return err
		}
		known[fileKeyOf(r.Path)] = struct{}{} // the rows of before may have it again
		if left = append(left, r); len(left) > maxWithheld {
			return tooMany(len(left), refused)
		}
		if m.tree.fileOf(r.URL) != r.Path {
			m.options.Log.Warn("mirror cannot take away a file that no page has; the next replay tries again", slog.String("file", r.Path),
				slog.Any("error", err))
			return nil // its page has another file now, which an event would take away
		}
		gone := models.Event{Kind: models.EventGone, URL: r.URL, At: models.At(now)}
		refused.Pages = append(refused.Pages, Refusal{URL: r.URL, Events: []models.Event{gone}, Why: fmt.Errorf("%s: %w", r.Path, err)})
		return nil
	})
	if err == nil {
		err = m.tree.sync()
	}
	if err != nil {
		return err
	}
	if err := m.manifest.forget(left); err != nil || len(refused.Pages) == 0 {
		return err
	}
	return refused
}
