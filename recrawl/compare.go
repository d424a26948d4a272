package recrawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// Bounds of comparisons.
const (
	compareWait = 10 * time.Second // how long one waits for others to end before the bytes decide
	compareHeld = 2 * compareBytes // bytes of bodies in all that are under way; reading one takes some twenty times as many
)

// Why a comparison came to nothing.
var (
	errCompareSlow  = errors.New("it takes too long")
	errCompareBusy  = errors.New("too many others are under way")
	errComparePanic = errors.New("package content panicked")
)

// comparer asks package content what differences are worth, for no more pages at a time than there are processors, and
// fewer where their bodies are large: so the time that one takes is its own, and what they hold together is bounded. It is
// safe for concurrent use.
type comparer struct {
	room   *semaphore.Weighted // of compareHeld bytes
	share  int64               // of it that the smallest body takes
	limit  time.Duration
	log    *slog.Logger
	logged atomic.Bool // a stack was
}

func newComparer(limit time.Duration, log *slog.Logger) *comparer {
	return &comparer{room: semaphore.NewWeighted(compareHeld), share: compareHeld / int64(runtime.GOMAXPROCS(0)),
		limit: limit, log: log}
}

// side is one of two bodies that are compared.
type side struct {
	body []byte
	kind string // Content-Type
}

// question is what is asked of package content: everything it needs and nothing of the visit, which may be over before
// the answer is there.
type question struct {
	before, after side
	rules         *content.Rules
	memory        []byte // of the page
	host          *hostMemory
	threshold     float64
	now           time.Time
	held          time.Time // when before was received
	leadsTo       string    // where after leads at once; "": nowhere
	earlier       bool      // after says that it is older than before
	page          int64
	good          bool      // the last visit found its content
	due           time.Time // when this one was due
	hostShown     time.Time // when a page of the host last showed its content; the zero time: that is not known
	records       int32     // visits that saw the page's content
	url           canon.URL
}

// compared is what came of a comparison.
type compared struct {
	content.Verdict
	page, host []byte // the memories, nil where they did not change
	turn       int64  // of host
	standsIn   bool   // the page is as it was, which other pages of the host are known to show in place of their contents
}

// run calls f, which reads so many bytes, when there is room for it, and gives it up when its time is over or it panics.
// What was given up goes on until its own end and takes its room until then, so the machine is never asked for more; nobody
// may look at what it wrote.
func (c *comparer) run(ctx context.Context, at canon.URL, bytes int, f func(context.Context) error) error {
	return c.runFor(ctx, c.limit, at, bytes, f)
}

// runFor is run with another limit of time.
func (c *comparer) runFor(ctx context.Context, limit time.Duration, at canon.URL, bytes int, f func(context.Context) error) error {
	waiting, stop := context.WithTimeout(ctx, compareWait)
	defer stop()
	takes := min(max(int64(bytes), c.share), compareHeld)
	if err := c.room.Acquire(waiting, takes); err != nil {
		return errCompareBusy
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer c.room.Release(takes)
		ended <- c.contained(limited, at, f)
	}()
	select {
	case err := <-ended:
		return err
	case <-limited.Done():
		return errCompareSlow
	}
}

// contained calls f. A panic in it is an error; the first stack is logged, and the visit goes on by the bytes.
func (c *comparer) contained(ctx context.Context, at canon.URL, f func(context.Context) error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		err = errComparePanic
		if c.logged.CompareAndSwap(false, true) {
			c.log.Error("comparing a page panicked", "page", at, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return f(ctx)
}

// compare reads both bodies and judges them.
func (c *comparer) compare(ctx context.Context, q question) (compared, error) {
	var got compared
	err := c.run(ctx, q.url, len(q.before.body)+len(q.after.body), func(ctx context.Context) error { return q.answer(ctx, &got) })
	if err != nil {
		return compared{}, err
	}
	return got, nil
}

// judgeFirst reads the one body that there is and judges it.
func (c *comparer) judgeFirst(ctx context.Context, q question) (compared, error) {
	var got compared
	err := c.run(ctx, q.url, len(q.after.body), func(context.Context) error {
		page := content.DecodePage(q.memory)
		after := content.Read(q.after.body, q.after.kind, q.url, q.rules)
		got.host, got.turn = q.host.change(func(host *content.HostMemory, orders *content.Orders) {
			got.Verdict = content.First(content.Case{After: after, Page: page, Host: host, Orders: orders, Now: q.now, PageID: q.page, URL: q.url,
				Good: q.good, Due: q.due, HostShown: q.hostShown})
		})
		got.remember(page, q.memory)
		return nil
	})
	if err != nil {
		return compared{}, err
	}
	return got, nil
}

// remember takes over a page's memory if it is another than before.
func (c *compared) remember(page *content.PageMemory, before []byte) {
	switch memory := page.Encode(); {
	case string(memory) == string(before):
	case memory == nil:
		c.page = []byte(forgotten)
	default:
		c.page = memory
	}
}

// answer reads both bodies and judges them. It stops early, with the error of ctx, when nobody waits for it any more.
func (q *question) answer(ctx context.Context, got *compared) error {
	after := content.Read(q.after.body, q.after.kind, q.url, q.rules)
	after.LeadsTo = q.leadsTo
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := content.Read(q.before.body, q.before.kind, q.url, q.rules)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if before.Kind == content.Other && after.Kind == content.Other {
		got.Verdict = content.Verdict{Kind: content.Change, Significance: 1, Reasons: models.ReasonBytes}
		return nil
	}
	page := content.DecodePage(q.memory)
	got.host, got.turn = q.host.change(func(host *content.HostMemory, orders *content.Orders) {
		got.Verdict = content.Judge(content.Case{Before: before, After: after, Page: page, Host: host, Orders: orders,
			Threshold: q.threshold, Now: q.now, Held: q.held, Earlier: q.earlier, PageID: q.page, URL: q.url, Good: q.good, Due: q.due, HostShown: q.hostShown,
			Records: q.records})
	})
	got.standsIn = (got.Kind == content.Noise || got.Kind == content.Same) && q.host.standsIn(after, q.page)
	got.remember(page, q.memory)
	return nil
}
