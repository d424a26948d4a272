package extract

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/internal/shared"
	"recrawld/recrawl/canon"
)

var all = Options{Bytes: 32 << 20, Links: 10_000, Agent: "recrawld"}

// text is a JSON string, or {"b64": …} where the bytes are not UTF-8.
type text []byte

func (b *text) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		*b = text(s)
		return nil
	}
	var coded struct{ B64 []byte }
	err := json.Unmarshal(raw, &coded)
	*b = coded.B64
	return err
}

func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v in %.200s", name, err, lines.Bytes())
		}
		rows = append(rows, one)
	}
	return rows
}

func mustParse(t testing.TB, raw string) canon.URL {
	t.Helper()
	u, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// linkDeviations are the cases of html-links, by a piece of their mark-up, whose result is meant to differ.
var linkDeviations = []struct {
	piece, why string
	less, more []string
}{
	{`<img src="logo.gif"`, "images are no pages", []string{"http://www.nutch.org/maps/logo.gif"}, nil},
	{`<img src=test.gif`, "images are no pages", []string{"http://www.nutch.org/test.gif"}, nil},
	{`<source src="movie.mp4"`, "media are no pages", []string{"http://www.nutch.org/movie.mp4"}, nil},
	{`<form method='POST'`, "forms are not submitted", []string{"http://www.nutch.org/dummy.jsp"}, nil},
}

func TestLinksSuite(t *testing.T) {
	t.Parallel()
	type row struct {
		Base, HTML string
		Want       []string
	}
	rows := append(readLines[row](t, "conformance/html-links/nutch.jsonl"),
		readLines[row](t, "conformance/html-links/heritrix-single.jsonl")...)
	for _, c := range rows {
		want := map[string]bool{}
		for _, raw := range c.Want {
			want[mustParse(t, raw).String()] = true
		}
		for _, d := range linkDeviations {
			for _, raw := range d.less {
				if strings.Contains(c.HTML, d.piece) {
					delete(want, raw)
				}
			}
		}
		got := map[string]bool{}
		for _, link := range Page([]byte(c.HTML), "text/html", mustParse(t, c.Base), all).Links {
			if !link.NoFollow { // the suite drops what we mark
				got[link.URL.String()] = true
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("links of %s (-want +got):\n%s", c.HTML, diff)
		}
	}
	t.Logf("%d cases, %d reasons to differ", len(rows), len(linkDeviations))
}

func TestRefreshSuite(t *testing.T) {
	t.Parallel()
	type row struct {
		Base      string
		HTML      text
		WantDelay *float64 `json:"want_delay"`
		WantURL   *string  `json:"want_url"`
	}
	for _, c := range readLines[row](t, "conformance/html-refresh-base/w3lib-refresh.jsonl") {
		got := Page(c.HTML, "text/html", mustParse(t, c.Base), all).Refresh
		var want Refresh
		if c.WantURL != nil {
			want = Refresh{mustParse(t, *c.WantURL), time.Duration(*c.WantDelay) * time.Second}
		}
		if got != want {
			t.Errorf("refresh of %s = %v, want %v", c.HTML, got, want)
		}
	}
}

func TestRefreshContentSuite(t *testing.T) {
	t.Parallel()
	type row struct {
		Content string
		Want    *struct {
			Delay float64
			URL   string
		}
	}
	for _, c := range readLines[row](t, "conformance/html-refresh-base/wpt-meta-refresh.jsonl") {
		delay, ref, ok := ParseRefresh(c.Content)
		ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref) // as URL parsing does
		if ok != (c.Want != nil) || ok && (ref != c.Want.URL || delay != time.Duration(c.Want.Delay)*time.Second) {
			t.Errorf("ParseRefresh(%q) = %v, %q, %v, want %v", c.Content, delay, ref, ok, c.Want)
		}
	}
}

func TestBaseSuite(t *testing.T) {
	t.Parallel()
	type row struct {
		HTML    text
		PageURL string `json:"page_url"`
		Want    string
	}
	for _, c := range readLines[row](t, "conformance/html-refresh-base/w3lib-base.jsonl") {
		var at canon.URL
		if c.PageURL != "" {
			at = mustParse(t, c.PageURL)
		}
		want := ""
		if c.Want != "" {
			want = mustParse(t, c.Want).String()
		}
		if got := Page(c.HTML, "text/html", at, all).Base; got.String() != want {
			t.Errorf("base of %s = %q, want %q", c.HTML, got, want)
		}
	}
}

func TestEncodingSuite(t *testing.T) {
	t.Parallel()
	type row struct {
		HTML []byte `json:"html_b64"`
		Want string
	}
	rows := readLines[row](t, "conformance/html-encoding/cases.jsonl")
	for _, c := range rows {
		if got := Page(c.HTML, "text/html", canon.URL{}, all).Charset; got != c.Want {
			t.Errorf("charset of %.300q = %q, want %q", c.HTML, got, c.Want)
		}
	}
	t.Logf("%d cases", len(rows))
}
