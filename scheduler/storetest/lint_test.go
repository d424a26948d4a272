package storetest_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawld/internal/pgtest"
	"recrawld/models"
	"recrawld/scheduler/storetest"
)

// cold marks what may read over all buckets, because nobody does it often.
type cold struct{}

// labelled is a store that says which of its calls are cold. All others are hot: a new one has to keep the rules.
type labelled struct{ *models.Store }

func (s labelled) Dump(ctx context.Context) (models.Dump, error) {
	return s.Store.Dump(context.WithValue(ctx, cold{}, true))
}

func (s labelled) PagesKnown(ctx context.Context) (int64, error) {
	return s.Store.PagesKnown(context.WithValue(ctx, cold{}, true))
}

func (s labelled) PagesBySite(ctx context.Context) (map[int32]int64, error) {
	return s.Store.PagesBySite(context.WithValue(ctx, cold{}, true))
}

func (s labelled) CountRequisites(ctx context.Context) error {
	return s.Store.CountRequisites(context.WithValue(ctx, cold{}, true))
}

func (s labelled) CheckCounts(ctx context.Context) error {
	return s.Store.CheckCounts(context.WithValue(ctx, cold{}, true))
}

func (s labelled) NewestInstant(ctx context.Context) (models.Instant, error) {
	return s.Store.NewestInstant(context.WithValue(ctx, cold{}, true))
}

// lint looks at every statement that a sharded store sends, and finds those that a PostgreSQL of several servers would
// refuse, or run on more than one of them: each names buckets of one shard by a parameter, a transaction holds one shard, what
// is written is computed here and not there. Where a parameter says the bucket of one table, it says that of each: a server
// does not conclude it for a query within the query, and would ask all shards.
type lint struct {
	split []string // tables that have a bucket

	mu       sync.Mutex
	open     map[uint32]*transaction // guarded by mu; by connection
	troubles map[string]string       // guarded by mu; by statement
	seen     map[string]int          // guarded by mu; statements with a table that has a bucket
	done     int                     // guarded by mu; transactions that wrote
	texts    map[string]*text        // guarded by mu; by statement: each is sent many times, and the patterns are slow
}

// text is what the patterns find in a statement.
type text struct {
	tables            map[string]string // those that have a bucket, by the names that it gives them
	volatile          string            // what it asks the server for, "" where nothing
	writes, within    bool              // within: there is a query within the query
	equals            [][]string
	single, insertion []string
}

// transaction is what was seen of one that is open.
type transaction struct {
	shards map[int64]string // and a statement for each
	writes bool
}

var (
	volatile   = regexp.MustCompile(`(?i)\b(now\(\)|random\(\)|clock_timestamp|current_timestamp|statement_timestamp|interval '|gen_random)`)
	equals     = regexp.MustCompile(`(?:\b(\w+)\.)?bucket = (?:\$(\d+)|(\w+)\.bucket|ANY\(\$(\d+))`)
	aTable     = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(\w+)\b(?:\s+(?:AS\s+)?(\w+))?`)
	writes     = regexp.MustCompile(`(?i)^\s*(INSERT|UPDATE|DELETE)|FOR (UPDATE|SHARE)`)
	insertion  = regexp.MustCompile(`(?i)^\s*INSERT INTO (\w+) \(bucket,.*\) SELECT b\.bucket,`)
	single     = regexp.MustCompile(`(?is)^\s*INSERT INTO (\w+) \(([^)]*?)\bbucket,.*\bVALUES\b`)
	notAliases = []string{"where", "set", "join", "cross", "left", "order", "on", "values", "select", "limit", "group", "using", "for"}
)

// see looks at a statement.
func (l *lint) see(ctx context.Context, s models.Statement) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch verb, _, _ := strings.Cut(strings.ToLower(s.SQL), ";"); verb {
	case "begin": // with what is set for the transaction
		l.open[s.Conn] = &transaction{shards: make(map[int64]string)}
		return
	case "commit", "rollback":
		if t := l.open[s.Conn]; t != nil && t.writes {
			l.done++
		}
		delete(l.open, s.Conn)
		return
	}
	read := l.texts[s.SQL]
	if read == nil {
		read = l.read(s.SQL)
		l.texts[s.SQL] = read
	}
	if len(read.tables) == 0 || ctx.Value(cold{}) != nil {
		return
	}
	l.seen[s.SQL]++
	if trouble := judge(s, read, l.open[s.Conn]); trouble != "" {
		l.troubles[s.SQL] = trouble
	}
}

func (l *lint) read(query string) *text {
	return &text{tables: l.tables(query), volatile: volatile.FindString(query), writes: writes.MatchString(query),
		within: strings.Count(query, "SELECT") > 1, equals: equals.FindAllStringSubmatch(query, -1),
		single: single.FindStringSubmatch(query), insertion: insertion.FindStringSubmatch(query)}
}

// tables is those tables of a statement that have a bucket, by the names that it gives them.
func (l *lint) tables(query string) map[string]string {
	found := make(map[string]string)
	for _, m := range aTable.FindAllStringSubmatch(query, -1) {
		if !slices.Contains(l.split, m[1]) {
			continue
		}
		name := m[2]
		if name == "" || slices.Contains(notAliases, strings.ToLower(name)) {
			name = m[1]
		}
		found[name] = m[1]
	}
	return found
}

// judge says what is wrong with a statement, "" where nothing is.
func judge(s models.Statement, read *text, t *transaction) string {
	if read.volatile != "" {
		return "it asks the server for " + read.volatile
	}
	shards, said, tied := shardsOf(s, read)
	for name := range read.tables {
		if !tied[name] {
			return fmt.Sprintf("the bucket of %s is neither a parameter nor another table's", name)
		}
		if len(shards) > 0 && !said[name] && read.within {
			return fmt.Sprintf("the bucket of %s is no parameter, as others' are, and there is a query within the query", name)
		}
	}
	wrote := read.writes
	if t == nil {
		t = &transaction{shards: make(map[int64]string)} // of its own
	} else {
		wrote = wrote || len(shards) == 0
	}
	if wrote && len(shards) == 0 {
		return "it writes, locks or is in a transaction, and no parameter says its bucket"
	}
	t.writes = t.writes || wrote
	for _, shard := range shards {
		t.shards[shard] = s.SQL
	}
	if wrote && len(t.shards) > 1 {
		var others []string
		for shard, query := range t.shards {
			others = append(others, fmt.Sprintf("%d: %s", shard, query))
		}
		return "its transaction holds several shards:\n" + strings.Join(others, "\n")
	}
	return ""
}

// shardsOf is the shards of the buckets that the arguments of a statement name, the tables whose buckets arguments say, and
// those whose buckets are said in any way. An insertion takes its rows' buckets from a table whose buckets are said.
func shardsOf(s models.Statement, read *text) (shards []int64, said, tied map[string]bool) {
	said, tied = make(map[string]bool), make(map[string]bool)
	for _, m := range read.equals {
		names := []string{m[1]}
		if m[1] == "" { // that of the tables without another name
			names = names[:0]
			for name, table := range read.tables {
				if name == table {
					names = append(names, name)
				}
			}
		}
		tied[m[3]] = true
		for _, name := range names {
			tied[name] = true
			said[name] = said[name] || m[3] == ""
		}
		if m[3] == "" {
			n, _ := strconv.Atoi(m[2] + m[4]) // the pattern has digits only
			for _, bucket := range numbers(s.Args[n-1]) {
				shards = append(shards, models.PretendedShard(int16(bucket)))
			}
		}
	}
	if m := read.single; m != nil {
		said[m[1]], tied[m[1]] = true, true
		for _, bucket := range numbers(s.Args[strings.Count(m[2], ",")]) {
			shards = append(shards, models.PretendedShard(int16(bucket)))
		}
	}
	if m := read.insertion; m != nil && len(shards) > 0 {
		said[m[1]], tied[m[1]] = true, true
	}
	slices.Sort(shards)
	return slices.Compact(shards), said, tied
}

// numbers is an argument as numbers.
func numbers(arg any) []int64 {
	switch v := arg.(type) {
	case int16:
		return []int64{int64(v)}
	case int64:
		return []int64{v}
	case int:
		return []int64{int64(v)}
	case []int64:
		return v
	case []int16:
		all := make([]int64, len(v))
		for i := range v {
			all[i] = int64(v[i])
		}
		return all
	}
	return nil
}

// TestStatementsAreForOneShard runs the whole suite on a sharded store and looks at every statement as it is sent. It keeps
// true, where there is no cluster to try, what one demands.
func TestStatementsAreForOneShard(t *testing.T) {
	t.Parallel()
	first := pgtest.DSN(t)
	openSQL(t, first, models.Options{})
	l := &lint{split: tablesWithBucket(t, first), open: map[uint32]*transaction{}, troubles: map[string]string{}, seen: map[string]int{},
		texts: map[string]*text{}}
	t.Run("suite", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) storetest.Store {
			s, err := models.Open(t.Context(), migrated.DSN(t), models.Options{Conns: 10, Sharded: true, Trace: l.see})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			if err := s.Migrate(context.WithValue(t.Context(), cold{}, true), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
				t.Fatal(err)
			}
			return labelled{s}
		})
	})
	for query, trouble := range l.troubles {
		t.Errorf("%s\n\t%s", query, trouble)
	}
	t.Logf("%d statements of %d texts looked at, %d transactions that write", total(l.seen), len(l.seen), l.done)
	if len(l.seen) < 50 || l.done < 500 {
		t.Errorf("only %d texts and %d transactions were seen: the hook does not work", len(l.seen), l.done)
	}
}

func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// tablesWithBucket lists them, and fails the test where one has a key without the bucket: of such a key no server alone could
// say whether it is unique.
func tablesWithBucket(t *testing.T, dsn string) []string {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT c.relname, COALESCE(string_agg(i.relname, ' ') FILTER (WHERE x.indisunique AND NOT a.attnum = ANY(x.indkey)), '')
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'bucket'
		LEFT JOIN pg_index x ON x.indrelid = c.oid LEFT JOIN pg_class i ON i.oid = x.indexrelid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY c.relname`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var table, keys string
		if err := rows.Scan(&table, &keys); err != nil {
			t.Fatal(err)
		}
		if keys != "" {
			t.Errorf("%s has unique keys without the bucket: %s", table, keys)
		}
		tables = append(tables, table)
	}
	if err := rows.Err(); err != nil || len(tables) < 10 {
		t.Fatalf("%d tables with a bucket, %v", len(tables), err)
	}
	return tables
}

func TestLintFindsWhatItShall(t *testing.T) {
	t.Parallel()
	for query, test := range map[string]struct {
		args []any
		bad  bool
	}{
		"SELECT * FROM hosts WHERE bucket = $1 FOR UPDATE":                                                {[]any{int16(3)}, false},
		"SELECT * FROM hosts WHERE bucket = ANY($1) FOR UPDATE":                                           {[]any{[]int16{3, 4}}, true},
		"SELECT * FROM hosts k WHERE k.bucket = ANY($1) FOR UPDATE":                                       {[]any{[]int16{3, 11}}, false},
		"SELECT * FROM hosts FOR UPDATE SKIP LOCKED":                                                      {nil, true},
		"UPDATE pages SET due_at = now() WHERE bucket = $1":                                               {[]any{int16(3)}, true},
		"UPDATE pages SET due_at = $2 WHERE id = $1":                                                      {[]any{int64(3), int64(4)}, true},
		"INSERT INTO links (bucket, parent_id) SELECT * FROM unnest($1::bigint[], $2::bigint[])":          {[]any{[]int64{5, 5}, []int64{1, 2}}, true},
		"INSERT INTO links (bucket, id) SELECT b.bucket, v.id FROM buckets b WHERE b.bucket = ANY($1)":    {[]any{[]int16{5, 13}}, false},
		"INSERT INTO links (bucket, id) SELECT b.bucket, v.id FROM buckets b WHERE b.bucket = ANY($2)":    {[]any{1, []int16{5, 6}}, true},
		"SELECT (SELECT 1 FROM pages p WHERE p.bucket = h.bucket) FROM hosts h WHERE h.bucket = $1":       {[]any{int16(3)}, true},
		"SELECT b.bucket FROM buckets b WHERE EXISTS (SELECT 1 FROM hosts h WHERE h.bucket = b.bucket)":   {nil, false},
		"SELECT p.id FROM pages p JOIN links l ON l.parent_id = p.id WHERE p.bucket = $1":                 {[]any{int16(3)}, true},
		"SELECT p.id FROM pages p JOIN links l ON l.bucket = p.bucket WHERE p.bucket = $1 AND l.id = $2 ": {[]any{int16(3), int64(1)}, false},
	} {
		l := &lint{split: []string{"hosts", "pages", "links", "buckets"}}
		if got := judge(models.Statement{SQL: query, Args: test.args}, l.read(query), nil); (got != "") != test.bad {
			t.Errorf("%s: %q, want trouble: %v", query, got, test.bad)
		}
	}
	l := &lint{split: []string{"hosts"}}
	two := &transaction{shards: map[int64]string{}}
	for bucket := range int16(2) {
		s := models.Statement{SQL: "DELETE FROM hosts WHERE bucket = $1", Args: []any{bucket}}
		if got := judge(s, l.read(s.SQL), two); (got != "") != (bucket == 1) {
			t.Errorf("bucket %d in a transaction: %q", bucket, got)
		}
	}
}
