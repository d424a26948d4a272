package scheduler

import (
	"hash/fnv"
	"slices"
	"time"

	"recrawld/models"
)

// mine lists the buckets that have something ready, those of this worker's share first, and when the earliest of the
// others will be ready; zero where there is none. Buckets of other workers' shares are taken only when they are late:
// their own worker did not come for them.
func (w *Worker) mine(ready []models.BucketReady, now time.Time) (buckets []int16, next time.Time) {
	var live []string
	if w.Live != nil {
		live = w.Live()
	}
	late := w.Clock.Real(othersLate)
	for _, r := range ready {
		at := r.At
		if len(live) > 1 && Prefer(live, r.Bucket) != w.Name {
			at = at.Add(late)
		}
		if !at.After(now) {
			buckets = append(buckets, r.Bucket)
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return buckets, next
}

// othersLate is how long another worker's bucket waits, in real time, before we take it.
const othersLate = 2 * time.Second

// Prefer is the worker of the list that a bucket belongs to: the one with the highest hash of worker and bucket
// (rendezvous hashing, Thaler and Ravishankar 1998), so that a worker that comes or goes moves only its own share.
// It returns "" for an empty list.
func Prefer(workers []string, bucket int16) string {
	if len(workers) == 0 {
		return ""
	}
	weight := func(worker string) uint64 {
		h := fnv.New64a()
		h.Write([]byte(worker))
		return mix(h.Sum64() ^ mix(uint64(bucket)))
	}
	return slices.MaxFunc(workers, func(a, b string) int {
		wa, wb := weight(a), weight(b)
		switch {
		case wa < wb:
			return -1
		case wa > wb:
			return 1
		}
		return 0
	})
}
