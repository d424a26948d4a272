package models

import (
	"context"
	"database/sql"
	"slices"
)

// linksByRow tells whether a table of a backup is that of links as it was before step 8: a row for each of them.
func linksByRow(table BackupTable) bool {
	return table.Name == "links" && slices.Equal(table.Columns, []string{"bucket", "parent_id", "child_bucket", "child_id"})
}

// makeLinksByRow and packLinksByRow are what step 8 of the migrations had and did. No key: what a backup holds has no doubles.
const makeLinksByRow = `CREATE TABLE links_by_row (bucket bigint NOT NULL, parent_id bigint NOT NULL, child_bucket bigint NOT NULL,
	child_id bigint NOT NULL)`

var packLinksByRow = map[dialect]string{
	sqliteDialect: `INSERT INTO links (bucket, parent_id, children) SELECT bucket, parent_id,
		unhex('01' || group_concat(printf('%02x%016x', child_bucket, child_id), '' ORDER BY child_bucket, child_id))
		FROM links_by_row GROUP BY bucket, parent_id`,
	postgresDialect: `INSERT INTO links (bucket, parent_id, children) SELECT bucket, parent_id, '\x01'::bytea ||
		string_agg(substring(int2send(child_bucket::smallint) FROM 2) || int8send(child_id), ''::bytea ORDER BY child_bucket, child_id)
		FROM links_by_row GROUP BY bucket, parent_id`,
}

// fillLinks reads the links of a backup from before step 8, and returns how many there are.
func (t *tx) fillLinks(ctx context.Context, conn *sql.Conn, src *backupReader, table BackupTable) (int64, error) {
	if err := t.script(ctx, makeLinksByRow); err != nil {
		return 0, err
	}
	table.Name, table.kinds = "links_by_row", []kind{kindInt, kindInt, kindInt, kindInt}
	n, err := t.fillTable(ctx, conn, src, table)
	if err != nil {
		return n, err
	}
	if err := t.script(ctx, packLinksByRow[t.store.dialect]); err != nil {
		return n, err
	}
	return n, t.script(ctx, "DROP TABLE links_by_row")
}
