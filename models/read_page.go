package models

import (
	"context"
	"fmt"
	"math"
)

// Page returns one page by its key (see PageID; the bucket is that of its host's name), or ErrNotFound.
func (s *Store) Page(ctx context.Context, bucket int16, id int64) (Page, error) {
	rows, err := s.rows(ctx, "SELECT "+pageTable.list()+" FROM pages WHERE bucket = $1 AND id = $2", bucket, id)
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
	rows, err := s.rows(ctx, "SELECT "+versionTable.list()+` FROM versions
		WHERE bucket = $1 AND page_id = $2 AND number = $3`, bucket, page, number)
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
// It reads the key (bucket, parent_id, …) of links and the key of pages.
func (s *Store) Children(ctx context.Context, bucket int16, page int64, n int) ([]string, error) {
	const query = `SELECT p.url FROM links l JOIN pages p ON p.bucket = l.child_bucket AND p.id = l.child_id
		WHERE l.bucket = $1 AND l.parent_id = $2 LIMIT $3`
	return s.urls(ctx, query, bucket, page, n)
}

// Share counts the known children of a page and those of them that changed since its links were last read, as Claim does
// for a page whose turn has come. It reads the key (bucket, parent_id, …) of links and the key of pages.
func (s *Store) Share(ctx context.Context, p Page) (ChildShare, error) {
	const query = `SELECT c.level, c.changed_at, c.first_at FROM links l
		JOIN pages c ON c.bucket = l.child_bucket AND c.id = l.child_id WHERE l.bucket = $1 AND l.parent_id = $2`
	var share ChildShare
	var child Page
	for _, err := range s.scan(ctx, []any{&child.Level, &child.Stats.ChangedAt, &child.Stats.FirstAt}, query, p.Bucket, p.ID) {
		if err != nil {
			return ChildShare{}, fmt.Errorf("read links: %w", err)
		}
		share.Count(&p, &child)
	}
	return share, nil
}

// Parents returns the URLs of pages of one bucket that name a page, at most n. Links are kept by parent and have no
// index by child (it would double the cost of writing them), so this reads all links of the parents' bucket; the
// bucket of the page itself finds those on its own host, which is where nearly all parents are.
func (s *Store) Parents(ctx context.Context, parents, bucket int16, page int64, n int) ([]string, error) {
	const query = `SELECT p.url FROM links l JOIN pages p ON p.bucket = l.bucket AND p.id = l.parent_id
		WHERE l.bucket = $1 AND l.child_bucket = $2 AND l.child_id = $3 LIMIT $4`
	return s.urls(ctx, query, parents, bucket, page, n)
}

func (s *Store) urls(ctx context.Context, query string, args ...any) ([]string, error) {
	var out []string
	var url string
	for _, err := range s.scan(ctx, []any{&url}, query, args...) {
		if err != nil {
			return nil, fmt.Errorf("read links: %w", err)
		}
		out = append(out, url)
	}
	return out, nil
}
