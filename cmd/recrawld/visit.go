package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
)

// visitCmd gives a page its turn now: before all others of its host, as politely as always.
type visitCmd struct {
	URL  string        `arg:"" help:"A page that is known."`
	Wait time.Duration `default:"2m" placeholder:"TIME" help:"How long to wait for the outcome; 0s: not at all."`
}

// Run implements the command.
func (v visitCmd) Run(ctx context.Context, g *globals) (err error) {
	l, err := g.openLook(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	page, u, err := l.page(ctx, v.URL)
	if err != nil {
		return err
	}
	store, err := g.openStoreForWriting(ctx, &l.force.config)
	if err != nil {
		return err
	}
	err = store.VisitNow(ctx, l.now, page.Bucket, page.ID)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	workers, err := l.store.Workers(ctx)
	if err != nil {
		return err
	}
	if len(livingWorkers(workers, l.real)) == 0 {
		return g.answer(visitAnswer{URL: u.String()}, u.String()+" is next, but no daemon runs: recrawld run begins with it")
	}
	if v.Wait <= 0 {
		return g.answer(visitAnswer{URL: u.String(), Daemon: true}, u.String()+" is next")
	}
	return v.await(ctx, g, l, page)
}

// await shows the outcome of the page's next visit.
func (v visitCmd) await(ctx context.Context, g *globals, l *look, before models.Page) error {
	machine := clock.System{}
	deadline := machine.Now().Add(v.Wait)
	for machine.Now().Before(deadline) {
		if err := machine.SleepUntil(ctx, machine.Now().Add(200*time.Millisecond)); err != nil {
			return err
		}
		visits, err := l.store.History(ctx, before.Bucket, before.ID, 0, 1)
		if err != nil {
			return err
		}
		if len(visits) == 0 || visits[0].Number <= before.Visits || visits[0].Kind == models.RobotsFetched ||
			visits[0].Kind == models.Probed {
			continue
		}
		return v.show(ctx, g, l, visits[0])
	}
	return fmt.Errorf("%s has not been visited within %s; its host's delay or another worker's lease holds it (recrawld why says more)",
		before.URL, v.Wait)
}

func (v visitCmd) show(ctx context.Context, g *globals, l *look, visit models.Visit) error {
	page, err := l.store.Page(ctx, visit.Bucket, visit.PageID)
	if err != nil {
		return err
	}
	class := ""
	if visit.Class != models.ClassNone {
		class = " (" + visit.Class.String() + ")"
	}
	next := report.Until(visit.At.Time(), page.DueAt.Time())
	if slices.ContainsFunc(l.force.rows, func(row models.Site) bool { return row.ID == page.SiteID && row.Paused }) {
		next = "when its site is resumed"
	}
	shown := visitJSON(visit)
	return g.answer(visitAnswer{URL: page.URL, Daemon: true, Visit: &shown, DueAt: when(page.DueAt)},
		fmt.Sprintf("%s: %s%s, status %d, %s in %s; next visit %s", page.URL, visit.Kind, class, visit.Status,
			report.Bytes(visit.Bytes), report.Span(visit.Took), next))
}

// visitAnswer is what came of it.
type visitAnswer struct {
	URL    string      `json:"url"`
	Daemon bool        `json:"daemon"`          // one runs that visits it
	Visit  *shownVisit `json:"visit,omitempty"` // as of why; nil: it was not waited for
	DueAt  *time.Time  `json:"due_at,omitempty"`
}
