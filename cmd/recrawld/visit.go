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
	rests, err := l.resting(ctx, page)
	if err != nil {
		return err
	}
	workers, err := l.store.Workers(ctx)
	if err != nil {
		return err
	}
	if len(livingWorkers(workers, l.real)) == 0 {
		return g.answer(rests.answer(u.String(), false), u.String()+" is next, but no daemon runs: recrawld run begins with it"+rests.words(l.now))
	}
	if v.Wait <= 0 || rests.until.Sub(l.now) > v.Wait {
		return g.answer(rests.answer(u.String(), true), u.String()+" is next"+rests.words(l.now))
	}
	return v.await(ctx, g, l, page)
}

// hostRest is what holds back a host that fails. The zero one is of a host that does not rest.
type hostRest struct {
	host     string
	until    time.Time
	failures int32
	last     models.ErrorClass // of the page's own visits; ClassNone: the host failed at others, or only asked to be left alone
	lastAt   models.Instant
}

// resting reads whether the host of a page rests.
func (l *look) resting(ctx context.Context, page models.Page) (hostRest, error) {
	host, err := l.store.Host(ctx, page.Bucket, page.HostID)
	if err != nil || !host.BackoffUntil.Time().After(l.now) {
		return hostRest{}, err
	}
	r := hostRest{host: host.Name, until: host.BackoffUntil.Time(), failures: host.Failures}
	visits, err := l.store.History(ctx, page.Bucket, page.ID, 0, 1)
	if err == nil && len(visits) > 0 && visits[0].Kind == models.Failed && visits[0].Class.HostWide() {
		r.last, r.lastAt = visits[0].Class, visits[0].At
	}
	return r, err
}

// words say why a page that is next is not visited yet, and what can be done; "" where nothing holds it back.
func (r hostRest) words(now time.Time) string {
	if r.until.IsZero() {
		return ""
	}
	why := "it asked to be left alone"
	if r.failures > 0 {
		why = report.Plural(r.failures, "failure") + " in a row"
	}
	if r.last != models.ClassNone {
		why += fmt.Sprintf(", the last one here %s, %s", r.last, report.Until(now, r.lastAt.Time()))
	}
	return fmt.Sprintf("; its host %s rests until %s, for %s more: %s. Nothing is asked before, also not by hand; it is visited then by itself. "+
		"recrawld report hosts shows all that rest", r.host, report.Moment(now, r.until), report.Span(r.until.Sub(now)), why)
}

func (r hostRest) answer(url string, daemon bool) visitAnswer {
	return visitAnswer{URL: url, Daemon: daemon, RestsUntil: when(models.At(r.until)), Failures: r.failures}
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

	RestsUntil *time.Time `json:"rests_until,omitempty"` // its host does, so it is not visited before
	Failures   int32      `json:"failures,omitempty"`    // of the host, in a row, for which it rests
}
