package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
	"recrawld/scheduler/slo"
)

// planSite is a site as the planner's arithmetic sees it, with what explains its bounds.
type planSite struct {
	force    *inForce
	id       int32
	name     string
	settings config.Settings
	site     slo.Site
	pages    int
	unseen   int
	cycle    time.Duration
	crawl    []time.Duration // by host: the Crawl-delay of its robots.txt, 0: none
	top      int             // the ceiling in force, in cycles
	budgets  []planBudget    // in force
	answers  int64           // recorded in the last weeks
}

// planDays is how far back answers are looked at for their size and time.
const planDays = 30

// planSite reads what is known of a site. It passes over all pages once.
func (l *look) planSite(ctx context.Context, id int32) (*planSite, error) {
	s := &planSite{force: l.force, id: id, name: l.siteNames()[id], settings: l.force.config.Site(id).Settings}
	s.bounds(l)
	s.top = l.force.planner.Ceiling(id, l.now)
	took, err := s.readAnswers(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := s.readPages(ctx, l.store, took); err != nil {
		return nil, err
	}
	if s.pages == 0 {
		return nil, notFoundf("site %s has no pages that are visited: there is nothing to plan (recrawld status)", s.name)
	}
	s.readBudgets()
	return s, nil
}

// bounds are those of the intervals, on the long run. A policy that varies them shortens them by half of that on average; adaptive and
// those that are compared with it do not.
func (s *planSite) bounds(l *look) {
	s.cycle = l.calendar.Mean(l.now, 1, 0)
	longest := l.calendar.Mean(l.now, s.settings.FRMax, 0)
	if vary := s.settings.Vary; s.settings.Policy == "classic" || s.settings.Policy == "fixed" {
		s.site.Vary = vary / (1 - vary/2)
		longest = time.Duration(float64(longest) * (1 - vary/2))
		s.site.Shortest = time.Duration(float64(s.cycle) * (1 - vary/2))
	} else {
		s.site.Shortest = s.cycle
	}
	s.site.Longest = max(longest, s.site.Shortest)
	if windows := s.settings.Windows; len(windows) > 0 {
		const slot = 10 * time.Minute
		for i := range int(7 * 24 * time.Hour / slot) {
			s.site.Open = append(s.site.Open, scheduler.Allowed(windows, l.now.Add(time.Duration(i)*slot)))
		}
	}
}

// ceiling is the longest interval in cycles under a budget of so many visits a day for the site.
func (s *planSite) ceiling(perDay float64) int {
	if !(perDay > 0) {
		return s.settings.FRMax
	}
	even := float64(s.pages) / perDay * 24 * float64(time.Hour)
	return scheduler.Ceiling(&s.settings, s.cycle, time.Duration(min(even, float64(century))))
}

// under is the site with another ceiling, which follows a budget that is small.
func (s *planSite) under(ceiling int) slo.Site {
	site := s.site
	if ceiling > s.settings.FRMax {
		site.Longest = max(site.Longest, time.Duration(min(float64(ceiling)*float64(s.cycle), float64(century))))
	}
	return site
}

// century is the longest interval that is reckoned with.
const century = 100 * 365 * 24 * time.Hour

// readAnswers reads how large answers are, and how long they take.
func (s *planSite) readAnswers(ctx context.Context, l *look) (took time.Duration, err error) {
	today := report.DayNumber(l.now)
	days, err := l.store.DailySums(ctx, s.id, today-planDays, today)
	if err != nil {
		return 0, err
	}
	var sum models.Daily
	for _, d := range days {
		sum = sum.Plus(d)
	}
	s.answers = sum.Asked
	if bodies := sum.Same + sum.Changed + sum.First; bodies > 0 {
		s.site.Head = models.UsualHead
		s.site.Body = max(float64(sum.Bytes-models.UsualHead*sum.Asked)/float64(bodies), 1) // heads were not counted by older releases
	}
	if unchanged := sum.Same + sum.NotModified; unchanged > 0 {
		s.site.Spared = float64(sum.NotModified) / float64(unchanged)
	}
	responses, err := l.store.Responses(ctx, s.id, models.At(l.now.Add(-planDays*24*time.Hour)))
	visits, total := int64(0), int64(0)
	for _, r := range responses {
		if r.Kind.Asked() {
			visits += r.Visits
			total += r.Took
		}
	}
	if visits > 0 {
		took = time.Duration(total / visits)
	}
	return took, err
}

// readPages reads the pages that are visited and puts those of one host and one rate together.
func (s *planSite) readPages(ctx context.Context, store *models.Store, took time.Duration) error {
	var seen []slo.Seen
	var hosts []int
	index := make(map[int64]int)
	err := store.EachPage(ctx, func(p *models.Page) error {
		if p.SiteID != s.id || p.DueAt == 0 || p.State > models.StateLive {
			return nil
		}
		if _, known := index[p.HostID]; !known {
			index[p.HostID] = len(s.site.Hosts)
			if err := s.readHost(ctx, store, p.Bucket, p.HostID, took); err != nil {
				return err
			}
		}
		seen, hosts = append(seen, report.SeenOf(p.Stats)), append(hosts, index[p.HostID])
		return nil
	})
	if err != nil {
		return err
	}
	s.classify(seen, hosts)
	return nil
}

// guessedDays is the time between two changes of pages of which nothing is known. For shares of changes seen any would
// do.
const guessedDays = 20

// classify puts pages together.
func (s *planSite) classify(seen []slo.Seen, hosts []int) {
	rates, known := slo.Rates(seen)
	if !known {
		for i := range rates {
			rates[i] = 1.0 / guessedDays
		}
	}
	type key struct {
		host int
		rate float64
	}
	classes := make(map[key]int)
	for i, rate := range rates {
		s.pages++
		if seen[i].Compared == 0 {
			s.unseen++
		}
		k := key{hosts[i], rate}
		at, known := classes[k]
		if !known {
			at = len(s.site.Classes)
			classes[k] = at
			s.site.Classes = append(s.site.Classes, slo.Class{Host: k.host, Rate: rate})
		}
		s.site.Classes[at].Pages++
	}
}

// readHost reads what politeness allows: the delay of the settings or the longer one of robots.txt, and the time that an
// answer takes, divided among the requests that may be in flight.
func (s *planSite) readHost(ctx context.Context, store *models.Store, bucket int16, id int64, took time.Duration) error {
	h, err := store.Host(ctx, bucket, id)
	if err != nil {
		return err
	}
	robots, err := store.HostRobots(ctx, bucket, id)
	if err != nil && !errors.Is(err, models.ErrNotFound) {
		return err
	}
	crawl := time.Duration(0)
	for _, r := range robots {
		crawl = max(crawl, min(r.CrawlDelay, s.settings.DelayMax))
	}
	slot := (max(s.settings.Delay, crawl) + took) / time.Duration(max(s.settings.Concurrency, 1))
	s.site.Hosts = append(s.site.Hosts, slo.Host{Name: h.Name, Slot: slot})
	s.crawl = append(s.crawl, crawl)
	return nil
}

// readBudgets lists the budgets in force: the site's own, and that of all sites.
func (s *planSite) readBudgets() {
	c := &s.force.config
	put := func(b config.Budget, place config.Place, suffix string) {
		if b.IsZero() {
			return
		}
		from := s.force.origins.Of(place).String()
		if b == config.DefaultBudget() && from == "default" {
			from = "default of the policy adaptive"
		}
		s.budgets = append(s.budgets, planBudget{Budget: planBudgetText(b) + suffix, From: from, PerDay: b.Requests.Of(int64(s.pages)), Bytes: b.Bytes, ceiling: s.top})
	}
	put(c.SiteBudget(&s.settings), config.Place{Site: s.name, Key: "budget.requests"}, "")
	suffix := ""
	if len(s.force.rows) > 1 && !c.EffectiveBudget().Requests.PerPage {
		suffix = " for all sites together"
	}
	put(c.EffectiveBudget(), config.Place{Key: "budget.requests"}, suffix)
}

// open is the share of the week in which visits are allowed.
func (s *planSite) open() float64 {
	if len(s.site.Open) == 0 {
		return 1
	}
	n := 0
	for _, open := range s.site.Open {
		if open {
			n++
		}
	}
	return float64(n) / float64(len(s.site.Open))
}

// origin says where a setting of the site is set.
func (s *planSite) origin(key string) string {
	return s.force.origins.Of(config.Place{Site: s.name, Key: key}).String()
}

// delaysAre says where the delay of the first saturated host comes from, and what can be done.
func (s *planSite) delaysAre(most slo.Schedule) string {
	if len(most.Full) > 0 {
		if crawl := s.crawl[most.Full[0]]; crawl > s.settings.Delay {
			return fmt.Sprintf("; its robots.txt asks for a Crawl-delay of %s, of which delay_max (%s) obeys at most %s",
				report.Span(crawl), s.origin("delay_max"), config.FormatDuration(s.settings.DelayMax))
		}
	}
	return fmt.Sprintf("; lower delay, %s (%s), or raise concurrency, %d (%s)", config.FormatDuration(s.settings.Delay),
		s.origin("delay"), s.settings.Concurrency, s.origin("concurrency"))
}

// warnings say how far the numbers can be trusted.
func (s *planSite) warnings() []string {
	var w []string
	switch {
	case s.unseen == s.pages:
		w = append(w, fmt.Sprintf("no page was visited twice yet, so nothing is known of changes: the plan takes each to change every %d days", guessedDays))
	case s.unseen > 0:
		w = append(w, fmt.Sprintf("%s of %s were not visited twice yet and are taken to change as the others do",
			report.Count(s.unseen), report.Plural(s.pages, "page")))
	}
	if s.site.Body == 0 {
		w = append(w, fmt.Sprintf("no answer was recorded in the last %d days, so nothing is known of bytes, and a budget of them is taken to allow everything", planDays))
	}
	return w
}
