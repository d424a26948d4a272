package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
)

// slos are the service levels that are promised, by site.
func (f *inForce) slos() map[int32]config.Goal {
	slos := make(map[int32]config.Goal)
	for _, row := range f.rows {
		if site, _ := f.site(row.ID); !site.Settings.SLO.IsZero() {
			slos[row.ID] = site.Settings.SLO
		}
	}
	return slos
}

// promises are the service levels with since when what visits found is known, in the order of the sites.
func (f *inForce) promises(now time.Time) []report.Promise {
	var promises []report.Promise
	slos, kept := f.slos(), models.At(now.Add(-f.config.History.Keep))
	for _, row := range f.rows {
		if goal, promised := slos[row.ID]; promised {
			promises = append(promises, report.Promise{Site: row.ID, Goal: goal, From: max(row.CreatedAt, kept).Time()})
		}
	}
	return promises
}

// lastLevels reads what was measured last.
func lastLevels(ctx context.Context, store *models.Store) (report.Levels, error) {
	body, err := store.Note(ctx, report.NoteLevels)
	return report.ReadLevels(body), err
}

// takeLevels takes what another worker measured; false: not all that is promised was, or others are to know that it still is.
func (d *daemon) takeLevels(ctx context.Context, now time.Time) (bool, error) {
	promises := d.force.Load().promises(now)
	levels, err := lastLevels(ctx, d.store)
	if err != nil || !levels.Fits(promises) || !levels.SaidBy(d.start.Worker.Name, promises, now) {
		return false, err
	}
	return true, d.showLevels(ctx, levels, now)
}

// measureLevels measures the service levels on, also those that other workers promise, and returns which are missed, given what was
// unusual before. A site is missed once, whatever is promised of it.
func (d *daemon) measureLevels(ctx context.Context, before []report.Unusual, now time.Time) ([]report.Unusual, error) {
	promises := d.force.Load().promises(now)
	had, err := lastLevels(ctx, d.store)
	if err != nil {
		return nil, err
	}
	pace := unhurried{began: clock.System{}.Now()}
	levels, err := report.MeasureLevels(ctx, d.store, had, d.start.Worker.Name, promises, now, pace.rest)
	if err != nil {
		return nil, err
	}
	if len(levels.Sites) == 0 && len(had.Sites) == 0 { // nobody promises anything
		d.figures.slo.show(nil)
		return nil, nil
	}
	body, err := levels.Encode()
	if err != nil {
		return nil, err
	}
	err = d.store.Merge(ctx, report.NoteLevels, func(old []byte) []byte {
		if report.ReadLevels(old).At != had.At { // another worker measured meanwhile: what it counted, it counted once
			return nil
		}
		return body
	})
	if err != nil {
		return nil, err
	}
	pages, err := report.CopiesBySite(ctx, d.store)
	if err != nil {
		return nil, err
	}
	return missedOf(levels, pages, before, now), d.showLevels(ctx, levels, now)
}

func missedOf(levels report.Levels, pages map[int32]int64, before []report.Unusual, now time.Time) []report.Unusual {
	var missed []report.Unusual
	for _, level := range levels.Sites {
		of := func(u report.Unusual) bool { return u.Site == level.Site && u.Kind == report.MissesLevel }
		u, is := level.FindMissed(now, pages[level.Site], slices.ContainsFunc(before, of))
		if is && !slices.ContainsFunc(missed, of) {
			missed = append(missed, u)
		}
	}
	return missed
}

// showLevels sets the metrics.
func (d *daemon) showLevels(ctx context.Context, levels report.Levels, now time.Time) error {
	shown, err := levelsOf(ctx, d.store, d.force.Load(), levels, now)
	d.figures.slo.show(shown)
	return err
}

// siteLevel is what is attained of a site's service level, as the command status shows it.
type siteLevel struct {
	Site     string    `json:"site"`
	Promised string    `json:"promised"`
	Share    float64   `json:"promised_share"`
	Changes  int64     `json:"changes"`
	Attained float64   `json:"attained"`
	AtWorst  float64   `json:"at_worst"`
	AtBest   float64   `json:"at_best"`
	Used     float64   `json:"budget_used"`
	Since    time.Time `json:"measured_since"`

	words  string
	broken bool
}

// levelsOf is what is attained of the service levels that are promised now, those that use most of their error budget first.
func levelsOf(ctx context.Context, store *models.Store, force *inForce, levels report.Levels, now time.Time) ([]siteLevel, error) {
	pages, err := report.CopiesBySite(ctx, store)
	if err != nil {
		return nil, err
	}
	names, all := siteNames(force.rows), []siteLevel{}
	for _, level := range levels.Promised(force.promises(now)) {
		a := level.Over(time.Time{}, now, pages[level.Site])
		all = append(all, siteLevel{Site: names[level.Site], Promised: level.Goal.String(), Share: level.Goal.Share, Changes: a.Missed.Changes,
			Attained: a.Share.Likely, AtWorst: a.Share.AtWorst, AtBest: a.Share.AtBest, Used: a.Used(), Since: a.From, words: a.Words(), broken: a.Broken()})
	}
	slices.SortStableFunc(all, func(a, b siteLevel) int { return cmp.Compare(b.Used, a.Used) })
	return all, nil
}

// sloFigures are the metrics of service levels.
type sloFigures struct{ promised, attained, left *prometheus.GaugeVec }

func newSLOFigures(gauge func(name, help string, labels ...string) *prometheus.GaugeVec) sloFigures {
	return sloFigures{
		promised: gauge("slo_promised", "Share that the service level of a site promises.", "site"),
		attained: gauge("slo_attained", fmt.Sprintf("Share that is expected to be attained of it over %d days (recrawld report slo has the bounds).",
			report.LevelDays), "site"),
		left: gauge("slo_error_budget_left", "Part of the error budget of that time that is left; below 0: the promise is broken.", "site"),
	}
}

// mostSeries is how many sites have metrics of their own: those that use most of their error budget.
const mostSeries = 200

func (f sloFigures) show(levels []siteLevel) {
	for _, v := range []*prometheus.GaugeVec{f.promised, f.attained, f.left} {
		v.Reset() // of sites that promise nothing any more
	}
	for _, level := range levels[:min(len(levels), mostSeries)] {
		f.promised.WithLabelValues(level.Site).Set(level.Share)
		if level.Changes > 0 {
			f.attained.WithLabelValues(level.Site).Set(level.Attained)
			f.left.WithLabelValues(level.Site).Set(1 - level.Used)
		}
	}
}

// statusLevels fills in what was measured of service levels, unless nobody did for a day.
func (l *look) statusLevels(ctx context.Context, s *status) error {
	levels, err := lastLevels(ctx, l.store)
	if err != nil || l.now.Sub(levels.At.Time()) > 24*time.Hour {
		return err
	}
	s.Levels, err = levelsOf(ctx, l.store, l.force, levels, l.now)
	return err
}

// levelsShown is how many service levels have a line on the screen.
const levelsShown = 4

func (s status) addLevels(head *facts) {
	lines := slices.DeleteFunc(slices.Clone(s.Levels), func(l siteLevel) bool { return l.Changes == 0 })
	for _, level := range lines[:min(len(lines), levelsShown)] {
		site := level.Site
		if level.broken {
			site = head.style.Paint(report.Bad, site)
		}
		head.add("slo", "%s: %s", site, level.words)
	}
	if more := len(lines) - levelsShown; more > 0 {
		head.add("slo", "%s more: recrawld report slo", report.Plural(more, "site"))
	}
}
