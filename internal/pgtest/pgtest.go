// Package pgtest gives tests databases on a real PostgreSQL: on the server named by RECRAWLD_TEST_POSTGRES, or on a
// private one that is started once a test process in a temporary folder and ends with it.
//
// A package that uses it ends its tests through Main:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
)

// serverEnv names a given server; requireEnv makes its absence an error.
const (
	serverEnv  = "RECRAWLD_TEST_POSTGRES"
	requireEnv = "RECRAWLD_REQUIRE_POSTGRES"
)

// private is the one server of this process, pristine what it and those of single tests begin as, databases counts what was created on
// it, and templates drops those that tests share.
var (
	private   server
	pristine  server
	databases atomic.Int64
	templates shared
)

// Main runs the tests, stops the private server if one was started, and exits. Should the process die before, the
// kernel stops the server.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for those who have more to tidy up before they exit: it returns the exit code.
func Run(m *testing.M) int {
	defer pristine.stop()
	defer private.stop()
	defer templates.drop()
	return m.Run()
}

// DSN returns the address of a fresh, empty database that is dropped, or left by all, when the test ends. Without a PostgreSQL 15 or
// newer the test is skipped and says so, or fails where RECRAWLD_REQUIRE_POSTGRES=1.
func DSN(t testing.TB) string {
	t.Helper()
	dsn, drop := Database(t)
	t.Cleanup(drop)
	return dsn
}

// Database is DSN for a test that needs many of them one after the other: it drops each when it is done with it.
func Database(t testing.TB) (dsn string, drop func()) {
	t.Helper()
	return copied(t, adminDSN(t), "template0")
}

// adminDSN is the address of the server's own database.
func adminDSN(t testing.TB) string {
	t.Helper()
	if given := os.Getenv(serverEnv); given != "" {
		return given
	}
	admin, err := private.start()
	if err != nil {
		missing(t, "no PostgreSQL to test on: %v; set "+serverEnv+" to the DSN of a server", err)
	}
	return admin
}

// missing skips a test that needs what is not there, or fails it where that is required.
func missing(t testing.TB, format string, err error) {
	t.Helper()
	if os.Getenv(requireEnv) == "1" {
		t.Fatalf("postgres: %v", err)
	}
	t.Skipf(format, err)
}

// copied is a database that begins as a copy of the template. Dropping it ends its connections; on a private server on a disk, which ends
// with the tests, its files stay until then: each drop waits for a checkpoint.
func copied(t testing.TB, admin, template string) (dsn string, drop func()) {
	t.Helper()
	name, dsn := create(t, admin, template)
	end := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'"
	if os.Getenv(serverEnv) != "" || private.quick() {
		end = dropping(name)
	}
	return dsn, func() { onServer(t, admin, end) }
}

// create copies the template's files: to copy it through the log, as CREATE DATABASE does by itself, takes longer.
func create(t testing.TB, admin, template string) (name, dsn string) {
	t.Helper()
	name = fmt.Sprintf("recrawld_test_%d_%d", os.Getpid(), databases.Add(1))
	onServer(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+" ENCODING 'UTF8' STRATEGY FILE_COPY")
	dsn, err := withDatabase(admin, name)
	if err != nil {
		t.Fatalf("%s: %v", serverEnv, err)
	}
	return name, dsn
}

func dropping(name string) string { return "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)" }

// onServer runs one statement on the server's own database.
func onServer(t testing.TB, admin, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if err := run(ctx, admin, statement); err != nil {
		t.Fatal(err)
	}
}

// withDatabase is the DSN, a URL, with another database.
func withDatabase(admin, name string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil || u.Scheme == "" {
		return "", fmt.Errorf("want a postgres:// URL, got %q", admin)
	}
	u.Path = "/" + name
	return u.String(), nil
}
