package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"recrawld/report"
	"recrawld/web"
)

// sheets are the commands that the daemon's own server runs for a person, with what is in force in the daemon.
type sheets struct {
	Status  statusCmd  `cmd:"" help:"Sites, pages, the daemon, today."`
	Changes changesCmd `cmd:"" help:"What happened to pages, the newest first."`
	Due     dueCmd     `cmd:"" help:"What will be visited, and when."`
	Report  reportCmd  `cmd:""`
	Why     whyCmd     `cmd:"" help:"When a page is visited next and why then, or why it is not."`
	Show    showCmd    `cmd:"" help:"A page and its versions."`
	Diff    diffCmd    `cmd:"" help:"What changed between two versions of a page, the newest and the one before unless versions=3..5 says otherwise."`
}

// commandLine is how a sheet runs its command.
type commandLine struct {
	words []string // that it begins with
	flags []string // that may be asked for
	about []string // parameters that are the command's arguments, the first of which must be there
}

// reportList is the sheet that lists the reports.
const reportList = "report"

// webSheets are all of them, in the order of the menu.
func webSheets(at looker) []web.Sheet {
	list := []web.Sheet{
		at.sheet("status", "status", commandLine{}),
		at.sheet("changes", "changes", commandLine{flags: []string{"since", "site", "kind", "min-significance", "requisites", "limit"}}),
		at.sheet("due", "due", commandLine{flags: []string{"next", "site", "limit"}}),
		{Name: reportList, Menu: "reports", Hint: "What there is to be told of all pages."},
	}
	for _, name := range reportNames() {
		r := report.Reports[name]
		flags := []string{"site", "depth", "limit"}
		if r.OverTime {
			flags = append(flags, "since")
		}
		if len(r.By) > 0 {
			flags = append(flags, "by")
		}
		if r.ByHost {
			flags = append(flags, "host")
		}
		sheet := at.sheet(reportList+"/"+name, strings.ReplaceAll(name, "-", " "), commandLine{words: []string{"report", name}, flags: flags})
		sheet.Of, sheet.Hint = reportList, r.About
		for i := range sheet.Parameters {
			if p := &sheet.Parameters[i]; p.Name == "by" {
				p.Hint = strings.Join(r.By, ", ")
			}
		}
		list = append(list, sheet)
	}
	page := []string{"url"}
	list = append(list, at.siteSheet())
	return append(list, at.sheet("why", "", commandLine{about: page}), at.sheet("show", "", commandLine{about: page, flags: []string{"limit"}}),
		at.sheet("diff", "", commandLine{about: append(page, "versions"), flags: []string{"all", "lines", "raw", "limit"}}))
}

// looker gives a command what it looks at and prints to.
type looker func(out io.Writer) *look

// sheet is that of a command, by default of its own name.
func (at looker) sheet(name, menu string, o commandLine) web.Sheet {
	if o.words == nil {
		o.words = []string{name}
	}
	print := func(ctx context.Context, out io.Writer, asked url.Values) error {
		c, err := o.command(asked)
		if err == nil {
			err = c.read(ctx, at(out))
		}
		return refusal(err)
	}
	return web.Sheet{Name: name, Menu: menu, Hint: hintOf(o.words[0]), Parameters: parametersOf(append(slices.Clone(o.about), o.flags...)), Print: print}
}

// siteLooks are what the sheet of a site has, one below the other.
var siteLooks = [][]string{
	{"report", "cost", "--since=30d"}, {"report", "change-rates", "--by=directory", "--limit=15"}, {"changes", "--limit=15"}, {"due", "--limit=10"}, {"report", "rhythm"},
}

// siteSheet is what there is to know of one site.
func (at looker) siteSheet() web.Sheet {
	print := func(ctx context.Context, out io.Writer, asked url.Values) error {
		if asked.Get("site") == "" {
			return refusal(usagef("site is missing"))
		}
		for i, words := range siteLooks {
			if i > 0 {
				fmt.Fprintln(out)
			}
			c, err := commandLine{words: words, flags: []string{"site"}}.command(asked)
			if err == nil {
				l := at(out)
				l.style.All = "their own sheet lists more"
				err = c.read(ctx, l)
			}
			if err != nil {
				return refusal(err)
			}
		}
		return nil
	}
	return web.Sheet{Name: "site", Hint: "What a site's visits cost, where it changes, what happened, what comes next, and at what hours.", Parameters: parametersOf([]string{"site"}), Print: print}
}

// hints say how the parameters of sheets are written, where the word alone does not.
var hints = map[string]string{"since": "30d", "next": "24h", "site": "name", "host": "name", "kind": "new,gone", "min-significance": "0.5", "limit": "20", "depth": "2",
	"versions": "3..5", "requisites": "true", "all": "true", "lines": "true", "raw": "true"}

func parametersOf(names []string) []web.Parameter {
	of := make([]web.Parameter, len(names))
	for i, name := range names {
		of[i] = web.Parameter{Name: name, Hint: hints[name]}
	}
	return of
}

// hintOf is what is said of a command.
func hintOf(command string) string {
	for _, node := range sheetsParser(new(sheets)).Model.Children {
		if node.Name == command {
			return node.Help
		}
	}
	return ""
}

func sheetsParser(into *sheets) *kong.Kong {
	return kong.Must(into, kong.NoDefaultHelp(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
}

// mostShown is how many rows a sheet has at most.
const mostShown = 2000

// command reads the parameters of a sheet as the command line would be read.
func (o commandLine) command(asked url.Values) (reader, error) {
	words := slices.Clone(o.words)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		for _, value := range asked[name] {
			switch n, err := strconv.Atoi(value); {
			case slices.Contains(o.about, name), value == "" && slices.Contains(o.flags, name):
			case !slices.Contains(o.flags, name):
				return nil, usagef("there is no parameter %q", name)
			case name == "limit" && (err != nil || n < 1 || n > mostShown):
				return nil, usagef("limit is a number from 1 to %d", mostShown)
			default:
				words = append(words, "--"+name+"="+value)
			}
		}
	}
	words = append(words, "--") // what follows is no flag, whatever it looks like
	for i, name := range o.about {
		value := asked.Get(name)
		if value == "" && i == 0 {
			return nil, usagef("%s is missing", name)
		}
		if value != "" {
			words = append(words, value)
		}
	}
	parsed, err := sheetsParser(new(sheets)).Parse(words)
	if err != nil {
		return nil, usagef("%w", err)
	}
	c, ok := parsed.Selected().Target.Interface().(reader)
	if !ok {
		return nil, errors.New("no command that reads")
	}
	return c, nil
}

// sheetWidth is how many characters a line of a sheet has.
const sheetWidth = 150

// look is what a reading command looks at within the daemon, as a terminal.
func (d *daemon) look(out io.Writer) *look {
	force := d.force.Load()
	return &look{globals: &globals{Data: force.config.Data, Stdout: out, Stderr: io.Discard, Log: d.log}, store: d.store, force: force,
		calendar: force.planner.Calendar(), anchor: d.anchor, now: d.clock.Now(), real: d.machine.Now(),
		style: report.Style{Width: sheetWidth, Color: true, Links: true, Sites: true, Whole: true,
			All: fmt.Sprintf("a limit of up to %d above lists as many", mostShown)}}
}
