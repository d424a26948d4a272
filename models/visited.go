package models

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
)

// A visit that finds nothing new leaves most of a page's columns as they were, and writing them again is a large part of
// what it costs. So of a page whose row before is known only those groups of columns are written in which something
// differs: few enough that a store has few statements for all of them.

// columnGroups are sets of columns of pages; what none names is in the first. The last is written at every visit, for what
// others may have put into it meanwhile, a person's wish for a visit now, is over with it.
var columnGroups = []string{
	"",
	"host_id site_id url state level note",
	"failures class missing_since missing_visits redirect_to chain",
	"children full_at threshold skips",
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

// written is the groups of a page's columns that a visit has to write, given the row as it was; all where that is nil.
func written(before, after *Page) groups {
	if before == nil {
		return allGroups
	}
	wanted := everyVisit
	was := visitedTable.fields(before)
	for c, field := range visitedTable.fields(after) {
		if g := groupOfColumn[c]; c >= visitedTable.key && wanted&g == 0 && !sameField(was[c], field) {
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

// visitedOnly is visitedTable with its key and some groups of columns alone.
func visitedOnly(g groups) table[Page] {
	if g == allGroups {
		return visitedTable
	}
	keep := func(c int) bool { return c < visitedTable.key || groupOfColumn[c]&g != 0 }
	narrow := visitedTable
	var names []string
	for c, name := range strings.Fields(visitedTable.columns) {
		if keep(c) {
			names = append(names, name)
		}
	}
	narrow.columns = strings.Join(names, " ")
	narrow.fields = func(p *Page) []any {
		all := visitedTable.fields(p)
		kept := all[:0]
		for c, field := range all {
			if keep(c) {
				kept = append(kept, field)
			}
		}
		return kept
	}
	return narrow
}

// writePages writes what differs of the pages; of two results for one page the later one, with what either changed.
func (c *commit) writePages(ctx context.Context) error {
	type change struct {
		page    Page
		written groups
	}
	last := make(map[rowKey]change, len(c.fresh))
	for _, r := range c.fresh {
		p := r.Page
		p.Bucket, p.HostID = r.Lease.Bucket, r.Lease.HostID
		last[rowOfPage(r)] = change{p, last[rowOfPage(r)].written | written(r.Before, &p)}
	}
	var rows [allGroups + 1][]Page
	for _, ch := range byRowKey(last) {
		rows[ch.written] = append(rows[ch.written], ch.page)
	}
	for g, pages := range rows {
		if err := visitedOnly(groups(g)).update(ctx, c.tx, pages); err != nil {
			return err
		}
	}
	return nil
}
