package scheduler

import (
	"encoding/binary"
	"math"
)

// price is what a visit must be worth, in page-days of freshness (of a page of importance 1), for one budget. It is the
// smoothed logarithmic mean of what visits were worth when they were made, those that it kept from being made among them
// (cheapen). The budget makes the visits; so where it is cut, pages come up later and are worth more by then, and the price rises,
// and the other way round. Its error costs little: freshness is flat around the best price (Cho & Garcia-Molina 2003, section 4: at
// the optimum all pages' gain by a further visit is equal).
//
// Pages have their places in the queue by the price of the time when they got them: those of a host that is visited get new ones
// soon, the others keep theirs. A price that is as quick as one host's news would rise where one is swept over, send the pages of
// all hosts that are placed meanwhile far off, and fall again by visits to the one, whose pages then stand before all others
// however little they are worth. So where pages lie on many hosts the price follows many visits: a tenth of as many as there are
// pages.
type price struct {
	log    float64   // natural logarithm
	visits float64   // it was learned from so many, by all workers
	base   priceNote // the database's, as it was merged last
	kept   float64   // the part of its price that is left in log: what was learned since has taken the place of the rest
	known  bool
	used   bool    // since the last merge
	lost   float64 // visits of the budget that were lost, and did not move it yet

	of, worth float64 // the price at the logarithm where it was asked for last; 0: it never was
}

// learn learns from a visit worth so much, to one of the pages that lie on many hosts (see question.spread). What it says is
// bounded, so that what a sweep makes worth a hundred prices counts as what is worth some. The first value is the price.
func (p *price) learn(value float64, spread int64) {
	if !(value > 0) || math.IsInf(value, 1) {
		return
	}
	if !p.known {
		p.log = math.Log(value)
		p.base, p.kept, p.known = priceNote{log: p.log}, 1, true
		return
	}
	p.visits++
	p.move(p.step(spread), p.log+max(-priceJump, min(priceJump, math.Log(value)-p.log)))
}

// step is the weight of a visit.
func (p *price) step(spread int64) float64 {
	if spread <= 0 {
		return priceStep
	}
	return min(priceStep, max(priceShare/float64(spread), priceYoung/max(p.visits, 1)))
}

// move brings the price a part of the way to a logarithm.
func (p *price) move(part, log float64) {
	p.log += part * (log - p.log)
	p.kept = max(p.kept*(1-part), leastKept)
}

// leastKept keeps what is left of a price from running under.
const leastKept = 1e-150

// hasten lets others wait where a visit came late to a page that is said to have changed and is worth more than the price: it is worth
// more than those it waited for.
func (p *price) hasten(spread int64) {
	if p.known {
		p.log += p.step(spread)
	}
}

// cheapen lowers the price for the visits of its budget that were lost: they would have been made, had it been lower. They count as
// worth less than the one that is made now by as much as a visit may say (priceJump).
func (p *price) cheapen(value float64, spread int64) {
	lost := p.lost
	p.lost = 0
	if !p.known || !(lost > 0) || !(value > 0) || math.IsInf(value, 1) {
		return
	}
	if worth := math.Log(value) - priceJump; worth < p.log {
		p.move(1-math.Pow(1-p.step(spread), lost), worth)
	}
}

// priceStep is the largest weight of one visit: that price follows twenty. Where pages lie on many hosts it follows as many as are a
// tenth of the pages (priceShare), and as long as these are more, a fifth of those that it was learned from (priceYoung).
// priceJump bounds what a visit says.
const (
	priceStep  = 0.05
	priceShare = 10
	priceYoung = 5
	priceJump  = 1
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
	sum := priceNote{p.log, p.visits}
	if stored, ok := decodePriceNote(old); ok {
		sum = stored
		if p.known {
			sum.log = p.log + p.kept*(stored.log-p.base.log)
			sum.visits += p.visits - p.base.visits
		}
	} else if !p.known {
		return nil
	}
	return sum.encode()
}

// follow takes over a note that was made of an older copy of the price: what was learned since stays. Where nothing was
// known then, the note alone counts.
func (p *price) follow(written []byte, old price) {
	sum, ok := decodePriceNote(written)
	if !ok {
		return
	}
	since, kept, visits := 0.0, 1.0, 0.0
	if old.known && p.known {
		kept = p.kept / old.kept
		since = p.log - kept*old.log
		visits = p.visits - old.visits
	}
	p.log, p.visits = kept*sum.log+since, sum.visits+visits
	p.base, p.kept, p.known = sum, kept, true
}

// priceNote is what the database's note says of a price.
type priceNote struct {
	log    float64
	visits float64
}

func (n priceNote) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, math.Float64bits(n.log))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(n.visits))
}

// decodePriceNote reads a note. One of an older release has the price alone: it was learned from visits enough.
func decodePriceNote(b []byte) (n priceNote, ok bool) {
	switch len(b) {
	case 8:
		n.visits = manyVisits
	case 16:
		n.visits = math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	default:
		return priceNote{}, false
	}
	n.log = math.Float64frombits(binary.LittleEndian.Uint64(b))
	if math.IsNaN(n.log) || math.IsInf(n.log, 0) || !(n.visits >= 0) || math.IsInf(n.visits, 1) {
		return priceNote{}, false
	}
	return n, true
}

// manyVisits are so many that a few more make no difference.
const manyVisits = 1e12
