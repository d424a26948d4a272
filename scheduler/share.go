package scheduler

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"recrawld/models"
)

// Peer is a worker that is alive, as it last said of itself.
type Peer struct {
	Name  string
	Share float64       // of the buckets that it wants beside the others, (0, 1]
	Lag   time.Duration // real time: how late its own buckets were lately
}

// Prefer is the worker of the list that a bucket belongs to: the one with the highest score of worker and bucket
// (rendezvous hashing, Thaler and Ravishankar 1998), so that a worker that comes or goes moves only its own share. The
// score is -share/ln(u) for a hash u in (0, 1) (the logarithmic method, Schindelhauer and Schomaker 2005): a worker gets
// as much of all as its share is of the sum, and one whose share sinks only gives buckets up. It returns "" for an
// empty list; a share that is not positive counts as the least one.
func Prefer(workers []Peer, bucket int16) string {
	best, highest := "", math.Inf(-1)
	for i := range workers {
		if score, higher := workers[i].score(bucket, highest); higher {
			best, highest = workers[i].Name, score
		}
	}
	return best
}

// score is a worker's for a bucket, as Prefer has it, where that is higher than another.
func (p *Peer) score(bucket int16, than float64) (score float64, higher bool) {
	share, u := bounded(p.Share), draw(p.Name, bucket)
	if share/(1-u) <= than { // -ln(u) >= 1-u: most need no logarithm
		return 0, false
	}
	score = -share / math.Log(u)
	return score, score > than
}

// preferred tells whether Prefer chooses this worker of the list. Where it does not, one of the first few that are looked at
// is ahead of it; Prefer looks at all.
func preferred(workers []Peer, this int, bucket int16) bool {
	own, _ := workers[this].score(bucket, math.Inf(-1))
	for i := range workers {
		if _, higher := workers[i].score(bucket, own); higher {
			return false
		}
	}
	return true
}

// draw is the hash of a worker and a bucket, in (0, 1).
func draw(worker string, bucket int16) float64 {
	h := fnv.New64a()
	h.Write([]byte(worker))
	return (float64(mix(h.Sum64()^mix(uint64(bucket)))>>11) + 0.5) / (1 << 53)
}

// leastShare is the smallest that a worker wants: one that gave up everything would never learn that it is quick again.
const leastShare = 1.0 / 64

func bounded(share float64) float64 {
	if !(share > leastShare) { // neither does a share that is no number
		return leastShare
	}
	return min(share, 1)
}

// mine lists the buckets that have something ready, the longest ready first, and when the earliest of the others will
// be; zero where there is none. Buckets of other workers' shares count as ready later: they are taken when their own worker
// did not come for them, and even then behind those of our own that wait as long.
func (w *Worker) mine(ready []models.BucketReady, now time.Time) (buckets []int16, next time.Time) {
	owns := w.own()
	late, longest := w.Clock.Real(othersLate), time.Duration(0)
	taken := w.ready[:0]
	for _, r := range ready {
		own := owns[r.Bucket]
		if !own {
			r.At = r.At.Add(late)
		}
		if r.At.After(now) {
			next = sooner(next, r.At)
			continue
		}
		if own {
			longest = max(longest, now.Sub(r.At))
		}
		taken = append(taken, r)
	}
	slices.SortStableFunc(taken, func(a, b models.BucketReady) int { return a.At.Compare(b.At) })
	w.ready, buckets = taken, w.looked[:0]
	for _, r := range taken {
		buckets = append(buckets, r.Bucket)
	}
	w.looked = buckets
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lag.see(longest, now, w.Clock.Real(lagOver))
	return buckets, next
}

// own tells of each bucket whether it is of this worker's share. The loop alone calls it.
func (w *Worker) own() *[models.Buckets]bool {
	live := w.peers()
	if w.owns != nil && slices.EqualFunc(live, w.sharers, func(a, b Peer) bool { return a.Name == b.Name && a.Share == b.Share }) {
		return w.owns
	}
	w.owns, w.sharers = new([models.Buckets]bool), slices.Clone(live)
	this := slices.IndexFunc(live, func(p Peer) bool { return p.Name == w.Name })
	for bucket := range w.owns {
		w.owns[bucket] = len(live) < 2 || this >= 0 && preferred(live, this, int16(bucket))
	}
	return w.owns
}

func (w *Worker) peers() []Peer {
	if w.Live == nil {
		return nil
	}
	return w.Live()
}

// othersLate is how long another worker's bucket waits, in real time, before we take it.
const othersLate = 2 * time.Second

// lateness is how late a worker's own buckets are, smoothed, by the worker's clock.
type lateness struct {
	mean float64 // nanoseconds
	at   time.Time
}

// lagOver is the time, in real time, over which lateness is smoothed.
const lagOver = 5 * time.Second

// see takes note of how long the earliest of the own buckets has been ready.
func (l *lateness) see(late time.Duration, now time.Time, over time.Duration) {
	if mean := float64(late); mean != l.mean { // else the weight does not matter
		weight := 1.0
		if !l.at.IsZero() {
			weight = 1 - math.Exp(-float64(max(now.Sub(l.at), 0))/float64(over))
		}
		l.mean += weight * (mean - l.mean)
	}
	l.at = now
}

// Balance says what share of the buckets a worker shall want from now on, which has so much now and whose own buckets are so
// late, beside the others: less where it lags behind most of them, more again where it does not. Called at every beat
// it sinks by a quarter at a time and rises slowly, as TCP's window does (Chiu and Jain 1989), so that workers that watch
// each other come to rest.
func Balance(share float64, lag time.Duration, others []Peer) float64 {
	share = bounded(share)
	if len(others) == 0 {
		return 1
	}
	lags := make([]time.Duration, len(others))
	for i := range others {
		lags[i] = others[i].Lag
	}
	slices.Sort(lags)
	median := lags[(len(lags)-1)/2]
	switch {
	case lag > lagging && lag > 2*median:
		return bounded(share * 3 / 4)
	case lag < lagging/2 || lag <= median:
		return bounded(share + 1.0/64)
	}
	return share
}

// lagging is how late a worker's buckets are, in real time, when it begins to give some up. It is far less than
// othersLate: what is later than that others have taken before the worker sees it.
const lagging = othersLate / 8

// Balance brings the worker's share up to date beside the others that are alive, and returns it with the lag, in real
// time, for the worker's row. While it may claim nothing the share is 0, which counts as the least. It is called at every beat.
func (w *Worker) Balance() (share float64, lag time.Duration) {
	others := slices.DeleteFunc(slices.Clone(w.peers()), func(p Peer) bool { return p.Name == w.Name })
	now := w.Clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	late := w.lag.mean
	if w.Fetchers > 0 && !w.lag.at.IsZero() { // a loop that does not look lags as well
		late = max(late, float64(now.Sub(w.lag.at)-w.Clock.Real(2*idle)))
	}
	lag = time.Duration(late / float64(w.Clock.Real(time.Second)) * float64(time.Second))
	if w.barred.Load() {
		return 0, lag
	}
	w.share = Balance(cmp.Or(w.share, 1), lag, others)
	return w.share, lag
}
