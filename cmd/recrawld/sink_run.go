package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/sink"
)

// lateSink opens a sink when its first event comes: of several workers only the one that drains it may have it open.
type lateSink struct {
	name   string
	how    func() (takingSink, error)
	opened takingSink // nil: not yet
}

// Name implements sink.Sink.
func (l *lateSink) Name() string { return l.name }

// Deliver implements sink.Sink.
func (l *lateSink) Deliver(ctx context.Context, events []models.Event) error {
	if err := l.open(); err != nil {
		return err
	}
	return l.opened.Deliver(ctx, events)
}

// Begin takes the sink for this process until end is called.
func (l *lateSink) Begin() (end func(), err error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	if s, ok := l.opened.(interface{ Begin() (func(), error) }); ok {
		return s.Begin()
	}
	return func() {}, nil
}

// Place tells the place of a sink that is open from others.
func (l *lateSink) Place() string {
	if s, ok := l.opened.(interface{ Place() string }); ok {
		return s.Place()
	}
	return ""
}

// Idle is what the sink does when there is no news, once it is open.
func (l *lateSink) Idle(now time.Time) error {
	if idler, ok := l.opened.(interface{ Idle(time.Time) error }); ok {
		return idler.Idle(now)
	}
	return nil
}

// Rebuild makes the sink anew from the present state of the pages.
func (l *lateSink) Rebuild(ctx context.Context, now time.Time, current iter.Seq2[models.Event, error]) error {
	if err := l.open(); err != nil {
		return err
	}
	rebuilder, ok := l.opened.(interface {
		Rebuild(context.Context, time.Time, iter.Seq2[models.Event, error]) error
	})
	if !ok {
		return fmt.Errorf("sink %s cannot be made anew", l.name)
	}
	return rebuilder.Rebuild(ctx, now, current)
}

// Lost is of how many pages the archive had lost the bodies when the sink was made anew.
func (l *lateSink) Lost() int64 { return lostBy(l.opened) }

func (l *lateSink) open() error {
	if l.opened != nil {
		return nil
	}
	opened, err := l.how()
	if err == nil { // else opened is not nil but holds a pointer that is
		l.opened = opened
	}
	return err
}

// Close closes the sink if it was opened.
func (l *lateSink) Close() error {
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}

// recentBytes is how much of what is archived is held in memory at most until the mirror asks for it: that of three
// thousand pages or so, which is a few batches of a mirror that is not far behind.
func recentBytes(c *config.Config) int64 {
	if c.Mirror.Dir == "off" {
		return 0
	}
	return 32 << 20
}

// recentFirst gives sinks what was archived a moment ago out of memory, and all else from the disk.
type recentFirst struct{ *archive.Archive }

// Read implements sink.Archive.
func (r recentFirst) Read(at models.Record) (archive.Answer, error) {
	if answer, ok := r.Take(at); ok {
		return answer, nil
	}
	return r.Archive.Read(at)
}

// sinkRunner drains one sink beside the visits, and makes it anew when a command asks for that.
type sinkRunner struct {
	sink  openedSink
	drain *sink.Drain
	store *models.Store
	clock clock.Clock
	owner string
	log   *slog.Logger
}

// sinkRunners are the runners of the sinks that a configuration asks for.
func (d *daemon) sinkRunners() []*sinkRunner {
	var runners []*sinkRunner
	for _, kind := range wantedSinks(&d.start) {
		opened := kind.make(sinkParts{archive: recentFirst{d.archive}, store: d.store, clock: d.clock, log: d.log,
			library: func(context.Context) (library, error) { return d.library(), nil }})
		runners = append(runners, &sinkRunner{
			sink: opened, store: d.store, clock: d.clock, owner: d.start.Worker.Name, log: d.log,
			drain: newDrain(d.store, opened, d.clock, sink.Options{Owner: d.start.Worker.Name, Batch: kind.batch, Source: d.store, Log: d.log}),
		})
	}
	return runners
}

// lastDrain is how long, in real time, what the last visits found may take to reach a sink when the daemon ends. What
// does not reach it then does at the next start.
const lastDrain = 4 * time.Second

// run drains until ctx ends, and then what is left.
func (r *sinkRunner) run(ctx context.Context) error {
	for ctx.Err() == nil {
		asked := r.drainUntilAsked(ctx)
		if asked == "" || ctx.Err() != nil {
			continue
		}
		r.remake(ctx, asked)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastDrain)
	defer cancel()
	if _, err := r.drain.Once(last); err != nil && !errors.Is(err, sink.ErrBusy) {
		r.log.Warn("sink is behind; the next start delivers the rest", "sink", r.sink.Name(), "err", err)
	}
	return r.sink.Close()
}

// remake makes the sink anew and answers the wish for that. Where ctx ends before, the wish stays, for the next start: the sink
// is made half.
func (r *sinkRunner) remake(ctx context.Context, asked string) {
	r.log.Info("sink is made anew", "sink", r.sink.Name())
	err := r.drain.Replay(ctx, r.store)
	if err != nil {
		r.log.Warn("sink is not made anew", "sink", r.sink.Name(), "err", err)
	} else {
		r.log.Info("sink is anew", "sink", r.sink.Name())
	}
	if err != nil && ctx.Err() != nil {
		return
	}
	answering, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastDrain)
	defer cancel()
	if _, err := r.store.SetMeta(answering, replayKey(r.sink.Name()), asked, replayAnswer(lostBy(r.sink), err)); err != nil {
		r.log.Warn("the end of a replay is not noted", "sink", r.sink.Name(), "err", err)
	}
}

// drainUntilAsked drains until ctx ends or this process is the one to answer a wish for a replay, which it returns.
func (r *sinkRunner) drainUntilAsked(ctx context.Context) (asked string) {
	draining, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan string, 1)
	go func() {
		defer stop()
		watched <- r.waitForWish(draining)
	}()
	_ = r.drain.Run(draining) // it ends by its context alone
	stop()
	return <-watched
}

// waitForWish looks for a wish until ctx ends.
func (r *sinkRunner) waitForWish(ctx context.Context) string {
	for r.clock.SleepUntil(ctx, r.clock.Now().Add(r.clock.Real(sitesEvery))) == nil {
		wish, err := r.store.Meta(ctx, replayKey(r.sink.Name()))
		if err != nil || !strings.HasPrefix(wish, replayAsked) {
			continue
		}
		// The one that drains it answers; others would only find it busy.
		if lease, err := r.store.Meta(ctx, sink.LeaseKey(r.sink.Name())); err == nil && sink.HeldBy(lease, r.clock.Now()) == r.owner {
			return wish
		}
	}
	return ""
}

// A wish for a replay is a row of the database's meta data: "asked …" by a command, then "done", "done, lost N" or "failed: …".
const (
	replayAsked  = "asked "
	replayDone   = "done"
	replayLost   = "done, lost "
	replayFailed = "failed: "
)

func replayKey(name string) string { return "sink-replay:" + name }

func replayAnswer(lost int64, err error) string {
	switch {
	case err != nil:
		return replayFailed + err.Error()
	case lost > 0:
		return replayLost + strconv.FormatInt(lost, 10)
	}
	return replayDone
}

// lostBy is of how many pages the archive had lost the bodies when a sink was made anew.
func lostBy(s any) int64 {
	if l, ok := s.(interface{ Lost() int64 }); ok {
		return l.Lost()
	}
	return 0
}
