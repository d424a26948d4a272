package models

import (
	"fmt"
	"math"
	"time"
)

// read reads a row of the table's columns as prefixed lists them. On PostgreSQL a NULL is zero.
func (tb table[T]) read(rows answer, row *T) error { return tb.reader(row)(rows) }

// reader is read for one row after the other into the same place. They share no memory, so each may be copied from there.
func (tb table[T]) reader(row *T) func(answer) error {
	fields := tb.fields(row)
	var wrapped []any
	return func(rows answer) error {
		switch rows := rows.(type) {
		case *postgresRows:
			return rows.scan(fields, true)
		case *liteRows:
			return rows.Scan(fields...)
		}
		if wrapped == nil {
			wrapped = make([]any, len(fields))
			for i, field := range fields {
				wrapped[i] = orNull(field)
			}
		}
		return rows.Scan(wrapped...)
	}
}

// orNull is where a field is read into that may be NULL. It also spares database/sql the way by a text for the smaller
// numbers.
func orNull(field any) any {
	switch f := field.(type) {
	case *int64:
		return (*nullInt64)(f)
	case *int32:
		return (*nullInt32)(f)
	case *int16:
		return (*nullInt16)(f)
	case *Instant:
		return (*nullInt64)(f)
	case *time.Duration:
		return (*nullInt64)(f)
	case *PageState:
		return (*nullInt16)(f)
	case *ErrorClass:
		return (*nullInt16)(f)
	case *Rule:
		return (*nullInt16)(f)
	case *string:
		return (*nullText)(f)
	case *bool:
		return (*nullBool)(f)
	case *float32:
		return (*nullReal)(f)
	}
	return field
}

type (
	nullInt64 int64
	nullInt32 int32
	nullInt16 int16
	nullText  string
	nullBool  bool
	nullReal  float32
)

// Scan implements sql.Scanner.
func (n *nullInt64) Scan(src any) error { return scanInt(n, src, math.MinInt64, math.MaxInt64) }

// Scan implements sql.Scanner.
func (n *nullInt32) Scan(src any) error { return scanInt(n, src, math.MinInt32, math.MaxInt32) }

// Scan implements sql.Scanner.
func (n *nullInt16) Scan(src any) error { return scanInt(n, src, math.MinInt16, math.MaxInt16) }

func scanInt[N ~int64 | ~int32 | ~int16](n *N, src any, least, most int64) error {
	v, ok := src.(int64)
	if !ok {
		return scanNull(n, src)
	}
	if v < least || v > most {
		return fmt.Errorf("%d is not between %d and %d", v, least, most)
	}
	*n = N(v)
	return nil
}

// Scan implements sql.Scanner.
func (s *nullText) Scan(src any) error {
	if v, ok := src.(string); ok {
		*s = nullText(v)
		return nil
	}
	return scanNull(s, src)
}

// Scan implements sql.Scanner.
func (b *nullBool) Scan(src any) error {
	if v, ok := src.(bool); ok {
		*b = nullBool(v)
		return nil
	}
	return scanNull(b, src)
}

// Scan implements sql.Scanner.
func (r *nullReal) Scan(src any) error {
	if v, ok := src.(float64); ok {
		*r = nullReal(v)
		return nil
	}
	return scanNull(r, src)
}

// scanNull reads a NULL, and refuses what is of another kind than its column.
func scanNull[V any](into *V, src any) error {
	if src != nil {
		return fmt.Errorf("%T from %T", *into, src)
	}
	*into = *new(V)
	return nil
}
