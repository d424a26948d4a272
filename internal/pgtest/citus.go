package pgtest

import (
	"context"
	"database/sql"
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
	nodes := citusNodes(t, admin)
	name := fmt.Sprintf("recrawld_test_%d_%d", os.Getpid(), databases.Add(1))
	var dsns []string
	for _, node := range nodes {
		on := onNode(t, admin, node)
		onServer(t, on, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'")
		t.Cleanup(func() { onServer(t, on, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
		dsn, err := withDatabase(on, name)
		if err != nil {
			t.Fatalf("%s: %v", citusEnv, err)
		}
		onServer(t, dsn, "CREATE EXTENSION citus")
		dsns = append(dsns, dsn)
	}
	for i, node := range nodes {
		host, port, _ := strings.Cut(node, " ")
		if i == 0 {
			onServer(t, dsns[0], fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %s)", host, port))
			continue
		}
		onServer(t, dsns[0], fmt.Sprintf("SELECT citus_add_node('%s', %s)", host, port))
	}
	onServer(t, dsns[0], "ALTER DATABASE "+name+" SET citus.shard_count TO 4")
	return dsns[0]
}

// citusNodes is the cluster's servers, "HOST PORT", the coordinator first.
func citusNodes(t testing.TB, admin string) []string {
	t.Helper()
	db, err := sql.Open("pgx", admin)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := db.QueryContext(ctx, "SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid")
	if err != nil {
		t.Fatalf("nodes of %s: %v", citusEnv, err)
	}
	defer rows.Close()
	var nodes []string
	for rows.Next() {
		var host string
		var port int
		if err := rows.Scan(&host, &port); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, host+" "+strconv.Itoa(port))
	}
	if err := rows.Err(); err != nil || len(nodes) == 0 {
		t.Fatalf("%s knows %d nodes, %v", citusEnv, len(nodes), err)
	}
	return nodes
}

// onNode is the DSN, a URL, for another server.
func onNode(t testing.TB, admin, node string) string {
	t.Helper()
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("%s: %v", citusEnv, err)
	}
	host, port, _ := strings.Cut(node, " ")
	u.Host = net.JoinHostPort(host, port)
	return u.String()
}
