package scheduler

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// gathered is the values of a registry's counters and gauges by name.
func gathered(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, f := range families {
		if f.GetHelp() == "" {
			t.Errorf("%s has no help", f.GetName())
		}
		for _, m := range f.GetMetric() {
			values[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values
}

func TestFiguresOfTheMind(t *testing.T) {
	t.Parallel()
	c := config.Default()
	p, err := NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	w := NewWorker(Config{Clock: clock.NewVirtual(noon), Metrics: registry}, p)
	before := gathered(t, registry)
	if before["recrawld_price"] != 0 || !math.IsInf(before["recrawld_budget_per_day"], 1) || before["recrawld_brier_score"] != 0 {
		t.Errorf("figures = %v, want no price, no bound and no score yet", before)
	}
	c.Budget.Requests = config.Rate{PerDay: 2000}
	w.SetPlanner(p)
	w.mind.price(allSites).learn(0.25, 0)
	w.mind.judged.Add(0.5, changerate.Correction{}, true)
	w.mind.walked.walks.Add(2)
	w.mind.walked.pages.Add(7)
	w.metrics.visit(&models.Outcome{Kind: models.Deferred, Until: noon.Add(time.Hour)}, new(models.Page))
	w.metrics.visit(&models.Outcome{Kind: models.Deferred}, new(models.Page)) // outside its windows
	w.metrics.visit(&models.Outcome{Kind: models.NotModified, Sent: 1}, new(models.Page))
	got := gathered(t, registry)
	for name, want := range map[string]float64{"price": 0.25, "budget_per_day": 2000, "brier_score": 0.25, "walks_total": 2,
		"rescheduled_pages_total": 7, "put_off_total": 1, "budget_used_total": 1, "site_budgets": 0} {
		if value, ok := got["recrawld_"+name]; !ok || math.Abs(value-want) > 1e-12 {
			t.Errorf("recrawld_%s = %v, %v, want %v", name, value, ok, want)
		}
	}
}
