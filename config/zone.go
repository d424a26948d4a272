package config

import (
	"strings"
	"time"
)

// Zone is the time zone in which the hours of a site, or of all (0), are told, and the setting that it is from: that of its windows where these
// name one and no other, else that of a cycle by cron, else UTC, which is from none.
func (c *Config) Zone(site int32) (zone *time.Location, from string) {
	windows := c.SettingsOf(site).Windows
	if site == 0 {
		for i := range c.Sites {
			windows = append(windows[:len(windows):len(windows)], c.Sites[i].Settings.Windows...)
		}
	}
	zones := make(map[string]*time.Location)
	for _, w := range windows {
		if w.Zone != nil {
			zones[w.Zone.String()] = w.Zone
		}
	}
	if len(zones) == 1 {
		for _, zone := range zones {
			return zone, "windows"
		}
	}
	if zone := cycleZone(c.Cycle); zone != nil {
		return zone, "cycle"
	}
	return time.UTC, ""
}

// cycleZone is the zone that a cron expression begins with; nil: it names none.
func cycleZone(cycle string) *time.Location {
	first, _, _ := strings.Cut(cycle, " ")
	kind, name, named := strings.Cut(first, "=")
	if !named || kind != "TZ" && kind != "CRON_TZ" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil // Validate has refused it
	}
	return zone
}
