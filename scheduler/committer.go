package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// finished is a visit that waits to be written.
type finished struct {
	planner *Planner
	lease   models.Lease
	before  models.Page
	outcome models.Outcome
	result  models.Result
	held    int64 // bytes of memory that are taken for it until it is written
}

// committer writes finished visits, behind the fetchers: while the database writes one batch the next one gathers and its
// bodies go to the archive, so batches grow with the load. Bodies are durable in the archive before the database names them.
type committer struct {
	arrivals chan *finished // nil for a committer that is given whole batches

	store   Store
	archive Archive
	clock   clock.Clock
	log     *slog.Logger
	metrics *metrics
	done    func(*finished) // called once for each visit that was written or discarded
	wake    func()          // called after each batch that may have made hosts ready
	firsts  *firsts
	blanks  *sync.Pool // of *finished; nil for a committer that is given whole batches

	results []models.Result // used again by each batch
}

// commit writes one batch.
func (c *committer) commit(ctx context.Context, batch []*finished) error {
	if err := c.keep(ctx, batch); err != nil {
		return err
	}
	return c.put(ctx, batch)
}

// put writes a batch whose bodies are kept.
func (c *committer) put(ctx context.Context, batch []*finished) error {
	started := c.clock.Now()
	if err := c.endLoops(ctx, batch); err != nil {
		return err
	}
	if err := c.compare(ctx, batch); err != nil {
		return err
	}
	if err := c.addListed(ctx, batch); err != nil {
		return err
	}
	c.results = slices.Grow(c.results[:0], len(batch))
	for i := range batch {
		c.results = append(c.results, batch[i].result)
		c.results[i].Before = &batch[i].before
	}
	lost, err := c.write(ctx, c.results)
	clear(c.results)
	if err != nil {
		return err
	}
	c.firsts.written(batch)
	ready := false
	for i := range batch {
		ready = ready || batch[i].makesReady()
		if lost[i] == nil {
			batch[i].planner.led(batch[i])
		}
		c.count(batch[i], lost[i])
		c.done(batch[i])
	}
	if ready {
		c.wake()
	}
	c.metrics.commit(len(batch), c.clock.Now().Sub(started), c.clock)
	return nil
}

// makesReady tells whether a host may be ready by what was written: the visit's own, which is released, or another.
func (f *finished) makesReady() bool {
	return f.result.Release || f.result.Forward != 0 || len(f.result.Duplicates)+len(f.result.Discovered) > 0
}

// write commits, again and again while the database is away: the results are held, claiming stands still because the
// fetchers wait for us, and after an unknown outcome writing the same results again is harmless.
func (c *committer) write(ctx context.Context, results []models.Result) ([]error, error) {
	for try := int32(1); ; try++ {
		lost, err := c.store.Commit(ctx, c.clock.Now(), results)
		if err == nil {
			return lost, nil
		}
		c.log.Warn("the database does not take results", "tries", try, "results", len(results), "err", err)
		if !c.again(ctx, try) {
			return nil, fmt.Errorf("commit %d results: %w", len(results), err)
		}
	}
}

// again waits before another try, the longer the more there were, and tells whether there may be one.
func (c *committer) again(ctx context.Context, try int32) bool {
	wait := c.clock.Real(backoff(try, 100*time.Millisecond, 5*time.Second, 0))
	return c.clock.SleepUntil(ctx, c.clock.Now().Add(wait)) == nil
}

// keep stores the bodies of the batch's new versions and makes them durable. A body that was seen before, under any
// URL, is not stored again. Where a body cannot be stored the visit becomes a failure of ours.
func (c *committer) keep(ctx context.Context, batch []*finished) error {
	if !slices.ContainsFunc(batch, func(f *finished) bool { return f.result.Version != nil }) {
		return nil
	}
	seen, err := c.seen(ctx, batch)
	if err != nil {
		return err
	}
	appended := false
	for i := range batch {
		f := batch[i]
		v := f.result.Version
		if v == nil {
			continue
		}
		content, known := seen[v.Digest]
		if !known {
			content, known = c.firsts.of(v.Digest)
		}
		if f.outcome.NoArchive {
			f.outcome.Body = nil
			continue
		}
		record, err := c.append(f, content, known)
		f.outcome.Body = nil // it would be alive until the batch is written, and nobody asks for it
		if err != nil {
			c.log.Error("a body cannot be stored", "page", f.result.Page.URL, "err", err)
			f.fail(models.OwnDisk, err, c.clock.Now())
			continue
		}
		appended = true
		f.place(record)
		if !known {
			// The time is that of the record, the request's: later revisit records refer to it by that.
			first := models.Content{Digest: v.Digest, Record: record, URL: f.result.Page.URL, At: models.At(f.outcome.At)}
			f.result.Content = &first
			if i+1 < len(batch) { // a simulation commits visits one by one, and one entry takes a map 1.5 kB
				seen[v.Digest] = first
			}
			c.firsts.add(first)
		}
	}
	if !appended {
		return nil
	}
	if err := c.archive.Sync(); err != nil {
		return fmt.Errorf("sync archive: %w", err)
	}
	return nil
}

func (c *committer) append(f *finished, content models.Content, known bool) (models.Record, error) {
	capture := models.Capture{URL: f.result.Page.URL, Outcome: f.outcome}
	if known {
		seen := content
		capture.Seen = &seen
	}
	return c.archive.Append(capture)
}

// seen looks up which of the batch's new bodies were stored before.
func (c *committer) seen(ctx context.Context, batch []*finished) (map[models.Digest]models.Content, error) {
	var digests []models.Digest
	for i := range batch {
		if v := batch[i].result.Version; v != nil {
			digests = append(digests, v.Digest)
		}
	}
	var seen map[models.Digest]models.Content
	err := c.ask(ctx, fmt.Sprintf("look up %d bodies", len(digests)), func() (err error) {
		seen, err = c.store.Contents(ctx, digests)
		return err
	})
	if seen == nil {
		seen = make(map[models.Digest]models.Content)
	}
	return seen, err
}

// ask puts a question to the database again and again while it is away.
func (c *committer) ask(ctx context.Context, what string, question func() error) error {
	for try := int32(1); ; try++ {
		err := question()
		if err == nil {
			return nil
		}
		c.log.Warn("the database does not answer", "tries", try, "err", err)
		if !c.again(ctx, try) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// place writes where the body lies into everything that refers to it.
func (f *finished) place(record models.Record) {
	v := f.result.Version
	v.Record = record
	for i := range f.result.Events {
		if f.result.Events[i].Version == v.Number {
			f.result.Events[i].Record = record
		}
	}
}

// fail plans the visit anew as a failure of our own. What it showed of the host stays remembered; what it showed of the page
// goes with the body.
func (f *finished) fail(class models.ErrorClass, err error, now time.Time) {
	f.replan(models.Outcome{Kind: models.Failed, Class: class, Detail: err.Error(), At: f.outcome.At,
		Sent: f.outcome.Sent, Delay: f.outcome.Delay, Findings: f.outcome.Findings}, now)
}

// replan plans the visit anew with another outcome.
func (f *finished) replan(out models.Outcome, now time.Time) {
	release, knowledge, memory := f.result.Release, f.result.Knowledge, f.result.HostMemory
	f.outcome = out
	f.result = f.planner.Plan(&f.lease, f.before, &f.outcome, now)
	f.result.Release, f.result.Knowledge, f.result.HostMemory = release, knowledge, memory
}

func (c *committer) count(f *finished, err error) {
	if errors.Is(err, models.ErrLeaseLost) {
		c.metrics.leaseLost()
		c.log.Warn("a result came after its lease was lost and is discarded", "page", f.result.Page.URL,
			"outcome", f.outcome.Kind.String())
		return
	}
	c.metrics.visit(&f.outcome, &f.before)
	if !c.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	c.log.Debug("visit", "page", f.result.Page.URL, "outcome", f.outcome.Kind.String(), "class", f.outcome.Class.String(),
		"status", f.outcome.Status, "took", f.outcome.Took, "fr_max", f.result.Page.FRMax, "due", f.result.Page.DueAt.String())
}
