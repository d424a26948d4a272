// Package resolve looks up the addresses of host names and remembers them for as long as their zones say.
//
// The look-up itself is Go's own resolver: /etc/hosts, resolv.conf, search lists, both address families and their order
// are as everywhere. It says nothing of how long an answer holds, so the messages that it reads are read along (see
// ask.go).
//
// An answer passes through these states:
//
//	fresh    within its TTL, held between KeepMin and KeepMax: given at once
//	ageing   the last quarter of that: given at once, and asked for anew behind the scenes
//	expired  asked for anew; who waits longer than Patience, or meets a resolver that fails, gets the old addresses
//	         (RFC 8767) until they are StaleMax old
//
// A name that does not exist is an answer too, kept DeniedMax at most. A failure of the resolver is kept FailedKeep
// (RFC 9520 asks for a second at least), so that a thousand pages of one host do not ask a thousand times.
//
// Nothing here says which addresses may be dialled: who dials judges each address each time, so that an answer that
// changes (DNS rebinding) gains nothing, from the cache or not.
package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
)

// Config is what a Cache is made of. A field that is 0 has its default. Times are the machine's.
type Config struct {
	Server     string        // host:port of the name server to ask; "": those of resolv.conf
	Timeout    time.Duration // of one look-up with all its queries; default 5s
	Patience   time.Duration // how long old addresses wait for new ones; default 1.8s, as RFC 8767 says
	KeepMin    time.Duration // an answer holds at least so long, whatever its TTL; default 1m
	KeepMax    time.Duration // and at most so long; default 1h
	DeniedMax  time.Duration // that a name does not exist holds at most so long; default 1m
	FailedKeep time.Duration // how long the resolver is not asked again after a failure; default 5s
	StaleMax   time.Duration // how long after its end an answer stands in for a resolver that fails; default 1d
	Names      int           // kept at most; default 65536, some 20 MB
	Ahead      int           // look-ups that nobody waits for, at a time; default 32

	Clock   clock.Clock           // nil: the machine's
	Metrics prometheus.Registerer // nil: unregistered
}

// fill sets what is 0 to a default.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c Config) withDefaults() Config {
	fill(&c.Timeout, 5*time.Second)
	fill(&c.Patience, 1800*time.Millisecond)
	fill(&c.KeepMin, time.Minute)
	fill(&c.KeepMax, time.Hour)
	fill(&c.DeniedMax, time.Minute)
	fill(&c.FailedKeep, 5*time.Second)
	fill(&c.StaleMax, 24*time.Hour)
	fill(&c.Names, 65536)
	fill(&c.Ahead, 32)
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	return c
}

// Cache looks up names, each once at a time. It implements recrawl.Resolver and is safe for concurrent use. No look-up
// waits for that of another name.
type Cache struct {
	config  Config
	asker   *asker
	metrics *metrics
	under   sync.WaitGroup // look-ups under way

	mu      sync.Mutex
	entries generations        // guarded by mu
	flights map[string]*flight // guarded by mu; by name
	ahead   int                // guarded by mu; flights that nobody waited for when they began
	closed  bool               // guarded by mu
}

// entry is what is known of a name. It does not change; what is learned later is another entry.
type entry struct {
	addrs  []netip.Addr
	err    error     // why there are none; a *net.DNSError
	ageing time.Time // from then on it is asked for anew before it ends
	until  time.Time
	stale  time.Time // until then addrs stand in for a resolver that fails
}

// flight is a look-up under way.
type flight struct {
	done   chan struct{} // closed when found is set
	found  *entry
	cancel context.CancelFunc
	ahead  bool
}

// New returns an empty cache. Whoever makes one closes it.
func New(c Config) *Cache {
	c = c.withDefaults()
	cache := &Cache{config: c, asker: newAsker(c.Server, c.Timeout/3), flights: make(map[string]*flight),
		entries: generations{half: max(c.Names/2, 1), young: make(map[string]*entry)}}
	cache.metrics = newMetrics(c.Metrics, cache.len)
	return cache
}

// errClosed is what a closed cache answers.
var errClosed = errors.New("the resolver is closed")

// LookupNetIP returns the addresses of a name, which the caller must not change: at least one, or an error, which is a
// *net.DNSError unless ctx ended. IsNotFound of it is true where the name has no address for sure, IsTemporary where that
// could not be found out. The network is always "ip": both families.
func (c *Cache) LookupNetIP(ctx context.Context, _, name string) ([]netip.Addr, error) {
	name = strings.ToLower(name)
	now := c.config.Clock.Now()
	c.mu.Lock()
	e := c.entries.get(name)
	if e != nil && now.Before(e.until) {
		if !now.Before(e.ageing) {
			c.lookAhead(ctx, name)
		}
		c.mu.Unlock()
		c.metrics.cached.Inc()
		return e.addrs, e.err
	}
	f := c.fly(ctx, name, false)
	c.mu.Unlock()
	if f == nil {
		return nil, &net.DNSError{Err: errClosed.Error(), Name: name, IsTemporary: true}
	}
	return c.await(ctx, name, f, e.standIn(now))
}

// standIn is the old addresses that may stand in for new ones; none for nil.
func (e *entry) standIn(now time.Time) []netip.Addr {
	if e == nil || !now.Before(e.stale) {
		return nil
	}
	return e.addrs
}

// await waits for a look-up, for old addresses no longer than patience allows.
func (c *Cache) await(ctx context.Context, name string, f *flight, old []netip.Addr) ([]netip.Addr, error) {
	patient, cancel := ctx, context.CancelFunc(func() {})
	if len(old) > 0 {
		patient, cancel = context.WithTimeout(ctx, c.config.Patience)
	}
	defer cancel()
	select {
	case <-f.done:
		return f.found.addrs, f.found.err
	case <-patient.Done():
	}
	switch {
	case ctx.Err() == nil:
		c.metrics.stale.Inc()
		return old, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, &net.DNSError{Err: "no answer in time", Name: name, IsTimeout: true, IsTemporary: true}
	}
	return nil, ctx.Err()
}

// Prefetch begins to look up a name that will be asked for soon, unless it is known, and returns at once. Where too many
// look-ups that nobody waits for are under way, it does nothing.
func (c *Cache) Prefetch(ctx context.Context, name string) {
	name = strings.ToLower(name)
	if _, err := netip.ParseAddr(name); err == nil {
		return
	}
	now := c.config.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries.get(name); e == nil || !now.Before(e.ageing) {
		c.lookAhead(ctx, name)
	}
}

// lookAhead begins a look-up that nobody waits for yet. The caller holds mu.
func (c *Cache) lookAhead(ctx context.Context, name string) {
	if c.ahead < c.config.Ahead && c.flights[name] == nil {
		c.fly(ctx, name, true)
	}
}

// Distrust says that the addresses of a name were of no use: they are asked for anew the next time, before their TTL is
// over. They still stand in for a resolver that fails.
func (c *Cache) Distrust(name string) {
	name = strings.ToLower(name)
	now := c.config.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries.get(name); e != nil && e.err == nil && now.Before(e.until) {
		old := *e
		old.ageing, old.until = now, now
		c.entries.put(name, &old)
	}
}

// fly is the look-up of a name, begun unless it is under way; nil when the cache is closed. The caller holds mu. The
// look-up goes on when its caller gives up: others may wait for it, and the next one will ask.
func (c *Cache) fly(ctx context.Context, name string, ahead bool) *flight {
	if f := c.flights[name]; f != nil || c.closed {
		return f
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.config.Timeout)
	f := &flight{done: make(chan struct{}), cancel: cancel, ahead: ahead}
	c.flights[name] = f
	if ahead {
		c.ahead++
	}
	c.under.Go(func() {
		defer cancel()
		began := clock.System{}.Now()
		a := c.asker.ask(ctx, name)
		c.metrics.took.Observe(clock.System{}.Now().Sub(began).Seconds())
		c.land(name, f, a)
	})
	return f
}

// land ends a look-up.
func (c *Cache) land(name string, f *flight, a answer) {
	now := c.config.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	f.found = c.entryOf(a, c.entries.get(name), now)
	c.entries.put(name, f.found)
	delete(c.flights, name)
	if f.ahead {
		c.ahead--
	}
	close(f.done)
}

// entryOf is what is known after an answer.
func (c *Cache) entryOf(a answer, before *entry, now time.Time) *entry {
	k := &c.config
	switch {
	case a.err == nil:
		c.metrics.found.Inc()
		keep := min(max(a.ttl, k.KeepMin), k.KeepMax)
		until := now.Add(keep)
		return &entry{addrs: a.addrs, ageing: until.Add(-keep / 4), until: until, stale: until.Add(k.StaleMax)}
	case a.err.IsNotFound:
		c.metrics.denied.Inc()
		until := now.Add(min(max(a.ttl, k.FailedKeep), k.DeniedMax))
		return &entry{err: a.err, ageing: until, until: until}
	}
	c.metrics.failed.Inc()
	until := now.Add(k.FailedKeep)
	if old := before.standIn(now); len(old) > 0 {
		c.metrics.stale.Inc()
		return &entry{addrs: old, ageing: until, until: until, stale: before.stale}
	}
	return &entry{err: a.err, ageing: until, until: until}
}

// len is how many names are kept.
func (c *Cache) len() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.entries.len())
}

// Close cancels the look-ups under way and waits for them. What is asked later is refused.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	for _, f := range c.flights {
		f.cancel()
	}
	c.mu.Unlock()
	c.under.Wait()
}

// generations keeps the entries that were used of late: when the young half is full it becomes the old half, and what
// nobody used since it became old is dropped. That costs nothing in order and drops no name in frequent use.
type generations struct {
	half       int
	young, old map[string]*entry
}

func (g *generations) get(name string) *entry {
	if e := g.young[name]; e != nil {
		return e
	}
	e := g.old[name]
	if e != nil {
		delete(g.old, name)
		g.put(name, e)
	}
	return e
}

func (g *generations) put(name string, e *entry) {
	if g.young[name] == nil && len(g.young) >= g.half {
		g.young, g.old = make(map[string]*entry), g.young
	}
	delete(g.old, name)
	g.young[name] = e
}

func (g *generations) len() int { return len(g.young) + len(g.old) }
