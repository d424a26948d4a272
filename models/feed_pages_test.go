package models

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// currentStore is a store of an engine with pages in all states, some of them with two events to tell.
func currentStore(t *testing.T, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{Conns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context(), planStart); err != nil {
		t.Fatal(err)
	}
	err = s.inTx(t.Context(), func(x *tx) error {
		for i := range 40 {
			p := Page{Bucket: int16(i % 3), ID: int64(i), HostID: 1, SiteID: int32(1 + i%2), URL: "http://a.org/" + string(rune('a'+i)), FRMax: 1, Requisite: i%4 == 3,
				State: []PageState{StateLive, StateMoved, StateGone, StateExcluded, StateNew}[i%5], Version: 1, TriedAt: At(planStart)}
			v := Version{Bucket: p.Bucket, PageID: p.ID, Number: 1, At: At(planStart), Record: Record{File: "f", Length: 1}}
			switch {
			case p.State == StateNew:
				p.Version = 0
			case i == 1 || i == 6: // moved, and 404 since, one of them with a copy of before
				p.State, p.RedirectTo, p.Version = StateMissing, "http://a.org/else", int32(i/6)
			}
			if err := pageTable.insert(t.Context(), x, []Page{p}); err != nil {
				return err
			}
			if p.Version == 1 {
				if err := versionTable.insert(t.Context(), x, []Version{v}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// walk reads from a cursor on to the end, so many events at a time.
func walk(t *testing.T, s *Store, at FeedCursor, q ChangesQuery) (all []Event, end FeedCursor) {
	t.Helper()
	for {
		events, next, err := s.Feed(t.Context(), at, q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
		if at, err = ParseFeedCursor(next.String()); err != nil || at != next {
			t.Fatalf("the cursor %v comes back as %v, %v", next, at, err)
		}
		if len(events) < q.Limit {
			return all, at
		}
	}
}

func TestAFeedBeginsWithEveryPage(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := currentStore(t, dsn(t))
			var want []Event
			for e, err := range s.Current(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, e)
			}
			for limit := range 5 {
				begin, err := s.All(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, end := walk(t, s, begin, ChangesQuery{Limit: limit + 1, Requisites: true})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("pages told %d at a time differ (-want +got):\n%s", limit+1, diff)
				}
				if newest, err := s.Newest(t.Context()); err != nil || end != newest {
					t.Errorf("the end of the pages is %v, %v, want that of the events", end, err)
				}
			}
			begin, err := s.All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			texts := slices.DeleteFunc(slices.Clone(want), func(e Event) bool { return e.Requisite })
			if got, _ := walk(t, s, begin, ChangesQuery{Limit: 2}); !cmp.Equal(texts, got) || len(texts) == len(want) {
				t.Errorf("pages that are no requisites differ (-want +got):\n%s", cmp.Diff(texts, got))
			}
			gone, _ := walk(t, s, begin, ChangesQuery{Limit: 2, Sites: []int32{2}, Kinds: []EventKind{EventGone}, Requisites: true})
			same := slices.DeleteFunc(want, func(e Event) bool { return e.SiteID != 2 || e.Kind != EventGone })
			if diff := cmp.Diff(same, gone); diff != "" || len(gone) < 3 {
				t.Errorf("pages of a site that are gone differ (-want +got):\n%s", diff)
			}
			// One that was told to have moved has, until its 404s are confirmed: that it moves again to where it was is not told.
			moved, _ := walk(t, s, begin, ChangesQuery{Limit: 3, Kinds: []EventKind{EventMoved}, Requisites: true})
			if away := slices.DeleteFunc(moved, func(e Event) bool { return e.RedirectTo == "" }); len(away) != 2 {
				t.Errorf("%d pages that moved and answered 404 since are told as moved, want 2: %+v", len(away), away)
			}
		})
	}
}

// What is committed while the pages are told comes behind them.
func TestWhatHappensWhileThePagesAreToldIsNotMissed(t *testing.T) {
	t.Parallel()
	s := currentStore(t, liteFile(t))
	at, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, at, err = s.Feed(t.Context(), at, ChangesQuery{Limit: 2}); err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	err = s.inTx(ctx, func(x *tx) error {
		var r Result // of a bucket whose pages were told
		r.Events = []Event{{Kind: EventChanged, URL: "http://a.org/a", At: At(planStart), SiteID: 1}}
		return (&commit{tx: x, fresh: []*Result{&r}}).writeEvents(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	rest, _ := walk(t, s, at, ChangesQuery{Limit: 3})
	if last := rest[len(rest)-1]; last.Kind != EventChanged || last.URL != "http://a.org/a" {
		t.Errorf("the last event is %+v, want the change that came meanwhile", last)
	}
}

// A page that was half told and is removed takes nothing from the one behind it.
func TestAPageThatGoesWhileItIsToldHidesNoOther(t *testing.T) {
	t.Parallel()
	place := feedPages{told: true, bucket: 2, after: 6, events: 1} // page 7 was half told
	q := ChangesQuery{Limit: 9}
	for page, want := range map[int64]int{7: 1, 8: 2} {
		f := place
		found, all := f.tell(nil, page, []Event{{Kind: EventNew}, {Kind: EventMoved}}, q)
		if len(found) != want || !all || f.after != page || f.events != 0 {
			t.Errorf("page %d: %d events and the place %+v, want %d", page, len(found), f, want)
		}
	}
}

// siteOrAll is a site in a list, and none for 0.
func siteOrAll(site int32) []int32 {
	if site == 0 {
		return nil
	}
	return []int32{site}
}

// Of a million pages those of one site, or those few that were visited, are told without a look at each of the others: that would take
// longer than the asker has.
func TestOnlyPagesWithSomethingToTellAreRead(t *testing.T) {
	t.Parallel()
	for name, dsn := range engines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := currentStore(t, dsn(t))
			for site, want := range map[int32]int{0: 32, 1: 16, 2: 16, 3: 0} {
				read := 0
				for bucket := range int16(3) {
					pages, _, err := s.currentSlice(t.Context(), bucket, -1, ChangesQuery{Sites: siteOrAll(site), Requisites: true}, 100)
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range pages {
						if read++; site != 0 && p.SiteID != site || p.State == StateNew {
							t.Errorf("of site %d the page %s of site %d, %s, is read", site, p.URL, p.SiteID, p.State)
						}
					}
				}
				if read != want {
					t.Errorf("%d pages of site %d are read, want %d", read, site, want)
				}
			}
		})
	}
}
