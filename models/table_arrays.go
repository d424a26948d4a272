package models

import (
	"bytes"
	"strconv"
	"strings"
)

// Batches go to PostgreSQL as arrays, one a column.

// unnest is the rows as arrays, one a column.
func (tb table[T]) unnest(rows []T) (source string, args []any) {
	columns := tb.fields(new(T))
	values := make([]array, len(columns))
	casts := make([]string, len(columns))
	for i, field := range columns {
		values[i].prepare(kindOf(field), len(rows))
		casts[i] = "$" + strconv.Itoa(i+1) + "::" + string(values[i].kind) + "[]"
	}
	var row T // each in turn: to list the fields takes memory
	fields := tb.fields(&row)
	for r := range rows {
		row = rows[r]
		for i, field := range fields {
			values[i].add(field)
		}
	}
	for i := range values {
		args = append(args, values[i].slice())
	}
	return "unnest(" + strings.Join(casts, ", ") + ")", args
}

// numbers is another source of the same arrays where all are of numbers: to take an element of such an array by its place is
// half the work of keeping each array's elements as rows of their own and putting those together, as unnest does. In an array of
// texts the server would have to look for the place.
func (tb table[T]) numbers(unnested string) string {
	columns := tb.fields(new(T))
	elements := make([]string, len(columns))
	for i, field := range columns {
		if kindOf(field) != kindInt {
			return unnested
		}
		elements[i] = "($" + strconv.Itoa(i+1) + "::bigint[])[n]"
	}
	return "(SELECT " + strings.Join(elements, ", ") + " FROM generate_subscripts($1::bigint[], 1) n)"
}

// array is a column of values of one kind.
type array struct {
	kind  kind
	ints  []int64
	texts []string
	blobs [][]byte
	bools []bool
	reals []float64
}

func (a *array) prepare(k kind, rows int) {
	switch a.kind = k; k {
	case kindInt:
		a.ints = make([]int64, 0, rows)
	case kindText:
		a.texts = make([]string, 0, rows)
	case kindBool:
		a.bools = make([]bool, 0, rows)
	case kindReal:
		a.reals = make([]float64, 0, rows)
	case kindBlob:
		a.blobs = make([][]byte, 0, rows)
	}
}

// add appends the value of a field, which may change afterwards.
func (a *array) add(field any) {
	switch a.kind {
	case kindInt:
		n, ok := numberOf(field)
		if !ok {
			n = valueOf(field).(int64)
		}
		a.ints = append(a.ints, n)
	case kindText:
		a.texts = append(a.texts, valueOf(field).(string))
	case kindBool:
		a.bools = append(a.bools, valueOf(field).(bool))
	case kindReal:
		a.reals = append(a.reals, valueOf(field).(float64))
	case kindBlob:
		b, _ := valueOf(field).([]byte)          // nil: NULL
		if _, whole := field.(*[]byte); !whole { // those of a digest are the field's own
			b = bytes.Clone(b)
		}
		a.blobs = append(a.blobs, b)
	}
}

func (a *array) slice() any {
	switch a.kind {
	case kindText:
		return a.texts
	case kindBool:
		return a.bools
	case kindBlob:
		return a.blobs
	case kindReal:
		return a.reals
	}
	return a.ints
}
