package models

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A coordinator plans each statement anew, writes it out again for the server that has the shard, its arrays as text, and that
// one parses and plans it once more: several times the work of the statement itself. So transactions of one shard, and those
// of claims and commits all are, go to the shard's server, to the tables by which the shard lies there. As the coordinator's
// own do, they hold the lock of where the shard lies: who moves or splits it waits for them, and they see afterwards that it
// is gone. Everything else, and all where a server does not answer us, goes through the coordinator.
//
// Each shard has connections of its own: each prepares the statements for one shard and not for all.

// placement is where the tables of a shard lie.
type placement struct {
	shard  int64 // of hosts; its lock is that of all tables that lie together with it
	node   node
	number int // from 0 on
	server *pgxpool.Pool
	names  map[string]string // of the tables there

	mu    sync.Mutex
	texts map[string]string // guarded by mu: statements for there, by what they are elsewhere
}

// errMoved says that a shard is not where it was.
var errMoved = errors.New("the shard lies elsewhere by now")

var named = regexp.MustCompile(`\b(FROM|JOIN|INTO|UPDATE|USING|COPY)(\s+)([a-z_]+)\b((?:\s+AS)?\s+[a-z]\w*)?`)

// statement is a statement for the tables of the shard, which go by the names of those that they are part of.
func (p *placement) statement(query string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text, known := p.texts[query]; known {
		return text
	}
	text := named.ReplaceAllStringFunc(query, func(found string) string {
		part := named.FindStringSubmatch(found)
		verb, space, table, alias := part[1], part[2], part[3], part[4]
		name, here := p.names[table]
		switch {
		case !here:
			return found
		case alias == "" && verb != "COPY":
			alias = " AS " + table
		}
		return verb + space + name + alias
	})
	if len(p.texts) < maxPrepared {
		p.texts[query] = text
	}
	return text
}

// keyedPlans is what the connections keep to that are for statements by keys alone: those to shards, and those of the worker to
// the one server that there is. With the plans that this leaves there is one way to carry out each of them, so each is planned
// once, and not anew for each of its first calls on each connection.
const keyedPlans = `; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off;
	SET jit = off; SET plan_cache_mode = force_generic_plan`

// keepShard keeps a shard where it is until the transaction's end; 5 is ShareLock.
const keepShard = `SELECT lock_shard_metadata(5, ARRAY[$1::bigint])`

// shardIsHere tells whether a shard lies on the server that is asked.
const shardIsHere = `SELECT EXISTS (SELECT 1 FROM pg_dist_placement JOIN pg_dist_local_group USING (groupid) WHERE shardid = $1)`

// enter makes sure that the shard lies there and stays until the transaction's end: two statements, that of the answer sees what was
// written until the lock was there. What goes with them in one message may be written to a shard that was moved away by then, where
// nobody reads it.
func (p *placement) enter() []waiting {
	return []waiting{{keepShard, []any{p.shard}, nil}, {shardIsHere, []any{p.shard}, func(rows answer) error {
		var here bool
		if err := rows.Scan(&here); err != nil || here {
			return err
		}
		return errMoved
	}}}
}

// rows runs a query outside any transaction, without the lock: in the moment after the shard has moved its answer may be of
// the moment before.
func (p *placement) rows(ctx context.Context, query string, args ...any) (answer, error) {
	return answerOf(p.server.Query(ctx, p.statement(query), args...))
}

// errSplit says that what was taken for one shard is several by now.
var errSplit = errors.New("the shard was split")

// covers returns errSplit where a bucket does not lie on the shard of the transaction, that of a first bucket: written there, its rows
// would be found by nobody.
func (t *tx) covers(first, bucket int16) error {
	shard := t.store.shard(first)
	if t.at != nil {
		shard = t.at.shard
	}
	if t.store.shard(bucket) != shard {
		return errSplit
	}
	return nil
}

// inShard is inTx for a transaction that reads and writes in the shard of a bucket alone, and by keys.
func (s *Store) inShard(ctx context.Context, bucket int16, f func(*tx) error) error {
	return s.try(ctx, func() error { return s.once(ctx, s.placement(bucket), true, f) })
}

func (p *placement) asker() asker { return asker{rows: p.rows, dialect: postgresDialect} }

// eachShard runs f for the keys of each shard, to read what may be a moment old: on the shard's server, and through the
// coordinator where that fails, when it may run again; or on the one server that there is, and on SQLite as all is at one moment.
func (s *Store) eachShard(ctx context.Context, keys []rowKey, f func(ask asker, keys []rowKey) error) error {
	if s.dialect == sqliteDialect && len(keys) > 0 {
		return s.lookUp(ctx, func(c *liteConn) error { return f((&tx{store: s, lite: c}).asker(), keys) })
	}
	for _, some := range s.byShard(keys) {
		if at := s.placement(some[0].bucket); at != nil && f(at.asker(), some) == nil {
			continue
		}
		if err := f(s.asker(), some); err != nil {
			return err
		}
	}
	return nil
}

// allShards runs a query, by keys, for the rows of all buckets: on the server of each shard, and through the coordinator where one of
// them does not answer us, when again is called and it runs again. A coordinator takes such a query apart into one for each shard, which
// the servers plan anew, and connects to them further while it waits.
func (s *Store) allShards(ctx context.Context, query string, args []any, again func(), read func(answer) error) error {
	shards := s.placements()
	for _, at := range shards {
		if err := s.message(ctx, at, waiting{query, args, read}); err != nil {
			s.resharded(ctx, err)
			shards = nil
			again()
			break
		}
	}
	if len(shards) > 0 {
		return nil
	}
	rows, err := s.rowsByKeys(ctx, query, args...)
	return eachRow(rows, err, read)
}

// onShard is allShards for a query for the rows of one bucket.
func (s *Store) onShard(ctx context.Context, bucket int16, query string, args []any, again func(), read func(answer) error) error {
	if at := s.placement(bucket); at != nil {
		err := s.message(ctx, at, waiting{query, args, read})
		if err == nil {
			return nil
		}
		s.resharded(ctx, err)
		again()
	}
	rows, err := s.rowsByKeys(ctx, query, args...)
	return eachRow(rows, err, read)
}

// placements is where each shard with a bucket lies; none where one of them can be reached through the coordinator alone, or there is
// none.
func (s *Store) placements() []*placement {
	var all []*placement
	for bucket := range int16(Buckets) {
		at := s.placement(bucket)
		if at == nil {
			return nil
		}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

// placement is where the shard of a bucket lies; nil where its transactions go through the coordinator, or there is none.
func (s *Store) placement(bucket int16) *placement {
	if places := s.places.Load(); places != nil && s.sharded {
		return (*places)[s.shard(bucket)]
	}
	return nil
}

// errors of PostgreSQL that say that a shard's tables are not what they were taken for.
const (
	notSupported   = "0A000" // "could not run distributed query with FOR UPDATE/SHARE commands"
	undefinedTable = "42P01"
	unknownShard   = "XX000" // "could not find valid entry for shard", which was split; any other internal error too
)

// tables is the tables of each shard and the server that it lies on: only where that is one, which knows so much of the
// cluster as to tell whether a shard is its own, and only while no table with a bucket is left on the coordinator: a new one is,
// until Distribute is called again.
const tables = `SELECT h.shardid, s.logicalrelid::regclass::text, shard_name(s.logicalrelid, s.shardid), n.nodename, n.nodeport, n.groupid
	FROM pg_dist_partition t JOIN pg_dist_partition u ON u.colocationid = t.colocationid
	JOIN pg_dist_shard h ON h.logicalrelid = t.logicalrelid
	JOIN pg_dist_shard s ON s.logicalrelid = u.logicalrelid AND s.shardminvalue = h.shardminvalue
	JOIN pg_dist_placement p ON p.shardid = h.shardid
	JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary' AND n.isactive AND n.hasmetadata AND n.metadatasynced
	WHERE t.logicalrelid = to_regclass('hosts') AND NOT EXISTS
		(SELECT 1 FROM pg_dist_placement q WHERE q.shardid = p.shardid AND q.groupid <> p.groupid) AND NOT EXISTS
		(SELECT 1 FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'bucket' AND NOT a.attisdropped
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
		AND c.oid NOT IN (SELECT logicalrelid FROM pg_dist_partition))`

// learnPlacements asks the coordinator where the shards lie.
func (s *Store) learnPlacements(ctx context.Context) error {
	if s.options.Coordinated || s.options.ReadOnly { // who only looks does not ask so often
		return nil
	}
	places := make(map[int64]*placement)
	shards := make(map[node]int)
	var shard int64
	var table, name string
	var n node
	for _, err := range s.scan(ctx, []any{&shard, &table, &name, &n.host, &n.port, &n.group}, tables) {
		if err != nil {
			return err
		}
		if places[shard] == nil {
			places[shard] = &placement{shard: shard, node: n, names: make(map[string]string), texts: make(map[string]string)}
			shards[n]++
		}
		places[shard].names[table] = name
	}
	s.nodes.Lock()
	defer s.nodes.Unlock()
	for i, shard := range slices.Sorted(maps.Keys(places)) {
		p := places[shard]
		p.number, p.server = i, s.connectionsTo(ctx, p, max(1, s.options.Conns/shards[p.node]))
		if p.server == nil {
			delete(places, shard)
		}
	}
	s.places.Store(&places)
	return nil
}

// node is a server of a cluster.
type node struct {
	host        string
	port, group int
}

// nodes is the connections to the servers of a cluster.
type nodes struct {
	sync.Mutex
	answer map[node]bool            // guarded by Mutex, as is the field below: whether it did when it was first asked
	pools  map[string]*pgxpool.Pool // by shard and node
}

func (n *nodes) close() {
	n.Lock()
	defer n.Unlock()
	for _, pool := range n.pools {
		pool.Close()
	}
}

// connectionsTo is at most so many connections for a shard; nil where its server did not answer when it was first asked. The
// caller has locked nodes.
func (s *Store) connectionsTo(ctx context.Context, p *placement, width int) *pgxpool.Pool {
	key := fmt.Sprint(p.shard, p.node)
	if pool := s.nodes.pools[key]; pool != nil {
		return pool
	}
	answers, asked := s.nodes.answer[p.node]
	if asked && !answers {
		return nil
	}
	pool, err := s.dial(ctx, p, width, !asked)
	if err == nil || ctx.Err() == nil {
		s.nodes.answer[p.node] = err == nil
	}
	if err != nil {
		return nil
	}
	s.nodes.pools[key] = pool
	return pool
}

// dial opens a pool of connections to a server of the cluster, as the same user on a database of the same name. A socket is
// that of a server on this machine. When first asked, a server has to be the one that is meant, and let us lock a shard, which
// only the owner of the tables may do.
func (s *Store) dial(ctx context.Context, p *placement, width int, ask bool) (*pgxpool.Pool, error) {
	n := p.node
	u, err := url.Parse(s.dsn)
	if err != nil {
		return nil, err
	}
	u.Host = net.JoinHostPort(n.host, strconv.Itoa(n.port))
	query := u.Query()
	query.Del("port")
	if here := n.host == "localhost" || strings.HasPrefix(n.host, "127."); !here || !strings.HasPrefix(query.Get("host"), "/") {
		query.Del("host")
	}
	u.RawQuery = query.Encode()
	pool, err := s.connections(ctx, u.String(), width, keyedPlans)
	if err != nil || !ask {
		return pool, err
	}
	var group int
	err = pool.QueryRow(ctx, `SELECT groupid FROM pg_dist_local_group`).Scan(&group)
	if err == nil && group != n.group {
		err = fmt.Errorf("%s is server %d of a cluster, want %d", u.Host, group, n.group)
	}
	if err == nil {
		_, err = pool.Exec(ctx, keepShard, p.shard)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}
