package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/recrawl/canon"
)

var growWords = []string{"Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliett", "Kilo", "Lima", "Mike", "November", "Oscar", "Papa"}

// TestGrowingPagesStayContent holds that new text beside what stays is a change each time, however often it comes.
func TestGrowingPagesStayContent(t *testing.T) {
	t.Parallel()
	words := growWords
	entry := func(n int) string {
		return fmt.Sprintf("%s came %s after %s", words[n%16], words[(n*7+3)%16], words[n/16%16])
	}
	dated := func(n int) string {
		return fmt.Sprintf("2026-03-%02d: fixed the %s of %s", n%28+1, words[n%16], words[(n*5+1)%16])
	}
	same := func(n int) string { return "Jim wrote: I agree with " + words[n%16] + words[n/16%16] }
	list := func(n int, of func(int) string, wrap func(string) string, most int, newestFirst bool) string {
		var lines []string
		for i := max(0, n-most); i < n; i++ {
			lines = append(lines, wrap(of(i)))
		}
		if newestFirst {
			slices.Reverse(lines)
		}
		return strings.Join(lines, "\n")
	}
	p := func(s string) string { return "<p>" + s + "</p>" }
	li := func(s string) string { return "<li>" + s + "</li>" }
	tr := func(s string) string { return "<tr><td>" + strings.ReplaceAll(s, " ", "</td><td>") + "</td></tr>" }
	h := func(s string) string {
		return "<h3>" + s + "</h3><p>What it says of " + s + " is more than a line can hold.</p>"
	}
	line := func(s string) string { return s }
	leaf := func(n int) string {
		return fmt.Sprintf(`{"id": %d, "text": "Said by %s"},`, n, words[n%16]+words[n/16%16])
	}
	item := func(s string) string {
		return "<item><title>" + s + "</title><link>http://a.example/" + strings.ReplaceAll(s, " ", "-") + "</link><description>Of " + s + "</description></item>"
	}
	for name, build := range map[string]func(n int) *View{
		"paragraphs":        func(n int) *View { return read(t, page("Log", list(n, entry, p, 1000, false))) },
		"dated paragraphs":  func(n int) *View { return read(t, page("Log", list(n, dated, p, 1000, false))) },
		"dated, newest 1st": func(n int) *View { return read(t, page("Log", list(n, dated, p, 1000, true))) },
		"alike":             func(n int) *View { return read(t, page("Log", list(n, same, p, 1000, false))) },
		"items": func(n int) *View {
			return read(t, page("Log", append(story(5), "<ul>"+list(n, entry, li, 1000, true)+"</ul>")...))
		},
		"rows": func(n int) *View {
			return read(t, page("Log", append(story(5), "<table>"+list(n, dated, tr, 1000, true)+"</table>")...))
		},
		"sections": func(n int) *View { return read(t, page("Log", list(n, entry, h, 1000, true))) },
		"rolling items": func(n int) *View {
			return read(t, page("Log", append(story(5), "<ul>"+list(n, dated, li, 10, true)+"</ul>")...))
		},
		"rolling sections": func(n int) *View { return read(t, page("Log", list(n, dated, h, 10, true))) },
		"rolling rows": func(n int) *View {
			return read(t, page("Log", append(story(5), "<table>"+list(n, dated, tr, 10, true)+"</table>")...))
		},
		"lines":         func(n int) *View { return plain("text/plain", list(n, dated, line, 1000, false)) },
		"rolling lines": func(n int) *View { return plain("text/plain", list(n, dated, line, 10, true)) },
		"rolling JSON":  func(n int) *View { return plain("application/json", "["+list(n, leaf, line, 10, true)+`"end"]`) },
		"rolling feed":  func(n int) *View { return feed(list(n, dated, item, 10, true)) },
		"growing feed":  func(n int) *View { return feed(list(n, entry, item, 1000, true)) },
	} {
		t.Run(name, func(t *testing.T) {
			grow(t, build)
		})
	}
}

// grow visits a page that has one entry more each day.
func grow(t *testing.T, build func(int) *View) {
	t.Helper()
	memory, host := &PageMemory{}, &HostMemory{}
	before := build(12)
	for n := 13; n < 40; n++ {
		memory, host = DecodePage(memory.Encode()), DecodeHost(host.Encode())
		after := build(n)
		v := Judge(Case{Before: before, After: after, Page: memory, Host: host, Threshold: threshold,
			Now: noon.Add(time.Duration(n) * 24 * time.Hour), PageID: 1, Records: int32(n - 11)})
		if v.Kind != Change || v.Significance < threshold {
			t.Fatalf("visit %d is %v for %v of %v", n-12, v.Kind, v.Reasons, v.Significance)
		}
		before = after
	}
}

func feed(items string) *View {
	body := `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://a.example/</link><description>All news</description>` + items + `</channel></rss>`
	return Read([]byte(body), "application/rss+xml", canon.URL{}, nil)
}

func plain(kind, body string) *View { return Read([]byte(body), kind, canon.URL{}, nil) }
