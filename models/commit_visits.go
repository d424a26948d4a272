package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// writeVisits writes the visits and the versions that they found.
func (c *commit) writeVisits(ctx context.Context) error {
	visits := make([]Visit, 0, len(c.fresh))
	var versions []Version
	for _, r := range c.fresh {
		if v := r.Visit; v.Number > 0 {
			v.Bucket, v.PageID = r.Lease.Bucket, r.Page.ID
			visits = append(visits, v)
		}
		if r.Version != nil {
			v := *r.Version
			v.Bucket, v.PageID = r.Lease.Bucket, r.Page.ID
			versions = append(versions, v)
		}
	}
	if err := c.appendVisits(ctx, visits); err != nil {
		return err
	}
	return versionTable.insert(ctx, c.tx, versions)
}

// appendVisits writes visits. writePages has seen that each of their pages had as many as was known, which is fewer than the
// number of its visit here, so there is none of that number yet, and PostgreSQL need not look for one: to COPY a visit is half
// the work of inserting it where it may be there. Should one be there after all, the transaction is run again and leaves it.
func (c *commit) appendVisits(ctx context.Context, visits []Visit) error {
	const few = 32 // for which the further round trip is not worth it
	if c.looks || c.tx.conn == nil || c.tx.sharded() || len(visits) < few {
		return visitTable.insert(ctx, c.tx, visits)
	}
	err := visitTable.copyIn(ctx, c.tx, visits)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == uniqueViolation {
		return errors.Join(err, errVisited)
	}
	if err != nil {
		return fmt.Errorf("write visits: %w", err)
	}
	return nil
}

// uniqueViolation is PostgreSQL's error for a row of a key that there is.
const uniqueViolation = "23505"
