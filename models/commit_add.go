package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// add writes rows whose keys are new, as far as the transaction knows: the visits of a page that has had fewer, what they found,
// the events after the last number. So PostgreSQL need not look for them, which takes a further entry of its log for each row: to
// COPY them is half the work. Should one be there after all, as one of a page that was removed and found anew can be, the
// transaction is run again, and writes them in the other way, as it does where COPY is not worth it.
func add[T any](ctx context.Context, c *commit, tb table[T], rows []T, otherwise func(context.Context, *tx, []T) error) error {
	const few = 32 // for which the further round trip is not worth it
	if c.again || c.tx.conn == nil || c.tx.sharded() || len(rows) < few {
		return otherwise(ctx, c.tx, rows)
	}
	return met(tb.name, tb.copyIn(ctx, c.tx, rows))
}

// met turns the error of a row that is there already into errVisited.
func met(table string, err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == uniqueViolation {
		return errors.Join(err, errVisited)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", table, err)
	}
	return nil
}

// uniqueViolation is PostgreSQL's error for a row of a key that there is.
const uniqueViolation = "23505"
