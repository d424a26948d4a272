package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// WriteCSV writes the table as CSV (RFC 4180, UTF-8, one line of keys), all rows, no total. A text that a spreadsheet
// would take for a formula (it begins with = + - @, a tab or a return) gets an apostrophe in front; numbers do not.
func WriteCSV(w io.Writer, d Document) error {
	out := csv.NewWriter(w)
	var line []string
	for _, c := range d.Columns {
		switch {
		case c.forPrograms() && c.Fields > 0:
			for i := range c.Fields {
				line = append(line, fmt.Sprintf("%s_%02d", c.Key, i))
			}
		case c.forPrograms():
			line = append(line, c.Key)
		}
	}
	if err := out.Write(line); err != nil {
		return fmt.Errorf("write report as CSV: %w", err)
	}
	for _, row := range d.Rows {
		line = line[:0]
		for i, c := range d.Columns {
			numbers, listed := row[i].Value.(hourly)
			switch {
			case !c.forPrograms():
			case listed:
				for _, x := range numbers {
					line = append(line, csvField(x))
				}
			default:
				line = append(line, csvField(row[i].Value))
			}
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("write report as CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write report as CSV: %w", err)
	}
	return nil
}

func csvField(value any) string {
	switch v := plain(value).(type) {
	case nil:
		return ""
	case string:
		return guardFormula(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	default:
		return fmt.Sprint(v)
	}
}

func guardFormula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// plain brings a cell's value to what both forms can write: times in RFC 3339 (never: none), numbers that are finite.
func plain(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return toldNumber(v)
	case time.Time:
		if v.IsZero() {
			return nil
		}
		return v.UTC().Format(time.RFC3339)
	}
	return value
}

// toldDigits is how many digits of a number are written for programs: what differs in more is the processor, ARM rounds a product and a sum once.
const toldDigits = 12

func toldNumber(x float64) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', toldDigits, 64), 64)
	return x
}

// WriteJSON writes the document as one JSON object: its name, its time, its rows, each an object of the columns' keys in their
// order, and what was found and its cursor where it has one. A number that is not finite is null, as is a time that is never.
func WriteJSON(w io.Writer, d Document) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"report\": %q,\n  \"at\": %q,\n  \"rows\": [", d.Name, d.At.UTC().Format(time.RFC3339))
	for i, row := range d.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		if err := writeObject(&b, d.Columns, row); err != nil {
			return fmt.Errorf("write report as JSON: %w", err)
		}
	}
	if len(d.Rows) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteByte(']')
	if d.Found != nil {
		found, err := json.Marshal(d.Found)
		if err != nil {
			return fmt.Errorf("write report as JSON: what was found: %w", err)
		}
		fmt.Fprintf(&b, ",\n  \"found\": %s", found)
	}
	if d.Cursor != "" {
		fmt.Fprintf(&b, ",\n  \"cursor\": %q", d.Cursor)
	}
	b.WriteString("\n}\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report as JSON: %w", err)
	}
	return nil
}

// WriteValue writes a value as indented JSON, for what is no table.
func WriteValue(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// WriteLines writes the rows as JSON, each as WriteJSON does and on a line of its own, and then the cursor on one more: {"cursor": "…"}.
// Whoever has done with all lines above that one may go on from there.
func WriteLines(w io.Writer, d Document) error {
	objects, err := Objects(d)
	if err != nil {
		return fmt.Errorf("write report as lines: %w", err)
	}
	var b bytes.Buffer
	for _, object := range objects {
		b.Write(object)
		b.WriteByte('\n')
	}
	if d.Cursor != "" {
		fmt.Fprintf(&b, "{\"cursor\": %q}\n", d.Cursor)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write report as lines: %w", err)
	}
	return nil
}

// Objects are the rows as JSON, each as WriteJSON writes it.
func Objects(d Document) ([]json.RawMessage, error) {
	objects := make([]json.RawMessage, len(d.Rows))
	for i, row := range d.Rows {
		var b bytes.Buffer
		if err := writeObject(&b, d.Columns, row); err != nil {
			return nil, err
		}
		objects[i] = b.Bytes()
	}
	return objects, nil
}

func writeObject(b *bytes.Buffer, columns []Column, row Row) error {
	b.WriteByte('{')
	first := true
	for i, c := range columns {
		if !c.forPrograms() {
			continue
		}
		value, err := json.Marshal(plain(row[i].Value))
		if err != nil {
			return fmt.Errorf("column %s: %w", c.Key, err)
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		fmt.Fprintf(b, "%q: %s", c.Key, value)
	}
	b.WriteByte('}')
	return nil
}
