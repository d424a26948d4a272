package resolve

import "github.com/prometheus/client_golang/prometheus"

// metrics are the figures of a cache.
type metrics struct {
	cached, found, denied, failed, stale prometheus.Counter
	took                                 prometheus.Histogram
}

// newMetrics registers the figures; a nil Registerer keeps them to ourselves.
func newMetrics(r prometheus.Registerer, names func() float64) *metrics {
	lookups := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "recrawld", Name: "dns_lookups_total",
		Help: "Look-ups of names: cached were answered from memory, stale by old addresses because the resolver failed or " +
			"was too slow; the others were asked for."}, []string{"result"})
	m := &metrics{
		cached: lookups.WithLabelValues("cached"), found: lookups.WithLabelValues("found"), denied: lookups.WithLabelValues("not-found"),
		failed: lookups.WithLabelValues("failed"), stale: lookups.WithLabelValues("stale"),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "recrawld", Name: "dns_seconds",
			Help: "Time to look a name up, both families, with all retries.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 14)}),
	}
	if r != nil {
		r.MustRegister(lookups, m.took, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "recrawld", Name: "dns_names",
			Help: "Names whose addresses, or lack of them, are remembered."}, names))
	}
	return m
}
