package main

import (
	"fmt"
	"math"
	"time"

	"recrawld/report"
	"recrawld/simulate"
)

// simulated is the table of the results.
func simulated(now time.Time, results []simulate.Result) report.Document {
	d := report.Document{Name: "simulate", Title: "Simulated", At: now, Columns: []report.Column{
		{Key: "subject", Head: "pages of", Flex: true}, {Key: "budget", Head: "budget"}, {Key: "policy", Head: "policy"},
		{Key: "freshness", Head: "fresh", Right: true}, {Key: "score", Head: "score", Right: true, Spare: true},
		{Key: "excess", Head: "E", Right: true, Spare: true}, {Key: "captured", Head: "rhythm", Right: true, Spare: true, Drop: 2},
		{Key: "age_seconds", Head: "age", Right: true, Drop: 1},
		{Key: "delay_p50_seconds", Head: "p50", Right: true, Drop: 4}, {Key: "delay_p95_seconds", Head: "p95", Right: true, Drop: 3},
		{Key: "waste", Head: "waste", Right: true, Drop: 5}, {Key: "visits_per_day", Head: "a day", Right: true},
		{Key: "bytes_per_day", Head: "received", Right: true, Spare: true, Drop: 6},
		{Key: "robots_per_day", Head: "robots", Right: true, Spare: true},
		{Key: "lists_per_day", Head: "lists", Right: true, Spare: true},
		{Key: "busiest_week", Head: "busiest", Right: true, Drop: 7}, {Key: "unvisited", Head: "never", Right: true, Drop: 6},
		{Key: "starved", Head: "starved", Right: true, Drop: 8},
		{Key: "budget_per_day"}, {Key: "caught"}, {Key: "visits"}, {Key: "round_robin"}, {Key: "clairvoyant"}, {Key: "known_rate_optimum"},
		{Key: "phase_optimum"}, {Key: "over_budget"}, {Key: "took_seconds"},
	}}
	var before simulate.Yardstick
	for _, r := range results {
		d.Rows = append(d.Rows, resultRow(r, before))
		before = r.Yardstick
	}
	return d
}

// resultRow is a line; what stands in the line above is not repeated for a person.
func resultRow(r simulate.Result, above simulate.Yardstick) report.Row {
	s := r.Score
	subject, budget := report.TextCell(r.Subject.Trace.Name), report.TextCell(r.Spending.String())
	if above.Subject.Trace == r.Subject.Trace {
		subject.Text = ""
		if above.Spending == r.Spending {
			budget.Text = ""
		}
	}
	spent := number(s.PerDay, "%.4g")
	if r.PerDay > 0 && s.OverBudget(r.PerDay, r.Window) {
		spent.Tone = report.Bad
		spent.Text += " over"
	}
	var received, robots, lists report.Cell
	if s.Received > 0 {
		received = plain(s.Received)
		received.Text = report.Bytes(int64(s.Received))
		if r.OverBytes() {
			received.Tone = report.Bad
			received.Text += " over"
		}
	}
	if s.RobotsPerDay > 0 {
		robots = number(s.RobotsPerDay, "%.4g")
	}
	if s.ListsPerDay > 0 {
		lists = number(s.ListsPerDay, "%.4g")
	}
	return report.Row{
		subject, budget, report.TextCell(r.Policy), number(s.Freshness, "%.4f"), signed(r.Worth()), excess(r), number(r.Captured(), "%.2f"),
		lasting(s.Age), lasting(s.Delay50), lasting(s.Delay95), share(s.Waste, "%.0f %%"), spent, received, robots, lists,
		number(s.Busiest, "%.4g"), share(s.Unvisited, "%.1f %%"), share(s.Starved, "%.1f %%"),
		plain(r.PerDay), plain(s.Caught), report.OnlyValue(s.Visits), plain(r.Bounds.RoundRobin), plain(r.Bounds.Clairvoyant),
		plain(r.Best), plain(r.Phase), report.OnlyValue(r.PerDay > 0 && s.OverBudget(r.PerDay, r.Window) || r.OverBytes()), plain(r.Took.Seconds()),
	}
}

// number is a figure for both; nothing where it is none.
func number(x float64, format string) report.Cell {
	c := plain(x)
	if c.Value != nil {
		c.Text = fmt.Sprintf(format, x)
	}
	return c
}

// share is a share in [0, 1], in per cent for a person.
func share(x float64, format string) report.Cell {
	c := number(100*x, format)
	c.Value = plain(x).Value
	return c
}

func plain(x float64) report.Cell {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return report.Cell{}
	}
	return report.OnlyValue(x)
}

// signed is a score: red below that of round robin.
func signed(x float64) report.Cell {
	c := number(x, "%.3f")
	switch {
	case x < -0.005:
		c.Tone = report.Bad
	case x > 0.005:
		c.Tone = report.Good
	}
	return c
}

func excess(r simulate.Result) report.Cell {
	c := number(r.Excess(), "%.2f")
	if r.Excess() > 1.5 {
		c.Tone = report.Warn
	}
	return c
}

func lasting(d time.Duration) report.Cell {
	return report.Cell{Value: d.Seconds(), Text: report.Span(d)}
}
