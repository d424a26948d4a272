package scheduler

import (
	"encoding/binary"
	"math"
)

// price is what a visit must be worth, in page-days of freshness (of a page of importance 1), for one budget. It is the
// smoothed logarithmic mean of what visits were worth when they were made. The budget makes the visits; so where it
// is cut, pages come up later and are worth more by then, and the price rises, and the other way round: it needs to be
// told nothing. Its error costs little: freshness is flat around the best price (Cho & Garcia-Molina 2003, section 4: at
// the optimum all pages' gain by a further visit is equal).
type price struct {
	log   float64 // natural logarithm
	base  float64 // what of it the database's note has
	known bool
	used  bool // since the last merge

	of, worth float64 // the price at the logarithm where it was asked for last; 0: it never was
}

// learn learns from a visit worth so much. The step is bounded, so that what a sweep makes worth a hundred prices counts
// as what is worth some.
func (p *price) learn(value float64) {
	if !(value > 0) || math.IsInf(value, 1) {
		return
	}
	if !p.known {
		p.log, p.base, p.known = math.Log(value), math.Log(value), true
		return
	}
	p.log += priceStep * max(-priceJump, min(priceJump, math.Log(value)-p.log))
}

// hasten lets others wait: what a visit is worth that a list told of is not known in the price's terms, but it is more than that
// of those it waited for.
func (p *price) hasten(late bool) {
	if late && p.known {
		p.log += priceStep
	}
}

// priceStep is the least weight of one visit: the price follows some fifty visits. priceJump bounds what a visit says.
const (
	priceStep = 0.05
	priceJump = 1
)

// value is the price, 0 where nothing is known yet.
func (p *price) value() float64 {
	if !p.known {
		return 0
	}
	if p.worth == 0 || p.of != p.log {
		p.of, p.worth = p.log, math.Exp(p.log)
	}
	return p.worth
}

// merged is a note with what was learned since the last merge added: what several workers learn adds up. nil: nothing is
// known.
func (p *price) merged(old []byte) []byte {
	sum := p.log
	if stored, ok := decodePrice(old); ok {
		sum = stored
		if p.known {
			sum += p.log - p.base
		}
	} else if !p.known {
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(sum))
}

// follow takes over a note that was made of an older copy of the price: what was learned since stays. Where nothing was
// known then, the note alone counts.
func (p *price) follow(written []byte, old price) {
	sum, ok := decodePrice(written)
	if !ok {
		return
	}
	since := 0.0
	if old.known && p.known {
		since = p.log - old.log
	}
	p.log, p.base, p.known = sum+since, sum, true
}

func decodePrice(b []byte) (float64, bool) {
	if len(b) != 8 {
		return 0, false
	}
	log := math.Float64frombits(binary.LittleEndian.Uint64(b))
	return log, !math.IsNaN(log) && !math.IsInf(log, 0)
}
