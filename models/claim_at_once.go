package models

import "context"

// On a PostgreSQL of one node, and on the server of a shard, a claim is one message, and a transaction of its own: hosts are leased by
// one statement, those behind it read what lies with them. Each further message would wait for its turn on processors that have visits to make, on our
// side and the server's, and so would the host for its lease. What is left to do is rare, and done behind it: a host that has no
// due page after all is leased by then, and let go of.
//
// The statements behind the first see what was committed until they began, as the one after a lock must (queue.earliest): pages
// that the first one saw beside a host may be of before it was let go of by whoever had it last.

// leaseReady leases hosts that are ready, as Host.Take does, of buckets in their order, until there are enough of them or of their
// pages (ClaimRequest.few), and keeps their keys for the transaction. Indexes: hosts_ready, once a bucket; the primary key of hosts.
var leaseReady = `WITH ready AS MATERIALIZED (
		SELECT u.n, h.bucket, h.id, h.ready_at, CASE WHEN $4::bigint > 0 AND h.delay >= $4::bigint THEN 1 ELSE $5::bigint END AS most, h.pages
		FROM unnest($1::smallint[]) WITH ORDINALITY u (b, n) CROSS JOIN LATERAL (
		SELECT * FROM hosts t WHERE t.bucket = u.b AND t.ready_at > 0 AND t.ready_at <= $2
		ORDER BY t.ready_at, t.id LIMIT $3 FOR UPDATE SKIP LOCKED) h LIMIT $3),
	summed AS (SELECT *, SUM(LEAST(most, pages)) OVER (ORDER BY n, ready_at, id ROWS UNBOUNDED PRECEDING) - LEAST(most, pages) AS before FROM ready),
	taken AS (UPDATE hosts SET lease_token = hosts.lease_token + 1, lease_until = $6, lease_owner = $7, delay = ` + delayTaken + `,
		ready_at = $6 + (` + delayTaken + ` + 999999) / 1000000
		FROM summed s WHERE s.before < $9 AND hosts.bucket = s.bucket AND hosts.id = s.id
		RETURNING ` + hostTable.prefixed("hosts.") + `, s.n, s.ready_at AS was, s.most),
	kept AS (SELECT set_config('recrawld.claimed', (SELECT array_agg(ARRAY[bucket::bigint, id, most])::text FROM taken), true) AS keys)
	SELECT ` + hostTable.prefixed("k.") + ` FROM taken k CROSS JOIN kept WHERE kept.keys IS NOT NULL ORDER BY k.n, k.was, k.id`

// delayTaken is the delay of a host that is leased.
const delayTaken = `CASE WHEN hosts.lease_token = 0 THEN GREATEST(hosts.delay, $8::bigint) ELSE hosts.delay END`

// hostsTaken is the keys that leaseReady kept, with how many pages each host is leased for at most. After a transaction that kept
// some the setting is empty, and before it there is none.
const hostsTaken = `(SELECT a[n][1]::smallint AS b, a[n][2] AS i, a[n][3] AS most FROM
	(SELECT NULLIF(current_setting('recrawld.claimed', true), '')::bigint[] AS a OFFSET 0) s CROSS JOIN LATERAL generate_subscripts(s.a, 1) n) u`

// robotsTaken is what the robots.txt of the hosts said. Index: the primary key, once a host.
var robotsTaken = `SELECT ` + robotsTable.prefixed("k.") + ` FROM ` + hostsTaken + ` CROSS JOIN LATERAL (
	SELECT * FROM robots t WHERE t.bucket = u.b AND t.host_id = u.i OFFSET 0) k ORDER BY k.host_id, k.origin`

// pagesTaken is the due pages of the hosts, the longest due ones (see source.pages). Index: pages_due, once a host.
var pagesTaken = `SELECT ` + pageTable.prefixed("p.") + ` FROM ` + hostsTaken + ` CROSS JOIN LATERAL (
	SELECT * FROM pages p WHERE p.host_id = u.i AND p.due_at > 0 AND p.due_at <= $1
	ORDER BY p.due_at, p.id LIMIT u.most) p`

// claimAtOnce claims up to limit ready hosts with one message.
func (s *Store) claimAtOnce(ctx context.Context, c ClaimRequest, buckets []int16, limit int) (leases []Lease, looked int, err error) {
	var hosts []Host
	var robots map[rowKey][]Robots
	var pages map[rowKey][]LeasedPage
	now := int64(At(c.Now))
	err = s.try(ctx, func() error {
		hosts, robots, pages = nil, make(map[rowKey][]Robots), make(map[rowKey][]LeasedPage)
		at := s.placement(buckets[0])
		if at == nil && s.sharded {
			return errMoved // to a server that does not answer us
		}
		return s.message(ctx, at,
			waiting{leaseReady, []any{buckets, now, limit, int64(c.Patient), int64(c.Pages), int64(At(c.Now.Add(c.Lease))), Clean(c.Owner),
				int64(c.Delay), int64(pagesPerClaim)}, readHosts(&hosts)},
			waiting{robotsTaken, nil, readRobots(robots)},
			waiting{pagesTaken, []any{now}, readPages(pages)})
	})
	if err != nil {
		return nil, 0, err
	}
	var idle []Host
	for _, h := range hosts {
		key := rowKey{h.Bucket, h.ID}
		if len(pages[key]) == 0 {
			idle = append(idle, h)
			continue
		}
		orderByDue(pages[key])
		leases = append(leases, Lease{Host: h, Until: h.LeaseUntil.Time(), Pages: pages[key], Robots: robots[key]})
	}
	// Where that fails the hosts are as if whoever leased them had died, and those with pages are visited all the same.
	if err := s.letGo(ctx, idle); err != nil && len(leases) == 0 {
		return nil, 0, err
	}
	ask := s.asker()
	if at := s.placement(buckets[0]); at != nil {
		ask = at.asker()
	}
	_ = s.shares(ctx, ask, leases) // where that fails, as in sharesFar
	return leases, len(hosts), nil
}

// letGo ends leases that were just given and that nobody has heard of: the hosts are as if there had been none.
func (s *Store) letGo(ctx context.Context, hosts []Host) error {
	if len(hosts) == 0 {
		return nil
	}
	keys := make([]rowKey, len(hosts))
	for i := range hosts {
		keys[i] = rowKey{hosts[i].Bucket, hosts[i].ID}
	}
	return s.inShard(ctx, keys[0].bucket, func(t *tx) error {
		q := newQueue(t)
		if err := q.lock(ctx, keys); err != nil {
			return err
		}
		var ours []rowKey
		for i, key := range keys {
			if h := q.get(key.bucket, key.id); h != nil && h.LeaseToken == hosts[i].LeaseToken {
				h.LeaseToken--
				ours = append(ours, key)
			}
		}
		if err := q.settle(ctx, ours, (*Host).Free); err != nil {
			return err
		}
		return q.flush(ctx)
	})
}

// readHosts appends hosts.
func readHosts(to *[]Host) func(answer) error {
	var h Host
	read := hostTable.reader(&h)
	return func(rows answer) error {
		err := read(rows)
		*to = append(*to, h)
		return err
	}
}

// readRobots reads what robots.txt said into that of its host.
func readRobots(of map[rowKey][]Robots) func(answer) error {
	return func(rows answer) error {
		var r Robots
		err := rows.Scan(robotsTable.fields(&r)...)
		key := rowKey{r.Bucket, r.HostID}
		of[key] = append(of[key], r)
		return err
	}
}
