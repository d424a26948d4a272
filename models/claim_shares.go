package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// leaseShares counts the known children of the pages that have some, and those of them that changed since the page's
// links were last extracted. Where the transaction is for one shard alone, Claim counts the children on others after it.
func (t *tx) leaseShares(ctx context.Context, leases []Lease) error {
	return t.store.shares(ctx, t.asker(), leases)
}

func (s *Store) shares(ctx context.Context, ask asker, leases []Lease) error {
	if err := s.countChildren(ctx, ask, parentsOf(leases), func(parent, child int16) bool { return s.shard(parent) == s.shard(child) }); err != nil {
		return fmt.Errorf("child shares: %w", err)
	}
	return nil
}

// sharesFar counts the children on other shards than their parents, outside of any transaction. Where that fails the pages are
// visited with the shares as far as they are known.
func (s *Store) sharesFar(ctx context.Context, leases []Lease) {
	if s.sharded {
		_ = s.countChildren(ctx, s.asker(), parentsOf(leases), func(parent, child int16) bool { return s.shard(parent) != s.shard(child) })
	}
}

// parentsOf is the leased pages that have children.
func parentsOf(leases []Lease) map[rowKey]*LeasedPage {
	parents := make(map[rowKey]*LeasedPage)
	for i := range leases {
		for j := range leases[i].Pages {
			if p := &leases[i].Pages[j]; p.Children > 0 {
				parents[rowKey{p.Bucket, p.ID}] = p
			}
		}
	}
	return parents
}

// brood is a parent and those of its children that are to be counted, in the order of their keys.
type brood struct {
	parent   *LeasedPage
	children []rowKey
}

// countChildren adds to the shares of parents what their children in some buckets make of them.
func (s *Store) countChildren(ctx context.Context, ask asker, parents map[rowKey]*LeasedPage, some func(parent, child int16) bool) error {
	links, err := s.linksOf(ctx, ask, slices.Collect(maps.Keys(parents)))
	if err != nil {
		return err
	}
	broods := make([]brood, 0, len(links))
	for i := range links {
		children, err := links[i].keys()
		if err != nil {
			return err
		}
		children = slices.DeleteFunc(children, func(c rowKey) bool { return !some(links[i].bucket, c.bucket) })
		broods = append(broods, brood{parents[rowKey{links[i].bucket, links[i].parent}], children})
	}
	if s.dialect == sqliteDialect {
		return countEach(ctx, ask, broods)
	}
	return s.countAll(ctx, ask, broods)
}

// changedChild is 1 for a child c that changed after a moment.
const changedChild = `CASE WHEN (CASE WHEN c.changed_at > 0 THEN c.changed_at ELSE c.first_at END) > %s THEN 1 ELSE 0 END`

// countEachOf counts children of one parent on SQLite, those in one bucket. Index: the primary key.
var countEachOf = `SELECT COUNT(*), COALESCE(SUM(` + fmt.Sprintf(changedChild, "$4") + `), 0) FROM pages c
	WHERE c.bucket = $1 AND c.id = ANY($2) AND c.level > $3 AND ` + countedChild(fmt.Sprintf(changedChild, "$4"))

func countEach(ctx context.Context, ask asker, broods []brood) error {
	for _, f := range broods {
		for bucket, ids := range byBucket(f.children) {
			rows, err := ask.rows(ctx, countEachOf, bucket, ids, f.parent.Level, int64(f.parent.FullAt))
			err = eachRow(rows, err, func(rows answer) error {
				var share ChildShare
				err := rows.Scan(&share.Known, &share.Changed)
				f.parent.Share.add(share)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countAllOf counts the children of many parents on PostgreSQL: $1 says whose each child is. Index: the primary key, for each
// child. A sharded server is told the buckets, which lie on one shard, once more.
func countAllOf(sharded bool) string {
	within := ""
	if sharded {
		within = " AND t.bucket = ANY($6)"
	}
	changed := fmt.Sprintf(changedChild, "u.f")
	return `SELECT u.n, COUNT(*), SUM(` + changed + `)
	FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[]) u (n, b, i, l, f) CROSS JOIN LATERAL (
	SELECT t.level, t.changed_at, t.first_at, t.state, t.rule FROM pages t WHERE t.bucket = u.b AND t.id = u.i` + within + ` OFFSET 0) c
	WHERE c.level > u.l AND ` + countedChild(changed) + ` GROUP BY u.n`
}

func (s *Store) countAll(ctx context.Context, ask asker, broods []brood) error {
	lists := make(map[int64]*childList) // by shard
	for n, f := range broods {
		for _, c := range f.children {
			shard := s.shard(c.bucket)
			if lists[shard] == nil {
				lists[shard] = new(childList)
			}
			lists[shard].add(int64(n), c, f.parent)
		}
	}
	for _, list := range lists {
		args := []any{list.of, list.buckets, list.ids, list.levels, list.fullAt}
		if ask.sharded {
			slices.Sort(list.some)
			args = append(args, slices.Compact(list.some))
		}
		rows, err := ask.rows(ctx, countAllOf(ask.sharded), args...)
		err = eachRow(rows, err, func(rows answer) error {
			var n int64
			var share ChildShare
			err := rows.Scan(&n, &share.Known, &share.Changed)
			broods[n].parent.Share.add(share)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// childList is children with what they are counted by, a list a column.
type childList struct {
	of                  []int64 // whose
	buckets             []int16
	ids, levels, fullAt []int64
	some                []int16 // the buckets once more
}

func (l *childList) add(n int64, child rowKey, parent *LeasedPage) {
	l.of, l.buckets, l.ids = append(l.of, n), append(l.buckets, child.bucket), append(l.ids, child.id)
	l.levels, l.fullAt = append(l.levels, int64(parent.Level)), append(l.fullAt, int64(parent.FullAt))
	if n := len(l.some); n == 0 || l.some[n-1] != child.bucket {
		l.some = append(l.some, child.bucket)
	}
}
