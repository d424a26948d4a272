package main

import (
	"context"
	"fmt"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/load"
)

// slowedBy says why a host is asked less often than its site and its robots.txt, which asks for that delay, want it:
// "24 s: 5 × its response time of 4.8 s". It is "" where the host is not slowed.
func slowedBy(h models.Host, s *config.Settings, robots []models.Robots) string {
	rule := scheduler.DelayRule(s, 0)
	for _, row := range robots {
		rule.Base = max(rule.Base, min(row.CrawlDelay, s.DelayMax))
	}
	reason := load.Why(h.Trials.Load, rule, report.Span)
	if reason == "" {
		return ""
	}
	return report.Span(load.Delay(h.Trials.Load, rule)) + " between requests: " + reason
}

// slowed is slowedBy for the host of a site's page.
func (l *look) slowed(ctx context.Context, h models.Host, site int32) (string, error) {
	rows, err := l.store.HostRobots(ctx, h.Bucket, h.ID)
	return slowedBy(h, l.force.config.SettingsOf(site), rows), err
}

// countSlowed counts a host whose answers, and not its settings, set its delay. Whose site it is is not looked up: what
// the defaults make of its response time is held against the delay that it has.
func (s *status) countSlowed(h models.Host, defaults *config.Settings) {
	rule := scheduler.DelayRule(defaults, 0)
	switch known := h.Trials.Load; {
	case known.Slowed > 0 && h.Delay <= known.Slowed:
		s.Overloaded++
	case h.Delay > 0 && rule.Factor*float64(known.Response) >= float64(h.Delay):
		s.Slow++
	}
}

// slowed is the hosts that are asked less often than their settings say.
func (s *status) slowed() string {
	words := ""
	if s.Slow > 0 {
		words += fmt.Sprintf("; %s slowed down for answering slowly", report.Plural(s.Slow, "host"))
	}
	if s.Overloaded > 0 {
		words += fmt.Sprintf("; %s slowed down for 429 or 503", report.Plural(s.Overloaded, "host"))
	}
	return words
}
