package recrawl

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
	"recrawld/recrawl/extract"
)

func TestFault_058_FreshUntil(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	for _, test := range []struct {
		name   string
		fields []string
		want   time.Duration
	}{
		{"nothing", nil, 0},
		{"max-age", []string{"Cache-Control", "public, max-age=60"}, time.Minute},
		{"case and quotes", []string{"Cache-Control", `MAX-AGE="60"`}, time.Minute},
		{"max-age over Expires", []string{"Cache-Control", "max-age=60", "Expires", "Thu, 01 Jan 2026 01:00:00 GMT"}, time.Minute},
		{"max-age=0 over Expires", []string{"Cache-Control", "max-age=0", "Expires", "Thu, 01 Jan 2026 01:00:00 GMT"}, 0},
		{"s-maxage is for others", []string{"Cache-Control", "s-maxage=60"}, 0},
		{"the first of two", []string{"Cache-Control", "max-age=60, max-age=3600"}, time.Minute},
		{"a name within quotes", []string{"Cache-Control", `x="a, max-age=5", max-age=60`}, time.Minute},
		{"no-cache", []string{"Cache-Control", "max-age=60, no-cache"}, 0},
		{"no-store", []string{"Cache-Control", "no-store, max-age=60"}, 0},
		{"negative", []string{"Cache-Control", "max-age=-1"}, 0},
		{"garbage", []string{"Cache-Control", "max-age=1h"}, 0},
		{"10^20", []string{"Cache-Control", "max-age=100000000000000000000"}, week},
		{"less its age", []string{"Cache-Control", "max-age=3600", "Age", "600"}, 50 * time.Minute},
		{"older than it may be", []string{"Cache-Control", "max-age=3600", "Age", "2147483648"}, 0},
		{"an age that is none", []string{"Cache-Control", "max-age=3600", "Age", "-60"}, time.Hour},
		{"Expires", []string{"Expires", "Thu, 01 Jan 2026 01:00:00 GMT"}, time.Hour},
		{"Expires by its own Date", []string{"Date", "Wed, 01 Jan 2020 00:00:00 GMT", "Expires", "Wed, 01 Jan 2020 02:00:00 GMT"}, 2 * time.Hour},
		{"Expires 0", []string{"Expires", "0"}, 0},
		{"Expires in the past", []string{"Expires", "Thu, 01 Jan 1970 00:00:00 GMT"}, 0},
		{"Expires in 2999", []string{"Expires", "Tue, 01 Jan 2999 00:00:00 GMT"}, week},
		{"Expires in 9999 by a Date of 1", []string{"Date", "Mon, 01 Jan 0001 00:00:00 GMT", "Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}, week},
		{"Expires in 1, of an answer with an age", []string{"Expires", "Mon, 01 Jan 0001 00:00:00 GMT", "Age", "10"}, 0},
		{"two Expires", []string{"Expires", "Thu, 01 Jan 2026 01:00:00 GMT", "Expires", "Thu, 01 Jan 2026 02:00:00 GMT"}, 0},
	} {
		var want time.Time
		if test.want > 0 {
			want = today.Add(test.want)
		}
		if got := freshUntil(headers(test.fields...), today, week); !got.Equal(want) {
			t.Errorf("%s: freshUntil = %v, want %v", test.name, got, want)
		}
		if got := freshUntil(headers(test.fields...), today, 0); !got.IsZero() {
			t.Errorf("%s: with hints off freshUntil = %v", test.name, got)
		}
	}
}

// headers makes a header of names and values in turn.
func headers(fields ...string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(fields); i += 2 {
		header.Add(fields[i], fields[i+1])
	}
	return header
}

// TestHeaderValues holds the header parsers to the table of header values.
func TestHeaderValues(t *testing.T) {
	t.Parallel()
	type value struct {
		Header, Value, Why string
		Want               json.RawMessage
	}
	const most = 24 * time.Hour
	for _, c := range readLines[value](t, "conformance/http-dates/header-values.jsonl") {
		header := http.Header{http.CanonicalHeaderKey(c.Header): {strings.TrimSpace(c.Value)}} // as net/http delivers it
		got := headerValue(c.Header, header, most)
		var word string
		var number float64
		switch {
		case json.Unmarshal(c.Want, &number) == nil && string(c.Want) != "null":
			word = time.Duration(number * float64(time.Second)).String()
		case string(c.Want) == "null":
			word = "none"
		default:
			if err := json.Unmarshal(c.Want, &word); err != nil {
				t.Fatal(err)
			}
		}
		if !meets(got, word, c.Value, most) {
			t.Errorf("%s: %q = %s, want %s (%s)", c.Header, c.Value, got, word, c.Why)
		}
	}
}

// headerValue is what our parsers make of a header: a duration, "none", or a string to send back.
func headerValue(name string, header http.Header, most time.Duration) string {
	switch name {
	case "retry-after":
		if at := RetryAfter(header, today, most); !at.IsZero() {
			return at.Sub(today).String()
		}
		return "none"
	case "expires", "cache-control":
		if at := freshUntil(header, today, most); !at.IsZero() {
			return at.Sub(today).String()
		}
		return "stale"
	case "age":
		age, _ := deltaSeconds(header.Get("Age"))
		return min(age, most).String()
	case "date":
		header.Set("Cache-Control", "max-age=60")
		return freshUntil(header, today, most).Sub(today).String()
	case "etag":
		return validator(header, "ETag")
	}
	return validator(header, "Last-Modified")
}

func meets(got, want, value string, most time.Duration) bool {
	switch want {
	case "cap":
		return got == most.String()
	case "echo":
		return got == value
	case "echo-or-none":
		return got == value || got == ""
	case "none":
		return got == "none" || got == ""
	case "stale-or-60":
		return got == "stale" || got == "1m0s"
	case "policy":
		return true
	case "receipt-time":
		return got == "1m0s"
	case "ignore-as-evidence":
		return got == value // kept as a validator and used for nothing else
	}
	return got == want
}

func TestRobotsTag(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []string
		want   extract.Directives
	}{
		{nil, extract.Directives{}},
		{[]string{"noindex, NoFollow"}, extract.Directives{NoIndex: true, NoFollow: true}},
		{[]string{"none", "noarchive"}, extract.Directives{NoIndex: true, NoFollow: true, NoArchive: true}},
		{[]string{"googlebot: noindex"}, extract.Directives{}},
		{[]string{"Recrawld: noindex", "otherbot: nofollow"}, extract.Directives{NoIndex: true}},
		{[]string{"unavailable_after: 25 Jun 2010 15:00:00 PST"}, extract.Directives{NoIndex: true, NoArchive: true}},
		{[]string{"unavailable_after: Wed, 03 Jun 2099 15:00:00 GMT"}, extract.Directives{}},
		{[]string{"noindex, unavailable_after: 2010-01-01"}, extract.Directives{NoIndex: true, NoArchive: true}},
		{[]string{"googlebot: unavailable_after: 2010-01-01"}, extract.Directives{}},
		{[]string{"recrawld: unavailable_after: 2010-01-01"}, extract.Directives{NoIndex: true, NoArchive: true}},
		{[]string{"unavailable_after: some day"}, extract.Directives{}},
		{[]string{"max-image-preview: large, unavailable_after: 2010-01-01"}, extract.Directives{NoIndex: true, NoArchive: true}},
		{[]string{strings.Repeat("\xfc", 50) + ", unavailable_after: 2010-01-01"}, extract.Directives{NoIndex: true, NoArchive: true}},
		{[]string{"max-snippet: 5, noarchive"}, extract.Directives{NoArchive: true}},
	} {
		got := RobotsTag(http.Header{"X-Robots-Tag": test.values}, "recrawld", today)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("RobotsTag(%q) (-want +got):\n%s", test.values, diff)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, want string
		most     int
	}{
		{" plain ", "plain", 10}, {"a\x00b\r\nc", "a b  c", 10}, {"\xff", "\uFFFD", 10}, {"ääää", "ää", 5}, {"", "", 0},
		{"abcdef", "abc", 3}, {"x\u0085y", "x y", 9},
	} {
		if got := clean(test.in, test.most); got != test.want {
			t.Errorf("clean(%q, %d) = %q, want %q", test.in, test.most, got, test.want)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	digest := func(s string) models.Digest { return models.DigestOf([]byte(s)) }
	a := Copy{Digest: digest("a"), TextDigest: digest("text")}
	for _, test := range []struct {
		name           string
		held, received Copy
		want           models.OutcomeKind
	}{
		{"no copy", Copy{}, a, models.First},
		{"same bytes", a, a, models.SameBytes},
		{"same text", a, Copy{Digest: digest("b"), TextDigest: digest("text")}, models.SameText},
		{"other text", a, Copy{Digest: digest("b"), TextDigest: digest("other")}, models.Changed},
		{"the text is gone", a, Copy{Digest: digest("b")}, models.Changed},
		{"neither has text", Copy{Digest: digest("a")}, Copy{Digest: digest("b")}, models.Changed},
	} {
		if got := Detect(test.held, test.received); got != test.want {
			t.Errorf("%s: Detect = %v, want %v", test.name, got, test.want)
		}
	}
}

// FuzzHeaders: whatever the headers say, no time lies outside its bounds and every validator can be sent.
func FuzzHeaders(f *testing.F) {
	f.Add("max-age=60", "Thu, 01 Jan 2026 01:00:00 GMT", "60", `W/"x"`, "unavailable_after: 2010-01-01")
	f.Add("max-age=99999999999999999999", "0", "-1", "\xff", "recrawld: none")
	f.Add(`a="`, "Thursday, 01-Jan-70 00:00:00 GMT", "1e3", "", "a:b:c,")
	const most = 7 * 24 * time.Hour
	f.Fuzz(func(t *testing.T, control, date, number, etag, tag string) {
		header := http.Header{"Cache-Control": {control}, "Expires": {date}, "Date": {number}, "Age": {number},
			"Etag": {etag}, "Last-Modified": {date}, "X-Robots-Tag": {tag}, "Content-Type": {tag}}
		if at := freshUntil(header, today, most); !at.IsZero() && (!at.After(today) || at.After(today.Add(most))) {
			t.Errorf("freshUntil = %v", at)
		}
		for _, value := range []string{date, number} {
			at := RetryAfter(http.Header{"Retry-After": {value}, "Date": {date}}, today, most)
			if !at.IsZero() && (at.Before(today) || at.After(today.Add(most))) {
				t.Errorf("RetryAfter(%q) = %v", value, at)
			}
		}
		e, l := validators(header)
		if !utf8.ValidString(e+l) || strings.ContainsAny(e+l, "\x00\r\n") {
			t.Errorf("validators %q, %q cannot be stored", e, l)
		}
		RobotsTag(header, "recrawld", today)
		if kind := mediaType(header); !utf8.ValidString(kind) || len(kind) > 127 {
			t.Errorf("mediaType = %q", kind)
		}
	})
}

func TestTagOfAnyContent(t *testing.T) {
	t.Parallel()
	if etag, _ := validators(http.Header{"Etag": {"*"}}); etag != "" {
		t.Errorf("the tag %q is held: the condition on it holds for whatever the page is", etag)
	}
	header := http.Header{}
	setIf(header, "If-None-Match", "*")
	if len(header) > 0 {
		t.Errorf("conditions = %v", header)
	}
}
