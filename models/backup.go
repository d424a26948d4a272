package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A backup is a gzip stream. Its plain text is
//
//	the line "recrawld backup 1"
//	a line of JSON: BackupHead, with every table's name and columns
//	for each of the tables in that order: blocks of rows (how many, how many bytes, the rows), and a 0
//	a line of JSON: the trailer, with the number of rows of each table and the SHA-256 of all before it
//
// The numbers of a block are unsigned varints. A row is its columns' values in order, each a byte that says what it is: null, a
// signed varint, text or bytes after their length, or the 8 bytes of a number with a fraction. What was a boolean is 0 or
// 1. So a backup says nothing of the engine that it came from, and any engine takes it. A backup of an earlier schema is
// taken too: what it lacks gets the defaults of the columns.
const backupMagic = "recrawld backup 1\n"

// BackupHead is what a backup says of itself.
type BackupHead struct {
	Schema  int           `json:"schema"` // step of the migrations
	Engine  string        `json:"engine"` // where it was taken
	TakenAt time.Time     `json:"taken_at"`
	Tables  []BackupTable `json:"tables"`
}

// BackupTable names the columns of a table.
type BackupTable struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	kinds   []kind   // by the engine at hand
}

// backupTrailer ends a backup.
type backupTrailer struct {
	Rows   map[string]int64 `json:"rows"`
	SHA256 string           `json:"sha256"`
}

// BackupSummary says what a backup holds.
type BackupSummary struct {
	BackupHead
	Rows map[string]int64 // by table
}

// Total is the number of rows.
func (b BackupSummary) Total() int64 {
	var n int64
	for _, rows := range b.Rows {
		n += rows
	}
	return n
}

// ErrBadBackup says that a backup is damaged, cut off or none at all: nothing was restored.
var ErrBadBackup = errors.New("bad backup")

// ErrNotEmpty says that a database holds rows already: nothing was restored.
var ErrNotEmpty = errors.New("database is not empty")

// first are the tables that others refer to; the rest follows in the order of names.
var first = []string{"sites", "hosts"}

// notBackedUp are tables that say who works on a database, and not what it knows.
var notBackedUp = []string{"schema_migrations", "workers"}

// Backup writes a checkpoint of the whole database, as it is at one moment, while others go on writing. It needs no
// lock; on SQLite the write-ahead log grows until it ends.
func (s *Store) Backup(ctx context.Context, w io.Writer, now time.Time) (BackupSummary, error) {
	sum, err := s.backup(ctx, w, now)
	if err != nil {
		return sum, fmt.Errorf("back up database: %w", err)
	}
	return sum, nil
}

func (s *Store) backup(ctx context.Context, w io.Writer, now time.Time) (BackupSummary, error) {
	conn, err := s.reader.Conn(ctx)
	if err != nil {
		return BackupSummary{}, err
	}
	defer conn.Close()
	options := &sql.TxOptions{} // SQLite's transactions read one snapshot anyway
	if s.dialect == postgresDialect {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	begun, err := conn.BeginTx(ctx, options)
	if err != nil {
		return BackupSummary{}, err
	}
	defer begun.Rollback()
	t := &tx{store: s, sql: begun}
	if err := t.unhurried(ctx); err != nil {
		return BackupSummary{}, err
	}
	sum := BackupSummary{BackupHead: BackupHead{Engine: s.Dialect(), TakenAt: now.UTC()}, Rows: make(map[string]int64)}
	if sum.Schema, err = t.schema(ctx); err != nil {
		return sum, err
	}
	if sum.Tables, err = t.tables(ctx); err != nil {
		return sum, err
	}
	out := newBackupWriter(w)
	if err := out.begin(sum.BackupHead); err != nil {
		return sum, err
	}
	for _, table := range sum.Tables {
		if err := t.readTable(ctx, conn, table, out); err != nil {
			return sum, fmt.Errorf("read %s: %w", table.Name, err)
		}
		n, err := out.endTable()
		if err != nil {
			return sum, err
		}
		sum.Rows[table.Name] = n
	}
	return sum, out.end(sum.Rows)
}

// schema is the step of the migrations that a database is at.
func (t *tx) schema(ctx context.Context) (int, error) {
	var version int
	err := t.sql.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`).Scan(&version)
	return version, err
}

// tables lists the tables that a backup holds, in the order in which they can be filled, with their columns.
func (t *tx) tables(ctx context.Context) ([]BackupTable, error) {
	query := `SELECT m.name, c.name, lower(c.type) FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`
	if t.store.dialect == postgresDialect {
		query = `SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c
			JOIN information_schema.tables t USING (table_schema, table_name)
			WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`
	}
	rows, err := t.sql.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var tables []BackupTable
	for rows.Next() {
		var name, column, columnType string
		if err := rows.Scan(&name, &column, &columnType); err != nil {
			return nil, err
		}
		if slices.Contains(notBackedUp, name) {
			continue
		}
		if len(tables) == 0 || tables[len(tables)-1].Name != name {
			tables = append(tables, BackupTable{Name: name})
		}
		table := &tables[len(tables)-1]
		table.Columns, table.kinds = append(table.Columns, column), append(table.kinds, kindOfType(columnType))
	}
	slices.SortStableFunc(tables, func(a, b BackupTable) int { return fillRank(a.Name) - fillRank(b.Name) })
	return tables, rows.Err()
}

func fillRank(table string) int {
	if i := slices.Index(first, table); i >= 0 {
		return i
	}
	return len(first)
}

// kindOfType is the kind of a column by its type in the schema of an engine.
func kindOfType(columnType string) kind {
	switch columnType {
	case "text":
		return kindText
	case "blob", "bytea":
		return kindBlob
	case "boolean":
		return kindBool
	case "real":
		return kindReal
	}
	return kindInt
}

// values is the table's columns to be read: what is NULL for zero on one engine only is zero.
func (b BackupTable) values() string {
	names := slices.Clone(b.Columns)
	for i, name := range names {
		if sparse[b.Name][name] {
			names[i] = orZero(name, b.kinds[i])
		}
	}
	return strings.Join(names, ", ")
}

// names is the table's columns, separated by commas.
func (b BackupTable) names() string { return strings.Join(b.Columns, ", ") }
