package scheduler

import (
	"encoding/binary"
	"math"
	"time"
)

// note is what a budget's note holds.
type note struct {
	requests, bytes float64 // what may be spent; bytes may be negative, because they are paid for afterwards
	at              time.Time
	room            time.Duration // how much unspent budget is kept, in time
	of              allowance     // in force until at
	usual           usual
	visits          float64 // that is of so many; 0: not known

	extra time.Duration // that is kept beyond mostRoom; the windows tell, the note in the database does not
}

// visited is so many visits, and what they had together.
type visited struct {
	visits float64
	sum    usual
}

// mostUsual is over how many visits their bytes are averaged: that of a site's first crawl, whose pages are read whole, is forgotten.
const mostUsual = 1000

// learn learns from visits how many bytes one has.
func (n note) learn(v visited) note {
	if v.visits > 0 {
		n.visits = min(n.visits+v.visits, mostUsual)
		part := min(v.visits/n.visits, 1)
		n.usual.bytes += part * (v.sum.bytes/v.visits - n.usual.bytes)
		n.usual.length += part * (v.sum.length/v.visits - n.usual.length)
	}
	return n
}

// The room of a note. Were all of a budget spent as it comes in, pages would have their visits at its pace, whatever their due times
// say. What is kept lets those be visited at once that are due together: after the hours at which a site changes, or where
// others of it changed. Of what comes in a twenty-fifth makes room, until that is 18 hours: there is no gap at the
// beginning, and a week has at most 11 % more than its budget. Where windows are closed for longer it is as long as they are, of which none is
// closed for a week, and at once: what comes in then cannot be spent before.
const (
	leastRoom = time.Minute
	mostRoom  = 18 * time.Hour
	mostExtra = 7*24*time.Hour - mostRoom
	roomShare = 25
)

// handful is how many unspent requests are kept however small the budget is: otherwise one that waits for a slow host, a
// closed window or a pause loses the next, and a visit that needs robots.txt as well is followed by a gap of two.
const handful = 4

// least is how much of a budget can be unspent at least.
func least(perDay float64) float64 { return max(handful, perDay*leastRoom.Hours()/24) }

// most is how much of a budget can be unspent.
func (n note) most(perDay float64) float64 { return max(handful, perDay*n.room.Hours()/24) }

// saved is how much of a budget must be unspent before visits are made early: one request or byte, or all that is kept but for nearly
// the least room. More than that would have to be saved up after every such visit, and they come in bunches.
func (n note) saved(perDay float64) float64 {
	return max(1, perDay*(n.room-spareRoom).Hours()/24) * (1 - 1e-9)
}

// spareRoom is nearly the least room.
const spareRoom = leastRoom - leastRoom/60

// untilSaved is how long it takes until visits may be made early, where they are made at such hours. What makes room meanwhile has to be saved
// as well.
func (n note) untilSaved(a allowance, h hours) time.Duration {
	return n.untilUnspent(n.saved(a.requests), n.saved(a.bytes), a, h)
}

// untilUnspent is the same for other levels than what is saved.
func (n note) untilUnspent(requests, bytes float64, a allowance, h hours) time.Duration {
	if h.opensIn > 0 {
		return h.opensIn
	}
	wait := n.until(max(n.enough(requests, n.requests, a.requests, h), 1-1e-9), n.enough(bytes, n.bytes, a.bytes, h), a)
	if h.closed > 0 && wait >= h.left {
		return h.left + h.closed
	}
	return wait
}

// enough is how much of a budget, of which so much is left, will be unspent when a level is reached.
func (n note) enough(level, left, perDay float64, h hours) float64 {
	if math.IsInf(perDay, 1) {
		return 0
	}
	level -= n.owed(perDay, h)
	if missing := level - left; missing > 0 && level > 1 {
		if n.room < mostRoom+n.extra {
			missing += missing / (roomShare - 1)
		}
		level = left + missing/(1+n.owedShare(h)) // it falls meanwhile
	}
	return level
}

// owed is how much of what is kept must have been spent by now, that what comes in while nothing may be spent finds room: in equal parts
// over the hours before.
func (n note) owed(perDay float64, h hours) float64 {
	return perDay * h.passed.Hours() / 24 * n.owedShare(h)
}

// owedShare is how much of it there is beside what comes in while a window is open.
func (n note) owedShare(h hours) float64 {
	if h.closed == 0 {
		return 0
	}
	return float64(min(h.closed, n.room)) / float64(h.passed+h.left)
}

const (
	noteSize      = 72
	olderNoteSize = 48 // without bytes of a visit
	oldestSize    = 24 // without room and allowance as well
)

func (n note) encode() []byte {
	b := make([]byte, 0, noteSize)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.requests))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.bytes))
	b = binary.LittleEndian.AppendUint64(b, uint64(n.at.UnixNano()))
	b = binary.LittleEndian.AppendUint64(b, uint64(n.room))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.of.requests))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.of.bytes))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.usual.bytes))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n.usual.length))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(-n.visits)) // above 0 an older release's, whose bytes were of bodies alone and lengths what it expected
}

// decodeNote reads a note; one that is not there or not ours is a full one, now. So is one that was written further ahead of
// now than the clock of another worker that is at work can be. An older release's has the least room, or does not know how long visits are.
func decodeNote(b []byte, now time.Time, ahead time.Duration) note {
	fresh := note{requests: math.Inf(1), bytes: math.Inf(1), at: now, room: leastRoom}
	if len(b) != noteSize && len(b) != olderNoteSize && len(b) != oldestSize {
		return fresh
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	n := note{
		requests: math.Float64frombits(word(0)),
		bytes:    math.Float64frombits(word(1)),
		at:       time.Unix(0, int64(word(2))).UTC(),
		room:     leastRoom,
	}
	if len(b) >= olderNoteSize {
		n.room = min(max(time.Duration(word(3)), leastRoom), mostRoom+mostExtra)
		n.of = allowance{math.Float64frombits(word(4)), math.Float64frombits(word(5))}
	}
	if len(b) == noteSize {
		u, visits := usual{math.Float64frombits(word(6)), math.Float64frombits(word(7))}, -math.Float64frombits(word(8))
		if u.known() && visits > 0 {
			n.usual, n.visits = u, min(visits, mostUsual)
		}
	}
	if math.IsNaN(n.requests) || math.IsNaN(n.bytes) || n.at.After(now.Add(ahead)) {
		return fresh
	}
	return n
}

// littleChange is what a budget that grows with the pages that are known changes by now and then: that is neither a rise nor a
// cut.
const littleChange = 0.1

// under is the note under the allowance in force. Where a budget is raised, what is kept is what was unspent, which takes less room:
// were more to be saved up first, nothing of what is new would be spent before, for up to the hours of that room, on pages that have
// their times by the old budget. Where it is cut the least is kept: its visits shall become fewer at once. So it is of what had no bound: nobody
// has saved that up.
func (n note) under(a allowance) note {
	if math.IsInf(n.requests, 1) {
		n.requests = least(a.requests)
	}
	if math.IsInf(n.bytes, 1) {
		n.bytes = least(a.bytes)
	}
	r := min(ratio(a.requests, n.of.requests), ratio(a.bytes, n.of.bytes))
	if r < 1-littleChange {
		n.room = leastRoom
	} else if r = max(ratio(a.requests, n.of.requests), ratio(a.bytes, n.of.bytes)); r > 1+littleChange {
		n.room = max(min(time.Duration(float64(n.room)/r), n.unspent(a)+spareRoom), leastRoom)
	}
	n.of = a
	return n
}

// unspent is how long what is unspent takes to come in; of requests and bytes what takes longer.
func (n note) unspent(a allowance) time.Duration {
	days := 0.0
	if !math.IsInf(a.requests, 1) {
		days = n.requests / a.requests
	}
	if !math.IsInf(a.bytes, 1) {
		days = max(days, n.bytes/a.bytes)
	}
	return time.Duration(min(max(days, 0)*24*float64(time.Hour), float64(mostRoom+mostExtra)))
}

// ratio is that of a budget to what it was; 1 where it has no bound now, or had none, or what it was is not known.
func ratio(is, was float64) float64 {
	if r := is / was; r > 0 && !math.IsInf(is, 1) && !math.IsInf(r, 1) {
		return r
	}
	return 1
}

// lost is how many visits of so many bytes could be paid for by what comes in until now and finds no room; where both requests and
// bytes are bounded, by both. Where it is not known yet how long visits are, bytes pay for none.
func (n note) lost(a allowance, now time.Time, size float64) float64 {
	then, passed := n.fill(a, now), max(now.Sub(n.at), 0)
	over := func(left, filled, perDay float64) float64 {
		return max(0, min(left, n.most(perDay))+perDay*passed.Hours()/24-filled)
	}
	visits := math.Inf(1)
	if !math.IsInf(a.requests, 1) {
		visits = over(n.requests, then.requests, a.requests)
	}
	if !math.IsInf(a.bytes, 1) {
		if size <= 0 {
			return 0
		}
		visits = min(visits, over(n.bytes, then.bytes, a.bytes)/size)
	}
	if math.IsInf(visits, 1) {
		return 0
	}
	return visits
}

// fill adds what came in since. A budget that is raised counts from now on, one that is lowered at once.
func (n note) fill(a allowance, now time.Time) note {
	passed := max(now.Sub(n.at), 0)
	n.requests, n.bytes = min(n.requests, n.most(a.requests)), min(n.bytes, n.most(a.bytes)) // what was not kept then is not given now
	if n.room = min(n.room+passed/roomShare, mostRoom+n.extra); n.extra > 0 {
		n.room = mostRoom + n.extra
	}
	n.requests = n.refill(n.requests, a.requests, passed)
	n.bytes = n.refill(n.bytes, a.bytes, passed)
	if now.After(n.at) {
		n.at = now
	}
	return n
}

func (n note) refill(left, perDay float64, passed time.Duration) float64 {
	if math.IsInf(perDay, 1) {
		return perDay
	}
	return min(left+perDay*passed.Hours()/24, n.most(perDay))
}

// until is how long it takes for the requests and the bytes to reach a level each, the bytes above 0 in any case.
func (n note) until(requests, bytes float64, a allowance) time.Duration {
	days := 0.0
	if n.requests < requests {
		days = (requests - n.requests) / a.requests
	}
	if n.bytes < bytes || n.bytes <= 0 {
		days = max(days, (max(bytes, 1)-n.bytes)/a.bytes)
	}
	if days == 0 {
		return 0
	}
	return time.Duration(min(days*24*float64(time.Hour), float64(longest))) + time.Millisecond
}
