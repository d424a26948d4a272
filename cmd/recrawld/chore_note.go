package main

import (
	"encoding/json"
	"time"

	"recrawld/models"
)

// choreHold is which worker does a chore that one of them does for all, as a part of the note in which they agree.
type choreHold struct {
	By    string         `json:"by"`    // "": nobody
	Until models.Instant `json:"until"` // unless it is not heard of again
}

// free tells whether a worker may do it, as nobody else does.
func (h *choreHold) free(name string, now time.Time, hold time.Duration) bool {
	return h.By == "" || h.By == name || !h.Until.Time().After(now) || tooFarAhead(h.Until, now, 2*hold)
}

// take has a worker do it, or go on.
func (h *choreHold) take(name string, now time.Time, hold time.Duration) {
	h.By, h.Until = name, models.At(now.Add(hold))
}

// tooFarAhead tells of a moment that some worker noted that it is of a clock that was ahead, and counts no more. What is noted rightly lies no further
// ahead of now than most: as far as it lies ahead of the other worker's look at the clock, and a while more, as that may come after this worker's.
func tooFarAhead(at models.Instant, now time.Time, most time.Duration) bool {
	return at.Time().Sub(now) > most
}

// fromNote reads a note in which workers agree who does a chore; one that is not there or cannot be read says that nothing was done.
func fromNote[T any](note []byte) T {
	var turn, none T
	if json.Unmarshal(note, &turn) != nil {
		return none
	}
	return turn
}

// toNote is what fromNote reads.
func toNote[T any](turn T) []byte {
	note, _ := json.Marshal(turn) // numbers and words always have a form
	return note
}
