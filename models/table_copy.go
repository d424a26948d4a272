package models

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// copyRows is from how many rows on COPY is worth its round trips.
const copyRows = 200

// insertNew adds rows of keys that do not exist, as the transaction has made sure of: with COPY where there are many, which
// is several times as fast as INSERT on PostgreSQL, and else with insertSparse.
func (tb table[T]) insertNew(ctx context.Context, t *tx, rows []T) error {
	if t.conn == nil || t.sharded() || len(rows) < copyRows {
		return tb.insertSparse(ctx, t, rows)
	}
	for chunk := range slices.Chunk(rows, bulkRows) {
		if err := tb.copyIn(ctx, t, chunk); err != nil {
			return fmt.Errorf("write %s: %w", tb.name, err)
		}
	}
	return nil
}

// copyIn sends rows with COPY, in its text format: most columns of a page that is only known are zero, and "0" and a tab
// are less than half of what the binary format has for them.
func (tb table[T]) copyIn(ctx context.Context, t *tx, rows []T) error {
	var row T // each in turn: to list the fields takes memory
	fields := tb.fields(&row)
	query := t.text("COPY " + tb.name + " (" + tb.list() + ") FROM STDIN")
	mayBeNull := make([]bool, 0, 60)
	for _, name := range strings.Fields(tb.columns) {
		mayBeNull = append(mayBeNull, sparse[tb.name][name])
	}
	text := make([]byte, 0, 8*len(fields)*len(rows))
	for i := range rows {
		row = rows[i]
		for c, field := range fields {
			if c > 0 {
				text = append(text, '\t')
			}
			if mayBeNull[c] && isZero(field) {
				text = append(text, `\N`...)
				continue
			}
			text = appendCopied(text, field)
		}
		text = append(text, '\n')
	}
	if err := t.catchUp(ctx); err != nil {
		return err
	}
	t.store.traced(ctx, t.conn, query)
	_, err := t.conn.PgConn().CopyFrom(ctx, bytes.NewReader(text), query)
	return err
}

// appendCopied appends a field as the text format of COPY has it.
func appendCopied(text []byte, field any) []byte {
	switch f := field.(type) { // the commonest, without an allocation
	case *int64:
		return strconv.AppendInt(text, *f, 10)
	case *int32:
		return strconv.AppendInt(text, int64(*f), 10)
	case *int16:
		return strconv.AppendInt(text, int64(*f), 10)
	case *Instant:
		return strconv.AppendInt(text, int64(*f), 10)
	case *time.Duration:
		return strconv.AppendInt(text, int64(*f), 10)
	case *OutcomeKind:
		return strconv.AppendInt(text, int64(*f), 10)
	case *ErrorClass:
		return strconv.AppendInt(text, int64(*f), 10)
	case *Rule:
		return strconv.AppendInt(text, int64(*f), 10)
	case *string:
		return appendEscaped(text, Clean(*f))
	}
	switch v := valueOf(field).(type) {
	case int64:
		return strconv.AppendInt(text, v, 10)
	case float64:
		return strconv.AppendFloat(text, v, 'g', -1, 32)
	case bool:
		return strconv.AppendBool(text, v)
	case []byte:
		return hex.AppendEncode(append(text, `\\x`...), v)
	case string:
		return appendEscaped(text, v)
	}
	return append(text, `\N`...)
}

// appendEscaped appends text with what ends a column or a row, and the sign of escapes, escaped.
func appendEscaped(text []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\':
			text = append(text, `\\`...)
		case '\n':
			text = append(text, `\n`...)
		case '\r':
			text = append(text, `\r`...)
		case '\t':
			text = append(text, `\t`...)
		default:
			text = append(text, c)
		}
	}
	return text
}
