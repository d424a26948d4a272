package models

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"
)

// A page that is gone is looked at ever more rarely, and one that is published again would be found as late. So what names it now and did not
// before has it looked at once: a list, a page that links to it, a redirect. What that is worth the ledger of the page's host counts
// (HintNamed), since others name what is not there: lists with ever new dates, menus that come and go.

const (
	namedAtOnce = 5                   // so many pages of a host are looked at at once; twice as many a while later, and so on
	namedEvery  = 24 * time.Hour      // that while: by then the looks before have told whether it is worth it
	namedRest   = 24 * time.Hour      // no page is looked at for it twice within that time,
	namedShare  = 2                   // nor within half of the time for which it had been gone
	namedTried  = 30 * 24 * time.Hour // after so long without a look in vain a host that is not believed is tried again
)

// Named is that a page which is gone was named by what did not name it before: when it is looked at for that; 0: not before its time.
type Named struct {
	PageID int64
	DueAt  Instant
}

// DoubtsNamed tells whether that pages of the host which are gone are named was for nothing too often for any to be looked at for it.
func (t *Trials) DoubtsNamed(now Instant) bool {
	trial := &t.By[HintNamed]
	return trial.Doubted() && now.Time().Sub(trial.DistrustedAt.Time()) < namedTried
}

// LooksAgain says which of pages of the host, as they are now, are remembered to be named by what did not name them before (Page.NamedAt), and when
// they are looked at for it: few at once, drawn by lot. Only those are that are gone and wait for their time; one that was named before while it was
// gone rests for as long as it would wait without. It is pure.
func (h *Host) LooksAgain(pages []Page, now Instant) []Named {
	var looks []Named
	for i := range pages {
		if pages[i].looksAgain(now) {
			looks = append(looks, Named{PageID: pages[i].ID})
		}
	}
	slices.SortFunc(looks, func(a, b Named) int {
		return cmp.Or(cmp.Compare(lot(a.PageID, now), lot(b.PageID, now)), cmp.Compare(a.PageID, b.PageID))
	})
	looks = slices.Compact(looks)
	if h.Trials.DoubtsNamed(now) {
		return looks
	}
	waits := make(map[int64]Instant, len(pages))
	for i := range pages {
		waits[pages[i].ID] = pages[i].DueAt
	}
	for i := range looks {
		turn := bits.Len(uint(i/namedAtOnce+1)) - 1
		if due := At(now.Time().Add(time.Duration(turn) * namedEvery)); due < waits[looks[i].PageID] {
			looks[i].DueAt = due
		}
	}
	return looks
}

// looksAgain tells whether the page may be looked at because it was named.
func (p *Page) looksAgain(now Instant) bool {
	switch {
	case p.State != StateGone || p.Failures > 0 || p.DueAt <= now || p.Rule != RuleGone && p.Rule != RuleWindow:
		return false
	case p.NamedAt <= p.MissingSince:
		return true
	}
	rest := max(p.NamedAt.Time().Sub(p.MissingSince.Time())/namedShare, namedRest)
	return now.Time().Sub(p.NamedAt.Time()) >= rest
}

// NamedSince tells whether the page, which is gone, was named since it was last looked at.
func (p *Page) NamedSince() bool { return p.State == StateGone && p.NamedAt > p.TriedAt }

// Names chooses, among the pages of its list's own host and site that the result's list tells of as they are now, those that were not looked at
// since: which the list did not name before, or where its dates are believed dates later than the last look. It is pure.
func (r *Result) Names(pages []Page, dated bool) []Page {
	of := make(map[int64]Instant, len(r.Told))
	for _, t := range r.Told {
		switch {
		case t.Came:
			of[t.PageID] = r.Telling.At
		case dated:
			of[t.PageID] = max(of[t.PageID], t.At)
		}
	}
	return slices.DeleteFunc(slices.Clone(pages), func(p Page) bool {
		return p.HostID != r.Lease.HostID || p.SiteID != r.Page.SiteID || of[p.ID] <= p.TriedAt
	})
}

// lookAgain writes that pages of locked hosts, as they are, were named by what did not name them before.
func (q *queue) lookAgain(ctx context.Context, now Instant, pages []Page) error {
	byHost := make(map[rowKey][]Page)
	for _, p := range pages {
		key := rowKey{p.Bucket, p.HostID}
		byHost[key] = append(byHost[key], p)
	}
	for _, key := range slices.SortedFunc(maps.Keys(byHost), compareKeys) {
		host := q.get(key.bucket, key.id)
		if host == nil {
			continue
		}
		turns := make(map[Instant][]int64)
		for _, look := range host.LooksAgain(byHost[key], now) {
			turns[look.DueAt] = append(turns[look.DueAt], look.PageID)
		}
		for _, due := range slices.Sorted(maps.Keys(turns)) {
			sets, values := `named_at = $3`, []any{int64(now)}
			if due != 0 {
				sets, values = `named_at = $3, due_at = $4, rule = $5`, append(values, int64(due), int16(RuleNamed))
				host.Hasten(due)
			}
			if err := q.tx.mark(ctx, key.bucket, turns[due], sets, values...); err != nil {
				return fmt.Errorf("note that pages are named which are gone: %w", err)
			}
		}
	}
	return nil
}

// lookAgain sees to the pages that are named by what did not name them before, are known and were there once.
func (a *addition) lookAgain(ctx context.Context, named map[rowKey]bool) error {
	for i := range a.added {
		delete(named, a.added[i].page)
	}
	var pages []Page
	// Index: the primary key.
	err := a.queue.tx.byKeys(ctx, slices.SortedFunc(maps.Keys(named), compareKeys), keyed{table: "pages", column: "id", statement: func(from source) string {
		return `SELECT k.bucket, k.id, k.host_id, k.state, COALESCE(k.failures,0), k.rule, k.due_at, COALESCE(k.missing_since,0), k.version, COALESCE(k.named_at,0) FROM ` + from.from
	}}, func(rows answer) error {
		var p Page
		err := rows.Scan(&p.Bucket, &p.ID, &p.HostID, &p.State, &p.Failures, &p.Rule, &p.DueAt, &p.MissingSince, &p.Version, &p.NamedAt)
		if p.Version > 0 {
			pages = append(pages, p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read pages that are named: %w", err)
	}
	return a.queue.lookAgain(ctx, At(a.now), pages)
}

// LinkedBefore tells whether the page's links were read before, where none are stored: then it had none.
func (r *Result) LinkedBefore() bool { return r.Before != nil && r.Before.FullAt > 0 }

// namedAnew marks those of the discovered pages that the page did not link to before, where its links were read before (children as packed).
func (r *Result) namedAnew(before, now []byte) error {
	if before == nil && !r.LinkedBefore() || bytes.Equal(before, now) {
		return nil
	}
	had, err := unpackChildren(before)
	if err != nil {
		return err
	}
	has, err := unpackChildren(now)
	if err != nil {
		return err
	}
	linked := make(map[rowKey]bool, len(has))
	for _, key := range has {
		linked[key] = true
	}
	for _, key := range had {
		delete(linked, key)
	}
	for i := range r.Discovered {
		d := &r.Discovered[i]
		if page, _ := d.keys(); linked[page] {
			d.Anew = true
		}
	}
	return nil
}
