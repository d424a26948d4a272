package recrawl

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
)

// BenchmarkCompare is what a visit costs beyond the ladder's cheap rungs where the text of a page of 170 KB differs: both
// versions are read and judged. Reading them from the archive comes beside it.
func BenchmarkCompare(b *testing.B) {
	at, err := canon.Parse("https://example.org/")
	if err != nil {
		b.Fatal(err)
	}
	var main strings.Builder
	for main.Len() < 165_000 {
		main.WriteString(terms("12 pounds"))
	}
	body := framed("Terms", main.String(), 1)
	changed := strings.Replace(body, "thirty days", "sixty days", 1)
	c := newComparer(time.Minute, slog.New(slog.DiscardHandler))
	host := newHostMemories().of(&models.Host{ID: 1})
	if err := host.load(b.Context(), newKept()); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.compare(b.Context(), question{before: side{[]byte(body), "text/html"}, after: side{[]byte(changed), "text/html"},
			host: host, threshold: 0.5, now: today, page: 1, url: at})
		if err != nil {
			b.Fatal(err)
		}
	}
}
