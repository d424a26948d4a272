package models

import (
	"slices"
	"testing"
	"time"
)

// An event log keeps its name, has another one than that of any other database, and another one when a checkpoint was restored: its
// numbers are then given again.
func TestAnEventLogHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	for engine, dsn := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := openBackup(t, dsn(t))
			name := func() string {
				t.Helper()
				name, err := s.LogName(t.Context())
				if err != nil || name == "" {
					t.Fatalf("LogName = %q, %v", name, err)
				}
				return name
			}
			first := name()
			if again := name(); again != first {
				t.Errorf("it is called %s and then %s", first, again)
			}
			if err := s.NoteRestored(t.Context(), time.Unix(1_800_000_000, 0)); err != nil {
				t.Fatal(err)
			}
			if again := name(); again == first {
				t.Errorf("after a checkpoint it is called %s as before", again)
			}
		})
	}
}

func TestMetaKeysAreThoseOfAPrefix(t *testing.T) {
	t.Parallel()
	for engine, dsn := range engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := openBackup(t, dsn(t))
			for _, key := range []string{"k_x:b", "k_x:a", "kyx:c", "k_x", "K_X:d"} {
				if _, err := s.SetMeta(t.Context(), key, "", "set"); err != nil {
					t.Fatal(err)
				}
			}
			if keys, err := s.MetaKeys(t.Context(), "k_x:"); err != nil || !slices.Equal(keys, []string{"k_x:a", "k_x:b"}) {
				t.Errorf("MetaKeys = %q, %v, want k_x:a and k_x:b", keys, err)
			}
		})
	}
}
