package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A visit that finds nothing new leaves most of a page's columns as they were, and writing them again is a large part of
// what it costs. So of a page whose row before is known only those groups of columns are written in which something
// differs: few enough that a store has few statements for all of them.

// columnGroups are sets of columns of pages; what none names is in the first. The last is written at every visit, for what
// others may have put into it meanwhile, a person's wish for a visit now, is over with it (but see wishes).
var columnGroups = []string{
	"",
	"host_id site_id url state level note",
	"failures class missing_since missing_visits redirect_to chain",
	"children full_at threshold skips entries",
	"evidence_changes evidence_days byte_changes bytes_at",
	"due_at fr_max rule wanted visits records changes bits visited_at tried_at fresh_until",
}

// groups is a set of columnGroups, by their bits.
type groups uint8

const (
	everyVisit = groups(1 << 5)
	allGroups  = groups(1<<6 - 1)
)

// groupOfColumn is the group of each column of visitedTable.
var groupOfColumn = func() []groups {
	of := make([]groups, 0, 50)
	for _, name := range strings.Fields(visitedTable.columns) {
		at := slices.IndexFunc(columnGroups, func(g string) bool { return slices.Contains(strings.Fields(g), name) })
		of = append(of, 1<<max(at, 0))
	}
	return of
}()

// comparison compares pages as they were with what they are. It is not safe for concurrent use.
type comparison struct {
	was, is             Page
	fieldsWas, fieldsIs []any // of the two: to list them takes memory
}

func newComparison() *comparison {
	c := new(comparison)
	c.fieldsWas, c.fieldsIs = visitedTable.fields(&c.was), visitedTable.fields(&c.is)
	return c
}

// written is the groups of a page's columns that a visit has to write, given the row as it was; all where that is nil.
func (c *comparison) written(before, after *Page) groups {
	if before == nil {
		return allGroups
	}
	wanted := everyVisit
	c.was, c.is = *before, *after
	for n, field := range c.fieldsIs {
		if g := groupOfColumn[n]; n >= visitedTable.key && wanted&g == 0 && !sameField(c.fieldsWas[n], field) {
			wanted |= g
		}
	}
	return wanted
}

// sameField compares two fields of one column.
func sameField(a, b any) bool {
	switch a := a.(type) {
	case *int64:
		return *a == *b.(*int64)
	case *int32:
		return *a == *b.(*int32)
	case *int16:
		return *a == *b.(*int16)
	case *Instant:
		return *a == *b.(*Instant)
	case *string:
		return *a == *b.(*string)
	case *bool:
		return *a == *b.(*bool)
	case *float32:
		return *a == *b.(*float32)
	case *Digest:
		return *a == *b.(*Digest)
	case *[]byte:
		return bytes.Equal(*a, *b.(*[]byte))
	case *chainField:
		return slices.Equal(*a, *b.(*chainField))
	}
	return reflect.DeepEqual(valueOf(a), valueOf(b))
}

// visitedRow is a page as a visit leaves it, and how many visits it had before.
type visitedRow struct {
	Page
	had int32
}

// visitedOnly writes some groups of columns of the pages that had as many visits as is said.
func visitedOnly(g groups) table[visitedRow] {
	keep := func(c int) bool { return c >= visitedTable.key && groupOfColumn[c]&g != 0 }
	names := []string{"bucket id had"}
	for c, name := range strings.Fields(visitedTable.columns) {
		if keep(c) {
			names = append(names, name)
		}
	}
	return table[visitedRow]{"pages", strings.Join(names, " "), visitedTable.key + 1, func(v *visitedRow) []any {
		all := visitedTable.fields(&v.Page)
		kept := append(make([]any, 0, len(names)+2), &v.Bucket, &v.ID, &v.had)
		for c, field := range all {
			if keep(c) {
				kept = append(kept, field)
			}
		}
		return kept
	}}
}

// writeVisited writes pages that had as many visits as is said, and returns how many those were.
func writeVisited(ctx context.Context, t *tx, g groups, rows []visitedRow) (int64, error) {
	tb := visitedOnly(g)
	update := tb.updating(t.sharded())
	return tb.count(ctx, t, rows, func(source string) string {
		if source == "" {
			return strings.Replace(update(source), " had = $", " visits = $", 1)
		}
		return strings.Replace(update(source), "pages.had", "pages.visits", 1)
	}, tb.buckets(t, rows)...)
}

// errVisited says that a page is not as it was leased any more: it was removed, or the result of its visit was written
// before. Run again, the transaction looks at the pages before it writes.
var errVisited = errors.New("a page was removed or visited meanwhile")

// writePages writes what differs of the pages; of two results for one page the later one, with what either changed. Wishes stay.
func (c *commit) writePages(ctx context.Context) error {
	type change struct {
		last    *Result
		written groups
	}
	wishes, err := c.wishes(ctx)
	if err != nil {
		return fmt.Errorf("read wishes: %w", err)
	}
	changes := make(map[rowKey]change, len(c.fresh))
	pages := newComparison()
	for _, r := range c.fresh {
		changes[rowOfPage(r)] = change{r, changes[rowOfPage(r)].written | pages.written(r.Before, &r.Page)}
	}
	all, of := groups(0), [allGroups + 1]int{}
	for _, ch := range changes {
		all |= ch.written
		of[ch.written]++
	}
	var rows [allGroups + 1][]visitedRow
	for _, key := range slices.SortedFunc(maps.Keys(changes), compareKeys) {
		g, r := changes[key].written, changes[key].last
		if c.tx.sharded() { // which plans each statement anew: one more of them costs more than columns do
			g = all
		}
		if rows[g] == nil {
			rows[g] = make([]visitedRow, 0, of[g])
		}
		rows[g] = append(rows[g], visitedRow{r.Page, c.was[key].visits})
		row := &rows[g][len(rows[g])-1]
		row.Bucket, row.HostID = r.Lease.Bucket, r.Lease.HostID
		if w, asked := wishes[key]; asked {
			row.DueAt, row.Rule = w.over()
		}
	}
	for g, pages := range rows {
		if len(pages) == 0 {
			continue
		}
		n, err := writeVisited(ctx, c.tx, groups(g), pages)
		if err != nil {
			return err
		}
		if n < int64(len(pages)) {
			return errVisited
		}
	}
	return nil
}
