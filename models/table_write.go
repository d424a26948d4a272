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
	return tb.add(ctx, t, rows, " ON CONFLICT DO NOTHING")
}

// insertSparse is insert for rows most of whose columns are zero: what is zero in all of them is written as such and
// takes no parameter, which makes an import of pages twice as fast.
func (tb table[T]) insertSparse(ctx context.Context, t *tx, rows []T) error {
	for chunk := range slices.Chunk(rows, bulkRows) {
		narrow, zeros := tb.withoutZeros(chunk, t.store.dialect)
		err := narrow.each(ctx, t, chunk, func(source string) string {
			head := "INSERT INTO " + tb.name + " (" + narrow.list() + zeros.names + ") "
			if source != "" {
				return head + narrow.selecting(source, zeros.values, t.sharded()) + " ON CONFLICT DO NOTHING"
			}
			return head + "VALUES (" + marks(narrow.columns) + zeros.values + ") ON CONFLICT DO NOTHING"
		}, narrow.buckets(t, chunk)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// zeroColumns are the names and the values of columns, each after a comma.
type zeroColumns struct{ names, values string }

// withoutZeros is the table without the columns that are zero in all of the rows.
func (tb table[T]) withoutZeros(rows []T, d dialect) (table[T], zeroColumns) {
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
		if value := kindOf(field).zero(); d == postgresDialect && sparse[tb.name][names[c]] {
			zeros.values += ", NULL"
		} else {
			zeros.values += ", " + value
		}
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
	return tb.add(ctx, t, rows, " ON CONFLICT ("+strings.Join(names[:tb.key], ", ")+") DO UPDATE SET "+strings.Join(sets, ", "))
}

// update overwrites rows by their key.
func (tb table[T]) update(ctx context.Context, t *tx, rows []T) error {
	return tb.each(ctx, t, rows, tb.updating(t.sharded()), tb.buckets(t, rows)...)
}

// buckets is the further argument of a statement on a sharded server: the buckets of the rows, which lie on one shard.
func (tb table[T]) buckets(t *tx, rows []T) []any {
	if !t.sharded() || len(rows) == 0 {
		return nil
	}
	var found []int16
	for i := range rows {
		switch bucket := tb.fields(&rows[i])[0].(type) {
		case *int16:
			found = append(found, *bucket)
		}
	}
	slices.Sort(found)
	return []any{slices.Compact(found)}
}

// updating is the statement that overwrites rows by their key. A sharded server routes by the buckets, which its statement
// names once more by themselves.
func (tb table[T]) updating(sharded bool) func(source string) string {
	names := strings.Fields(tb.columns)
	return func(source string) string {
		if source == "" {
			return "UPDATE " + tb.name + " SET " + numbered(names, tb.key, len(names), ", ") + " WHERE " +
				numbered(names, 0, tb.key, " AND ")
		}
		values := tb.sparing()
		sets := make([]string, 0, len(names))
		for i, name := range names[tb.key:] {
			sets = append(sets, name+" = "+values[tb.key+i])
		}
		return "UPDATE " + tb.name + " SET " + strings.Join(sets, ", ") + " FROM " + source + " AS v (" + tb.list() +
			") WHERE " + tb.sameKey(names) + tb.inBuckets(names, sharded)
	}
}

// inBuckets is the further condition of a statement on a sharded server.
func (tb table[T]) inBuckets(names []string, sharded bool) string {
	if !sharded {
		return ""
	}
	return " AND " + tb.name + ".bucket = ANY($" + strconv.Itoa(len(names)+1) + ")"
}

// remove deletes rows by their key, as update writes them.
func (tb table[T]) remove(ctx context.Context, t *tx, rows []T) error {
	names := strings.Fields(tb.columns)
	if tb.key != len(names) {
		return fmt.Errorf("remove from %s: a row is more than its key", tb.name)
	}
	return tb.each(ctx, t, rows, func(source string) string {
		if source == "" {
			return "DELETE FROM " + tb.name + " WHERE " + numbered(names, 0, tb.key, " AND ")
		}
		return "DELETE FROM " + tb.name + " USING " + source + " AS v (" + tb.list() + ") WHERE " + tb.sameKey(names) +
			tb.inBuckets(names, t.sharded())
	}, tb.buckets(t, rows)...)
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

// add adds rows; what follows in the statement says what to do where a key exists.
func (tb table[T]) add(ctx context.Context, t *tx, rows []T, suffix string) error {
	return tb.each(ctx, t, rows, tb.inserting(suffix, t.sharded()), tb.buckets(t, rows)...)
}

// inserting is the statement that adds rows.
func (tb table[T]) inserting(suffix string, sharded bool) func(source string) string {
	return func(source string) string {
		head := "INSERT INTO " + tb.name + " (" + tb.list() + ") "
		if source != "" {
			return head + tb.selecting(source, "", sharded) + suffix
		}
		return head + "VALUES (" + marks(tb.columns) + ")" + suffix
	}
}

// selecting is the query that an insertion takes rows from, which may end with further values. On a sharded server it takes
// the buckets from their table: rows out of arrays alone would pass through files on the servers, since none could tell where
// they belong.
func (tb table[T]) selecting(source, further string, sharded bool) string {
	values := tb.sparing()
	if !sharded {
		return "SELECT " + strings.Join(values, ", ") + further + " FROM " + source + " AS v (" + tb.list() + ")"
	}
	return "SELECT b.bucket, " + strings.Join(values[1:], ", ") + further + " FROM buckets b JOIN " + source + " AS v (" + tb.list() +
		") ON v.bucket = b.bucket WHERE b.bucket = ANY($" + strconv.Itoa(len(values)+1) + ")"
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
	_, err := tb.count(ctx, t, rows, statement, more...)
	return err
}

// count is each, and returns how many rows were written.
func (tb table[T]) count(ctx context.Context, t *tx, rows []T, statement func(source string) string, more ...any) (written int64, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	if t.store.dialect == sqliteDialect {
		return tb.oneByOne(ctx, t, rows, statement(""))
	}
	for chunk := range slices.Chunk(rows, bulkRows) {
		source, args := tb.unnest(chunk)
		if !t.sharded() {
			source = tb.numbers(source)
		}
		n, err := t.exec(ctx, statement(source), append(args, more...)...)
		if written += n; err != nil {
			return written, fmt.Errorf("write %s: %w", tb.name, err)
		}
	}
	return written, nil
}

func (tb table[T]) oneByOne(ctx context.Context, t *tx, rows []T, query string) (written int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	write, err := tb.writing(ctx, t, query)
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", tb.name, err)
	}
	var row T // each in turn: to list the fields takes memory
	fields := tb.fields(&row)
	for i := range rows {
		row = rows[i]
		n, err := write(fields)
		if written += n; err != nil {
			return written, fmt.Errorf("write %s: %w", tb.name, err)
		}
	}
	return written, nil
}

// writing is how a row is written on SQLite, given its fields.
func (tb table[T]) writing(ctx context.Context, t *tx, query string) (func(fields []any) (int64, error), error) {
	if t.lite != nil {
		stmt, err := t.lite.statement(query)
		if err != nil {
			return nil, err
		}
		return stmt.execRow, nil
	}
	return func(fields []any) (int64, error) {
		values := make([]any, len(fields))
		for i, field := range fields {
			values[i] = valueOf(field)
		}
		return t.exec(ctx, query, values...)
	}, nil
}
