package scheduler

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/models"
)

// lanes are the committers of a worker. Where the store commits several batches at a time there are as many, and each has
// hosts of its own: what is learned of a page is written in the order in which it was learned.
type lanes struct {
	all []*committer
	of  [models.Buckets]*committer // by bucket; it stays as it is, also where the store would rather have another one by now
}

// lanes makes the committers.
func (w *Worker) lanes() *lanes {
	l, seen, blanks := &lanes{}, new(firsts), &sync.Pool{New: func() any { return new(finished) }}
	for range max(w.Writers, 1) {
		c := w.committer()
		c.arrivals, c.firsts, c.blanks = make(chan *finished, maxBatch), seen, blanks
		done := c.done
		c.done = func(f *finished) {
			done(f)
			*f = finished{}
			blanks.Put(f)
		}
		l.all = append(l.all, c)
	}
	for bucket := range l.of {
		n := bucket
		if w.WriterOf != nil {
			n = w.WriterOf(int16(bucket))
		}
		l.of[bucket] = l.all[n%len(l.all)]
	}
	return l
}

func (w *Worker) committer() *committer {
	return &committer{
		store: w.Store, archive: w.Archive, clock: w.Clock, log: w.Log, metrics: w.metrics,
		done: func(f *finished) { w.hold(-f.held) },
		wake: w.Wake,
	}
}

// blank implements delivery. The visits are large, and there are thousands a second: each is used again when it is written.
func (l *lanes) blank() *finished { return l.all[0].blanks.Get().(*finished) }

// deliver implements delivery.
func (l *lanes) deliver(f *finished) { l.of[f.result.Lease.Bucket].arrivals <- f }

func (l *lanes) close() {
	for _, c := range l.all {
		close(c.arrivals)
	}
}

// maxBatch is how many visits are a full batch. The rows of a host's pages lie together, so of few visits each of many hosts every
// row costs a piece of the store of its own: with 512 hosts on SQLite 64 µs and 14 kB written a visit in batches of 500, 37 µs
// and 8 kB of 1000.
const maxBatch = 1000

// A committer that has much to do begins a commit no sooner than a pace, in real time, after the one before: of many small
// ones most of the cost is that of beginning and ending them. With 20 hosts on PostgreSQL program and database take 9 % less
// a visit at mostPace than at leastPace. Where visits come more slowly that brings nothing, and their hosts would wait.
const (
	leastPace = 20 * time.Millisecond  // from busyBatch visits on
	mostPace  = 100 * time.Millisecond // from heavyBatch on: so many came within leastPace

	busyBatch  = 16
	heavyBatch = 64
)

// pace is that of a committer for which so many visits wait.
func pace(visits int) time.Duration {
	switch {
	case visits < busyBatch:
		return 0
	case visits < heavyBatch:
		return leastPace
	}
	return mostPace
}

// run writes what arrives until the channel is closed and everything in it is written. It returns an error when a body
// could not be made durable: then what the disk holds is unknown and only a new start may go on.
func (c *committer) run(ctx context.Context) error {
	s := stages{committer: c, kept: make(chan []*finished), idle: make(chan struct{}, 1), failed: make(chan struct{})}
	var group errgroup.Group
	group.Go(func() error {
		defer close(s.kept)
		return s.gather(ctx)
	})
	group.Go(func() error { return s.put(ctx) })
	return group.Wait()
}

// stages are the two of a committer: one gathers a batch and keeps its bodies while the other writes the batch before.
type stages struct {
	*committer
	kept   chan []*finished
	idle   chan struct{} // of one: the second stage has nothing to do
	failed chan struct{} // closed when the second stage has ended with an error
}

// put is the second stage.
func (s *stages) put(ctx context.Context) error {
	s.idle <- struct{}{}
	for batch := range s.kept {
		if err := s.committer.put(ctx, batch); err != nil {
			close(s.failed)
			return err
		}
		s.idle <- struct{}{}
	}
	return nil
}

// gather is the first stage.
func (s *stages) gather(ctx context.Context) error {
	var last time.Time // when the last batch was handed on
	for {
		var batch []*finished
		select {
		case f, ok := <-s.arrivals:
			if !ok {
				return nil
			}
			batch = append(batch, f)
		case <-s.failed:
			return nil
		}
		batch, idle := s.fill(batch, last)
		if err := s.keep(ctx, batch); err != nil {
			return err
		}
		if !idle {
			select {
			case <-s.idle:
			case <-s.failed:
				return nil
			}
		}
		last = clock.System{}.Now()
		s.kept <- batch
	}
}

// lull is for how long, in real time, nothing comes until nothing more is waited for, whatever the pace: who visits has no page left, or
// waits for what we hold. The beginning and the end of a crawl are such times.
const lull = 2 * look

// look is how often, in real time, the first stage looks for what arrived while the second is busy. To be woken for each
// visit would cost more than all else that it does for most.
const look = 5 * time.Millisecond

// fill lets a batch grow until it is full, or the second stage is idle and its pace is kept or nothing more comes. It tells
// whether that has said that it is idle.
func (s *stages) fill(batch []*finished, last time.Time) (filled []*finished, idle bool) {
	select {
	case <-s.idle:
		idle = true
	default:
	}
	grown := clock.System{}.Now()
	for {
		n, open := len(batch), false
		if batch, open = s.drain(batch); !open || len(batch) >= maxBatch {
			return batch, idle
		}
		now := clock.System{}.Now()
		if len(batch) > n {
			grown = now
		}
		wait := look
		if idle {
			wait = min(wait, pace(len(batch))-now.Sub(last), lull-now.Sub(grown))
		}
		if wait <= 0 {
			return batch, true
		}
		said, failed := s.wait(idle, wait)
		if idle = idle || said; failed {
			return batch, idle
		}
	}
}

// drain adds what has arrived, up to a full batch, and tells whether more may arrive.
func (s *stages) drain(batch []*finished) (filled []*finished, open bool) {
	for len(batch) < maxBatch {
		select {
		case f, ok := <-s.arrivals:
			if !ok {
				return batch, false
			}
			batch = append(batch, f)
		default:
			return batch, true
		}
	}
	return batch, true
}

// wait waits for a time, or until the second stage says that it is idle, where it has not, or fails.
func (s *stages) wait(idle bool, d time.Duration) (said, failed bool) {
	var resting <-chan struct{}
	if !idle {
		resting = s.idle
	}
	over := make(chan struct{})
	defer clock.AfterFunc(d, func() { close(over) })()
	select {
	case <-resting:
		return true, false
	case <-s.failed:
		return false, true
	case <-over:
		return false, false
	}
}

// firsts are the first records of bodies on their way into the database, which does not know them yet. It is safe for
// concurrent use. A nil one is for a committer whose batches do not overlap.
type firsts struct {
	mu sync.Mutex
	by map[models.Digest]models.Content // guarded by mu
}

func (s *firsts) add(c models.Content) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[models.Digest]models.Content)
	}
	s.by[c.Digest] = c
}

func (s *firsts) of(d models.Digest) (models.Content, bool) {
	if s == nil {
		return models.Content{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.by[d]
	return c, ok
}

// written forgets what the database knows by now.
func (s *firsts) written(batch []*finished) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range batch {
		if f.result.Content != nil {
			delete(s.by, f.result.Content.Digest)
		}
	}
}
