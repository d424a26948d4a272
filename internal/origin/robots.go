package origin

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// AddRobots gives the host the robots.txt that its CrawlDelay and Forbidden say, changing when a ban begins. born is
// when the file is first there: early enough for every visit.
func (h *Host) AddRobots(born time.Time) {
	times := []time.Time{born}
	for _, ban := range h.Forbidden {
		if ban.From.After(born) {
			times = append(times, ban.From)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	page := &Page{Path: RobotsPath, Traits: Traits{ContentType: "text/plain; charset=utf-8"}}
	for _, at := range slices.Compact(times) {
		page.Versions = append(page.Versions, Version{At: at, Body: constant(h.robots(at))})
	}
	h.Add(page)
}

func (h *Host) robots(at time.Time) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for _, ban := range h.Forbidden {
		if !at.Before(ban.From) {
			fmt.Fprintf(&b, "Disallow: %s\n", ban.Prefix)
		}
	}
	if h.CrawlDelay > 0 {
		fmt.Fprintf(&b, "Crawl-delay: %g\n", h.CrawlDelay.Seconds())
	}
	return b.String()
}

func constant(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}
