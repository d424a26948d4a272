package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Stream writes rows for a person as they come, a line a row. The widths of its columns are given beforehand, since nobody knows what
// comes: a cell that is wider moves what follows it on its line, and no other line. Columns that may be dropped are where little is left
// of the line. Times are written out, since a line does not grow older with what it says.
type Stream struct {
	Style   Style
	Columns []StreamColumn
	headed  bool
}

// streamRest is what shall be left of a line.
const streamRest = 40

// StreamColumn is one of them, by the Key of the documents' columns.
type StreamColumn struct {
	Key   string
	Width int // 0: what is left of the line
}

// streamTime is how the moment of a line is written.
const streamTime = "02 Jan 15:04:05"

// Write writes the rows of a document, and before the first of all the heads of the columns.
func (s *Stream) Write(w io.Writer, d Document) error {
	var b strings.Builder
	if !s.headed {
		s.headed = true
		s.drop(d.Columns)
		s.line(&b, d.Columns, func(i int) Cell { return Cell{Text: d.Columns[i].Head, Tone: Faint} })
	}
	for _, row := range d.Rows {
		s.line(&b, d.Columns, func(i int) Cell { return row[i] })
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// drop leaves out columns until enough is left.
func (s *Stream) drop(columns []Column) {
	byKey := make(map[string]Column, len(columns))
	for _, c := range columns {
		byKey[c.Key] = c
	}
	for s.Style.Width > 0 {
		left, first := s.Style.Width, -1
		for i, c := range s.Columns {
			if c.Width > 0 {
				left -= c.Width + 2
			}
			if drop := byKey[c.Key].Drop; drop > 0 && (first < 0 || drop > byKey[s.Columns[first].Key].Drop) {
				first = i
			}
		}
		if left >= streamRest || first < 0 {
			return
		}
		s.Columns = slices.Delete(slices.Clone(s.Columns), first, first+1)
	}
}

func (s *Stream) line(b *strings.Builder, columns []Column, cell func(i int) Cell) {
	var line strings.Builder
	used := 0
	for _, c := range s.Columns {
		for i := range columns {
			if columns[i].Key == c.Key {
				used += s.cell(&line, columns[i], cell(i), c.Width, s.Style.Width-used)
			}
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// cell writes a cell with what parts it from the next, and returns how wide that is.
func (s *Stream) cell(b *strings.Builder, c Column, cell Cell, width, left int) int {
	cell = s.Style.readableCell(cell)
	what := cell.Text
	if at, ok := cell.Value.(time.Time); ok {
		what = at.UTC().Format(streamTime)
	}
	below := ""
	switch room := max(left, flexAtLast); {
	case width > 0:
	case s.Style.Width == 0 || text.StringWidth(cell.whole()) <= room:
		what += strings.TrimPrefix(cell.whole(), cell.Text)
	default:
		lines := []string{snip(what, room)}
		if cell.To != "" {
			lines = append(broken(what, room), broken(arrow+cell.to(), room)...)
		}
		what = lines[0]
		for _, line := range lines[1:] {
			below += "\n" + strings.Repeat(" ", max(s.Style.Width-left, 0)) + s.Style.Paint(cell.Tone, line)
		}
	}
	pad := strings.Repeat(" ", max(width-text.StringWidth(what), 0))
	painted := s.Style.Paint(cell.Tone, what)
	if c.Right {
		b.WriteString(pad + painted)
	} else {
		b.WriteString(painted + pad + below)
	}
	b.WriteString("  ")
	return text.StringWidth(what) + len(pad) + 2
}
