package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/policy"
)

// survey is what a look at a site found; its JSON form is the command's.
type survey struct {
	URL      string         `json:"url"`
	LeadsTo  string         `json:"leads_to,omitempty"` // the page of the site that the start URL redirects to, which was looked at in its place
	Scope    []string       `json:"scope"`              // prefixes of the URLs that belong to the site
	Excluded string         `json:"excluded,omitempty"` // why the start URL may not be visited
	Robots   surveyRobots   `json:"robots"`
	Sitemaps surveySitemaps `json:"sitemaps"`
	Links    int            `json:"links"`              // pages that the start page links to, where there is no sitemap
	NoFollow bool           `json:"nofollow,omitempty"` // the start page asks that its links be not followed
	Probes   surveyProbes   `json:"probes"`
	Needs    surveyNeeds    `json:"requisites"`
	Cost     surveyCost     `json:"cost"`
	Requests int            `json:"requests"` // sent for this look

	Overloaded bool `json:"overloaded,omitempty"` // the host says that it has too much to do, which ended the look

	Unmatched []string `json:"selectors_without_match,omitempty"` // of watch and ignore, in none of the pages that were looked at

	pages []string      // to be added beside the start page
	list  string        // the sitemap that robots.txt does not name, to be added as well; "": none
	delay time.Duration // to hold after the last request

	looked int // pages in which selectors were looked for
}

type surveyRobots struct {
	Status     int     `json:"status"`
	Class      string  `json:"class,omitempty"`
	CrawlDelay float64 `json:"crawl_delay_seconds"`
}

type surveySitemaps struct {
	Files     int `json:"files"`
	URLs      int `json:"urls"`
	InScope   int `json:"in_scope"`
	LastMod   int `json:"with_lastmod"`
	Robots    int `json:"excluded_by_robots"`
	Broken    int `json:"broken_files"`
	Elsewhere int `json:"files_on_other_hosts"`
	Unread    int `json:"files_not_read"`
}

type surveyProbes struct {
	Pages        int    `json:"pages"`
	ETag         int    `json:"with_etag"`
	LastModified int    `json:"with_last_modified"`
	Again        string `json:"asked_again,omitempty"` // the outcome of asking once more with the validators

	bytes int64
	took  time.Duration
}

// surveyCost is what keeping the site fresh is expected to cost, before anything is learned.
type surveyCost struct {
	Pages        int     `json:"pages"`
	AtLeast      bool    `json:"at_least,omitempty"` // the pages that are foreseen are those of the start page alone, and their links are followed
	FirstSeconds float64 `json:"first_pass_seconds"`
	EverySeconds float64 `json:"start_interval_seconds"`
	PerDay       float64 `json:"requests_per_day"`
	BytesPerDay  float64 `json:"bytes_per_day"` // at most: what answers 304 costs next to nothing
	Limited      bool    `json:"limited_by_delay"`

	FirstByBudget bool `json:"first_pass_limited_by_budget"`
	ByBudget      bool `json:"limited_by_budget"`

	onAverage      bool   // some pages are visited more often than others from the beginning
	firstBy, dayBy string // the budget that allows no more; "": none is in the way
}

// probe counts a page that was looked at.
func (s *survey) probe(out models.Outcome) {
	if !out.Kind.Observed() {
		return
	}
	s.Probes.Pages++
	if out.ETag != "" {
		s.Probes.ETag++
	}
	if out.LastModified != "" {
		s.Probes.LastModified++
	}
	s.Probes.bytes += out.Received()
	s.Probes.took += out.Took
}

// estimate works out the cost from what was found.
func (v *surveyor) estimate() {
	calendar, err := scheduler.ParseCycle(v.config.Cycle)
	if err != nil {
		return // the configuration was checked when it was read
	}
	s := &v.found
	n, pages := max(1, s.Probes.Pages), 1+len(s.pages)+s.Links
	s.Needs = v.needs.sum(&v.site, v.scope, v.start.HostName(), pages)
	cycles, adaptive := v.site.Settings.FR, v.site.Settings.Policy == policy.AdaptiveName
	if adaptive {
		cycles = 1 // it spends what it is given, as far as pages may be visited
	}
	every := calendar.Mean(clock.System{}.Now(), cycles, 0) // where it counts is the long run
	s.Cost = cost(pages+s.Needs.onHost, every, s.delay, s.Probes.took/time.Duration(n), s.Probes.bytes/int64(n), v.site.Settings.Concurrency)
	s.Cost.AtLeast = s.Links > 0 && s.Sitemaps.URLs == 0 && v.site.Settings.Level > 1           // none is followed of a page that wants that
	s.Cost.BytesPerDay *= float64(pages) / float64(pages+s.Needs.onHost)                        // how large the others are nobody has seen
	s.Cost.PerDay += float64(s.Needs.Kept-s.Needs.onHost) * 24 * 3600 / max(every.Seconds(), 1) // of other hosts, beside those of this one
	s.Cost.within(v.config, &v.site.Settings, pages+s.Needs.Kept, s.Probes.bytes/int64(n))
	s.Cost.onAverage = adaptive || s.Cost.Limited || s.Cost.ByBudget
	s.Cost.EverySeconds = max(s.Cost.EverySeconds, float64(pages+s.Needs.Kept)*24*3600/s.Cost.PerDay)
}

// cost is arithmetic: pages, with what they need, visited every so often by one host's slots, each of which takes delay and took.
func cost(pages int, every, delay, took time.Duration, bytes int64, slots int) surveyCost {
	slot := max(delay+took, time.Millisecond).Seconds() / float64(max(slots, 1))
	c := surveyCost{Pages: pages, FirstSeconds: float64(pages) * slot, EverySeconds: every.Seconds()}
	wanted, most := float64(pages)*24*3600/max(every.Seconds(), 1), 24*3600/slot
	c.PerDay, c.Limited = math.Min(wanted, most), wanted > most
	c.BytesPerDay = c.PerDay * float64(bytes)
	return c
}

// write shows the survey to a person.
func (s *survey) write(w io.Writer) error {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintf(&b, "  %-11s %s\n", name, text) }
	fmt.Fprintln(&b, s.URL)
	if s.LeadsTo != "" {
		line("leads to", s.LeadsTo)
	}
	line("robots", s.robotsText())
	if s.Excluded == "" {
		if s.Overloaded {
			line("cut short", "it says that it has too much to do (429 or 503): nothing more was asked")
		}
		line("sitemap", s.sitemapText())
		line("validators", s.validatorText())
		if needs := s.Needs.text(); needs != "" {
			line("requisites", needs)
		}
		line("first pass", s.firstText())
		line("then", s.costText())
		if len(s.Unmatched) > 0 {
			line("selectors", fmt.Sprintf("%s: none of the %s that were looked at has it", strings.Join(s.Unmatched, "; "), report.Plural(s.looked, "page")))
		}
		line("scope", strings.Join(s.Scope, "**, ")+"**")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *survey) firstText() string {
	took, pages, apart := report.Span(seconds(s.Cost.FirstSeconds)), report.Plural(s.Cost.Pages, "page"), report.Span(s.delay)
	switch by := s.Cost.firstBy; {
	case s.Cost.AtLeast && by != "":
		return fmt.Sprintf("at least %s: %s so far, and %s; what these link to comes on top", took, pages, by)
	case s.Cost.AtLeast:
		return fmt.Sprintf("at least %s: %s so far, %s apart; what these link to comes on top", took, pages, apart)
	case by != "":
		return fmt.Sprintf("at least %s for %s, by %s", took, pages, by)
	}
	return fmt.Sprintf("about %s for %s, %s apart", took, pages, apart)
}

func (s *survey) robotsText() string {
	text := "none: everything is allowed"
	switch {
	case s.Excluded != "":
		text = s.Excluded
	case s.Robots.Class != "":
		text = "cannot be had: " + s.Robots.Class
	case s.Robots.Status == 200:
		text = "ok"
	}
	if s.Robots.CrawlDelay > 0 {
		text += ", crawl-delay " + report.Span(seconds(s.Robots.CrawlDelay))
	}
	return text
}

func (s *survey) sitemapText() string {
	m := s.Sitemaps
	if m.Files == 0 && s.NoFollow {
		return "none found; the start page asks that its links be not followed, so it is all"
	}
	if m.Files == 0 {
		return fmt.Sprintf("none found; %s from the start page to begin with", report.Plural(s.Links, "link"))
	}
	text := fmt.Sprintf("%s URLs in %s, %s of them this site's, lastmod on %s", report.Count(m.URLs),
		report.Plural(m.Files, "file"), report.Count(m.InScope), report.Share(int64(m.LastMod), int64(m.URLs)))
	for _, part := range []struct {
		n           int
		noun, after string
	}{
		{m.Robots, "URL", "excluded by robots.txt"}, {m.Broken, "file", "cannot be read"},
		{m.Elsewhere, "file", "on other hosts not read"}, {m.Unread, "more file", "not read (--sitemaps)"},
	} {
		if part.n > 0 {
			text += "; " + report.Plural(part.n, part.noun) + " " + part.after
		}
	}
	return text
}

func (s *survey) validatorText() string {
	p := s.Probes
	text := fmt.Sprintf("ETag on %d of %s, Last-Modified on %d", p.ETag, report.Plural(p.Pages, "page"), p.LastModified)
	switch p.Again {
	case "":
		return text
	case models.NotModified.String():
		return text + "; asked again: 304, they work"
	}
	return text + "; asked again: " + p.Again + ", they do not spare anything"
}

func (s *survey) costText() string {
	c := s.Cost
	of := ""
	if s.Needs.Kept > 0 {
		of = " of pages"
	}
	requests, bytes := report.Count(int64(math.Ceil(c.PerDay))), report.Bytes(int64(c.BytesPerDay))
	text := fmt.Sprintf("about %s requests and at most %s%s a day", requests, bytes, of)
	if c.AtLeast {
		text = fmt.Sprintf("at least %s requests and %s%s a day", requests, bytes, of)
	}
	if every := report.Span(seconds(c.EverySeconds)); c.onAverage {
		text += fmt.Sprintf(", a page each %s on average", every)
	} else {
		text += fmt.Sprintf(", every page each %s to begin with", every)
	}
	switch {
	case c.dayBy != "":
		text += " (" + c.dayBy + " allows no more)"
	case c.Limited:
		text += " (the delay allows no more)"
	}
	return text
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
