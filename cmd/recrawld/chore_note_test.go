package main

import (
	"testing"
	"time"

	"recrawld/models"
)

// Whoever looked at the clock before another worker took a chore, went on with it or ended it, and reads the note after that, leaves it to him: a
// little ahead of that look is no clock that was ahead.
func TestAChoreTakenAMomentAfterOneLooked(t *testing.T) {
	t.Parallel()
	const hold = 15 * time.Minute
	for _, since := range []time.Duration{time.Millisecond, 3 * time.Second} { // a statement, and one that counts many pages
		looked := importanceNow
		taken := looked.Add(since)
		var turn unnamedTurn
		if !turn.claim("other", taken, hold, unnamedEvery) {
			t.Fatal("nobody does what nobody else does")
		}
		if turn.claim("w", looked, hold, unnamedEvery) {
			t.Errorf("two workers do a chore that one of them took %v after the other looked", since)
		}
		if (&unnamedTurn{Ended: models.At(taken)}).claim("w", looked, hold, unnamedEvery) {
			t.Errorf("a pass over all pages begins that another worker ended %v after this one looked", since)
		}
		live := int64(10)
		if v := (sampledLook{At: models.At(taken), Live: live}); !v.rests(&inForce{}, live, looked) {
			t.Errorf("samples are looked at that another worker looked at %v after this one looked at the clock", since)
		}
	}
	ahead := sampledLook{At: models.At(importanceNow.Add(time.Hour)), Live: 10}
	if ahead.rests(&inForce{}, 10, importanceNow) {
		t.Error("what was looked at by a clock that was ahead is not looked at again")
	}
}
