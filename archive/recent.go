package archive

import (
	"sync"

	"recrawld/models"
)

// recent holds the answers appended last, so that who wants one soon after need not have it read and unpacked. It is
// bounded by bytes: where it is full the answers that wait stay, because they are the first to be asked for, and new ones
// are left to the disk. What nobody takes makes room once several times the bound was appended after it.
type recent struct {
	limit int64 // bytes; 0: none are held

	mu       sync.Mutex // guards what is below
	held     map[models.Record]*heldAnswer
	order    []heldKey // as they came; those that were taken are still in it
	bytes    int64
	appended int64 // bytes that were ever offered
}

type heldAnswer struct {
	Answer
	bytes int64
}

type heldKey struct {
	record models.Record
	at     int64 // recent.appended when it came
}

const (
	heldOverhead = 1 << 10 // bytes beside header and body: the fields of the record, and room that is left
	heldFor      = 4       // times the limit
)

// put holds an answer, if there is room. Nobody may change it afterwards.
func (r *recent) put(at models.Record, a Answer) {
	if r.limit == 0 {
		return
	}
	size := int64(len(a.Body)+len(a.Header)) + heldOverhead
	r.mu.Lock()
	defer r.mu.Unlock()
	r.appended += size
	r.forget()
	if r.bytes+size > r.limit {
		return
	}
	if r.held == nil {
		r.held = make(map[models.Record]*heldAnswer)
	}
	r.held[at] = &heldAnswer{a, size}
	r.order = append(r.order, heldKey{at, r.appended})
	r.bytes += size
}

// forget drops what waited too long. The caller holds the lock.
func (r *recent) forget() {
	n := 0
	for ; n < len(r.order); n++ {
		k := r.order[n]
		h, waits := r.held[k.record]
		if waits && k.at+heldFor*r.limit > r.appended {
			break
		}
		if waits {
			delete(r.held, k.record)
			r.bytes -= h.bytes
		}
	}
	r.order = r.order[n:]
}

// take returns an answer and holds it no longer.
func (r *recent) take(at models.Record) (Answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.held[at]
	if !ok {
		return Answer{}, false
	}
	delete(r.held, at)
	r.bytes -= h.bytes
	return h.Answer, true
}

// Take returns the answer of a record as Read does, if this Archive has appended it a short while ago and still holds it
// in memory (Options.Recent), and holds it no longer. The record need not be durable yet.
func (a *Archive) Take(at models.Record) (Answer, bool) { return a.recent.take(at) }
