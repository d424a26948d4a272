package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/recrawl/scope"
	"recrawld/report"
)

// configCmd looks into the configuration.
type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Tell what is wrong with a configuration file, with line and what to write instead."`
	Show  configShowCmd  `cmd:"" help:"List every value in force and where it was set."`
	Diff  configDiffCmd  `cmd:"" help:"List what differs between two configuration files, and what that does to the pages that are known."`
	Init  configInitCmd  `cmd:"" help:"Write the example configuration, which says the defaults."`
}

// configCheckCmd reads a file as the daemon would. It answers on standard output, and its exit code is exitUsage where
// the daemon would not start with the file.
type configCheckCmd struct {
	File string `arg:"" optional:"" type:"path" help:"Configuration to check; without it that of --config, or the default."`
}

// Run implements the command.
func (c configCheckCmd) Run(ctx context.Context, g *globals) error {
	given := c.File != "" || g.ConfigPath != ""
	if !given {
		_, _, _ = g.commandConfig(ctx) // what is wrong with the file is told below
	}
	path := cmp.Or(c.File, g.ConfigPath, defaultConfig)
	if c.File == "" && g.ConfigPath == "" { // there is none, or one with mistakes
		if i := slices.IndexFunc(g.defaultConfigs(), exists); i >= 0 {
			path = g.defaultConfigs()[i]
		}
	}
	read, origins, err := config.Read(path)
	if !given && errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no configuration to check, neither %s, and none is needed: the defaults hold (recrawld config init FILE writes the example)",
			strings.Join(g.defaultConfigs(), " nor "))
	}
	if err == nil {
		err = checkUse(path, &read)
	}
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return coded{exitUsage, err}
	}
	var notes []string
	if len(problems) == 0 {
		notes = g.unmatchedSelectors(ctx, read, origins)
	}
	if g.JSON {
		err = writeProblems(g.Stdout, path, problems, notes)
	} else if len(problems) > 0 {
		_, err = fmt.Fprintln(g.Stdout, problems)
	} else {
		_, err = fmt.Fprintf(g.Stdout, "%s is good: %s, cycle %s\n", path, report.Plural(len(read.Sites), "site"), read.Cycle)
		for _, note := range notes {
			fmt.Fprintf(g.Stdout, "note: %s\n", note)
		}
	}
	if err == nil && len(problems) > 0 {
		err = usagef("%s has %s", path, report.Plural(len(problems), "problem"))
	}
	return err
}

// checkUse checks what config cannot see or leaves to its users: the contact, and whether each scope compiles.
func checkUse(path string, c *config.Config) error {
	var problems config.Problems
	if err := c.CheckContact(); err != nil {
		problems = append(problems, config.Problem{File: path, Text: err.Error()})
	}
	for _, site := range c.Sites {
		if _, err := scope.Compile(site); err != nil {
			problems = append(problems, config.Problem{File: path, Text: err.Error()})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

func writeProblems(w io.Writer, path string, problems config.Problems, notes []string) error {
	type problem struct {
		Line int    `json:"line,omitempty"`
		Text string `json:"text"`
	}
	answer := struct {
		File     string    `json:"file"`
		Good     bool      `json:"good"`
		Problems []problem `json:"problems"`
		Notes    []string  `json:"notes,omitempty"`
	}{path, len(problems) == 0, []problem{}, notes}
	for _, p := range problems {
		answer.Problems = append(answer.Problems, problem{p.Line, p.Text})
	}
	return report.WriteValue(w, answer)
}

// configShowCmd lists the values in force. A person sees of each site what was set for it alone, unless one site is
// asked for; JSON has everything.
type configShowCmd struct {
	Site string `placeholder:"NAME" help:"Only this site, with the values that it has from the defaults."`
}

// Run implements the command.
func (c configShowCmd) Run(ctx context.Context, g *globals) error {
	inForce, origins, missing, err := g.withStoredSites(ctx)
	if err != nil {
		return err
	}
	values := inForce.Values(origins)
	if c.Site != "" {
		site, err := siteNamed(&inForce, c.Site)
		if err != nil {
			return err
		}
		values = site.Values(origins)
	}
	d := report.Document{Name: "config", Title: "Configuration in force", At: clock.System{}.Now(), Columns: []report.Column{
		{Key: "site"}, {Key: "key", Head: "key"}, {Key: "value", Head: "value", Flex: true}, {Head: "set by"},
		{Key: "source"}, {Key: "file"}, {Key: "line"},
	}}
	for _, v := range values {
		if own := v.Origin.Site != ""; g.JSON || c.Site != "" || v.Site == "" || own {
			d.Rows = append(d.Rows, valueRow(v, c.Site != ""))
		}
	}
	if missing != nil {
		d.Notes = append(d.Notes, "without some sites of the database: "+missing.Error())
	}
	return g.printDocument(d)
}

func valueRow(v config.Value, oneSite bool) report.Row {
	key := report.TextCell(v.Key)
	if v.Site != "" && !oneSite {
		key.Text = "site " + v.Site + ": " + v.Key
	}
	by := report.OnlyText(v.Origin.String())
	if v.Origin.Source == config.FromDefault {
		by.Tone = report.Faint
	}
	return report.Row{
		report.OnlyValue(v.Site), key, {Value: v.Plain(), Text: v.Value}, by,
		report.OnlyValue(v.Origin.Source.String()), report.OnlyValue(v.Origin.File), report.OnlyValue(v.Origin.Line),
	}
}

// configDiffCmd compares two files, and where there is a database passes over its pages to tell how many of them the other one keeps.
type configDiffCmd struct {
	Old string `arg:"" type:"path" help:"The one file."`
	New string `arg:"" type:"path" help:"The other."`
}

// Run implements the command.
func (c configDiffCmd) Run(ctx context.Context, g *globals) error {
	old, err := g.loadNamed(c.Old)
	if err != nil {
		return err
	}
	changed, err := g.loadNamed(c.New)
	if err != nil {
		return err
	}
	d := report.Document{Name: "config-diff", Title: "From " + c.Old + " to " + c.New, At: clock.System{}.Now(), Columns: []report.Column{
		{Key: "site", Head: "site"}, {Key: "key", Head: "key"}, {Key: "old", Head: "old", Flex: true}, {Key: "new", Head: "new", Flex: true},
	}}
	for _, change := range config.Diff(&old, &changed) {
		d.Rows = append(d.Rows, report.Row{
			report.TextCell(change.Site), report.TextCell(change.Key), report.TextCell(change.Old), report.TextCell(change.New),
		})
	}
	if len(d.Rows) == 0 {
		d.Lead = []string{"They say the same."}
		return g.printDocument(d)
	}
	effect, err := g.effectOf(ctx, &old, &changed)
	switch {
	case err != nil:
		d.Notes = append(d.Notes, "what it does to the pages that are known cannot be told: "+err.Error())
	case effect != nil:
		d.Rows = append(d.Rows, effect.rows(&old, &changed)...)
		d.Notes = append(d.Notes, effect.notes()...)
	}
	return g.printDocument(d)
}

// loadNamed is loadConfig by a file.
func (g *globals) loadNamed(file string) (config.Config, error) {
	with := *g
	with.ConfigPath = file
	c, _, err := with.loadConfig()
	return c, err
}

// configInitCmd writes the example.
type configInitCmd struct {
	File string `arg:"" optional:"" type:"path" help:"File to write, which must not exist; without it the example is printed."`
}

// Run implements the command.
func (c configInitCmd) Run(g *globals) error {
	if c.File == "" {
		if g.JSON {
			return usagef("the example is YAML: without --json, please")
		}
		_, err := io.WriteString(g.Stdout, config.Example)
		return err
	}
	file, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return named(fmt.Errorf("write the example: %w", err))
	}
	_, err = file.WriteString(config.Example)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return g.answer(struct {
		File string `json:"file"`
	}{c.File}, c.File+": the example, which says the defaults")
}

// withStoredSites is the configuration with the sites of the database, where there is one. What keeps some or all of
// those from being read does not keep the rest from being shown: it is the third result.
func (g *globals) withStoredSites(ctx context.Context) (config.Config, config.Origins, error, error) {
	c, origins, err := g.commandConfig(ctx)
	if err != nil {
		return config.Config{}, nil, nil, err
	}
	store, missing := g.openStore(ctx, &c)
	if exitCode(missing) == exitNotFound {
		return c, origins, nil, nil
	}
	if missing != nil {
		return c, origins, missing, nil
	}
	rows, missing := store.Sites(ctx)
	if missing == nil {
		c, origins, missing = c.WithSites(origins, stored(rows))
	}
	return c, origins, missing, store.Close()
}

// siteNamed finds a site by its name or its URL.
func siteNamed(c *config.Config, name string) (*config.Site, error) {
	var names []string
	for i := range c.Sites {
		if c.Sites[i].Name == name || c.Sites[i].URL == name {
			return &c.Sites[i], nil
		}
		names = append(names, c.Sites[i].Name)
	}
	return nil, noSite(name, names)
}

// answer writes what a command did: the value with --json, else the words.
func (g *globals) answer(value any, words string) error {
	if g.JSON {
		return report.WriteValue(g.Stdout, value)
	}
	_, err := fmt.Fprintln(g.Stdout, words)
	return err
}

// printDocument writes a document in the form that was asked for.
func (g *globals) printDocument(d report.Document) error {
	if g.JSON {
		return report.WriteJSON(g.Stdout, d)
	}
	return report.WriteText(g.Stdout, d, terminalStyle(g.Stdout))
}
