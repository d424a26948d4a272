package content

import (
	"strings"
	"testing"
	"time"
)

// editedPage is a page of a shop or a firm with a text, what stands beside it, and a footer.
func editedPage(title, main, aside string) string {
	return "<title>" + title + "</title><header><a href=/>Home</a></header><main><h1>" + title + "</h1>" + main + "</main><aside>" + aside +
		"</aside><footer><p>Imprint</p></footer>"
}

// What is said of one thing on a page and of another one after, or is no more said in the text, is a change, though the words are on the page
// before and after.
func TestWordsThatChangeTheirPlaceAreAChange(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Join(story(4), "<p>")
	for name, c := range map[string]struct{ main, aside, mainNow, asideNow string }{
		"two products exchange their prices": {"<p>17 €", "<p>Other model<p>19 €", "<p>19 €", "<p>Other model<p>17 €"},
		"two exchange their states":          {"<p>Available", "<p>Sold out", "<p>Sold out", "<p>Available"},
		"a headline becomes the text's":      {"", "<p>Board resigns over accounts<p>Other", "<p>Board resigns over accounts", "<p>Other"},
		"a fee is only told of beside it":    {"<p>We charge a fee of 5 € for each letter by post.", "<p>x", "", "<p>x<p>We charge a fee of 5 € for each letter by post."},
	} {
		if v := judgePages(t, editedPage("T", text+c.main, c.aside), editedPage("T", text+c.mainNow, c.asideNow)); v.Kind != Change {
			t.Errorf("%s: %v for %v, want a change", name, v.Kind, v.Reasons)
		}
	}
}

// What several short pages say anew within a day is a change of each, and none is taken back.
func TestShortPagesTellTheSameNews(t *testing.T) {
	t.Parallel()
	jobs := "<ul><li><a href=/j/1>Baker wanted in Berlin</a><li><a href=/j/2>Driver wanted in Berlin</a></ul>"
	for name, pages := range map[string][][2]string{
		"a price":        {{"<p>A lamp.<p>17 €", "<p>A lamp.<p>18 €"}, {"<p>Lamp<p>17 €<p>Bulb<p>3 €", "<p>Lamp<p>18 €<p>Bulb<p>3 €"}},
		"the first jobs": {{"<p>No open positions", jobs}, {"<p>No open positions", jobs}},
	} {
		host, memories := &HostMemory{}, []*PageMemory{{}, {}}
		judge := func(i int, before, after string, at time.Time) Verdict {
			title := []string{"Lamps and jobs", "Jobs and lamps"}[i]
			return Judge(Case{Before: read(t, editedPage(title, before, "<p>x")), After: read(t, editedPage(title, after, "<p>x")), Page: memories[i], Host: host,
				Threshold: threshold, Now: at, PageID: int64(i + 1)})
		}
		for i, p := range pages {
			if v := judge(i, p[0], p[1], noon.Add(time.Duration(i)*time.Minute)); v.Kind != Change {
				t.Errorf("%s on page %d: %v for %v, want a change", name, i, v.Kind, v.Reasons)
			}
		}
		for i, p := range pages {
			if v := judge(i, p[1], p[1]+"<!-- -->", noon.Add(time.Hour)); v.Retract {
				t.Errorf("%s: the change of page %d is taken back", name, i)
			}
		}
	}
}
