package recrawl

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
)

// cachedHosts is how many hosts' memories are kept decoded. One that is pushed out while its lease lasts loses what its
// visits learned, so there is room for many times the hosts that are visited at a time by default.
const cachedHosts = 1024

// hostMemories keeps what is remembered of the hosts visited last. An entry holds for one lease: another worker may have
// the host between two. It is safe for concurrent use.
type hostMemories struct {
	mu     sync.Mutex
	byHost map[hostKey]*list.Element // guarded by mu
	recent *list.List                // of *hostMemory, the newest first; guarded by mu
}

type hostKey struct {
	bucket int16
	host   int64
}

// hostMemory is what is remembered of one host while a lease of it lasts. Visits under way at a time share it.
type hostMemory struct {
	key   hostKey
	token int64 // of the lease

	mu       sync.Mutex
	probing  bool                // guarded by mu; a name that does not exist was asked for in this lease
	auditing bool                // guarded by mu; a visit without conditions was made in this lease because one was due
	loaded   bool                // guarded by mu
	unread   bool                // guarded by mu; it could not be read, so nothing may be written over it
	body     []byte              // guarded by mu; memory as it was last encoded
	memory   *content.HostMemory // guarded by mu
	orders   *content.Orders     // guarded by mu; not changed once loaded
	turn     int64               // guarded by mu; grows with each body
}

func newHostMemories() *hostMemories {
	return &hostMemories{byHost: make(map[hostKey]*list.Element), recent: list.New()}
}

// of returns the entry of a lease, in place of that of the lease before; what it remembers is read when it is first
// needed.
func (c *hostMemories) of(h *models.Host) *hostMemory {
	key := hostKey{h.Bucket, h.ID}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.byHost[key]
	if known {
		c.recent.MoveToFront(e)
		if m := e.Value.(*hostMemory); m.token == h.LeaseToken {
			return m
		}
	}
	fresh := &hostMemory{key: key, token: h.LeaseToken}
	if known {
		e.Value = fresh
		return fresh
	}
	c.byHost[key] = c.recent.PushFront(fresh)
	if c.recent.Len() > cachedHosts {
		oldest := c.recent.Back()
		c.recent.Remove(oldest)
		delete(c.byHost, oldest.Value.(*hostMemory).key)
	}
	return fresh
}

// claimProbe tells the first who asks in a lease that it may spend its turn on a probe.
func (m *hostMemory) claimProbe() bool { return m.claim(&m.probing) }

// claimAudit tells the first who asks in a lease that it may make the visit without conditions that is due.
func (m *hostMemory) claimAudit() bool { return m.claim(&m.auditing) }

func (m *hostMemory) claim(taken *bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := !*taken
	*taken = true
	return first
}

// load reads what is remembered, once. What cannot be read counts as nothing; the error says so.
func (m *hostMemory) load(ctx context.Context, past Past) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loaded {
		return nil
	}
	body, err := past.Memory(ctx, m.key.bucket, m.key.host, models.HostMemoryID)
	orders, ordersErr := past.Memory(ctx, m.key.bucket, m.key.host, models.OrdersID)
	m.body, m.loaded = body, true
	m.memory, m.orders = content.DecodeHost(body), content.DecodeOrders(orders)
	m.unread = err != nil
	return errors.Join(err, ordersErr)
}

// replaces tells whether anything is known that pages of the host with contents show in place of these, or for names that do not exist.
func (m *hostMemory) replaces() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Replaces()
}

// standIns tells whether any page of the host is known to show something in place of its content.
func (m *hostMemory) standIns() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.StandIns()
}

// standsIn tells whether a page's view is what others of the host are known to show in place of their contents.
func (m *hostMemory) standsIn(v *content.View, page int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.StandsIn(v, page)
}

// awaits tells whether it is of use at a time, in unix seconds, to know what other pages say as ever.
func (m *hostMemory) awaits(now int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Awaits(now)
}

// stays takes note of what a page says as ever, at a time in unix seconds.
func (m *hostMemory) stays(v *content.View, page, now int64) (body []byte, turn int64) {
	return m.noted(func(memory *content.HostMemory) bool { return memory.Stays(v, page, now) })
}

// leavesAside tells whether the pages of a family ask for that, all that were seen.
func (m *hostMemory) leavesAside(family content.Family) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.LeavesAside(family)
}

// tell takes note of whether a page of a family says a thing (content.HostMemory.Tells). The first few of each family are news; what is none costs next
// to nothing.
func (m *hostMemory) tell(family content.Family, page int64, says bool, params string) (body []byte, turn int64) {
	return m.noted(func(memory *content.HostMemory) bool { return memory.Tells(family, page, says, params) })
}

// doubt takes note of a page of a family that may be more than another address of one.
func (m *hostMemory) doubt(family content.Family) (body []byte, turn int64) {
	return m.noted(func(memory *content.HostMemory) bool { return memory.Doubts(family) })
}

// undecided tells whether what pages of a family say may still be news, where one says it with some parameters.
func (m *hostMemory) undecided(family content.Family, params string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Undecided(family, params)
}

// leave takes note of a page of a family that is there no more.
func (m *hostMemory) leave(family content.Family, page int64) (body []byte, turn int64) {
	return m.noted(func(memory *content.HostMemory) bool { return memory.Leaves(family, page) })
}

// speaks tells whether a page is one of those by which it is known what its family asks for.
func (m *hostMemory) speaks(family content.Family, page int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Speaks(family, page)
}

// plainly is what stands for a URL by what the pages of its family name as canonical, or lead to.
func (m *hostMemory) plainly(u canon.URL) (canon.URL, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Plainly(u)
}

// tellLed takes note of where a page leads.
func (m *hostMemory) tellLed(from, to canon.URL) (body []byte, turn int64) {
	return m.noted(func(memory *content.HostMemory) bool { return memory.TellsLed(from, to) })
}

// speaksLed tells whether a page that leads to another one is among the few by which it is known that a parameter does nothing.
func (m *hostMemory) speaksLed(from, to canon.URL) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.SpeaksLed(from, to)
}

// tellShown takes note of a page that shows something.
func (m *hostMemory) tellShown(u canon.URL) (body []byte, turn int64) {
	return m.noted(func(memory *content.HostMemory) bool { return memory.TellsShown(u) })
}

// noted lets the memory take note of something, and returns what it is then where that was news.
func (m *hostMemory) noted(news func(*content.HostMemory) bool) (body []byte, turn int64) {
	m.mu.Lock()
	is := news(m.memory)
	m.mu.Unlock()
	if !is {
		return nil, 0
	}
	return m.change(func(*content.HostMemory, *content.Orders) {})
}

// forgotten is written in place of a memory in which nothing is left: nil would leave the old one. It reads as an empty one.
const forgotten = "\x00"

// change lets f change the memory, alone, and returns what it is then: nil where it is as it was, or could not be read. Where f panics the
// memory is as it was.
func (m *hostMemory) change(f func(*content.HostMemory, *content.Orders)) (body []byte, turn int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	whole := false
	defer func() {
		if !whole {
			m.memory = content.DecodeHost(m.body)
		}
	}()
	f(m.memory, m.orders)
	after := m.memory.Encode()
	whole = true
	if after == nil && len(m.body) > 0 {
		after = []byte(forgotten)
	}
	if m.unread || string(after) == string(m.body) {
		return nil, 0
	}
	m.body = after
	m.turn++
	return after, m.turn
}
