package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"

	"recrawld/simulate"
)

// chart draws freshness and staleness against budget as SVG, a line a policy, a row of two panels for each subject. The
// left panel shows the share of time that copies are fresh; the right one shows what is missing to 1 on a logarithmic
// scale, where policies that are all nearly fresh are still told apart, and equal distances are equal ratios.
func chart(results []simulate.Result) []byte {
	rows := chartRows(results)
	b := new(bytes.Buffer)
	height := chartTop + len(rows)*rowHeight
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13">`+"\n", chartWidth, height)
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", chartWidth, height)
	policies := chartPolicies(results)
	legend(b, policies)
	for i, row := range rows {
		top := chartTop + i*rowHeight
		fmt.Fprintf(b, `<text x="%d" y="%d" font-size="15" font-weight="600" fill="#1c1c1c">%s</text>`+"\n", panelLeft, top+16, html.EscapeString(row.name))
		row.panel(b, policies, panel{left: panelLeft, top: top + 52, title: "fresh, share of time", y: freshAxis(row.results)})
		row.panel(b, policies, panel{left: panelLeft + panelStep, top: top + 52, title: "stale, share of time (logarithmic)", y: staleAxis(row.results)})
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// The measures of the chart, in its own units.
const (
	chartWidth  = 1080
	chartTop    = 60
	rowHeight   = 400
	panelLeft   = 70
	panelStep   = 530
	panelWidth  = 430
	panelHeight = 270
)

// colors are told apart by people who see few colours, too (Okabe & Ito 2008); marks tell the lines apart in print.
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"}

// marks are drawn at the points, in a square of ten units around 0.
var marks = []string{
	`<circle r="4.5"/>`, `<rect x="-4" y="-4" width="8" height="8"/>`, `<path d="M0-5.5 5 4H-5z"/>`, `<path d="M0-6 5 0 0 6-5 0z"/>`,
	`<path d="M0 5.5 5-4H-5z"/>`, `<path d="M-5-1.6h3.4V-5h3.2v3.4H5v3.2H1.6V5h-3.2V1.6H-5z"/>`, `<path d="M-5-3-3-5 0-2 3-5 5-3 2 0 5 3 3 5 0 2-3 5-5 3-2 0z"/>`,
}

// chartRow is a subject with its results, by budget.
type chartRow struct {
	name    string
	results []simulate.Result
}

func chartRows(results []simulate.Result) []chartRow {
	var rows []chartRow
	for _, r := range results {
		i := slices.IndexFunc(rows, func(row chartRow) bool { return row.name == r.Subject.Trace.Name })
		if i < 0 {
			rows, i = append(rows, chartRow{name: r.Subject.Trace.Name}), len(rows)
		}
		rows[i].results = append(rows[i].results, r)
	}
	for i := range rows {
		slices.SortStableFunc(rows[i].results, func(a, b simulate.Result) int { return cmp.Compare(a.PerDay, b.PerDay) })
	}
	return rows
}

func chartPolicies(results []simulate.Result) []string {
	var policies []string
	for _, r := range results {
		if !slices.Contains(policies, r.Policy) {
			policies = append(policies, r.Policy)
		}
	}
	return policies
}

func legend(b *bytes.Buffer, policies []string) {
	x := panelLeft
	for i, policy := range policies {
		color := colors[i%len(colors)]
		fmt.Fprintf(b, `<g fill="%s"><path d="M%d 30h28" stroke="%s" stroke-width="2.5"/><g transform="translate(%d 30)">%s</g></g>`, color, x, color, x+14, marks[i%len(marks)])
		fmt.Fprintf(b, `<text x="%d" y="34.5" fill="#1c1c1c">%s</text>`+"\n", x+36, html.EscapeString(policy))
		x += 60 + 8*len(policy)
	}
}

// axis maps values to [0, 1] of a panel's length.
type axis struct {
	ticks []float64
	label func(float64) string
	place func(float64) float64
}

// panel is a coordinate system.
type panel struct {
	left, top int
	title     string
	y         axis
}

func (p panel) yAt(v float64) float64 { return float64(p.top) + panelHeight*(1-p.y.place(v)) }

// panel draws one panel of a subject: the values are freshness; the axis knows what to show of them.
func (row chartRow) panel(b *bytes.Buffer, policies []string, p panel) {
	x := budgetAxis(row.results)
	at := func(perDay float64) float64 { return float64(p.left) + panelWidth*x.place(perDay) }
	bottom := p.top + panelHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="#555">%s</text>`+"\n", p.left, p.top-14, p.title)
	for _, v := range p.y.ticks {
		fmt.Fprintf(b, `<path d="M%d %.1fh%d" stroke="#e4e4e4"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%s</text>`+"\n",
			p.left, p.yAt(v), panelWidth, p.left-8, p.yAt(v)+4.5, p.y.label(v))
	}
	fmt.Fprintf(b, `<path d="M%d %dh%d" stroke="#888"/>`+"\n", p.left, bottom, panelWidth)
	for _, v := range x.ticks {
		fmt.Fprintf(b, `<path d="M%.1f %dv5" stroke="#888"/><text x="%.1f" y="%d" text-anchor="middle" fill="#1c1c1c">%s</text>`+"\n", at(v), bottom, at(v), bottom+20, html.EscapeString(row.budget(v)))
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#777" font-size="11.5">%s a day</text>`+"\n", at(v), bottom+36, x.label(v))
	}
	for i, policy := range policies {
		row.line(b, p, at, policy, i)
	}
}

// budget is how the budget of so many visits a day was written.
func (row chartRow) budget(perDay float64) string {
	for _, r := range row.results {
		if r.PerDay == perDay {
			return r.Spending.String()
		}
	}
	return ""
}

// line draws a policy.
func (row chartRow) line(b *bytes.Buffer, p panel, at func(float64) float64, policy string, n int) {
	var path, points bytes.Buffer
	for _, r := range row.results {
		if r.Policy != policy || math.IsNaN(r.Score.Freshness) {
			continue
		}
		step := "L"
		if path.Len() == 0 {
			step = "M"
		}
		x, y := at(chartBudget(r)), p.yAt(r.Score.Freshness)
		fmt.Fprintf(&path, "%s%.1f %.1f", step, x, y)
		fmt.Fprintf(&points, `<g transform="translate(%.1f %.1f)">%s<title>%s at %s: %.4f fresh</title></g>`, x, y, marks[n%len(marks)],
			html.EscapeString(policy), r.Spending, r.Score.Freshness)
	}
	color := colors[n%len(colors)]
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2.2" stroke-linejoin="round"/>`, path.String(), color)
	fmt.Fprintf(b, `<g fill="%s" stroke="#fff" stroke-width="0.8">%s</g>`+"\n", color, points.String())
}

// chartBudget is where a result stands: at its budget, or at what was spent where there was none.
func chartBudget(r simulate.Result) float64 {
	if r.PerDay > 0 {
		return r.PerDay
	}
	return r.Score.PerDay
}

// budgetAxis is logarithmic, with a tick at each budget.
func budgetAxis(results []simulate.Result) axis {
	a := axis{label: func(v float64) string { return shortNumber(v) }}
	low, high := math.Inf(1), 0.0
	for _, r := range results {
		v := chartBudget(r)
		low, high = min(low, v), max(high, v)
		if !slices.Contains(a.ticks, v) && r.PerDay > 0 {
			a.ticks = append(a.ticks, v)
		}
	}
	low, high = low/1.15, high*1.15
	a.place = func(v float64) float64 { return math.Log(v/low) / math.Log(high/low) }
	return a
}

// freshAxis is linear from a round number below the least to 1.
func freshAxis(results []simulate.Result) axis {
	low := 1.0
	for _, r := range results {
		low = min(low, r.Score.Freshness)
	}
	step := 0.001
	for _, s := range []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2} {
		if (1-low)/step > 5.5 {
			step = s
		}
	}
	from := math.Floor(low/step+1e-9) * step
	a := axis{label: func(v float64) string { return fmt.Sprintf("%.4g", v) }}
	for v := 1.0; v > from-step/2; v -= step {
		a.ticks = append(a.ticks, max(v, 0))
	}
	a.place = func(v float64) float64 { return (v - from) / (1 - from) }
	return a
}

// staleAxis is logarithmic in 1 − F, less stale further down.
func staleAxis(results []simulate.Result) axis {
	low, high := math.Inf(1), 0.0
	for _, r := range results {
		stale := max(1-r.Score.Freshness, 1e-9)
		low, high = min(low, stale), max(high, stale)
	}
	low, high = low/1.25, high*1.25
	a := axis{label: func(v float64) string { return fmt.Sprintf("%.3g", 1-v) }}
	steps := []float64{1, 2, 5}
	if high/low < 12 {
		steps = []float64{1, 1.5, 2, 3, 4, 5, 7}
	}
	for decade := math.Floor(math.Log10(low)); decade <= 0; decade++ {
		for _, m := range steps {
			if v := m * math.Pow(10, decade); v >= low && v <= high {
				a.ticks = append(a.ticks, 1-v)
			}
		}
	}
	a.place = func(v float64) float64 { return math.Log(max(1-v, 1e-9)/low) / math.Log(high/low) }
	return a
}

func shortNumber(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}
