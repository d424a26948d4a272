package recrawl

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

const revised = "Thu, 01 Jan 2026 00:00:00 +0000" // not a date by the standard: it must come back as it is

func TestConditionalVisits(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
		hostile.Whole(200, map[string]string{"ETag": `W/"1"`, "Last-Modified": revised}, "<p>one"),
		hostile.Raw("HTTP/1.1 304 Not Modified\r\nETag: W/\"2\"\r\nCache-Control: max-age=60\r\n\r\n"),
		hostile.Raw("HTTP/1.1 304 Not Modified\r\n\r\n"),
		hostile.Whole(200, nil, "<p>two"),
		hostile.Whole(200, nil, "<p>two"),
	)})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	out := r.visit(page)
	wantBody(t, out, "<p>one")
	page = after(page, out)

	out = r.visit(page)
	wantKind(t, out, models.NotModified)
	if out.ETag != `W/"2"` || out.LastModified != revised || out.Body != nil {
		t.Errorf("after a 304: ETag %q, Last-Modified %q, body %q", out.ETag, out.LastModified, out.Body)
	}
	if want := today.Add(time.Minute); !out.FreshUntil.Equal(want) {
		t.Errorf("FreshUntil = %v, want %v", out.FreshUntil, want)
	}
	page.ETag = out.ETag
	out = r.visit(page)
	wantKind(t, out, models.NotModified)
	if out.ETag != `W/"2"` {
		t.Errorf("a 304 without an ETag left %q", out.ETag)
	}
	out = r.visit(page)
	wantKind(t, out, models.Changed)
	page = after(page, out)
	wantKind(t, r.visit(page), models.SameBytes)
	wantConditions(t, o, []string{" | ", `W/"1" | ` + revised, `W/"2" | ` + revised, `W/"2" | ` + revised, " | "})
}

// wantConditions checks the conditions of the requests so far.
func wantConditions(t *testing.T, o *hostile.Origin, want []string) {
	t.Helper()
	var got []string
	for _, asked := range o.Requests() {
		got = append(got, asked.Header.Get("If-None-Match")+" | "+asked.Header.Get("If-Modified-Since"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestFault_051_NotModifiedWithBody(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
		hostile.Whole(200, map[string]string{"ETag": `"1"`}, "<p>one"),
		func(c *hostile.Conn) { c.Send("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello") },
		hostile.Whole(200, nil, "<p>two"),
	)})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	page = after(page, r.visit(page))
	out := r.visit(page)
	wantKind(t, out, models.NotModified)
	if out.Body != nil {
		t.Errorf("a 304 brought the body %q", out.Body)
	}
	wantKind(t, r.visit(page), models.Changed)
}

func TestFault_052_NotModifiedUnasked(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Raw("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n")})
	wantFailed(t, newRig(t, nil).fetch(o.URL("/")), models.BadNotModified)
}

// TestTagOfAnotherCopy: a 304 that names another strong tag speaks of another copy (RFC 9111 section 4.3.4), and its
// validators would hide for ever what ours lacks.
func TestTagOfAnotherCopy(t *testing.T) {
	t.Parallel()
	const first, later = "Thu, 01 Jan 2026 00:00:00 GMT", "Fri, 02 Jan 2026 00:00:00 GMT"
	for _, test := range []struct{ named, etag, lastModified string }{
		{`"2"`, `"1"`, first}, {`"1"`, `"1"`, later}, {`"1-gzip"`, `"1-gzip"`, later}, {`W/"2"`, `W/"2"`, later}, {"", `"1"`, later},
	} {
		header := headers("Last-Modified", later)
		if test.named != "" {
			header.Set("ETag", test.named)
		}
		etag, lastModified := refreshed(&models.Page{ETag: `"1"`, LastModified: first}, header)
		if etag != test.etag || lastModified != test.lastModified {
			t.Errorf("after a 304 that names %s: %s, %s; want %s, %s", test.named, etag, lastModified, test.etag, test.lastModified)
		}
	}
}

func TestFault_054_ETagOfEachAnswerDiffers(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/": hostile.Then(hostile.Conditional("-", `"1"`, "<p>same"), hostile.Conditional("-", `"2"`, "<p>same")),
		// Apache names the compressed form "…-gzip" and then knows the plain one only.
		"/gzip": hostile.Conditional(`"abc"`, `"abc-gzip"`, "<p>packed"),
	})
	r := newRig(t, nil)
	for path, want := range map[string]string{"/": `"2"`, "/gzip": `"abc-gzip"`} {
		page := pageOf(t, o.URL(path))
		page = after(page, r.visit(page))
		out := r.visit(page)
		wantKind(t, out, models.SameBytes)
		if out.ETag != want || out.Body != nil || out.Digest != page.Digest {
			t.Errorf("%s: ETag %q, want %q; body %q; same digest %v", path, out.ETag, want, out.Body, out.Digest == page.Digest)
		}
	}
}

func TestFault_055_SameETagOtherBytes(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
		hostile.Whole(200, map[string]string{"ETag": `"1"`}, "<p>one"), hostile.Whole(200, map[string]string{"ETag": `"1"`}, "<p>two"))})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	page = after(page, r.visit(page))
	wantKind(t, r.visit(page), models.Changed)
}

func TestFault_056_ETags(t *testing.T) {
	t.Parallel()
	for etag, want := range map[string]string{
		`W/"weak"`:                             `W/"weak"`,
		`unquoted`:                             `unquoted`,
		`""`:                                   `""`,
		`"` + strings.Repeat("x", 9<<10) + `"`: "",
		"\"caf\xc3\xa9\"":                      "\"caf\xc3\xa9\"",
		"\"caf\xe9\"":                          "",
	} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, map[string]string{"ETag": etag}, "<p>x")})
		r := newRig(t, nil)
		page := pageOf(t, o.URL("/"))
		out := r.visit(page)
		if out.ETag != want {
			t.Errorf("ETag %.40q is kept as %.40q, want %.40q", etag, out.ETag, want)
		}
		wantKind(t, r.visit(after(page, out)), models.SameBytes)
		if got := o.Requests()[1].Header.Get("If-None-Match"); got != want {
			t.Errorf("ETag %.40q comes back as %.40q", etag, got)
		}
	}
}

func TestFault_066_RefusalsKeepTheCopy(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(403, map[string]string{"ETag": `"403"`}, "<a href=/login>")})
	page := pageOf(t, o.URL("/"))
	page.Digest, page.Version, page.ETag = models.DigestOf([]byte("good")), 1, `"good"`
	out := newRig(t, nil).visit(page)
	wantFailed(t, out, models.Refused)
	if out.ETag != "" || out.Links != nil {
		t.Errorf("an error page gave the ETag %q and %d links", out.ETag, len(out.Links))
	}
}

func TestFault_065_MissingAndGone(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/gone": hostile.Whole(410, nil, "gone")})
	r := newRig(t, nil)
	for path, want := range map[string]models.OutcomeKind{"/missing": models.Missing, "/gone": models.Gone} {
		out := r.fetch(o.URL(path))
		wantKind(t, out, want)
		if out.Body != nil || !out.Digest.IsZero() {
			t.Errorf("%s left a body", path)
		}
	}
}

func TestFault_067_RetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"0": 0, "120": 2 * time.Minute, "315360000": 24 * time.Hour, "garbage": -1, "-5": -1, "": -1,
		"Thu, 01 Jan 2026 00:10:00 GMT": 10 * time.Minute, "Thu, 01 Jan 2099 00:00:00 GMT": 24 * time.Hour,
		"Thu, 01 Jan 1999 00:00:00 GMT": 0,
	} {
		for status, class := range map[int]models.ErrorClass{429: models.TooManyRequests, 503: models.ServerError} {
			o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(status, map[string]string{"Retry-After": value}, "")})
			out := newRig(t, nil).fetch(o.URL("/"))
			wantFailed(t, out, class)
			if want < 0 && !out.RetryAfter.IsZero() || want >= 0 && !out.RetryAfter.Equal(today.Add(want)) {
				t.Errorf("%d with Retry-After %q: wait until %v, want %v from %v", status, value, out.RetryAfter, want, today)
			}
		}
	}
}

func TestVisitIsInterrupted(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	o := listen(t, map[string]hostile.Answer{"/": func(c *hostile.Conn) { close(reached); c.Stall() }})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	page := pageOf(t, o.URL("/"))
	out := newRig(t, nil).turn(ctx, page, allowAll(t, page))
	wantKind(t, out, models.Interrupted)
	if out.Class != models.ClassNone {
		t.Errorf("an interrupted visit has the class %v", out.Class)
	}
}

func TestFullTurnAsksWithoutConditions(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Conditional(`"1"`, `"1"`, "<p>same")})
	r := newRig(t, func(_ *Config, s *config.Settings) { s.Parents = config.Parents{Threshold: 0.4, MaxSkips: 3} })
	page := pageOf(t, o.URL("/"))
	page = after(page, r.visit(page))
	page.FullAt, page.Stats.Records = models.At(today), 3
	turn := models.Turn{Robots: []models.Robots{allowAll(t, page)}, Now: today,
		Page: models.LeasedPage{Page: page, Share: models.ChildShare{Known: 10, Changed: 5}}}
	out := r.Visit(t.Context(), turn)
	wantKind(t, out, models.SameBytes)
	if !out.Unconditional || !out.Full || !out.LinksKnown || out.Threshold != 500 {
		t.Errorf("full turn: unconditional %v, full %v, links known %v, threshold %d", out.Unconditional, out.Full,
			out.LinksKnown, out.Threshold)
	}
	turn.Page.Share.Changed = 1
	out = r.Visit(t.Context(), turn)
	wantKind(t, out, models.Skipped)
	if n := len(o.Requests()); n != 2 || out.Sent != 0 {
		t.Errorf("a skipped turn made a request (%d in all, Sent %d)", n, out.Sent)
	}
}

// A page whose copy is lost is asked for without conditions, and its body kept, until it is there again: an answer without it changes nothing.
func TestALostCopyIsAskedForInFull(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
		hostile.Whole(200, map[string]string{"ETag": `"1"`}, "<p>one"),
		hostile.Whole(503, nil, ""),
		hostile.Whole(200, map[string]string{"ETag": `"1"`}, "<p>one"),
		hostile.Whole(200, map[string]string{"ETag": `"1"`}, "<p>one"),
	)})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	page = after(page, r.visit(page))
	page.Lost = true
	wantKind(t, r.visit(page), models.Failed)
	out := r.visit(page)
	wantKind(t, out, models.SameBytes)
	if string(out.Body) != "<p>one" {
		t.Errorf("the body of a copy that is lost is %q", out.Body)
	}
	page.Lost = false
	out = r.visit(page)
	wantKind(t, out, models.SameBytes)
	if out.Body != nil {
		t.Errorf("the body of a copy that is there was handed on: %q", out.Body)
	}
	wantConditions(t, o, []string{" | ", " | ", " | ", `"1" | `})
}
