package slo_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler/slo"
)

// missed is what the recorded events of a rehearsal between the two moments show to be missed.
func (r *rehearsal) missed(t *testing.T, from, to time.Time, within time.Duration) (m slo.Missed) {
	t.Helper()
	dump, err := r.store.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pages := make(map[int64]models.ChangeStats)
	for _, p := range dump.Pages {
		pages[p.ID] = p.Stats
	}
	for bucket := range int16(models.Buckets) {
		events, err := r.store.Events(t.Context(), bucket, 0, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if at := e.At.Time(); e.Kind == models.EventChanged && !at.Before(from) && at.Before(to) {
				m.Add(slo.Delay{Most: at.Sub(e.NotBefore.Time()), Rate: report.SeenOf(pages[e.PageID]).Rate()}, within)
			}
		}
	}
	return m
}

// What is estimated from the visits alone is what was so, and the truth lies between the ends, whether the level is kept or not. The last
// is missed by far: pages change about as often as they are visited, and it takes many visits to learn how often that is.
func TestAttainedIsWhatWasSo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		made, asked config.Goal // visits are made for one, and held to the other
		off         float64
	}{
		{config.Goal{Share: 0.95, Within: 6 * time.Hour}, config.Goal{Within: 6 * time.Hour}, 0.005},
		{config.Goal{Share: 0.95, Within: 6 * time.Hour}, config.Goal{Within: 2 * time.Hour}, 0.01},
		{config.Goal{Share: 0.6, Within: 8 * time.Hour}, config.Goal{Within: 8 * time.Hour}, 0.01},
		{config.Goal{Share: 0.9}, config.Goal{}, 0.005},
		{config.Goal{Share: 0.9, Within: 3 * day}, config.Goal{Within: day}, 0.01},
		{config.Goal{Share: 0.7}, config.Goal{}, 0.03},
	} {
		t.Run(fmt.Sprintf("%s, held to %s", test.made, test.asked.Within), func(t *testing.T) {
			t.Parallel()
			const days = 46
			site := promiseSite(nil)
			plan, err := slo.New(site, test.made.Within)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := plan.For(test.made.Share)
			r := newRehearsal(days)
			for i, c := range site.Classes {
				r.add(t, slo.Step{Every: s.Every[i], Pages: c.Pages, Rate: c.Rate})
			}
			r.run(t)
			from, to := promiseStart.Add(12*day), promiseStart.Add((days-11)*day)
			truth, _ := r.seen(from, to, test.asked.Within)
			m := r.missed(t, from, to, test.asked.Within)
			got := m.Attained(m.Expected)
			if test.asked.Fresh() {
				truth = r.fresh(from, to)
				got = m.Attained(float64(len(r.changes)) * to.Sub(from).Hours() / 24)
			}
			if math.Abs(got.Likely-truth) > test.off || truth < got.AtWorst-test.off || truth > got.AtBest+test.off {
				t.Errorf("%.4f was so, %+v is estimated", truth, got)
			}
		})
	}
}
