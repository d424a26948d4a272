package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Style says what a text is written for. The zero Style is a pipe: no colours, lines as long as they are.
type Style struct {
	Width int  // columns of the terminal; 0: no bound
	Color bool // ANSI colours
	Links bool // addresses of pages are hyperlinks (OSC 8)
	Sites bool // so are names of sites, to SiteScheme and the name: for a reader that knows what that is

	Whole bool   // addresses of pages that do not fit into their column go on below, instead of losing their middle
	All   string // how to have all rows, for a person; "": by --limit 0
}

// AllRows says how to have all rows of a list that is cut off.
func (s Style) AllRows() string { return cmp.Or(s.All, "--limit 0 lists all") }

// Paint gives s the colour of a tone, or leaves it as it is without colours.
func (s Style) Paint(tone Tone, what string) string {
	codes := [...]string{Good: "\x1b[32m", Bad: "\x1b[31m", Warn: "\x1b[33m", Faint: "\x1b[2m"}
	if !s.Color || tone == Neutral || what == "" {
		return what
	}
	return codes[tone] + what + reset
}

// Link makes what is shown of a page's address a hyperlink, where those are wanted.
func (s Style) Link(address, what string) string {
	if !s.Links || address == "" || what == "" {
		return what
	}
	return "\x1b]8;;" + address + "\x1b\\" + what + "\x1b]8;;\x1b\\"
}

// SiteScheme begins what the names of sites are hyperlinks to.
const SiteScheme = "site:"

// Bold makes s stand out, where there are colours.
func (s Style) Bold(what string) string {
	if !s.Color || what == "" {
		return what
	}
	return "\x1b[1m" + what + reset
}

// WriteText writes the document for a person: title, lead, an aligned table, notes. With a Width, columns that may
// shrink do, and then those that may be dropped are, until the lines fit.
func WriteText(w io.Writer, d Document, s Style) error {
	var b strings.Builder
	if d.Title != "" {
		fmt.Fprintf(&b, "%s %s\n", s.Bold(d.Title), s.Paint(Faint, "· "+Stamp(d.At)))
	}
	for _, lead := range d.Lead {
		for _, line := range (Style{Width: min(s.Width, mostProse)}).Wrap(lead, 0) {
			b.WriteString(line + "\n")
		}
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	writeTable(&b, d, s)
	if len(d.Notes) > 0 || d.More > 0 {
		b.WriteString("\n")
	}
	if d.More > 0 {
		b.WriteString(s.Paint(Faint, fmt.Sprintf("… and %s more (%s)", Count(d.More), s.AllRows())) + "\n")
	}
	for _, note := range d.Notes {
		for _, line := range (Style{Width: proseWidth(s.Width)}).Wrap(note, 0) {
			b.WriteString(s.Paint(Faint, line) + "\n")
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// mostProse is how many characters a line of sentences has at most, however wide the terminal is: longer ones are hard to read.
const mostProse = 110

func proseWidth(width int) int {
	if width == 0 {
		return 100
	}
	return min(width, mostProse)
}

// writeTable writes the columns that fit.
func writeTable(b *strings.Builder, d Document, s Style) {
	if len(d.Rows) == 0 {
		b.WriteString(s.Paint(Faint, "nothing to show") + "\n")
		return
	}
	shown := s.readable(d.Rows[:len(d.Rows)-min(d.More, len(d.Rows))])
	columns := fit(d, shown, s.Width)
	t := table.NewWriter()
	t.SetStyle(bare)
	var configs []table.ColumnConfig
	head := make(table.Row, len(columns))
	for i, c := range columns {
		head[i] = s.Paint(Faint, snip(c.Head, c.width))
		align := text.AlignLeft
		if c.Right {
			align = text.AlignRight
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align, AlignFooter: align})
	}
	t.SetColumnConfigs(configs)
	t.AppendRow(head)
	for _, row := range shown {
		t.AppendRow(cells(row, columns, s))
	}
	if d.Total != nil {
		t.AppendRow(totals(d.Total, columns, s))
	}
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// readable is rows with their addresses as they are shown.
func (s Style) readable(rows []Row) []Row {
	out := make([]Row, len(rows))
	for i, row := range rows {
		out[i] = row
		for j, cell := range row {
			if shown := s.readableCell(cell); shown.Text != cell.Text || shown.shownTo != "" {
				out[i] = slices.Clone(out[i])
				out[i][j] = shown
			}
		}
	}
	return out
}

func (s Style) readableCell(c Cell) Cell {
	if address, ok := c.Value.(string); ok && strings.Contains(address, "://") && c.Text == address {
		c.Text = s.Address(address)
	}
	c.shownTo = s.Address(c.To)
	return c
}

func cells(row Row, columns []fitted, s Style) table.Row {
	out := make(table.Row, len(columns))
	for i, c := range columns {
		out[i] = strings.Join(s.lines(row[c.index], c), "\n")
	}
	return out
}

// lines are those of a cell in a column: one, unless it leads somewhere and there is no room beside it, or is an address that is shown whole.
func (s Style) lines(cell Cell, c fitted) []string {
	address, ok := cell.Value.(string)
	switch {
	case ok && c.Key == "site" && s.Sites:
		return []string{s.Link(SiteScheme+url.PathEscape(address), s.Paint(cell.Tone, snip(cell.Text, c.width)))}
	case !ok || c.Key != "url":
		return []string{s.Paint(cell.Tone, snip(cell.Text, c.width))}
	}
	if cell.To == "" || text.StringWidth(cell.whole()) <= c.width {
		return s.pieces(cell, cell.whole(), address, c.width)
	}
	return append(s.pieces(cell, cell.Text, address, c.width), s.pieces(cell, arrow+cell.to(), cell.To, c.width)...)
}

// pieces are the lines of an address, of at most so many columns. One that leads somewhere is whole: of two that differ in their middle alone
// nobody would see where the page went.
func (s Style) pieces(cell Cell, what, address string, width int) (lines []string) {
	if !s.Whole && cell.To == "" {
		what = snip(what, width)
	}
	for _, piece := range broken(what, width) {
		lines = append(lines, s.Link(address, s.Paint(cell.Tone, piece)))
	}
	return lines
}

// broken is a text in lines of at most so many columns.
func broken(what string, width int) (lines []string) {
	for text.StringWidth(what) > width {
		piece := text.Trim(what, max(width, 2))
		lines, what = append(lines, piece), what[len(piece):]
	}
	return append(lines, what)
}

const arrow = "→ "

// whole is the cell in one line.
func (c Cell) whole() string {
	if c.To == "" {
		return c.Text
	}
	return c.Text + " " + arrow + c.to()
}

// to is how To is shown.
func (c Cell) to() string { return cmp.Or(c.shownTo, c.To) }

// totals are the cells of the last line, which stands out as a whole.
func totals(row Row, columns []fitted, s Style) table.Row {
	out := make(table.Row, len(columns))
	for i, c := range columns {
		out[i] = s.Bold(snip(row[c.index].Text, c.width))
	}
	return out
}

// bare is a table without lines: two spaces between columns.
var bare = table.Style{Name: "bare", Box: table.BoxStyle{PaddingRight: "  "}}

// fitted is a column of the table with the width it got.
type fitted struct {
	Column
	index, width int
}

// The widths that a flexible column keeps before others are dropped for it, and at last.
const (
	flexBefore = 30
	flexAtLast = 16
)

// fit chooses columns and widths so that a line has at most so many characters: flexible columns shrink a little, then
// droppable ones go, then flexible ones shrink more.
func fit(d Document, rows []Row, width int) []fitted {
	columns := natural(d, rows)
	if width <= 0 {
		return columns
	}
	shrink(columns, width, flexBefore)
	for total(columns) > width {
		drop := -1
		for i, c := range columns {
			if c.Drop > 0 && (drop < 0 || c.Drop > columns[drop].Drop) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		columns = append(columns[:drop], columns[drop+1:]...)
	}
	shrink(columns, width, flexAtLast)
	return columns
}

// natural is every column a person sees, as wide as its widest cell.
func natural(d Document, rows []Row) []fitted {
	var columns []fitted
	for i, c := range d.Columns {
		if !c.forPeople() || c.Spare && idle(rows, i) {
			continue
		}
		f := fitted{Column: c, index: i, width: text.StringWidth(c.Head)}
		for _, row := range rows {
			f.width = max(f.width, text.StringWidth(row[i].whole()))
		}
		if d.Total != nil {
			f.width = max(f.width, text.StringWidth(d.Total[i].Text))
		}
		columns = append(columns, f)
	}
	return columns
}

// idle tells whether no cell of a column says anything.
func idle(rows []Row, column int) bool {
	for _, row := range rows {
		if text := row[column].Text; text != "" && text != "0" && text != "0 B" {
			return false
		}
	}
	return true
}

// shrink takes what is too much from the flexible columns, the widest first, down to least.
func shrink(columns []fitted, width, least int) {
	for over := total(columns) - width; over > 0; over = total(columns) - width {
		widest := -1
		for i, c := range columns {
			if c.Flex && c.width > least && (widest < 0 || c.width > columns[widest].width) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		columns[widest].width = max(least, columns[widest].width-over)
	}
}

func total(columns []fitted) int {
	sum := -2
	for _, c := range columns {
		sum += c.width + 2
	}
	return sum
}

// snip shortens s to so many columns, of which some letters take two; the middle goes, since addresses differ at both ends.
func snip(s string, width int) string {
	if text.StringWidth(s) <= width {
		return s
	}
	if width < 3 {
		return text.Trim(s, width)
	}
	head := text.Trim(s, (width-1)/2)
	left := width - 1 - text.StringWidth(head)
	tail := len(s)
	for tail > len(head) {
		r, size := utf8.DecodeLastRuneInString(s[:tail])
		if left -= text.RuneWidth(r); left < 0 {
			break
		}
		tail -= size
	}
	return head + "…" + s[tail:]
}
