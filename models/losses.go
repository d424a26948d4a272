package models

import (
	"encoding/binary"
	"math"
)

// Pages vanish where within VanishDays a share of them is lost, and VanishPages at least: fewer are any editor's afternoon. Where pages come
// and go as ever, it takes VanishTimes the share that is usual in so many days.
const (
	VanishDays  = 14
	VanishPages = 10
	VanishTimes = 3
)

// VanishWhole is how many pages of a host vanish that has fewer than VanishPages, where all that are looked at do: that is no editor's afternoon
// either. One or two are any day's.
const VanishWhole = 3

// LossLimit is the share of pages from which on too many are lost in so many days: a share that somebody chose, or a multiple of what is
// usual, given how large a part is lost in a day as a rule.
func LossLimit(share, perDay, days float64) float64 { return max(share, VanishTimes*perDay*days) }

// Losses is what became of a host's pages with a copy since one of them was lost, each counted once.
type Losses struct {
	Since  Instant // when the first was lost; 0: none was, lately
	Lost   uint32  // those that are lost since and not back
	Found  uint32  // those that were found at their first visit since, or are back
	Final  uint32  // those of Lost that count as gone, or as moved: nobody waits for them
	Toward int64   // where the page leads that redirected last, by PageID; 0: none did
	From   int64   // that page
	SeenAt Instant // when one of those waited for was last lost, or looked at; 0: not known
}

// Waiting is how many pages are lost and neither back nor gone.
func (l Losses) Waiting() uint32 { return l.Lost - min(l.Final, l.Lost) }

// Whole tells whether all of the pages that were looked at since are lost, and those are most of the host's, of which it has few.
func (l Losses) Whole(pages int32) bool {
	return l.Found == 0 && l.Lost >= VanishWhole && l.Lost < VanishPages && 2*int64(l.Lost) > int64(pages)
}

// Few tells whether so few pages were looked at since that the host can be guarded for Whole alone. Those that come back are counted still.
func (l Losses) Few() bool { return uint64(l.Lost)+uint64(l.Found) < VanishPages }

// Share is the share of the pages that were looked at since which is lost, from 0 to 1.
func (l Losses) Share() float64 {
	return float64(l.Lost) / float64(max(uint64(l.Lost)+uint64(l.Found), 1))
}

func (l Losses) append(b []byte) []byte {
	form := byte(trialsLosses)
	if l.SeenAt != 0 {
		form = trialsSeen
	}
	b = append(b, form)
	for _, v := range []uint64{uint64(l.Since), uint64(l.Lost), uint64(l.Found), uint64(l.Final), uint64(l.Toward), uint64(l.From)} {
		b = binary.AppendUvarint(b, v)
	}
	if l.SeenAt != 0 {
		b = binary.AppendUvarint(b, uint64(l.SeenAt))
	}
	return b
}

// losses reads them.
func (n *numbers) losses() Losses {
	return Losses{Since: n.instant(), Lost: uint32(n.next(math.MaxUint32)), Found: uint32(n.next(math.MaxUint32)),
		Final: uint32(n.next(math.MaxUint32)), Toward: int64(n.next(math.MaxUint64)), From: int64(n.next(math.MaxUint64))}
}
