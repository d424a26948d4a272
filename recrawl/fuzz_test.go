package recrawl

import (
	"bytes"
	"context"
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
		out := r.fetch("http://127.0.0.1/")
		if out.Kind == 0 || out.Kind == models.Interrupted || out.Kind == models.Failed && out.Class == models.ClassNone {
			t.Errorf("visit = %v %v (%s)", out.Kind, out.Class, out.Detail)
		}
		if !out.Kind.Observed() && (out.Body != nil || !out.Digest.IsZero()) {
			t.Errorf("%v left a body of %d bytes", out.Kind, len(out.Body))
		}
	})
}

// addressed is a pipe that has an address, as a connection has.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// FuzzGzipBody decodes anything under any label: in bounds, and nothing but whole bodies.
func FuzzGzipBody(f *testing.F) {
	f.Add("gzip", []byte(hostile.Gzipped("hello")))
	f.Add("deflate", []byte{0x4b, 0xcb, 0x07, 0x00})
	f.Add("gzip, deflate", []byte{0x78, 0x9c})
	f.Add("identity", []byte("plain"))
	f.Fuzz(func(t *testing.T, label string, raw []byte) {
		list, err := codings(http.Header{"Content-Encoding": {label}})
		if err != nil {
			return
		}
		caps := bodyCaps{wire: 1 << 16, decoded: 1 << 16, ratio: 200, ratioFrom: 1 << 12}
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
