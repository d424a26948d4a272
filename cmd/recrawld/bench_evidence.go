package main

import (
	"context"
	"encoding/json"
	"fmt"

	"recrawld/clock"
	"recrawld/internal/pagebench"
	"recrawld/report"
)

// benchEvidenceCmd learns from labelled pages what kinds of difference matter.
type benchEvidenceCmd struct {
	Dirs   []string `arg:"" type:"existingdir" help:"Folders with index.csv and pages.tar.zst."`
	Folds  int      `default:"8" help:"Parts that the services are dealt to, for judging each by what was learned on the others."`
	Alarms float64  `default:"0.02" help:"False alarms that the kinds that count may give in all, as a share of the rows without a change."`
}

// Help is the text below the flags.
func (*benchEvidenceCmd) Help() string {
	return `The table of significances by place and kind of difference (recrawl/content/score.go) was made with this command. It reads
folders as those of bench significance, and prints the kinds in the order of their shares of changes: each with the rows that
show it and none of those above it, and the false alarms and misses of a judge that counts it and those above it. Rows of a page
with the same label weigh 1/√n.`
}

// Run implements the command.
func (c *benchEvidenceCmd) Run(ctx context.Context, g *globals) error {
	var evidence pagebench.Evidence
	for _, dir := range c.Dirs {
		err := pagebench.Run(ctx, dir, pagebench.Options{Threshold: 0.5, Now: clock.System{}.Now,
			Judged: func(j *pagebench.Judged) error { evidence.Add(j); return nil }})
		if err != nil {
			return fmt.Errorf("judge %s: %w", dir, err)
		}
	}
	shares := evidence.Learn()
	alarms, misses := evidence.Cross(max(c.Folds, 2), c.Alarms)
	if g.JSON {
		return json.NewEncoder(g.Stdout).Encode(map[string]any{"kinds": shares, "cross_false_alarm_rate": alarms, "cross_miss_rate": misses})
	}
	lead := fmt.Sprintf("on services left out: %.1f %% false alarms, %.1f %% misses", 100*alarms, 100*misses)
	return report.WriteText(g.Stdout, sharesDocument(shares, lead), terminalStyle(g.Stdout))
}

func sharesDocument(shares []pagebench.Share, lead string) report.Document {
	d := report.Document{Name: "evidence", Title: "evidence", At: clock.System{}.Now(), Lead: []string{lead},
		Columns: []report.Column{{Key: "kind", Head: "kind"}, {Key: "share", Head: "share", Right: true}, {Key: "same", Head: "same", Right: true},
			{Key: "changed", Head: "changed", Right: true}, {Key: "services", Head: "services", Right: true},
			{Key: "false_alarm_rate", Head: "false alarms %", Right: true}, {Key: "miss_rate", Head: "misses %", Right: true}}}
	number := func(n int) report.Cell { return report.Cell{Value: n, Text: fmt.Sprint(n)} }
	percent := func(v float64) report.Cell { return report.Cell{Value: v, Text: fmt.Sprintf("%.1f", 100*v)} }
	for _, s := range shares {
		d.Rows = append(d.Rows, report.Row{report.TextCell(s.Kind), {Value: s.Share, Text: fmt.Sprintf("%.2f", s.Share)}, number(s.Same),
			number(s.Changed), number(s.Services), percent(s.Alarms), percent(s.Misses)})
	}
	return d
}
