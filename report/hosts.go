package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/models"
)

// hostsShown bounds the report: hosts in trouble first, then those with most pages.
const hostsShown = 1000

// hostDocument lists hosts, those held back first, then by pages.
func hostDocument(hosts []models.HostSummary, o Options) Document {
	slices.SortFunc(hosts, func(a, b models.HostSummary) int {
		return cmp.Or(cmp.Compare(trouble(b, o.Now), trouble(a, o.Now)), cmp.Compare(b.Pages, a.Pages),
			strings.Compare(a.Name, b.Name))
	})
	d := Document{Name: "hosts", Title: "Hosts", At: o.Now, Columns: []Column{
		{Key: "host", Head: "host", Flex: true},
		{Key: "pages", Head: "pages", Right: true},
		{Key: "delay_seconds", Head: "delay", Right: true},
		{Key: "response_seconds", Head: "answers in", Right: true, Spare: true, Drop: 4},
		{Key: "slowed_seconds", Head: "overloaded", Right: true, Spare: true, Drop: 2},
		{Key: "robots", Head: "robots.txt", Drop: 3},
		{Head: "now"},
		{Key: "state"},
		{Key: "ready_at", Head: "next visit", Right: true, Drop: 1},
		{Key: "failures", Head: "failures", Right: true},
		{Key: "backoff_until"},
	}}
	for _, h := range hosts {
		d.Rows = append(d.Rows, hostRow(h, o.Now))
	}
	if o.Limit > 0 {
		d.More = max(len(d.Rows)-o.Limit, 0)
	}
	return d
}

// trouble orders hosts: 2 in back-off, 1 with failures, 0 well.
func trouble(h models.HostSummary, now time.Time) int {
	switch {
	case h.BackoffUntil.Time().After(now):
		return 2
	case h.Failures > 0:
		return 1
	}
	return 0
}

func hostRow(h models.HostSummary, now time.Time) Row {
	state, tone := HostState(h.Host, now)
	words := state
	if state == "back-off" {
		words = "backs off, " + Span(h.BackoffUntil.Time().Sub(now)) + " left"
	}
	failures := CountCell(int64(h.Failures))
	if h.Failures > 0 {
		failures.Tone = Bad
	}
	return Row{
		TextCell(h.Name), CountCell(int64(h.Pages)), {Value: h.Delay.Seconds(), Text: Span(h.Delay)},
		spanCell(h.Trials.Load.Response), spanCell(h.Trials.Load.Slowed),
		TextCell(robotsWords(h)), {Text: words, Tone: tone}, OnlyValue(state),
		{Value: h.ReadyAt.Time(), Text: nextWords(state, now, h.ReadyAt.Time())}, failures, OnlyValue(h.BackoffUntil.Time()),
	}
}

// nextWords says when the next visit is. A host that is due waits for a turn and not for a time, and the time of one that is
// being visited is that at which others may take it over.
func nextWords(state string, now, ready time.Time) string {
	if state == "due" || state == "visited" {
		return "now"
	}
	return Until(now, ready)
}

// spanCell is a time that may not be known.
func spanCell(d time.Duration) Cell {
	if d == 0 {
		return OnlyValue(0.0)
	}
	return Cell{Value: d.Seconds(), Text: Span(d)}
}

// HostState says in a word what a host does: "back-off", "visited" (leased), "waits", "due", "idle" (no page is due,
// ever).
func HostState(h models.Host, now time.Time) (string, Tone) {
	switch {
	case h.LeaseUntil.Time().After(now):
		return "visited", Good
	case h.BackoffUntil.Time().After(now):
		return "back-off", Bad
	case h.ReadyAt == 0:
		return "idle", Faint
	case h.ReadyAt.Time().After(now):
		return "waits", Neutral
	}
	return "due", Warn
}

func robotsWords(h models.HostSummary) string {
	switch {
	case h.RobotsClass != models.ClassNone:
		return h.RobotsClass.String()
	case h.RobotsStatus == 0:
		return "not asked"
	case h.RobotsStatus >= 400 && h.RobotsStatus < 500:
		return "none"
	case h.RobotsStatus == 200:
		return "read"
	}
	return fmt.Sprint(h.RobotsStatus)
}

// makeHosts reads the hosts in trouble and those with most pages, at most 1,000.
func makeHosts(ctx context.Context, store *models.Store, o Options) (Document, error) {
	hosts, err := store.HostSummaries(ctx, models.At(o.Now), hostsShown)
	if err != nil {
		return Document{}, fmt.Errorf("report hosts: %w", err)
	}
	return hostDocument(hosts, o), nil
}
