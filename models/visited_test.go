package models

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryColumnHasAGroup(t *testing.T) {
	t.Parallel()
	for _, g := range columnGroups {
		for _, name := range strings.Fields(g) {
			if !strings.Contains(" "+visitedTable.columns+" ", " "+name+" ") {
				t.Errorf("a group has column %s, which pages do not have", name)
			}
		}
	}
	before, c := &Page{URL: "a"}, newComparison()
	if same, unknown := c.written(before, before), c.written(nil, before); same != everyVisit || unknown != allGroups {
		t.Errorf("of an unchanged page groups %b are written, of an unknown one %b", same, unknown)
	}
}

// TestChangesOfAnyFieldAreWritten: whatever field of a page a visit changes, the row is as if all were written.
func TestChangesOfAnyFieldAreWritten(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), dsn(t), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Migrate(t.Context(), planStart); err != nil {
				t.Fatal(err)
			}
			pages := make([]Discovery, len(changesOfPages()))
			for i := range pages {
				pages[i] = Discovery{Host: "h.example", Page: Page{SiteID: 1, URL: "http://h.example/" + string(rune('A'+i))}}
			}
			if _, err := s.AddPages(t.Context(), planStart, pages, 0); err != nil {
				t.Fatal(err)
			}
			writesChanges(t, s)
		})
	}
}

// changesOfPages are changes of one field each.
func changesOfPages() []func(*Page) {
	var changes []func(*Page)
	var walk func(path []int, kind reflect.Type)
	walk = func(path []int, kind reflect.Type) {
		for i := range kind.NumField() {
			field, at := kind.Field(i), append(append([]int{}, path...), i)
			switch name := field.Name; {
			case len(path) == 0 && (name == "Bucket" || name == "ID" || name == "HostID" || name == "URL" || name == "Importance" || name == "ToldAt" || name == "Lost" || name == "AnnouncedAt" ||
				name == "Requisite" || name == "UnnamedAt" || name == "NamedAt"):
			case field.Type.Kind() == reflect.Struct:
				walk(at, field.Type)
			default:
				changes = append(changes, func(p *Page) { setSome(reflect.ValueOf(p).Elem().FieldByIndex(at)) })
			}
		}
	}
	walk(nil, reflect.TypeFor[Page]())
	return changes
}

// setSome gives a field another value than it is likely to have.
func setSome(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("other")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32:
		v.SetFloat(1.5)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(3)
	case reflect.Array:
		v.Index(0).SetUint(7)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{5})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		v.Index(0).SetInt(9)
	default:
		v.SetInt(4)
	}
}

func writesChanges(t *testing.T, s *Store) {
	t.Helper()
	changes := changesOfPages()
	leases, err := s.Claim(t.Context(), ClaimRequest{Now: planStart, Lease: time.Hour, Owner: "w", Hosts: 1,
		Pages: len(changes), Buckets: []int16{BucketOf("h.example")}})
	if err != nil || len(leases) != 1 || len(leases[0].Pages) != len(changes) {
		t.Fatalf("Claim = %d leases, %v", len(leases), err)
	}
	var results []Result
	want := make(map[int64]Page)
	for i, l := 0, leases[0]; i < len(changes); i++ {
		before := l.Pages[i].Page
		after := before
		changes[i](&after)
		want[after.ID] = after
		results = append(results, Result{Lease: LeaseRef{l.Host.Bucket, l.Host.ID, l.Host.LeaseToken}, Page: after, Before: &before,
			Host: l.Host, Release: i == len(changes)-1})
	}
	if _, err := s.Commit(t.Context(), planStart, results); err != nil {
		t.Fatal(err)
	}
	rows, err := pageTable.scan(s.rows(t.Context(), `SELECT `+pageTable.prefixed("")+` FROM pages`))
	if err != nil || len(rows) != len(want) {
		t.Fatalf("%d pages, %v, want %d", len(rows), err, len(want))
	}
	for _, got := range rows {
		if diff := cmp.Diff(want[got.ID], got); diff != "" {
			t.Errorf("page %s (-want +got):\n%s", got.URL, diff)
		}
	}
}
