package models

import "sync"

// familiarPages is how many pages are kept in each of the two halves of familiar, and familiarHosts of how many hosts: some
// 8 MiB in all.
const (
	familiarPages = 220_000
	familiarHosts = 50_000
)

// familiar remembers pages that exist: what every page of a site links to need not be looked up for each of them. Who takes a
// page for known that is not would lose it, so what is remembered counts only under the lock of its host, and only as long as
// the host's row shows that no page was removed since, or unnamed, by whatever process. Either counts Host.Removals up; a server
// that fell back to an earlier state shows fewer pages than before. A page becomes familiar after the transaction that found or
// added it was committed. The zero value is ready; it is safe for concurrent use.
type familiar struct {
	mu         sync.Mutex
	young, old map[uint64]struct{} // guarded by mu: prints of pages; when the young ones are many they become the old ones
	hosts      map[rowKey]standing // guarded by mu
	epochs     uint64              // guarded by mu
}

// standing is what a host's row said when it was locked last, or was committed. A host gets another epoch when it does not hold any more, and
// with it other prints.
type standing struct {
	removals, pages int32
	epoch           uint64
}

// print is what a page is remembered by: 63 bits of a hash of its URL, turned by its host's epoch.
func (s standing) print(page int64) uint64 {
	const golden = 0x9e3779b97f4a7c15 // an odd number, so that no two epochs turn alike
	return uint64(page) ^ s.epoch*golden
}

// others sets the prints of discovered pages, whose hosts the transaction has locked, and returns those that are not
// familiar. It overwrites found.
func (f *familiar) others(q *queue, found []placed) []placed {
	f.mu.Lock()
	defer f.mu.Unlock()
	others := found[:0]
	var host standing
	var last rowKey
	for i, p := range found {
		if i == 0 || p.host != last {
			host, last = f.standing(p.host, &q.hosts[p.host].read), p.host
		}
		p.print = host.print(p.page.id)
		if !f.knows(p.print) {
			others = append(others, p)
		}
	}
	return others
}

// standing is that of a host as it was read under its lock.
func (f *familiar) standing(key rowKey, h *Host) standing {
	s, known := f.hosts[key]
	if !known || s.removals != h.Removals || h.Pages < s.pages {
		f.epochs++
		s.epoch = f.epochs
		if f.hosts == nil || len(f.hosts) >= familiarHosts {
			f.hosts = make(map[rowKey]standing)
		}
	}
	if s.removals, s.pages = h.Removals, h.Pages; s != f.hosts[key] {
		f.hosts[key] = s
	}
	return s
}

// knows tells whether a page is familiar, and keeps it so.
func (f *familiar) knows(print uint64) bool {
	if _, known := f.young[print]; known {
		return true
	}
	_, known := f.old[print]
	if known {
		f.keep(print)
	}
	return known
}

func (f *familiar) keep(print uint64) {
	if f.young == nil || len(f.young) >= familiarPages {
		f.young, f.old = make(map[uint64]struct{}), f.young
	}
	f.young[print] = struct{}{}
}

// grew notes how many pages hosts have now that a transaction added some to, which was committed: a server that falls back to
// before it shows fewer.
func (f *familiar) grew(hosts map[rowKey]int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, pages := range hosts {
		if s, known := f.hosts[key]; known && s.pages < pages {
			s.pages = pages
			f.hosts[key] = s
		}
	}
}

// learn makes pages familiar that others left over: their transaction was committed.
func (f *familiar) learn(prints []uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, print := range prints {
		f.keep(print)
	}
}
