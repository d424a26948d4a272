package main

import (
	"time"

	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
)

// putOff tells whether a host was put off until there is room for it: then it opens later than politeness alone would let it,
// which is a delay after its last request at most.
func putOff(h models.Host, now time.Time) bool {
	return h.LeaseUntil == 0 && h.OpenAt.Time().After(now.Add(h.Delay)) && h.OpenAt > h.BackoffUntil
}

// longestTurn is longer than a host waits for its turn at most, whichever it is.
const longestTurn = 15 * time.Minute

// placeWords says what a host that was put off waits for, "" for another. Which of the two it is for a host that may hold
// its share of the fetchers alone is not known: the store holds the time and not the reason.
func placeWords(h models.Host, share float64, now time.Time) string {
	if !putOff(h, now) {
		return ""
	}
	left := h.OpenAt.Time().Sub(now)
	if left > longestTurn+h.Delay {
		return report.Span(left) + ": nothing makes a host wait for so long; that time was written by a clock that was ahead of this one"
	}
	reason := "other hosts are visited at its address (network.hosts_per_address)"
	if share > 0 && share < 1 && !scheduler.AnswersSoon(&h) {
		reason = "hosts that answer slowly, fail or have not answered yet have their share of the fetchers (worker.slow_share), or " + reason
	}
	return report.Span(left) + " for its turn: " + reason
}
