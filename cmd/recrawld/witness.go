package main

import (
	"time"

	"recrawld/models"
	"recrawld/scheduler"
)

// witness tells the living workers from the dead by whether their beats go on, as seen by this machine's clock: the
// clocks of several machines differ. It is not safe for concurrent use. The zero witness has seen nobody.
type witness struct{ seen map[string]sighting }

type sighting struct {
	beat models.Instant // by the worker's machine
	at   time.Time      // by ours: when we first saw it
}

// living are the workers that beat lately. Of one that is seen for the first time we believe what it says.
func (w *witness) living(workers []models.Worker, now time.Time) []scheduler.Peer {
	seen := make(map[string]sighting, len(workers))
	var peers []scheduler.Peer
	for i := range workers {
		row := &workers[i]
		last, known := w.seen[row.Name]
		switch {
		case !known:
			last.at = row.RealBeatAt.Time()
		case last.beat != row.RealBeatAt:
			last.at = now
		}
		last.at, last.beat = earlier(last.at, now), row.RealBeatAt // later than now: our clock was set back
		seen[row.Name] = last
		if row.RealBeatAt > 0 && now.Sub(last.at) < alive {
			peers = append(peers, scheduler.Peer{Name: row.Name, Share: row.Share, Lag: time.Duration(row.Lag)})
		}
	}
	w.seen = seen
	return peers
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
