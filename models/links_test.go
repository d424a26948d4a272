package models

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/internal/pgtest"
)

func TestLinksComeBackInTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		children := rapid.SliceOf(rapid.Custom(func(t *rapid.T) rowKey {
			return rowKey{int16(rapid.IntRange(0, Buckets-1).Draw(t, "bucket")), rapid.Int64Min(0).Draw(t, "id")}
		})).Draw(t, "children")
		children = append(children, children...)
		packed := packChildren(slices.Clone(children))
		got, err := unpackChildren(packed)
		slices.SortFunc(children, compareKeys)
		if want := slices.Compact(children); err != nil || !slices.Equal(got, want) {
			t.Errorf("children = %v, %v, want %v", got, err, want)
		}
		if want := len(got)*9 + min(len(got), 1); len(packed) != want {
			t.Errorf("%d children take %d bytes, want %d", len(got), len(packed), want)
		}
	})
}

func FuzzUnpackChildren(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{1, 2})
	f.Add([]byte("\x01" + "000000000" + "000000000")) // the same child twice
	f.Add(packChildren([]rowKey{{1, 2}, {255, 3}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		children, err := unpackChildren(b)
		if err != nil {
			if !errors.Is(err, errPackedLinks) {
				t.Errorf("unpack %x: %v", b, err)
			}
			return
		}
		sorted := slices.IsSortedFunc(children, func(next, last rowKey) int { // each once
			if next == last {
				return -1
			}
			return compareKeys(next, last)
		})
		positive := !slices.ContainsFunc(children, func(c rowKey) bool { return c.id < 0 })
		if again := packChildren(children); sorted && positive && len(children) > 0 && !bytes.Equal(again, b) {
			t.Errorf("%x is written as %x", b, again)
		}
	})
}

// linksFixture is links as a release before step 8 wrote them, and what becomes of them.
const linksFixture = `INSERT INTO links VALUES (7, 6, 255, 9223372036854775807), (7, 6, 255, 0), (7, 6, 7, 8), (7, 8, 0, 257), (9, 8, 0, 1)`

func fixtureLinks() []Link {
	return []Link{{7, 6, 7, 8}, {7, 6, 255, 0}, {7, 6, 255, 1<<63 - 1}, {7, 8, 0, 257}, {9, 8, 0, 1}}
}

// beforeLinks is a store at step 7, with links.
func beforeLinks(t *testing.T, s *Store) {
	t.Helper()
	steps, err := s.dialect.steps()
	for n := 1; n <= 7 && err == nil; n++ {
		err = s.inTx(t.Context(), func(x *tx) error {
			_, err := x.migrateOnce(t.Context(), steps[:n], planStart)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func checkLinks(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	d, err := s.Dump(t.Context())
	if diff := cmp.Diff(fixtureLinks(), d.Links); diff != "" || err != nil {
		t.Errorf("links after the migration (-want +got), %v:\n%s", err, diff)
	}
}

func TestLinksOfAnEarlierReleaseAreMigrated(t *testing.T) {
	t.Parallel()
	onEmpties(t, func(t *testing.T, dsn string) {
		s := planStore(t, dsn)
		beforeLinks(t, s)
		if _, err := s.writer.ExecContext(t.Context(), linksFixture); err != nil {
			t.Fatal(err)
		}
		checkLinks(t, s)
	})
}

// A database that is spread over servers is migrated as it is, and its new tables are spread too.
func TestLinksOnSeveralServersAreMigrated(t *testing.T) {
	t.Parallel()
	s := planStore(t, pgtest.Citus(t))
	beforeLinks(t, s)
	if _, err := s.Distribute(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), linksFixture); err != nil {
		t.Fatal(err)
	}
	checkLinks(t, s)
	if left, err := s.undistributed(t.Context()); left || err != nil {
		t.Errorf("tables are left on the coordinator: %v, %v", left, err)
	}
}
