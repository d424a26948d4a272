package recrawl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// FuzzHTTPResponse lets a server say anything at all: the visit ends with a kind, and a failure leaves no body.
func FuzzHTTPResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + hostile.Gzipped("<a href=x>"),
		"HTTP/1.1 302 Found\r\nLocation: \xff://\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", "HTTP/1.1 101 X\r\n\r\n",
		"HTTP/1.1 429 No\r\nRetry-After: 99999999999999999999\r\n\r\n", "\x16\x03\x01",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := newRig(t, func(_ *Config, s *config.Settings) { s.PageTime = 5 * time.Second })
		r.answers(raw)
		out := r.fetch("http://127.0.0.1/")
		if out.Kind == 0 || out.Kind == models.Interrupted || out.Kind == models.Failed && out.Class == models.ClassNone {
			t.Errorf("visit = %v %v (%s)", out.Kind, out.Class, out.Detail)
		}
		if !out.Kind.Observed() && (out.Body != nil || !out.Digest.IsZero()) {
			t.Errorf("%v left a body of %d bytes", out.Kind, len(out.Body))
		}
	})
}

// answers has whatever is asked for answered with these bytes, over a pipe in place of the network.
func (r *rig) answers(raw []byte) {
	r.fetcher.dialer.connect = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			request := make([]byte, 4096)
			if _, err := theirs.Read(request); err != nil {
				return
			}
			_, _ = theirs.Write(raw) // an error means that the visit has seen enough
		}()
		return addressed{ours}, nil
	}
}

// FuzzSecondAnswer holds two answers of a page against each other, whatever they hold: the same body is the same page,
// another is never nothing, what does not replace the copy leaves no body, and nothing panics.
func FuzzSecondAnswer(f *testing.F) {
	f.Add("text/html", []byte(edition(1)), []byte(edition(2)))
	f.Add("text/html; charset=utf-16", []byte(edition(1)), []byte("<form><input type=password>"))
	f.Add("application/json", []byte(`{"a":[1,{"b":"é"}]}`), []byte(`{"a":[2,`))
	f.Add("application/rss+xml", []byte("<rss><channel><item><title>a</title></item></channel></rss>"), []byte("<rss>"))
	f.Add("text/plain", []byte("one\ntwo\n"), []byte("\x00\xff"))
	f.Add("image/png", []byte("\x89PNG"), []byte("\x89PNG\r\n"))
	f.Add("", []byte("<p>x"), []byte("%PDF-1.7"))
	f.Fuzz(func(t *testing.T, kind string, before, after []byte) {
		if !sendable(kind) || len(before)+len(after) > 1<<16 || len(before) == 0 {
			return
		}
		l := newLife(t, nil)
		visit := func(body []byte) models.Outcome {
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", kind, len(body))
			l.answers(append([]byte(head), body...))
			return l.turn("http://127.0.0.1/")
		}
		if out := visit(before); out.Kind != models.First {
			return // the header was not one
		}
		wantKind(t, visit(before), models.SameBytes)
		out := visit(after)
		replaced := out.Kind.OtherBytes()
		switch {
		case bytes.Equal(before, after):
			wantKind(t, out, models.SameBytes)
		case replaced && !bytes.Equal(out.Body, after), !replaced && out.Body != nil:
			t.Errorf("%v left a body of %d bytes", out.Kind, len(out.Body))
		case !replaced && out.Kind != models.Failed, out.Kind == models.Failed && !out.Class.Transient() && out.Class != models.EmptyBody:
			t.Errorf("another body is %v %v (%s)", out.Kind, out.Class, out.Detail)
		case out.Significance < 0 || out.Significance > 1, out.Kind == models.Changed && out.Reasons == 0:
			t.Errorf("%v of significance %v, %v", out.Kind, out.Significance, out.Reasons)
		}
	})
}

// addressed is a pipe that has an address, as a connection has.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// FuzzGzipBody decodes anything under any label: in bounds, and nothing but whole bodies.
func FuzzGzipBody(f *testing.F) {
	f.Add("gzip", int64(0), []byte(hostile.Gzipped("hello")))
	f.Add("deflate", int64(8), []byte{0x4b, 0xcb, 0x07, 0x00})
	f.Add("gzip, deflate", int64(-1), []byte{0x78, 0x9c})
	for expected := range int64(8) {
		f.Add("identity", expected, []byte("plain"))
	}
	f.Fuzz(func(t *testing.T, label string, expected int64, raw []byte) {
		list, err := codings(http.Header{"Content-Encoding": {label}})
		if err != nil {
			return
		}
		caps := bodyCaps{wire: 1 << 16, decoded: 1 << 16, ratio: 200, ratioFrom: 1 << 12, expected: expected}
		wire := &counter{from: bytes.NewReader(raw), limit: caps.wire}
		body, err := readBody(wire, list, caps)
		switch {
		case err != nil && body != nil:
			t.Errorf("%v left %d bytes", err, len(body))
		case int64(len(body)) > caps.decoded:
			t.Errorf("decoded %d bytes, cap %d", len(body), caps.decoded)
		case err == nil && len(list) == 0 && !bytes.Equal(body, raw):
			t.Errorf("a plain body came out changed")
		case err != nil && err != io.EOF:
			if _, named := bodyClass(err); !named {
				t.Errorf("no class for %v", err)
			}
		}
	})
}
