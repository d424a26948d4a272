package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Announcement is what the publisher of a host's pages says of some of them: that they came, changed or went.
type Announcement struct {
	Bucket int16
	HostID int64
	SiteID int32   // pages of other sites are left alone
	Pages  []int64 // by ID; those that are not known are left out
}

// Heard counts what became of an announcement. Forward and Waiting are pages that are visited for it, Noted are others of which it is
// remembered until their next visit.
type Heard struct {
	Forward int // brought forward
	Waiting int // were due already
	Noted   int // keep their time, because it is not believed of so many, or they wait for something else
}

// announceMoves are the rules that an announcement may move a page from. A page that is gone, or is being given up, may be back.
var announceMoves = append(slices.Clone(toldMoves), RuleGone, RuleMissing)

// Hears chooses, by their IDs, among pages as they are now those that an announcement is about: of those that wait for a time to come
// up to most are to be brought forward, the first by ID. Waiting are the ones that are due, noted all others that were visited before. No page that is
// excluded, a duplicate, or of another host or site is chosen. It is pure.
func (a *Announcement) Hears(pages []Page, now Instant, most int) (forward, waiting, noted []int64) {
	pages = slices.Clone(pages)
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Compare(a.ID, b.ID) })
	pages = slices.CompactFunc(pages, func(a, b Page) bool { return a.ID == b.ID })
	for i := range pages {
		p := &pages[i]
		switch {
		case p.HostID != a.HostID || p.SiteID != a.SiteID || p.Rule == RuleDuplicate || p.DueAt == 0:
		case p.DueAt <= now:
			waiting = append(waiting, p.ID)
		case p.Stats.VisitedAt == 0: // it has its time as a new page
		case p.Failures == 0 && slices.Contains(announceMoves, p.Rule) && len(forward) < most:
			forward = append(forward, p.ID)
		default:
			noted = append(noted, p.ID)
		}
	}
	return forward, waiting, noted
}

// Announce remembers of pages that their publisher says that they changed (Page.AnnouncedAt), and brings some of them forward: at
// most as many as believed says for their host as it is. A host that is not known has no pages.
func (s *Store) Announce(ctx context.Context, now time.Time, a Announcement, believed func(*Host) int) (Heard, error) {
	var sum Heard
	err := s.inShard(ctx, a.Bucket, func(t *tx) error {
		sum = Heard{}
		q := newQueue(t)
		if err := q.lock(ctx, []rowKey{{a.Bucket, a.HostID}}); err != nil {
			return err
		}
		host := q.get(a.Bucket, a.HostID)
		if host == nil {
			return nil
		}
		pages, err := t.toldPages(ctx, a.Bucket, a.Pages)
		if err != nil {
			return err
		}
		forward, waiting, noted := a.Hears(pages, At(now), believed(host))
		sum = Heard{len(forward), len(waiting), len(noted)}
		at := int64(At(now))
		err = t.mark(ctx, a.Bucket, slices.Concat(waiting, noted), `announced_at = $3`, at)
		if err == nil {
			err = t.mark(ctx, a.Bucket, forward, `announced_at = $3, due_at = $3, rule = $4`, at, int16(RuleAnnounced))
		}
		if err != nil {
			return err
		}
		if len(forward) > 0 {
			host.Hasten(At(now))
		}
		return q.flush(ctx)
	})
	if err != nil {
		return Heard{}, fmt.Errorf("hear of changed pages: %w", err)
	}
	return sum, nil
}
