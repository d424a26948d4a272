package recrawl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"recrawld/internal/hostile"
	"recrawld/models"
)

// cacheCase is a case of the HTTP cache tests: what a server answers to each request, and whether a cache asks again.
type cacheCase struct {
	ID, Suite, Kind string
	Requests        []struct {
		ResponseHeaders [][]any `json:"response_headers"`
		ResponseStatus  []any   `json:"response_status"`
		RequestHeaders  [][]any `json:"request_headers"`
		Expected        string  `json:"expected_type"`
		Pause           bool    `json:"pause_after"`
		Disconnect      bool
	}
}

// cachePause is how long the suite waits where it pauses.
const cachePause = 3 * time.Second

// TestCacheSuite takes the visitor for the cache: an answer it calls fresh is one that a cache would not ask for again,
// and a cache that asks again sends the validators it holds. Cases in which the client sends conditions or directives
// of its own, or the server says other than 200, are not about us.
func TestCacheSuite(t *testing.T) {
	t.Parallel()
	suites := []string{"cc-freshness", "cc-parse", "cc-response", "expires", "expires-parse", "age-parse", "conditional-inm",
		"conditional-lm", "update304"}
	const private = "we are no shared cache: s-maxage is not for us"
	differences := known{
		"freshness-max-age-s-maxage-shared-longer-reversed": private, "freshness-max-age-s-maxage-shared-shorter": private,
		"freshness-max-age-s-maxage-shared-shorter-expires": private,

		"freshness-max-age-two-stale-fresh-sepline": "of two the first counts, or none (RFC 9111 section 4.2.1)",
		"freshness-max-age-decimal-zero":            "a number of seconds is digits alone; what is none is stale",
		"freshness-max-age-100a":                    "a number of seconds is digits alone; what is none is stale",
		"freshness-expires-wrong-case-tz":           "GMT is upper case in all forms of a date (RFC 9110 section 5.6.7)",
	}
	played := 0
	for _, c := range readLines[cacheCase](t, "conformance/http-cache/cases.jsonl") {
		if !slices.Contains(suites, c.Suite) || len(c.Requests) < 2 || len(c.Requests[0].ResponseStatus) > 0 ||
			len(c.Requests[0].RequestHeaders)+len(c.Requests[1].RequestHeaders) > 0 || c.Requests[1].Expected == "" {
			continue
		}
		played++
		got := playCache(t, &c)
		differences.check(t, c.ID, got != c.Requests[1].Expected, fmt.Sprintf("%s (%s): %s, want %s", c.Suite, c.Kind, got,
			c.Requests[1].Expected))
	}
	t.Logf("played %d cases", played)
	if played < 30 {
		t.Errorf("only %d cases apply", played)
	}
}

// playCache visits twice and says what a cache would have done at the second request.
func playCache(t *testing.T, c *cacheCase) string {
	t.Helper()
	header := cacheHeader(t, c.Requests[0].ResponseHeaders)
	header.Del("Content-Length") // the answer has its own
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
	for name, values := range header {
		for _, value := range values {
			answer += name + ": " + value + "\r\n"
		}
	}
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(hostile.Raw(answer+"\r\nhello"),
		hostile.Raw("HTTP/1.1 304 Not Modified\r\n\r\n"))})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	out := r.visit(page)
	if out.Kind != models.First {
		return fmt.Sprintf("%v %v (%s)", out.Kind, out.Class, out.Detail)
	}
	asked := today
	if c.Requests[0].Pause {
		asked = asked.Add(cachePause)
	}
	if out.FreshUntil.After(asked) {
		return "cached"
	}
	r.visit(after(page, out))
	switch second := o.Requests()[1].Header; {
	case second.Get("If-None-Match") != "" && second.Get("If-None-Match") == header.Get("ETag"):
		return "etag_validated"
	case second.Get("If-Modified-Since") != "" && second.Get("If-Modified-Since") == header.Get("Last-Modified"):
		return "lm_validated"
	}
	return "not_cached"
}

// cacheHeader reads the suite's form of header fields: a number as the value of a date is seconds from now.
func cacheHeader(t *testing.T, fields [][]any) http.Header {
	t.Helper()
	header := http.Header{}
	for _, field := range fields {
		name := field[0].(string)
		switch value := field[1].(type) {
		case string:
			header.Add(name, value)
		case float64:
			header.Add(name, today.Add(time.Duration(value)*time.Second).Format(http.TimeFormat))
		default:
			raw, _ := json.Marshal(field)
			t.Fatalf("field %s", raw)
		}
	}
	return header
}
