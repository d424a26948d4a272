package models

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
)

// Kept is a version whose body went to the archive: what is held against it there.
type Kept struct {
	Bucket int16
	PageID int64
	Number int32
	Digest Digest
	Record Record
}

// keptTable is columns of versions that are read on their own, and tell one that is as it was read.
var keptTable = table[Kept]{"versions", "bucket page_id number record_file record_offset record_length", 6, func(k *Kept) []any {
	return []any{&k.Bucket, &k.PageID, &k.Number, &k.Record.File, &k.Record.Offset, &k.Record.Length}
}}

// movedTable is where versions with a digest lie, of a page or by themselves.
var movedTable = table[Version]{"versions", "bucket page_id digest record_file record_offset record_length", 3, func(v *Version) []any {
	return []any{&v.Bucket, &v.PageID, &v.Digest, &v.Record.File, &v.Record.Offset, &v.Record.Length}
}}

// keptRows is how many versions KeptVersions reads at a time, and lostRows of how many a transaction writes that they are lost.
const (
	keptRows = 5000
	lostRows = 500
)

// KeptVersions yields every version whose body was kept, of a site or of all (0), those that were found to be lost included. It reads the
// key of versions, some thousand at a time, and holds no transaction open: versions that come or go meanwhile may be left out.
func (s *Store) KeptVersions(ctx context.Context, site int32) iter.Seq2[Kept, error] {
	of := ""
	if site != 0 { // Index: the primary key of pages.
		of = ` AND EXISTS (SELECT 1 FROM pages p WHERE p.bucket = $1 AND p.id = v.page_id AND p.site_id = $5)`
	}
	query := `SELECT v.page_id, v.number, v.digest, v.record_file, v.record_offset, v.record_length FROM versions v
		WHERE v.bucket = $1 AND (v.page_id, v.number) > ($2, $3) AND v.record_file <> ''` + of + ` ORDER BY v.page_id, v.number LIMIT $4`
	return func(yield func(Kept, error) bool) {
		for bucket := range int16(Buckets) {
			last := Kept{Bucket: bucket, PageID: -1}
			for more := true; more; {
				slice, err := s.keptSlice(ctx, query, last, site)
				if err != nil {
					yield(Kept{}, fmt.Errorf("read versions of bucket %d: %w", bucket, err))
					return
				}
				for _, k := range slice {
					if !yield(k, nil) {
						return
					}
				}
				if more = len(slice) == keptRows; more {
					last = slice[len(slice)-1]
				}
			}
		}
	}
}

func (s *Store) keptSlice(ctx context.Context, query string, after Kept, site int32) ([]Kept, error) {
	args := []any{after.Bucket, after.PageID, after.Number, keptRows}
	if site != 0 {
		args = append(args, site)
	}
	k := Kept{Bucket: after.Bucket}
	slice := make([]Kept, 0, keptRows)
	into := []any{&k.PageID, &k.Number, &k.Digest, &k.Record.File, &k.Record.Offset, &k.Record.Length}
	for _, err := range s.scan(ctx, into, query, args...) {
		if err != nil {
			return nil, err
		}
		slice = append(slice, k)
	}
	return slice, nil
}

// LoseContents forgets where bodies lie that the archive has lost, if they are still said to lie there: whoever meets such a body next
// stores it anew.
func (s *Store) LoseContents(ctx context.Context, lost []Kept) error {
	for bucket, some := range keptBy(lost, func(k Kept) int16 { return int16(k.Digest[0]) }) {
		err := s.inTx(ctx, func(t *tx) error {
			for _, k := range some { // Index: the primary key.
				_, err := t.exec(ctx, `DELETE FROM contents WHERE bucket = $1 AND digest = $2 AND record_file = $3 AND record_offset = $4`,
					bucket, k.Digest[:], k.Record.File, k.Record.Offset)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("forget lost bodies: %w", err)
		}
	}
	return nil
}

// LoseVersions notes that the bodies of versions are lost, of those that still lie where they are said to (Record.Lost, Page.Lost), and
// makes the live pages due now whose newest version is among them, those of a greater importance some minutes before the others
// (RuleLost); what somebody asked for stays due by his wish. It returns how many pages are to be fetched anew. Once more it changes nothing.
func (s *Store) LoseVersions(ctx context.Context, now time.Time, lost []Kept) (asked int, err error) {
	for bucket, some := range keptBy(lost, func(k Kept) int16 { return k.Bucket }) {
		due := 0
		err := s.inTx(ctx, func(t *tx) (err error) {
			due, err = t.lose(ctx, now, bucket, some)
			return err
		})
		if err != nil {
			return asked, fmt.Errorf("note lost versions: %w", err)
		}
		asked += due
	}
	return asked, nil
}

// keptBy are versions by bucket, in slices of lostRows.
func keptBy(all []Kept, bucketOf func(Kept) int16) iter.Seq2[int16, []Kept] {
	by := make(map[int16][]Kept)
	for _, k := range all {
		by[bucketOf(k)] = append(by[bucketOf(k)], k)
	}
	return func(yield func(int16, []Kept) bool) {
		for bucket := range int16(Buckets) {
			for some := range slices.Chunk(by[bucket], lostRows) {
				if !yield(bucket, some) {
					return
				}
			}
		}
	}
}

// lose is LoseVersions for some versions of one bucket. Whoever writes a page or its versions holds the lock of its host, as this does.
func (t *tx) lose(ctx context.Context, now time.Time, bucket int16, lost []Kept) (due int, err error) {
	ids := make([]int64, len(lost))
	for i, k := range lost {
		ids[i] = k.PageID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	pages, err := t.refs(ctx, `SELECT id, host_id FROM pages WHERE bucket = $1 AND id = ANY($2)`, bucket, ids) // Index: the primary key.
	if err != nil {
		return 0, err
	}
	hosts := make([]rowKey, len(pages))
	for i, p := range pages {
		hosts[i] = rowKey{bucket, p.host}
	}
	q := newQueue(t)
	if err := q.lock(ctx, hosts); err != nil {
		return 0, err
	}
	if err := keptTable.each(ctx, t, lost, losing(t.sharded()), keptTable.buckets(t, lost)...); err != nil {
		return 0, err
	}
	// Indexes: the primary keys.
	newest := `SELECT p.id, p.host_id FROM pages p JOIN versions v ON v.bucket = p.bucket AND v.page_id = p.id AND v.number = p.version
		WHERE p.bucket = $1 AND v.bucket = $1 AND p.id = ANY($2) AND v.record_length < 0 AND NOT COALESCE(p.lost,false)`
	if pages, err = t.refs(ctx, newest, bucket, ids); err != nil || len(pages) == 0 {
		return 0, err
	}
	live, wished, err := t.lostLive(ctx, newest, bucket, ids, now)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, `UPDATE pages SET lost = $3 WHERE bucket = $1 AND id = ANY($2)`, bucket, pageIDs(pages), true)
	if err != nil {
		return 0, err
	}
	for at, some := range live {
		due += len(some)
		if err := q.makeDue(ctx, at, RuleLost, bucket, some); err != nil {
			return 0, err
		}
	}
	return due + wished, q.flush(ctx)
}

// Of pages that are lost at once, one that counts for twice as much as another is due a minute before it, and for ten minutes at most
// before those of importance 1, or after them.
const (
	lostStep  = time.Minute
	lostSteps = 10
)

// LostDue is when a live page of that importance is due whose body is lost, as is known now.
func LostDue(importance float32, now time.Time) Instant {
	steps := 0.
	if importance > 0 {
		steps = math.Round(max(-lostSteps, min(lostSteps, math.Log2(float64(importance)))))
	}
	return At(now.Add(-time.Duration(steps) * lostStep))
}

// lostLive are the live pages that a query names, by when they are due; wished is how many of them more somebody asked for already, who
// does not wait for the budget.
func (t *tx) lostLive(ctx context.Context, newest string, bucket int16, ids []int64, now time.Time) (live map[Instant][]pageRef, wished int,
	err error) {
	live = make(map[Instant][]pageRef)
	query := strings.Replace(newest, "p.host_id", "p.host_id, COALESCE(p.importance,0), p.rule", 1)
	rows, err := t.rows(ctx, query+fmt.Sprintf(" AND p.state = %d AND p.due_at > 0", StateLive), bucket, ids)
	err = eachRow(rows, err, func(rows answer) error {
		var p pageRef
		var importance float32
		var rule Rule
		if err := rows.Scan(&p.id, &p.host, &importance, &rule); err != nil {
			return err
		}
		if rule == RuleManual {
			wished++
			return nil
		}
		at := LostDue(importance, now)
		live[at] = append(live[at], p)
		return nil
	})
	return live, wished, err
}

// refs reads pages that a query names by ID and host.
func (t *tx) refs(ctx context.Context, query string, args ...any) (pages []pageRef, err error) {
	rows, err := t.rows(ctx, query, args...)
	err = eachRow(rows, err, func(rows answer) error {
		var p pageRef
		err := rows.Scan(&p.id, &p.host)
		pages = append(pages, p)
		return err
	})
	return pages, err
}

// losing is the statement that marks versions as lost that lie where they are said to.
func losing(sharded bool) func(source string) string {
	tb := keptTable
	names := strings.Fields(tb.columns)
	return func(source string) string {
		if source == "" {
			return "UPDATE versions SET record_length = -record_length WHERE " + numbered(names, 0, tb.key, " AND ")
		}
		return "UPDATE versions SET record_length = -versions.record_length FROM " + source + " AS v (" + tb.list() + ") WHERE " +
			tb.sameKey(names) + tb.inBuckets(names, sharded)
	}
}

// FindVersions notes that the bodies of versions that lie where they are said to, lost or not, lie elsewhere: at to, a record of the same
// digest that was read. It also lets later copies of the body refer to it.
func (s *Store) FindVersions(ctx context.Context, some []Kept, to Content) error {
	for bucket, some := range keptBy(some, func(k Kept) int16 { return k.Bucket }) {
		err := s.inTx(ctx, func(t *tx) error {
			for _, k := range some { // Index: the primary key.
				_, err := t.exec(ctx, `UPDATE versions SET record_file = $4, record_offset = $5, record_length = $6
					WHERE bucket = $1 AND page_id = $2 AND number = $3 AND digest = $7 AND record_file = $8 AND record_offset = $9`, bucket, k.PageID,
					k.Number, to.Record.File, to.Record.Offset, to.Record.Length, to.Digest[:], k.Record.File, k.Record.Offset)
				if err != nil {
					return err
				}
			}
			// Those whose newest version is there again are not asked for in full any more.
			ids := make([]int64, len(some))
			for i, k := range some {
				ids[i] = k.PageID
			}
			_, err := t.exec(ctx, `UPDATE pages SET lost = $3 WHERE bucket = $1 AND id = ANY($2) AND COALESCE(lost,false) AND EXISTS (
				SELECT 1 FROM versions v WHERE v.bucket = $1 AND v.page_id = pages.id AND v.number = pages.version AND v.record_length > 0)`,
				bucket, ids, false)
			return err
		})
		if err != nil {
			return fmt.Errorf("note where bodies lie: %w", err)
		}
	}
	err := s.inTx(ctx, func(t *tx) error {
		return contentTable.insert(ctx, t, []contentRow{{to, int16(to.Digest[0])}})
	})
	if err != nil {
		return fmt.Errorf("note where a body lies: %w", err)
	}
	return nil
}

// regain writes where bodies lie that are there again, for all versions of their pages that had lost them, and that these pages need not
// be asked for in full any more.
func (c *commit) regain(ctx context.Context) error {
	var moved []Version
	for _, r := range c.fresh {
		if !r.Regained || r.Version == nil {
			continue
		}
		v := *r.Version
		v.Bucket, v.PageID = r.Lease.Bucket, r.Page.ID
		if v.Record.Length > 0 {
			moved = append(moved, v)
		}
		// Index: the primary key.
		_, err := c.tx.exec(ctx, `UPDATE pages SET lost = $3 WHERE bucket = $1 AND id = ANY($2)`, v.Bucket, []int64{v.PageID}, false)
		if err != nil {
			return err
		}
	}
	update := movedTable.updating(c.tx.sharded())
	return movedTable.each(ctx, c.tx, moved, func(source string) string { // Index: the primary key, for the versions of a page.
		return update(source) + " AND versions.record_length < 0"
	}, movedTable.buckets(c.tx, moved)...)
}

// LostPages is how many live pages the archive has lost the newest body of, which are to be fetched anew. It looks at every page.
func (s *Store) LostPages(ctx context.Context) (int64, error) {
	total := int64(0)
	for bucket := range int16(Buckets) { // Index: the primary key, for the pages of a bucket.
		n := int64(0)
		rows := s.scan(ctx, []any{&n}, fmt.Sprintf(`SELECT count(*) FROM pages WHERE bucket = $1 AND COALESCE(lost,false) AND state = %d AND due_at > 0`,
			StateLive), bucket)
		for _, err := range rows {
			if err != nil {
				return 0, fmt.Errorf("count the pages whose bodies are lost: %w", err)
			}
			total += n
		}
	}
	return total, nil
}
