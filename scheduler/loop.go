package scheduler

import (
	"context"
	"slices"
	"time"

	"recrawld/models"
)

// patient is the politeness delay, in real time, from which on a host is held for one page at a time: less would cost
// more in claims than it frees.
const patient = time.Second

// idle is how long the loop sleeps at most, in real time: what other processes add is seen that soon.
const idle = 500 * time.Millisecond

// loop claims and hands out leases until the context ends. Before each look it calls muster.
func (w *Worker) loop(ctx context.Context, start func(models.Lease), muster func()) {
	var trouble int32
	sleep, end := bed(ctx)
	defer func() { (*end)() }()
	for ctx.Err() == nil {
		if w.Beat != nil {
			w.Beat()
		}
		w.alarm.listen()
		muster()
		next, err := w.round(ctx, start)
		switch {
		case err != nil && ctx.Err() == nil:
			trouble++
			w.Log.Warn("nothing can be claimed", "tries", trouble, "err", err)
			next = w.Clock.Now().Add(w.Clock.Real(backoff(trouble, idle, 10*time.Second, 0)))
		case err == nil:
			trouble = 0
		}
		if next.IsZero() {
			continue
		}
		if sleep.Err() != nil {
			sleep, end = bed(ctx)
		}
		w.alarm.sleep(sleep, end, w.Clock, next)
	}
}

// round claims what is ready, as far as the budget goes, and starts it. It returns when to look again: zero for at once.
func (w *Worker) round(ctx context.Context, start func(models.Lease)) (time.Time, error) {
	now := w.Clock.Now()
	latest := now.Add(w.Clock.Real(idle))
	room := w.room()
	barred := w.holding(now) != ""
	w.bar(barred)
	if barred || room == 0 {
		w.see(true)
		return latest, nil
	}
	if err := w.purses.count(ctx, now); err != nil {
		return latest, err
	}
	if err := w.countRequisites(ctx, now); err != nil {
		return latest, err
	}
	every := min(w.Clock.Real(shareEvery), w.planner.Load().calendar.Interval(now, 1))
	if err := w.mind.share(ctx, now, every); err != nil {
		return latest, err
	}
	leases, next, err := w.claim(ctx, now, room)
	if err != nil {
		return latest, err
	}
	w.taken(len(leases))
	for i := range leases {
		start(leases[i])
	}
	if len(leases) == 0 {
		return w.until(next, latest), nil
	}
	return time.Time{}, nil
}

// until is when to look again: nobody else adds anything to a simulation but its clock, which wakes us, so only outside it the sleep has a limit.
func (w *Worker) until(next, latest time.Time) time.Time {
	switch {
	case w.Fetchers > 0 && (next.IsZero() || next.After(latest)):
		return latest
	case next.IsZero(): // all pages are gone
		return latest.Add(longest)
	}
	return next
}

// claim leases up to so many hosts of what is ready, or, where nothing is and the budget has a visit to spare, what will be
// first. Without any it returns when to look again, zero for no particular time.
func (w *Worker) claim(ctx context.Context, now time.Time, room int) ([]models.Lease, time.Time, error) {
	buckets, next, err := w.look(ctx, now)
	if err != nil {
		return nil, time.Time{}, err
	}
	if len(buckets) == 0 {
		room = 1 // what is not used is missed by others
	}
	room = min(room, hostsPerClaim)
	paid, err := w.purses.all.lend(ctx, room)
	if err != nil || paid.requests == 0 {
		return nil, paid.next, err
	}
	c := models.ClaimRequest{Now: now, Lease: w.Clock.Real(w.Lease), Owner: w.Name, Buckets: buckets, Hosts: paid.requests,
		Pages: w.pagesPerClaim(), Delay: w.planner.Load().delay, Patient: w.Clock.Real(patient)}
	var leases []models.Lease
	switch {
	case len(buckets) > 0:
		leases, next, err = w.claimReady(ctx, c, buckets)
	case w.early.saved().After(now):
		next = sooner(next, w.early.saved())
	case w.purses.mayBeEarly(paid, now):
		leases, next, err = w.claimEarly(ctx, c, next)
	default:
		next = sooner(next, paid.full)
	}
	w.purses.all.giveBack(paid, len(leases)) // each lease has one visit paid for
	return leases, next, err
}

// seenFor is how long what was seen to be ready serves further claims: to look at all buckets costs as much as to claim from some. It is
// time by the worker's clock, however fast that is, since the order of what becomes ready meanwhile is not seen.
const seenFor = 100 * time.Millisecond

// look lists the buckets that have something ready, as mine does, or those that are left of a look a moment ago. A worker without
// fetchers, to which all comes one by one, looks each time.
func (w *Worker) look(ctx context.Context, now time.Time) (buckets []int16, next time.Time, err error) {
	if since := now.Sub(w.lookedAt); len(w.left) > 0 && since >= 0 && since < seenFor {
		return w.left, time.Time{}, nil
	}
	ready, err := w.Store.Ready(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	buckets, next = w.mine(ready, now)
	w.lookedAt, w.left = now, nil
	return buckets, next, nil
}

// claimReady claims from the first of the buckets that have something for us: each is said to have a host at least, so no more of
// them are asked at a time than hosts are wanted. Where all are empty by now it returns when to look again: at once, if that was said
// by an earlier look.
func (w *Worker) claimReady(ctx context.Context, c models.ClaimRequest, buckets []int16) (leases []models.Lease, next time.Time, err error) {
	if len(w.left) > 0 {
		next = c.Now
	}
	w.left = nil
	for len(buckets) > 0 {
		c.Buckets = buckets[:min(c.Hosts, len(buckets))]
		leases, err := w.Store.Claim(ctx, c)
		if err != nil {
			return nil, next, err
		}
		if len(leases) > 0 {
			if last := leases[len(leases)-1].Host.Bucket; w.Fetchers > 0 {
				w.left = buckets[max(slices.Index(buckets, last), 0):] // it may have more
			}
			return leases, time.Time{}, nil
		}
		buckets = buckets[len(c.Buckets):]
	}
	return nil, next, nil
}

// claimEarly leases the host with the page that is due first of those that may be visited early, for that page. Without
// one it returns the time given, or when there may be one if that is sooner.
func (w *Worker) claimEarly(ctx context.Context, c models.ClaimRequest, next time.Time) ([]models.Lease, time.Time, error) {
	ahead, err := w.Store.Ahead(ctx, c.Now, w.early.resting(c.Now)+2)
	if err != nil {
		return nil, next, err
	}
	var first, second models.BucketReady // whose pages are due first
	for _, b := range ahead {
		until, rests := w.early.rests(b.Bucket, &b.At)
		switch {
		case rests:
			next = sooner(next, until)
		case first.At.IsZero() || b.At.Before(first.At):
			first, second = b, first
		case second.At.IsZero() || b.At.Before(second.At):
			second = b
		}
	}
	if first.At.IsZero() {
		return nil, sooner(next, w.opens(c.Now)), nil
	}
	c.Buckets, c.Ahead, c.Hosts, c.Pages = []int16{first.Bucket}, first.At.Add(longest), 1, earlyAmong
	c.Patient = 0 // also where the host must be left alone for long: it is held for one of them
	leases, err := w.Store.Claim(ctx, c)
	for i := range leases {
		leases[i].Pages = w.early.pick(leases[i].Pages, c.Now, second.At)
	}
	return leases, next, err
}

// earlyAmong is among how many pages of a host one is looked for that may be visited early: behind as many as lead to new ones (changerate), which may not,
// and some lists.
const earlyAmong = 96

// sooner is the earlier of two moments of which either may be zero, for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// holding tells why nothing may be claimed.
func (w *Worker) holding(now time.Time) string {
	if w.Hold != nil {
		if why := w.Hold(); why != "" {
			return why
		}
	}
	return w.outage.holding(now)
}

// bar takes note of whether anything may be claimed.
func (w *Worker) bar(barred bool) {
	if w.barred.Load() != barred { // a look of the loop costs no more than it must
		w.barred.Store(barred)
	}
}
