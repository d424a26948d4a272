package content

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// TestTeasersAreLearned holds that a place that changes on every visit is noise from some visit on, and that a paragraph
// beside it is not.
func TestTeasersAreLearned(t *testing.T) {
	t.Parallel()
	build := func(n int, edit string) *View {
		paragraphs := append(story(8), edit)
		return read(t, strings.Replace(page("Terms", paragraphs...), "</main>",
			fmt.Sprintf("<div class=teaser>Read about the %s today</div></main>", strings.Repeat("x", n+1)), 1))
	}
	memory, host := &PageMemory{}, &HostMemory{}
	ask := func(before, after *View, records int32) Verdict {
		memory, host = DecodePage(memory.Encode()), DecodeHost(host.Encode())
		return Judge(Case{Before: before, After: after, Page: memory, Host: host, Threshold: threshold, Now: noon, Records: records})
	}
	before := build(0, prose)
	for n := 1; n <= 8; n++ {
		after := build(n, prose)
		v := ask(before, after, int32(n+1))
		if want := n > volatileChanges; (v.Kind == Noise) != want {
			t.Errorf("visit %d is %v for %v, noise wanted %v", n, v.Kind, v.Reasons, want)
		}
		before = after
	}
	if v := ask(before, build(9, prose+" And more."), 10); v.Kind != Change || v.Reasons != models.ReasonText|models.ReasonVolatile {
		t.Errorf("an edit beside the teaser is %v for %v", v.Kind, v.Reasons)
	}
	if noise := host.Noise(); len(noise) != 1 || noise[0].Kind != Volatile || noise[0].Pages != 1 {
		t.Errorf("the host's noise is %v", noise)
	}
}

// TestSeldomEditsAreNotLearned holds that a place that changes on few of many visits stays content.
func TestSeldomEditsAreNotLearned(t *testing.T) {
	t.Parallel()
	memory := &PageMemory{}
	before := read(t, page("Terms", append(story(5), "Version alpha of this text")...))
	for n := range 10 {
		after := read(t, page("Terms", append(story(5), fmt.Sprintf("Version %c of this text", 'a'+n))...))
		if v := Judge(Case{Before: before, After: after, Page: memory, Threshold: threshold, Now: noon, Records: int32(30 * (n + 1))}); v.Kind != Change {
			t.Errorf("edit %d is %v for %v", n, v.Kind, v.Reasons)
		}
		before = after
	}
}

// TestWhatIsWatchedIsNeverLearned holds that an element that a person asked to watch counts however often it changes, though
// it goes back and forth, and on however many pages of the host at once; a person alone can say that it is noise.
func TestWhatIsWatchedIsNeverLearned(t *testing.T) {
	t.Parallel()
	rules, err := Compile([]string{".price"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	build := func(product, n int) *View {
		body := strings.Replace(page(fmt.Sprint("Product ", growWords[product]), story(product+3)...), "</main>",
			fmt.Sprintf("<div class=price>In stock: %s</div></main>", []string{"one piece", "no more"}[n%2]), 1)
		return Read([]byte(body), "text/html", mustParse(t, "https://example.org/a"), rules)
	}
	memories, host, orders := []*PageMemory{{}, {}, {}, {}}, &HostMemory{}, &Orders{}
	for n := range 12 {
		for product, memory := range memories {
			c := Case{Before: build(product, n), After: build(product, n+1), Page: memory, Host: host, Orders: orders, Threshold: threshold,
				Now: noon.Add(time.Duration(n) * time.Hour), PageID: int64(product), Records: int32(n + 1)}
			if v := Judge(c); v.Kind != Change || v.Retract {
				t.Errorf("change %d of product %d is %v for %v, withdrawn %v", n, product, v.Kind, v.Reasons, v.Retract)
			}
		}
	}
	if noise := host.Noise(); len(noise) != 0 {
		t.Errorf("what is watched was learned: %v", noise)
	}
	before := build(0, 0)
	for i := range before.blocks {
		if b := &before.blocks[i]; b.Flags&Watched != 0 {
			orders.Set(Order{Key: before.place(b, before.crowded()), Noise: true, At: noon})
		}
	}
	if v := Judge(Case{Before: before, After: build(0, 1), Orders: orders, Threshold: threshold, Now: noon}); v.Kind != Noise {
		t.Errorf("what a person pinned is %v", v.Kind)
	}
}

func TestOrdersDecide(t *testing.T) {
	t.Parallel()
	before, after := read(t, page("Terms", append(story(5), "A teaser for one")...)), read(t, page("Terms", append(story(5), "A teaser for two")...))
	key := before.place(&before.blocks[len(before.blocks)-3], before.crowded())
	orders := &Orders{}
	orders.Set(Order{Key: key, Noise: true, At: noon})
	orders = DecodeOrders(orders.Encode())
	if v := Judge(Case{Before: before, After: after, Orders: orders, Threshold: threshold, Now: noon}); v.Kind != Noise {
		t.Errorf("what is pinned as noise is %v for %v", v.Kind, v.Reasons)
	}
	orders.Drop(key)
	if v := Judge(Case{Before: before, After: after, Orders: orders, Threshold: threshold, Now: noon}); v.Kind != Change {
		t.Errorf("after the pin is taken off it is %v", v.Kind)
	}
}

// TestTemplateFlip holds that a change that another page shows too is the host's, and that the first page's is withdrawn.
func TestTemplateFlip(t *testing.T) {
	t.Parallel()
	host := &HostMemory{}
	build := func(title, notice string) *View {
		paragraphs := story(6)
		for i := range paragraphs {
			paragraphs[i] = title + ": " + paragraphs[i]
		}
		return read(t, page(title, append([]string{notice}, paragraphs...)...))
	}
	memories := map[int64]*PageMemory{1: {}, 2: {}, 3: {}, 4: {}}
	visit := func(id int64, before, after *View, at time.Time) Verdict {
		host = DecodeHost(host.Encode())
		return Judge(Case{Before: before, After: after, Page: memories[id], Host: host, Threshold: threshold, Now: at, PageID: id})
	}
	const old, notice = "Our shop opens at nine on every day", "Our shop is closed on every Monday"
	if v := visit(1, build("One", old), build("One", notice), noon); v.Kind != Change {
		t.Errorf("the first page is %v", v.Kind)
	}
	v := visit(2, build("Two", old), build("Two", notice), noon.Add(time.Hour))
	if v.Kind != Noise || v.Reasons != models.ReasonTemplate || v.Template == "" {
		t.Errorf("the second page is %v for %v, sample %q", v.Kind, v.Reasons, v.Template)
	}
	if v := visit(4, build("Four", old), build("Four", notice), noon.Add(time.Hour)); v.Kind != Noise || v.Template != "" {
		t.Errorf("the next page is %v for %v, sample %q: a flip is told of once", v.Kind, v.Reasons, v.Template)
	}
	if v := visit(1, build("One", notice), build("One", notice+" and Tuesday"), noon.Add(2*time.Hour)); !v.Retract {
		t.Error("the first page's change is not withdrawn")
	}
	if v := visit(3, build("Three", old), build("Three", notice), noon.Add(50*time.Hour)); v.Kind != Change {
		t.Errorf("two days later it is %v for %v", v.Kind, v.Reasons)
	}
	if noise := host.Noise(); len(noise) != 1 || noise[0].Kind != Template || noise[0].Sample == "" {
		t.Errorf("the host's noise is %+v", noise)
	}
}

// TestWhatSeveralPagesSayIsOfEach holds that a status, a price or a date that eight pages of a host say anew within a day in their main content is a
// change of each of them: the second product that sold out was silent, and the first one's change was taken back.
func TestWhatSeveralPagesSayIsOfEach(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"a status": {"<p>In stock</p>", "<p>Sold out</p>"}, "within a line": {"<p>Lamp: <span>In stock</span></p>", "<p>Lamp: <span>Sold out</span></p>"},
		"a reason": {"<p>In stock</p>", "<p>Sold out, and not made any more since the works were closed</p>"},
		"a price":  {"<p>17 €</p>", "<p>18 €</p>"}, "a date": {"<p>Valid from 3 June 2026</p>", "<p>Valid from 9 June 2026</p>"},
		"a time": {"<p>We send it to you within 3 days of the order</p>", "<p>We send it to you within 5 days of the order</p>"},
	} {
		host := &HostMemory{}
		for i := range flipOwn {
			title := fmt.Sprintf("Lamp %c", 'A'+i)
			text := "<p>" + title + ": " + strings.Join(story(4), "<p>"+title+": ")
			v := judgeOn(t, host, int64(i), editedPage(title, text+c[0], "<p>x"), editedPage(title, text+c[1], "<p>x"))
			if v.Kind != Change {
				t.Errorf("%s on page %d is %v for %v", name, i, v.Kind, v.Reasons)
			}
		}
		for i := range flipOwn {
			if host.Withdraw(int64(i)) {
				t.Errorf("%s on page %d is taken back", name, i)
			}
		}
	}
}

func judgeOn(t *testing.T, host *HostMemory, id int64, before, after string) Verdict {
	t.Helper()
	return Judge(Case{Before: read(t, before), After: read(t, after), Page: &PageMemory{}, Host: host, Threshold: threshold,
		Now: noon.Add(time.Duration(id) * time.Hour), PageID: id})
}

// TestTemplateFlipBesideNoise holds that a change which pages share is the host's where an age beside it differs on each of them: with a new
// design each page that says when it was written counted for one. What changed with it on a page alone is no less of a change.
func TestTemplateFlipBesideNoise(t *testing.T) {
	t.Parallel()
	host := &HostMemory{}
	build := func(title, notice string, days int, more ...string) *View {
		paragraphs := story(6)
		for i := range paragraphs {
			paragraphs[i] = title + ": " + paragraphs[i]
		}
		return read(t, page(title, append([]string{notice, fmt.Sprintf("By Jane Roe, %d days ago", days)}, append(paragraphs, more...)...)...))
	}
	memories := map[int64]*PageMemory{0: {}, 1: {}, 2: {}, 3: {}}
	visit := func(id int64, before, after *View, at time.Time) Verdict {
		host = DecodeHost(host.Encode())
		return Judge(Case{Before: before, After: after, Page: memories[id], Host: host, Threshold: threshold, Now: at, PageID: id})
	}
	const old, notice, own, more = "Our shop opens at nine on every day", "Our shop is closed on every Monday",
		"The board has met again and found that all is well", "What it found is told here in the week that follows"
	for i, test := range []struct {
		before, after *View
		want          VerdictKind
	}{
		{build("Zero", notice, 3), build("Zero", notice, 4, own), Change},
		{build("One", old, 3), build("One", notice, 4), Change},
		{build("Two", old, 8), build("Two", notice, 9, more), Change},
		{build("Three", old, 20), build("Three", notice, 21), Noise},
	} {
		if v := visit(int64(i), test.before, test.after, noon.Add(time.Duration(i)*time.Hour)); v.Kind != test.want {
			t.Errorf("page %d is %v for %v, want %v", i, v.Kind, v.Reasons, test.want)
		}
	}
	for id, want := range map[int64]bool{0: false, 1: true, 2: false} {
		if got := host.Withdraw(id); got != want {
			t.Errorf("the change of page %d is withdrawn: %v, want %v", id, got, want)
		}
	}
}

// TestWhatIsTakenBackWasShownWhole holds that a page's change is not taken back by one that shows a part of it: the rest may be news of two pages.
func TestWhatIsTakenBackWasShownWhole(t *testing.T) {
	t.Parallel()
	was := []string{"Our shop opens at nine on every day", "The ferry goes at noon and at six", "A letter by post is free of charge"}
	is := []string{"Our shop is closed on every Monday", "The ferry is out of service until June", "A letter by post costs what the stamp does"}
	host := &HostMemory{}
	for stays := range 3 {
		build := func(lines []string) *View {
			text := story(6)
			for i := range text {
				text[i] = fmt.Sprintf("Page %d: %s", stays, text[i])
			}
			return read(t, page(fmt.Sprint("Page ", stays), append(lines, text...)...))
		}
		after := slices.Clone(is)
		after[stays] = was[stays]
		Judge(Case{Before: build(was), After: build(after), Page: &PageMemory{}, Host: host, Threshold: threshold,
			Now: noon.Add(time.Duration(stays) * time.Minute), PageID: int64(stays)})
	}
	for id := range int64(2) {
		if host.Withdraw(id) {
			t.Errorf("the change of page %d is taken back", id)
		}
	}
}

// TestOneDocumentAtTwoAddresses holds that two pages with one text are no witnesses for each other.
func TestOneDocumentAtTwoAddresses(t *testing.T) {
	t.Parallel()
	host := &HostMemory{}
	before, after := read(t, page("Terms", story(6)...)), read(t, page("Terms", append(story(6), prose)...))
	for id := range int64(2) {
		if v := Judge(Case{Before: before, After: after, Host: host, Threshold: threshold, Now: noon, PageID: id}); v.Kind != Change {
			t.Errorf("the change of copy %d is %v for %v", id, v.Kind, v.Reasons)
		}
	}
}

func TestFlipBackIsAnAttribute(t *testing.T) {
	t.Parallel()
	memory := &PageMemory{}
	a, b := read(t, page("Terms", story(5)...)), read(t, page("Terms", story(6)...))
	for i, pair := range [][2]*View{{a, b}, {b, a}} {
		v := Judge(Case{Before: pair[0], After: pair[1], Page: memory, Threshold: threshold, Now: noon})
		if back := v.Reasons&models.ReasonFlipBack != 0; v.Kind != Change || back != (i == 1) {
			t.Errorf("step %d is %v for %v", i, v.Kind, v.Reasons)
		}
	}
}

func TestClocksAndAges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"12:34": true, "It is 12:34:56 now": true, "Monday, 3 June 2024 14:05": true, "3 minutes ago": true, "il y a 3 jours": true,
		"Last updated: 3 June 2024": false, "Section 12:345": false, "The meeting of the board begins at 12:30 in room 4": false,
		"30 days": false, "17 €": false, "Version 3": false,
	} {
		p := pair{after: &Block{Text: text, runes: int32(len(text))}}
		if got := p.transientText(span{}) != 0; got != want {
			t.Errorf("%q changes by its nature: %v, want %v", text, got, want)
		}
	}
}

// TestWhenAPageWasMade holds that programs which sign what they make, with the time to the second, make no change of it each time, whatever links
// and names stand beside: cgit, which makes a page at each visit, did so of each. That something is said to have been made at an hour is one.
func TestWhenAPageWasMade(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		want          bool
	}{
		{"generated by cgit v1.2.3 (git 2.39.1) at 2026-11-30 18:14:21 +0000", "generated by cgit v1.2.3 (git 2.39.1) at 2026-12-11 15:42:25 +0000", true},
		{"Generated on Mon Nov 30 2026 18:14:21 for Marlin by doxygen 1.9.4", "Generated on Fri Dec 11 2026 15:42:25 for Marlin by doxygen 1.9.4", true},
		{"Built 26 November 2026 07:31:58, Hugo 0.111.3", "Built 27 November 2026 06:00:01, Hugo 0.111.3", true},
		{"Seite erstellt am 30.11.2026 um 18:14:21 von Marlin CMS", "Seite erstellt am 11.12.2026 um 15:42:25 von Marlin CMS", true},
		{"generated by cgit v1.2.3 at 2026-11-30 18:14:21", "generated by gitweb v1.2.3 at 2026-12-11 15:42:25", false},
		{"The house was built in 1926 by Jane Roe", "The house was built in 1927 by Jane Roe", false},
		{"The gate is built at 12:30 by the keeper of the harbour", "The gate is built at 14:30 by the keeper of the harbour", false},
		{"The keeper left the harbour at 12:30:07 on 3 June 2024 by boat", "The keeper left the harbour at 14:30:08 on 3 June 2024 by boat", false},
	} {
		link := []Link{{}}
		p := pair{before: &Block{Text: test.before, runes: int32(len(test.before)), Links: link}, after: &Block{Text: test.after, runes: int32(len(test.after)), Links: link}}
		if got := p.transientText(span{}) != 0; got != test.want {
			t.Errorf("%q and then %q changes by its nature: %v, want %v", test.before, test.after, got, test.want)
		}
	}
}

// TestMomentsThatProgramsRead holds that data which says when it was made in seconds or milliseconds since 1970 does not change for that: each build
// of a site made a change of all its data. Numbers that are no later moment of the last year are what they say.
func TestMomentsThatProgramsRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		want          VerdictKind
	}{
		{`[{"data":1},"About us",1795713464726]`, `[{"data":1},"About us",1795713642509]`, Noise},
		{`{"version":"1795713464726"}`, `{"version":"1795713642509"}`, Noise},
		{`{"builtAt":1785713464,"name":"site"}`, `{"builtAt":1795713642,"name":"site"}`, Noise},
		{`[{"data":1},"About us",1795713464726]`, `[{"data":1},"About them",1795713642509]`, Change},
		{`{"stock":1795713464,"left":12}`, `{"stock":1795713642,"left":11}`, Change},
		{`{"id":1795713642509}`, `{"id":1795713464726}`, Change}, // earlier
		{`{"id":1695713464726}`, `{"id":1705713642509}`, Change}, // long ago
		{`{"id":1795713464726}`, `{"id":1995713642509}`, Change}, // to come
		{`{"ean":3017620422003}`, `{"ean":4006381333931}`, Change},
		{`{"price":17957134}`, `{"price":17957136}`, Change},
	} {
		at := mustParse(t, "https://example.org/data.json")
		view := func(text string) *View { return Read([]byte(text), "application/json", at, nil) }
		got := Judge(Case{Before: view(test.before), After: view(test.after), Threshold: 0.5, Now: time.Unix(1795713700, 0), URL: at})
		if got.Kind != test.want {
			t.Errorf("%s and then %s is %v (%.2f, %v), want %v", test.before, test.after, got.Kind, got.Significance, got.Reasons, test.want)
		}
	}
}

// TestARegionThatFlipsAgain holds that once a banner beside the content has changed on several pages at two times, the first
// page that shows a third text already knows it for the host's, and that a person can say otherwise.
func TestARegionThatFlipsAgain(t *testing.T) {
	t.Parallel()
	host, orders := &HostMemory{}, &Orders{}
	build := func(title, banner string) *View {
		paragraphs := story(6)
		for i := range paragraphs {
			paragraphs[i] = title + ": " + paragraphs[i]
		}
		return read(t, "<section class=promo><p>"+banner+"</p></section>"+page(title, paragraphs...))
	}
	banners := []string{"Spring offers are here for everybody in the shop", "Summer offers are waiting for you in every shop",
		"Autumn brings new offers into all of our shops", "Winter offers begin on the first day of December"}
	flip := func(title string, id int64, n int) Verdict {
		host = DecodeHost(host.Encode())
		return Judge(Case{Before: build(title, banners[n]), After: build(title, banners[n+1]), Page: &PageMemory{}, Host: host,
			Orders: orders, Threshold: threshold, Now: noon.Add(time.Duration(n)*72*time.Hour + time.Duration(id)*time.Hour), PageID: id})
	}
	if v := flip("One", 1, 0); v.Kind != Change {
		t.Fatalf("the first page of the first flip is %v for %v, so this test shows nothing", v.Kind, v.Reasons)
	}
	for n := range 2 {
		flip("One", 1, n)
		flip("Two", 2, n)
	}
	again := host.Encode()
	if v := flip("One", 1, 2); v.Kind != Noise {
		t.Errorf("the first page of the third flip is %v for %v", v.Kind, v.Reasons)
	}
	host = DecodeHost(again)
	for _, region := range host.Noise() {
		orders.Set(Order{Key: region.Key, At: noon})
	}
	if v := flip("One", 1, 2); v.Kind != Change {
		t.Errorf("where the region was cleared it is %v for %v", v.Kind, v.Reasons)
	}
}

// TestWhatTwoPagesListIsNews holds that an entry which comes to two lists of a host within a day is a change of both.
func TestWhatTwoPagesListIsNews(t *testing.T) {
	t.Parallel()
	list := func(intro string, entries int) *View {
		var b strings.Builder
		for i := range entries {
			fmt.Fprintf(&b, "<li><a href=/%d>All about %s and %s</a>", i, growWords[i%16], growWords[i/16])
		}
		return read(t, page(intro, intro+" and whatever there is to be told of that.", "<ul>"+b.String()+"</ul>"))
	}
	host, memories := &HostMemory{}, []*PageMemory{{}, {}}
	for day := range 4 {
		for i, intro := range []string{"All that we ever wrote stands in this archive", "Trees and gardens are what this page is of"} {
			host = DecodeHost(host.Encode())
			v := Judge(Case{Before: list(intro, 20+day), After: list(intro, 21+day), Page: memories[i], Host: host, Threshold: threshold,
				PageID: int64(i + 1), Now: noon.Add(time.Duration(24*day+i) * time.Hour)})
			if v.Kind != Change || v.Retract {
				t.Errorf("day %d, list %d: %v for %v, withdrawn %v", day, i, v.Kind, v.Reasons, v.Retract)
			}
		}
	}
}
