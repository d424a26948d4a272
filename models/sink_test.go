package models

import (
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
		if d := cmp.Diff(map[int16]int64{BucketOf("a.example"): 5}, heads); err != nil || d != "" {
			t.Errorf("heads differ (-want +got, %v):\n%s", err, d)
		}
	})
}

// TestARestoredPageComesWithItsCopy: the visit brought no body, but a sink may have let go of the one it had.
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
				{Bucket: p.Bucket, PageID: p.ID, Kind: EventRestored, URL: p.URL, Version: 3}}
		})
		events, err := s.Events(t.Context(), BucketOf("a.example"), 0, 10)
		if err != nil || len(events) != 2 {
			t.Fatalf("Events: %d, %v, want 2", len(events), err)
		}
		if events[0].Record != (Record{}) || events[1].Record != record {
			t.Errorf("records are %+v and %+v, want none and %+v", events[0].Record, events[1].Record, record)
		}
	})
}

func TestSetCursorsMovesAllOfThem(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, dsn string) {
		s := openBackup(t, dsn)
		for _, step := range []map[int16]int64{{1: 5, 255: 7}, {1: 2}, {}} {
			if err := s.SetCursors(t.Context(), "mirror", step); err != nil {
				t.Fatal(err)
			}
			for bucket, want := range step {
				if got, err := s.Cursor(t.Context(), "mirror", bucket); err != nil || got != want {
					t.Errorf("cursor of bucket %d = %d, %v, want %d", bucket, got, err, want)
				}
			}
		}
		if got, err := s.Cursor(t.Context(), "other", 1); err != nil || got != 0 {
			t.Errorf("another sink's cursor = %d, %v, want 0", got, err)
		}
	})
}
