package models

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// The links of a page are one row: the keys of its children, one after the other, in their order. A row for each of them took
// eight times the room and, on PostgreSQL, a third of what a first crawl cost the server. A column of its own for the children's
// buckets would save an eighth of what is left, and the migration could not be a statement.

// linksForm is the first byte of a page's children, which says how they are written: each as its bucket, one byte, and its ID,
// eight bytes, the highest first.
const (
	linksForm = 1
	linkBytes = 9
)

// linksRow is the links of a page.
type linksRow struct {
	bucket   int16
	parent   int64
	children []byte // see packChildren; never empty
}

var linksTable = table[linksRow]{"links", "bucket parent_id children", 2, func(l *linksRow) []any {
	return []any{&l.bucket, &l.parent, &l.children}
}}

// packChildren writes the keys of children, each once, or nil where there are none. It sorts them.
func packChildren(children []rowKey) []byte {
	if len(children) == 0 {
		return nil
	}
	slices.SortFunc(children, compareKeys)
	children = slices.Compact(children)
	b := make([]byte, 1, 1+linkBytes*len(children))
	b[0] = linksForm
	for _, c := range children {
		b = binary.BigEndian.AppendUint64(append(b, byte(c.bucket)), uint64(c.id))
	}
	return b
}

// packLinks is packChildren of links.
func packLinks(links []Link) []byte {
	children := make([]rowKey, len(links))
	for i, l := range links {
		children[i] = rowKey{l.ChildBucket, l.ChildID}
	}
	return packChildren(children)
}

var errPackedLinks = errors.New("links that this release cannot read")

// unpackChildren reads what packChildren wrote; of nothing, no children.
func unpackChildren(b []byte) ([]rowKey, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if b[0] != linksForm || len(b)%linkBytes != 1 {
		return nil, fmt.Errorf("%w: %d bytes of form %d", errPackedLinks, len(b), b[0])
	}
	children := make([]rowKey, 0, len(b)/linkBytes)
	for at := 1; at < len(b); at += linkBytes {
		children = append(children, rowKey{int16(b[at]), int64(binary.BigEndian.Uint64(b[at+1:]))})
	}
	return children, nil
}

// keys are the children of a row.
func (l *linksRow) keys() ([]rowKey, error) {
	children, err := unpackChildren(l.children)
	if err != nil {
		return nil, fmt.Errorf("page %d of bucket %d: %w", l.parent, l.bucket, err)
	}
	return children, nil
}

// linksOf reads the links of those of the pages that have some.
func (s *Store) linksOf(ctx context.Context, ask asker, parents []rowKey) ([]linksRow, error) {
	var found []linksRow
	// Index: the primary key.
	err := s.byKeys(ctx, ask, parents, keyed{table: "links", column: "parent_id", statement: func(from source) string {
		return `SELECT ` + linksTable.prefixed("k.") + ` FROM ` + from.from
	}}, func(rows answer) error {
		found = append(found, linksRow{})
		return rows.Scan(linksTable.fields(&found[len(found)-1])...)
	})
	return found, err
}

// readLinks reads a slice of the links of a bucket. Index: the primary key.
var readLinks = `SELECT ` + linksTable.list() + ` FROM links WHERE bucket = $1 AND parent_id > $2 ORDER BY parent_id LIMIT $3`

// readLinksRows is how many pages LinksFrom reads the links of at a time.
const readLinksRows = 100

// LinksFrom lists at most limit links whose parents lie in the bucket, in the order of their keys, from the one behind
// after on; the zero Link is before all.
func (s *Store) LinksFrom(ctx context.Context, bucket int16, after Link, limit int) ([]Link, error) {
	var links []Link
	for l, err := range s.linksFrom(ctx, bucket, after.ParentID-1) {
		if err != nil {
			return nil, fmt.Errorf("read links of bucket %d: %w", bucket, err)
		}
		if len(links) == limit {
			break
		}
		if compareLinks(l, after) > 0 {
			links = append(links, l)
		}
	}
	return links, nil
}

// linksFrom yields the links of a bucket behind those of a parent.
func (s *Store) linksFrom(ctx context.Context, bucket int16, parent int64) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for full := true; full; {
			rows, err := linksTable.scan(s.rows(ctx, readLinks, bucket, parent, readLinksRows))
			for i := range rows {
				children, bad := rows[i].keys()
				if bad != nil {
					yield(Link{}, bad)
					return
				}
				for _, c := range children {
					if !yield(Link{bucket, rows[i].parent, c.bucket, c.id}, nil) {
						return
					}
				}
			}
			if err != nil {
				yield(Link{}, err)
				return
			}
			if full = len(rows) == readLinksRows; full {
				parent = rows[len(rows)-1].parent
			}
		}
	}
}

// compareLinks orders links of one bucket by their parents and then their children.
func compareLinks(a, b Link) int {
	if a.ParentID != b.ParentID {
		return compareKeys(rowKey{0, a.ParentID}, rowKey{0, b.ParentID})
	}
	return compareKeys(rowKey{a.ChildBucket, a.ChildID}, rowKey{b.ChildBucket, b.ChildID})
}
