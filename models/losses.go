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

// vanishMost is the share that is too much wherever: all that are looked at, but for a straggler.
const vanishMost = 0.95

// wavesDiffer is how much larger a loss at once may be than those that are usual.
const wavesDiffer = 1.5

// VanishWhole is how many pages of a host vanish that has fewer than VanishPages, where all that are looked at do: that is no editor's afternoon
// either. One or two are any day's.
const VanishWhole = 3

// LossLimit is the share of pages from which on too many are lost in so many days: a share that somebody chose, or a multiple of what is
// usual, given how large a part is lost in a day as a rule. That is lost of what is left, so the multiple is never all (exponential decay); 0.95 is too
// many whatever is usual.
func LossLimit(share, perDay, days float64) float64 {
	return max(share, min(-math.Expm1(-VanishTimes*perDay*days), vanishMost))
}

// UsualAtOnce is how large a part is lost in a day as a rule where such a share is lost in so many days (at least 1) now and then: LossLimit of it is half
// as much again.
func UsualAtOnce(share, days float64) float64 {
	return -math.Log1p(-min(wavesDiffer*share, vanishMost)) / (VanishTimes * days)
}

// Losses is what became of a host's pages with a copy since one of them was lost, each counted once.
type Losses struct {
	Since  Instant // when the first was lost; 0: none was, lately
	Lost   uint32  // those that are lost since and not back
	Found  uint32  // those that were found at their first visit since, or are back
	Final  uint32  // those of Lost that count as gone, or as moved: nobody waits for them
	Toward int64   // where the page leads that redirected last, by PageID; 0: none did
	From   int64   // that page
	SeenAt Instant // when one of those waited for was last lost, or looked at; 0: not known

	LookDays uint64  // the days since each of Lost and Found was looked at before, added up: at least 1 each
	Later    uint32  // those of Lost that were found since the host is guarded, so they were not lost with those that it is guarded for
	New      uint32  // those of Found that are new since then
	InARow   uint32  // those that were lost since any page was found
	Usual    float32 // the share that is lost in a day as a rule, as a guard of the host has shown; 0: not known
}

// Clear is what is left when all that is counted is settled.
func (l Losses) Clear() Losses { return Losses{Toward: l.Toward, From: l.From, Usual: l.Usual} }

// EachLook is for how many days a look at a page stands, on average.
func (l Losses) EachLook() float64 {
	return float64(l.LookDays) / float64(max(uint64(l.Lost)+uint64(l.Found), 1))
}

// there is how many of the pages that were found are not lost.
func (l Losses) there() uint32 { return max(l.Found-min(l.Later, l.Found), 1) }

// Turned tells how many times the pages of a guarded host have come and gone: so many were found since it is guarded, and then lost, for each that is
// there, and others came for them, at least half as many. It is 0 where that is less than once, or all that are looked at of late are lost.
func (l Losses) Turned() float64 {
	times := float64(l.Later) / float64(l.there())
	if l.Later < VanishPages || times < 1 || 2*uint64(l.New) < uint64(l.Lost) || l.InARow >= VanishPages {
		return 0
	}
	return times
}

// Pages that come and go are held back for HeldTurns times as long as one is there on average, and HeldDays at least: by then 95 % would have gone
// anyway (exponential decay). After HeldMost days those of a site or host are that come and go at all.
const (
	HeldTurns = 3
	HeldDays  = 30
	HeldMost  = 120
)

// PerDay is the share of its pages that a guarded host has lost in a day since, given for how many days it is guarded, without those that it is
// guarded for.
func (l Losses) PerDay(days float64) float64 {
	return float64(l.Later) / (float64(l.there()) * max(days, 1))
}

// AtOnce is the share of its pages that a host is guarded for.
func (l Losses) AtOnce() float64 {
	lost, found := l.Lost-min(l.Later, l.Lost), l.Found-min(l.New, l.Found)
	return float64(lost) / float64(max(uint64(lost)+uint64(found), 1))
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
	switch turns := l.LookDays != 0 || l.Later != 0 || l.New != 0 || l.InARow != 0 || l.Usual != 0; {
	case turns:
		form = trialsTurns
	case l.SeenAt != 0:
		form = trialsSeen
	}
	b = append(b, form)
	for _, v := range []uint64{uint64(l.Since), uint64(l.Lost), uint64(l.Found), uint64(l.Final), uint64(l.Toward), uint64(l.From)} {
		b = binary.AppendUvarint(b, v)
	}
	if form != trialsLosses {
		b = binary.AppendUvarint(b, uint64(l.SeenAt))
	}
	if form == trialsTurns {
		for _, v := range []uint64{l.LookDays, uint64(l.Later), uint64(l.New), uint64(l.InARow), uint64(math.Float32bits(l.Usual))} {
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}

// losses reads them.
func (n *numbers) losses(form uint64) Losses {
	l := Losses{Since: n.instant(), Lost: n.count32(), Found: n.count32(), Final: n.count32(), Toward: int64(n.next(math.MaxUint64)),
		From: int64(n.next(math.MaxUint64))}
	if form != trialsLosses {
		l.SeenAt = n.instant()
	}
	if form == trialsTurns {
		l.LookDays, l.Later, l.New, l.InARow = n.next(math.MaxUint64), n.count32(), n.count32(), n.count32()
		l.Usual = math.Float32frombits(n.count32())
		n.bad = n.bad || !(l.Usual >= 0 && l.Usual <= 1)
	}
	return l
}

func (n *numbers) count32() uint32 { return uint32(n.next(math.MaxUint32)) }
