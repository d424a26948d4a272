package models

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// lookedAt is a page of a host with visits an hour apart, of these kinds.
func lookedAt(host string, id int64, site int32, change func(*Page), kinds ...OutcomeKind) (Page, []Visit) {
	p := examplePage(int(id), 1)
	p.Bucket, p.HostID, p.ID, p.SiteID, p.Stats.Changes = BucketOf(host), HostID(host), id, site, 1
	if change != nil {
		change(&p)
	}
	var visits []Visit
	for i, kind := range kinds {
		visits = append(visits, Visit{Bucket: p.Bucket, PageID: id, Number: int32(i + 1), At: ago(time.Duration(len(kinds)-i) * time.Hour), Kind: kind, Version: int32(i + 1)})
	}
	return p, visits
}

// fillLooks writes pages of two sites: one that changed with a date and one without, and others of which nothing is told.
func fillLooks(t *testing.T, s *Store) {
	t.Helper()
	err := s.inTx(t.Context(), func(x *tx) error {
		var pages []Page
		var history []Visit
		add := func(p Page, visits []Visit) { pages, history = append(pages, p), append(history, visits...) }
		add(lookedAt("a.example", 11, 1, nil, First, NotModified, Failed, Changed, SameBytes, Changed, Noise, Missing))
		add(lookedAt("a.example", 12, 1, func(p *Page) { p.Stats.Changes = 0 }, First, SameText))
		add(lookedAt("a.example", 13, 1, func(p *Page) { p.Requisite = true }, First, Changed))
		add(lookedAt("a.example", 14, 1, func(p *Page) { p.DuplicateOf = "https://a.example/" }, First, Changed))
		add(lookedAt("a.example", 15, 2, nil, First, Changed))
		add(lookedAt("b.example", 16, 2, nil, First, Changed, Changed))
		counts := []pageCount{{countKey{BucketOf("a.example"), 1, StateLive}, 4, 0, 0}, {countKey{BucketOf("a.example"), 2, StateLive}, 1, 0, 0},
			{countKey{BucketOf("b.example"), 2, StateLive}, 1, 0, 0}}
		event := Event{Bucket: BucketOf("a.example"), Kind: EventChanged, SiteID: 1, PageID: 11, Version: 4, At: ago(5 * time.Hour),
			NotBefore: ago(7 * time.Hour), NotAfter: ago(6 * time.Hour)} // version 4, which was new at the fourth visit
		found := event // of the other change it is only known that it was before the visit
		found.Version, found.At, found.NotAfter = 6, ago(3*time.Hour), ago(3*time.Hour)
		other := event
		other.Kind, other.Version = EventRefreshed, 5
		events, err := x.number(t.Context(), map[int16][]Event{event.Bucket: {event, found, other}})
		return errors.Join(err, pageTable.insert(t.Context(), x, pages), visitTable.insert(t.Context(), x, history),
			countTable.insert(t.Context(), x, counts), eventTable.insert(t.Context(), x, events))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Looks are those that saw a content, of pages that changed and are neither requisites nor duplicates, with the dates that are known.
func TestLooks(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openFilledAt(t, dsn, func(context.Context, *tx) error { return nil })
		fillLooks(t, s)
		of := func(hours int, kind OutcomeKind) Look {
			return Look{At: ago(time.Duration(hours) * time.Hour), Kind: kind}
		}
		dated := of(5, Changed)
		dated.HappenedAt = ago(6 * time.Hour)
		one := []Look{of(8, First), of(7, NotModified), dated, of(4, SameBytes), of(3, Changed), of(2, Noise)}
		two, three := []Look{of(2, First), of(1, Changed)}, []Look{of(3, First), of(2, Changed), of(1, Changed)}
		for _, test := range []struct {
			site  int32
			since Instant
			want  [][]Look
		}{
			{0, 0, [][]Look{one, two, three}}, {1, 0, [][]Look{one}}, {2, 0, [][]Look{two, three}}, {3, 0, nil}, {1, ago(4 * time.Hour), [][]Look{one[3:]}}, {1, ago(0), nil},
		} {
			var got [][]Look
			if err := s.Looks(t.Context(), test.site, test.since, func(looks []Look) { got = append(got, slices.Clone(looks)) }); err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(got, func(a, b []Look) int { return int(a[0].At-b[0].At) + len(b) - len(a) })
			slices.SortFunc(test.want, func(a, b []Look) int { return int(a[0].At-b[0].At) + len(b) - len(a) })
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("site %d since %v (-want +got):\n%s", test.site, test.since, diff)
			}
		}
	})
}

// Of a site only the buckets are read that it has pages in, of these the pages by their key, and the visits of its own pages, in the order in which they lie.
func TestLooksReadTheKeysAlone(t *testing.T) {
	t.Parallel()
	s := openFilledAt(t, liteFile(t), func(context.Context, *tx) error { return nil })
	fillLooks(t, s)
	if buckets, err := s.bucketsOf(t.Context(), 1); err != nil || !slices.Equal(buckets, []int16{BucketOf("a.example")}) {
		t.Errorf("buckets of a site %v, %v", buckets, err)
	}
	want := []string{"SEARCH p USING INDEX sqlite_autoindex_pages_1 (bucket=?)", "SEARCH v USING PRIMARY KEY (bucket=? AND page_id=?)"}
	if plan := sqlitePlan(t, s, looksQuery); !slices.Equal(plan, want) {
		t.Errorf("plan\n%s\nwant\n%s", strings.Join(plan, "\n"), strings.Join(want, "\n"))
	}
}
