package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/internal/origin"
	"recrawld/internal/origin/story"
	"recrawld/models"
	"recrawld/report"
	"recrawld/sink"
)

// summary says what came of the demo, checked against what the site saw, and where to look next.
func (d *demo) summary(ctx context.Context) error {
	f, err := demoRead(ctx, d.store, d.world, d.clock.Now())
	if err != nil {
		return err
	}
	entries := d.log.Entries(0)
	tally := d.world.Count(entries)
	polite := d.world.CheckPoliteness(entries, demoDelay, 25*time.Hour, nil)
	same, compared := d.compareMirror(entries)
	var every []string
	for _, s := range f.sections {
		every = append(every, s.label+" "+report.Span(demoMean(s)))
	}
	fmt.Fprintf(d.Stdout, "\n%s\n\n", d.heading(f.now, clock.System{}.Now()))
	words := facts{style: terminalStyle(d.Stdout), indent: 2}
	for _, row := range [][2]string{
		{"visits", fmt.Sprintf("%s to %s on %s", report.Count(f.asked), report.Plural(len(f.pages), "page"),
			report.Plural(len(d.world.Hosts), "host"))},
		{"answered 304", fmt.Sprintf("%s of all; %s of repeated visits to pages that can be asked conditionally",
			report.Share(int64(tally.NotModified), f.asked), report.Share(int64(tally.NotModified), int64(tally.Repeats)))},
		{"changes", fmt.Sprintf("%s found of %s that the site made (%s)", report.Count(f.found), report.Count(f.made),
			report.Share(f.found, f.made))},
		{"noise", fmt.Sprintf("%s found of %s times that nothing but clocks and counters moved: they shorten no interval; "+
			"%s more taken for a change", report.Count(f.noise), report.Count(f.ticked), report.Count(f.mistaken))},
		{"a visit every", strings.Join(every, ", ")},
		{"politeness", politenessText(polite)},
		{"robots.txt", robotsText(polite)},
		{"mirror", fmt.Sprintf("%d of %d pages equal what the site served at the last visit", same, compared)},
	} {
		words.add(row[0], "%s", row[1])
	}
	if err := words.write(d.Stdout); err != nil {
		return err
	}
	d.next()
	return nil
}

func politenessText(p origin.Politeness) string {
	if len(p.Breaches) > 0 {
		return fmt.Sprintf("%d of %s gaps were shorter than wanted, such as %s", len(p.Breaches), report.Count(p.Gaps), p.Breaches[0])
	}
	return fmt.Sprintf("all %s gaps kept the host's delay, the shortest %s; %s at a time", report.Count(p.Gaps),
		report.Span(p.Shortest), report.Plural(p.MaxInFlight, "request"))
}

func robotsText(p origin.Politeness) string {
	if len(p.Forbidden) > 0 {
		return fmt.Sprintf("%d requests that it forbids, such as %s", len(p.Forbidden), p.Forbidden[0])
	}
	return "nothing was asked that it forbids"
}

// next lists commands to go on with. They name the program as it was started.
func (d *demo) next() {
	program := "recrawld"
	if path, err := os.Executable(); err == nil && strings.Contains(path, "go-build") {
		program = "go run ./cmd/recrawld"
	}
	at := " --data " + d.Data
	if wd, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(wd, d.Data); err == nil && !strings.HasPrefix(relative, "..") {
			at = " --data " + relative
		}
	}
	docs, _ := demoHost(d.world, story.Docs)
	status, _ := demoHost(d.world, story.Status)
	fmt.Fprintf(d.Stdout, "\nThe data stays in %s. Look into it:\n\n", d.Data)
	for _, command := range []string{
		"status", "why " + status.URL("/"), "report change-rates", "changes",
		"diff " + docs.URL("/reference/configuration"), "noise " + story.Status,
	} {
		fmt.Fprintf(d.Stdout, "  %s %s%s\n", program, command, at)
	}
}

// compareMirror holds the mirror's files against what the site served at the last visit of each page, and returns how
// many are the same of how many there should be. Pages whose last answer was no content are left out: their copy is
// the last good one.
func (d *demo) compareMirror(entries []origin.Entry) (same, compared int) {
	last := map[string]origin.Entry{}
	for _, e := range entries {
		if !e.Robots() && e.Status != 0 && !e.Broken {
			last[e.URL()] = e
		}
	}
	for url, e := range last {
		if e.Digest == "" {
			continue
		}
		compared++
		body, err := os.ReadFile(filepath.Join(d.Data, "mirror", filepath.FromSlash(sink.Name(url))))
		if err == nil && models.DigestOf(body).String() == e.Digest {
			same++
		}
	}
	return same, compared
}

// heading says how much of the site's time went by in how much real time, which may be less than was asked for.
func (d *demo) heading(now, real time.Time) string {
	return fmt.Sprintf("%s of a made-up site in %s, from %s to %s:", report.Span(now.Sub(d.start)), report.Span(real.Sub(d.began).Round(time.Second)),
		d.start.Format("2 January 2006"), now.Format("2 January 2006"))
}
