package models

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var readNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// ago is a moment before readNow.
func ago(d time.Duration) Instant { return At(readNow.Add(-d)) }

// openFilled opens an empty SQLite database and lets fill write rows.
func openFilled(t *testing.T, fill func(ctx context.Context, t *tx) error) *Store {
	t.Helper()
	return openFilledAt(t, liteFile(t), fill)
}

func openFilledAt(t *testing.T, dsn string, fill func(ctx context.Context, t *tx) error) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Migrate(t.Context(), readNow); err != nil {
		t.Fatal(err)
	}
	if err := s.inTx(t.Context(), func(x *tx) error { return fill(t.Context(), x) }); err != nil {
		t.Fatal(err)
	}
	return s
}

// examplePage is page i of host h<i % hosts>, of site 1 or 2.
func examplePage(i, hosts int) Page {
	host := fmt.Sprintf("h%d.example", i%hosts)
	url := fmt.Sprintf("https://%s/p%d", host, i)
	return Page{
		Bucket: BucketOf(host), ID: PageID(url), HostID: HostID(host), SiteID: int32(1 + i%2), URL: url, State: StateLive,
		DueAt: At(readNow.Add(time.Duration(i-10) * time.Hour)), FRMax: int32(1 + i%4), Rule: RulePolicy, Visits: 5, Wanted: 12 * time.Hour,
		Stats: ChangeStats{Records: 5, Changes: int32(i % 3), Bits: 1<<63 | 1, FirstAt: ago(100 * time.Hour), VisitedAt: ago(time.Hour)},
		Chain: []int64{1, 2}, Digest: DigestOf([]byte(url)), ContentType: "text/html",
	}
}

// fillPages writes n pages on some hosts, with their hosts.
func fillPages(n, hosts int) func(context.Context, *tx) error {
	return func(ctx context.Context, x *tx) error {
		for i := range hosts {
			name := fmt.Sprintf("h%d.example", i)
			h := Host{Bucket: BucketOf(name), ID: HostID(name), Name: name, ReadyAt: ago(0), Pages: int32(n / hosts)}
			if i == 1 {
				h.BackoffUntil, h.Failures = At(readNow.Add(time.Hour)), 3
			}
			if err := hostTable.insert(ctx, x, []Host{h}); err != nil {
				return err
			}
		}
		for i := range n {
			if err := pageTable.insert(ctx, x, []Page{examplePage(i, hosts)}); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestPageIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := openFilled(t, fillPages(3, 2))
	want := examplePage(2, 2)
	got, err := s.Page(t.Context(), want.Bucket, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Page differs (-want +got):\n%s", diff)
	}
	if _, err := s.Page(t.Context(), want.Bucket, want.ID+1); !errors.Is(err, ErrNotFound) {
		t.Errorf("Page of an unknown key: %v, want ErrNotFound", err)
	}
	if _, err := s.Host(t.Context(), want.Bucket, want.HostID+1); !errors.Is(err, ErrNotFound) {
		t.Errorf("Host of an unknown key: %v, want ErrNotFound", err)
	}
}

func TestSummariesPassOverAllPagesOrOneSite(t *testing.T) {
	t.Parallel()
	s := openFilled(t, fillPages(40, 7))
	for site, want := range map[int32]int{0: 40, 1: 20, 2: 20, 3: 0} {
		seen := map[string]bool{}
		for p, err := range s.Summaries(t.Context(), site) {
			if err != nil {
				t.Fatal(err)
			}
			if site != 0 && p.SiteID != site {
				t.Errorf("site %d: page %s of site %d", site, p.URL, p.SiteID)
			}
			seen[p.URL] = true
		}
		if len(seen) != want {
			t.Errorf("site %d: %d pages, want %d", site, len(seen), want)
		}
	}
	for range s.Summaries(t.Context(), 0) {
		break // must leave no query open: the pool would run dry
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Summaries(ended, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the context ended: %v, want context.Canceled", err)
		}
	}
}

func TestDueIsOrderedAndBounded(t *testing.T) {
	t.Parallel()
	s := openFilled(t, fillPages(30, 5))
	got, err := s.Due(t.Context(), 0, At(readNow), 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range got {
		if want := examplePage(i, 5); row.URL != want.URL || row.DueAt != want.DueAt || row.Host != fmt.Sprintf("h%d.example", i%5) {
			t.Errorf("row %d = %+v, want %s", i, row, want.URL)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d rows, want 4", len(got))
	}
	counts, err := s.DueCount(t.Context(), At(readNow))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int32]int64{1: 6, 2: 5}, counts); diff != "" {
		t.Errorf("DueCount differs (-want +got):\n%s", diff)
	}
	steps, err := s.DueByStep(t.Context(), 0, At(readNow), 2*time.Hour, 3)
	if diff := cmp.Diff([]int64{12, 2, 2}, steps); diff != "" || err != nil {
		t.Errorf("DueByStep differs (-want +got), %v:\n%s", err, diff)
	}
	one, err := s.Due(t.Context(), 2, At(readNow), 100)
	if err != nil || len(one) != 5 {
		t.Errorf("due of site 2: %d rows, %v, want 5", len(one), err)
	}
}

func TestDueReadsTheIndexAlone(t *testing.T) {
	t.Parallel()
	s := openFilled(t, fillPages(30, 5))
	var plan strings.Builder
	var id, parent, unused int
	var step string
	for _, err := range s.scan(t.Context(), []any{&id, &parent, &unused, &step}, "EXPLAIN QUERY PLAN "+dueQuery, 1, At(readNow), 0, 5) {
		if err != nil {
			t.Fatal(err)
		}
		plan.WriteString(step + "\n")
	}
	if want := "SEARCH p USING INDEX pages_due (bucket=? AND host_id=? AND due_at>? AND due_at<?)"; !strings.Contains(plan.String(), want) {
		t.Errorf("plan of the due list:\n%swant %s", plan.String(), want)
	}
}

func TestSiteStates(t *testing.T) {
	t.Parallel()
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		if err := fillPages(8, 3)(ctx, x); err != nil {
			return err
		}
		gone := examplePage(100, 3)
		gone.State, gone.DueAt, gone.Failures = StateGone, 0, 2
		unseen := examplePage(101, 3)
		unseen.SiteID, unseen.State, unseen.DueAt, unseen.Wanted = 2, StateNew, At(readNow), 0
		rare := examplePage(103, 3) // whose interval does not count while it is gone
		rare.SiteID, rare.State, rare.TriedAt, rare.DueAt, rare.Wanted = 2, StateGone, ago(10*24*time.Hour), ago(-22*24*time.Hour), time.Hour
		return pageTable.insert(ctx, x, []Page{gone, unseen, rare})
	})
	got, err := s.SiteStates(t.Context(), ago(5*time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []SiteState{
		{SiteID: 1, State: StateLive, Pages: 4, Due: 3, NextAt: ago(10 * time.Hour), PerDay: 8},
		{SiteID: 1, State: StateGone, Pages: 1, Failing: 1},
		{SiteID: 2, State: StateNew, Pages: 1, NextAt: At(readNow), NoPlan: 1},
		{SiteID: 2, State: StateLive, Pages: 4, Due: 3, NextAt: ago(9 * time.Hour), PerDay: 8},
		{SiteID: 2, State: StateGone, Pages: 1, NextAt: ago(-22 * 24 * time.Hour), PerDay: 1. / 32},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("SiteStates differs (-want +got):\n%s", diff)
	}
	far := examplePage(102, 3)
	far.State, far.Failures = StateGone, 1
	err = s.inTx(t.Context(), func(x *tx) error {
		ctx := t.Context()
		if err := pageTable.insert(ctx, x, []Page{far}); err != nil {
			return err
		}
		_, err := x.exec(ctx, `UPDATE pages SET rowid = $1 WHERE id = $2`, 3*rowParts.size+7, far.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	got, err = s.SiteStates(t.Context(), ago(5*time.Hour), func(context.Context) error { parts++; return nil })
	if err != nil || parts != 3 || got[1].Pages != 2 || got[1].Failing != 2 {
		t.Errorf("with %d breaks, want 3: %+v, %v", parts, got, err)
	}
	full := errors.New("no more")
	if _, err := s.SiteStates(t.Context(), At(readNow), func(context.Context) error { return full }); !errors.Is(err, full) {
		t.Errorf("counting goes on after %v", err)
	}
}

func TestHistoryAndVersionsAreNewestFirst(t *testing.T) {
	t.Parallel()
	page := examplePage(0, 1)
	var visits []Visit
	var versions []Version
	for i := range int32(6) {
		visits = append(visits, Visit{Bucket: page.Bucket, PageID: page.ID, Number: i + 1, At: ago(time.Hour), Kind: Changed,
			Took: time.Second, Rule: RulePolicy, FRMax: 1})
		versions = append(versions, Version{Bucket: page.Bucket, PageID: page.ID, Number: i + 1, At: ago(time.Hour), Status: 200,
			Digest: DigestOf([]byte{byte(i)}), Significant: i%2 == 0, Record: Record{File: "a", Offset: int64(i), Length: 9}})
	}
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		return errors.Join(visitTable.insert(ctx, x, visits), versionTable.insert(ctx, x, versions))
	})
	got, err := s.History(t.Context(), page.Bucket, page.ID, 6, 2)
	if diff := cmp.Diff([]Visit{visits[4], visits[3]}, got); diff != "" || err != nil {
		t.Errorf("History before 6 differs (-want +got), %v:\n%s", err, diff)
	}
	newest, err := s.Versions(t.Context(), page.Bucket, page.ID, 0, 3)
	if diff := cmp.Diff([]Version{versions[5], versions[4], versions[3]}, newest); diff != "" || err != nil {
		t.Errorf("Versions differs (-want +got), %v:\n%s", err, diff)
	}
	if one, err := s.Version(t.Context(), page.Bucket, page.ID, 2); err != nil || one != versions[1] {
		t.Errorf("Version 2 = %+v, %v, want %+v", one, err, versions[1])
	}
	if _, err := s.Version(t.Context(), page.Bucket, page.ID, 7); !errors.Is(err, ErrNotFound) {
		t.Errorf("Version 7: %v, want ErrNotFound", err)
	}
}

// exampleEvents is a third of the events of the test below: more than a chunk.
const exampleEvents = 2 * firstChunk * 5

// Events of several buckets, with more than a chunk in one and times slightly out of order, come page by page without
// gap or repeat.
func TestChangesPageByPage(t *testing.T) {
	t.Parallel()
	var events []Event
	for i := range 3 * exampleEvents {
		bucket := int16(7)
		if i%5 == 0 {
			bucket = int16(i % 200)
		}
		late := time.Duration(i%3) * 1500 * time.Millisecond // a batch commits in another order than it was visited
		events = append(events, Event{Bucket: bucket, Seq: int64(i + 1), At: ago(time.Duration(3*exampleEvents-i)*time.Second + late),
			Kind: EventKind(1 + i%3), SiteID: int32(1 + i%2), Requisite: i%7 == 0, PageID: int64(i), URL: fmt.Sprint("https://a.example/", i)})
	}
	s := openFilled(t, func(ctx context.Context, x *tx) error { return eventTable.insert(ctx, x, events) })

	for _, requisites := range []bool{true, false} {
		pageByPage(t, s, events, requisites)
	}
	narrow, err := s.Changes(t.Context(), ChangesQuery{Since: 1, Sites: []int32{2}, Kinds: []EventKind{EventChanged}, Requisites: true, Limit: 10_000})
	if err != nil || len(narrow) != exampleEvents/2 {
		t.Errorf("changed of site 2: %d, %v, want %d", len(narrow), err, exampleEvents/2)
	}
}

// pageByPage holds what is read of some events, page by page, against them, with those of requisites or without.
func pageByPage(t *testing.T, s *Store, events []Event, requisites bool) {
	t.Helper()
	q := ChangesQuery{Since: ago(1000 * time.Second), Requisites: requisites, Limit: 70}
	want := 0
	for _, e := range events {
		if e.At >= q.Since && (requisites || !e.Requisite) {
			want++
		}
	}
	seen, last := map[int64]bool{}, EventCursor{}
	for {
		page, err := s.Changes(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if seen[e.Seq] || (last != EventCursor{} && last.compare(e.Cursor()) >= 0) {
				t.Fatalf("event %d after %v: repeated or out of order", e.Seq, last)
			}
			seen[e.Seq], last = true, e.Cursor()
		}
		if len(page) < q.Limit {
			break
		}
		q.After = last
	}
	if len(seen) != want {
		t.Errorf("%d events in all pages, want %d", len(seen), want)
	}
	counts, err := s.ChangeCounts(t.Context(), q.Since, requisites)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, kinds := range counts {
		for _, n := range kinds {
			sum += n
		}
	}
	if sum != int64(want) {
		t.Errorf("ChangeCounts adds up to %d, want %d", sum, want)
	}
}

func TestDailySumsAddBuckets(t *testing.T) {
	t.Parallel()
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		return dailyTable.insert(ctx, x, []Daily{
			{Bucket: 1, SiteID: 1, Day: 100, Asked: 5, Changed: 1, First: 3, Gone: 1, Bytes: 10},
			{Bucket: 2, SiteID: 1, Day: 100, Asked: 7, Changed: 2, First: 1, BytesSaved: 4},
			{Bucket: 2, SiteID: 2, Day: 101, Asked: 1},
			{Bucket: 2, SiteID: 2, Day: 99, Asked: 1},
		})
	})
	got, err := s.DailySums(t.Context(), 0, 100, 101)
	want := []Daily{
		{SiteID: 2, Day: 101, Asked: 1, Bucket: 0},
		{SiteID: 1, Day: 100, Asked: 12, Changed: 3, First: 4, Gone: 1, Bytes: 10, BytesSaved: 4, Bucket: 0},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("DailySums differs (-want +got), %v:\n%s", err, diff)
	}
	if one, err := s.DailySums(t.Context(), 1, 0, 200); err != nil || len(one) != 1 {
		t.Errorf("site 1: %d days, %v, want 1", len(one), err)
	}
	var sites [][]Daily
	for days, err := range s.SiteDays(t.Context(), 99, 100) {
		if err != nil {
			t.Fatal(err)
		}
		sites = append(sites, days)
	}
	bySite := [][]Daily{{{SiteID: 1, Day: 100, Asked: 12, Changed: 3, First: 4, Gone: 1}}, {{SiteID: 2, Day: 99, Asked: 1}}}
	if diff := cmp.Diff(bySite, sites); diff != "" {
		t.Errorf("SiteDays differs (-want +got):\n%s", diff)
	}
}

func TestResponsesAddBuckets(t *testing.T) {
	t.Parallel()
	one, two := examplePage(1, 5), examplePage(2, 5)
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		return errors.Join(pageTable.insert(ctx, x, []Page{one, two}), visitTable.insert(ctx, x, []Visit{
			{Bucket: one.Bucket, PageID: one.ID, Number: 1, At: ago(3 * time.Hour), Kind: First, Status: 200, Bytes: 5},
			{Bucket: one.Bucket, PageID: one.ID, Number: 2, At: ago(time.Hour), Kind: NotModified, Status: 304, Took: time.Second},
			{Bucket: two.Bucket, PageID: two.ID, Number: 1, At: ago(2 * time.Hour), Kind: NotModified, Status: 304, Took: time.Second},
		}))
	})
	got, err := s.Responses(t.Context(), 0, ago(150*time.Minute))
	want := []Response{{Kind: NotModified, Status: 304, Visits: 2, Took: int64(2 * time.Second), LastAt: ago(time.Hour)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Responses differs (-want +got), %v:\n%s", err, diff)
	}
	if got, err := s.Responses(t.Context(), one.SiteID, 1); err != nil || len(got) != 2 {
		t.Errorf("of one site: %d, %v, want 2", len(got), err)
	}
}

func TestHostSummariesShowTroubleFirst(t *testing.T) {
	t.Parallel()
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		if err := fillPages(9, 3)(ctx, x); err != nil {
			return err
		}
		name := "h0.example"
		return robotsTable.insert(ctx, x, []Robots{
			{Bucket: BucketOf(name), HostID: HostID(name), Origin: "http://" + name, Status: 404, FetchedAt: ago(time.Hour)},
			{Bucket: BucketOf(name), HostID: HostID(name), Origin: "https://" + name, Status: 200, FetchedAt: ago(time.Minute),
				CrawlDelay: time.Second, Body: []byte("User-agent: *")},
		})
	})
	got, err := s.HostSummaries(t.Context(), At(readNow), 2)
	if err != nil || len(got) != 2 || got[0].Name != "h1.example" {
		t.Fatalf("HostSummaries = %+v, %v, want two, h1.example first", got, err)
	}
	all, err := s.HostSummaries(t.Context(), At(readNow), 10)
	if err != nil || len(all) != 3 {
		t.Fatalf("HostSummaries = %d hosts, %v, want 3", len(all), err)
	}
	for _, h := range all {
		if h.Name == "h0.example" && (h.RobotsStatus != 200 || h.RobotsDelay != time.Second) {
			t.Errorf("robots of h0.example = %d, %v, want the newest answer: 200, 1s", h.RobotsStatus, h.RobotsDelay)
		}
	}
	robots, err := s.HostRobots(t.Context(), BucketOf("h0.example"), HostID("h0.example"))
	if err != nil || len(robots) != 2 || string(robots[1].Body) != "User-agent: *" {
		t.Errorf("HostRobots = %+v, %v, want two origins", robots, err)
	}
}

func TestChildrenAndParents(t *testing.T) {
	t.Parallel()
	parent, child := examplePage(0, 2), examplePage(1, 2)
	s := openFilled(t, func(ctx context.Context, x *tx) error {
		return errors.Join(pageTable.insert(ctx, x, []Page{parent, child}), linksTable.insert(ctx, x, []linksRow{
			{parent.Bucket, parent.ID, packChildren([]rowKey{{child.Bucket, child.ID}, {child.Bucket, 5}})},
		}))
	})
	children, err := s.Children(t.Context(), parent.Bucket, parent.ID, 10)
	if diff := cmp.Diff([]string{child.URL}, children); diff != "" || err != nil {
		t.Errorf("Children differs (-want +got), %v:\n%s", err, diff)
	}
	for level, want := range map[int16]ChildShare{child.Level: {}, child.Level - 1: {Known: 1, Changed: 1}} {
		p := parent
		p.Level, p.FullAt = level, child.Stats.FirstAt-1
		if got, err := s.Share(t.Context(), p); got != want || err != nil {
			t.Errorf("Share of a page on level %d, its child on %d = %+v, %v, want %+v", level, child.Level, got, err, want)
		}
	}
	parents, err := s.Parents(t.Context(), parent.Bucket, child.Bucket, child.ID, 10)
	if diff := cmp.Diff([]string{parent.URL}, parents); diff != "" || err != nil {
		t.Errorf("Parents differs (-want +got), %v:\n%s", err, diff)
	}
}
