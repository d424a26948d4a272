package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/scheduler"
	"recrawld/scheduler/storetest"
	"recrawld/simulate"
)

// copies is a web with pages that say the same under several URLs, and its crawl.
type copies struct {
	t      *testing.T
	store  storetest.Store
	clock  *clock.Virtual
	config config.Config
	pages  map[string]func(now time.Time) string // mark-up by URL; "": gone
	leads  map[string]string                     // redirects by URL
}

func newCopies(t *testing.T, store storetest.Store) *copies {
	t.Helper()
	c := &copies{t: t, store: store, clock: clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		config: config.Default(), pages: make(map[string]func(time.Time) string), leads: make(map[string]string)}
	c.config.Cycle = "24h"
	c.config.Defaults.FRMax, c.config.Defaults.Vary = 10, 0
	c.config.Sites = []config.Site{{ID: 1, Name: "shop", URL: "http://shop.test/", Settings: c.config.Defaults}}
	return c
}

// add makes a page known.
func (c *copies) add(url, markup string) {
	c.t.Helper()
	c.set(url, markup)
	at, err := canon.Parse(url)
	if err != nil {
		c.t.Fatal(err)
	}
	page := scheduler.NewPage(url, at.HostName(), 1, 1, 4)
	page.DueAt = models.At(c.clock.Now().Add(time.Duration(len(c.pages)) * time.Second))
	found := []models.Discovery{{Page: page, Host: at.HostName()}}
	if _, err := c.store.AddPages(c.t.Context(), c.clock.Now(), found, 0); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copies) set(url, markup string) { c.pages[url] = func(time.Time) string { return markup } }

// Visit implements scheduler.Visitor.
func (c *copies) Visit(_ context.Context, turn models.Turn) models.Outcome {
	out := models.Outcome{Kind: models.Gone, Status: 410, Sent: 1, At: turn.Now}
	if to := c.leads[turn.Page.URL]; to != "" {
		return redirect(&turn, to)
	}
	body := ""
	if markup := c.pages[turn.Page.URL]; markup != nil {
		body = markup(turn.Now)
	}
	if body == "" {
		return out
	}
	at, err := canon.Parse(turn.Page.URL)
	if err != nil {
		panic(err)
	}
	found := extract.Page([]byte(body), "text/html; charset=utf-8", at, extract.Options{Bytes: 1 << 20, Links: 100})
	out.Kind, out.Status, out.Body = models.Changed, 200, []byte(body)
	out.Digest, out.TextDigest, out.Print = models.DigestOf(out.Body), found.TextDigest, models.Print(found.Print)
	out.LinksKnown = true
	for _, l := range found.Links {
		if l.URL.HostName() == at.HostName() && strings.Contains(l.URL.String(), "/tree/") {
			out.Links = append(out.Links, models.FoundLink{URL: l.URL.String(), Host: l.URL.HostName(), Relative: l.Relative})
		}
	}
	if !found.Canonical.IsZero() && found.Canonical != at {
		out.Canonical = found.Canonical.String()
	}
	switch {
	case turn.Page.Digest.IsZero():
		out.Kind = models.First
	case turn.Page.Digest == out.Digest:
		out.Kind, out.Body = models.SameBytes, nil
	case turn.Page.TextDigest == out.TextDigest:
		out.Kind = models.SameText
	}
	return out
}

// pass lets the worker work for so many days.
func (c *copies) pass(days int) {
	c.t.Helper()
	planner, err := scheduler.NewPlanner(&c.config, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	end := c.clock.Now().AddDate(0, 0, days)
	w := scheduler.NewWorker(scheduler.Config{
		Store: c.store, Visitor: c, Archive: simulate.Nowhere{}, Clock: c.clock, Log: slog.New(slog.DiscardHandler),
		Name: "one", Lease: 5 * time.Minute, Memory: 1 << 20,
		Beat: func() {
			if c.clock.Now().After(end) {
				cancel()
			}
		},
	}, planner)
	if err := w.Run(ctx); err != nil {
		c.t.Fatal(err)
	}
}

// dump is all that is stored.
func (c *copies) dump() models.Dump {
	c.t.Helper()
	d, err := c.store.Dump(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// known are the pages as they are stored, by URL.
func (c *copies) known() map[string]models.Page {
	c.t.Helper()
	d := c.dump()
	pages := make(map[string]models.Page)
	for _, p := range d.Pages {
		pages[p.URL] = p
	}
	filed := make(map[string]int)
	for _, f := range d.Filings {
		for url, p := range pages {
			if p.Bucket == f.PageBucket && p.ID == f.PageID {
				filed[url]++
			}
		}
	}
	for url, p := range pages {
		if original := pages[p.DuplicateOf]; p.DuplicateOf != "" && (filed[url] != 1 || original.DuplicateOf != "") {
			c.t.Errorf("%s is a duplicate of %s (itself of %q) with %d filings, want no chain and one under that page", url, p.DuplicateOf,
				original.DuplicateOf, filed[url])
		}
	}
	return pages
}

// want compares the duplicates that are known with those that there are.
func (c *copies) want(when string, want map[string]string) map[string]models.Page {
	c.t.Helper()
	pages, got := c.known(), make(map[string]string)
	for url, p := range pages {
		if p.DuplicateOf != "" {
			got[url] = p.DuplicateOf
		}
		if p.DuplicateOf != "" && p.State == models.StateLive && p.Rule != models.RuleDuplicate && p.Rule != models.RuleOriginal {
			c.t.Errorf("%s: %s is due by %v", when, url, p.Rule)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("%s: duplicates (-want +got):\n%s", when, diff)
	}
	return pages
}

// prose is n words that depend on a number.
func prose(n int, number uint64) []string {
	rng := rand.New(rand.NewPCG(number, 0))
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", rng.IntN(3000))
	}
	return words
}

// shopPage is a page of a shop: a menu, a title, prose in paragraphs, and a link into a tree below it.
func shopPage(title, price string, words []string, head string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title>%s<nav><a href=/>Home</a> <a href=/all>All that we sell</a></nav><h1>%s</h1><p>%s</p>",
		title, head, title, price)
	for part := range slices.Chunk(words, 25) {
		fmt.Fprintf(&b, "<p>%s.</p>", strings.Join(part, " "))
	}
	b.WriteString("<a href=tree/more>More</a>")
	return b.String()
}

// eachStore runs a test on a web of copies with each kind of store.
func eachStore(t *testing.T, test func(t *testing.T, c *copies)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, newCopies(t, simulate.NewMemory(simulate.MemoryOptions{})))
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		store, err := models.Open(t.Context(), filepath.Join(t.TempDir(), "recrawld.db"), models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		if err := store.Migrate(t.Context(), time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		test(t, newCopies(t, store))
	})
}

const (
	boots   = "http://shop.test/boots"
	printed = "http://shop.test/print/boots"
	session = "http://shop.test/boots?sid=8f3a"
	mirror  = "http://mirror.test/boots"
)

// TestFault_044_CopiesAreVisitedAtThePaceOfOne: a print version, a session in the URL and a mirror with a clock are copies
// of the page known first; another product, pages that say little and the pages of a list are not.
func TestFault_044_CopiesAreVisitedAtThePaceOfOne(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		words := prose(300, 1)
		page := shopPage("Boots", "149.00", words, "")
		c.add(boots, page)
		c.add(printed, "<title>Boots</title><h1>Boots</h1><p>"+strings.Join(words, " "))
		c.add(session, strings.ReplaceAll(page, "href=/", "href=/?sid=8f3a&to="))
		c.add(mirror, "")
		c.pages[mirror] = func(now time.Time) string { return page + "<p>It is " + now.Format(time.RFC1123) }
		c.add("http://shop.test/boots-xl", shopPage("Boots XL", "169.00", words, ""))
		for i := range 3 {
			c.add(fmt.Sprintf("http://shop.test/short/%d", i), shopPage("Short", "", prose(20, uint64(i)), ""))
			c.add(fmt.Sprintf("http://shop.test/empty/%d", i), "<p>Nothing here yet")
			c.add(fmt.Sprintf("http://shop.test/list/%d", i), shopPage("List", "", words, "<ul><li>"+
				strings.Join(prose(60, uint64(i)), "<li>")+"</ul>"))
		}
		c.pass(45)
		pages := c.want("after 45 days", map[string]string{printed: boots, session: boots, mirror: boots})
		for _, url := range []string{printed, session, mirror} {
			if n, most := pages[url].Visits, pages[boots].Visits; n > 7 || n < 4 || most < n {
				t.Errorf("%s was visited %d times, its original %d times", url, n, most)
			}
		}
		for url := range pages {
			if strings.HasSuffix(url, "tree/more") && (strings.Contains(url, "mirror") || strings.Contains(url, "print")) {
				t.Errorf("the links of a copy were followed: %s", url)
			}
		}
	})
}

// TestCopiesOutliveTheirOriginal: when the original goes, one of its copies takes its place, and when that one says
// something else, each says its own.
func TestCopiesOutliveTheirOriginal(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		page := shopPage("Boots", "149.00", prose(300, 1), "")
		for _, url := range []string{boots, mirror, printed} {
			c.add(url, page)
			c.pass(1)
		}
		c.pass(10)
		c.want("at first", map[string]string{printed: boots, mirror: boots})
		c.set(boots, "")
		c.pass(25)
		pages := c.want("without the original", map[string]string{printed: mirror})
		if got := pages["http://mirror.test/tree/more"]; got.URL == "" || pages[mirror].Rule == models.RuleDuplicate {
			t.Errorf("a page of its own again: links followed: %v, due by %v", got.URL != "", pages[mirror].Rule)
		}
		c.set(printed, shopPage("Boots", "149.00", prose(300, 2), ""))
		c.pass(25)
		pages = c.want("when the copy differs", map[string]string{})
		if got := pages["http://shop.test/print/tree/more"]; got.URL == "" {
			t.Error("the links of a page of its own are not followed")
		}
		c.set(printed, page)
		c.pass(25)
		c.want("when it is the same again", map[string]string{printed: mirror})
	})
}

// TestCanonicalPageIsTheOriginal: what names another page as canonical is its copy though it was known first.
func TestCanonicalPageIsTheOriginal(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, c *copies) {
		words, link := prose(300, 1), "<link rel=canonical href="+boots+">"
		c.add(session, shopPage("Boots", "149.00", words, link))
		c.pass(3)
		c.want("before the canonical page is known", map[string]string{})
		c.add(boots, shopPage("Boots", "149.00", words, link))
		c.add(mirror, shopPage("Boots", "149.00", words, link))
		c.add("http://shop.test/liar", shopPage("Boots", "149.00", prose(300, 2), link))
		c.pass(25)
		c.want("later", map[string]string{session: boots, mirror: boots})
	})
}
