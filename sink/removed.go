package sink

import (
	"context"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"

	"recrawld/models"
)

// removals are the events that tell of pages of removed sites, behind some events by bucket: of the pages themselves nothing is
// known any more.
func (d *Drain) removals(ctx context.Context, behind map[int16]int64) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		news, err := d.log.News(ctx, d.sink.Name())
		if err != nil {
			yield(models.Event{}, err)
			return
		}
		for _, bucket := range news {
			for after, more := behind[bucket], true; more; {
				events, err := d.log.Events(ctx, bucket, after, d.opts.Batch)
				if err != nil {
					yield(models.Event{}, err)
					return
				}
				for _, e := range events {
					if after = e.Seq; e.Kind == models.EventRemoved && !yield(e, nil) {
						return
					}
				}
				more = len(events) == d.opts.Batch
			}
		}
	}
}

// waitingRemovals are the events of pages of removed sites that the sink could not take: with the cursors behind them they are told
// nowhere else.
func (d *Drain) waitingRemovals(ctx context.Context) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		if err := d.readWaiting(ctx); err != nil {
			yield(models.Event{}, err)
			return
		}
		for _, p := range d.waiting.pages {
			if !slices.ContainsFunc(p.Events, func(e models.Event) bool { return e.Kind == models.EventRemoved }) {
				continue
			}
			for _, e := range p.Events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// present tells of each page as it is, and of those of removed sites that the sink has not heard of, or could not take: first of those
// that were removed before, since a page may have been found anew, and then of those that were removed meanwhile, of which it hears
// again, in order.
func (d *Drain) present(ctx context.Context, source Source, heads map[int16]models.EventRef) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		cursors := make(map[int16]int64, len(heads))
		for bucket := range heads {
			seq, err := d.log.Cursor(ctx, d.sink.Name(), bucket)
			if err != nil {
				yield(models.Event{}, err)
				return
			}
			cursors[bucket] = seq
		}
		for _, events := range []iter.Seq2[models.Event, error]{d.waitingRemovals(ctx), d.removals(ctx, cursors), source.Current(ctx),
			d.removals(ctx, numbers(heads))} {
			for e, err := range events {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// fileKey is of a file's name: a set of ten million fits into memory.
type fileKey [8]byte

func fileKeyOf(name string) fileKey {
	sum := sha256.Sum256([]byte(name))
	return fileKey(sum[:8])
}

// keepRemoved has the manifest go on to tell of the files of removed sites, and adds them to those that are known: those that it said
// so of before the rebuild, and those that the rebuild was told of.
func (m *Mirror) keepRemoved(known, told map[fileKey]struct{}) error {
	kept, err := m.removedBefore(told)
	if err != nil || len(kept) == 0 {
		return err
	}
	var rows []Row
	write := func() error {
		err := m.manifest.append(rows)
		if rows = rows[:0]; err == nil && m.manifest.due() {
			err = m.flush()
		}
		return err
	}
	err = m.manifest.retired(func(r Row) error {
		key := fileKeyOf(r.Path)
		_, stays := kept[key]
		if _, has := known[key]; has || !stays {
			return nil
		}
		if held, err := m.tree.looks(r.Path); err == nil && !held { // somebody has taken it away
			return nil
		}
		if r.State != models.EventRemoved.String() {
			r.State, r.EventAt = models.EventRemoved.String(), "" // when that was, another row says
		}
		if rows = append(rows, r); len(rows) < rebuildBatch {
			return nil
		}
		return write()
	})
	if err == nil && len(rows) > 0 {
		err = write()
	}
	maps.Copy(known, kept)
	return err
}

// removedBefore is the files that were those of removed sites before the rebuild, and further ones.
func (m *Mirror) removedBefore(further map[fileKey]struct{}) (map[fileKey]struct{}, error) {
	files := maps.Clone(further)
	err := m.manifest.retired(func(r Row) error {
		key := fileKeyOf(r.Path)
		_, also := further[key]
		if r.State == models.EventRemoved.String() {
			files[key] = struct{}{}
		} else if !also && !r.leavesFile() {
			delete(files, key) // it was found anew
		}
		return nil
	})
	return files, err
}
