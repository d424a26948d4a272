package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// liteWriter is SQLite's one writer, and what waits for it. It is safe for concurrent use.
type liteWriter struct {
	*litePool
	checkpoints *litePool
	logFrames   int64 // how many pages the write-ahead log holds before they are copied: checkpointFrames

	mu     sync.Mutex
	riders []*rider // guarded by mu
}

// rider is a claim that was prepared outside of any transaction. The next one that writes carries it, whoever's it is: so it
// takes no transaction of its own, with a sync of the disk, and no time of the writer beyond its few rows.
type rider struct {
	leases []Lease // of hosts as they are to be
	hosts  []Host  // as they were read: one that is another by now is not leased
	leased []bool  // which are
	err    error
	done   chan struct{} // closed when leased and err are set, and the leases are on the disk
}

// onceLite is once on SQLite. Claims that wait go with what f writes. What is in the write-ahead log is copied into the database
// when the writer is free for others again: that takes as long as some commits do.
func (s *Store) onceLite(ctx context.Context, f func(*tx) error) error {
	if err := s.takeTurn(ctx, f); err != nil {
		return err
	}
	s.liteWriter.checkpoint(ctx)
	return nil
}

func (s *Store) takeTurn(ctx context.Context, f func(*tx) error) error {
	if err := s.liteWriter.enter(ctx, nil); err != nil {
		return err
	}
	defer s.liteWriter.leave() // also where f panics
	return s.writeLite(ctx, f)
}

// writeLite runs a transaction with the writer, which the caller has. It takes the write lock at once: a transaction that began
// as a reader would fail half-way where another process writes. Its statements are short, so none of them listens whether the
// context ends meanwhile.
func (s *Store) writeLite(ctx context.Context, f func(*tx) error) (err error) {
	c, err := s.liteWriter.free()
	if err != nil {
		return err
	}
	defer s.liteWriter.put(c)
	if err := c.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() { // after COMMIT it does nothing
		if ended := c.rollback(); err == nil {
			err = ended
		}
	}()
	t := &tx{store: s, lite: c}
	if err := f(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	riders := s.liteWriter.board()
	err = t.carry(context.WithoutCancel(ctx), riders)
	if err == nil {
		err = c.run("COMMIT")
	}
	for _, r := range riders {
		r.err = cmp.Or(r.err, err)
		close(r.done)
	}
	return err
}

// lookUp runs f, which looks up what may be written next, with a connection to whose queries the database stays as it is: with the
// writer where nobody has it. What that reads it need not read again to write it, and its memory of the file is not
// emptied by each commit, as that of the others is.
func (s *Store) lookUp(ctx context.Context, f func(*liteConn) error) error {
	w := s.liteWriter
	if w == nil {
		return s.liteReader.moment(ctx, f)
	}
	select {
	case w.room <- struct{}{}:
	default:
		return s.liteReader.moment(ctx, f)
	}
	defer w.leave()
	c, err := w.free()
	if err != nil {
		return err
	}
	defer w.put(c)
	return c.moment(f)
}

// carry writes the leases of claims that wait. Where that fails it is they that fail and not the transaction.
func (t *tx) carry(ctx context.Context, riders []*rider) error {
	if len(riders) == 0 {
		return nil
	}
	if err := t.lite.run("SAVEPOINT riders"); err != nil {
		return err
	}
	var failed error
	for _, r := range riders {
		failed = cmp.Or(failed, t.lease(ctx, r))
	}
	if failed != nil {
		for _, r := range riders {
			r.err = fmt.Errorf("write leases: %w", failed)
		}
		if err := t.lite.run("ROLLBACK TO riders"); err != nil {
			return err
		}
	}
	return t.lite.run("RELEASE riders")
}

// lease writes the leases of a claim for those of its hosts that are still as they were read.
func (t *tx) lease(ctx context.Context, r *rider) error {
	q := newQueue(t)
	keys := make([]rowKey, len(r.hosts))
	for i := range r.hosts {
		keys[i] = rowKey{r.hosts[i].Bucket, r.hosts[i].ID}
	}
	if err := q.lock(ctx, keys); err != nil {
		return err
	}
	r.leased = make([]bool, len(r.hosts))
	for i, key := range keys {
		if h := q.get(key.bucket, key.id); h != nil && *h == r.hosts[i] {
			*h, r.leased[i] = r.leases[i].Host, true
		}
	}
	return q.flush(ctx)
}

// ride has the leases of a claim written, by whoever has the writer or else by itself.
func (s *Store) ride(ctx context.Context, r *rider) error {
	w := s.liteWriter
	w.wait(r)
	err := w.enter(ctx, r.done)
	if err == nil {
		select {
		case <-r.done: // with whoever had it before
		default:
			err = s.writeLite(ctx, func(*tx) error { return nil })
		}
		w.leave()
	}
	if err != nil && !errors.Is(err, errRode) && w.alight(r) {
		return err
	}
	<-r.done // it is on its way at least, and that ends soon
	return r.err
}

// errRode says that a claim was carried by somebody else's transaction.
var errRode = errors.New("the leases are written")

// enter waits until nobody has the writer, or for the end of the context or of a ride.
func (w *liteWriter) enter(ctx context.Context, rode <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.room <- struct{}{}:
		return nil
	case <-rode:
		return errRode
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *liteWriter) leave() { <-w.room }

// wait lets a claim wait for the next transaction.
func (w *liteWriter) wait(r *rider) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.riders = append(w.riders, r)
}

// awaited tells whether claims wait. On PostgreSQL, where w is nil, none do.
func (w *liteWriter) awaited() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.riders) > 0
}

// board is all claims that wait, which wait no more.
func (w *liteWriter) board() []*rider {
	w.mu.Lock()
	defer w.mu.Unlock()
	riders := w.riders
	w.riders = nil
	return riders
}

// alight takes a claim back, and tells whether it still waited.
func (w *liteWriter) alight(r *rider) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.riders)
	w.riders = slices.DeleteFunc(w.riders, func(o *rider) bool { return o == r })
	return len(w.riders) < n
}
