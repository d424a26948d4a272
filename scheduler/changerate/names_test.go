package changerate

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// alike lists the groupings that put two URLs in one group.
func alike(a, b string) (groups []int) {
	x, y := NamesOf(a), NamesOf(b)
	for i := range byDay { // a URL says nothing of that
		if x.Groups[i] == y.Groups[i] {
			groups = append(groups, i)
		}
	}
	return groups
}

func TestNamesGroupPages(t *testing.T) {
	t.Parallel()
	const host = "https://example.org/"
	tests := map[string]struct {
		a, b string
		want []int
	}{
		"one folder":            {"docs/api/list.html", "docs/api/drop-it.htm", []int{byFolder, byTop}},
		"one section":           {"docs/api/list.html", "docs/guide/drop-it.htm", []int{byTop}},
		"numbered":              {"a/page-17.html", "b/page-4.html", []int{byPattern, byKind, byWord}},
		"kind":                  {"a/privacy-policy.html", "b/cookie-policy.html", []int{byKind}},
		"first word":            {"a/feed_one.xml", "b/feed_two.xml", []int{byWord}},
		"translated":            {"de/about/team.html", "en/about/team.html", []int{byPattern, byKind, byWord, byRest}},
		"query":                 {"list?page=1", "list?page=20", []int{byFolder, byTop, byPattern, byKind, byWord}},
		"query of another kind": {"list?page=1", "list?day=20", []int{byFolder, byTop, byKind, byWord}},
		"nothing":               {"a/one.html", "b/two.pdf", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := alike(host+tt.a, host+tt.b)
			if len(got) != len(tt.want) {
				t.Fatalf("%s and %s share the groupings %v, want %v", tt.a, tt.b, got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("%s and %s share the groupings %v, want %v", tt.a, tt.b, got, tt.want)
				}
			}
		})
	}
}

// Stored groups are found again only while the hash stays.
func TestNamesAreStable(t *testing.T) {
	t.Parallel()
	want := [groupings]uint64{0x2e2be118, 0x31d85c79, 0x73b6f1f2, 0xbf276ec3, 0xae709f84, 0xb34c5755}
	for _, url := range []string{"https://example.org/docs/a-2.html", "http://example.com/docs/a-2.html#top", "docs/a-2.html"} {
		if got := NamesOf(url).Groups; got != want {
			t.Errorf("groups of %s are %#v, want %#v", url, got, want)
		}
	}
}

func TestNamesOfADay(t *testing.T) {
	t.Parallel()
	url := NamesOf("a/b.html")
	day := func(at float64) uint64 { return url.KnownAt(at).Groups[byDay] }
	if day(20000.1) != day(20000.9) || day(20000.9) == day(20001) || day(0) == 0 || day(math.NaN()) != day(0) {
		t.Errorf("groups of a day: %#x, %#x; of the next %#x; of none %#x, %#x",
			day(20000.1), day(20000.9), day(20001), day(0), day(math.NaN()))
	}
	again := url.KnownAt(20000)
	again.Groups[byDay] = 0
	if again != url {
		t.Errorf("the day moved other names: %v, want %v", again, url)
	}
}

func TestNamesFindADate(t *testing.T) {
	t.Parallel()
	at := func(year, month, day int) float64 {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Sub(time.Unix(0, 0)).Hours() / 24
	}
	for path, want := range map[string]float64{
		"news/2024-05-06-title.md":          at(2024, 5, 6),
		"2019/11/02/title/":                 at(2019, 11, 2),
		"a/2019/11/title/":                  at(2019, 11, 28),
		"a/2019/11/b/2020/01/":              at(2020, 1, 28),
		"a/2019-13-01":                      0,
		"a/12019-11-01":                     0,
		"a/1888-11-01":                      0,
		"a?d=2020-01-01":                    0,
		"20201":                             0,
		"a/2020_01":                         at(2020, 1, 28),
		"https://example.org/x/2001-01-01/": at(2001, 1, 1),
	} {
		if got := NamesOf(path).Date; got != want {
			t.Errorf("date of %q is %v, want %v", path, got, want)
		}
	}
}

func TestNamesOfAnIndex(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a/index.html": true, "README.md": true, "news": true, "a/news-of-today.html": false, "": false, "a/": false,
	} {
		if got := NamesOf(path).Index; got != want {
			t.Errorf("%q named like an index: %v, want %v", path, got, want)
		}
	}
}

func TestNamesTakeAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		url := rapid.StringMatching(`(https?://h/?)?[a1-9./_ ?#é-]*`).Draw(t, "url")
		if NamesOf(url) != NamesOf(url) {
			t.Fatalf("names of %q differ from call to call", url)
		}
	})
}

func BenchmarkNamesOf(b *testing.B) {
	for b.Loop() {
		NamesOf("https://www.example.org/docs/reference/2024-05-06/some-page-name-17.html?x=12")
	}
}
