package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"recrawld/clock"
	"recrawld/internal/pagebench"
	"recrawld/report"
)

// benchSignificanceCmd measures how often the judge of changes agrees with labels.
type benchSignificanceCmd struct {
	Dir       string  `arg:"" type:"existingdir" help:"A folder with index.csv and pages.tar.zst."`
	Rows      string  `enum:"skipped0,all" default:"skipped0" help:"Which of the labelled rows count: those without bodies left out before them (skipped0), or all."`
	Threshold float64 `default:"0.5" help:"The significance from which on a difference is a change; the default is that of a site."`
	Out       string  `type:"path" placeholder:"FILE.ndjson" help:"Write the rows where judge and label disagree."`
}

// Help is the text below the flags.
func (*benchSignificanceCmd) Help() string {
	return `The folder holds successive bodies of pages: pages.tar.zst, and index.csv with a row for each body in the same order
(site, page, t, file, size, blob, meaningful, skipped, fetcher, url). Each body is judged against the last good one of its page
as the daemon does after a visit: first its text and its links, then the judge, with what was learned of the page and of its
host (site and service, the part of page before the first slash) carried on. Settings are the defaults; there are no rules for a site.

A row counts where meaningful is 1 (a change) or 0 (none), it is not the first of its page and, but for --rows all, skipped is 0.
A false alarm is a 0 that was judged a change, a miss a 1 that was not.

Transient states: a page that has no content, because of a loading screen, an error, a log-in form or a block page, is reported
by the daemon as failing, and keeps its last good version. Where title or frame show that it is still the page that a reader sees
(Own), coming into that state and out of it is news and counts as a change here; where another document was answered (a log-in
form, a redirect, a challenge) it counts as none. The row "judge" counts so; "judge, shells held" counts neither.

ms_p50 and ms_p99 are milliseconds for reading one body and judging it; the daemon reads the version before as well, which
costs the same again. The other rows of the table are simpler ways on the same bodies: other bytes, other visible text, other text
or link targets, other main content.`
}

// Run implements the command.
func (c *benchSignificanceCmd) Run(ctx context.Context, g *globals) (err error) {
	count := pagebench.Count{All: c.Rows == "all"}
	out, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	err = pagebench.Run(ctx, c.Dir, pagebench.Options{Threshold: c.Threshold, Now: clock.System{}.Now,
		Judged: func(j *pagebench.Judged) error {
			count.Add(j)
			if !count.Counts(j) || j.Changed() == (j.Label == "1") {
				return nil
			}
			return out.write(j)
		}})
	if err != nil {
		return fmt.Errorf("judge %s: %w", c.Dir, err)
	}
	figures := count.Figures()
	if g.JSON {
		return json.NewEncoder(g.Stdout).Encode(figures)
	}
	return report.WriteText(g.Stdout, figuresDocument(&figures), terminalStyle(g.Stdout))
}

// figuresDocument is the table for a person.
func figuresDocument(f *pagebench.Figures) report.Document {
	d := report.Document{Name: "significance", Title: "significance", At: clock.System{}.Now(),
		Lead: []string{fmt.Sprintf("%d rows, %d of them changes; %.1f ms a page, 99 %% within %.1f", f.Rows, f.Positives, f.MsP50, f.MsP99)},
		Columns: []report.Column{{Key: "name", Head: ""}, {Key: "false_alarms", Head: "false alarms", Right: true},
			{Key: "false_alarm_rate", Head: "%", Right: true}, {Key: "misses", Head: "misses", Right: true},
			{Key: "miss_rate", Head: "%", Right: true}}}
	percent := func(share float64) report.Cell {
		return report.Cell{Value: share, Text: fmt.Sprintf("%.1f", 100*share)}
	}
	number := func(n int) report.Cell { return report.Cell{Value: n, Text: fmt.Sprint(n)} }
	for _, r := range f.Rungs {
		d.Rows = append(d.Rows, report.Row{report.TextCell(r.Name), number(r.FalseAlarms), percent(r.AlarmRate), number(r.Misses), percent(r.MissRate)})
	}
	return d
}

// disagreements is the file of the rows where judge and label disagree; nil: nobody wants it.
type disagreements struct {
	file *os.File
	to   *bufio.Writer
}

func (c *benchSignificanceCmd) open() (*disagreements, error) {
	if c.Out == "" {
		return nil, nil
	}
	file, err := os.Create(c.Out)
	if err != nil {
		return nil, fmt.Errorf("write disagreements: %w", err)
	}
	return &disagreements{file: file, to: bufio.NewWriter(file)}, nil
}

func (d *disagreements) close() error {
	if d == nil {
		return nil
	}
	return errors.Join(d.to.Flush(), d.file.Close())
}

// disagreement is a line of the file.
type disagreement struct {
	Site         string        `json:"site"`
	Page         string        `json:"page"`
	T            int64         `json:"t"`
	File         string        `json:"file"`
	Label        string        `json:"label"`
	Verdict      string        `json:"verdict"`
	Class        string        `json:"class,omitempty"`
	SameText     bool          `json:"same_text,omitempty"`
	Significance float64       `json:"significance"`
	Reasons      []string      `json:"reasons"`
	Blocks       []shownBlocks `json:"blocks"`
}

// shownBlocks is a block that differs, beside the main content where that has none.
type shownBlocks struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// shownDifferences is how many blocks of a row are written.
const shownDifferences = 10

func (d *disagreements) write(j *pagebench.Judged) error {
	if d == nil {
		return nil
	}
	one := disagreement{Site: j.Site, Page: j.Page, T: j.At.Unix(), File: j.File, Label: j.Label, Verdict: j.Verdict.Kind.String(),
		Class: j.Verdict.Class.String(), SameText: j.SameText, Significance: j.Verdict.Significance,
		Reasons: j.Verdict.Reasons.Words()}
	for _, b := range j.Verdict.Blocks[:min(len(j.Verdict.Blocks), shownDifferences)] {
		one.Blocks = append(one.Blocks, shownBlocks{Before: b.Before, After: b.After, Path: b.Path, Reason: b.Reason.String()})
	}
	encoder := json.NewEncoder(d.to)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(one)
}
