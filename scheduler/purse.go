package scheduler

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"sync"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// purse pays for visits out of one budget. The money lies in a note of the database that all workers take from, so
// together they keep to the budget, evenly over the day: what is not spent is lost but for a minute's worth. It is safe
// for concurrent use.
type purse struct {
	name  string
	store Store
	clock clock.Clock
	rate  func() allowance

	mu    sync.Mutex
	held  float64   // guarded by mu; taken out of the note and not spent
	bytes float64   // guarded by mu; received and not yet paid for
	next  time.Time // guarded by mu; before then there is nothing to take
	full  time.Time // guarded by mu; from then on the note holds all it can
	place time.Time // guarded by mu; of the last page that waits
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

// burst is how much unspent budget is kept, in time: what a pause of a minute left over may be caught up with, and no
// more.
const burst = time.Minute

// chunk is how much of the budget a worker takes at a time, in time: so many statements a second at most are the cost.
const chunk = time.Second

// note is what a budget's note holds.
type note struct {
	requests, bytes float64 // what may be spent; bytes may be negative, because they are paid for afterwards
	at              time.Time
}

const noteSize = 24

func (n note) encode() []byte {
	b := make([]byte, 0, noteSize)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.requests))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.bytes))
	return binary.LittleEndian.AppendUint64(b, uint64(n.at.UnixNano()))
}

// decodeNote reads a note; one that is not there or not ours is a full one, now.
func decodeNote(b []byte, now time.Time) note {
	fresh := note{requests: math.Inf(1), bytes: math.Inf(1), at: now}
	if len(b) != noteSize {
		return fresh
	}
	n := note{
		requests: math.Float64frombits(binary.LittleEndian.Uint64(b)),
		bytes:    math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
		at:       time.Unix(0, int64(binary.LittleEndian.Uint64(b[16:]))).UTC(),
	}
	if math.IsNaN(n.requests) || math.IsNaN(n.bytes) || n.at.After(now.Add(time.Hour)) { // a clock that was ahead
		return fresh
	}
	return n
}

// fill adds what came in since. A budget that is raised counts from now on, one that is lowered at once.
func (n note) fill(a allowance, now time.Time) note {
	days := max(now.Sub(n.at), 0).Hours() / 24
	n.requests = refill(n.requests, a.requests, days)
	n.bytes = refill(n.bytes, a.bytes, days)
	if now.After(n.at) {
		n.at = now
	}
	return n
}

func refill(left, perDay, days float64) float64 {
	if math.IsInf(perDay, 1) {
		return perDay
	}
	return min(left+perDay*days, most(perDay))
}

// most is how much of a budget can be unspent: at least one request.
func most(perDay float64) float64 { return max(1, perDay*burst.Hours()/24) }

// until is how long it takes for the requests to reach a level and for the bytes to be paid.
func (n note) until(level float64, a allowance) time.Duration {
	days := 0.0
	if n.requests < level {
		days = (level - n.requests) / a.requests
	}
	if n.bytes <= 0 {
		days = max(days, (1-n.bytes)/a.bytes)
	}
	if days == 0 {
		return 0
	}
	return time.Duration(min(days*24*float64(time.Hour), float64(longest))) + time.Millisecond
}

// change is what a purse gives.
type change struct {
	requests int       // paid for
	next     time.Time // where it gave less than it was asked for: when there will be more
	full     time.Time // when there will be more than can be kept; visits may be made early from then on
}

// take pays for up to so many requests.
func (p *purse) take(ctx context.Context, want int) (change, error) {
	a := p.rate()
	now := p.clock.Now()
	if a.unbounded() {
		return change{requests: want, full: now.Add(longest)}, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held < float64(want) && !now.Before(p.next) {
		if err := p.fetch(ctx, a, now, float64(want)-p.held); err != nil {
			return change{}, err
		}
	}
	got := max(min(float64(want), math.Floor(p.held)), 0)
	p.held -= got
	return change{requests: int(got), next: p.next, full: p.full}, nil
}

// fetch takes what is wanted out of the note, and at least a chunk. The caller holds mu.
func (p *purse) fetch(ctx context.Context, a allowance, now time.Time, want float64) error {
	if !math.IsInf(a.requests, 1) {
		want = max(want, math.Floor(a.requests*p.clock.Real(chunk).Hours()/24))
	}
	var got, paid float64
	var next, full time.Duration
	err := p.store.Merge(ctx, "budget/"+p.name, func(old []byte) []byte {
		n := decodeNote(old, now).fill(a, now)
		n.bytes -= p.bytes
		got, paid, next = 0, p.bytes, 0
		full = n.until(most(a.requests)*(1-1e-9), a)
		if n.bytes > 0 {
			got = max(min(want, math.Floor(n.requests+1e-9)), 0)
			n.requests -= got
		}
		if got < want {
			next = n.until(1, a)
		}
		return n.encode()
	})
	if err != nil {
		return err
	}
	p.held += got
	p.bytes -= paid
	p.next, p.full = now.Add(next), now.Add(full)
	return nil
}

// settle corrects what was paid by what was used: requests more or less than were paid for, and bytes.
func (p *purse) settle(requests int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held -= float64(requests)
	p.bytes += float64(bytes)
}

// purses are the budgets of a worker: that of all sites together and those of single sites. It is safe for concurrent
// use.
type purses struct {
	store Store
	clock clock.Clock
	all   *purse

	mu      sync.Mutex
	config  *config.Config   // guarded by mu
	sites   map[int32]*purse // guarded by mu; of the sites that have a budget
	pages   int64            // guarded by mu; known to the database when last counted
	counted time.Time        // guarded by mu
}

func newPurses(s Store, clk clock.Clock) *purses {
	p := &purses{store: s, clock: clk, sites: make(map[int32]*purse)}
	p.all = &purse{name: allSites, store: s, clock: clk, rate: func() allowance {
		c, pages := p.state()
		return allow(c.EffectiveBudget(), pages)
	}}
	return p
}

// allSites is the name of the budget of all sites together.
const allSites = "all"

func (p *purses) state() (*config.Config, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.config, p.pages
}

// follow takes over the budgets of a configuration.
func (p *purses) follow(c *config.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config = c
}

// site is when a site's own budget pays for a visit: now, which pays it, or later. Pages that wait get a place each, a
// visit's time apart, so that they do not all come back at once.
func (p *purses) site(ctx context.Context, id int32, now time.Time) time.Time {
	own := p.own(id)
	if own == nil {
		return now
	}
	paid, err := own.take(ctx, 1)
	if err != nil || paid.requests > 0 {
		return now // a budget that cannot be looked at stops nobody: the database will stop the worker
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	gap := time.Duration(24 * float64(time.Hour) / max(own.rate().requests, 1e-6))
	own.place = later(later(own.place, now).Add(min(gap, longest)), paid.next)
	return own.place
}

// own is a site's purse, nil where it has no budget.
func (p *purses) own(id int32) *purse {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.config.SiteBudget(p.config.SettingsOf(id))
	if b.IsZero() {
		return nil
	}
	own := p.sites[id]
	if own == nil {
		own = &purse{name: siteAccount(id), store: p.store, clock: p.clock}
		own.rate = func() allowance {
			c, pages := p.state()
			return allow(c.SiteBudget(c.SettingsOf(id)), pages)
		}
		p.sites[id] = own
	}
	return own
}

// siteAccount is the name of a site's own budget.
func siteAccount(id int32) string { return "site/" + strconv.Itoa(int(id)) }

// settle corrects what was paid for a visit by what it used.
func (p *purses) settle(site int32, out *models.Outcome) {
	p.all.settle(out.Sent-1, out.WireBytes)
	if own := p.own(site); own != nil && out.Kind != models.Deferred {
		own.settle(out.Sent-1, out.WireBytes)
	}
}

// recount is how old the number of pages may be, in real time, where a budget is for each page.
const recount = 10 * time.Minute

// count counts the pages again where there is a budget to share among them.
func (p *purses) count(ctx context.Context, now time.Time) error {
	p.mu.Lock()
	unbounded := p.config.EffectiveBudget().IsZero()
	fresh := !p.counted.IsZero() && now.Sub(p.counted) < p.clock.Real(recount) && !now.Before(p.counted)
	p.mu.Unlock()
	if unbounded || fresh {
		return nil
	}
	n, err := p.store.PagesKnown(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages, p.counted = n, now
	return nil
}

// even is the interval at which the budget that pays for a site visits all its pages alike, 0 where there is none.
func (p *purses) even(site int32) time.Duration {
	c, pages := p.state()
	a := allow(c.EffectiveBudget(), pages)
	if math.IsInf(a.requests, 1) || pages == 0 {
		return 0
	}
	return time.Duration(min(float64(pages)/a.requests*24*float64(time.Hour), float64(longest)))
}
