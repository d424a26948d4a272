package scheduler

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/models"
)

// metrics are the worker's figures. Label values come from closed sets: outcomes and classes, never hosts or URLs. A nil one keeps
// none.
type metrics struct {
	visits  []prometheus.Counter // by outcome
	failed  *prometheus.CounterVec
	bytes   prometheus.Counter
	saved   prometheus.Counter
	fetch   prometheus.Histogram
	lost    prometheus.Counter
	commits prometheus.Histogram
	batch   prometheus.Histogram
	flight  prometheus.Gauge
	leases  prometheus.Gauge
	held    prometheus.Gauge
	used    prometheus.Counter
	putOff  prometheus.Counter
	crowded prometheus.Counter
}

// newMetrics registers the figures. Without a Registerer nobody would read them: they are a twentieth of what a simulated visit costs.
func newMetrics(r prometheus.Registerer) *metrics {
	if r == nil {
		return nil
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "recrawld", Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "recrawld", Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "recrawld", Name: name, Help: help, Buckets: buckets})
	}
	visits := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "recrawld", Name: "visits_total",
		Help: "Visits that were written, by outcome."}, []string{"outcome"})
	m := &metrics{
		visits: eachOf(visits, models.OutcomeKinds()),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "recrawld", Name: "failures_total",
			Help: "Failed visits, by class."}, []string{"class"}),
		bytes:   counter("received_bytes_total", "Bytes received, of bodies and of the heads of answers."),
		saved:   counter("spared_bytes_total", "Lengths of the copies that an answer 304 spared."),
		fetch:   histogram("fetch_seconds", "Time from request to last byte.", prometheus.ExponentialBuckets(0.005, 2, 15)),
		lost:    counter("leases_lost_total", "Results discarded because their lease was lost."),
		commits: histogram("commit_seconds", "Time to store and commit a batch.", prometheus.ExponentialBuckets(0.001, 2, 15)),
		batch:   histogram("commit_results", "Results in a batch.", prometheus.ExponentialBuckets(1, 2, 10)),
		flight:  gauge("fetches_in_flight", "Visits under way."),
		leases:  gauge("leases_held", "Hosts held."),
		held:    gauge("held_bytes", "Bytes of bodies fetched and not yet stored."),
		used:    counter("budget_used_total", "Requests sent, which the budget of all sites pays for: pages and robots.txt."),
		crowded: counter("hosts_put_off_total", "Turns of hosts put off because others are visited at their address, or because slow hosts have their share of the fetchers."),
		putOff:  counter("put_off_total", "Turns put off because the budget gains more elsewhere or that of the site is spent."),
	}
	eachOf(m.failed, models.ErrorClasses())
	r.MustRegister(visits, m.failed, m.bytes, m.saved, m.fetch, m.lost, m.commits, m.batch, m.flight, m.leases, m.held,
		m.used, m.putOff, m.crowded)
	return m
}

// eachOf are the counters of a closed set, by its numbers from 1 up to the last. All are there from the start: what is counted
// for the first time would else begin at 1, and a rate over it would not see that it grew.
func eachOf[T interface {
	~int16
	String() string
}](counters *prometheus.CounterVec, last T) []prometheus.Counter {
	all := make([]prometheus.Counter, last+1)
	for n := T(1); n <= last; n++ {
		all[n] = counters.WithLabelValues(n.String())
	}
	return all
}

func (m *metrics) visit(out *models.Outcome, before *models.Page) {
	if m == nil {
		return
	}
	m.visits[out.Kind].Inc()
	m.bytes.Add(float64(out.Received()))
	m.used.Add(float64(out.Sent))
	switch {
	case out.Kind == models.Deferred && out.HostWaits:
		m.crowded.Inc()
	case out.Kind == models.Deferred && !out.Until.IsZero():
		m.putOff.Inc()
	}
	if out.Kind == models.NotModified {
		m.saved.Add(float64(before.Bytes))
	}
	if out.Kind == models.Failed {
		m.failed.WithLabelValues(out.Class.String()).Inc()
	}
	if out.Sent > 0 {
		m.fetch.Observe(out.Took.Seconds())
	}
}

// commit records a batch; took is by the daemon's clock and is turned back into real seconds.
func (m *metrics) commit(results int, took time.Duration, clk clock.Clock) {
	if m == nil {
		return
	}
	m.batch.Observe(float64(results))
	m.commits.Observe(took.Seconds() / clk.Real(time.Second).Seconds())
}

// leaseLost counts a result that was discarded.
func (m *metrics) leaseLost() {
	if m != nil {
		m.lost.Inc()
	}
}

// underWay counts visits that begin, or end where they are less than 0.
func (m *metrics) underWay(visits int) {
	if m != nil {
		m.flight.Add(float64(visits))
	}
}

// hosts is how many are held.
func (m *metrics) hosts(n int) {
	if m != nil {
		m.leases.Set(float64(n))
	}
}

// memory is how many bytes of bodies are held.
func (m *metrics) memory(bytes int64) {
	if m != nil {
		m.held.Set(float64(bytes))
	}
}
