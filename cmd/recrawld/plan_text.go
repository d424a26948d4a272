package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"recrawld/config"
	"recrawld/report"
)

// write shows the answer to a person, a paragraph for each question.
func (a *planAnswer) write(w io.Writer, style report.Style) error {
	paragraphs := []string{a.about()}
	if a.Goal != nil {
		paragraphs = append(paragraphs, a.goalText())
	}
	for i := range a.Budgets {
		paragraphs = append(paragraphs, a.budgetText(&a.Budgets[i]))
	}
	if a.Goal == nil && len(a.Budgets) == 0 {
		paragraphs = append(paragraphs, "No budget is set.")
	}
	for _, warning := range a.Warnings {
		paragraphs = append(paragraphs, "Note: "+warning+".")
	}
	var b strings.Builder
	for i, p := range paragraphs {
		if i > 0 {
			b.WriteString("\n")
		}
		for line := range strings.Lines(p) {
			indent := len(line) - len(strings.TrimLeft(line, " "))
			for j, part := range style.Wrap(strings.TrimSpace(line), indent+2) {
				if j > 0 {
					part = "  " + part
				}
				// Painted after it is wrapped, which takes colours for words.
				if rest, ok := strings.CutPrefix(part, unattainable); ok {
					part = style.Paint(report.Bad, unattainable) + rest
				}
				b.WriteString(strings.Repeat(" ", indent) + part + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unattainable is the word for it.
const unattainable = "Unattainable"

// lowered is text to go on with inside a sentence.
func lowered(text string) string { return strings.ToLower(text[:1]) + text[1:] }

func (a *planAnswer) about() string {
	return fmt.Sprintf("%s: %s on %s, about %s changes a day.\n", a.Site, report.Plural(a.Pages, "page"),
		report.Plural(a.Hosts, "host"), planNumber(a.Changes))
}

func (a *planAnswer) goalText() string {
	g := a.Goal
	what := "see " + g.Level
	if g.goal.Fresh() {
		what = "keep " + planShare(g.Share) + " of the pages fresh"
	} else {
		what = strings.Replace(what, " of changes seen", " of the changes", 1)
	}
	var b strings.Builder
	if !g.Attainable {
		fmt.Fprintf(&b, "%s: to %s. No schedule reaches more than %s, whatever the budget.\n", unattainable, what,
			planShare(g.Best.Share))
		for _, way := range g.Ways {
			fmt.Fprintf(&b, "  by %s\n", way)
		}
		fmt.Fprintf(&b, "The nearest to it takes %s: %s.\n", a.cost(&g.Best), steps(&g.Best))
		return b.String()
	}
	fmt.Fprintf(&b, "To %s takes %s: %s.\n", what, a.cost(&g.Best), steps(&g.Best))
	if g.Best.Share > g.Share+0.001 {
		fmt.Fprintf(&b, "That is what fr_max demands anyway, and it reaches %s.\n", planShare(g.Best.Share))
	}
	if g.Even == nil {
		b.WriteString("Visiting all pages equally often does not reach it.\n")
	} else if every := evenly(g.Even); every != "" {
		fmt.Fprintf(&b, "All pages alike, %s, it takes %s.\n", every, a.cost(g.Even))
	}
	return b.String()
}

func (a *planAnswer) budgetText(b *planBudget) string {
	var out strings.Builder
	name := "A budget of " + b.Budget
	var details []string
	if b.From != "--budget" {
		name, details = "The budget in force, "+b.Budget, []string{b.From}
	}
	if strings.Contains(b.Budget, "/page/day") {
		details = append(details, planCount(b.PerDay)+" visits a day")
	}
	if len(details) > 0 {
		name += " (" + strings.Join(details, ", ") + ")"
	}
	reaches := fmt.Sprintf("keeps at best %s of the pages fresh", planShare(b.Fresh))
	if b.Soonest > 0 {
		reaches = fmt.Sprintf("sees %s of the changes within %s at best, or keeps %s of the pages fresh", planShare(b.Share),
			config.FormatDuration(shownTime(b.Soonest)), planShare(b.Fresh))
	}
	switch {
	case b.Suffices == nil:
		fmt.Fprintf(&out, "%s %s.\n", name, reaches)
		fmt.Fprintf(&out, "The first takes %s: %s.\n", a.cost(&b.Best), steps(&b.Best))
	case *b.Suffices:
		fmt.Fprintf(&out, "%s suffices: it %s.\n", name, reaches)
	case !a.Goal.Attainable:
		fmt.Fprintf(&out, "%s %s.\n", name, reaches)
	default:
		fmt.Fprintf(&out, "%s: within %s, which reaches %s. It %s. Raise it to %s, or ask for less.\n", unattainable,
			lowered(name), planShare(b.Best.Share), reaches, b.raised(&a.Goal.Best))
	}
	if b.Unused >= 1 {
		fmt.Fprintf(&out, "%s visits a day of it cannot be made: the delay between requests, the windows and the cycle leave no room.\n",
			planCount(b.Unused))
	}
	return out.String()
}

// cost is the visits and the bytes of a schedule.
func (a *planAnswer) cost(s *planSchedule) string {
	text := planCount(s.PerDay) + " visits a day"
	if !a.noBytes {
		text = planCount(s.PerDay) + " visits and " + report.Bytes(int64(math.Round(s.Bytes))) + " a day"
	}
	return text
}

// steps lists the intervals of a schedule in at most four bands: the shortest and the longest interval each have one.
func steps(s *planSchedule) string {
	var parts []string
	for _, band := range bands(s.Steps) {
		var pages, rate float64
		for _, step := range band {
			pages += step.Pages
			rate += step.Pages * step.Rate
		}
		every := "every " + planSpan(band[0].Every)
		if last := planSpan(band[len(band)-1].Every); "every "+last != every {
			every += " to " + last
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s changes a day each)", report.Plural(int64(math.Round(pages)), "page"),
			every, planNumber(rate/pages)))
	}
	return strings.Join(parts, ", ")
}

// bands puts intervals together that differ by less than a tenth, and if these are more than four, those between the
// first and the last into two.
func bands(all []planStep) [][]planStep {
	var out [][]planStep
	begin := 0
	for i := range all {
		if i+1 == len(all) || all[i+1].Every > 1.1*all[begin].Every {
			out = append(out, all[begin:i+1])
			begin = i + 1
		}
	}
	if n := len(out); n > 4 {
		first, last := len(out[0]), len(all)-len(out[n-1])
		middle := all[first:last]
		half := len(middle) / 2
		out = [][]planStep{all[:first], middle[:half], middle[half:], all[last:]}
	}
	return out
}

// evenly says how often a schedule visits all pages; "" where hosts differ.
func evenly(s *planSchedule) string {
	if len(s.Steps) != 1 {
		return "as far as their hosts allow"
	}
	return "every " + planSpan(s.Steps[0].Every)
}

func planSpan(s float64) string { return config.FormatDuration(shownTime(s)) }

// shownTime rounds a time to three digits or so, and to what a configuration would say.
func shownTime(s float64) time.Duration {
	d := time.Duration(s * float64(time.Second))
	for _, unit := range []struct{ above, to time.Duration }{
		{10 * 24 * time.Hour, 24 * time.Hour}, {24 * time.Hour, time.Hour}, {6 * time.Hour, 10 * time.Minute},
		{10 * time.Minute, time.Minute},
	} {
		if d >= unit.above {
			return d.Round(unit.to)
		}
	}
	return d.Round(time.Second)
}

// planShare writes a share with as many digits as it takes: "95%", "99.9%".
func planShare(s float64) string {
	return strconv.FormatFloat(math.Floor(s*1000+1e-6)/10, 'f', -1, 64) + "%"
}

// planCount writes a number of visits: whole, with its thousands apart, or with its digits where it is small.
func planCount(n float64) string {
	if n < 10 {
		return planNumber(n)
	}
	return report.Count(int64(math.Ceil(n - 1e-6)))
}

// planNumber writes a number with two digits: "0.43", "3.1", "86", "1,240".
func planNumber(n float64) string {
	if n >= 100 {
		return report.Count(int64(math.Round(n)))
	}
	return strconv.FormatFloat(n, 'g', 2, 64)
}
