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
	base  float64 // that of the database's note, as it was merged last
	kept  float64 // the part of base that is left in log: what was learned since has taken the place of the rest
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
		p.log, p.base, p.kept, p.known = math.Log(value), math.Log(value), 1, true
		return
	}
	p.move(priceStep, p.log+max(-priceJump, min(priceJump, math.Log(value)-p.log)))
}

// move brings the price a part of the way to a logarithm.
func (p *price) move(part, log float64) {
	p.log += part * (log - p.log)
	p.kept = max(p.kept*(1-part), leastKept)
}

// leastKept keeps what is left of a price from running under.
const leastKept = 1e-150

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

// merged is a note after what was learned since the last merge, as if these visits had followed upon those that made it: what
// several workers learn adds up as far as each learned little, and where each learned all there is, it counts once. nil: nothing
// is known.
func (p *price) merged(old []byte) []byte {
	sum := p.log
	if stored, ok := decodePrice(old); ok {
		sum = stored
		if p.known {
			sum = p.log + p.kept*(stored-p.base)
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
	since, kept := 0.0, 1.0
	if old.known && p.known {
		kept = p.kept / old.kept
		since = p.log - kept*old.log
	}
	p.log, p.base, p.kept, p.known = kept*sum+since, sum, kept, true
}

func decodePrice(b []byte) (float64, bool) {
	if len(b) != 8 {
		return 0, false
	}
	log := math.Float64frombits(binary.LittleEndian.Uint64(b))
	return log, !math.IsNaN(log) && !math.IsInf(log, 0)
}
