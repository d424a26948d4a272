package main

import (
	"fmt"
	"strings"
	"time"

	"recrawld/report"
)

// lines returns what shows the figures where there is no terminal: a line each time.
func (d *demo) lines() func(demoFigures, time.Duration) {
	said := false
	return func(f demoFigures, _ time.Duration) {
		if f.asked == 0 {
			return
		}
		if link := d.looks(); link != "" && !said {
			fmt.Fprintln(d.Stdout, "in a browser: "+link)
			said = true
		}
		var every []string
		for _, s := range f.sections {
			if s.pages > 0 {
				every = append(every, s.label+" "+report.Span(demoMean(s)))
			}
		}
		fmt.Fprintf(d.Stdout, "day %d: %s, %s answered 304, %s found of %s made; a visit every: %s\n", d.day(f.now),
			report.Plural(f.asked, "visit"), report.Share(f.sum.NotModified, f.asked), report.Plural(f.found, "change"),
			report.Count(f.made), strings.Join(every, ", "))
	}
}

// day counts the days of the demo from 1.
func (d *demo) day(now time.Time) int { return int(now.Sub(d.start)/(24*time.Hour)) + 1 }

// demoMean is the mean interval of a section's pages.
func demoMean(s demoSection) time.Duration { return time.Duration(s.mean() * float64(demoCycle)) }
