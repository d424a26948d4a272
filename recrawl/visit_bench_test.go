package recrawl

import (
	"bufio"
	"net"
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
	origin := serveNotModified(b)
	site := config.Site{ID: 1, Name: "test", URL: origin, Settings: config.DefaultSettings()}
	site.Settings.Audit = 0
	compiled, err := scope.Compile(site)
	if err != nil {
		b.Fatal(err)
	}
	v, err := New(Config{Agent: config.Agent{Name: "recrawld", Contact: "https://example.net/bot"}, Version: "1.0",
		Network: config.Network{Allow: loopback},
		Sites:   func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, compiled, nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	now := clock.System{}.Now()
	page := models.Page{URL: origin + "page/1.html", ID: 1, SiteID: 1, State: models.StateLive, Digest: models.DigestOf([]byte("a")),
		Bytes: 8192, ETag: `"1"`, LastModified: "Wed, 01 Jan 2025 00:00:00 GMT", ContentType: "text/html", Version: 1}
	turn := models.Turn{Page: models.LeasedPage{Page: page}, Now: now, Robots: []models.Robots{{Origin: origin[:len(origin)-1], Status: 404,
		FetchedAt: models.At(now), GoodAt: models.At(now), ExpiresAt: models.At(now.Add(24 * time.Hour))}}}
	b.ReportAllocs()
	for b.Loop() {
		if out := v.Visit(b.Context(), turn); out.Kind != models.NotModified {
			b.Fatalf("visit = %v (%s), want not modified", out.Kind, out.Detail)
		}
	}
}

// serveNotModified answers every request with 304, and allocates nothing for it.
func serveNotModified(b *testing.B) (origin string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	answer := []byte("HTTP/1.1 304 Not Modified\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"1\"\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\n\r\n")
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
