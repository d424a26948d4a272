package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"recrawld/internal/pgtest"
)

// row is a line of the table: a figure of ours, what it shall reach, and whom it is held against.
type row struct {
	name   string
	goal   float64 // pages/s; 0: to be faster than the peer
	aim    float64
	peers  []string
	beside string  // the row of the peers
	share  float64 // of the peer's rate that is the goal
	not    string  // why it was not run, where that is to be said
}

var rows = []row{
	{name: "refresh, 20 hosts, postgres", goal: 15000, aim: 20000, peers: []string{"wget2"}, beside: "refresh, 20 hosts"},
	{name: "refresh, 20 hosts, sqlite", goal: 10000, aim: 15000, peers: []string{"wget2"}, beside: "refresh, 20 hosts"},
	{name: "refresh, 1 host, postgres", peers: []string{"wget2"}, beside: "refresh, 1 host"},
	{name: "refresh, 1 host, sqlite", peers: []string{"wget2"}, beside: "refresh, 1 host"},
	{name: "first crawl, postgres", goal: 5000, peers: []string{"wget2", "colly"}, beside: "first crawl, 20 hosts"},
	{name: "first crawl, sqlite", goal: 5000, peers: []string{"wget2", "colly"}, beside: "first crawl, 20 hosts"},
	{name: "refresh, 50 ms, postgres", goal: 8500},
	{name: "refresh, 50 ms, sqlite", goal: 8500},
	{name: "first crawl, 50 ms, one worker"},
	{name: "first crawl, 50 ms, two workers", share: 1.5, peers: []string{us}, beside: "first crawl, 50 ms, one worker"},
	{name: "refresh, 20 hosts, citus", share: 0.65, peers: []string{us}, beside: "refresh, 20 hosts, postgres",
		not: "not run: RECRAWLD_TEST_CITUS names no cluster"},
}

// load is the machine's load of the last minute, 0 where it cannot be told.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return n
}

// write writes the figures as JSON and the tables into their section of the report.
func (b *bench) write(out, report string) error {
	table := b.table()
	fmt.Fprint(os.Stdout, "\n", table)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(map[string]any{"processors": runtime.NumCPU(), "figures": b.figures, "large": b.grown}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o644); err != nil {
		return err
	}
	if report == "" {
		return nil
	}
	old, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	section, err := replaceSection(old, table)
	if err != nil {
		return fmt.Errorf("%s: %w", report, err)
	}
	return os.WriteFile(report, section, 0o644)
}

const (
	sectionBegin = "<!-- make bench writes from here -->\n"
	sectionEnd   = "<!-- to here -->\n"
)

func replaceSection(text []byte, section string) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(sectionBegin))
	_, after, closed := bytes.Cut(rest, []byte(sectionEnd))
	if !ok || !closed {
		return nil, fmt.Errorf("no section between %q and %q", strings.TrimSpace(sectionBegin), strings.TrimSpace(sectionEnd))
	}
	return slices.Concat(before, []byte(sectionBegin), []byte(section), []byte(sectionEnd), after), nil
}

// table is the Markdown of everything that was measured.
func (b *bench) table() string {
	text := new(strings.Builder)
	loads := make([]float64, 0, len(b.figures))
	for _, f := range b.figures {
		loads = append(loads, f.Load)
	}
	fmt.Fprintf(text, "%d processors, %d rounds of %s, load %s.\n\n", runtime.NumCPU(), b.rounds, b.span, spread(loads, "%.1f"))
	text.WriteString("| what | pages/s | goal | CPU a page, µs: program + database (origin) | RSS, MB | claim p99, ms | beside | ratio |\n")
	text.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		b.line(text, r)
	}
	text.WriteString("\n| beside | pages/s | CPU a page, µs | RSS, MB |\n|---|---|---|---|\n")
	for _, who := range []string{"wget2", "colly"} {
		for _, name := range b.rowsOf(who) {
			found := b.of(name, who)
			fmt.Fprintf(text, "| %s, %s | %s | %s | %s |\n", who, name, spread(field(found, rate), "%.0f"),
				spread(field(found, cpu), "%.0f"), spread(field(found, rss), "%.0f"))
		}
	}
	return text.String() + b.grownTable()
}

func rate(f figure) float64 { return f.Rate }
func cpu(f figure) float64  { return f.CPU }
func rss(f figure) float64  { return f.RSS }

// line writes a row of the table, where it was measured.
func (b *bench) line(text *strings.Builder, r row) {
	found := b.of(r.name, us)
	if len(found) == 0 {
		if r.not != "" && !pgtest.HasCitus() {
			fmt.Fprintf(text, "| %s | %s | | | | | | |\n", r.name, r.not)
		}
		return
	}
	rates := field(found, rate)
	goal := "–"
	if r.goal > 0 {
		goal = fmt.Sprintf("≥ %.0f: %s", r.goal, verdict(median(rates) >= r.goal))
	}
	if r.aim > 0 {
		goal += fmt.Sprintf("; aim %.0f: %s", r.aim, verdict(median(rates) >= r.aim))
	}
	var beside, ratios []string
	for _, who := range r.peers {
		peer := b.of(r.beside, who)
		var quotients []float64
		for i := range min(len(found), len(peer)) { // of the same round
			quotients = append(quotients, found[i].Rate/peer[i].Rate)
		}
		if len(quotients) > 0 {
			beside = append(beside, fmt.Sprintf("%s %.0f", who, median(field(peer, rate))))
			ratios = append(ratios, spread(quotients, "%.2f"))
			if r.share > 0 {
				goal = fmt.Sprintf("≥ %.2f × that beside: %s", r.share, verdict(median(quotients) >= r.share))
			}
		}
	}
	fmt.Fprintf(text, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.name, spread(rates, "%.0f"), goal, costs(found),
		spread(field(found, rss), "%.0f"), spread(field(found, func(f figure) float64 { return f.ClaimP99 }), "%.0f"),
		cmp.Or(strings.Join(beside, "; "), "–"), cmp.Or(strings.Join(ratios, "; "), "–"))
}

// costs is the processor time a page takes. With SQLite that of the database is in the program's.
func costs(found []figure) string {
	text := fmt.Sprintf("%.0f", median(field(found, cpu)))
	if database := median(field(found, func(f figure) float64 { return f.CPUDatabase })); database > 0 {
		text += fmt.Sprintf(" + %.0f", database)
	}
	return text + fmt.Sprintf(" (%.0f)", median(field(found, func(f figure) float64 { return f.CPUOrigin })))
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "not reached"
}

// of is the figures of a program in a row, in the order of the rounds.
func (b *bench) of(name, who string) []figure {
	var found []figure
	for _, f := range b.figures {
		if f.Row == name && f.Who == who {
			found = append(found, f)
		}
	}
	return found
}

// rowsOf lists the rows that a program has figures in.
func (b *bench) rowsOf(who string) []string {
	var names []string
	for _, f := range b.figures {
		if f.Who == who && !slices.Contains(names, f.Row) {
			names = append(names, f.Row)
		}
	}
	slices.Sort(names)
	return names
}

func field(figures []figure, of func(figure) float64) []float64 {
	values := make([]float64, len(figures))
	for i, f := range figures {
		values[i] = of(f)
	}
	return values
}

// median is the middle of some values, 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// spread is the median of some values with the least and the most.
func spread(values []float64, format string) string {
	if !slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
		return "–" // not measured
	}
	if len(values) < 2 {
		return fmt.Sprintf(format, median(values))
	}
	return fmt.Sprintf(format+" ("+format+"–"+format+")", median(values), slices.Min(values), slices.Max(values))
}
