package diff

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"recrawld/report"
)

//go:embed page.gohtml
var pageText string

// page is the HTML form.
var page = template.Must(template.New("diff").Funcs(template.FuncMap{
	"hunks": hunks, "visibly": visibly,
	"bare":   func(l Line, s Span) string { return bareOf(&l)(s.Text) },
	"stamp":  func(t time.Time) string { return report.Stamp(t) },
	"weight": func(f float64) string { return fmt.Sprintf("%.2f", f) },
	"seen":   func(d Difference) bool { return d.Of == Content || d.Of == Beside || d.Of == Source },
	"mark":   func(o Op) string { return [...]string{"", "−", "+", "~"}[o] },
	"from":   func(l Line) string { return number(l.Before) },
	"to":     func(l Line) string { return number(l.After) },
}).Parse(pageText))

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// mostShown bounds the lines of the HTML form, and its facts.
const mostShown = 20_000

// HTML writes a difference as a page of its own: no scripts, nothing from elsewhere, all text escaped.
func HTML(w io.Writer, d Difference) error {
	left := 0
	d.Lines, left = d.Lines[:min(len(d.Lines), mostShown)], max(0, len(d.Lines)-mostShown)
	d.Beside = d.Beside[:min(len(d.Beside), mostShown)]
	if left > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s are not shown", report.Plural(left, "further line")))
	}
	if err := page.Execute(w, d); err != nil {
		return fmt.Errorf("write difference: %w", err)
	}
	return nil
}
