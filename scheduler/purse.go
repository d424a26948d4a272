package scheduler

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// purse pays for visits out of one budget. The money lies in a note of the database that all workers take from, so
// together they keep to the budget: it comes in evenly over the day, and what is not spent is kept, up to the note's room, for
// when visits are worth more. It is safe for concurrent use.
type purse struct {
	note  string // the name of the note
	store Store
	clock clock.Clock
	rate  func() allowance
	open  func() []config.Window // when pages that it pays for may be visited; nil, or none: at any time

	revised atomic.Pointer[revision] // to the budget in force; nil: it was always that

	mu     sync.Mutex
	held   float64               // guarded by mu; taken out of the note and not spent
	lent   float64               // guarded by mu; taken for visits that are looked for
	bytes  float64               // guarded by mu; received and not yet paid for
	usual  atomic.Pointer[usual] // as the note said last; nil: not known
	seen   visited               // guarded by mu; visits from which the note has not learned that
	asked  allowance             // guarded by mu; under which the following holds
	next   time.Time             // guarded by mu; before then there is nothing to take
	full   time.Time             // guarded by mu; from then on the note holds all it can
	left   note                  // guarded by mu; what was left in the note when it was asked last
	lost   float64               // guarded by mu; visits that were lost, see takeLost
	told   leaky                 // guarded by mu; visits that need not wait in the line, see first
	lined  leaky                 // guarded by mu; visits that waited in it, see paced
	laid   time.Time             // guarded by mu; the last place of those that fell back in it
	recess recess                // guarded by mu; of the windows
	spell  spell                 // guarded by mu; of them, as it was when that was asked last
	clocks
}

// allowance is a budget in force: what comes in each day. Infinite: no bound.
type allowance struct{ requests, bytes float64 }

// unbounded tells whether there is nothing to keep to.
func (a allowance) unbounded() bool { return math.IsInf(a.requests, 1) && math.IsInf(a.bytes, 1) }

// allow is the budget for so many known pages.
func allow(b config.Budget, pages int64) allowance {
	a := allowance{math.Inf(1), math.Inf(1)}
	if b.Requests.PerDay > 0 {
		a.requests = b.Requests.PerDay
		if b.Requests.PerPage {
			a.requests *= float64(max(pages, 1))
		}
	}
	if b.Bytes > 0 {
		a.bytes = float64(b.Bytes)
	}
	return a
}

// chunk is how much of the budget a worker takes at a time, in real time: so many statements a second at most are the cost. It
// is no more than a share of what can be unspent, or each worker would keep as much beside the others.
const (
	chunk      = time.Second
	chunkShare = 4
)

// change is what a purse gives.
type change struct {
	requests int       // paid for
	next     time.Time // where it gave less than it was asked for: when there will be more
	full     time.Time // when there will be more than can be kept; visits may be made early from then on. Zero: there is
}

// take pays for up to so many requests.
func (p *purse) take(ctx context.Context, want int) (change, error) {
	a := p.rate()
	if a.unbounded() {
		return change{requests: want, full: p.clock.Now().Add(longest)}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now() // not before who held it: their moments have passed
	if p.asks(a, now, float64(want)) && !p.drained(a, now) {
		if err := p.fetch(ctx, a, now, float64(want)); err != nil {
			return change{}, err
		}
	}
	got := max(min(float64(want), math.Floor(p.held)), 0)
	p.held -= got
	return change{requests: int(got), next: p.next, full: p.full}, nil
}

// lend takes requests for visits that are only looked for: until giveBack they count as unspent (bearsRobots).
func (p *purse) lend(ctx context.Context, want int) (change, error) {
	paid, err := p.take(ctx, want)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent = float64(paid.requests)
	return paid, err
}

// giveBack ends a loan of which so many requests are kept, for visits that were found.
func (p *purse) giveBack(paid change, kept int) {
	p.settle(kept-paid.requests, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent = 0
}

// asks tells whether the note must be asked: where less is held than is wanted and there may be more by now, where the
// budget is another one than it was, and where more than a chunk of bytes is to be paid. The caller holds mu.
func (p *purse) asks(a allowance, now time.Time, want float64) bool {
	if a != p.asked || p.bytes > a.bytes*p.clock.Real(chunk).Hours()/24 {
		return true
	}
	return p.held < want && (!now.Before(p.next) || p.own.After(now.Add(p.clock.Real(clockSet)))) // or our clock was set back
}

// drained tells whether the note need not be asked, because it was at this very moment, as it is often on a clock that stands
// still during a visit, and nothing was left. What it would answer is noted. The caller holds mu.
func (p *purse) drained(a allowance, now time.Time) bool {
	if !now.Equal(p.left.at) || a != p.asked || p.held != 0 || !math.IsInf(a.bytes, 1) || p.left.requests >= 1-1e-9 {
		return false
	}
	p.next, p.full = after(now, p.left.until(1, 0, a)), after(now, p.left.untilSaved(a, p.hours(now)))
	return true
}

// freeVisits are taken at a time out of a budget that bounds bytes alone.
const freeVisits = 16

// fetch takes what is wanted out of the note, and at least a chunk. What was held is put back first, so nobody keeps more
// than it wants. The caller holds mu.
func (p *purse) fetch(ctx context.Context, a allowance, now time.Time, want float64) error {
	some := float64(freeVisits)
	if !math.IsInf(a.requests, 1) {
		some = math.Floor(min(a.requests*p.clock.Real(chunk).Hours()/24, least(a.requests)/chunkShare))
	}
	want = max(want, some)
	got := 0.0
	var next, full time.Duration
	h := p.hours(now)
	err := p.exchange(ctx, a, now, func(n *note) {
		got, next = 0, 0
		full = n.untilSaved(a, h)
		if n.bytes > 0 {
			got = max(min(want, math.Floor(n.requests+1e-9)), 0)
			n.requests -= got
		}
		if got < want {
			next = n.until(1, 0, a)
		}
		p.left = *n
	})
	if err != nil {
		return err
	}
	p.held = got
	p.asked, p.next, p.full = a, after(now, next), after(now, full)
	return nil
}

// after is the moment when a wait ends; the zero time where there is none: whoever asked looked at the clock before, so that moment lies ahead by his.
func after(now time.Time, wait time.Duration) time.Time {
	if wait <= 0 {
		return time.Time{}
	}
	return now.Add(wait)
}

// exchange changes the note, after what was held is put back and the bytes received are paid: then nothing is held. The
// caller holds mu.
func (p *purse) exchange(ctx context.Context, a allowance, now time.Time, f func(*note)) error {
	paid, lost, extra := p.bytes, 0.0, p.extraRoom(now)
	p.left = note{}
	var written note
	err := p.store.Merge(ctx, p.note, func(old []byte) []byte {
		n := p.current(decodeNote(old, now, p.clock.Real(clockBroken)), now, p.clock.Real)
		n.extra = extra
		if r := p.revised.Load(); r != nil && r.at.After(n.at) {
			n = n.fill(allowance{min(r.was.requests, a.requests), min(r.was.bytes, a.bytes)}, r.at)
		}
		n = n.under(a).learn(p.seen)
		lost = n.lost(a, now, n.usual.bytes)
		room := n.room
		if n = n.fill(a, now); p.wasRaised(a, now) {
			n.room = room
		}
		kept := min(n.requests+p.held, max(n.requests, n.most(a.requests)))
		if math.IsInf(a.bytes, 1) && !math.IsInf(a.requests, 1) {
			lost += n.requests + p.held - kept
		}
		n.requests = kept
		n.bytes -= paid
		f(&n)
		written = n
		return n.encode()
	})
	if err != nil {
		p.left = note{}
		return err
	}
	p.held, p.bytes, p.seen = 0, p.bytes-paid, visited{}
	if written.visits > 0 {
		p.usual.Store(&written.usual)
	}
	p.lost += lost
	p.wrote(written, now)
	return nil
}

// takeLost is how many visits the budget could have paid for, since it was asked last, that nobody made and that could not be
// kept either. What came in before a start or a change of the configuration is not among them: nobody could have spent it.
func (p *purse) takeLost() float64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost
	p.lost = 0
	return lost
}

// revision is a change of a budget.
type revision struct {
	was allowance // until then
	at  time.Time
}

// revise is told that the budget is about to be another one: where that is more, it does not count for the time before.
func (p *purse) revise(now time.Time) { p.revised.Store(&revision{was: p.rate(), at: now}) }

// wasRaised tells whether the budget was raised of late: then nothing of it makes room.
func (p *purse) wasRaised(a allowance, now time.Time) bool {
	r := p.revised.Load()
	return r != nil && now.Sub(r.at) < p.clock.Real(raised) &&
		max(ratio(a.requests, r.was.requests), ratio(a.bytes, r.was.bytes)) > 1+littleChange
}

// raised is for how long after it was raised nothing of a budget makes room, in real time: who visits early spends all of it but for
// that, and the price falls by such visits alone.
const raised = time.Hour

// settle corrects what was paid by what was used: requests more or less than were paid for, and bytes. Without a budget
// nothing is paid for, nor is it owed when there is one.
func (p *purse) settle(requests int, bytes int64) {
	if p.rate().unbounded() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held -= float64(requests)
	p.bytes += float64(bytes)
}

// sees learns from a visit how many bytes one has.
func (p *purse) sees(page *models.Page, out *models.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.sees(page, out)
}

// size is how many bytes a visit has, of late; 0: not known.
func (p *purse) size() float64 {
	if u := p.usual.Load(); u != nil {
		return u.bytes
	}
	return 0
}

// spare pays for a visit before its time, where the note holds all it can. Otherwise it says when that will be.
func (p *purse) spare(ctx context.Context) (until time.Time, err error) {
	paid, err := p.take(ctx, 1)
	now := p.clock.Now()
	if err != nil || (paid.requests > 0 && !paid.full.After(now)) {
		return time.Time{}, err
	}
	p.settle(-paid.requests, 0)
	return later(later(paid.next, paid.full), now.Add(time.Second)), nil
}

// close gives back what is held.
func (p *purse) close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == 0 && p.bytes == 0 {
		return nil
	}
	return p.exchange(ctx, p.rate(), p.clock.Now(), func(*note) {})
}
