package main

import (
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

func TestPlaceWords(t *testing.T) {
	t.Parallel()
	now := time.Unix(1.8e9, 0)
	after := func(d time.Duration) models.Instant { return models.At(now.Add(d)) }
	quick := models.Trials{Load: models.Load{Response: 100 * time.Millisecond}}
	for name, c := range map[string]struct {
		host models.Host
		want []string // nil: nothing is said
	}{
		"politeness":          {models.Host{Delay: 5 * time.Second, OpenAt: after(5 * time.Second)}, nil},
		"open":                {models.Host{OpenAt: after(-time.Second)}, nil},
		"being visited":       {models.Host{OpenAt: after(time.Minute), LeaseUntil: after(time.Minute)}, nil},
		"rests":               {models.Host{OpenAt: after(time.Minute), BackoffUntil: after(time.Hour)}, nil},
		"never answered":      {models.Host{OpenAt: after(time.Minute)}, []string{"1 min", "worker.slow_share", "network.hosts_per_address"}},
		"fails":               {models.Host{Delay: time.Second, OpenAt: after(time.Minute), Failures: 1, Trials: quick}, []string{"worker.slow_share"}},
		"place at an address": {models.Host{Delay: time.Second, OpenAt: after(time.Minute), Trials: quick}, []string{"network.hosts_per_address"}},
		"longer than a turn":  {models.Host{Delay: time.Second, OpenAt: after(time.Hour), Trials: quick}, []string{"1 h: ", "clock"}},
	} {
		got := placeWords(c.host, 0.5, now)
		if name == "longer than a turn" && strings.Contains(got, "hosts_per_address") {
			t.Errorf("%s: %q, want another reason", name, got)
		}
		if c.want == nil && got != "" {
			t.Errorf("%s: %q, want nothing", name, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", name, got, want)
			}
		}
	}
	if got := placeWords(models.Host{OpenAt: after(time.Minute), Trials: quick}, 0.5, now); strings.Contains(got, "slow_share") {
		t.Errorf("a host that answers soon: %q", got)
	}
}
