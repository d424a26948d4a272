package main

import (
	"context"
	"fmt"
	"time"

	"recrawld/models"
	"recrawld/report"
)

// stays is for which page of its site a requisite that is not named is visited all the same.
func (l *look) stays(ctx context.Context, p models.Page) (heldNames, error) {
	if p.UnnamedAt == 0 || p.GivenUp() {
		return heldNames{}, nil
	}
	note, err := l.store.Note(ctx, unnamedNote)
	return fromNote[unnamedTurn](note).Held[p.SiteID], err
}

// named says of a requisite that is visited yet that no page names it.
func (w why) named(now time.Time) string {
	if w.page.UnnamedAt == 0 || w.page.GivenUp() {
		return ""
	}
	words := fmt.Sprintf("by no page's copy since %s", report.Moment(now, w.page.UnnamedAt.Time()))
	if w.stays != (heldNames{}) {
		return words + fmt.Sprintf("; it stays, since what %s names cannot be told: %s", w.stays.Page, w.stays.Why)
	}
	return words + "; it is given up when a later look at all copies can tell that none names it"
}
