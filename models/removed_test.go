package models

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// called are the sites of a name, which is a start URL as well.
func (f *finder) called(name string) []int32 {
	f.Helper()
	ids, err := f.s.SiteIDs(f.Context(), name, name)
	if err != nil {
		f.Fatal(err)
	}
	return ids
}

// copied adds a page of a site that there is a copy of.
func (f *finder) copied(site int32) {
	f.Helper()
	page := f.named
	page.Page.SiteID = site
	if _, err := f.s.AddPages(f.Context(), f.now, []Discovery{page}, 0); err != nil {
		f.Fatal(err)
	}
	f.run(`UPDATE pages SET version = 1 WHERE url LIKE '%/named'`)
}

// A removed site is known by its name, and by its start URL, as long as an event of its removal is kept; and so is one that was added
// again after that.
func TestRemovedSitesAreKnownAsLongAsTheirEvents(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		begin, err := f.s.Newest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		one := Site{Name: "one", URL: "https://a.example/"}
		two := Site{Name: "two", URL: "https://b.example/"}
		if _, err := f.s.SyncSites(t.Context(), f.now, []Site{one}); err != nil {
			t.Fatal(err)
		}
		for want := int32(2); want < 4; want++ {
			added, err := f.s.AddSite(t.Context(), f.now, two)
			if err != nil || added.ID != want {
				t.Fatalf("AddSite = %+v, %v, want the ID %d", added, err, want)
			}
			f.copied(want)
			if err := f.s.RemoveSite(t.Context(), want, f.now); err != nil {
				t.Fatal(err)
			}
		}
		f.copied(2) // by who did not know that the site was gone
		if err := f.s.RemoveSite(t.Context(), 2, f.now); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		if _, err := f.s.AddSite(t.Context(), f.now, two); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]int32{"one": {1}, "two": {2, 3, 4}, two.URL: {2, 3, 4}, "three": nil} {
			if got := f.called(name); !slices.Equal(got, want) {
				t.Errorf("the sites called %s are %v, want %v", name, got, want)
			}
		}
		want := []Site{{ID: 2, Name: two.Name, URL: two.URL}, {ID: 3, Name: two.Name, URL: two.URL}}
		removed, err := f.s.RemovedSites(t.Context())
		if diff := cmp.Diff(want, removed); diff != "" || err != nil {
			t.Errorf("removed sites (-want +got), %v:\n%s", err, diff)
		}
		events, _ := walk(t, f.s, begin, ChangesQuery{Sites: f.called("two"), Limit: 10})
		var told []int32
		for _, e := range events {
			if told = append(told, e.SiteID); e.Kind != EventRemoved || e.Note != "two" {
				t.Errorf("told is %s of %s, noted %q, want that a page of two is removed", e.Kind, e.URL, e.Note)
			}
		}
		if !slices.Equal(told, []int32{2, 3, 2}) {
			t.Errorf("the removals told are of %v, want 2, 3, and what was left of 2", told)
		}
	})
}

// Sites that were removed before their names were remembered are known by the events of that, in a database that is brought up to date and
// in one that a backup of before is restored into; and as long as those are kept. Of other events nobody knows.
func TestSitesRemovedBeforeTheirNamesWereRemembered(t *testing.T) {
	t.Parallel()
	for from, fromDSN := range empties() {
		for to, toDSN := range engines() {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				s := atStep(t, fromDSN(t), 13)
				s.mustRun(t, `UPDATE buckets SET next_seq = 4 WHERE bucket IN (5, 9)`)
				before := eventTable.without("mark").without("requisite")
				err := s.inTx(t.Context(), func(x *tx) error {
					return before.insert(t.Context(), x, []Event{
						{Bucket: 5, Seq: 1, Kind: EventNew, SiteID: 6, URL: "https://a.example/"},
						{Bucket: 5, Seq: 2, Kind: EventRemoved, SiteID: 6, URL: "https://a.example/", Note: "docs"},
						{Bucket: 5, Seq: 3, Kind: EventRemoved, SiteID: 6, URL: "https://a.example/a", Note: "docs"},
						{Bucket: 9, Seq: 1, Kind: EventRemoved, SiteID: 6, URL: "https://b.example/", Note: "docs"},
						{Bucket: 9, Seq: 2, Kind: EventNew, SiteID: 8, URL: "https://c.example/"},
						{Bucket: 9, Seq: 3, Kind: EventTemplate, SiteID: 8, URL: "https://c.example/", Note: "docs"}})
				})
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := takeBackup(t, s)
				target := openBackup(t, toDSN(t))
				if _, err := target.Restore(t.Context(), bytes.NewReader(raw), backupNow); err != nil {
					t.Fatal(err)
				}
				if err := s.Migrate(t.Context(), backupNow); err != nil {
					t.Fatal(err)
				}
				for what, s := range map[string]*Store{"migrated": s, "restored": target} {
					removed, err := s.RemovedSites(t.Context())
					if diff := cmp.Diff([]Site{{ID: 6, Name: "docs"}}, removed); diff != "" || err != nil {
						t.Errorf("%s: removed sites (-want +got), %v:\n%s", what, err, diff)
					}
					if ids, err := s.SiteIDs(t.Context(), "docs", "docs"); !slices.Equal(ids, []int32{6}) || err != nil {
						t.Errorf("%s: the sites called docs are %v, %v, want 6", what, ids, err)
					}
					if n, err := s.PruneEvents(t.Context(), backupNow, nil, 100); n < 6 || err != nil {
						t.Fatal(n, err)
					}
					if ids, err := s.SiteIDs(t.Context(), "docs", "docs"); len(ids) > 0 || err != nil {
						t.Errorf("%s: once the events are pruned the sites called docs are %v, %v, want none", what, ids, err)
					}
				}
			})
		}
	}
}

// The name of a removed site goes with the last event of its removal: not before all sinks have that.
func TestNamesOfRemovedSitesArePruned(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		two := Site{Name: "two", URL: "https://b.example/"}
		added, err := f.s.AddSite(t.Context(), f.now, two)
		if err != nil {
			t.Fatal(err)
		}
		f.copied(added.ID)
		if err := f.s.RemoveSite(t.Context(), added.ID, f.now); err != nil {
			t.Fatal(err)
		}
		old := f.now.Add(time.Hour)
		for _, test := range []struct {
			before time.Time
			sinks  []string
			want   []int32
		}{
			{f.now.Add(-time.Hour), nil, []int32{added.ID}}, {old, []string{"behind"}, []int32{added.ID}}, {old, nil, nil},
		} {
			if _, err := f.s.PruneEvents(t.Context(), test.before, test.sinks, 100); err != nil {
				t.Fatal(err)
			}
			if got := f.called("two"); !slices.Equal(got, test.want) {
				t.Errorf("pruned before %s but for %v: sites %v, want %v", test.before, test.sinks, got, test.want)
			}
		}
	})
}

// A restored database gives no new site the number of a removed one, which events are told by: a backup of an earlier step has nothing
// but those.
func TestRestoredSitesGetNumbersOfTheirOwn(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		f.run(`INSERT INTO removed_sites (bucket, site_id, name, url, seq) VALUES (5, 6, 'gone', 'https://gone.example/', 1)`)
		err := f.s.inTx(t.Context(), func(x *tx) error {
			return eventTable.insert(t.Context(), x, []Event{{Bucket: 5, Seq: 2, Kind: EventNew, SiteID: 7, URL: "https://earlier.example/"}})
		})
		if err != nil {
			t.Fatal(err)
		}
		begun, err := f.s.writer.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join((&tx{store: f.s, sql: begun}).afterRestore(t.Context(), f.now), begun.Commit()); err != nil {
			t.Fatal(err)
		}
		if added, err := f.s.AddSite(t.Context(), f.now, Site{Name: "new"}); err != nil || added.ID != 8 {
			t.Errorf("AddSite = %+v, %v, want the ID 8", added, err)
		}
	})
}

// What comes while events are pruned stays, in a bucket too of which nothing is new enough to stay.
func TestEventsThatComeMeanwhileAreNotPruned(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		f := newFinder(t, dsn)
		old := Event{Bucket: 5, Kind: EventNew, At: At(f.now.Add(-time.Hour)), URL: "https://a.example/"}
		err := f.s.inTx(t.Context(), func(x *tx) error {
			events, err := x.number(t.Context(), map[int16][]Event{5: {old, old}})
			return errors.Join(err, eventTable.insert(t.Context(), x, events))
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			bucket int16
			before time.Time
			want   int64
		}{{5, f.now, 2}, {6, f.now, 0}, {5, f.now.Add(-2 * time.Hour), 0}} {
			if got, err := f.s.oldEvents(t.Context(), test.bucket, test.before); got != test.want || err != nil {
				t.Errorf("of bucket %d what is before %s goes up to number %d, %v, want %d", test.bucket, test.before, got, err, test.want)
			}
		}
	})
}
