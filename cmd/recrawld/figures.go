package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/models"
)

// figures are the metrics that are read from the database now and then and not counted as things happen.
type figures struct {
	store   *models.Store
	pages   *prometheus.GaugeVec
	due     prometheus.Gauge
	overdue prometheus.Gauge
	failing prometheus.Gauge
	lag     *prometheus.GaugeVec
}

func newFigures(store *models.Store, r prometheus.Registerer) *figures {
	options := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "recrawld", Name: name, Help: help}
	}
	f := &figures{
		store:   store,
		pages:   prometheus.NewGaugeVec(options("urls", "Pages known, by state."), []string{"state"}),
		due:     prometheus.NewGauge(options("due", "Pages whose turn has come.")),
		overdue: prometheus.NewGauge(options("overdue_seconds_max", "How long the page that waits longest has been due, by the daemon's clock.")),
		failing: prometheus.NewGauge(options("failing", "Pages whose last visit failed.")),
		lag:     prometheus.NewGaugeVec(options("sink_buckets_behind", "Buckets with events that a sink has not delivered."), []string{"sink"}),
	}
	r.MustRegister(f.pages, f.due, f.overdue, f.failing, f.lag)
	return f
}

// read counts the pages, or takes what another worker counted lately where counting takes long.
func (f *figures) read(ctx context.Context, now time.Time) error {
	var machine clock.System
	began := machine.Now()
	last, fresh, err := lastCounted(ctx, f.store, began)
	if err != nil {
		return err
	}
	if fresh && began.Sub(last.Real.Time()) < last.rest() {
		counts, err := f.store.PageCounts(ctx)
		if err == nil {
			f.show(withCounts(last.States, counts), last.At.Time())
		}
		return err
	}
	states, err := f.store.SiteStates(ctx, models.At(now))
	if err != nil {
		return err
	}
	f.show(states, now)
	ended := machine.Now()
	took := ended.Sub(began)
	if took < slowCount {
		return nil
	}
	return keepCounted(ctx, f.store, counted{At: models.At(now), Real: models.At(ended), Took: took, States: states})
}

// show sets the metrics.
func (f *figures) show(states []models.SiteState, now time.Time) {
	pages := make(map[models.PageState]int64)
	var due, failing int64
	earliest := models.At(now)
	for _, s := range states {
		pages[s.State] += s.Pages
		due, failing = due+s.Due, failing+s.Failing
		if s.Due > 0 && s.NextAt > 0 {
			earliest = min(earliest, s.NextAt)
		}
	}
	for state := models.StateNew; state <= models.StateExcluded; state++ {
		f.pages.WithLabelValues(state.String()).Set(float64(pages[state]))
	}
	f.due.Set(float64(due))
	f.failing.Set(float64(failing))
	f.overdue.Set(now.Sub(earliest.Time()).Seconds())
}

// behind reads how far a sink is behind.
func (f *figures) behind(ctx context.Context, sinks []string) error {
	for _, name := range sinks {
		buckets, err := f.store.News(ctx, name)
		if err != nil {
			return err
		}
		f.lag.WithLabelValues(name).Set(float64(len(buckets)))
	}
	return nil
}
