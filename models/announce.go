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

// announceMoves are the rules that an announcement may move a page from. A page that is gone, is being given up or is held back may be back.
var announceMoves = append(slices.Clone(toldMoves), RuleGone, RuleMissing, RuleGuarded)

// Hearing is what becomes of the pages of an announcement, by their IDs, each in one of these.
type Hearing struct {
	Forward []int64 // are due now
	Pressed []int64 // are due already, and visited as those are that are known to have changed
	Waiting []int64 // are due already
	Noted   []int64
}

// Hears says what becomes of pages as they are now that an announcement is about: of those that wait for a time to come up to most are to be
// brought forward, the first by ID, and as many pressed of those that are due. One that was announced before and is not visited yet
// is pressed anew, where anything is believed: it may be under way. No page that is a duplicate, not visited yet, or of
// another host or site is heard of. It is pure.
func (a *Announcement) Hears(pages []Page, now Instant, most int, believed bool) (h Hearing) {
	pages = slices.Clone(pages)
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Compare(a.ID, b.ID) })
	pages = slices.CompactFunc(pages, func(a, b Page) bool { return a.ID == b.ID })
	pressed := 0
	for i := range pages {
		p := &pages[i]
		moves := p.Failures == 0 && slices.Contains(announceMoves, p.Rule)
		switch due := p.DueAt <= now; {
		case p.HostID != a.HostID || p.SiteID != a.SiteID || p.Rule.OfDuplicate() || p.DueAt == 0:
		case due && p.Rule == RuleAnnounced && believed:
			h.Pressed = append(h.Pressed, p.ID)
		case due && moves && p.State != StateNew && pressed < most:
			h.Pressed, pressed = append(h.Pressed, p.ID), pressed+1
		case due:
			h.Waiting = append(h.Waiting, p.ID)
		case p.State == StateNew: // it has its time as a new page
		case moves && len(h.Forward) < most:
			h.Forward = append(h.Forward, p.ID)
		default:
			h.Noted = append(h.Noted, p.ID)
		}
	}
	return h
}

// Announce remembers of pages that their publisher says that they changed (Page.AnnouncedAt), and brings some of them forward: together with
// those that were before and are not visited yet at most as many as believed says for their host as it is. A host that is not known has
// no pages.
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
		if err != nil || len(pages) == 0 {
			return err
		}
		open, err := t.announcedOpen(ctx, &a, At(now))
		if err != nil {
			return err
		}
		most := believed(host)
		h := a.Hears(pages, At(now), max(most-open, 0), most > 0)
		sum = Heard{len(h.Forward), len(h.Pressed) + len(h.Waiting), len(h.Noted)}
		if err := t.hear(ctx, a.Bucket, &h, At(now)); err != nil {
			return err
		}
		if len(h.Forward) > 0 {
			host.Hasten(At(now))
		}
		if len(h.Pressed) > 0 {
			host.Ask(At(now))
		}
		return q.flush(ctx)
	})
	if err != nil {
		return Heard{}, fmt.Errorf("hear of changed pages: %w", err)
	}
	return sum, nil
}

// hear writes what becomes of pages.
func (t *tx) hear(ctx context.Context, bucket int16, h *Hearing, now Instant) error {
	err := t.mark(ctx, bucket, slices.Concat(h.Waiting, h.Noted), `announced_at = $3`, int64(now))
	if err == nil {
		err = t.mark(ctx, bucket, h.Pressed, `announced_at = $3, rule = $4`, int64(now), int16(RuleAnnounced))
	}
	if err == nil {
		err = t.mark(ctx, bucket, h.Forward, `announced_at = $3, due_at = $3, rule = $4`, int64(now), int16(RuleAnnounced))
	}
	return err
}

// OpenAmong is among how many pages of a host, those that are due since the shortest time, it is looked how many were announced and are
// not visited yet. A host that is far behind has more.
const OpenAmong = 1000

// announcedOpen is how many of them there are.
func (t *tx) announcedOpen(ctx context.Context, a *Announcement, now Instant) (open int, err error) {
	// Index: pages_due.
	rows, err := t.rows(ctx, `SELECT COUNT(*) FROM (SELECT rule FROM pages WHERE bucket = $1 AND host_id = $2 AND due_at > 0 AND due_at <= $3
		ORDER BY due_at DESC, id DESC LIMIT $4) AS newest WHERE rule = $5`, a.Bucket, a.HostID, int64(now), OpenAmong, int16(RuleAnnounced))
	err = eachRow(rows, err, func(rows answer) error { return rows.Scan(&open) })
	return open, err
}
