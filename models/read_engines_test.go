package models

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/pgtest"
)

// Every reading query says the same on both engines.
func TestReadsAgreeOnBothEngines(t *testing.T) {
	t.Parallel()
	want := readAll(t, openFilledAt(t, filepath.Join(t.TempDir(), "test.db"), fillEverything))
	got := readAll(t, openFilledAt(t, migrated.DSN(t), fillEverything))
	for name, rows := range want {
		if diff := cmp.Diff(rows, got[name]); diff != "" {
			t.Errorf("%s differs (-sqlite +postgres):\n%s", name, diff)
		}
	}
}

// Counted part after part there are as many pages as counted at once, and the parts are those asked for.
func TestPagesAreCountedInParts(t *testing.T) {
	t.Parallel()
	for dsn, parts := range map[string]pageParts{filepath.Join(t.TempDir(), "test.db"): rowParts, migrated.DSN(t): blockParts} {
		s := openFilledAt(t, dsn, fillPages(300, 3))
		chosen, err := s.partsOfPages(t.Context(), true)
		if err != nil || chosen.where != parts.where || chosen.size != parts.size || chosen.end < 5 {
			t.Errorf("on %s pages are counted by %+v, %v", s.Dialect(), chosen, err)
		}
		want, err := s.SiteStates(t.Context(), At(readNow), nil)
		if err != nil {
			t.Fatal(err)
		}
		breaks := int64(0)
		chosen.size = 2
		got, err := s.siteStates(t.Context(), At(readNow), chosen, func(context.Context) error { breaks++; return nil })
		if diff := cmp.Diff(want, got); err != nil || diff != "" || breaks != (chosen.end-1)/2 {
			t.Errorf("with %d breaks in %d of %s, %v (-at once +in parts):\n%s", breaks, chosen.end, s.Dialect(), err, diff)
		}
		stop := errors.New("no more")
		if _, err := s.siteStates(t.Context(), At(readNow), chosen, func(context.Context) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("on %s counting goes on after %v", s.Dialect(), err)
		}
	}
}

// With Citus the pages lie on other servers, and what the table itself has in blocks is what it had before it was distributed.
func TestPagesOfACitusAreCountedAtOnce(t *testing.T) {
	t.Parallel()
	s := openFilledAt(t, pgtest.DSN(t), fillPages(300, 3))
	if err := s.inTx(t.Context(), func(x *tx) error {
		_, err := x.exec(t.Context(), `CREATE TABLE pg_dist_partition (logicalrelid regclass)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	parts, err := s.partsOfPages(t.Context(), true)
	if err != nil || parts != (pageParts{}) {
		t.Errorf("pages are counted by %+v, %v", parts, err)
	}
}

// fillEverything writes some rows into every table that reports read.
func fillEverything(ctx context.Context, x *tx) error {
	unseen := examplePage(100, 6)
	unseen.State, unseen.DueAt, unseen.Wanted = StateNew, At(readNow), 0
	errs := []error{fillPages(40, 6)(ctx, x), pageTable.insert(ctx, x, []Page{unseen})}
	for i := range 40 {
		p := examplePage(i, 6)
		child := examplePage((i+1)%40, 6)
		errs = append(errs,
			visitTable.insert(ctx, x, []Visit{
				{Bucket: p.Bucket, PageID: p.ID, Number: 1, At: ago(3 * time.Hour), Kind: First, Status: 200, Bytes: 1 << 40, Took: time.Hour},
				{Bucket: p.Bucket, PageID: p.ID, Number: 2, At: ago(time.Hour), Kind: Failed, Class: BodySlow, Took: time.Hour},
			}),
			versionTable.insert(ctx, x, []Version{{Bucket: p.Bucket, PageID: p.ID, Number: 1, At: ago(3 * time.Hour), Digest: p.Digest}}),
			linksTable.insert(ctx, x, []linksRow{{p.Bucket, p.ID, packChildren([]rowKey{{child.Bucket, child.ID}})}}),
			eventTable.insert(ctx, x, []Event{{Bucket: p.Bucket, Seq: int64(i + 1), At: ago(time.Duration(i) * time.Minute),
				Kind: EventKind(1 + i%4), SiteID: p.SiteID, PageID: p.ID, URL: p.URL, Digest: p.Digest}}),
			dailyTable.upsert(ctx, x, []Daily{{Bucket: p.Bucket, SiteID: p.SiteID, Day: 20000, Asked: int64(i), Bytes: 1 << 40}}),
			robotsTable.upsert(ctx, x, []Robots{{Bucket: p.Bucket, HostID: p.HostID, Origin: fmt.Sprint("o", i%2), Status: 200,
				FetchedAt: ago(time.Duration(1+i%2) * time.Hour)}}))
	}
	return errors.Join(errs...)
}

// readAll is what every reading query answers, by its name.
func readAll(t *testing.T, s *Store) map[string]any {
	t.Helper()
	ctx, now, p := t.Context(), At(readNow), examplePage(3, 6)
	all := map[string]any{}
	keep := func(name string, rows any, err error) {
		if err != nil {
			t.Errorf("%s on %s: %v", name, s.Dialect(), err)
		}
		all[name] = rows
	}
	for _, site := range []int32{0, 2} {
		var pages int
		for page, err := range s.Summaries(ctx, site) {
			if err != nil {
				t.Fatal(err)
			}
			pages += int(page.FRMax)
		}
		name := func(query string) string { return fmt.Sprintf("%s of site %d", query, site) }
		keep(name("Summaries"), pages, nil)
		due, err := s.Due(ctx, site, now, 7)
		keep(name("Due"), due, err)
		steps, err := s.DueByStep(ctx, site, now, time.Hour, 9)
		keep(name("DueByStep"), steps, err)
		days, err := s.DailySums(ctx, site, 0, 30000)
		keep(name("DailySums"), days, err)
		responses, err := s.Responses(ctx, site, ago(4*time.Hour))
		keep(name("Responses"), responses, err)
		changes, err := s.Changes(ctx, ChangesQuery{Since: ago(20 * time.Minute), Sites: siteOrAll(site), Limit: 9})
		keep(name("Changes"), changes, err)
	}
	var siteDays [][]Daily
	for days, err := range s.SiteDays(ctx, 0, 30000) {
		if err != nil {
			t.Fatal(err)
		}
		siteDays = append(siteDays, days)
	}
	keep("SiteDays", siteDays, nil)
	states, err := s.SiteStates(ctx, now, nil)
	keep("SiteStates", states, err)
	dueCount, err := s.DueCount(ctx, now)
	keep("DueCount", dueCount, err)
	changeCounts, err := s.ChangeCounts(ctx, ago(20*time.Minute), false)
	keep("ChangeCounts", changeCounts, err)
	hosts, err := s.HostSummaries(ctx, now, 4)
	keep("HostSummaries", hosts, err)
	page, err := s.Page(ctx, p.Bucket, p.ID)
	keep("Page", page, err)
	host, err := s.Host(ctx, p.Bucket, p.HostID)
	keep("Host", host, err)
	history, err := s.History(ctx, p.Bucket, p.ID, 0, 5)
	keep("History", history, err)
	versions, err := s.Versions(ctx, p.Bucket, p.ID, 0, 5)
	keep("Versions", versions, err)
	version, err := s.Version(ctx, p.Bucket, p.ID, 1)
	keep("Version", version, err)
	children, err := s.Children(ctx, p.Bucket, p.ID, 5)
	keep("Children", children, err)
	parents, err := s.Parents(ctx, examplePage(2, 6).Bucket, p.Bucket, p.ID, 5)
	keep("Parents", parents, err)
	robots, err := s.HostRobots(ctx, p.Bucket, p.HostID)
	keep("HostRobots", robots, err)
	for _, only := range []int64{0, p.HostID} {
		keep(fmt.Sprintf("BucketHistory of host %d", only), bucketHistoryOf(t, s, p.Bucket, only, len(history)), nil)
	}
	return all
}

// bucketHistoryOf is the history of a bucket, of as many visits as one of its pages has at least.
func bucketHistoryOf(t *testing.T, s *Store, bucket int16, host int64, least int) (past []PastVisit) {
	t.Helper()
	for v, err := range s.BucketHistory(t.Context(), bucket, host) {
		if err != nil {
			t.Fatal(err)
		}
		past = append(past, v)
	}
	if len(past) < max(least, 1) {
		t.Errorf("BucketHistory of host %d on %s has %d visits, and one page has %d", host, s.Dialect(), len(past), least)
	}
	return past
}
