package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/recrawl/canon"
	"recrawld/report"
)

// reportCmd makes a report.
type reportCmd struct {
	Name   string `arg:"" help:"The report; listed below."`
	By     string `placeholder:"WHAT" help:"How to group: change-rates by site, directory or type; cost by site, day or directory; daily by day or site."`
	Site   string `placeholder:"NAME" help:"Only this site."`
	Host   string `placeholder:"NAME" help:"Only this host, for politeness; a port that is not the scheme's own belongs to it."`
	Since  span   `placeholder:"TIME" help:"How far to look back, for reports over time: 24h, 30d. Others refuse it."`
	Depth  int    `default:"2" help:"Path segments of a directory."`
	Limit  int    `default:"40" help:"Lines shown; 0 for all. CSV and JSON have all."`
	Format string `enum:"text,csv,json" default:"text" help:"text, csv or json."`
}

// Help lists the reports below the flags.
func (reportCmd) Help() string {
	b := new(strings.Builder)
	b.WriteString("Reports:\n\n")
	for _, name := range reportNames() {
		fmt.Fprintf(b, "  %-14s %s\n", name, report.Reports[name].About)
	}
	return b.String()
}

// words implements speller.
func (reportCmd) words(name string) []string {
	if name == "name" {
		return reportNames()
	}
	return nil
}

func reportNames() []string { return slices.Sorted(maps.Keys(report.Reports)) }

// Run implements the command.
func (c reportCmd) Run(ctx context.Context, g *globals) error { return g.read(ctx, c) }

func (c reportCmd) read(ctx context.Context, l *look) error {
	r, ok := report.Reports[c.Name]
	if !ok {
		return usagef("no report %q: there is %s", c.Name, strings.Join(reportNames(), ", "))
	}
	if c.By != "" && !slices.Contains(r.By, c.By) {
		if len(r.By) == 0 {
			return usagef("report %s has no --by", c.Name)
		}
		return usagef("report %s --by %s: there is %s", c.Name, c.By, strings.Join(r.By, ", "))
	}
	if c.Host != "" && !r.ByHost {
		return usagef("report %s has no --host", c.Name)
	}
	if c.Since > 0 && !r.Over(c.By) {
		return usagef("%s", c.timeless(&r))
	}
	site, err := l.siteID(c.Site)
	if err != nil {
		return err
	}
	d, err := r.Make(ctx, l.store, c.options(l, &r, site))
	if err != nil {
		return err
	}
	if c.Format == "csv" {
		return report.WriteCSV(l.Stdout, d)
	}
	l.JSON = l.JSON || c.Format == "json"
	return l.print(d)
}

// timeless says that the report has no --since, and what has one.
func (c reportCmd) timeless(r *report.Report) string {
	if r.OverTime {
		by := slices.DeleteFunc(slices.Clone(r.By), func(by string) bool { return !r.Over(by) })
		return fmt.Sprintf("report %s --by %s has no --since: it tells of all that is known by now; over time there is --by %s", c.Name, c.By, strings.Join(by, ", "))
	}
	names := slices.DeleteFunc(reportNames(), func(name string) bool { return !report.Reports[name].OverTime })
	return fmt.Sprintf("report %s has no --since: it tells of all that is known by now; over time there is report %s", c.Name, strings.Join(names, ", "))
}

func (c reportCmd) options(l *look, r *report.Report, site int32) report.Options {
	o := report.Options{Now: l.now, Site: site, By: c.By, Depth: c.Depth, Limit: c.Limit, Sites: l.siteNames(),
		Promises: l.force.promises(l.now),
		FRMax:    func(site int32) int32 { return int32(l.force.planner.Ceiling(site, l.now)) }}
	o.Start = l.starts
	o.Zone, o.ZoneOf = l.force.config.Zone(site)
	if agent := l.force.config.Agent; r.ByHost {
		o.Host, o.Agent, o.Contact = hostNamed(c.Host), agent.Name, agent.Contact
	}
	if c.Since > 0 {
		o.Since = l.now.Add(-time.Duration(c.Since))
	}
	return o
}

// starts is the interval that pages of a site start with, on the long run; 0 where it is not configured any more.
func (l *look) starts(site int32) time.Duration {
	if !slices.ContainsFunc(l.force.config.Sites, func(s config.Site) bool { return s.ID == site }) {
		return 0
	}
	settings := l.force.config.SettingsOf(site)
	return l.calendar.Mean(l.now, settings.FR, settings.Vary)
}

// hostNamed is the name that a host has, of what a person writes: an address of it or its name.
func hostNamed(written string) string {
	for _, address := range []string{written, "https://" + written} {
		if u, err := canon.Parse(address); err == nil {
			return u.HostName()
		}
	}
	return written
}
