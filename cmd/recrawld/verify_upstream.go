package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/verify"
)

// mostUpstream is the largest sample that is asked of the sites: of ten thousand the interval is at most 2 % wide.
const mostUpstream = 10_000

// upstreamVerified is what a random sample of the pages turned out to be worth, when their sites were asked.
type upstreamVerified struct {
	All       int64   `json:"all"`       // live pages with a copy, of sites that are not paused
	Drawn     int64   `json:"drawn"`     // of them, at random
	Unchanged int64   `json:"unchanged"` // as they were: the same bytes, or 304
	Alike     int64   `json:"alike"`     // other bytes that say nothing new
	Changed   int64   `json:"changed"`   // since our copy
	Vanished  int64   `json:"vanished"`  // not found, or redirected
	Silent    int64   `json:"silent"`    // no usable answer, or none that may be asked for any more
	Waiting   int64   `json:"waiting"`   // not visited yet
	Low       float64 `json:"low"`       // with 95 % confidence at least this share of all copies was out of date, 0 to 1
	High      float64 `json:"high"`      // and at most this
	Ended     bool    `json:"ended"`     // early
}

// answered is how many of the sample say something of all.
func (u *upstreamVerified) answered() int64 { return u.Unchanged + u.Alike + u.stale() }

// stale is how many of them had copies that were out of date.
func (u *upstreamVerified) stale() int64 { return u.Changed + u.Vanished }

func (u *upstreamVerified) words() string {
	if u.All == 0 {
		return "upstream: no live page has a copy"
	}
	words := fmt.Sprintf("upstream: %s of %s drawn at random: %s unchanged", report.Count(u.Drawn), report.Plural(u.All, "page"), report.Count(u.Unchanged))
	for _, part := range []struct {
		n    int64
		what string
	}{{u.Alike, "with other bytes that say nothing new"}, {u.Changed, "changed since our copy"}, {u.Vanished, "not found or redirected"},
		{u.Silent, "without an answer"}, {u.Waiting, "not visited yet"}} {
		if part.n > 0 {
			words += fmt.Sprintf(", %s %s", report.Count(part.n), part.what)
		}
	}
	return words + sampleWords(verify.Sample{Number: int(u.Drawn)}, u.stale(), u.answered(), u.All, "copies were out of date")
}

// upstream asks the sites of a random sample of pages, by the daemon and as politely as always, whether our copies are what they serve.
func (r *verifyRun) upstream(ctx context.Context) error {
	workers, err := r.store.Workers(ctx)
	if err != nil {
		return err
	}
	if len(livingWorkers(workers, r.real)) == 0 {
		return errors.New("no daemon runs that could ask: recrawld run, or systemctl start recrawld, begins one")
	}
	r.out.Upstream, r.out.Right = &upstreamVerified{}, true
	drawn, err := r.drawPages(ctx)
	if err != nil || len(drawn) == 0 {
		return err
	}
	if err := r.askFor(ctx, drawn); err != nil {
		return err
	}
	left, err := r.awaitAnswers(ctx, drawn)
	if ctx.Err() != nil {
		err = nil // what was found so far is told
	}
	out := r.out.Upstream
	out.Waiting, out.Ended = int64(len(left)), len(left) > 0
	out.Low, out.High = verify.Interval(out.stale(), out.answered())
	r.out.Ended, r.out.Right = out.Ended, !out.Ended
	if len(left) > 0 {
		r.notes = append(r.notes, "They stay asked for, and are visited as their hosts' delays allow: recrawld due says when.")
	}
	return err
}

// drawPages draws the sample among the live pages that have a copy.
func (r *verifyRun) drawPages(ctx context.Context) ([]models.Page, error) {
	paused := make(map[int32]bool)
	for _, row := range r.force.rows {
		paused[row.ID] = row.Paused
	}
	draw := verify.NewDraw[models.Page](verify.Sample{Number: r.Upstream})
	r.progress.begin("upstream", "pages looked at")
	err := r.store.EachPage(ctx, func(p *models.Page) error {
		if p.State != models.StateLive || p.Version == 0 || p.NoArchive || p.Lost || paused[p.SiteID] || r.site != 0 && p.SiteID != r.site {
			return nil
		}
		draw.Take(*p)
		r.out.Upstream.All++
		r.progress.tell(r.out.Upstream.All, 0, 0)
		return nil
	})
	r.out.Upstream.Drawn = int64(len(draw.Held()))
	return draw.Held(), err
}

// askFor has all of the sample visited next.
func (r *verifyRun) askFor(ctx context.Context, drawn []models.Page) error {
	return r.writable(ctx, func(_ *config.Config, store *models.Store) error {
		for i := range drawn {
			err := store.VisitNow(ctx, r.now, drawn[i].Bucket, drawn[i].ID)
			if err != nil && !errors.Is(err, models.ErrNotFound) { // it was removed: nobody will visit it
				return err
			}
		}
		return nil
	})
}

// awaitAnswers looks for the visits to the sample until all were made or nobody is left to make them, and returns the pages that are not
// visited yet.
func (r *verifyRun) awaitAnswers(ctx context.Context, drawn []models.Page) ([]models.Page, error) {
	machine := clock.System{}
	begun, left, listed := machine.Now(), slices.Clone(drawn), 0
	r.progress.begin("upstream", "pages asked")
	for {
		var waiting []models.Page
		for i := range left {
			visit, found, err := firstAnswer(ctx, r.store, &left[i])
			switch {
			case err != nil:
				return left, err
			case found:
				r.judgeUpstream(&listed, &left[i], visit)
			default:
				waiting = append(waiting, left[i])
			}
		}
		left = waiting
		r.progress.tell(int64(len(drawn)-len(left)), int64(len(drawn)), 0)
		if len(left) == 0 || machine.Now().Sub(begun) >= r.Wait {
			return left, nil
		}
		workers, err := r.store.Workers(ctx)
		if err != nil {
			return left, err
		}
		if len(livingWorkers(workers, machine.Now())) == 0 {
			r.notes = append(r.notes, "Nobody is waited for: no daemon runs any more.")
			return left, nil
		}
		rest := time.Second + time.Duration(len(left))*5*time.Millisecond // a query a page
		if err := machine.SleepUntil(ctx, machine.Now().Add(rest)); err != nil {
			return left, err
		}
	}
}

// firstAnswer is the first visit since a page was drawn that could say whether our copy is what its site serves. That of a page that was
// removed is one that asked nothing.
func firstAnswer(ctx context.Context, store *models.Store, drawn *models.Page) (models.Visit, bool, error) {
	const most = 16 // turns that ended with robots.txt, or were put off
	visits, err := store.History(ctx, drawn.Bucket, drawn.ID, 0, most)
	if err != nil {
		return models.Visit{}, false, err
	}
	for _, v := range slices.Backward(visits) {
		if v.Number > drawn.Visits && (v.Kind.Asked() || v.Kind == models.Excluded) {
			return v, true, nil
		}
	}
	if len(visits) == 0 {
		_, err = store.Page(ctx, drawn.Bucket, drawn.ID)
	}
	if errors.Is(err, models.ErrNotFound) {
		return models.Visit{Kind: models.Excluded}, true, nil
	}
	return models.Visit{}, false, err
}

// judgeUpstream counts an answer, and lists the page where its copy was out of date.
func (r *verifyRun) judgeUpstream(listed *int, p *models.Page, v models.Visit) {
	out, why := r.out.Upstream, ""
	switch v.Kind {
	case models.NotModified, models.SameBytes:
		out.Unchanged++
	case models.SameText, models.Noise:
		out.Alike++
	case models.Changed, models.First:
		out.Changed++
		why = "changed"
	case models.Moved, models.Missing, models.Gone:
		out.Vanished++
		why = v.Kind.String()
	default:
		out.Silent++
	}
	if why == "" {
		return
	}
	r.trouble(listed, verifyTrouble{Part: "upstream", URL: p.URL, Version: p.Version,
		Why: fmt.Sprintf("%s since the visit %s before", why, report.Span(v.At.Time().Sub(p.Stats.VisitedAt.Time())))})
}
