package models

import (
	"database/sql/driver"
	"reflect"
	"strings"
	"time"
)

// table maps a noun to its columns. The fields function returns pointers to the noun's fields in the order of the
// columns, which serves for reading and for writing.
type table[T any] struct {
	name    string
	columns string // separated by spaces; the primary key comes first
	key     int    // the number of columns of the primary key
	fields  func(*T) []any
}

// kind is what an engine is told of a column.
type kind string

const (
	kindInt  kind = "bigint"
	kindText kind = "text"
	kindBlob kind = "bytea"
	kindBool kind = "boolean"
	kindReal kind = "real"
)

// kindOf is the kind of a field, by its pointer.
func kindOf(field any) kind {
	switch field.(type) {
	case *[]byte, *Digest, *Print, *Trials:
		return kindBlob
	case *chainField:
		return kindText
	}
	switch reflect.TypeOf(field).Elem().Kind() {
	case reflect.String:
		return kindText
	case reflect.Bool:
		return kindBool
	case reflect.Float32:
		return kindReal
	}
	return kindInt
}

// valueOf is a field's value as an engine takes it: int64, float64, string, bool, []byte or nil.
func valueOf(field any) any {
	if n, ok := numberOf(field); ok {
		return n
	}
	switch f := field.(type) {
	case *string:
		return Clean(*f)
	case *bool:
		return *f
	case *[]byte:
		if len(*f) == 0 { // SQLite's driver reads an empty blob as NULL: let no engine tell them apart
			return nil
		}
		return *f
	case *Digest:
		if f.IsZero() {
			return nil
		}
		return f[:]
	case driver.Valuer:
		v, err := f.Value()
		if err != nil {
			panic(err) // those of this package never fail
		}
		return v
	}
	v := reflect.ValueOf(field).Elem()
	switch v.Kind() {
	case reflect.String:
		return Clean(v.String())
	case reflect.Bool:
		return v.Bool()
	case reflect.Float32:
		return Finite(v.Float())
	}
	return v.Int()
}

// numberOf is the value of a field of one of the types that most numbers have, without the memory that any value takes.
func numberOf(field any) (n int64, ok bool) {
	switch f := field.(type) {
	case *int64:
		return *f, true
	case *int32:
		return int64(*f), true
	case *int16:
		return int64(*f), true
	case *Instant:
		return int64(*f), true
	case *time.Duration:
		return int64(*f), true
	case *bitsField:
		return int64(*f), true
	case *Rule:
		return int64(*f), true
	case *OutcomeKind:
		return int64(*f), true
	case *ErrorClass:
		return int64(*f), true
	}
	return 0, false
}

// without is the table without its last column, by name.
func (tb table[T]) without(last string) table[T] {
	columns, found := strings.CutSuffix(tb.columns, " "+last)
	if !found {
		panic(last + " is not the last column of " + tb.name)
	}
	fields := tb.fields
	tb.columns = columns
	tb.fields = func(row *T) []any {
		all := fields(row)
		return all[:len(all)-1]
	}
	return tb
}

// list is the columns, separated by commas: to write them.
func (tb table[T]) list() string { return strings.ReplaceAll(tb.columns, " ", ", ") }

// prefixed is the columns with a prefix, separated by commas: to read them with read, or scan.
func (tb table[T]) prefixed(prefix string) string {
	return prefix + strings.ReplaceAll(tb.columns, " ", ", "+prefix)
}

// coalesced is the columns with a prefix, separated by commas, without NULL for zero: to read them in any way.
func (tb table[T]) coalesced(prefix string) string {
	names := strings.Fields(tb.columns)
	var fields []any
	for i, name := range names {
		names[i] = prefix + name
		if sparse[tb.name][name] {
			if fields == nil {
				fields = tb.fields(new(T))
			}
			names[i] = orZero(names[i], kindOf(fields[i]))
		}
	}
	return strings.Join(names, ", ")
}

// keyList is the columns of the primary key, separated by commas.
func (tb table[T]) keyList() string { return strings.Join(strings.Fields(tb.columns)[:tb.key], ", ") }

// scan reads all rows of a query that selects the table's columns.
func (tb table[T]) scan(rows answer, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	var row T
	read := tb.reader(&row)
	for rows.Next() {
		if err := read(rows); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}
