package recrawl

import (
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// TestFault_048_HostileVersions holds two versions of pages made to be hard to read against each other: each is judged, or
// given up within its second and judged by its bytes.
func TestFault_048_HostileVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const many = 100_000
	for name, test := range map[string]struct{ kind, before, after string }{
		"10 MB":       {"text/html", strings.Repeat("<p>Some words of running text, as pages have it.", 220_000), "<p>Another word."},
		"one line":    {"text/html", strings.Repeat("word ", 2<<20), "other"},
		"depth":       {"text/html", strings.Repeat("<div>", many) + "one", "two"},
		"unclosed":    {"text/html", strings.Repeat("<b><i><a href=/x>", many) + "one", "two"},
		"tables":      {"text/html", strings.Repeat("<table><tr><td>", many/4) + "one", "two"},
		"attributes":  {"text/html", "<a " + strings.Repeat("b=c ", many) + "href=/x>one", "two"},
		"NULs":        {"text/html", strings.Repeat("\x00<p\x00>", many) + "one", "two"},
		"blocks":      {"text/html", strings.Repeat("<p>x", many), strings.Repeat("<p>y", many)},
		"UTF-16":      {"text/html; charset=utf-16le", strings.Repeat("<\x00p\x00>\x00a\x00", many), "b\x00"},
		"charset":     {"text/html; charset=utf-8", strings.Repeat("\xff\xfe\x80", many), "\xc3"},
		"JSON":        {"application/json", strings.Repeat(`{"a":[`, many) + "1", "2"},
		"JSON array":  {"application/json", "[" + strings.Repeat(`{"a":1},`, many) + "1]", "[2]"},
		"XML":         {"application/xml", strings.Repeat("<a>", many) + "one", "two"},
		"feed":        {"application/rss+xml", "<rss><channel>" + strings.Repeat("<item><title>x</title></item>", many), "<rss>"},
		"text":        {"text/plain", strings.Repeat("line\n", many), "other"},
		"PDF as HTML": {"text/html", "%PDF-1.7\n" + strings.Repeat("\x01\x02<<>>", many), "two"},
	} {
		t.Run(name, func(t *testing.T) {
			o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
				page(test.before+test.after, "Content-Type", test.kind), page(test.before+test.before[:40]+test.after, "Content-Type", test.kind))})
			l := newLife(t, func(c *Config, s *config.Settings) {
				c.Limits.Compare, s.BodyBytes, s.WireBytes = time.Second, 16<<20, 16<<20
			})
			wantKind(t, l.turn(o.URL("/")), models.First)
			began := machineNow()
			out := l.turn(o.URL("/"))
			took := machineNow().Sub(began)
			if !out.Kind.OtherBytes() && !(out.Kind == models.Failed && out.Class.Transient()) {
				t.Errorf("%v %v (%s)", out.Kind, out.Class, out.Detail)
			}
			if most := time.Minute; took > most { // on a busy machine, which the race detector makes busier
				t.Errorf("took %v, more than %v", took, most)
			}
			t.Logf("%v, %v, %v in %v", out.Kind, out.Class, out.Reasons, took.Round(time.Millisecond))
		})
	}
}
