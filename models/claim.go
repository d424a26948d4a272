package models

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Claim leases ready hosts of the given buckets, in the order of the buckets and the longest ready first within each,
// with their due pages, the longest due first. It writes nothing where nothing is ready. What may be visited early comes
// behind what is ready.
func (s *Store) Claim(ctx context.Context, c ClaimRequest) ([]Lease, error) {
	c.Pages = max(c.Pages, 1)
	var leases []Lease
	for looked := 1; len(leases) == 0 && looked > 0; { // hosts that had no page after all are out of the way then
		buckets, err := s.readyBuckets(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("find ready buckets: %w", err)
		}
		if leases, looked, err = s.claim(ctx, c, buckets); err != nil {
			return nil, fmt.Errorf("claim hosts: %w", err)
		}
	}
	s.sharesFar(ctx, leases)
	return leases, nil
}

// claim looks at as many hosts as may be leased, and tells how many those were.
func (s *Store) claim(ctx context.Context, c ClaimRequest, buckets []int16) (leases []Lease, looked int, err error) {
	for _, group := range s.transactions(buckets) {
		if looked >= c.Hosts {
			break
		}
		claimed, hosts, err := s.claimIn(ctx, c, group, c.Hosts-looked)
		if err != nil {
			// What was claimed before is leased: it is handed out, and the caller meets the error the next time.
			if len(leases) > 0 {
				break
			}
			return nil, 0, err
		}
		leases, looked = append(leases, claimed...), looked+hosts
	}
	return leases, looked, nil
}

// claimIn claims from the buckets of one transaction, up to limit hosts.
func (s *Store) claimIn(ctx context.Context, c ClaimRequest, buckets []int16, limit int) (leases []Lease, looked int, err error) {
	if s.dialect == sqliteDialect && !s.options.ReadOnly {
		leases, looked, done, err := s.claimRiding(ctx, c, buckets, limit)
		if done || err != nil {
			return leases, looked, err
		}
	}
	if (s.wide() || s.placement(buckets[0]) != nil) && !c.early() {
		return s.claimAtOnce(ctx, c, buckets, limit)
	}
	err = s.inShard(ctx, buckets[0], func(t *tx) error {
		leases, looked, err = t.claim(ctx, c, buckets, limit)
		return err
	})
	return leases, looked, err
}

// transactions groups buckets by transaction, in their order: all in one, because the disk is synced at each, but one a shard
// on a sharded server, where each is a transaction of one node.
func (s *Store) transactions(buckets []int16) [][]int16 {
	at := make(map[int64]int)
	var groups [][]int16
	for _, b := range buckets {
		n, known := at[s.shard(b)]
		if !known {
			n = len(groups)
			at[s.shard(b)] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], b)
	}
	return groups
}

// bucketsReady is which buckets have a ready host. Index: hosts_ready, once a bucket.
const bucketsReady = `SELECT b.bucket FROM buckets b WHERE b.bucket = ANY($2) AND EXISTS
	(SELECT 1 FROM hosts h WHERE h.bucket = b.bucket AND h.ready_at > 0 AND h.ready_at <= $1)`

// readyBuckets is those of the request's buckets that have a ready host, in the request's order. A sharded server is not
// asked, because all of its shards would have to answer: who claims has asked a moment ago (Ready). Neither is a PostgreSQL of
// one node, where one statement looks through the buckets until it has enough.
func (s *Store) readyBuckets(ctx context.Context, c ClaimRequest) ([]int16, error) {
	if s.sharded || s.wide() && !c.early() {
		return inOrder(c.Buckets, func(int16) bool { return true }), nil
	}
	query, args := bucketsReady, []any{int64(At(c.Now)), c.Buckets}
	if c.early() {
		query, args = bucketsReadyOrAhead, append(args, int64(At(c.Ahead)))
	}
	rows, err := s.rowsByKeys(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ready := make(map[int16]bool)
	for rows.Next() {
		var b int16
		if err := rows.Scan(&b); err != nil {
			return nil, err
		}
		ready[b] = true
	}
	return inOrder(c.Buckets, func(b int16) bool { return ready[b] }), rows.Err()
}

// inOrder is some of the buckets, each once: one named twice is claimed from once.
func inOrder(buckets []int16, some func(int16) bool) []int16 {
	var ordered []int16
	var had [Buckets]bool
	for _, b := range buckets {
		if b >= 0 && b < Buckets && !had[b] && some(b) {
			ordered, had[b] = append(ordered, b), true
		}
	}
	return ordered
}

// claim leases up to limit ready hosts of buckets, and tells how many it looked at.
func (t *tx) claim(ctx context.Context, c ClaimRequest, buckets []int16, limit int) ([]Lease, int, error) {
	q := newQueue(t)
	hosts, err := t.readyHosts(ctx, c, buckets, limit)
	if err != nil || len(hosts) == 0 {
		return nil, 0, err
	}
	robots, pages, err := t.read(ctx, c, hosts)
	if err != nil {
		return nil, 0, err
	}
	var leases []Lease
	var idle []rowKey
	for _, h := range hosts {
		key := rowKey{h.Bucket, h.ID}
		q.hosts[key] = &lockedHost{h, h}
		if len(pages[key]) == 0 {
			idle = append(idle, key)
			continue
		}
		taken := q.get(h.Bucket, h.ID)
		taken.Take(&c)
		leases = append(leases, Lease{Host: *taken, Until: taken.LeaseUntil.Time(), Pages: pages[key], Robots: robots[key]})
	}
	if err := q.settle(ctx, idle, (*Host).Free); err != nil {
		return nil, 0, err
	}
	if err := q.flush(ctx); err != nil {
		return nil, 0, err
	}
	return leases, len(hosts), t.leaseShares(ctx, leases)
}

// readyHostsOf locks hosts of buckets of one shard that are ready. Index: hosts_ready, once a bucket, until there are enough.
func readyHostsOf(sharded bool) string {
	within := ""
	if sharded {
		within = " AND t.bucket = ANY($1)"
	}
	return `SELECT ` + hostTable.prefixed("h.") + ` FROM unnest($1::smallint[]) u (b) CROSS JOIN LATERAL (
	SELECT * FROM hosts t WHERE t.bucket = u.b` + within + ` AND t.ready_at > 0 AND t.ready_at <= $2
	ORDER BY t.ready_at, t.id LIMIT $3 FOR UPDATE SKIP LOCKED) h LIMIT $3`
}

// readyHosts locks hosts that are ready, and those that may be visited early where the request looks ahead, in the order of
// the buckets.
func (t *tx) readyHosts(ctx context.Context, c ClaimRequest, buckets []int16, limit int) ([]Host, error) {
	if t.store.dialect == postgresDialect && !c.early() && len(buckets) > 1 {
		return hostTable.scan(t.rows(ctx, readyHostsOf(t.sharded()), buckets, int64(At(c.Now)), limit))
	}
	var hosts []Host
	for _, bucket := range buckets {
		if len(hosts) >= limit {
			break
		}
		more, err := t.readyHostsIn(ctx, c, bucket, limit-len(hosts))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, more...)
	}
	return hosts, nil
}

// readyHostsIn locks hosts of a bucket that are ready and, where the request looks ahead, those that may be visited early, in
// the order in which they are ready.
func (t *tx) readyHostsIn(ctx context.Context, c ClaimRequest, bucket int16, limit int) ([]Host, error) {
	// Index: hosts_ready.
	rows, err := t.rows(ctx, `SELECT `+hostTable.list()+` FROM hosts WHERE bucket = $1 AND ready_at > 0 AND ready_at <= $2
		ORDER BY ready_at, id LIMIT $3 FOR UPDATE SKIP LOCKED`, bucket, int64(At(c.Now)), limit)
	hosts, err := hostTable.scan(rows, err)
	if err != nil || len(hosts) >= limit || !c.early() {
		return hosts, err
	}
	rows, err = t.rows(ctx, claimAhead, int64(At(c.Now)), bucket, int64(At(c.Ahead)), limit-len(hosts))
	early, err := hostTable.scan(rows, err)
	return append(hosts, early...), err
}

// duePages reads the due pages of locked hosts, by host.
func (t *tx) duePages(ctx context.Context, c ClaimRequest, hosts []Host) (map[rowKey][]LeasedPage, error) {
	type want struct {
		until Instant
		limit int
	}
	wanted := make(map[want][]rowKey, 1)
	for i := range hosts {
		w := want{c.DueBy(&hosts[i]), c.PagesOf(&hosts[i])}
		wanted[w] = append(wanted[w], rowKey{hosts[i].Bucket, hosts[i].ID})
	}
	found := make(map[rowKey][]LeasedPage, len(hosts))
	read := readPages(found)
	for w, keys := range wanted {
		if err := t.duePagesOf(ctx, keys, w.until, w.limit, read); err != nil {
			return nil, err
		}
	}
	for _, pages := range found {
		orderByDue(pages)
	}
	return found, nil
}

// readPages reads pages into those of their hosts.
func readPages(of map[rowKey][]LeasedPage) func(answer) error {
	const few = 16 // a list grows from there on
	var p LeasedPage
	read := pageTable.reader(&p.Page)
	return func(rows answer) error {
		if err := read(rows); err != nil {
			return err
		}
		key := rowKey{p.Bucket, p.HostID}
		pages := of[key]
		if pages == nil {
			pages = make([]LeasedPage, 0, few)
		}
		of[key] = append(pages, p)
		return nil
	}
}

// orderByDue puts pages in the order of their due times, in which engines give them though nobody asks for it.
func orderByDue(pages []LeasedPage) {
	for i := 1; i < len(pages); i++ {
		if a, b := &pages[i-1], &pages[i]; a.DueAt > b.DueAt || a.DueAt == b.DueAt && a.ID > b.ID {
			slices.SortFunc(pages, func(a, b LeasedPage) int { return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), cmp.Compare(a.ID, b.ID)) })
			return
		}
	}
}

// duePagesOfOne is the due pages of one host on SQLite. Index: pages_due.
var duePagesOfOne = `SELECT ` + pageTable.prefixed("") + ` FROM pages WHERE bucket = $1 AND host_id = $2
	AND due_at > 0 AND due_at <= $3 ORDER BY due_at, id LIMIT $4`

// duePagesOf reads at most limit due pages of each host, the longest due ones.
func (t *tx) duePagesOf(ctx context.Context, hosts []rowKey, until Instant, limit int, read func(answer) error) error {
	if t.store.dialect == postgresDialect {
		// Indexes: the primary key of hosts, then pages_due once a host.
		return t.byKeys(ctx, hosts, keyed{table: "hosts", column: "id", more: []any{int64(until), limit}, statement: func(from source) string {
			return `SELECT ` + pageTable.prefixed("p.") + ` FROM (SELECT k.bucket, k.id FROM ` + from.from + `) h CROSS JOIN LATERAL (
				SELECT * FROM pages p WHERE ` + from.pages("h") + ` AND p.due_at > 0 AND p.due_at <= $3
				ORDER BY p.due_at, p.id LIMIT $4) p` // in the order of each host's pages; another sort would be of whole rows
		}}, read)
	}
	for _, h := range hosts { // SQLite has no LATERAL
		rows, err := t.rows(ctx, duePagesOfOne, h.bucket, h.id, int64(until), limit)
		if err := eachRow(rows, err, read); err != nil {
			return err
		}
	}
	return nil
}

// read reads what the robots.txt of locked hosts said, and their due pages.
func (t *tx) read(ctx context.Context, c ClaimRequest, hosts []Host) (map[rowKey][]Robots, map[rowKey][]LeasedPage, error) {
	robots, err := t.robotsOf(ctx, hosts)
	if err != nil {
		return nil, nil, fmt.Errorf("robots: %w", err)
	}
	pages, err := t.duePages(ctx, c, hosts)
	if err != nil {
		return nil, nil, fmt.Errorf("due pages: %w", err)
	}
	return robots, pages, nil
}

// robotsOf reads what the robots.txt of hosts said.
func (t *tx) robotsOf(ctx context.Context, hosts []Host) (map[rowKey][]Robots, error) {
	found := make(map[rowKey][]Robots)
	keys := make([]rowKey, len(hosts))
	for i := range hosts {
		keys[i] = rowKey{hosts[i].Bucket, hosts[i].ID}
	}
	// Index: the primary key.
	return found, t.byKeys(ctx, keys, keyed{table: "robots", column: "host_id", statement: func(from source) string {
		return `SELECT ` + robotsTable.prefixed("k.") + ` FROM ` + from.from + ` ORDER BY k.host_id, k.origin`
	}}, readRobots(found))
}
