package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"recrawld/models"
	"recrawld/report"
)

// dbCmd is what concerns the database itself.
type dbCmd struct {
	Distribute distributeCmd `cmd:"" help:"Spread the tables of a PostgreSQL with Citus over its servers."`
	Rewind     rewindCmd     `cmd:"" help:"Bring back what was written while the machine's clock was ahead, now that it is right."`
	Check      dbCheckCmd    `cmd:"" help:"Hold the counts that the database keeps of its pages against the pages."`
}

// dbCheckCmd looks for counts that are not those of the pages.
type dbCheckCmd struct{}

// Help is the text below the flags.
func (dbCheckCmd) Help() string {
	return `Reads all pages once, in one snapshot, while visits go on. Counts that differ come from rows changed by hand or from a bug;
restoring a backup counts anew.`
}

// Run implements the command.
func (dbCheckCmd) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(l *look) error {
		if err := l.store.CheckCounts(ctx); err != nil {
			return err
		}
		n, err := l.store.PagesKnown(ctx)
		if err != nil {
			return err
		}
		if l.JSON {
			return l.printJSON(struct {
				Pages int64 `json:"pages"`
				Right bool  `json:"right"`
			}{n, true})
		}
		_, err = fmt.Fprintf(l.Stdout, "the counts of %s are right\n", report.Plural(n, "page"))
		return err
	})
}

// distributeCmd spreads the tables over servers.
type distributeCmd struct{}

// Help is the text below the flags.
func (distributeCmd) Help() string {
	return `Splits every table that has a bucket by it, the buckets of all tables together, and copies the small ones to all
servers: four shards a server, unless citus.shard_count is set for the database or the role. Run it once on an empty or a
filled database, and again after an upgrade that adds tables; restart workers that ran meanwhile, which take each bucket for a
shard of its own until then. Citus is a server of its own: recrawld needs it only for this. Workers are given
the address of the coordinator, and go to the other servers themselves where they reach them by the names that the
coordinator has for them.`
}

// Run implements the command.
func (distributeCmd) Run(ctx context.Context, g *globals) (err error) {
	c, _, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	if c.Store == "sqlite" {
		return usagef("the database is SQLite, one file: only a PostgreSQL with Citus can be distributed (--store postgres://…)")
	}
	store, err := g.openStoreForWriting(ctx, &c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	d, err := store.Distribute(ctx)
	if err != nil {
		return err
	}
	if g.JSON {
		return report.WriteValue(g.Stdout, d)
	}
	return g.writeDistribution(d)
}

func (g *globals) writeDistribution(d models.Distribution) error {
	lines := []string{fmt.Sprintf("Citus %s, %d servers with shards: %s", d.Version, len(d.Servers), strings.Join(d.Servers, ", "))}
	for _, part := range []struct {
		what   string
		tables []string
	}{
		{fmt.Sprintf("split by bucket into %d shards", d.Shards), d.Distributed}, {"copied to every server", d.Copied},
		{"distributed before", d.Before},
	} {
		if len(part.tables) > 0 {
			lines = append(lines, part.what+": "+strings.Join(part.tables, ", "))
		}
	}
	_, err := fmt.Fprintln(g.Stdout, strings.Join(lines, "\n"))
	return err
}
