package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
)

// nursery is a virtual clock on which pages are born and announced: it passes no birth without putting the page into the store and
// waking the worker, as a command that adds a page does, and no announcement without passing it on. It is the clock of one simulation, which ends with the trace.
type nursery struct {
	*clock.Virtual
	trace   *Trace
	replay  *Replay
	planner func() *scheduler.Planner
	store   *Memory
	wake    func()
	end     func()
	placed  func(*models.Page, int32)   // may move a newborn's due time; nil: nobody does
	recount func(context.Context) error // called once, when the first pages are in the store

	unborn []int32 // indices of pages, the next birth first
	news   []news  // what is announced from now on
	err    error   // why no more pages could be put into the store, or nothing could be announced
}

func newNursery(t *Trace, r *Replay, store *Memory) *nursery {
	n := &nursery{Virtual: clock.NewVirtual(t.From.Time()), trace: t, replay: r, store: store}
	for i := range t.Pages {
		n.unborn = append(n.unborn, int32(i))
	}
	slices.SortStableFunc(n.unborn, func(a, b int32) int { return cmp.Compare(t.Pages[a].Born, t.Pages[b].Born) })
	return n
}

// SleepUntil implements clock.Clock.
func (n *nursery) SleepUntil(ctx context.Context, t time.Time) error {
	for ctx.Err() == nil && n.err == nil {
		next := n.trace.To
		if len(n.unborn) > 0 {
			next = min(next, n.trace.Pages[n.unborn[0]].Born)
		}
		if len(n.news) > 0 {
			next = min(next, n.news[0].at)
		}
		if next.Time().After(t) {
			return n.Virtual.SleepUntil(ctx, t)
		}
		if err := n.Virtual.SleepUntil(ctx, next.Time()); err != nil {
			return err
		}
		if next >= n.trace.To {
			n.end()
			break
		}
		if n.err = errors.Join(n.deliver(ctx), n.announce(ctx)); n.err != nil {
			n.end()
		}
		n.wake()
	}
	return ctx.Err()
}

// deliver puts the pages into the store that are born by now: first as pages that are never due, so that they are counted
// when the budget is shared out, and then as a visit would leave them.
func (n *nursery) deliver(ctx context.Context) error {
	now, count := n.Now(), 0
	for count < len(n.unborn) && n.trace.Pages[n.unborn[count]].Born <= models.At(now) {
		count++
	}
	born := n.unborn[:count]
	n.unborn = n.unborn[count:]
	found, lists := make([]models.Discovery, count), n.replay.lists.unread(born)
	for k, i := range born {
		l := &n.trace.Pages[i]
		found[k] = models.Discovery{Page: scheduler.NewPage(l.URL, l.Host, 0, 0, 1), Host: l.Host}
		found[k].Page.Importance = float32(l.Weight)
	}
	for _, s := range lists {
		found = append(found, models.Discovery{Page: scheduler.NewPage(s.url, s.host, 0, 1, 1), Host: s.host})
	}
	for k := range found {
		found[k].Page.Rule = models.RulePolicy // and DueAt 0: never
	}
	if _, err := n.store.AddPages(ctx, now, found, 0); err != nil {
		return fmt.Errorf("add %d pages of trace %s: %w", count, n.trace.Name, err)
	}
	if n.recount != nil {
		if err := n.recount(ctx); err != nil {
			return fmt.Errorf("count the pages of trace %s: %w", n.trace.Name, err)
		}
		n.recount = nil // from now on the worker does
	}
	for k, i := range born {
		r := n.newborn(&found[k], n.replay.answer(i, models.Digest{}, models.At(now), now), now)
		if n.placed != nil {
			n.placed(&r.Page, i)
		}
		n.store.place(&r)
	}
	for k, s := range lists {
		r := n.newborn(&found[count+k], n.replay.lists.read(s, false, now), now)
		n.store.place(&r)
	}
	return nil
}

// newborn is what a page's first visit would write.
func (n *nursery) newborn(found *models.Discovery, out models.Outcome, now time.Time) models.Result {
	host := models.Host{Bucket: found.Page.Bucket, ID: found.Page.HostID, Name: found.Host}
	return n.planner().Plan(&models.Lease{Host: host}, found.Page, &out, now)
}

// place writes a page and whether those of its host may be visited early, as the commit of a visit does.
func (m *Memory) place(r *models.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &m.buckets[r.Page.Bucket]
	h, p := b.hosts[r.Page.HostID], b.pages[r.Page.ID]
	p.write(&r.Page, r.Page.Bucket, h.ID)
	m.reschedule(p)
	h.Ahead = r.Host.Ahead
	m.settle(h)
}

// unfinished is an error where the worker stopped before the end of the trace.
func (n *nursery) unfinished() error {
	if now := models.At(n.Now()); now < n.trace.To {
		return fmt.Errorf("the simulation of %s ended at %s and not at %s", n.trace.Name, now, n.trace.To)
	}
	return nil
}
