package report

import "time"

// Document is a report that has been made: one table with what is said around it. Renderers read it and change nothing.
type Document struct {
	Name    string    // of the report, as in Reports
	Title   string    // for a person
	At      time.Time // the `now` it was made for
	Lead    []string  // lines above the table, for a person
	Columns []Column
	Rows    []Row
	Total   Row      // last line for a person; nil: none; not in CSV and JSON
	Notes   []string // lines below the table, for a person
	More    int      // rows that a person is not shown; CSV and JSON have all of Rows
	Found   any      // what is found of all rows together, for JSON; nil: nothing
	Cursor  string   // where to go on behind the rows, for JSON; empty: the rows are not to be gone on from
}

// Row has one cell a column.
type Row []Cell

// Cell is a value twice: for a program, and as a person reads it.
type Cell struct {
	Value any    // string, bool, an integer, a float, a time.Time, a Histogram, or nil for none
	Text  string // may be empty
	Tone  Tone
	To    string // the address that Text leads to, shown behind an arrow: beside it where there is room, and else below; "": none

	shownTo string // To as it is shown; "": as it is
}

// Column heads the cells below it.
type Column struct {
	Key   string // name for programs: lower case with underscores; empty: for a person only
	Head  string // for a person; empty with a Key: for programs only
	Right bool   // numbers stand to the right

	// Fields is how many numbers each value is a list of, 0: it is none. In CSV each has a field of its own: times_00, times_01 and so on.
	Fields int

	// Spare hides the column from a person where every cell says nothing: is empty or counts 0.
	Spare bool
	// Flex lets the column shrink when the line is too long, down to 16 characters.
	Flex bool
	// Drop is the order in which columns give way when the line is still too long, the highest first; 0: never.
	Drop int
}

// forPeople and forPrograms tell who sees the column.
func (c Column) forPeople() bool   { return c.Head != "" }
func (c Column) forPrograms() bool { return c.Key != "" }

// Tone is what a colour on the terminal says.
type Tone uint8

// The tones.
const (
	Neutral Tone = iota
	Good
	Bad
	Warn
	Faint
)

// TextCell is a string, the same for both.
func TextCell(s string) Cell { return Cell{Value: s, Text: s} }

// CountCell is a number; 0 is faint.
func CountCell(n int64) Cell {
	c := Cell{Value: n, Text: Count(n)}
	if n == 0 {
		c.Tone = Faint
	}
	return c
}

// BytesCell is a size; 0 is faint.
func BytesCell(n int64) Cell {
	c := Cell{Value: n, Text: Bytes(n)}
	if n == 0 {
		c.Tone = Faint
	}
	return c
}

// ShareCell is part of whole: for programs a number in [0, 1], or nil of nothing.
func ShareCell(part, whole int64) Cell {
	c := Cell{Text: Share(part, whole)}
	if whole > 0 {
		c.Value = float64(part) / float64(whole)
	}
	if part == 0 {
		c.Tone = Faint
	}
	return c
}

// OnlyText is a cell of a column for a person.
func OnlyText(s string) Cell { return Cell{Text: s} }

// OnlyValue is a cell of a column for programs.
func OnlyValue(v any) Cell { return Cell{Value: v} }
