package simulate

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawld/models"
)

// Trace is the true history of a set of pages: what a simulation answers visits from and what a score is computed from.
// It is not changed after it was made and may then be read by many at a time.
type Trace struct {
	Name     string
	From, To models.Instant
	Pages    []Life

	// Delay is the politeness delay of hosts that have one; the others have none.
	Delay map[string]time.Duration
}

// Life is the true history of one page. A page is known, and held fresh, from its birth on.
type Life struct {
	Name    string // as the trace names it
	Host    string
	URL     string
	Born    models.Instant
	Died    models.Instant   // deleted for good; 0: it was not
	Changes []models.Instant // ascending, later than Born: what makes a copy stale
	Noise   []models.Instant // ascending: changes of the bytes that make no copy stale
	Sizes   []int32          // bytes of the body since its birth and since each of Changes; empty: not known
	Whole   bool             // it is sent whole where it has not changed, as by a server that does not answer conditionally
	Weight  float64          // worth of having it fresh; 0: as that of any other, 1
}

// End is when the page stops counting: its death, or the end of the trace.
func (l *Life) End(t *Trace) models.Instant {
	if l.Died != 0 && l.Died < t.To {
		return l.Died
	}
	return t.To
}

// Sized tells whether the sizes of its pages are known.
func (t *Trace) Sized() bool {
	return slices.ContainsFunc(t.Pages, func(l Life) bool { return len(l.Sizes) > 0 })
}

// weight is the page's weight, 1 where it has none.
func (l *Life) weight() float64 {
	if l.Weight == 0 {
		return 1
	}
	return l.Weight
}

// Span is how long the trace is, in days.
func (t *Trace) Span() float64 { return days(t.To - t.From) }

// Changed is how many changes there are.
func (t *Trace) Changed() int {
	n := 0
	for i := range t.Pages {
		n += len(t.Pages[i].Changes)
	}
	return n
}

// LiveDays is how many days all pages live, in all.
func (t *Trace) LiveDays() float64 {
	sum := 0.0
	for i := range t.Pages {
		sum += days(t.Pages[i].End(t) - t.Pages[i].Born)
	}
	return sum
}

// PerChange is the budget, in visits a day, that pays for x visits a true change: x times the changes of a live page in
// a day, for every page of the trace, constant over time.
func (t *Trace) PerChange(x float64) float64 {
	live := t.LiveDays()
	if live <= 0 {
		return 0
	}
	return x * float64(t.Changed()) / live * float64(len(t.Pages))
}

func days(span models.Instant) float64 { return float64(span) / (24 * 3600 * 1000) }

// ReadTrace reads a change trace: a CSV file with a header, which may be compressed with gzip, with the columns page, t
// (Unix seconds), size, blob (equal: the same body), op (add, modify, delete) and, where the trace tells changes of the
// content from changes of the bytes alone, meaningful (1 or 0). With meaningful, only changes of the content make a copy
// stale and the others are Noise; otherwise every change of the bytes does.
//
// The history of a page begins with its first body. A row with the body of the row before is no change. A page that
// comes back after a delete counts as never deleted, and as changed where its body differs. The span is that of all rows.
func ReadTrace(path string, meaningful bool) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		zipped, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("read trace %s: %w", path, err)
		}
		defer zipped.Close()
		r = zipped
	}
	name := traceName(path)
	rows, err := readRows(r, meaningful)
	if err != nil {
		return nil, fmt.Errorf("read trace %s: %w", path, err)
	}
	return assemble(name, rows)
}

// HostPerFolder gives the pages of a trace that was read hosts of their own: one for each first part of their names, which
// their URLs leave out. Names of one part stay together.
func (t *Trace) HostPerFolder() {
	hosts := make(map[string]string)
	for i := range t.Pages {
		l := &t.Pages[i]
		folder, rest, parted := strings.Cut(l.Name, "/")
		if !parted {
			continue
		}
		if hosts[folder] == "" {
			hosts[folder] = fmt.Sprintf("h%d.%s.trace", len(hosts)+1, t.Name)
		}
		l.Host = hosts[folder]
		l.URL = (&url.URL{Scheme: "https", Host: l.Host, Path: "/" + rest}).String()
	}
}

// traceName is the file's name without its directory and endings.
func traceName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return strings.ToLower(name)
}

// traceRow is a row of a trace.
type traceRow struct {
	page    string
	at      models.Instant
	size    int32
	blob    string
	deleted bool
	means   bool
}

func readRows(r io.Reader, meaningful bool) ([]traceRow, error) {
	reader := csv.NewReader(r)
	reader.FieldsPerRecord, reader.LazyQuotes, reader.ReuseRecord = -1, true, true
	head, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	columns, err := traceColumns(head)
	if err != nil {
		return nil, err
	}
	var rows []traceRow
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row, err := columns.row(record, meaningful)
		if err != nil {
			line, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
}

// columnsOf is where the columns stand; −1: there is none.
type columnsOf struct{ page, at, size, blob, op, meaningful int }

func traceColumns(head []string) (columnsOf, error) {
	find := func(names ...string) int {
		return slices.IndexFunc(head, func(h string) bool { return slices.Contains(names, h) })
	}
	c := columnsOf{find("page"), find("t"), find("size"), find("blob", "sha"), find("op"), find("meaningful")}
	if min(c.page, c.at, c.blob, c.op) < 0 {
		return c, fmt.Errorf("the header is %q, want at least page, t, blob, op", strings.Join(head, ","))
	}
	return c, nil
}

func (c columnsOf) row(record []string, meaningful bool) (traceRow, error) {
	if max(c.page, c.at, c.blob, c.op, c.size, c.meaningful) >= len(record) {
		return traceRow{}, fmt.Errorf("%d fields are too few", len(record))
	}
	seconds, err := strconv.ParseInt(record[c.at], 10, 64)
	if err != nil || seconds < -1<<40 || seconds > 1<<40 {
		return traceRow{}, fmt.Errorf("t is %q, want Unix seconds", record[c.at])
	}
	row := traceRow{
		page: strings.Clone(record[c.page]), at: models.Instant(seconds * 1000), blob: strings.Clone(record[c.blob]),
		deleted: strings.HasPrefix(strings.ToLower(record[c.op]), "d"), means: true,
	}
	if c.size >= 0 {
		size, _ := strconv.ParseInt(record[c.size], 10, 32) // it only shows in the figures of bytes
		row.size = int32(max(size, 0))
	}
	if meaningful && c.meaningful >= 0 {
		row.means = record[c.meaningful] != "0"
	}
	return row, nil
}

// assemble makes the histories of the rows.
func assemble(name string, rows []traceRow) (*Trace, error) {
	if len(rows) == 0 {
		return nil, errors.New("trace " + name + " has no rows")
	}
	t := &Trace{Name: name, From: rows[0].at, To: rows[0].at}
	for i := range rows {
		t.From, t.To = min(t.From, rows[i].at), max(t.To, rows[i].at)
	}
	slices.SortStableFunc(rows, func(a, b traceRow) int {
		return cmp.Or(strings.Compare(a.page, b.page), cmp.Compare(a.at, b.at))
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].page == rows[0].page {
			n++
		}
		if l, ok := lifeOf(rows[:n]); ok && !(l.Died != 0 && l.Died <= t.From) {
			l.Host = name + ".trace"
			l.URL = (&url.URL{Scheme: "https", Host: l.Host, Path: "/" + l.Name}).String()
			t.Pages = append(t.Pages, l)
		}
		rows = rows[n:]
	}
	return t, nil
}

// lifeOf is the history of one page; not where its rows show no body.
func lifeOf(rows []traceRow) (Life, bool) {
	l := Life{Name: rows[0].page}
	last, born := "", false
	for _, row := range rows {
		if row.deleted {
			l.Died = row.at
			continue
		}
		l.Died = 0
		if row.blob == last {
			continue
		}
		last = row.blob
		switch {
		case !born:
			l.Born, born = row.at, true
			l.Sizes = append(l.Sizes, row.size)
		case row.means:
			l.Changes = append(l.Changes, row.at)
			l.Sizes = append(l.Sizes, row.size)
		default:
			l.Noise = append(l.Noise, row.at)
		}
	}
	return l, born
}
