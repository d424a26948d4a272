package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHeadOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want Head
		feed bool
	}{
		"atom": {`<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="http://a/f"/><link rel="hub" href=" http://h/ "/><link rel="hub" href="http://i/"/><entry/></feed>`,
			Head{[]string{"http://h/", "http://i/"}, "http://a/f"}, true},
		"rss": {`<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>http://a/</link><atom:link rel="SELF" href="http://a/f"/><atom:link href="http://h/" rel="hub next"/><item/></channel></rss>`,
			Head{[]string{"http://h/"}, "http://a/f"}, true},
		"of an entry":       {`<feed><entry><link rel="hub" href="http://h/"/></entry></feed>`, Head{}, true},
		"cut off":           {`<feed><link rel="hub" href="http://h/"/><title`, Head{Hubs: []string{"http://h/"}}, true},
		"packed":            {zipped(t, `<feed><link rel="hub" href="http://h/"/></feed>`), Head{Hubs: []string{"http://h/"}}, true},
		"no address":        {`<feed><link rel="hub"/></feed>`, Head{}, true},
		"very many":         {`<feed>` + strings.Repeat(`<link rel="hub" href="http://h/"/>`, 100) + `</feed>`, Head{Hubs: strings.Fields(strings.Repeat("http://h/ ", headHubs))}, true},
		"behind very much":  {`<feed><!--` + strings.Repeat("x", headBytes) + `--><link rel="hub" href="http://h/"/></feed>`, Head{}, true},
		"json":              {`{"version":"https://jsonfeed.org/version/1.1","items":[],"feed_url":"http://a/f","hubs":[{"type":"rssCloud","url":"http://r/"},{"type":"WebSub","url":"http://h/"}]}`, Head{[]string{"http://h/"}, "http://a/f"}, true},
		"other json":        {`{"version":"https://jsonfeed.org.example/","hubs":[{"type":"WebSub","url":"http://h/"}]}`, Head{}, false},
		"json of no form":   {`{"version":"https://jsonfeed.org/version/1.1","hubs":7}`, Head{}, false},
		"a sitemap":         {`<urlset><link rel="hub" href="http://h/"/></urlset>`, Head{}, false},
		"a page":            {`<!DOCTYPE html><link rel="hub" href="http://h/">`, Head{}, false},
		"nothing":           {"", Head{}, false},
		"another character": {"\xff\xfe<\x00f\x00e\x00e\x00d\x00>\x00", Head{}, true},
	} {
		got, feed := HeadOf([]byte(c.body))
		if diff := cmp.Diff(c.want, got); diff != "" || feed != c.feed {
			t.Errorf("%s: a feed %v, want %v (-want +got):\n%s", name, feed, c.feed, diff)
		}
	}
}

func TestReadFeed(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	set, err := ReadFeed([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":7,"url":"http://a/x","title":"X","date_published":"2026-01-01T00:00:00Z",
		"date_modified":"2026-01-02T00:00:00Z"},{"id":"y","url":"HTTP://A/y"},{"id":"z"}]}`), whole)
	want := Set{Kind: Feed, URLs: []Entry{{"http://a/x", day, day, markOf("7", "X"), false}, {Loc: "http://a/y", Mark: markOf(`"y"`, "")}}}
	if diff := cmp.Diff(want, set); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	few := Limits{URLs: 1, Bytes: 1 << 20}
	if set, err := ReadFeed([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"url":"http://a/x"},{"url":"http://a/y"}]}`), few); err != nil || len(set.URLs) != 1 || !set.Partial {
		t.Errorf("of two entries %d are read, partial %v, %v", len(set.URLs), set.Partial, err)
	}
	for _, body := range []string{"", "http://a/\n", "<urlset><url><loc>http://a/</loc></url></urlset>", "{}", "<html>"} {
		if set, err := ReadFeed([]byte(body), whole); !errors.Is(err, ErrFormat) || len(set.URLs) > 0 {
			t.Errorf("ReadFeed(%q) = %+v, %v", body, set, err)
		}
	}
}

// TestAJSONFeedIsReadPieceByPiece: of millions of empty entries, which fit into few bytes, none is kept. It runs beside no other test, whose
// memory would count.
func TestAJSONFeedIsReadPieceByPiece(t *testing.T) {
	body := []byte(`{"version":"https://jsonfeed.org/version/1","items":[` + strings.Repeat("{},", jsonBytes/3-100) + `{}]}`)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, after, items := held(), uint64(0), 0
	if _, ok := jsonFeed(body, func(jsonHub) {}, func(jsonItem) {
		if items++; items == jsonBytes/3-100 {
			after = held()
		}
	}); !ok || items != jsonBytes/3-99 {
		t.Fatalf("%d entries are read, a feed: %v", items, ok)
	}
	if grown := int64(after) - int64(before); grown > jsonBytes {
		t.Errorf("%d bytes are held for %d entries in %d bytes", grown, items, len(body))
	}
	runtime.KeepAlive(body)
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if _, err := zip.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
