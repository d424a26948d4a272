package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/models"
)

// figures are the metrics that are read from the database now and then and not counted as things happen. Before it was read
// first they are not there, those without labels as well: a 0 would say that nothing is due or fails.
type figures struct {
	store    *models.Store
	pages    *prometheus.GaugeVec
	due      *prometheus.GaugeVec
	overdue  *prometheus.GaugeVec
	failing  *prometheus.GaugeVec
	lag      *prometheus.GaugeVec
	withheld *prometheus.GaugeVec
	trouble  *prometheus.GaugeVec
	unusual  *prometheus.GaugeVec
	damaged  *prometheus.GaugeVec
	slo      sloFigures
}

func newFigures(store *models.Store, r prometheus.Registerer) *figures {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "recrawld", Name: name, Help: help}, labels)
	}
	f := &figures{
		store:    store,
		pages:    gauge("urls", "Pages known, by state.", "state"),
		due:      gauge("due", "Pages whose turn has come."),
		overdue:  gauge("overdue_seconds_max", "How long the page that waits longest has been due, by the daemon's clock."),
		failing:  gauge("failing", "Pages whose last visit failed."),
		lag:      gauge("sink_buckets_behind", "Buckets with events that a sink has not delivered.", "sink"),
		withheld: gauge("sink_withheld_pages", "Pages that a sink could not take for a reason of their own (recrawld sink list).", "sink"),
		trouble:  gauge("sink_trouble", "1 while a sink takes nothing and is tried again later or parked (recrawld sink list says why), else 0.", "sink"),
		unusual:  gauge("unusual_sites", "Sites of which something is unusual (recrawld status says what).", "kind"),
		damaged: gauge("archive_sample_lost", fmt.Sprintf("Versions of the last weekly sample of %d of the archive whose bodies are lost (recrawld verify says which).",
			selfCheckSample)),
	}
	f.slo = newSLOFigures(gauge)
	r.MustRegister(f.slo.promised, f.slo.attained, f.slo.left)
	r.MustRegister(f.pages, f.due, f.overdue, f.failing, f.lag, f.withheld, f.trouble, f.unusual, f.damaged)
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
		return f.showNow(ctx, last.States, last.At.Time())
	}
	pace := unhurried{began: began}
	states, err := f.store.SiteStates(ctx, models.At(now), pace.rest)
	if err != nil {
		return err
	}
	if err := f.showNow(ctx, states, now); err != nil {
		return err
	}
	ended := machine.Now()
	took := ended.Sub(began) - pace.rested
	if took < slowCount {
		return nil
	}
	return keepCounted(ctx, f.store, counted{At: models.At(now), Real: models.At(ended), Took: took, States: states})
}

// unhurried rests behind each part of a large task, for the sake of the visits.
type unhurried struct {
	clock.System
	began  time.Time // the part that is under way
	rested time.Duration
}

// restShare is how many times as long as a part takes is rested behind it: a counting takes a tenth of a processor until it is done.
const restShare = 9

func (u *unhurried) rest(ctx context.Context) error {
	now := u.Now()
	d := restShare * min(max(now.Sub(u.began), 0), figuresEvery) // the clock may have been set meanwhile
	err := u.SleepUntil(ctx, now.Add(d))
	u.began, u.rested = u.Now(), u.rested+d
	return err
}

// showNow sets the metrics to what was counted, but for how many pages there are and how many fail: that is known at any time.
func (f *figures) showNow(ctx context.Context, states []models.SiteState, at time.Time) error {
	counts, err := f.store.PageCounts(ctx)
	if err == nil {
		f.show(withCounts(states, counts), at)
	}
	return err
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
	f.due.WithLabelValues().Set(float64(due))
	f.failing.WithLabelValues().Set(float64(failing))
	f.overdue.WithLabelValues().Set(now.Sub(earliest.Time()).Seconds())
}

// behind reads how far each sink is behind, what it could not take, and whether it takes anything.
func (f *figures) behind(ctx context.Context, sinks []string, now time.Time) error {
	for _, name := range sinks {
		buckets, _, err := behindBy(ctx, f.store, name, now)
		if err != nil {
			return err
		}
		f.lag.WithLabelValues(name).Set(float64(buckets))
		pages, err := withheldBy(ctx, f.store, name)
		if err != nil {
			return err
		}
		f.withheld.WithLabelValues(name).Set(float64(len(pages)))
		trouble, err := troubleOf(ctx, f.store, name)
		if err != nil {
			return err
		}
		inTrouble := 0.0
		if trouble != nil {
			inTrouble = 1
		}
		f.trouble.WithLabelValues(name).Set(inTrouble)
	}
	return nil
}
