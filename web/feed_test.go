package web

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var feedAt = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// entryOf is the event of a number, which says something.
func entryOf(number int, title, said string) Entry {
	return Entry{ID: fmt.Sprintf("log-7-%d", number), At: feedAt.Add(-time.Duration(number) * time.Hour), Kind: "changed", Site: "docs",
		URL: fmt.Sprintf("https://docs.example.org/%d", number), Versions: "2..3",
		Read: func(context.Context) (string, template.HTML, error) { return title, template.HTML(said), nil }}
}

// feedOf is a library that has these entries, whatever it is asked for.
func feedOf(entries ...Entry) shelf {
	return shelf{feed: func(context.Context, ChangesQuery) (Feed, error) {
		return Feed{Log: "log", At: feedAt, Entries: entries}, nil
	}}
}

// reader asks for a feed as a feed reader does.
func reader(t *testing.T, address string, header http.Header) (*http.Response, string) {
	t.Helper()
	asks := http.Request{Header: http.Header{}}
	asks.SetBasicAuth("x", token)
	maps.Copy(asks.Header, header)
	return exchange(t, http.MethodGet, address, asks.Header)
}

// parsed reads a feed, to its end.
func parsed(t *testing.T, body string) (f atomFeed) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(body))
	if err := d.Decode(&f); err != nil {
		t.Fatalf("%v:\n%s", err, body)
	}
	for {
		rest, err := d.Token()
		if err == io.EOF {
			return f
		}
		if text, blank := rest.(xml.CharData); err != nil || !blank || strings.TrimSpace(string(text)) != "" {
			t.Fatalf("after the feed %v, %v:\n%s", rest, err, body)
		}
	}
}

func TestAFeed(t *testing.T) {
	t.Parallel()
	moved := entryOf(2, "", "<p>away</p>")
	moved.Kind, moved.RedirectTo, moved.Versions, moved.Site = "moved", "https://docs.example.org/new", "", ""
	lost := entryOf(3, "", "")
	lost.Read = func(context.Context) (string, template.HTML, error) { return "", "", errors.New("the copy is <lost>") }
	removed := entryOf(4, "", "<p>removed</p>")
	removed.Kind, removed.Versions, removed.Pages = "removed", "", 100_000
	library := feedOf(entryOf(1, "A page", "<p>a <ins>b</ins> &lt;c&gt;</p>"), moved, lost, removed)
	answer, body := reader(t, startWith(t, library)+"/feed?site=docs", nil)
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "application/atom+xml; charset=utf-8" {
		t.Fatalf("answer %d of %s: %s", answer.StatusCode, kind, body)
	}
	kind := func(word string) atomCategory { return atomCategory{word, "urn:recrawld:kind"} }
	site := atomCategory{"docs", "urn:recrawld:site"}
	page := func(n int) atomLink {
		return atomLink{Relation: "alternate", Address: fmt.Sprintf("https://docs.example.org/%d", n)}
	}
	sheet := func(title, address string) atomLink { return atomLink{"related", "text/html", title, address} }
	const differs = "/diff?url=https%3A%2F%2Fdocs.example.org%2F"
	want := atomFeed{XMLName: xml.Name{Space: "http://www.w3.org/2005/Atom", Local: "feed"}, Title: "recrawld: docs", Author: "recrawld",
		ID:      "urn:recrawld:log:feed:kind=new%2Cchanged%2Cmoved%2Cgone%2Crestored%2Cremoved&limit=30&site=docs",
		Updated: "2026-11-21T11:00:00Z", Generator: "recrawld",
		Links: []atomLink{{"self", "application/atom+xml", "", "/feed?kind=new%2Cchanged%2Cmoved%2Cgone%2Crestored%2Cremoved&limit=30&site=docs"},
			{"alternate", "text/html", "", "/changes"}},
		Entries: []atomEntry{
			{"urn:recrawld:log-7-1", "changed: A page", "2026-11-21T11:00:00Z", []atomLink{page(1), sheet("what changed", differs+"1&versions=2..3")},
				[]atomCategory{kind("changed"), site}, atomText{"html", "<p>a <ins>b</ins> &lt;c&gt;</p>"}},
			{"urn:recrawld:log-7-2", "moved: https://docs.example.org/2 → https://docs.example.org/new", "2026-11-21T10:00:00Z",
				[]atomLink{page(2), sheet("why it is visited when it is", "/why?url=https%3A%2F%2Fdocs.example.org%2F2")},
				[]atomCategory{kind("moved")}, atomText{"html", "<p>away</p>"}},
			{"urn:recrawld:log-7-3", "changed: https://docs.example.org/3", "2026-11-21T09:00:00Z",
				[]atomLink{page(3), sheet("what changed", differs+"3&versions=2..3")},
				[]atomCategory{kind("changed"), site}, atomText{"html", "<p>What this says cannot be shown: the copy is &lt;lost&gt;</p>"}},
			{"urn:recrawld:log-7-4", "removed: docs, 100,000 pages", "2026-11-21T08:00:00Z", []atomLink{page(4), sheet("what happened of late", "/changes")},
				[]atomCategory{kind("removed"), site}, atomText{"html", "<p>removed</p>"}},
		}}
	if diff := cmp.Diff(want, parsed(t, body)); diff != "" {
		t.Errorf("the feed (-want +got):\n%s", diff)
	}
}

// A feed that was not looked for far enough yet says so.
func TestAFeedSaysHowFarItWasLookedFor(t *testing.T) {
	t.Parallel()
	for back, want := range map[time.Time]string{{}: "",
		feedAt: "Looked through back to 21 Nov 2026 12:00 UTC so far: the next answers go further."} {
		found := Feed{Log: "log", At: feedAt, Back: back}
		_, body := reader(t, startWith(t, shelf{feed: func(context.Context, ChangesQuery) (Feed, error) { return found, nil }})+"/feed", nil)
		if f := parsed(t, body); f.Subtitle != want {
			t.Errorf("looked through back to %v: %q, want %q", back, f.Subtitle, want)
		}
	}
}

// A feed without entries is one all the same.
func TestAFeedOfNothing(t *testing.T) {
	t.Parallel()
	answer, body := reader(t, startWith(t, feedOf())+"/feed", nil)
	if f := parsed(t, body); answer.StatusCode != http.StatusOK || f.Updated != "2026-11-21T12:00:00Z" || f.ID == "" || len(f.Entries) > 0 {
		t.Errorf("answer %d: %s", answer.StatusCode, body)
	}
}

// TestFault_106_AFeedIsXMLWhateverPagesHold: what a page is called breaks neither the document nor the line that it is shown in.
func TestFault_106_AFeedIsXMLWhateverPagesHold(t *testing.T) {
	t.Parallel()
	titles := map[string]string{
		"]]></title></entry></feed><x>":           "]]></title></entry></feed><x>",
		"a\x00b\x1b[31m\x7f\u0085c":               "a b [31m c",
		"\xff\xfe broken \xed\xa0\x80":            "\ufffd\ufffd broken \ufffd\ufffd\ufffd",
		"\ufffe\uffff":                            "\ufffd\ufffd",
		"\u202egnp.exe\u2066x\u200f":              "gnp.exex",
		"<script>alert(1)</script>&amp;&#0;&nope": "<script>alert(1)</script>&amp;&#0;&nope",
		" two \r\n lines\u2028 ":                  "two lines",
		"\u202e \x00":                             "https://docs.example.org/1",
		strings.Repeat("ö", 300):                  strings.Repeat("ö", mostTitle) + "…",
	}
	for hostile, want := range titles {
		e := entryOf(1, hostile, "<p>"+template.HTMLEscapeString(hostile)+"</p>")
		e.Site = hostile
		answer, body := reader(t, startWith(t, feedOf(e))+"/feed?site="+url.QueryEscape(hostile), nil)
		f := parsed(t, body)
		if answer.StatusCode != http.StatusOK || len(f.Entries) != 1 || f.Entries[0].Title != "changed: "+want {
			t.Errorf("title %q becomes %q (%d), want %q", hostile, f.Entries[0].Title, answer.StatusCode, want)
		}
		if said := f.Entries[0].Content.Text; strings.Contains(said, "<script") || strings.ContainsAny(body, "\x00\x1b") {
			t.Errorf("title %q gives %q", hostile, body)
		}
	}
}

func TestTheQuestionsOfFeeds(t *testing.T) {
	t.Parallel()
	var asked ChangesQuery
	base := startWith(t, shelf{feed: func(_ context.Context, q ChangesQuery) (Feed, error) { asked = q; return Feed{}, nil }})
	usual := []string{"new", "changed", "moved", "gone", "restored", "removed"}
	for question, want := range map[string]ChangesQuery{
		"":                              {Kinds: usual, Limit: 30},
		"?kind=":                        {Kinds: usual, Limit: 30},
		"?kind=gone,new&kind=refreshed": {Kinds: []string{"gone", "new", "refreshed"}, Limit: 30},
		"?site=docs&limit=100&min_significance=0.5": {Site: "docs", Kinds: usual, Limit: 100, Weight: 0.5},
		"?requisites=on":  {Kinds: usual, Limit: 30, Requisites: true},
		"?requisites=off": {Kinds: usual, Limit: 30},
	} {
		if answer, body := reader(t, base+"/feed"+question, nil); answer.StatusCode != http.StatusOK || !cmp.Equal(want, asked) {
			t.Errorf("%s = %d asks for %+v, want %+v: %s", question, answer.StatusCode, asked, want, body)
		}
	}
	for question, want := range map[string]string{
		"limit=0":               "limit is a number from 1 to 100",
		"limit=101":             "limit is a number from 1 to 100",
		"min_significance=2":    "min_significance is a number from 0 to 1",
		"after=now":             `there is no parameter "after"; there is site, kind, min_significance, requisites, limit`,
		"site=docs&site=blog":   "site is given more than once",
		"limit=x&sites=docs":    "there is no parameter",
		"min_significance=much": "min_significance is a number",
		"requisites=yes":        "requisites is on or off",
	} {
		if answer, body := reader(t, base+"/feed?"+question, nil); answer.StatusCode != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s = %d %q, want %q", question, answer.StatusCode, body, want)
		}
	}
}

// Where nothing happened since, a reader is told so before any page is read.
func TestAFeedThatIsKnownIsNotToldAgain(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	entries := []Entry{entryOf(2, "", ""), entryOf(3, "", "")}
	for i := range entries {
		entries[i].Read = func(context.Context) (string, template.HTML, error) { reads.Add(1); return "", "", nil }
	}
	var back time.Time
	base := startWith(t, shelf{feed: func(context.Context, ChangesQuery) (Feed, error) {
		return Feed{Log: "log", At: feedAt, Back: back, Entries: entries}, nil
	}})
	first, _ := reader(t, base+"/feed", nil)
	tag := first.Header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || reads.Load() != 2 || first.Header.Get("Cache-Control") != "private, no-cache" ||
		!strings.Contains(first.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("the first answer has %v, after %d reads", first.Header, reads.Load())
	}
	for _, sent := range []string{tag, strings.TrimPrefix(tag, "W/"), `"x", ` + tag, "*"} {
		answer, body := reader(t, base+"/feed", http.Header{"If-None-Match": {sent}})
		if answer.StatusCode != http.StatusNotModified || body != "" || answer.Header.Get("ETag") != tag || reads.Load() != 2 {
			t.Errorf("If-None-Match: %s = %d %v %q after %d reads", sent, answer.StatusCode, answer.Header, body, reads.Load())
		}
	}
	changes := map[string]func() string{
		"another question":  func() string { return "?limit=29" },
		"a look further":    func() string { back = feedAt; return "" },
		"more of a removal": func() string { entries[0].Pages++; return "" },
		"a new event":       func() string { entries = append([]Entry{entryOf(1, "", "")}, entries...); return "" },
	}
	for what, change := range changes {
		before, _ := reader(t, base+"/feed", nil)
		tag := before.Header.Get("ETag")
		answer, _ := reader(t, base+"/feed"+change(), http.Header{"If-None-Match": {tag}})
		if answer.StatusCode != http.StatusOK || answer.Header.Get("ETag") == tag {
			t.Errorf("after %s: %d with %s", what, answer.StatusCode, answer.Header.Get("ETag"))
		}
	}
}

// What cannot be read in time is said to be so, with an answer that no reader takes for the whole.
func TestAFeedTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var entries []Entry
		for i := range 5 {
			e := entryOf(i, "read", "<p>said</p>")
			e.Read = func(context.Context) (string, template.HTML, error) {
				time.Sleep(4 * time.Second)
				return "read", "said", nil
			}
			entries = append(entries, e)
		}
		p, stop := serveInBubble(t, feedOf(entries...))
		defer stop()
		began := time.Now()
		status, body := over(t, p.connect(t), "/feed")
		if n := strings.Count(body, "no time left"); status != http.StatusOK || n != 2 || time.Since(began) != 12*time.Second {
			t.Errorf("%d after %v with %d entries that were not read:\n%s", status, time.Since(began), n, body)
		}
		if _, whole := tell(t.Context(), entries); whole {
			t.Error("it is taken for the whole")
		}
	})
}

// Feeds are written two at a time, and found in time or not at all.
func TestFewFeedsAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		p, stop := serveInBubble(t, shelf{feed: func(ctx context.Context, q ChangesQuery) (Feed, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			if q.Site == "large" {
				<-ctx.Done()
				return Feed{}, ctx.Err()
			}
			time.Sleep(3 * time.Second)
			return Feed{}, nil
		}})
		defer stop()
		got := p.twenty(t, "/feed")
		if want := map[int]int{http.StatusOK: 8, http.StatusServiceUnavailable: 12}; most.Load() != feedsAtOnce || cmp.Diff(want, got) != "" {
			t.Errorf("statuses %v with %d at a time, want %v with %d", got, most.Load(), want, feedsAtOnce)
		}
		if status, body := over(t, p.connect(t), "/feed?site=large"); status != http.StatusServiceUnavailable || !strings.Contains(body, "not found in time") {
			t.Errorf("a feed that is not found = %d %s", status, body)
		}
	})
}

// TestFault_101_ThePasswordIsForFeedsAlone: a browser that was told the token as a password sends it by itself with whatever any site wants.
func TestFault_101_ThePasswordIsForFeedsAlone(t *testing.T) {
	t.Parallel()
	base := startFull(t, Options{Library: feedOf(), Sheets: []Sheet{sheetOf("status", "secret")}})
	for _, test := range []struct {
		method, path string
		header       http.Header
		status       int
	}{
		{"GET", "/feed", basic("x", token), http.StatusOK},
		{"HEAD", "/feed?limit=3", basic("", token), http.StatusOK},
		{"GET", "/feed", http.Header{"Authorization": {"Bearer " + token}}, http.StatusOK},
		{"GET", "/feed", http.Header{"Cookie": {cookieOf(base) + "=" + token}}, http.StatusOK},
		{"GET", "/feed", nil, http.StatusUnauthorized},
		{"GET", "/feed", basic("x", token+"x"), http.StatusUnauthorized},
		{"GET", "/feed", basic("x", ""), http.StatusUnauthorized},
		{"GET", "/feed", basic(token, "x"), http.StatusUnauthorized},
		{"GET", "/feed", http.Header{"Authorization": {"Basic " + token}}, http.StatusUnauthorized},
		{"GET", "/feed?token=" + token, nil, http.StatusUnauthorized},
		{"POST", "/feed", basic("x", token), http.StatusUnauthorized},
		{"POST", "/feed", http.Header{"Authorization": {"Bearer " + token}}, http.StatusMethodNotAllowed},
		{"POST", "/v1/visits?url=http://h/", basic("x", token), http.StatusUnauthorized},
		{"GET", "/v1/changes?after=now", basic("x", token), http.StatusUnauthorized},
		{"GET", "/v1/pages?url=http://h/", basic("x", token), http.StatusUnauthorized},
		{"GET", "/status", basic("x", token), http.StatusUnauthorized},
		{"GET", "/feed/", basic("x", token), http.StatusNotFound},
	} {
		if status, body := ask401(t, test.method, base+test.path, test.header); status != test.status || strings.Contains(body, "secret") {
			t.Errorf("%s %s with %v = %d %s, want %d", test.method, test.path, test.header, status, body, test.status)
		}
	}
	foreign := basic("x", token)
	foreign.Set("Sec-Fetch-Site", "cross-site")
	if status, body := ask401(t, "GET", base+"/feed", foreign); status != http.StatusForbidden {
		t.Errorf("for a page of another site = %d %s", status, body)
	}
	for path, want := range map[string]string{"/feed": `Basic realm="recrawld"`, "/status": "Bearer"} {
		if answer, _ := reader(t, base+path, http.Header{"Authorization": {"none"}}); answer.Header.Get("WWW-Authenticate") != want {
			t.Errorf("%s asks for %q, want %q", path, answer.Header.Get("WWW-Authenticate"), want)
		}
	}
	if _, body := request(t, "GET", base+"/status", ""); !strings.Contains(body, `<link rel="alternate" type="application/atom+xml" title="recrawld" href="/feed">`) {
		t.Errorf("a sheet does not name the feed: %s", body)
	}
}
