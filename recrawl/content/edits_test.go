package content

import (
	"fmt"
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

// deploy is how a framework writes a page of a shop: with a print of the build in its classes, and with elements around it, or in each part of it,
// that a test of two designs, or a new release, adds.
type deploy struct{ build, open, end, in string }

func (d deploy) page(title, notice, box string) string {
	class := func(name, inner string) string {
		return "<div class=" + name + "_" + d.build + ">" + d.in + inner + "</div>"
	}
	if notice != "" {
		notice = class("Banner", notice)
	}
	return "<title>" + title + "</title><body><div id=__next>" + d.open + class("Layout", notice+class("Head", "<a href=/>Harbour</a><a href=/shop>Shop</a>")+
		class("Product", class("Text", "<h1>"+title+"</h1><p>A "+title+"</p>")+class("Box", box))+class("Foot", "<p>Harbour Street 5</p>")) + d.end + "</div>"
}

// What a shop says anew on all its short pages with a new release of itself, of which the classes or the elements are others, is a change of each, and
// none is taken back.
func TestWhatADeploySaysAnewIsAChange(t *testing.T) {
	t.Parallel()
	before := deploy{build: "x1yab"}
	for what, after := range map[string]deploy{
		"other classes":           {build: "k7wcd"},
		"other elements around":   {"k7wcd", "<div class=app><section>", "</section></div>", ""},
		"other elements in parts": {build: "k7wcd", in: "<section>"},
	} {
		for name, c := range map[string]struct{ notice, box, noticeNow, boxNow string }{
			"a status":              {"", "<p>In stock</p><p>Gift wrap</p>", "", "<p>Sold out</p><p>Gift wrap</p>"},
			"a status and its note": {"", "<p>In stock</p><p>Gift wrap</p>", "", "<p>Sold out</p><p>Ask for it</p>"},
			"no returns":            {"", "<p>Return it within a month</p><p>Gift wrap</p>", "", "<p>No returns</p><p>Gift wrap</p>"},
			"a strike":              {"", "<p>In stock</p>", "<h2>Strike</h2><p>No boat leaves the harbour.</p><p>We are sorry.</p><a href=/strike>More</a>", "<p>In stock</p>"},
			"its end":               {"<h2>Strike</h2><p>No boat leaves the harbour.</p><p>We are sorry.</p>", "<p>In stock</p>", "", "<p>In stock</p>"},
			"another job":           {"", "<ul><li><a href=/j/1>Baker wanted</a></ul>", "", "<ul><li><a href=/j/2>Driver wanted</a></ul>"},
			"two jobs":              {"", "<p>No open positions</p>", "", "<ul><li><a href=/j/1>Baker wanted</a><li><a href=/j/2>Driver wanted</a></ul>"},
			"a recall":              {"<p>Summer sale</p>", "<p>In stock</p>", "<p>Recall: do not use our lamps.</p>", "<p>In stock</p>"},
		} {
			host := &HostMemory{}
			for i := range 6 {
				title := fmt.Sprintf("Lamp %c", 'A'+i)
				v := Judge(Case{Before: read(t, before.page(title, c.notice, c.box)), After: read(t, after.page(title, c.noticeNow, c.boxNow)), Page: &PageMemory{},
					Host: host, Threshold: threshold, Now: noon.Add(time.Duration(i) * time.Hour), PageID: int64(i + 1)})
				if v.Kind != Change {
					t.Errorf("%s with %s: page %d is %v for %v", name, what, i, v.Kind, v.Reasons)
				}
			}
			for i := range 6 {
				if host.Withdraw(int64(i + 1)) {
					t.Errorf("%s with %s: page %d is taken back", name, what, i)
				}
			}
		}
	}
}
