package scheduler

import (
	"bytes"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// RewindKnowledge brings back what is known of a host that was learned by a clock that was ahead (models.Rewinding). What cannot
// be read stays as it is.
func RewindKnowledge(body []byte, back models.Back) []byte {
	known, same := new(changerate.Crowd), new(changerate.Crowd)
	if known.UnmarshalBinary(body) != nil || same.UnmarshalBinary(body) != nil {
		return body
	}
	const millis = float64(24 * time.Hour / time.Millisecond)
	known.Rewind(days(back.Now), func(at float64) float64 {
		if at <= days(back.Now) {
			return at
		}
		return min(at-float64(back.By)/millis, days(back.Now))
	})
	was, _ := same.MarshalBinary() // both errors are always nil; a body of an older form is none of its own
	now, _ := known.MarshalBinary()
	if bytes.Equal(now, was) {
		return body
	}
	return now
}

// RewindNote brings back a note of a budget likewise; other notes it leaves alone. What is left of the budget stays.
func RewindNote(name string, body []byte, back models.Back) []byte {
	if !strings.HasPrefix(name, models.NoteBudget) || len(body) != noteSize && len(body) != olderNoteSize {
		return body
	}
	far := back.Now.Time().AddDate(1000, 0, 0)
	n := decodeNote(body, far, 0)
	if !n.at.After(back.Now.Time()) || n.at == far {
		return body
	}
	n.at = back.Time(n.at)
	return n.encode()
}
