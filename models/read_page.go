package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Page returns one page by its key (see PageID; the bucket is that of its host's name), or ErrNotFound.
func (s *Store) Page(ctx context.Context, bucket int16, id int64) (Page, error) {
	rows, err := s.rows(ctx, "SELECT "+pageTable.prefixed("")+" FROM pages WHERE bucket = $1 AND id = $2", bucket, id)
	return only(pageTable, "page", rows, err)
}

// Host returns one host by its key (see HostID and BucketOf), or ErrNotFound.
func (s *Store) Host(ctx context.Context, bucket int16, id int64) (Host, error) {
	rows, err := s.rows(ctx, "SELECT "+hostTable.list()+" FROM hosts WHERE bucket = $1 AND id = $2", bucket, id)
	return only(hostTable, "host", rows, err)
}

// History returns the newest visits of a page, the newest first, at most n, older than the visit numbered before
// (0: from the newest on). It reads the key (bucket, page_id, number).
func (s *Store) History(ctx context.Context, bucket int16, page int64, before int32, n int) ([]Visit, error) {
	rows, err := s.rows(ctx, "SELECT "+visitTable.list()+` FROM visits
		WHERE bucket = $1 AND page_id = $2 AND number < $3 ORDER BY number DESC LIMIT $4`, bucket, page, orLast(before), n)
	visits, err := visitTable.scan(rows, err)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return visits, nil
}

// Versions returns the newest versions of a page, the newest first, at most n, older than the version numbered before
// (0: from the newest on). It reads the key (bucket, page_id, number).
func (s *Store) Versions(ctx context.Context, bucket int16, page int64, before int32, n int) ([]Version, error) {
	rows, err := s.rows(ctx, "SELECT "+versionTable.list()+` FROM versions
		WHERE bucket = $1 AND page_id = $2 AND number < $3 ORDER BY number DESC LIMIT $4`, bucket, page, orLast(before), n)
	versions, err := versionTable.scan(rows, err)
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	return versions, nil
}

// Version returns one version of a page, or ErrNotFound.
func (s *Store) Version(ctx context.Context, bucket int16, page int64, number int32) (Version, error) {
	query := "SELECT " + versionTable.list() + " FROM versions WHERE bucket = $1 AND page_id = $2 AND number = $3"
	if at := s.placement(bucket); at != nil {
		rows, err := at.rows(ctx, query, bucket, page, number)
		if version, err := only(versionTable, "version", rows, err); err == nil || errors.Is(err, ErrNotFound) {
			return version, err
		}
	}
	rows, err := s.rows(ctx, query, bucket, page, number)
	return only(versionTable, "version", rows, err)
}

// only is the one row that a query by key finds, or ErrNotFound.
func only[T any](tb table[T], noun string, rows answer, err error) (T, error) {
	found, err := tb.scan(rows, err)
	if err != nil {
		return *new(T), fmt.Errorf("read %s: %w", noun, err)
	}
	if len(found) == 0 {
		return *new(T), fmt.Errorf("read %s: %w", noun, ErrNotFound)
	}
	return found[0], nil
}

// orLast is a number to read before, or for 0 one that is past all.
func orLast(before int32) int32 {
	if before <= 0 {
		return math.MaxInt32
	}
	return before
}

// Children returns the URLs of the pages that a page names, as far as they are kept, at most n, in no particular order.
// It reads the key (bucket, parent_id) of links and the key of pages.
func (s *Store) Children(ctx context.Context, bucket int16, page int64, n int) ([]string, error) {
	links, err := s.linksOf(ctx, s.asker(), []rowKey{{bucket, page}})
	if err != nil || len(links) == 0 {
		return nil, wrapLinks(err)
	}
	children, err := links[0].keys()
	if err != nil {
		return nil, wrapLinks(err)
	}
	return s.urls(ctx, children, n)
}

// Share counts the known children of a page and those of them that changed since its links were last read, as Claim does
// for a page whose turn has come. It reads the key (bucket, parent_id) of links and the key of pages.
func (s *Store) Share(ctx context.Context, p Page) (ChildShare, error) {
	parent := LeasedPage{Page: p}
	err := s.countChildren(ctx, s.asker(), map[rowKey]*LeasedPage{{p.Bucket, p.ID}: &parent}, func(_, _ int16) bool { return true })
	return parent.Share, wrapLinks(err)
}

// parentsOfChild is the links of a bucket in which the bytes of a child's key occur. No index: see Parents.
var parentsOfChild = map[dialect]string{
	sqliteDialect:   `SELECT ` + linksTable.list() + ` FROM links WHERE bucket = $1 AND instr(children, $2) > 0`,
	postgresDialect: `SELECT ` + linksTable.list() + ` FROM links WHERE bucket = $1 AND position($2::bytea in children) > 0`,
}

// Parents returns the URLs of pages of one bucket that name a page, at most n. Links are kept by parent and have no
// index by child (it would make them many times as dear to write), so this reads all links of the parents' bucket; the
// bucket of the page itself finds those on its own host, which is where nearly all parents are.
func (s *Store) Parents(ctx context.Context, parents, bucket int16, page int64, n int) ([]string, error) {
	child := rowKey{bucket, page}
	rows, err := s.rows(ctx, parentsOfChild[s.dialect], parents, packChildren([]rowKey{child})[1:])
	var found []rowKey
	err = eachRow(rows, err, func(rows answer) error {
		var l linksRow
		if err := rows.Scan(linksTable.fields(&l)...); err != nil {
			return err
		}
		children, err := l.keys()
		if slices.Contains(children, child) { // and not the end of one key and the beginning of the next
			found = append(found, rowKey{l.bucket, l.parent})
		}
		return err
	})
	if err != nil {
		return nil, wrapLinks(err)
	}
	return s.urls(ctx, found, n)
}

// knownOf hands out some columns of those of some pages that are known, in any order, and a page twice where its shard's server fails on the way. Index:
// the primary key.
func knownOf[T any](ctx context.Context, s *Store, columns table[T], pages []rowKey, hand func(*T)) error {
	q := keyed{table: "pages", column: "id", statement: func(from source) string {
		return "SELECT " + columns.prefixed("k.") + " FROM " + from.from
	}}
	return s.eachShard(ctx, pages, func(ask asker, pages []rowKey) error {
		return s.byKeys(ctx, ask, pages, q, func(rows answer) error {
			var row T
			if err := columns.read(rows, &row); err != nil {
				return err
			}
			hand(&row)
			return nil
		})
	})
}

// urls is the URLs of those of the pages that exist, at most n.
func (s *Store) urls(ctx context.Context, pages []rowKey, n int) ([]string, error) {
	var out []string
	for slice := range slices.Chunk(pages, max(n, 1)) {
		// Index: the primary key.
		err := s.byKeys(ctx, s.asker(), slice, keyed{table: "pages", column: "id", statement: func(from source) string {
			return `SELECT k.url FROM ` + from.from
		}}, func(rows answer) error {
			out = append(out, "")
			return rows.Scan(&out[len(out)-1])
		})
		if err != nil {
			return nil, wrapLinks(err)
		}
		if len(out) >= n {
			return out[:n], nil
		}
	}
	return out, nil
}

func wrapLinks(err error) error {
	if err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	return nil
}
