package recrawl

import (
	"recrawld/config"
	"recrawld/models"
)

// parentTurn is what becomes of a page when its turn comes.
type parentTurn int

const (
	ordinaryTurn parentTurn = iota // a conditional visit, as for every page
	fullTurn                       // enough of its children changed: an unconditional visit that reads its links again
	skippedTurn                    // too few did: no visit
)

// fewestChildren is how many children it takes to speak for their parent: the share of one or two says too little.
const fewestChildren = 3

// The threshold of a parent stays within these bounds, in permille.
const (
	lowestThreshold  = 50
	highestThreshold = 950
)

// turnOf decides the turn of a page that its last visit found unchanged and that has known children: it is crawled in
// full when the share of them that changed since its last full crawl reaches its threshold, and skipped below it. The
// share comes from the database and costs no visit. So that a parent that changes alone is found too, and so that the
// threshold always has something to learn from, no more than MaxSkips turns are skipped in a row. Every other page has
// an ordinary turn: one with fewer than three children, one never read in full, one that changed when last seen, one in
// an error state, one that somebody asked for, one whose copy is lost, a duplicate, which is rarely looked at as it is. One that is said to have
// changed is not skipped, nor one of which a cache answered what is out of date, nor one
// that is read for what it names: a start page, and what leads to new pages.
func turnOf(page *models.LeasedPage, p config.Parents) parentTurn {
	changedLast := page.Stats.Records < 2 || page.Stats.Bits&1 == 1
	switch {
	case p.Threshold == 0 || page.Share.Known < fewestChildren || page.FullAt == 0 || changedLast:
		return ordinaryTurn
	case page.State != models.StateLive || page.Failures > 0 || page.Rule == models.RuleManual || page.Lost || page.DuplicateOf != "":
		return ordinaryTurn
	case permille(page.Share) >= thresholdOf(page, p):
		return fullTurn
	case int(page.Skips) >= p.MaxSkips || page.Rule.Heard() || page.Rule == models.RuleStale || page.Rule == models.RuleList || page.ToldAt > page.Stats.VisitedAt:
		return ordinaryTurn
	}
	return skippedTurn
}

// nextThreshold is the parent's threshold after a turn that saw its content. It goes down by a fifth when a full crawl
// found the parent changed, and up by a quarter when it did not, so it settles where every second full crawl finds
// something: 0.8 × 1.25 = 1. A visit made only because enough turns had been skipped shows what skipping missed: if the
// parent had changed, the threshold goes down too; if not, skipping was right and it stays. Bounds: 5 % and 95 %.
func nextThreshold(page *models.LeasedPage, p config.Parents, turn parentTurn, changed bool) int16 {
	t := int(thresholdOf(page, p))
	switch {
	case changed && (turn == fullTurn || page.Skips > 0):
		t = t * 4 / 5
	case !changed && turn == fullTurn:
		t = t * 5 / 4
	}
	return int16(max(lowestThreshold, min(t, highestThreshold)))
}

// thresholdOf is the page's own threshold, or the one to begin with, in permille.
func thresholdOf(page *models.LeasedPage, p config.Parents) int16 {
	if page.Threshold != 0 {
		return page.Threshold
	}
	return int16(max(lowestThreshold, min(int(p.Threshold*1000+0.5), highestThreshold)))
}

func permille(s models.ChildShare) int16 {
	return int16(1000 * int64(s.Changed) / int64(s.Known))
}
