package scheduler

import (
	"unsafe"

	"recrawld/models"
)

// hostsPerClaim is how many hosts are claimed at a time: the first are visited while the next are read.
const hostsPerClaim = 64

// pagesPerLease is how many due pages of an impatient host are visited over one connection before others have a turn:
// fewer where many hosts are held, for all of them are in memory.
func (w *Worker) pagesPerLease() int { return min(max(16384/max(w.Fetchers, 1), 32), 128) }

// pagesPerClaim is how many of them are claimed at once. Without fetchers further ones are read where the budget pays for them
// (hostTurn.readOn); where there is no budget all of them will be visited.
func (w *Worker) pagesPerClaim() int {
	if w.Fetchers > 0 || !w.purses.terms.Load().bounded {
		return w.pagesPerLease()
	}
	return 2
}

// room is how many more hosts may be held: some more than there are fetchers, which begin with them as they end with
// others.
func (w *Worker) room() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full() || w.crowded() {
		return 0
	}
	return max(w.Fetchers, 1) + w.ahead() - w.leases
}

// ahead is how many hosts may be held for which no fetcher is free.
func (w *Worker) ahead() int { return min(w.Fetchers/4, hostsPerClaim) }

// crowded tells whether so many hosts wait for a fetcher that no more need be claimed yet: many at a time cost less than as
// many one by one. The caller holds mu.
func (w *Worker) crowded() bool { return w.Fetchers > 0 && len(w.queue) > w.ahead()/2 }

// full tells whether as many bodies wait to be written as may. The caller holds mu.
func (w *Worker) full() bool { return w.Memory > 0 && w.held >= w.Memory }

// resting tells whether leases end with the visit under way.
func (w *Worker) resting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ending || w.full()
}

// end lets nothing new begin.
func (w *Worker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = true
}

// taken takes note of so many hosts that were claimed. Until the next round, at once, finds none more may be ready.
func (w *Worker) taken(hosts int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.others = hosts > 0
	w.leases += hosts
	w.metrics.hosts(w.leases)
}

// release takes note that a host is not held any more.
func (w *Worker) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases--
	w.metrics.hosts(w.leases)
	if !w.crowded() {
		w.alarm.ring()
	}
}

// see takes note of whether more hosts may be ready than are held.
func (w *Worker) see(others bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.others = others
}

// heldBy is how many bytes an outcome holds until it is written: its body, what it needs to be shown, and of a list what it names, which
// may be a hundred times as much where it came packed. The links of other pages are few and part of what a visit costs.
func heldBy(out *models.Outcome) int64 {
	bytes := int64(len(out.Body)) + heldByFound(out.Requisites)
	if out.Listing == nil {
		return bytes
	}
	return bytes + heldByFound(out.Links) + int64(len(out.Listing.Told))*int64(unsafe.Sizeof(models.Told{}))
}

// heldByFound is how many bytes found pages hold until they are added.
func heldByFound(found []models.FoundLink) (bytes int64) {
	const each = int64(unsafe.Sizeof(models.FoundLink{}) + unsafe.Sizeof(models.Discovery{}))
	for i := range found {
		bytes += each + int64(len(found[i].URL)+len(found[i].Host))
	}
	return bytes
}

// hold takes so many bytes of memory, or gives them back where they are less than 0.
func (w *Worker) hold(bytes int64) {
	if bytes == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	full := w.full()
	w.held += bytes
	w.metrics.memory(w.held)
	if full && !w.full() {
		w.alarm.ring() // hosts may wait for that
	}
}

// furtherPages is how many further pages of a host are read at a time: more where few hosts are held.
func (w *Worker) furtherPages() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return min(max(pagesAhead/max(w.leases, 1), 32), 128)
}

// mayGoOn tells whether a lease may go on with further pages: nobody else wants its fetcher.
func (w *Worker) mayGoOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.waiting() && !w.ending && !w.full()
}

// othersWait tells whether other hosts want a fetcher.
func (w *Worker) othersWait() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting()
}

// waiting is othersWait for who holds mu.
func (w *Worker) waiting() bool { return w.others || len(w.queue) > 0 }
