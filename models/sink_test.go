package models

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pageOf is a page of host a.example in a state.
func pageOf(path string, state PageState) Discovery {
	return Discovery{Host: "a.example", Page: Page{SiteID: 1, URL: "https://a.example/" + path, State: state,
		FRMax: 1, DueAt: At(backupNow), Rule: RuleStart}}
}

// visitDue visits all due pages with an outcome each, by URL.
func visitDue(t *testing.T, s *Store, now time.Time, outcome func(p *Page, r *Result)) {
	t.Helper()
	leases, err := s.Claim(t.Context(), ClaimRequest{Buckets: []int16{BucketOf("a.example")}, Now: now,
		Lease: time.Minute, Owner: "w", Hosts: 1, Pages: 100})
	if err != nil || len(leases) != 1 {
		t.Fatalf("Claim: %d leases, %v", len(leases), err)
	}
	l := leases[0]
	var results []Result
	for i, p := range l.Pages {
		r := Result{Lease: LeaseRef{Bucket: l.Host.Bucket, HostID: l.Host.ID, Token: l.Host.LeaseToken}, Host: l.Host,
			Page: p.Page, Release: i == len(l.Pages)-1}
		r.Page.Visits++
		r.Page.TriedAt = At(now)
		r.Page.DueAt = At(now.Add(time.Hour))
		outcome(&r.Page, &r)
		r.Visit = Visit{Bucket: p.Bucket, PageID: p.ID, Number: r.Page.Visits, At: At(now), Kind: First, Rule: RulePolicy}
		results = append(results, r)
	}
	errs, err := s.Commit(t.Context(), now, results)
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	for _, err := range errs {
		if err != nil {
			t.Fatalf("Commit: %v", err)
		}
	}
}

func TestCurrentTellsWhatPagesAre(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		var found []Discovery
		for _, path := range []string{"live", "moved", "gone", "failing", "excluded", "new"} {
			found = append(found, pageOf(path, StateNew))
		}
		if _, err := s.AddPages(t.Context(), backupNow, found, 0); err != nil {
			t.Fatal(err)
		}
		record := Record{File: "recrawld-w-20260105120000-00001.warc.gz", Offset: 7, Length: 9}
		states := map[string]PageState{"live": StateLive, "moved": StateMoved, "gone": StateGone,
			"failing": StateLive, "excluded": StateExcluded, "new": StateNew}
		visitDue(t, s, backupNow, func(p *Page, r *Result) {
			name := p.URL[len("https://a.example/"):]
			p.State = states[name]
			if name == "new" {
				return
			}
			p.Version, p.Digest, p.Bytes, p.ContentType = 1, DigestOf([]byte(name)), 3, "text/html"
			p.Stats.FirstAt = At(backupNow)
			r.Version = &Version{Bucket: p.Bucket, PageID: p.ID, Number: 1, At: At(backupNow), Status: 200, Digest: p.Digest, Record: record}
			r.Events = []Event{{Bucket: p.Bucket, PageID: p.ID, Kind: EventNew, URL: p.URL}}
			switch name {
			case "moved":
				p.RedirectTo = "https://a.example/to"
			case "failing":
				p.Failures = 2
			}
		})
		got := map[string][]string{}
		for e, err := range s.Current(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			name := e.URL[len("https://a.example/"):]
			got[name] = append(got[name], e.Kind.String()+e.RedirectTo)
			if e.Kind == EventNew {
				want := Event{Bucket: e.Bucket, At: At(backupNow), Kind: EventNew, SiteID: 1, PageID: e.PageID, URL: e.URL,
					Version: 1, Status: 200, NotAfter: At(backupNow), ContentType: "text/html", Digest: DigestOf([]byte(name)),
					Bytes: 3, Record: record}
				if d := cmp.Diff(want, e); d != "" {
					t.Errorf("event of %s differs (-want +got):\n%s", name, d)
				}
			}
		}
		want := map[string][]string{"live": {"new"}, "moved": {"new", "movedhttps://a.example/to"}, "gone": {"gone"},
			"failing": {"new", "failing"}, "excluded": {"new", "excluded"}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("events differ (-want +got):\n%s", d)
		}
		heads, err := s.EventHeads(t.Context())
		if head := heads[BucketOf("a.example")]; err != nil || len(heads) != 1 || head.Seq != 5 || head.Mark == 0 {
			t.Errorf("heads are %v, %v, want number 5 of one bucket", heads, err)
		}
	})
}

// TestARestoredPageComesWithItsCopy: the visit brought no body, but a sink may have let go of the one it had. So does one that became a duplicate, or is
// none any more; one that brought a body which was not kept has none.
func TestARestoredPageComesWithItsCopy(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		if _, err := s.AddPages(t.Context(), backupNow, []Discovery{pageOf("page", StateNew)}, 0); err != nil {
			t.Fatal(err)
		}
		record := Record{File: "recrawld-w-20260105120000-00001.warc.gz", Offset: 7, Length: 9}
		visitDue(t, s, backupNow, func(p *Page, r *Result) {
			p.Version = 3
			r.Version = &Version{Bucket: p.Bucket, PageID: p.ID, Number: 3, At: At(backupNow), Record: record}
		})
		visitDue(t, s, backupNow.Add(2*time.Hour), func(p *Page, r *Result) {
			r.Events = []Event{{Bucket: p.Bucket, PageID: p.ID, Kind: EventGone, URL: p.URL, Version: 3},
				{Bucket: p.Bucket, PageID: p.ID, Kind: EventRestored, URL: p.URL, Version: 3},
				{Bucket: p.Bucket, PageID: p.ID, Kind: EventRefreshed, URL: p.URL, Version: 3, Previous: 3},
				{Bucket: p.Bucket, PageID: p.ID, Kind: EventRefreshed, URL: p.URL, Version: 3, Previous: 2}}
		})
		events, err := s.Events(t.Context(), BucketOf("a.example"), 0, 10)
		if err != nil || len(events) != 4 {
			t.Fatalf("Events: %d, %v, want 4", len(events), err)
		}
		for i, want := range []Record{{}, record, record, {}} {
			if events[i].Record != want {
				t.Errorf("the record of %v from version %d is %+v, want %+v", events[i].Kind, events[i].Previous, events[i].Record, want)
			}
		}
	})
}

// The log of bucket 1 has 5 events, whose last one may be another than the one that was delivered, or not there.
func TestSetCursorsMovesAllOfThemOrNone(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		events := slices.Repeat([]Event{{Bucket: 1, Kind: EventNew, URL: "https://a.example/"}}, 5)
		logged(t, s, append(events, Event{Bucket: 255, Kind: EventNew, URL: "https://b.example/"})...)
		heads, err := s.EventHeads(t.Context())
		if err != nil || heads[1].Seq != 5 || heads[255].Seq != 1 || heads[1].Mark == 0 {
			t.Fatalf("EventHeads = %v, %v", heads, err)
		}
		at := map[int16]int64{}
		for _, step := range []struct {
			what string
			from map[int16]int64
			to   map[int16]EventRef
			ok   bool
		}{
			{"to a number that another event has", nil, map[int16]EventRef{1: {5, heads[1].Mark ^ 1}}, false},
			{"ahead of the log", nil, map[int16]EventRef{1: {6, 0}}, false},
			{"one of the two ahead", nil, map[int16]EventRef{1: heads[1], 255: {2, heads[255].Mark}}, false},
			{"from where nobody was", map[int16]int64{1: 3}, map[int16]EventRef{1: heads[1]}, false},
			{"from the beginning", map[int16]int64{}, heads, true},
			{"back", map[int16]int64{1: 5}, map[int16]EventRef{1: {2, heads[1].Mark}}, true},
			{"of no bucket", nil, nil, true},
			{"before the first", nil, map[int16]EventRef{255: {}}, true},
		} {
			err := s.SetCursors(t.Context(), "mirror", step.from, step.to)
			if step.ok != (err == nil) || err != nil && !errors.Is(err, ErrOtherEvents) {
				t.Errorf("%s: %v", step.what, err)
			}
			for bucket, ref := range step.to {
				if step.ok {
					at[bucket] = ref.Seq
				}
				if got, err := s.Cursor(t.Context(), "mirror", bucket); err != nil || got != at[bucket] {
					t.Errorf("%s: cursor of bucket %d = %d, %v, want %d", step.what, bucket, got, err, at[bucket])
				}
			}
		}
		if got, err := s.Cursor(t.Context(), "other", 1); err != nil || got != 0 {
			t.Errorf("another sink's cursor = %d, %v, want 0", got, err)
		}
	})
}

// Whatever was pruned, a cursor behind it can be moved to, and is known to be of this log.
func TestPrunedEventsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		logged(t, s, Event{Bucket: 1, At: At(planStart), Kind: EventNew, URL: "https://a.example/"})
		before, err := s.EventHeads(t.Context())
		newest, wrong := s.Newest(t.Context())
		if n, pruned := s.PruneEvents(t.Context(), planStart.Add(time.Hour), nil, 10); n != 1 || errors.Join(err, wrong, pruned) != nil {
			t.Fatal(n, err, wrong, pruned)
		}
		after, err := s.EventHeads(t.Context())
		if d := cmp.Diff(before, after); d != "" || err != nil {
			t.Errorf("heads differ (-before +pruned, %v):\n%s", err, d)
		}
		if err := s.SetCursors(t.Context(), "mirror", nil, before); err != nil {
			t.Error(err)
		}
		if err := s.SetCursors(t.Context(), "mirror", nil, map[int16]EventRef{1: {2, before[1].Mark}}); !errors.Is(err, ErrOtherEvents) {
			t.Errorf("SetCursors ahead of what was pruned: %v, want ErrOtherEvents", err)
		}
		logged(t, s, Event{Bucket: 1, At: At(planStart), Kind: EventNew, URL: "https://b.example/"})
		if events, _, err := s.Feed(t.Context(), newest, ChangesQuery{Limit: 5}); len(events) != 1 || err != nil {
			t.Errorf("a feed behind what was pruned: %d events, %v, want the one that came since", len(events), err)
		}
	})
}
