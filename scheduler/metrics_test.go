package scheduler

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/models"
)

// Only a 304 spares the bytes of the copy.
func TestSparedBytes(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := newMetrics(registry)
	page := livePage()
	for kind := models.NotModified; kind <= models.Probed; kind++ {
		m.visit(&models.Outcome{Kind: kind, WireBytes: 7}, &page)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			got[f.GetName()] += metric.GetCounter().GetValue()
		}
	}
	if got["recrawld_spared_bytes_total"] != float64(page.Bytes) || got["recrawld_received_bytes_total"] != 7*16 ||
		got["recrawld_visits_total"] != 16 {
		t.Errorf("figures = %v, want %d bytes spared, 112 received, 16 visits", got, page.Bytes)
	}
}

// A counter that is not there before it first counts hides its first event from a rate.
func TestAllKindsAreCountedFromTheStart(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	newMetrics(registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	for _, f := range families {
		got[f.GetName()] = len(f.GetMetric())
	}
	for name, want := range map[string]int{"recrawld_visits_total": 16, "recrawld_failures_total": 37} {
		if got[name] != want {
			t.Errorf("%s has %d series before the first visit, want %d", name, got[name], want)
		}
	}
}
