package recrawl

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// BenchmarkVisitNotModified is what a conditional visit costs that is answered 304 over a kept connection, with the reading
// and writing of the server's side.
func BenchmarkVisitNotModified(b *testing.B) {
	origin := serve(b, []byte("HTTP/1.1 304 Not Modified\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"1\"\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\n\r\n"))
	v, turn := benchVisitor(b, origin)
	turn.Page.Page = models.Page{URL: origin + "page/1.html", ID: 1, SiteID: 1, State: models.StateLive, Digest: models.DigestOf([]byte("a")),
		Bytes: 8192, ETag: `"1"`, LastModified: "Wed, 01 Jan 2025 00:00:00 GMT", ContentType: "text/html", Version: 1}
	b.ReportAllocs()
	for b.Loop() {
		if out := v.Visit(b.Context(), turn); out.Kind != models.NotModified {
			b.Fatalf("visit = %v (%s), want not modified", out.Kind, out.Detail)
		}
	}
}

// benchVisitor is a visitor of one site, and a turn of it without a page.
func benchVisitor(b *testing.B, origin string) (*Visitor, models.Turn) {
	site := config.Site{ID: 1, Name: "test", URL: origin, Settings: config.DefaultSettings()}
	site.Settings.Audit, site.Settings.Probe = 0, 0
	compiled, err := scope.Compile(site)
	if err != nil {
		b.Fatal(err)
	}
	v, err := New(Config{Agent: config.Agent{Name: "recrawld", Contact: "https://example.net/bot"}, Version: "1.0",
		Network: config.Network{Allow: loopback}, Past: newKept(),
		Sites: func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, compiled, nil }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(v.Close)
	now := clock.System{}.Now()
	return v, models.Turn{Now: now, Robots: []models.Robots{{Origin: origin[:len(origin)-1], Status: 404,
		FetchedAt: models.At(now), GoodAt: models.At(now), ExpiresAt: models.At(now.Add(24 * time.Hour))}}}
}

// BenchmarkVisitFirst is what the first visit to a page costs that is answered over a kept connection, the server's side included: one of some 60 KB
// with a long text, and one whose whole text is looked through for the words of errors.
func BenchmarkVisitFirst(b *testing.B) {
	for name, main := range map[string]string{"long": strings.Repeat(terms("12 pounds"), 60), "short": strings.Repeat(terms("12 pounds"), 3)} {
		b.Run(name, func(b *testing.B) {
			body := framed("Terms", main, 1)
			origin := serve(b, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
			visitor, turn := benchVisitor(b, origin)
			turn.Page.Page = models.Page{URL: origin + "page/1.html", ID: 1, SiteID: 1, State: models.StateNew}
			b.ReportAllocs()
			for b.Loop() {
				if out := visitor.Visit(b.Context(), turn); out.Kind != models.First {
					b.Fatalf("visit = %v (%s), want first", out.Kind, out.Detail)
				}
			}
		})
	}
}

// serve answers every request with the same bytes, and allocates nothing for it.
func serve(b *testing.B, answer []byte) (origin string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for from := bufio.NewReader(conn); ; {
					line, err := from.ReadSlice('\n')
					if err != nil {
						return
					}
					if len(line) > 2 {
						continue
					}
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String() + "/"
}
