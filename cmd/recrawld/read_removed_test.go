package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/internal/pgtest"
	"recrawld/models"
	"recrawld/report"
	"recrawld/web"
)

// loaded is a library with the sites that there are now.
func (f *filler) loaded(b library) library {
	f.t.Helper()
	rows, err := b.store.Sites(f.t.Context())
	f.must(err)
	c := config.Default()
	c.Store = b.store.Dialect()
	b.force, err = putTogether(c, config.DefaultOrigins(), rows)
	f.must(err)
	return b
}

// again adds a site again that was removed, with a page, and returns its ID.
func (f *filler) again(page string) int32 {
	f.t.Helper()
	added, err := f.store.AddSite(f.t.Context(), filledNow, models.Site{Name: "docs", URL: "https://docs.example.org/"})
	f.must(err)
	f.appearsOf(added.ID, page)
	return added.ID
}

// kindsOf is what rows say that happened, of which site.
func kindsOf(t *testing.T, d report.Document) (said []string) {
	t.Helper()
	column := func(key string) int {
		return slices.IndexFunc(d.Columns, func(c report.Column) bool { return c.Key == key })
	}
	for _, row := range d.Rows {
		site, _ := row[column("site")].Value.(string)
		said = append(said, row[column("kind")].Text+" "+row[column("url")].Text[len("https://docs.example.org/"):]+" of "+site)
	}
	return said
}

// Whoever asks for the changes of a site by its name, or its start URL, hears that it was removed, and what comes when it was added
// again; a name that never was is an error.
func TestWhoAsksByNameHearsOfARemovedSite(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		f.appears("a")
		f.must(f.store.RemoveSite(t.Context(), 1, filledNow))
		b = f.loaded(b)
		want := []string{"new a of docs", "removed a of docs"}
		for _, site := range []string{"docs", "https://docs.example.org/"} {
			d, err := b.asked(t.Context(), web.ChangesQuery{After: "start", Site: site, Limit: 10})
			f.must(err)
			if diff := cmp.Diff(want, kindsOf(t, d)); diff != "" {
				t.Errorf("changes of %s (-want +got):\n%s", site, diff)
			}
		}
		f.again("a")
		d, err := f.loaded(b).asked(t.Context(), web.ChangesQuery{After: "start", Site: "docs", Limit: 10})
		f.must(err)
		if diff := cmp.Diff(append(want, "new a of docs"), kindsOf(t, d)); diff != "" {
			t.Errorf("changes of a site that is there again (-want +got):\n%s", diff)
		}
		if _, err := b.asked(t.Context(), web.ChangesQuery{After: "start", Site: "never", Limit: 10}); exitCode(err) != exitNotFound {
			t.Errorf("changes of a site that never was: %v, want that there is none", err)
		}
	})
}

// Who follows a site by its name hears of its end and of its return without beginning anew.
func TestWhoFollowsByNameHearsOfASiteThatIsThereAgain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		f.appears("a")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		sites, err := b.sitesTold(ctx, "docs")
		f.must(err)
		site := int32(1)
		again := func() {
			f.must(f.store.RemoveSite(ctx, site, filledNow))
			site = f.again("a")
		}
		todo := []func(){again, again, func() {}}
		var out bytes.Buffer
		follow := follower{library: b, site: "docs", query: models.ChangesQuery{Sites: sites, Limit: 10}, stands: func() bool { return true },
			clock: &acts{clock.NewVirtual(filledNow), todo, end}, write: func(d report.Document) error { return report.WriteLines(&out, d) }}
		at, err := b.store.Newest(ctx)
		f.must(err)
		f.must(follow.run(ctx, at))
		var got []string
		for text := range strings.Lines(out.String()) {
			if l := readLine(t, text); l.URL != "" {
				got = append(got, l.Kind+" of "+l.Site)
			}
		}
		if want := []string{"removed of docs", "new of docs", "removed of docs", "new of docs"}; !slices.Equal(got, want) {
			t.Errorf("told is %v, want %v", got, want)
		}
	})
}

// A site may be added again just when somebody asks: what comes of it is told before the cursor passes it.
func TestWhoAsksByNameMissesNothingOfASiteThatComesMeanwhile(t *testing.T) {
	t.Parallel()
	dsn := pgtest.StartAlone(t).DSN()
	f, b := filling(t, dsn)
	f.appears("a")
	again := func() {}
	store, err := models.Open(t.Context(), dsn, models.Options{Trace: func(_ context.Context, s models.Statement) {
		if strings.Contains(s.SQL, "next_seq, mark FROM buckets") { // how far the cursor will go
			now := again
			again = func() {}
			now()
		}
	}})
	f.must(err)
	t.Cleanup(func() { store.Close() })
	b.store = store
	f.must(f.store.RemoveSite(t.Context(), 1, filledNow))
	at, err := store.Newest(t.Context())
	f.must(err)
	again = func() { f.again("a") }
	d, err := b.asked(t.Context(), web.ChangesQuery{After: at.String(), Site: "docs", Limit: 10})
	f.must(err)
	if d.Cursor == at.String() {
		t.Error("the cursor is where it was, want it behind the site that came")
	}
	if want := []string{"new a of docs"}; !slices.Equal(kindsOf(t, d), want) {
		t.Errorf("told is %v, want %v", kindsOf(t, d), want)
	}
}

// A site's name is found also where the site is removed between two looks for it.
func TestNameOfASiteThatIsRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	dsn := pgtest.StartAlone(t).DSN()
	f, _ := filling(t, dsn)
	f.appears("a")
	looks := 0
	store, err := models.Open(t.Context(), dsn, models.Options{Trace: func(_ context.Context, s models.Statement) {
		if !strings.Contains(s.SQL, "FROM removed_sites") && !strings.Contains(s.SQL, "FROM \"sites\"") {
			return
		}
		if looks++; looks == 2 {
			f.must(f.store.RemoveSite(context.Background(), 1, filledNow))
		}
	}})
	f.must(err)
	t.Cleanup(func() { store.Close() })
	rows, err := sitesOf(t.Context(), store, nil, []models.Event{{SiteID: 1}})
	f.must(err)
	if name := siteNames(rows)[1]; name != "docs" || looks != 2 {
		t.Errorf("after %d looks the site is called %q, want docs after 2", looks, name)
	}
}

// Of two who remove a site at once, one is told that the other did.
func TestWhoRemovesWhatIsRemovedIsToldItsName(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	site := f.loaded(b).force.rows[0]
	f.must(removeSite(t.Context(), f.store, site, filledNow))
	err := removeSite(t.Context(), f.store, site, filledNow)
	if exitCode(err) != exitNotFound || !strings.Contains(err.Error(), `no site "docs" any more`) {
		t.Errorf("whoever comes second is told %v (exit code %d), want that docs was removed", err, exitCode(err))
	}
}
