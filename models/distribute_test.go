package models

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"recrawld/internal/pgtest"
)

func TestDistributeNeedsCitus(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		if err := s.Migrate(t.Context(), planStart); err != nil {
			t.Fatal(err)
		}
		_, err := s.Distribute(t.Context())
		if !errors.Is(err, ErrNoCitus) || !strings.Contains(err.Error(), "CREATE EXTENSION citus") {
			t.Errorf("Distribute without Citus: %v, want what is needed", err)
		}
	})
}

// Every table is distributed, the second time none; then the hot path runs as on one server.
func TestDistribute(t *testing.T) {
	t.Parallel()
	s := planStore(t, pgtest.Citus(t))
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	d, err := s.Distribute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Servers) < 2 || d.Shards != 4 || !slices.Contains(d.Distributed, "pages") || !slices.Contains(d.Copied, "sites") {
		t.Errorf("Distribute = %+v", d)
	}
	var local []string
	rows, err := s.rows(t.Context(), `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
		AND oid NOT IN (SELECT logicalrelid FROM pg_dist_partition)`)
	if local, err = scanTexts(rows, err); err != nil || len(local) > 0 {
		t.Errorf("tables left on the coordinator: %v, %v", local, err)
	}
	again, err := s.Distribute(t.Context())
	if err != nil || len(again.Distributed)+len(again.Copied) > 0 || len(again.Before) != len(d.Distributed)+len(d.Copied) {
		t.Errorf("Distribute again = %+v, %v", again, err)
	}
}
