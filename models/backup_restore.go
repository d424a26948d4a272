package models

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Restore fills an empty, migrated database from a backup of either engine, in one transaction that commits only after
// the whole backup was read and its checksum found right. No host is leased afterwards, and no sink: who held a lease
// when the backup was taken cannot commit here. It returns ErrNotEmpty where there are rows already, ErrBadBackup for a
// damaged backup, and an error for one of a later schema; what a backup of an earlier one lacks gets the defaults of the
// columns. The backup is only read.
func (s *Store) Restore(ctx context.Context, r io.Reader, now time.Time) (BackupSummary, error) {
	sum, err := s.restore(ctx, r, now)
	if err != nil {
		return sum, fmt.Errorf("restore backup: %w", err)
	}
	return sum, nil
}

func (s *Store) restore(ctx context.Context, r io.Reader, now time.Time) (BackupSummary, error) {
	src, head, err := newBackupReader(r)
	sum := BackupSummary{BackupHead: head, Rows: make(map[string]int64)}
	if err != nil {
		return sum, err
	}
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return sum, err
	}
	defer conn.Close()
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return sum, err
	}
	defer begun.Rollback() // after Commit it does nothing
	t := &tx{store: s, sql: begun}
	if err := t.unhurried(ctx); err != nil {
		return sum, err
	}
	if err := t.fill(ctx, conn, src, sum); err != nil {
		return sum, err
	}
	if err := src.end(sum.Rows); err != nil {
		return sum, err
	}
	if err := t.afterRestore(ctx, now); err != nil {
		return sum, err
	}
	return sum, begun.Commit()
}

// fill reads the tables of a backup into the empty ones here.
func (t *tx) fill(ctx context.Context, conn *sql.Conn, src *backupReader, sum BackupSummary) error {
	schema, err := t.schema(ctx)
	if err != nil {
		return err
	}
	if sum.Schema > schema {
		return fmt.Errorf("the backup is of schema step %d, this database of %d: restore it with the release that took it",
			sum.Schema, schema)
	}
	here, err := t.tables(ctx)
	if err != nil {
		return err
	}
	if err := t.empty(ctx, here); err != nil {
		return err
	}
	for _, table := range sum.Tables {
		if linksByRow(table) {
			if sum.Rows[table.Name], err = t.fillLinks(ctx, conn, src, table); err != nil {
				return src.blame(fmt.Errorf("fill %s: %w", table.Name, err))
			}
			continue
		}
		i := slices.IndexFunc(here, func(h BackupTable) bool { return h.Name == table.Name })
		if i < 0 || len(table.Columns) == 0 {
			return fmt.Errorf("%w: unknown table %q", ErrBadBackup, table.Name)
		}
		for _, column := range table.Columns {
			j := slices.Index(here[i].Columns, column)
			if j < 0 {
				return fmt.Errorf("%w: unknown column %q of %s", ErrBadBackup, column, table.Name)
			}
			table.kinds = append(table.kinds, here[i].kinds[j])
		}
		n, err := t.fillTable(ctx, conn, src, table)
		if err != nil {
			return src.blame(fmt.Errorf("fill %s: %w", table.Name, err))
		}
		sum.Rows[table.Name] = n
	}
	return nil
}

// empty makes sure that nothing is lost, and takes away what every database has from its first moment.
func (t *tx) empty(ctx context.Context, here []BackupTable) error {
	for _, table := range here {
		condition := ""
		switch table.Name {
		case "meta":
			continue
		case "buckets":
			condition = " WHERE next_seq > 1"
		}
		var found bool
		query := "SELECT EXISTS (SELECT 1 FROM " + table.Name + condition + ")"
		if err := t.sql.QueryRowContext(ctx, query).Scan(&found); err != nil {
			return err
		}
		if found {
			return fmt.Errorf("%w: it has rows in %s", ErrNotEmpty, table.Name)
		}
	}
	for _, table := range []string{"buckets", "meta", "workers"} {
		if _, err := t.sql.ExecContext(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) fillTable(ctx context.Context, conn *sql.Conn, src *backupReader, table BackupTable) (int64, error) {
	rows := &backupRows{src: src, kinds: table.kinds, values: make([]any, len(table.kinds))}
	if t.store.dialect == postgresDialect {
		for _, name := range table.Columns {
			rows.sparse = append(rows.sparse, sparse[table.Name][name])
		}
		var n int64
		err := conn.Raw(func(driver any) error {
			var err error
			n, err = driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table.Name}, table.Columns, rows)
			return err
		})
		if rows.err != nil {
			err = rows.err // says more than what the server made of it
		}
		return n, err
	}
	marks := make([]string, len(table.Columns))
	for i := range marks {
		marks[i] = "$" + strconv.Itoa(i+1)
	}
	insert, err := t.sql.PrepareContext(ctx, "INSERT INTO "+table.Name+" ("+table.names()+") VALUES ("+strings.Join(marks, ", ")+")")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	var n int64
	for rows.Next() {
		if _, err := insert.ExecContext(ctx, rows.values...); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.err
}

// backupRows yields the rows of one table; it is a pgx.CopyFromSource.
type backupRows struct {
	src    *backupReader
	kinds  []kind
	left   int // rows of the block that are still to come
	values []any
	sparse []bool // which columns are NULL for zero; nil: none
	err    error
}

// Next reads a row into values, or returns false at the table's end and after an error.
func (r *backupRows) Next() bool {
	if r.left == 0 {
		if r.left, r.err = r.src.next(); r.err != nil || r.left == 0 {
			return false
		}
	}
	r.left--
	for i := range r.values {
		var c cell
		if c, r.err = r.src.cell(); r.err != nil {
			return false
		}
		if r.values[i], r.err = c.as(r.kinds[i]); r.err != nil {
			return false
		}
		if r.sparse != nil && r.sparse[i] && c.zero() {
			r.values[i] = nil
		}
	}
	return true
}

// Values is the row that Next read.
func (r *backupRows) Values() ([]any, error) { return r.values, nil }

// Err is the error that ended Next.
func (r *backupRows) Err() error { return r.err }

// zero tells whether the cell holds a zero of any kind.
func (c cell) zero() bool { return c.int == 0 && c.real == 0 && len(c.bytes) == 0 }

// as is the cell as an engine takes it for a column.
func (c cell) as(k kind) (any, error) {
	switch {
	case c.tag == tagNull:
		return nil, nil
	case c.tag == tagInt && k == kindInt:
		return c.int, nil
	case c.tag == tagInt && k == kindBool:
		return c.int != 0, nil
	case c.tag == tagReal && k == kindReal:
		return Finite(c.real), nil
	case c.tag == tagBytes && k == kindText:
		return string(c.bytes), nil
	case c.tag == tagBytes && k == kindBlob:
		return c.bytes, nil
	}
	return nil, fmt.Errorf("%w: value of kind %d for a column of %s", ErrBadBackup, c.tag, k)
}

// waitOnce keeps the hosts of a bucket closed for a politeness delay from now on: each may have been asked a moment ago, of which the
// backup knows nothing.
func (t *tx) waitOnce(ctx context.Context, bucket int16, now time.Time) error {
	const opens = `$2 + (delay + 999999) / 1000000` // delayOf
	_, err := t.exec(ctx, `UPDATE hosts SET open_at = `+opens+`, ready_at = CASE WHEN ready_at > 0 AND ready_at < `+opens+` THEN `+opens+`
		ELSE ready_at END WHERE bucket = $1 AND open_at < `+opens, bucket, int64(NotBefore(now)))
	return err
}

// afterRestore voids the leases that a backup holds, lets hosts wait, and sees to it that a new site gets a number of its own: not that
// of a removed one either, whose visits are still counted under it, or whose events are told by it.
func (t *tx) afterRestore(ctx context.Context, now time.Time) error {
	for bucket := range int16(Buckets) {
		if _, err := t.voidLeases(ctx, bucket, now, ""); err != nil {
			return fmt.Errorf("void leases: %w", err)
		}
		if err := t.waitOnce(ctx, bucket, now); err != nil {
			return fmt.Errorf("let hosts wait: %w", err)
		}
	}
	if err := t.nameRemoved(ctx); err != nil {
		return err
	}
	if err := t.recount(ctx); err != nil { // a backup of an earlier step has no counts
		return err
	}
	// A backup of before migration 19 lacks these; each page that is counted has at least a day.
	if _, err := t.sql.ExecContext(ctx, `UPDATE daily SET found_days = found * 14, lost_days = lost * 14
		WHERE found + lost > 0 AND found_days + lost_days = 0`); err != nil {
		return err
	}
	if _, err := t.sql.ExecContext(ctx, `DELETE FROM meta WHERE key LIKE 'sink-lease:%'`); err != nil {
		return err
	}
	var last sql.NullInt64
	err := t.sql.QueryRowContext(ctx, `SELECT MAX(id) FROM (SELECT MAX(id) AS id FROM sites UNION ALL
		SELECT MAX(site_id) FROM daily UNION ALL SELECT MAX(site_id) FROM pages UNION ALL SELECT MAX(site_id) FROM removed_sites UNION ALL
		SELECT MAX(site_id) FROM events) AS ids`).Scan(&last)
	if err != nil || last.Int64 < 1 {
		return err
	}
	if t.store.dialect == postgresDialect {
		_, err = t.sql.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence('sites', 'id'), $1::bigint)`, last.Int64)
		return err
	}
	if _, err := t.sql.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = 'sites'`); err != nil {
		return err
	}
	_, err = t.sql.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ('sites', $1)`, last.Int64)
	return err
}
