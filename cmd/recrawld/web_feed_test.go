package main

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/web"
)

// toldFeed is what the tests read of a feed.
type toldFeed struct {
	ID      string `xml:"id"`
	Updated string `xml:"updated"`
	Looked  string `xml:"subtitle"`
	Entries []struct {
		ID       string `xml:"id"`
		Title    string `xml:"title"`
		Category []struct {
			Term string `xml:"term,attr"`
		} `xml:"category"`
		Link []struct {
			Rel     string `xml:"rel,attr"`
			Address string `xml:"href,attr"`
		} `xml:"link"`
		Content string `xml:"content"`
	} `xml:"entry"`
}

// readFeed is the feed of a library, for some parameters.
func readFeed(t *testing.T, b library, asked string) (f toldFeed) {
	t.Helper()
	base := serveAll(t, web.Options{Library: newShelf(func() library { return b })})
	status, body := asks(t, base+"/feed"+asked)
	if err := xml.Unmarshal([]byte(body), &f); err != nil || status != http.StatusOK {
		t.Fatalf("%s = %d, %v: %s", asked, status, err, body)
	}
	return f
}

// saying is how each entry of a feed reads: its title, then what it says.
func (f toldFeed) saying() (all []string) {
	for _, e := range f.Entries {
		all = append(all, e.Title+": "+e.Content)
	}
	return all
}

// lives gives a directory pages of every kind.
func (f *filler) lives() {
	rest := func(p *models.Page, _ *models.Host) { p.DueAt = models.At(filledNow.Add(day)) }
	f.page(1, "https://docs.example.org/install", []step{
		{ago: 40 * day, kind: models.First, body: "<title>Install</title><p>Get version 1.0.<p>Run it.", frMax: 4},
		{ago: 9 * day, kind: models.Changed, body: "<title>Install</title><p>Get version 1.1.<p>Run it.", frMax: 4, weight: 0.8, reasons: models.ReasonText},
		{ago: 8 * day, kind: models.SameText, body: "<title>Install</title><p>Get version 1.1.<p>Run it.<!-- 1 -->", frMax: 4, reasons: models.ReasonMarkupOnly},
		{ago: 2 * day, kind: models.Changed, body: "<title>Install]]>\x01</title><p>Get version 1.2 <b>&amp;lt;</b>.<p>Run it.", frMax: 4, weight: 0.3, reasons: models.ReasonText},
	}, rest)
	f.page(1, "https://docs.example.org/long", []step{{ago: 3 * day, kind: models.First, body: "<p>" + strings.Repeat("word ", 300), frMax: 4}}, rest)
	f.page(1, "https://docs.example.org/secret", []step{{ago: 4 * day, kind: models.First, body: "<p>once told", frMax: 4}},
		func(p *models.Page, h *models.Host) { rest(p, h); p.NoArchive = true })
	f.page(2, "https://blog.example.net/logo.png", []step{{ago: 5 * day, kind: models.First, body: "\x89PNG\x00\x01", frMax: 4}}, rest)
}

// TestTheFeedOfALife: what changed by words, how new pages begin, and why nothing can be shown of others.
func TestTheFeedOfALife(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, dsn string) {
		f, b := filling(t, dsn)
		f.lives()
		want := []string{
			"changed: Install]]>: <p>2 lines changed in the content</p><p>title: Install<ins>]]&gt;\ufffd</ins></p>" +
				"<p>Get version <del>1.1</del> <ins>1.2 &amp;lt;</ins>.</p>",
			"new: https://docs.example.org/long: <p>" + strings.Repeat("word ", 100) + "…</p>",
			"new: https://docs.example.org/secret: <p>What this says cannot be shown: https://docs.example.org/secret asks not to be archived</p>",
			"new: https://blog.example.net/logo.png: <p>6 B of image/png without text that is read</p>",
			"changed: Install: <p>1 line changed in the content</p><p>Get version <del>1.0</del> <ins>1.1</ins>.</p>",
		}
		all := readFeed(t, b, "")
		if diff := cmp.Diff(want, all.saying()); diff != "" {
			t.Errorf("the feed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(all, readFeed(t, b, "")); diff != "" {
			t.Errorf("it is another one the second time (-first +second):\n%s", diff)
		}
		log, err := f.store.LogName(t.Context())
		f.must(err)
		ids := map[string]bool{}
		for _, e := range all.Entries {
			if ids[e.ID] = true; !strings.HasPrefix(e.ID, "urn:recrawld:"+log+"-") {
				t.Errorf("an entry has the id %s in log %s", e.ID, log)
			}
		}
		if len(ids) != len(all.Entries) {
			t.Errorf("%d entries have %d ids", len(all.Entries), len(ids))
		}
		if e := all.Entries[0]; e.Link[0].Address != "https://docs.example.org/install" ||
			e.Link[1].Address != "/diff?url=https%3A%2F%2Fdocs.example.org%2Finstall&versions=3..4" || e.Category[1].Term != "docs" {
			t.Errorf("the first entry is %+v", e)
		}
		for asked, want := range map[string][]string{
			"?limit=2":      want[:2],
			"?site=blog":    want[3:4],
			"?kind=changed": {want[0], want[4]},
			"?site=https://docs.example.org/&kind=new": want[1:3],
			"?min_significance=0.5&kind=changed":       want[4:],
		} {
			if diff := cmp.Diff(want, readFeed(t, b, asked).saying()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", asked, diff)
			}
		}
		if refreshed := readFeed(t, b, "?kind=refreshed"); len(refreshed.Entries) != 1 {
			t.Errorf("what is refreshed is %v", refreshed.saying())
		}
	})
}

func TestAFeedRefusesWhatThereIsNot(t *testing.T) {
	t.Parallel()
	_, b := filling(t, liteFile(t))
	base := serveAll(t, web.Options{Library: newShelf(func() library { return b })})
	for question, want := range map[string]string{"site=nobody": "there is docs, blog", "kind=unheard": "there is new, changed", "limit=101": "from 1 to 100"} {
		if status, body := asks(t, base+"/feed?"+question); status != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s = %d %s, want %q", question, status, body, want)
		}
	}
}

// What is there no more is told of all the same: a site that was removed, also where it was added again, and copies that nobody can read.
func TestAFeedOfWhatIsGone(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	f.appears("a")
	f.appears("b")
	broken := b
	broken.read = func(models.Record) (archive.Answer, error) {
		return archive.Answer{}, fmt.Errorf("its <segment>: %w", archive.ErrDamaged)
	}
	if said := readFeed(t, broken, "").saying(); len(said) != 2 || !strings.Contains(said[0], "is lost") || !strings.Contains(said[0], "&lt;segment&gt;") {
		t.Errorf("of a copy that is damaged: %v", said)
	}
	f.must(f.store.RemoveSite(t.Context(), 1, filledNow))
	b = f.loaded(b)
	removed := readFeed(t, b, "?site=docs")
	want := []string{
		"removed: docs, 2 pages: <p>The site was removed: its pages are no longer visited.</p>",
		"new: https://docs.example.org/b: <p>What this says cannot be shown: nothing is known of the page any more: its site was removed</p>",
		"new: https://docs.example.org/a: <p>What this says cannot be shown: nothing is known of the page any more: its site was removed</p>",
	}
	if links := removed.Entries[0].Link; links[0].Address != "https://docs.example.org/" || links[1].Address != "/changes" {
		t.Errorf("a removed site has the links %v", links)
	}
	if diff := cmp.Diff(want, removed.saying()); diff != "" || removed.Entries[0].Category[1].Term != "docs" {
		t.Errorf("of a site that was removed (-want +got):\n%s", diff)
	}
	added, err := f.store.AddSite(t.Context(), filledNow, models.Site{Name: "docs", URL: "https://docs.example.org/"})
	f.must(err)
	f.page(added.ID, "https://docs.example.org/a", []step{{ago: time.Minute, kind: models.First, body: "<p>again", frMax: 4}}, func(*models.Page, *models.Host) {})
	want = []string{want[0], "new: https://docs.example.org/a: <p>again</p>", want[1],
		"new: https://docs.example.org/a: <p>What this says cannot be shown: the copy of that time is not there any more</p>"}
	if diff := cmp.Diff(want, readFeed(t, f.loaded(b), "?site=docs").saying()); diff != "" {
		t.Errorf("of a site that is there again (-want +got):\n%s", diff)
	}
}

// TestAFeedOfWhatSeldomHappens: each answer goes on from the last, and says how far that is.
func TestAFeedOfWhatSeldomHappens(t *testing.T) {
	t.Parallel()
	f, b := filling(t, liteFile(t))
	f.lives()
	f.must(f.store.RemoveSite(t.Context(), 2, filledNow))
	known := newShelf(func() library { return b })
	known.recent.most = 2
	base := serveAll(t, web.Options{Library: known})
	ask := func() (f toldFeed) {
		t.Helper()
		status, body := asks(t, base+"/feed?kind=refreshed")
		if err := xml.Unmarshal([]byte(body), &f); err != nil || status != http.StatusOK {
			t.Fatalf("%d, %v: %s", status, err, body)
		}
		return f
	}
	told := ask()
	for tries := 0; told.Looked != ""; tries++ {
		if !strings.Contains(told.Looked, "back to") || len(told.Entries) > 0 || tries > 20 {
			t.Fatalf("the feed says %q after %d answers, with %v", told.Looked, tries, told.saying())
		}
		if told = ask(); tries == 0 && told.Looked == "" {
			t.Error("the first answer looked through all but what the second did")
		}
	}
	if len(told.Entries) != 1 {
		t.Errorf("in the end the feed has %v", told.saying())
	}
	for range mostFeeds + 3 {
		known.recent.keep(fmt.Sprint(len(known.recent.known)), recentFeed{askedAt: filledNow.Add(-time.Hour)})
	}
	if n := len(known.recent.known); n != mostFeeds || known.recent.known[fmt.Sprint(models.ChangesQuery{Kinds: []models.EventKind{models.EventRefreshed}, Limit: 30})].askedAt != filledNow {
		t.Errorf("%d feeds are remembered, want %d and the one that was asked for last", n, mostFeeds)
	}
}

// TestFates: pages that say nothing any more.
// A page that became a duplicate has no copies to compare.
func TestARefreshedPageOfOneCopyHasNoDifference(t *testing.T) {
	t.Parallel()
	for previous, want := range map[int32]string{2: "2..3", 3: ""} {
		e := models.RecentEvent{Event: models.Event{Kind: models.EventRefreshed, Previous: previous, Version: 3}}
		if got := (library{}).entry(e, "", "").Versions; got != want {
			t.Errorf("version 3 after %d: the versions to compare are %q, want %q", previous, got, want)
		}
	}
}

func TestFates(t *testing.T) {
	t.Parallel()
	for kind := models.EventNew; kind <= models.EventRemoved; kind++ {
		e := models.RecentEvent{Event: models.Event{Kind: kind, URL: "https://docs.example.org/", RedirectTo: "https://docs.example.org/b", Note: "<b>"}}
		entry := library{}.entry(e, "log", "docs")
		if fates[kind] == "" {
			continue
		}
		_, said, err := entry.Read(t.Context())
		if err != nil || !strings.Contains(string(said), fates[kind]) || strings.Contains(string(said), "<b>") ||
			(entry.RedirectTo != "") != (kind == models.EventMoved) {
			t.Errorf("%v is told as %+v: %s, %v", kind, entry, said, err)
		}
	}
}
