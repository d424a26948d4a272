package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
	"recrawld/scheduler"
)

// look is what the reading commands have in common: the store, open for reading alone, what is in force, and the moment
// by the daemon's clock.
type look struct {
	*globals
	store    *models.Store
	force    *inForce
	calendar scheduler.Calendar
	anchor   clock.Anchor // of a rehearsal; zero: the machine's clock
	now      time.Time    // by the daemon's clock
	real     time.Time    // by the machine's
	style    report.Style
}

// openLook opens the data that the flags name. The caller closes it.
func (g *globals) openLook(ctx context.Context) (*look, error) {
	c, origins, err := g.commandConfig(ctx)
	if err != nil {
		return nil, err
	}
	store, err := g.openStore(ctx, &c)
	if err != nil {
		return nil, err
	}
	l := &look{globals: g, store: store, style: terminalStyle(g.Stdout)}
	rows, err := store.Sites(ctx)
	if err == nil {
		l.force, err = putTogether(c, origins, rows)
	}
	if err == nil {
		err = count(ctx, store, l.force)
	}
	if err == nil {
		l.calendar = l.force.planner.Calendar()
		l.anchor, _, err = readAnchor(ctx, store)
	}
	if err == nil {
		err = l.readClock(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return l, nil
}

// readClock takes the moment from the clock of the daemon that works, or last worked, on the data.
func (l *look) readClock(ctx context.Context) error {
	machine, err := machineOf(ctx, l.store)
	if err != nil {
		return err
	}
	daemon, err := clockOn(ctx, l.store, machine)
	if err == nil {
		l.now, l.real = daemon.Now(), machine.Now()
	}
	return err
}

func (l *look) close() error { return l.store.Close() }

// reader is a command that reads what is known and prints it.
type reader interface {
	read(ctx context.Context, l *look) error
}

// read runs a reading command on the data that the flags name.
func (g *globals) read(ctx context.Context, c reader) error {
	return g.with(ctx, func(l *look) error { return c.read(ctx, l) })
}

// with opens the data, runs f and closes.
func (g *globals) with(ctx context.Context, f func(*look) error) error {
	l, err := g.openLook(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(l), l.close())
}

// terminalStyle is colours and width for a terminal, neither for a pipe. NO_COLOR and TERM=dumb turn colours off.
func terminalStyle(out io.Writer) report.Style {
	if !isTerminal(out) {
		return report.Style{}
	}
	s := report.Style{Width: 80, Color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	size, err := unix.IoctlGetWinsize(int(out.(*os.File).Fd()), unix.TIOCGWINSZ)
	if err == nil && size.Col > 0 {
		s.Width = int(size.Col)
	}
	return s
}

// print writes a document in the form that was asked for.
func (l *look) print(d report.Document) error {
	if l.JSON {
		return report.WriteJSON(l.Stdout, d)
	}
	return report.WriteText(l.Stdout, d, l.style)
}

// printJSON is report.WriteValue, to where the command prints.
func (l *look) printJSON(v any) error { return report.WriteValue(l.Stdout, v) }

// siteID is the ID of a site by its name or URL; "" is 0, all sites.
func (l *look) siteID(name string) (int32, error) { return siteID(l.force.rows, name) }

func siteID(rows []models.Site, name string) (int32, error) {
	if name == "" {
		return 0, nil
	}
	site, err := findSite(rows, name)
	return site.ID, err
}

// siteNames are the names of the sites by ID.
func (l *look) siteNames() map[int32]string { return siteNames(l.force.rows) }

func siteNames(rows []models.Site) map[int32]string {
	names := make(map[int32]string, len(rows))
	for _, row := range rows {
		names[row.ID] = cmp.Or(row.Name, row.URL)
	}
	return names
}

// siteName is one of them, without a table of all.
func siteName(rows []models.Site, id int32) string {
	i := slices.IndexFunc(rows, func(row models.Site) bool { return row.ID == id })
	if i < 0 {
		return ""
	}
	return cmp.Or(rows[i].Name, rows[i].URL)
}

// page is findPage in the database that is looked at.
func (l *look) page(ctx context.Context, raw string) (models.Page, canon.URL, error) {
	return findPage(ctx, l.store, raw)
}

// findPage finds a page by its URL as a person writes it; one without a scheme is looked for with https and with http. Where
// it is not known the error is models.ErrNotFound, and the URL is the canonical form of what was asked for.
func findPage(ctx context.Context, store *models.Store, raw string) (page models.Page, u canon.URL, err error) {
	spellings := []string{raw}
	if !strings.Contains(raw, "://") {
		spellings = []string{"http://" + raw, "https://" + raw}
	}
	for _, spelling := range spellings {
		if u, err = canon.Parse(spelling); err != nil {
			return page, u, usagef("%w", err)
		}
		page, err = store.Page(ctx, models.BucketOf(u.HostName()), models.PageID(u.String()))
		if !errors.Is(err, models.ErrNotFound) {
			return page, u, err
		}
	}
	return page, u, fmt.Errorf("%w: %s (recrawld why says whether it would be kept)", models.ErrNotFound, u)
}

// facts writes "label  text" lines with the labels aligned; a line without text is left out.
type facts struct {
	rows   [][2]string
	style  report.Style
	indent int // spaces before each line
}

func (p *facts) add(label, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" {
		p.rows = append(p.rows, [2]string{label, text})
	}
}

func (p *facts) write(w io.Writer) error {
	width := 0
	for _, row := range p.rows {
		width = max(width, len(row[0]))
	}
	var b strings.Builder
	margin, indent := strings.Repeat(" ", p.indent), strings.Repeat(" ", width+2)
	for _, row := range p.rows {
		for i, line := range p.style.Wrap(row[1], p.indent+width+2) {
			b.WriteString(margin)
			if i == 0 {
				b.WriteString(p.style.Paint(report.Faint, row[0]) + indent[len(row[0]):])
			} else {
				b.WriteString(indent)
			}
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
