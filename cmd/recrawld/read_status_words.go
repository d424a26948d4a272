package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/report"
)

// write draws the screen.
func (s status) write(l *look) error {
	head := facts{style: l.style}
	head.add("time", "%s%s", report.Stamp(s.At), s.rehearsal())
	s.addWorkers(&head, l)
	if len(s.Workers) == 0 {
		head.add("daemon", "%s", l.style.Paint(report.Warn, "none is running on this data"))
	}
	if s.Held != "" {
		head.add("visits", "%s", l.style.Paint(report.Bad, "none")+": "+s.Held)
	}
	if s.Full != "" {
		head.add("visits", "%s", l.style.Paint(report.Bad, s.noVisits())+": "+s.Full+" (worker.min_free)")
	}
	head.add("today", "%s", s.Today.words())
	head.add("plan", "%s", s.planWords()+s.resting()+s.slowed())
	for _, words := range s.budgetWords() {
		head.add("budget", "%s", words)
	}
	s.addSinks(&head)
	s.addLevels(&head)
	s.addUnusual(&head)
	s.addArchive(&head)
	s.addMissing(&head)
	s.addHubs(&head)
	head.add("data", "%s", s.sizes())
	if s.Counted != nil {
		head.add("counted", "%s ago: what is due, put off and planned; the pages, now", report.Span(s.At.Sub(*s.Counted)))
	}
	if err := head.write(l.Stdout); err != nil {
		return err
	}
	fmt.Fprintln(l.Stdout)
	if len(s.Sites) == 0 {
		_, err := fmt.Fprintln(l.Stdout, "No sites yet: recrawld add URL looks at one and adds it.")
		return err
	}
	return report.WriteText(l.Stdout, s.document(l.now), l.style)
}

// mostEnded is of how many workers that do not live any more status tells in a line each.
const mostEnded = 3

// addWorkers adds a line for each worker that lives, and for those others that began last: where workers are named anew at each start there are many.
func (s status) addWorkers(head *facts, l *look) {
	var ended []time.Time // when they began
	for _, w := range s.Workers {
		if !w.Alive {
			ended = append(ended, w.Started)
		}
	}
	slices.SortFunc(ended, time.Time.Compare)
	more := max(len(ended)-mostEnded, 0)
	for _, w := range s.Workers {
		if w.Alive || more == 0 || w.Started.After(ended[more-1]) {
			head.add("daemon", "%s", w.words(l))
		}
	}
	if more > 0 {
		head.add("daemon", "%s", l.style.Paint(report.Faint, report.Count(more)+" more have ended before: recrawld status --json"))
	}
}

func (s status) rehearsal() string {
	switch {
	case s.Speed == 0:
		return ""
	case slices.ContainsFunc(s.Workers, func(w workerStatus) bool { return w.Alive }):
		return fmt.Sprintf(" (a rehearsal: the clock runs %g times as fast)", s.Speed)
	}
	return fmt.Sprintf(" (a rehearsal at %g times the speed, which has ended)", s.Speed)
}

// noVisits says of a disk that is nearly full whom it stops: those who write to it, and not workers of other machines.
func (s status) noVisits() string {
	if s.Store != "sqlite" && slices.ContainsFunc(s.Workers, func(w workerStatus) bool { return w.Alive && !w.Held }) {
		return "none here"
	}
	return "none"
}

func (w workerStatus) words(l *look) string {
	if w.Beat.IsZero() {
		return l.style.Paint(report.Warn, "ended") + fmt.Sprintf(": %s on %s, after %s", w.Name, w.Machine, report.Plural(w.Visits, "visit"))
	}
	if !w.Alive {
		return l.style.Paint(report.Bad, "silent") + fmt.Sprintf(" for %s: %s on %s, pid %d", report.Span(l.real.Sub(w.Beat)), w.Name,
			w.Machine, w.PID)
	}
	words := l.style.Paint(report.Good, "alive") + fmt.Sprintf(", up %s, %s, %s under way", report.Span(l.now.Sub(w.Started)),
		report.Plural(w.Visits, "visit"), report.Count(w.InFlight))
	if w.Held {
		words += ", " + l.style.Paint(report.Bad, "claims nothing") + ": its log and /healthz on " + w.Machine + " say why"
	}
	if w.Lost > 0 {
		words += fmt.Sprintf(", %s lost", report.Count(w.Lost))
	}
	return words + l.style.Paint(report.Faint, fmt.Sprintf(" (%s, pid %d, %s)", w.Name, w.PID, w.Release))
}

func (d statusDay) words() string {
	if d.Visits == 0 {
		return "no visits yet"
	}
	words := []string{report.Plural(d.Visits, "visit"), report.Share(d.NotModified, d.Visits) + " not modified",
		report.Count(d.Changed) + " changed"}
	for _, more := range []struct {
		n    int64
		what string
	}{{d.New, " new"}, {d.Moved, " moved"}, {d.Gone, " not found"}, {d.Failed, " failed"}} {
		if more.n > 0 {
			words = append(words, report.Count(more.n)+more.what)
		}
	}
	return strings.Join(words, ", ") + "; " + report.Bytes(d.Bytes) + " received, " + report.Bytes(d.BytesSaved) + " spared"
}

// planWords says how many visits the intervals make. A page has none before its first visit.
func (s status) planWords() string {
	if s.NoPlan > 0 && s.PerDay == 0 {
		return "none yet: " + report.Plural(s.NoPlan, "page") + " to be visited first"
	}
	words := report.Plural(int64(s.PerDay+0.5), "turn") + " a day at the present intervals"
	if s.NoPlan > 0 {
		words += "; " + report.Plural(s.NoPlan, "page") + " without one yet"
	}
	return words
}

func (s status) resting() string {
	if s.Resting == 0 {
		return ""
	}
	return fmt.Sprintf("; %s in back-off (recrawld report hosts)", report.Plural(s.Resting, "host"))
}

func (s status) sizes() string {
	words := s.Data
	if s.Store == "sqlite" {
		words += ": database " + report.Bytes(s.Bytes.Database) + ","
	} else {
		words += ": database on PostgreSQL,"
	}
	return words + " archive " + report.Bytes(s.Bytes.Archive)
}

// document is the table of sites. States that no page is in have no column.
func (s status) document(now time.Time) report.Document {
	d := report.Document{Name: "status", At: now, Columns: []report.Column{
		{Key: "site", Head: "site", Flex: true}, {Key: "pages", Head: "pages", Right: true},
		{Key: "requisites", Head: "requisites", Right: true, Spare: true, Drop: 1},
	}}
	states := []string{"live", "new", "moved", "missing", "gone", "excluded"}
	for i, state := range states {
		d.Columns = append(d.Columns, report.Column{Key: state, Head: state, Right: true, Spare: true, Drop: 2 + i})
	}
	d.Columns = append(d.Columns, report.Column{Key: "failing", Head: "failing", Right: true},
		report.Column{Key: "due", Head: "due", Right: true},
		report.Column{Key: "put_off", Head: "put off", Right: true, Spare: true, Drop: 1}, report.Column{Key: "visits", Head: "today", Right: true},
		report.Column{Key: "not_modified", Head: "304", Right: true, Drop: 1},
		report.Column{Key: "changes", Head: "changes 24 h", Right: true}, report.Column{Head: "next visit", Right: true})
	for _, site := range s.Sites {
		d.Rows = append(d.Rows, site.row(states, now))
	}
	return d
}

func (s siteStatus) row(states []string, now time.Time) report.Row {
	row := report.Row{report.TextCell(s.Name), report.CountCell(s.Pages), report.CountCell(s.Requisites)}
	for _, state := range states {
		row = append(row, report.CountCell(s.States[state]))
	}
	failing := report.CountCell(s.Failing)
	if s.Failing > 0 {
		failing.Tone = report.Bad
	}
	changes := report.CountCell(s.Changes)
	if s.Changes > 0 {
		changes.Tone = report.Good
	}
	next := report.OnlyText("none")
	switch {
	case s.Paused:
		next = report.Cell{Text: "paused", Tone: report.Warn}
	case s.Next != nil:
		next = report.OnlyText(dueWords(now, *s.Next))
	}
	return append(row, failing, report.CountCell(s.Due), report.CountCell(s.PutOff), report.CountCell(s.Today.Visits),
		report.ShareCell(s.Today.NotModified, s.Today.Visits), changes, next)
}

// dueWords says when a visit is due; what is late is due now.
func dueWords(now, due time.Time) string {
	if !due.After(now) {
		return "now"
	}
	return report.Until(now, due)
}
