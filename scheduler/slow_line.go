package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// slowLine is the hosts that wait for a fetcher among the slow ones, in the order in which they have one. Hosts that have not
// failed stand in order of arrival, and a host that failed stands as if failedStride of the others had come with it: so it
// waits for those who may answer, and yet has a turn where there is no end of them. That is start-time fair queueing (Goyal,
// Vin and Cheng 1996). A host keeps its place until it has its fetcher, or stays away.
//
// The hosts themselves wait in the store and come back when they were told to. The zero slowLine is empty.
type slowLine struct {
	places []*slowPlace         // in order
	of     map[int64]*slowPlace // by the ID of the host
	came   int64                // hosts so far
	served int64                // the tag of the place that was the first when a host was last served
	last   [2]int64             // the last tag of the hosts that have not failed, and of those that have
}

// slowPlace is a host's place in line.
type slowPlace struct {
	host  int64
	tag   int64
	came  int64     // breaks ties
	until time.Time // when it was told to come back
}

const (
	failedStride = 8

	// slowGone is for how long, in real time, the place is kept of a host that does not come back: another worker may have it.
	slowGone = time.Minute

	// slowPlaces is how many places there are: each is in memory. Who comes after the last has none and comes back later.
	slowPlaces = 16384
)

// join gives a host a place, unless it has one or the line is full, and tells how many are ahead of it. The first in line lose their places where
// they should have come back before gone.
func (l *slowLine) join(host int64, failed bool, gone time.Time) (ahead int) {
	for len(l.places) > 0 && l.places[0].host != host && l.places[0].until.Before(gone) {
		l.leave(l.places[0].host)
	}
	p := l.of[host]
	if p == nil {
		class, stride := 0, int64(1)
		if failed {
			class, stride = 1, failedStride
		}
		l.last[class] = max(l.last[class], l.served) + stride
		l.came++
		p = &slowPlace{host: host, tag: l.last[class], came: l.came}
		if l.of == nil {
			l.of = make(map[int64]*slowPlace)
		}
		l.of[host] = p
		l.places = slices.Insert(l.places, l.index(p), p)
	}
	ahead = l.index(p)
	if len(l.places) > slowPlaces {
		l.leave(l.places[slowPlaces].host)
	}
	return ahead
}

// index is where a place stands, or would stand.
func (l *slowLine) index(p *slowPlace) int {
	i, _ := slices.BinarySearchFunc(l.places, p, func(a, b *slowPlace) int {
		return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.came, b.came))
	})
	return i
}

// passes tells whether a host with so many ahead of it may have one of the fetchers that are free: each of the first in line
// has one kept for it if it comes back between since and soon, and else it is not waited for.
func (l *slowLine) passes(ahead, free int, since, soon time.Time) bool {
	if ahead < free {
		return true
	}
	for _, p := range l.places[:max(min(free, len(l.places)), 0)] {
		if p.until.Before(since) || p.until.After(soon) {
			return true
		}
	}
	return false
}

// wait notes when a host was told to come back, if it has a place.
func (l *slowLine) wait(host int64, until time.Time) {
	if p := l.of[host]; p != nil {
		p.until = until
	}
}

// serve takes a host that has its fetcher out of the line.
func (l *slowLine) serve(host int64) {
	l.served = max(l.served, l.places[0].tag)
	l.leave(host)
}

// leave takes a host out of the line, if it is in it.
func (l *slowLine) leave(host int64) {
	if p := l.of[host]; p != nil {
		delete(l.of, host)
		i := l.index(p)
		l.places = slices.Delete(l.places, i, i+1)
	}
}
