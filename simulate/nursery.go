package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/scheduler"
)

// nursery is a virtual clock on which pages are born: it passes no birth without putting the page into the store and
// waking the worker, as a command that adds a page does. It is the clock of one simulation, which ends with the trace.
type nursery struct {
	*clock.Virtual
	trace   *Trace
	replay  *Replay
	planner func() *scheduler.Planner
	store   *Memory
	wake    func()
	end     func()
	placed  func(*models.Page, int32) // may move a newborn's due time; nil: nobody does

	unborn []int32 // indices of pages, the next birth first
	err    error   // why no more pages could be put into the store
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
		if n.err = n.deliver(ctx); n.err != nil {
			n.end()
		}
		n.wake()
	}
	return ctx.Err()
}

// deliver puts the pages into the store that are born by now.
func (n *nursery) deliver(ctx context.Context) error {
	now := n.Now()
	var born []models.Discovery
	early := make(map[key]bool)
	for len(n.unborn) > 0 && n.trace.Pages[n.unborn[0]].Born <= models.At(now) {
		result := n.newborn(n.unborn[0], now)
		born = append(born, models.Discovery{Page: result.Page, Host: result.Host.Name})
		early[key{result.Host.Bucket, result.Host.ID}] = result.Host.Ahead
		n.unborn = n.unborn[1:]
	}
	if len(born) == 0 {
		return nil
	}
	if _, err := n.store.AddPages(ctx, now, born, 0); err != nil {
		return fmt.Errorf("add %d pages of trace %s: %w", len(born), n.trace.Name, err)
	}
	for h, ahead := range early {
		n.store.setAhead(h.bucket, h.id, ahead)
	}
	return nil
}

// newborn is what a page's first visit would write.
func (n *nursery) newborn(i int32, now time.Time) models.Result {
	l := &n.trace.Pages[i]
	page := scheduler.NewPage(l.URL, l.Host, 0, 0, 1)
	page.Importance = float32(l.Weight)
	out := n.replay.answer(i, models.Digest{}, models.At(now), now)
	host := models.Host{Bucket: page.Bucket, ID: page.HostID, Name: l.Host}
	result := n.planner().Plan(&models.Lease{Host: host}, page, &out, now)
	if n.placed != nil {
		n.placed(&result.Page, i)
	}
	return result
}

// setAhead lets the pages of a host be visited early, as the commit of a visit does.
func (m *Memory) setAhead(bucket int16, id int64, ahead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.buckets[bucket].hosts[id]; h != nil && h.Ahead != ahead {
		h.Ahead = ahead
		m.requeue(h)
	}
}

// unfinished is an error where the worker stopped before the end of the trace.
func (n *nursery) unfinished() error {
	if now := models.At(n.Now()); now < n.trace.To {
		return fmt.Errorf("the simulation of %s ended at %s and not at %s", n.trace.Name, now, n.trace.To)
	}
	return nil
}
