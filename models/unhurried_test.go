package models

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/pgtest"
)

// withTimeouts is a DSN whose connections wait for nothing longer than a quarter of a second, as a role for visits may be told.
func withTimeouts(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("statement_timeout", "250")
	query.Set("lock_timeout", "250")
	u.RawQuery = query.Encode()
	return u.String()
}

// TestFault_093_WholeTablesTakeTheirTime holds what a migration and a backup wait for, longer than the role's time-outs are.
func TestFault_093_WholeTablesTakeTheirTime(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	hurried, other := planStore(t, withTimeouts(t, dsn)), planStore(t, dsn)
	for _, test := range []struct {
		name, lock string
		run        func() error
	}{
		{"migration", fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(migrationLock)), func() error { return hurried.Migrate(t.Context(), planStart) }},
		{"backup", "LOCK TABLE pages IN ACCESS EXCLUSIVE MODE", func() error {
			_, err := hurried.Backup(t.Context(), io.Discard, planStart)
			return err
		}},
	} {
		held, done := make(chan struct{}), make(chan error)
		go func() {
			done <- other.inTx(t.Context(), func(x *tx) error {
				err := x.script(context.WithoutCancel(t.Context()), test.lock)
				close(held)
				machine := clock.System{}
				_ = machine.SleepUntil(t.Context(), machine.Now().Add(700*time.Millisecond))
				return err
			})
		}()
		<-held
		if err := test.run(); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
