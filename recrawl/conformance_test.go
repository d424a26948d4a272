package recrawl

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/internal/shared"
	"recrawld/models"
)

// TestCompressionSuite serves each body with its label.
func TestCompressionSuite(t *testing.T) {
	t.Parallel()
	type coded struct {
		Encoding        string `json:"content_encoding"`
		File, Want, Why string
	}
	for _, c := range readLines[coded](t, "conformance/compression/expected.jsonl") {
		t.Run(c.File, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(shared.Path(t, "conformance/compression"), c.File))
			if err != nil {
				t.Fatal(err)
			}
			o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, map[string]string{
				"Content-Encoding": c.Encoding, "Content-Type": "text/html"}, string(raw))})
			r := newRig(t, func(_ *Config, s *config.Settings) { s.BodyBytes = 64 << 20 })
			out := r.fetch(o.URL("/"))
			good := out.Kind == models.First
			switch {
			case strings.HasPrefix(c.Want, "ok-or"):
			case c.Want == "ok" && !good:
				t.Errorf("visit = %v %v (%s), want %s (%s)", out.Kind, out.Class, out.Detail, c.Want, c.Why)
			case c.Want == "too-large":
				wantFailed(t, out, models.BodyTooLarge)
			case strings.HasPrefix(c.Want, "error") && good && len(out.Body) > 0:
				t.Errorf("a body of %d bytes came through, want %s (%s)", len(out.Body), c.Want, c.Why)
			}
		})
	}
}

// known are the answers where we differ from a suite, each with the reason.
type known map[string]string

// check reports a difference that is not known, and a known one that is none any more.
func (k known) check(t *testing.T, id string, differs bool, what string) {
	t.Helper()
	reason, expected := k[id]
	switch {
	case differs && !expected:
		t.Errorf("%s: %s", id, what)
	case !differs && expected:
		t.Errorf("%s does not differ any more (%q): take it off the list", id, reason)
	}
}

// TestMalformedSuite sends each answer as it stands and hangs up. What strict parsers refuse must never be a version.
func TestMalformedSuite(t *testing.T) {
	t.Parallel()
	const lenient = "net/http reads over it; a response has no second reader who could be led to see another one"
	differences := known{
		"connection.md:HTTP/1.1 with keep-alive disabled, content-length": "what follows the body is not read, and the connection is closed",
		"invalid.md:Bare CR after response line":                          lenient,
		"invalid.md:Bare CR followed by CR after response line":           lenient,
		"invalid.md:Extra space between HTTP version and status code":     lenient,
		"invalid.md:Only LFs present":                                     "RFC 9112 section 2.2 lets a recipient take a bare LF for a line end",
		"transfer-encoding.md:Trailing space on chunked body":             "RFC 9112 section 7.1.1 lets white space stand before an extension",
		"transfer-encoding.md:No extension after semicolon":               "chunk extensions are skipped unread",
	}
	type answer struct {
		ID, Type string
		Raw      string `json:"raw_b64"`
		Error    *string
	}
	for _, c := range readLines[answer](t, "conformance/http-malformed/llhttp-responses.jsonl") {
		raw, err := base64.StdEncoding.DecodeString(c.Raw)
		if err != nil {
			t.Fatal(err)
		}
		o := listen(t, map[string]hostile.Answer{"/": hostile.Raw(string(raw))})
		out := newRig(t, nil).fetch(o.URL("/"))
		stored := out.Kind == models.First
		differs := out.Took > 5*time.Second || !stored && out.Kind.Observed() ||
			c.Type == "response" && c.Error != nil && stored
		differences.check(t, c.ID, differs, fmt.Sprintf("visit = %v %v (%s) in %v, %d bytes", out.Kind, out.Class,
			out.Detail, out.Took, len(out.Body)))
	}
}

// TestContentLengthSuite compares the lengths read with those that browsers read.
func TestContentLengthSuite(t *testing.T) {
	t.Parallel()
	const refused = "browsers read to the end of the connection; a length that is no plain number is refused here"
	const repeated = "browsers take a list of equal lengths for one; net/http refuses it"
	differences := known{
		"Content-Length: 42,42": repeated, "Content-Length: 42\r\nContent-Length: 42,42": repeated,
		"Content-Length: 30,30": repeated, "Content-Length: 30\r\nContent-Length: 30,30": repeated,
		"Content-Length: aaaah": refused, "Content-Length: aaaah\r\nContent-Length: aaaah": refused,
		"Content-Length: aaaah, aaaah": refused, "Content-Length: 42s": refused, "Content-Length: 30s": refused,
		"Content-Length: -1": refused, "Content-Length: 0x20": refused,
	}
	type lengths struct {
		Headers string
		Browser *int `json:"browser_body_len"`
	}
	body := strings.Repeat("x", 42)
	for _, c := range readLines[lengths](t, "conformance/http-malformed/wpt-content-length.jsonl") {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Raw("HTTP/1.1 200 OK\r\nConnection: close\r\n" + c.Headers + "\r\n\r\n" + body)})
		out := newRig(t, nil).fetch(o.URL("/"))
		got, want := "none", "none"
		if out.Kind == models.First {
			got = fmt.Sprint(len(out.Body))
		}
		if c.Browser != nil {
			want = fmt.Sprint(*c.Browser)
		}
		differences.check(t, c.Headers, got != want, fmt.Sprintf("read %s bytes (%s), browsers %s", got, out.Detail, want))
	}
}
