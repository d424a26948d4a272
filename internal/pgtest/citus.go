package pgtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// citusEnv names the coordinator of a Citus cluster: a postgres:// URL of a database that knows the cluster's nodes, by a
// role that may create databases on all of them.
const citusEnv = "RECRAWLD_TEST_CITUS"

// Citus returns the address of a fresh, empty database on the cluster that RECRAWLD_TEST_CITUS names, with the extension on
// all of its servers; it is dropped when the test ends. Without a cluster the test is skipped and says so.
func Citus(t testing.TB) string {
	t.Helper()
	admin := os.Getenv(citusEnv)
	if admin == "" {
		t.Skipf("no Citus to test on: set %s to the postgres:// URL of a coordinator", citusEnv)
	}
	dsn, drop, err := FreshCitus(t.Context())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := drop(ctx); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s: %v", citusEnv, err)
	}
	onServer(t, dsn, "ALTER DATABASE "+strings.TrimPrefix(u.Path, "/")+" SET citus.shard_count TO 4")
	return dsn
}

// HasCitus tells whether RECRAWLD_TEST_CITUS names a cluster.
func HasCitus() bool { return os.Getenv(citusEnv) != "" }

// FreshCitus makes an empty database on the cluster that RECRAWLD_TEST_CITUS names, with the extension on all of its servers,
// and returns its address and how to drop it, also where it comes back with an error.
func FreshCitus(ctx context.Context) (dsn string, drop func(context.Context) error, err error) {
	admin, name := os.Getenv(citusEnv), fmt.Sprintf("recrawld_test_%d_%d", os.Getpid(), databases.Add(1))
	var servers []string // by their own databases
	drop = func(ctx context.Context) error {
		var errs []error
		for _, server := range servers {
			errs = append(errs, run(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"))
		}
		return errors.Join(errs...)
	}
	nodes, err := citusNodes(ctx, admin)
	if err != nil {
		return "", drop, fmt.Errorf("nodes of %s: %w", citusEnv, err)
	}
	for i, node := range nodes {
		u, err := url.Parse(admin)
		if err != nil {
			return "", drop, fmt.Errorf("%s: %w", citusEnv, err)
		}
		u.Host = node
		servers = append(servers, u.String())
		on, err := withDatabase(u.String(), name)
		if err == nil {
			err = run(ctx, servers[i], "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'")
		}
		if err == nil {
			err = run(ctx, on, "CREATE EXTENSION citus")
		}
		if i == 0 {
			dsn = on
		}
		if err == nil {
			err = add(ctx, dsn, join(u, i == 0))
		}
		if err != nil {
			return "", drop, err
		}
	}
	return dsn, drop, nil
}

// joinTries is how often a server is told of another one. While the maintenance daemon of the new database begins there, it may
// end the connections that Citus made to it ("failure on connection marked as essential").
const joinTries = 5

func add(ctx context.Context, dsn, join string) (err error) {
	for range joinTries {
		if err = run(ctx, dsn, join); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// join is the statement that tells the coordinator of a server, which may be itself.
func join(node *url.URL, coordinator bool) string {
	if coordinator {
		return fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %s)", node.Hostname(), node.Port())
	}
	return fmt.Sprintf("SELECT citus_add_node('%s', %s)", node.Hostname(), node.Port())
}

// citusNodes is the cluster's servers, HOST:PORT, the coordinator first.
func citusNodes(ctx context.Context, admin string) ([]string, error) {
	db, err := sql.Open("pgx", admin)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var nodes []string
	for rows.Next() {
		var host string
		var port int
		if err := rows.Scan(&host, &port); err != nil {
			return nil, err
		}
		nodes = append(nodes, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	if err := rows.Err(); err != nil || len(nodes) == 0 {
		return nil, fmt.Errorf("%d of them, %w", len(nodes), cmp.Or(err, sql.ErrNoRows))
	}
	return nodes, nil
}

// run runs one statement on a database.
func run(ctx context.Context, dsn, statement string) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return fmt.Errorf("open %s: %w", dsn, err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
