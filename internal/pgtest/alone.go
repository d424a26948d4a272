package pgtest

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Alone is a server of a test's own, for what the shared one is to be spared: that it dies, is full, or hands over to another.
type Alone struct {
	t      testing.TB
	server server
}

// StartAlone starts a server with further settings, as "max_connections=20"; it ends with the test. Without the programs of
// PostgreSQL the test is skipped and says so, or fails where RECRAWLD_REQUIRE_POSTGRES=1.
func StartAlone(t testing.TB, settings ...string) *Alone {
	t.Helper()
	a := &Alone{t: t, server: server{settings: append([]string{"fsync=off", "shared_buffers=16MB"}, settings...)}}
	t.Cleanup(a.server.stop)
	if _, err := a.server.start(); err != nil {
		missing(t, "no PostgreSQL of our own to test on: %v", err)
	}
	return a
}

// DSN is the address of the server's database, and of those of others that take its place.
func (a *Alone) DSN(others ...*Alone) string {
	hosts := a.server.dir
	for _, other := range others {
		hosts += "," + other.server.dir
	}
	return "postgres://recrawld@/postgres?sslmode=disable&host=" + hosts
}

// End ends the server: SIGINT closes its connections, SIGQUIT and SIGKILL are crashes.
func (a *Alone) End(by syscall.Signal) {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	a.server.end(by)
}

// Again starts the server that was ended, on what it left.
func (a *Alone) Again() {
	a.t.Helper()
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	bin, err := binaries()
	if err != nil {
		a.t.Fatal(err)
	}
	who, err := owner()
	if err != nil {
		a.t.Fatal(err)
	}
	for range 1000 { // some 10 ms each
		if err = a.server.launch(bin, who); err == nil {
			return
		}
		a.server.end(syscall.SIGQUIT)
		if !strings.Contains(err.Error(), "still in use") { // by children of one that was killed, which notice that soon
			break
		}
	}
	a.t.Fatalf("start PostgreSQL again: %v", err)
}

// Standby starts a server that follows this one, some way behind it, and can only be read until it is promoted.
func (a *Alone) Standby() *Alone {
	a.t.Helper()
	s := &Alone{t: a.t, server: server{settings: a.server.settings, started: true}}
	a.t.Cleanup(s.server.stop)
	err := s.server.bootFrom(func(bin string) []string {
		return []string{filepath.Join(bin, "pg_basebackup"), "-h", a.server.dir, "-U", "recrawld", "-D", filepath.Join(s.server.dir, "data"),
			"--write-recovery-conf", "--checkpoint=fast", "--no-sync"}
	})
	if err != nil {
		a.t.Fatalf("start a standby: %v", err)
	}
	return s
}

// Run runs one statement on the server, however long it takes.
func (a *Alone) Run(statement string) {
	a.t.Helper()
	onServer(a.t, a.DSN()+"&statement_timeout=0", statement)
}
