package models

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// bulkRows is the most rows that one statement of PostgreSQL takes.
const bulkRows = 5000

// insert adds rows; those whose key exists are left as they are.
func (tb table[T]) insert(ctx context.Context, t *tx, rows []T) error {
	return tb.each(ctx, t, rows, tb.inserting(" ON CONFLICT DO NOTHING"))
}

// insertSparse is insert for rows most of whose columns are zero: what is zero in all of them is written as such and
// takes no parameter, which makes an import of pages twice as fast.
func (tb table[T]) insertSparse(ctx context.Context, t *tx, rows []T) error {
	for chunk := range slices.Chunk(rows, bulkRows) {
		narrow, zeros := tb.withoutZeros(chunk)
		err := narrow.each(ctx, t, chunk, func(source string) string {
			head := "INSERT INTO " + tb.name + " (" + narrow.list() + zeros.names + ") "
			if source != "" {
				return head + "SELECT *" + zeros.values + " FROM " + source + " ON CONFLICT DO NOTHING"
			}
			return head + "VALUES (" + marks(narrow.columns) + zeros.values + ") ON CONFLICT DO NOTHING"
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// zeroColumns are the names and the values of columns, each after a comma.
type zeroColumns struct{ names, values string }

// withoutZeros is the table without the columns that are zero in all of the rows.
func (tb table[T]) withoutZeros(rows []T) (table[T], zeroColumns) {
	names := strings.Fields(tb.columns)
	used := make([]bool, len(names))
	for i := range rows {
		for c, field := range tb.fields(&rows[i]) {
			used[c] = used[c] || c < tb.key || !isZero(field)
		}
	}
	var columns []string
	var zeros zeroColumns
	for c, field := range tb.fields(new(T)) {
		if used[c] {
			columns = append(columns, names[c])
			continue
		}
		zeros.names += ", " + names[c]
		zeros.values += ", " + map[kind]string{kindInt: "0", kindText: "''", kindBool: "false", kindBlob: "NULL", kindReal: "0"}[kindOf(field)]
	}
	narrow := tb
	narrow.columns = strings.Join(columns, " ")
	narrow.fields = func(row *T) []any {
		fields := tb.fields(row)
		kept := fields[:0]
		for c, field := range fields {
			if used[c] {
				kept = append(kept, field)
			}
		}
		return kept
	}
	return narrow, zeros
}

func isZero(field any) bool {
	if chain, ok := field.(*chainField); ok {
		return len(*chain) == 0
	}
	return reflect.ValueOf(field).Elem().IsZero()
}

// upsert adds rows, or overwrites those whose key exists.
func (tb table[T]) upsert(ctx context.Context, t *tx, rows []T) error {
	names := strings.Fields(tb.columns)
	sets := make([]string, 0, len(names))
	for _, name := range names[tb.key:] {
		sets = append(sets, name+" = excluded."+name)
	}
	return tb.each(ctx, t, rows, tb.inserting(" ON CONFLICT ("+strings.Join(names[:tb.key], ", ")+") DO UPDATE SET "+
		strings.Join(sets, ", ")))
}

// update overwrites rows by their key: all at once on a PostgreSQL of one node. A sharded one routes by the bucket, which
// the statement for one bucket names once more by itself.
func (tb table[T]) update(ctx context.Context, t *tx, rows []T) error {
	return tb.byBucket(ctx, t, rows, tb.updating)
}

// byBucket writes rows that are in the order of their keys, all at once where a statement may be for many buckets and else
// those of each bucket by themselves, with the bucket as a further argument.
func (tb table[T]) byBucket(ctx context.Context, t *tx, rows []T, statement func(inBucket bool) func(source string) string) error {
	if t.store.wide() || t.store.dialect == sqliteDialect {
		return tb.each(ctx, t, rows, statement(false))
	}
	bucketOf := func(row *T) any { return valueOf(tb.fields(row)[0]) }
	for len(rows) > 0 {
		n, bucket := 1, bucketOf(&rows[0])
		for n < len(rows) && bucketOf(&rows[n]) == bucket {
			n++
		}
		if err := tb.each(ctx, t, rows[:n], statement(true), bucket); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// updating is the statement that overwrites rows by their key, with the bucket of all as a further argument or without.
func (tb table[T]) updating(inBucket bool) func(source string) string {
	names := strings.Fields(tb.columns)
	return func(source string) string {
		if source == "" {
			return "UPDATE " + tb.name + " SET " + numbered(names, tb.key, len(names), ", ") + " WHERE " +
				numbered(names, 0, tb.key, " AND ")
		}
		sets := make([]string, 0, len(names))
		for _, name := range names[tb.key:] {
			sets = append(sets, name+" = v."+name)
		}
		return "UPDATE " + tb.name + " SET " + strings.Join(sets, ", ") + " FROM " + source + " AS v (" + tb.list() +
			") WHERE " + tb.sameKey(names) + tb.inBucket(names, inBucket)
	}
}

// inBucket is the further condition of a statement for one bucket.
func (tb table[T]) inBucket(names []string, yes bool) string {
	if !yes {
		return ""
	}
	return " AND " + tb.name + "." + names[0] + " = $" + strconv.Itoa(len(names)+1)
}

// remove deletes rows by their key, as update writes them.
func (tb table[T]) remove(ctx context.Context, t *tx, rows []T) error {
	names := strings.Fields(tb.columns)
	if tb.key != len(names) {
		return fmt.Errorf("remove from %s: a row is more than its key", tb.name)
	}
	return tb.byBucket(ctx, t, rows, func(inBucket bool) func(string) string {
		return func(source string) string {
			if source == "" {
				return "DELETE FROM " + tb.name + " WHERE " + numbered(names, 0, tb.key, " AND ")
			}
			return "DELETE FROM " + tb.name + " USING " + source + " AS v (" + tb.list() + ") WHERE " + tb.sameKey(names) +
				tb.inBucket(names, inBucket)
		}
	})
}

// sameKey compares the key with that of the source v.
func (tb table[T]) sameKey(names []string) string {
	where := make([]string, 0, tb.key)
	for _, name := range names[:tb.key] {
		where = append(where, tb.name+"."+name+" = v."+name)
	}
	return strings.Join(where, " AND ")
}

// numbered is "name = $n" for some columns.
func numbered(names []string, from, to int, by string) string {
	parts := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		parts = append(parts, names[i]+" = $"+strconv.Itoa(i+1))
	}
	return strings.Join(parts, by)
}

func (tb table[T]) inserting(suffix string) func(source string) string {
	return func(source string) string {
		head := "INSERT INTO " + tb.name + " (" + tb.list() + ") "
		if source != "" {
			return head + "SELECT * FROM " + source + suffix
		}
		return head + "VALUES (" + marks(tb.columns) + ")" + suffix
	}
}

// marks is a parameter a column, separated by commas.
func marks(columns string) string {
	marks := make([]string, strings.Count(columns, " ")+1)
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(i+1)
	}
	return strings.Join(marks, ", ")
}

// each writes rows: on SQLite with one prepared statement a row, on PostgreSQL with one statement over arrays, which is
// 40 times as fast there. The statement is built for a source of rows, or for single values where source is empty;
// more are its further arguments on PostgreSQL.
func (tb table[T]) each(ctx context.Context, t *tx, rows []T, statement func(source string) string, more ...any) error {
	if len(rows) == 0 {
		return nil
	}
	if t.store.dialect == sqliteDialect {
		return tb.oneByOne(ctx, t, rows, statement(""))
	}
	for len(rows) > 0 {
		n := min(len(rows), bulkRows)
		source, args := tb.unnest(rows[:n])
		if _, err := t.exec(ctx, statement(source), append(args, more...)...); err != nil {
			return fmt.Errorf("write %s: %w", tb.name, err)
		}
		rows = rows[n:]
	}
	return nil
}

func (tb table[T]) oneByOne(ctx context.Context, t *tx, rows []T, query string) error {
	stmt, err := t.prepare(ctx, query)
	if err != nil {
		return err
	}
	for i := range rows {
		args := tb.fields(&rows[i])
		for c, field := range args {
			args[c] = valueOf(field)
		}
		if _, err := stmt.exec(ctx, args); err != nil {
			return fmt.Errorf("write %s: %w", tb.name, err)
		}
	}
	return nil
}

// unnest is the rows as arrays, one a column.
func (tb table[T]) unnest(rows []T) (source string, args []any) {
	columns := tb.fields(new(T))
	values := make([]array, len(columns))
	casts := make([]string, len(columns))
	for i, field := range columns {
		values[i].kind = kindOf(field)
		casts[i] = "$" + strconv.Itoa(i+1) + "::" + string(values[i].kind) + "[]"
	}
	for r := range rows {
		for i, field := range tb.fields(&rows[r]) {
			values[i].add(valueOf(field))
		}
	}
	for i := range values {
		args = append(args, values[i].slice())
	}
	return "unnest(" + strings.Join(casts, ", ") + ")", args
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

func (a *array) add(v any) {
	switch a.kind {
	case kindInt:
		a.ints = append(a.ints, v.(int64))
	case kindText:
		a.texts = append(a.texts, v.(string))
	case kindBool:
		a.bools = append(a.bools, v.(bool))
	case kindReal:
		a.reals = append(a.reals, v.(float64))
	case kindBlob:
		b, _ := v.([]byte) // nil: NULL
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
