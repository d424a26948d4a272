package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"

	"recrawld/models"
)

// given is what a sink was given by this process: the newest event of each bucket. The database may lack some of it later, where a
// server has taken the place of another one that it followed some way behind, or an older state of a file is back. Then the sink holds
// what the database knows nothing of, and of which no event may ever tell: a page may be by now what the database has of it.
type given struct {
	refs    map[int16]models.EventRef
	doubted bool // it is to be held against the database again
	lacking bool // by the database; the sink is to be made anew
}

func (g *given) add(refs map[int16]models.EventRef) {
	if g.refs == nil {
		g.refs = make(map[int16]models.EventRef, len(refs))
	}
	maps.Copy(g.refs, refs)
}

// lacks tells whether the database lacks what the sink was given, by this process or by one that found that and did not come to make
// the sink anew, where there is reason to ask.
func (d *Drain) lacks(ctx context.Context) (bool, error) {
	g := &d.given
	if g.lacking || !g.doubted {
		return g.lacking, nil
	}
	buckets, err := d.missing(ctx)
	if err == nil && buckets > 0 {
		err = d.noteLacking(ctx, buckets)
	}
	if err != nil {
		return false, err
	}
	noted := false
	if d.rebuilds() {
		row, err := d.log.Meta(ctx, LackedKey(d.sink.Name()))
		if err != nil {
			return false, err
		}
		lacked, err := LackedIn(row)
		if err != nil {
			return false, err
		}
		noted = lacked.Anew
	}
	g.doubted, g.lacking = false, buckets > 0 || noted
	return g.lacking, nil
}

// missing is in how many buckets the database lacks what this process gave.
func (d *Drain) missing(ctx context.Context) (buckets int, err error) {
	if len(d.given.refs) == 0 {
		return 0, nil
	}
	heads, err := d.log.EventHeads(ctx)
	if err != nil {
		return 0, err
	}
	for bucket, ref := range d.given.refs {
		has, err := d.has(ctx, bucket, ref, heads[bucket])
		if err != nil {
			return 0, err
		}
		if !has {
			buckets++
		}
	}
	return buckets, nil
}

// leave notes what the database lacks of what this process gave, now that another one has the sink: that one may know nothing of it.
func (d *Drain) leave(ctx context.Context) error {
	if len(d.given.refs) == 0 {
		return nil
	}
	d.given.doubted = true
	_, err := d.lacks(ctx)
	if err == nil {
		d.given = given{}
	}
	return err
}

// Lacked is when it was found that the database lacked events that a sink had been given, and in how many buckets. The zero Lacked is
// never.
type Lacked struct {
	At      models.Instant `json:"at"`
	Buckets int            `json:"buckets"`
	Anew    bool           `json:"anew,omitempty"` // the sink is still to be made anew for that
}

// LackedKey is the key of the row with the Lacked of a sink.
func LackedKey(sink string) string { return "sink-lacked:" + sink }

// LackedIn reads that row.
func LackedIn(row string) (Lacked, error) { return inRow[Lacked](row, "lacks") }

// noteLacking tells that the database lacks events that the sink was given.
func (d *Drain) noteLacking(ctx context.Context, buckets int) error {
	d.opts.Log.Warn("the database lacks events that the sink was given: another server has taken its place, or an older state of it is back",
		slog.String("sink", d.sink.Name()), slog.Int("buckets", buckets))
	old, err := d.log.Meta(ctx, LackedKey(d.sink.Name()))
	if err != nil {
		return err
	}
	return d.writeLacked(ctx, old, Lacked{models.At(d.clock.Now()), buckets, d.isMadeAnew()})
}

// noteAnew notes that the sink was made anew, whatever the database lacked by the row of before that began. What was found since then
// stays.
func (d *Drain) noteAnew(ctx context.Context, row string) error {
	lacked, err := LackedIn(row)
	if err != nil || !lacked.Anew {
		return err
	}
	lacked.Anew = false
	if err = d.writeLacked(ctx, row, lacked); errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

func (d *Drain) writeLacked(ctx context.Context, old string, lacked Lacked) error {
	if _, err := d.rewrite(ctx, LackedKey(d.sink.Name()), old, lacked); err != nil {
		return fmt.Errorf("note what a sink is ahead: %w", err)
	}
	return nil
}

// has tells whether an event is in the log, or was pruned.
func (d *Drain) has(ctx context.Context, bucket int16, ref, head models.EventRef) (bool, error) {
	if ref == head || ref.Seq > head.Seq {
		return ref == head, nil
	}
	events, err := d.log.Events(ctx, bucket, ref.Seq-1, 1)
	if err != nil {
		return false, err
	}
	return len(events) == 0 || events[0].Seq > ref.Seq || events[0].Ref() == ref, nil
}

// numbers is those of some events.
func numbers(refs map[int16]models.EventRef) map[int16]int64 {
	seqs := make(map[int16]int64, len(refs))
	for bucket, ref := range refs {
		seqs[bucket] = ref.Seq
	}
	return seqs
}
