package models

import (
	"cmp"
	"context"
	"iter"
	"slices"
)

// rowKey names a host or a page.
type rowKey struct {
	bucket int16
	id     int64
}

func compareKeys(a, b rowKey) int {
	if a.bucket != b.bucket {
		return int(a.bucket) - int(b.bucket)
	}
	return cmp.Compare(a.id, b.id)
}

// byBucket yields keys bucket by bucket, in their order, each once.
func byBucket(keys []rowKey) iter.Seq2[int16, []int64] {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, compareKeys)
	keys = slices.Compact(keys)
	return func(yield func(int16, []int64) bool) {
		for len(keys) > 0 {
			bucket, ids := keys[0].bucket, []int64(nil)
			for len(keys) > 0 && keys[0].bucket == bucket {
				ids, keys = append(ids, keys[0].id), keys[1:]
			}
			if !yield(bucket, ids) {
				return
			}
		}
	}
}

// keyed is a query for the rows of a table by their bucket and one more column of its primary key.
type keyed struct {
	table, column string
	statement     func(source) string // given what to select from, the rows being k; $1 and $2 are taken
	locking       string              // how the rows are locked, " FOR UPDATE" for one; empty: not at all
	more          []any               // further arguments of the statement
}

// source is what a statement selects rows k from.
type source struct {
	from   string
	bucket string // what a sharded server is told of the bucket of any further table, which must be said of each; "" elsewhere
	wide   bool   // a PostgreSQL of one node (asker.wide), or one of its own
}

// pages is the condition that pages p are those of host h. On a PostgreSQL of one node it says nothing of their bucket, which
// the host tells: the server would take the two for independent, and read all keys of the bucket to find few in both.
func (s source) pages(h string) string {
	if s.wide {
		return "p.host_id = " + h + ".id"
	}
	of := "p.bucket = " + h + ".bucket AND p.host_id = " + h + ".id"
	if s.bucket != "" {
		of += " AND p.bucket " + s.bucket
	}
	return of
}

// single is the statement for the rows of one key.
func (q *keyed) single() string {
	return q.statement(source{from: q.table + " k WHERE k.bucket = $1 AND k." + q.column + " = $2"}) + q.locking
}

// one, few and many are the statement for the rows of one bucket, of some on one shard, and of any. The last looks up each
// key by itself, which a plan for lists of unknown length might find too dear on a small table, and locks in the order of the
// keys.
func (q *keyed) one(ask asker) string {
	from := source{from: q.table + " k WHERE k.bucket = $1 AND k." + q.column + " = ANY($2)", wide: ask.wide()}
	if ask.sharded {
		from.bucket = "= $1"
	}
	return q.statement(from) + q.locking
}

func (q *keyed) few() string {
	return q.statement(source{from: "unnest($1::smallint[], $2::bigint[]) u (b, i) JOIN " + q.table + " k ON k.bucket = u.b AND k." +
		q.column + " = u.i WHERE k.bucket = ANY($1)", bucket: "= ANY($1)"}) + q.locking
}

func (q *keyed) many() string {
	end := cmp.Or(q.locking, " OFFSET 0")
	return q.statement(source{wide: true, from: "unnest($1::smallint[], $2::bigint[]) u (b, i) CROSS JOIN LATERAL (SELECT * FROM " + q.table +
		" t WHERE t.bucket = u.b AND t." + q.column + " = u.i" + end + ") k"})
}

// byKeys runs a query and calls read for each answer: once for all keys on a PostgreSQL of one node, once a shard on one of
// several, once a key on SQLite, where a list in a statement costs more than a few statements do.
func (t *tx) byKeys(ctx context.Context, keys []rowKey, q keyed, read func(answer) error) error {
	return t.store.byKeys(ctx, t.asker(), keys, q, read)
}

// asker runs queries, in a transaction or without.
type asker struct {
	rows    func(ctx context.Context, query string, args ...any) (answer, error)
	dialect dialect
	sharded bool // each must say the buckets that it is for: a coordinator routes by them
}

func (s *Store) asker() asker {
	return asker{rows: s.rowsByKeys, dialect: s.dialect, sharded: s.sharded}
}

// wide is asker.wide for queries outside any transaction.
func (s *Store) wide() bool { return s.asker().wide() }

func (t *tx) asker() asker {
	return asker{rows: t.rows, dialect: t.store.dialect, sharded: t.sharded()}
}

// wide tells whether a query may be for rows of many buckets: on PostgreSQL, where that is one round trip in place of many.
// SQLite has none to save.
func (a asker) wide() bool { return a.dialect == postgresDialect && !a.sharded }

func (s *Store) byKeys(ctx context.Context, ask asker, keys []rowKey, q keyed, read func(answer) error) error {
	run := func(query string, buckets, ids any) error {
		rows, err := ask.rows(ctx, query, append([]any{buckets, ids}, q.more...)...)
		return eachRow(rows, err, read)
	}
	if buckets, ids := columnsOf(keys); ask.wide() && len(ids) > 0 && buckets[0] != buckets[len(buckets)-1] {
		return run(q.many(), buckets, ids)
	}
	if s.dialect == sqliteDialect {
		query := q.single()
		for bucket, ids := range byBucket(keys) {
			for _, id := range ids {
				if err := run(query, bucket, id); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, some := range s.byShard(keys) {
		buckets, ids := columnsOf(some)
		if len(buckets) > 0 && buckets[0] != buckets[len(buckets)-1] && ask.sharded {
			if err := run(q.few(), buckets, ids); err != nil {
				return err
			}
			continue
		}
		for bucket, ids := range byBucket(some) {
			if err := run(q.one(ask), bucket, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// byShard divides keys by shard, in no particular order.
func (s *Store) byShard(keys []rowKey) map[int64][]rowKey {
	if len(keys) == 0 {
		return nil
	}
	if !s.sharded {
		return map[int64][]rowKey{0: keys}
	}
	shards := make(map[int64][]rowKey)
	for _, k := range keys {
		shards[s.shard(k.bucket)] = append(shards[s.shard(k.bucket)], k)
	}
	return shards
}

// eachRow calls read for each answer of a query.
func eachRow(rows answer, err error, read func(answer) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// columnsOf is the keys as two lists, in their order, each once.
func columnsOf(keys []rowKey) (buckets []int16, ids []int64) {
	for bucket, some := range byBucket(keys) {
		for _, id := range some {
			buckets, ids = append(buckets, bucket), append(ids, id)
		}
	}
	return buckets, ids
}
