package scheduler

import (
	"sync"
	"time"

	"recrawld/models"
)

// early remembers in which buckets the first page, or none, is visited early before a time. It is safe for concurrent use.
type early struct {
	mu     sync.Mutex
	pauses map[int16]pause // guarded by mu
	over   time.Time       // guarded by mu; the soonest end of them, or sooner
	saves  time.Time       // guarded by mu; until then nothing is visited early: what is saved up will pay for the first page of all
}

// pause is until when the first page of a bucket is not visited early, and when the first one is due behind it that may be; zero:
// none is.
type pause struct{ until, behind time.Time }

// rest takes note that a page, the first of its bucket, is not visited early before then: nor is any other, but where something else
// than its worth set its time those are that were found behind it (pick).
func (e *early) rest(page *models.Page, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := pause{until: until}
	if !page.Rule.Spare() {
		p.behind = e.pauses[page.Bucket].behind
	}
	e.set(page.Bucket, p)
}

// set gives a bucket its pause. The caller holds mu.
func (e *early) set(bucket int16, p pause) {
	if e.pauses == nil {
		e.pauses = make(map[int16]pause)
	}
	if len(e.pauses) == 0 || p.until.Before(e.over) {
		e.over = p.until
	}
	e.pauses[bucket] = p
}

// resting is how many buckets pause at now.
func (e *early) resting(now time.Time) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pauses) == 0 || e.over.After(now) {
		return len(e.pauses)
	}
	e.over = time.Time{}
	for bucket, p := range e.pauses {
		if !p.until.After(now) {
			delete(e.pauses, bucket)
			continue
		}
		e.over = sooner(e.over, p.until)
	}
	return len(e.pauses)
}

// rests is until when nothing of a bucket is visited early; false: it may be, as far as was seen when resting was asked last. Then at,
// when its first page is due, becomes when the first one is that may be visited early, as far as that is known.
func (e *early) rests(bucket int16, at *time.Time) (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, pauses := e.pauses[bucket]
	if !pauses {
		return time.Time{}, false
	}
	*at = later(*at, p.behind)
	return p.until, p.behind.IsZero()
}

// pick is the first of a host's next pages that is due, or that its worth alone keeps waiting and that was not visited just now (waited): a
// list is read so often that it is the next page nearly always, and what is not due is not read. Where there is none, or one of another bucket
// is due before, it is the first of all, which is not visited then, and the bucket waits for its turn among the others. Otherwise the host of a
// list that is read often would have all visits that the budget can spare.
func (e *early) pick(pages []models.LeasedPage, now, others time.Time) []models.LeasedPage {
	var spare []int
	for i := range pages {
		if r := pages[i].Rule; pages[i].DueAt <= models.At(now) || r.Spare() {
			spare = append(spare, i)
		}
	}
	if len(spare) == 0 && len(pages) > 0 {
		e.nothingBehind(pages[0].Bucket)
	}
	if len(spare) == 0 {
		return pages[:min(len(pages), 1)]
	}
	if spare[0] == 0 {
		first := waited(pages, spare, now, others)
		return pages[first : first+1]
	}
	found := spare[0]
	p := pause{until: pages[0].DueAt.Time(), behind: pages[found].DueAt.Time()}
	if !others.IsZero() && p.behind.After(others) {
		found = 0
	} else if len(spare) > 1 {
		p.behind = pages[spare[1]].DueAt.Time()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set(pages[0].Bucket, p)
	return pages[found : found+1]
}

// waitedShare is the part of the time between its visits that a page has waited that is visited early while others could be.
const waitedShare = 0.25

// waited is the first page that is due, or has waited for long enough, among those that may be visited and are due before any of another bucket;
// where there is none, the first. One whose time was moved to the hours at which its host changes is due at these again after a visit before them, and as the next
// page of all it would have a visit in each cycle until then, while the price falls by what these are worth.
func waited(pages []models.LeasedPage, spare []int, now, others time.Time) int {
	for _, i := range spare {
		p := &pages[i]
		due, seen := p.DueAt.Time(), p.Stats.VisitedAt.Time()
		switch {
		case !others.IsZero() && due.After(others):
			return spare[0]
		case float64(now.Sub(seen)) >= waitedShare*float64(due.Sub(seen)):
			return i
		}
	}
	return spare[0]
}

// nothingBehind forgets what was found behind the first page of a bucket. Where it is visited since, or others have come before it, the
// bucket would have its turn again and again and never rest.
func (e *early) nothingBehind(bucket int16) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, pauses := e.pauses[bucket]; pauses {
		p.behind = time.Time{}
		e.set(bucket, p)
	}
}

// save takes note that nothing is visited early before then.
func (e *early) save(until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.saves = until
}

// saved is until when nothing is visited early; in the past, or zero: it may be.
func (e *early) saved() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.saves
}

// clear forgets them all: the plan is another.
func (e *early) clear() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.pauses)
	e.saves = time.Time{}
}
