package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Template is a database that is filled once, and of which others begin as copies: it spares each of hundreds of tests what
// is the same for all. It stays until Main ends.
type Template struct {
	Fill func(t testing.TB, dsn string) // leaves no connection open

	once sync.Once
	name string
}

// DSN is the package's DSN, as Fill left it.
func (p *Template) DSN(t testing.TB) string {
	t.Helper()
	dsn, drop := p.Database(t)
	t.Cleanup(drop)
	return dsn
}

// Database is the package's Database, as Fill left it.
func (p *Template) Database(t testing.TB) (dsn string, drop func()) {
	t.Helper()
	admin := adminDSN(t)
	p.once.Do(func() {
		name, dsn := create(t, admin, "template0")
		templates.add(admin, name)
		p.Fill(t, dsn)
		p.name = name
	})
	if p.name == "" {
		t.Fatal("postgres: the template was not filled, see the test that began to")
	}
	return copied(t, admin, p.name)
}

// shared is the templates of this process.
type shared struct {
	mu    sync.Mutex
	drops []func() error // guarded by mu
}

func (s *shared) add(admin, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops = append(s.drops, func() error { return run(context.Background(), admin, dropping(name)) })
}

// drop leaves nothing on a given server; a private one ends anyway.
func (s *shared) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if os.Getenv(serverEnv) == "" {
		return
	}
	for _, drop := range s.drops {
		if err := drop(); err != nil {
			fmt.Fprintln(os.Stderr, "postgres:", err)
		}
	}
}
