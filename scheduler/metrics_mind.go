package scheduler

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// walked counts what walks over the pages of hosts did. It is safe for concurrent use.
type walked struct{ walks, pages atomic.Int64 }

// watch registers the figures of the policy adaptive and of the budgets; they are read when they are asked for. A nil
// Registerer: none.
func watch(r prometheus.Registerer, m *Mind, p *purses) {
	if r == nil {
		return
	}
	gauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "recrawld", Name: name, Help: help}, read)
	}
	counter := func(name, help string, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "recrawld", Name: name, Help: help},
			func() float64 { return float64(n.Load()) })
	}
	r.MustRegister(
		gauge("price", "What a visit must be worth under the budget of all sites, in days of freshness of one page; 0: not known yet.",
			m.priceOfAll),
		gauge("budget_per_day", "Requests a day that the budget of all sites allows; +Inf: it does not bound them.", p.perDay),
		gauge("site_budgets", "Sites whose visits a budget of their own paid for since the start.", p.ofSites),
		gauge("brier_score", "Mean squared error of the forecast probabilities of a change since the start, 0 to 1; 0 also without any.",
			m.brier),
		counter("walks_total", "Times that the due times of all pages of a host were looked at again.", &m.walked.walks),
		counter("rescheduled_pages_total", "Pages whose due time was moved without a visit.", &m.walked.pages),
	)
}

// priceOfAll is the price of the budget of all sites together.
func (m *Mind) priceOfAll() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.price(allSites).value()
}

func (m *Mind) brier() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.judged.Corrected.Brier()
}

// perDay is how many requests a day the budget of all sites allows.
func (p *purses) perDay() float64 { return p.all.rate().requests }

// ofSites is how many sites have paid from a budget of their own.
func (p *purses) ofSites() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return float64(len(p.sites))
}
