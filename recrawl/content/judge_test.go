package content

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// threshold is that of a site that sets none.
const threshold = 0.5

// page is a page of a site, with a title and paragraphs.
func page(title string, paragraphs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>%s</title></head><body><header><a href=/>Home</a><a href=/x>Shop</a></header>", title)
	b.WriteString("<nav><ul><li><a href=/1>One</a><li><a href=/2>Two</a><li><a href=/3>Three</a><li><a href=/4>Four</a></ul></nav><main>")
	for _, p := range paragraphs {
		fmt.Fprintf(&b, "<p>%s</p>\n", p)
	}
	b.WriteString("</main><footer><p>© 2026 Us</p><p>Imprint</p></footer></body></html>")
	return b.String()
}

// story is n paragraphs that differ.
func story(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("Paragraph %c tells of a matter that is all its own, at some length, so that it is running text.", 'A'+i)
	}
	return all
}

func judgePages(t testing.TB, before, after string) Verdict {
	t.Helper()
	return Judge(Case{Before: read(t, before), After: read(t, after), Threshold: threshold, Now: noon})
}

// TestLinesOfSources holds that where in a source an item stands, as manuals made of sources link to it, says nothing of it.
func TestLinesOfSources(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{"/src/lib.rs.html#68-69": "/src/lib.rs.html#74-75", "/src/lib.rs.html#71": "/src/lib.rs.html#77",
		"/a_8h_source.html#l00010": "/a_8h_source.html#l00110", "/blob/main/a.c#L9-L12": "/blob/main/a.c#L10", "/src-html/A.html#line.7": "/src-html/A.html#line.9",
		"/tree/a.c#n12": "/tree/a.c#n14",
		"/blob/0d2ef742cdc8ea6c00f3aea89fb56b0d82ed4e73/a.c#L9-L12": "/blob/691caea3e01837b84ed74226fdf231191a1e55b6/a.c#L19-L22"} {
		held := page("Manual", append(story(5), `<a href="`+before+`">Source</a> of it`)...)
		if v := judgePages(t, held, strings.Replace(held, before, after, 1)); v.Kind != Noise || v.Significance >= threshold {
			t.Errorf("%s, then %s: %v for %v, want noise", before, after, v.Kind, v.Reasons)
		}
	}
	for before, after := range map[string]string{"/thread#71": "/thread#77", "/src/lib.rs.html#a": "/src/lib.rs.html#b", "/src/a.html#1": "/src/b.html#1",
		"/a.html#list-1": "/a.html#list-2", "/blob/main/a.c#L9": "/blob/v2/a.c#L9", "/news#2024-05": "/news#2024-06", "/a#L9-b": "/a#L9-c",
		"/0d2ef742cdc8ea6c00f3aea89fb56b0d82ed4e73/a.zip":    "/691caea3e01837b84ed74226fdf231191a1e55b6/a.zip",
		"/paste/0d2ef742cdc8ea6c00f3aea89fb56b0d82ed4e73#L9": "/paste/691caea3e01837b84ed74226fdf231191a1e55b6#L9", "/beef123/lib/a.c#L9": "/cafe123/lib/a.c#L9"} {
		held := page("Manual", append(story(5), `<a href="`+before+`">Source</a> of it`)...)
		if v := judgePages(t, held, strings.Replace(held, before, after, 1)); v.Kind != Change {
			t.Errorf("%s, then %s: %v, want a change", before, after, v.Kind)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	held := page("Terms", append(story(5), "Last updated: 3 June 2024", "Price: 17 €", `See <a href="/a?x=1">here</a> and there`, "1,234 views")...)
	replace := func(from, to string) string { return strings.Replace(held, from, to, 1) }
	for name, test := range map[string]struct {
		after   string
		kind    VerdictKind
		reasons models.Reasons
	}{
		"the same":         {held, Same, 0},
		"a script":         {replace("</body>", "<script>x</script></body>"), Noise, models.ReasonMarkupOnly},
		"a class":          {replace("<main>", "<main class=x>"), Noise, models.ReasonMarkupOnly},
		"a menu":           {replace("Two", "Zwei"), Noise, models.ReasonNav},
		"the year below":   {replace("© 2026", "© 2027"), Noise, models.ReasonNav},
		"a picture beside": {replace("<footer>", "<footer><img src=/a.png>"), Noise, models.ReasonNav},
		"the order":        {replace(story(2)[0]+"</p>\n<p>"+story(2)[1], story(2)[1]+"</p>\n<p>"+story(2)[0]), Noise, models.ReasonReorder},
		"a word":           {replace("a matter that", "an affair that"), Change, models.ReasonText},
		"one letter":       {replace("Paragraph A", "Paragraphs A"), Change, models.ReasonText},
		"a date":           {replace("3 June 2024", "4 July 2026"), Change, models.ReasonDateOnly},
		"a price":          {replace("17 €", "18 €"), Change, models.ReasonCounter},
		"views":            {replace("1,234 views", "1,240 views"), Noise, models.ReasonCounter},
		"a link":           {replace(`"/a?x=1"`, `"/b"`), Change, models.ReasonLinkTarget},
		"its query":        {replace(`?x=1`, `?x=2`), Change, models.ReasonLinkTarget},
		"its tracking":     {replace(`?x=1`, `?x=1&utm_source=y`), Noise, models.ReasonMarkupOnly},
		"a heading":        {replace("<main>", "<main><h2>What is new</h2>"), Change, models.ReasonHeading},
		"cut otherwise":    {replace("that is all its own, at", "that is all its own,<br>at"), Change, models.ReasonMarkupOnly},
		"a paragraph less": {replace("<p>"+story(1)[0]+"</p>", ""), Change, models.ReasonText},
	} {
		v := judgePages(t, held, test.after)
		if v.Kind != test.kind || v.Reasons != test.reasons {
			t.Errorf("%s: %v for %v, want %v for %v", name, v.Kind, v.Reasons, test.kind, test.reasons)
		}
		if (v.Kind == Change) != (v.Significance >= threshold) || v.Significance < 0 || v.Significance > 1 {
			t.Errorf("%s: %v with a significance of %v", name, v.Kind, v.Significance)
		}
		if v.Kind == Change && len(v.Blocks) == 0 {
			t.Errorf("%s: a change without a block", name)
		}
	}
}

// Which page comes before and after is none of what a page says, where its links or its head say so by their type: that becomes another one when
// a post is written or removed. Another link of the same paragraph counts, and a link that is only called so; and what is marked so and cannot be
// that: a text of some length, one of many links, what leads nowhere.
func TestPagesBeforeAndAfter(t *testing.T) {
	t.Parallel()
	sea := strings.Repeat("The sea was quiet that night. ", 8)
	rows := func(n int) (list string) {
		for i := range n {
			list += fmt.Sprintf(`<p><a rel="next" href="/news/%d">Headline %d of today</a></p>`, i, i)
		}
		return list
	}
	for name, test := range map[string]struct {
		head, before, after string
		want                VerdictKind
	}{
		"the next one comes": {"", "", `<div><a rel="next" href="/p/8">Why we moved to another town &rarr;</a></div>`, Noise},
		"another one before": {"", `<p>Previous post: <a href="/p/6" rel="prev">A day at sea</a></p>`, `<p>Previous post: <a href="/p/5" rel="prev">The harbour at night</a></p>`, Noise},
		"both in a line": {"", `<p><a href="/p/6" rel="prev nofollow">A day at sea</a> | <a href="/p/8" rel="next">Why we moved</a></p>`,
			`<p><a href="/p/6" rel="prev nofollow">A day at sea</a> | <a href="/p/9" rel="next">Winter</a></p>`, Noise},
		"the head says so":         {`<link rel="Next" href="/p/8"><link rel="Next" href="/p/9">`, "", `<ul><li>Next message: <a href="/p/8">[crew] Why we moved to another town</a></li></ul>`, Noise},
		"a link that is called so": {"", `<p>Previous post: <a href="/p/6">A day at sea</a></p>`, `<p>Previous post: <a href="/p/5">The harbour at night</a></p>`, Change},
		"another link with it":     {"", `<p><a href="/p/6" rel="prev">A day at sea</a> <a href="/x">a map</a></p>`, `<p><a href="/p/6" rel="prev">A day at sea</a> <a href="/y">a chart of it</a></p>`, Change},
		"a sentence with it": {"", `<p>As I said in <a href="/p/6" rel="prev">A day at sea</a>, the boat was to be sold.</p>`,
			`<p>As I said in <a href="/p/6" rel="prev">A day at sea</a>, the boat is not to be sold any more.</p>`, Change},
		"a text in the link":      {"", `<div><a rel="next" href="/2">` + sea + `</a></div>`, `<div><a rel="next" href="/2">` + sea + ` The mayor resigned.</a></div>`, Change},
		"rows that are marked so": {"", rows(20), rows(21), Change},
		"the head names itself":   {`<link rel="next" href="page">`, `<ul><li><a href="page">The ferry runs</a></li></ul>`, `<ul><li><a href="page">The ferry is cancelled</a></li></ul>`, Change},
		"the head names no page":  {`<link rel="next" href="#">`, `<ul><li><a href="#">The ferry runs</a></li></ul>`, `<ul><li><a href="#">The ferry is cancelled</a></li></ul>`, Change},
	} {
		of := func(text string) string {
			return strings.Replace(strings.Replace(page("Terms", story(5)...), "</main>", text+"</main>", 1), "<head>", "<head>"+test.head, 1)
		}
		if v := judgePages(t, of(test.before), of(test.after)); v.Kind != test.want {
			t.Errorf("%s: %v for %v with %v, want %v", name, v.Kind, v.Reasons, v.Significance, test.want)
		}
	}
}

// A link to the page before counts where a person asked to watch it.
func TestWatchedPagesBeforeAndAfter(t *testing.T) {
	t.Parallel()
	rules, err := Compile([]string{".newest"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(title string) *View {
		body := strings.Replace(page("Terms", story(5)...), "</main>", `<p class="newest"><a rel="next" href="/p/8">`+title+`</a></p></main>`, 1)
		return Read([]byte(body), "text/html", mustParse(t, "https://example.org/a"), rules)
	}
	if v := Judge(Case{Before: of("A day at sea"), After: of("Why we moved"), Threshold: threshold, Now: noon}); v.Kind != Change {
		t.Errorf("what is watched is %v for %v", v.Kind, v.Reasons)
	}
}

// What stands beside what a person asked to watch counts for nothing, wherever it stands: in the open, or in the node of the main content, which
// is the whole page where that says little. Of words within a paragraph the paragraph is watched.
func TestNothingCountsBesideWhatIsWatched(t *testing.T) {
	t.Parallel()
	rules, err := Compile([]string{"#price"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, element := range []string{`<div id="price">%s</div>`, `<p>Now <span id="price">%s</span> each</p>`, `<b id="price">%s</b>`} {
		of := func(price, beside string) *View {
			body := `<html><body><header><span>Shop ` + beside + `</span></header><main><h1>Widget</h1>` + fmt.Sprintf(element, price) + `<p>Sold ` + beside +
				` of these.</p></main><p>` + beside + `, says a customer.</p></body></html>`
			return Read([]byte(body), "text/html", mustParse(t, "https://example.org/a"), rules)
		}
		before := of("€ 13.99", "Friday, 27 November 2026")
		for _, beside := range []string{"Monday, 30 November 2026", "twelve thousand"} {
			if v := Judge(Case{Before: before, After: of("€ 13.99", beside), Threshold: threshold, Now: noon}); v.Kind != Noise {
				t.Errorf("%q beside the price in %s is %v for %v with %v", beside, element, v.Kind, v.Reasons, v.Significance)
			}
		}
		if v := Judge(Case{Before: before, After: of("€ 12.49", "twelve thousand"), Threshold: threshold, Now: noon}); v.Kind != Change {
			t.Errorf("another price in %s is %v for %v", element, v.Kind, v.Reasons)
		}
	}
}

func TestDatesByNumbersAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2024-10-14", "更新日期：2024年10月14日", "Stand: 14.10.2024", "14 Oct 2024"} {
		if got, _ := numbers(text); got != models.ReasonDateOnly {
			t.Errorf("%q differs in %v, want a date", text, got)
		}
	}
	for _, text := range []string{"17 €", "Version 3.4.5", "1,234 views"} {
		if got, _ := numbers(text); got != models.ReasonCounter {
			t.Errorf("%q differs in %v, want a number", text, got)
		}
	}
}

func TestThresholdDecides(t *testing.T) {
	t.Parallel()
	held := page("Terms", append(story(5), "Last updated: 3 June 2024")...)
	after := strings.Replace(held, "3 June", "4 June", 1)
	for threshold, want := range map[float64]VerdictKind{0: Change, 0.5: Change, 0.7: Noise} {
		if v := Judge(Case{Before: read(t, held), After: read(t, after), Threshold: threshold, Now: noon}); v.Kind != want {
			t.Errorf("a new date at a threshold of %v is %v, want %v", threshold, v.Kind, want)
		}
	}
}

func TestOtherKindsGoByTheirBytes(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://example.org/a.pdf")
	a, b := Read([]byte("%PDF 1"), "application/pdf", at, nil), Read([]byte("%PDF 2"), "application/pdf", at, nil)
	if v := Judge(Case{Before: a, After: b, Threshold: threshold, Now: noon}); v.Kind != Change || v.Reasons != models.ReasonBytes {
		t.Errorf("another PDF is %v for %v", v.Kind, v.Reasons)
	}
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	item := func(n int) string {
		return fmt.Sprintf("<item><title>Post %c</title><guid>%d</guid><link>/%d</link><description>What it says</description></item>", 'A'+n, n, n)
	}
	feed := func(built string, items ...string) *View {
		return Read([]byte("<rss><channel><title>News</title><lastBuildDate>"+built+"</lastBuildDate>"+strings.Join(items, "")+"</channel></rss>"),
			"application/rss+xml", mustParse(t, "https://example.org/feed"), nil)
	}
	held := feed("Monday", item(1), item(2))
	for name, test := range map[string]struct {
		after *View
		want  VerdictKind
	}{
		"built anew":    {feed("Tuesday", item(1), item(2)), Noise},
		"another order": {feed("Monday", item(2), item(1)), Noise},
		"a new post":    {feed("Tuesday", item(3), item(1), item(2)), Change},
		"an edit":       {feed("Monday", item(1), strings.Replace(item(2), "says", "said", 1)), Change},
	} {
		if v := Judge(Case{Before: held, After: test.after, Threshold: threshold, Now: noon}); v.Kind != test.want {
			t.Errorf("%s is %v, want %v", name, v.Kind, test.want)
		}
	}
}

func TestTransientStates(t *testing.T) {
	t.Parallel()
	held := page("Terms of us", story(12)...)
	for name, test := range map[string]struct {
		after string
		class models.ErrorClass
		own   bool
	}{
		"loading":    {page("Terms of us", "Loading …"), models.Shell, true},
		"an error":   {page("Terms of us", "This page isn't available. Try again later."), models.ErrorPage, true},
		"nothing":    {"<html><body></body></html>", models.Shell, true},
		"frame only": {page("Terms of us"), models.Shell, true},
		"log-in":     {"<title>Sign in</title><form><p>User name</p><input><input type=password><button>Go</button></form>", models.LoginWall, false},
		"challenge":  {"<title>Just a moment...</title><p>Checking your browser before you go on</p>", models.BlockPage, false},
		"redirect":   {"<title>Moved</title><p>You should be redirected quickly, if not click <a href=/x>here</a>", models.ErrorPage, false},
		"elsewhere":  {"<title>Welcome</title><p>Something else that is much shorter, and says nothing of it</p>", models.ErrorPage, false},
	} {
		v := judgePages(t, held, test.after)
		if v.Kind != Transient || v.Class != test.class || v.Own != test.own {
			t.Errorf("%s is %v %v, own %v; want %v, own %v", name, v.Kind, v.Class, v.Own, test.class, test.own)
		}
	}
	for name, after := range map[string]string{
		"shortened": page("Terms of us", story(2)...),
		"rewritten": page("Our new terms", strings.Split(strings.ReplaceAll(strings.Join(story(12), "|"), "matter", "thing"), "|")...),
	} {
		if v := judgePages(t, held, after); v.Kind != Change {
			t.Errorf("%s is %v %v, want a change", name, v.Kind, v.Class)
		}
	}
}

// TestAShellNowAndThenIsNotThePage holds that shells with good visits between, which ask nobody, are no row.
func TestAShellNowAndThenIsNotThePage(t *testing.T) {
	t.Parallel()
	held, shell, memory := read(t, page("Terms", story(12)...)), read(t, page("Terms", "Loading …")), &PageMemory{}
	for i := range 9 {
		v := Judge(Case{Before: held, After: shell, Page: memory, Threshold: threshold, Now: noon, Good: true})
		if v.Kind != Transient {
			t.Errorf("shell %d is %v", i, v.Kind)
		}
	}
}

// TestAnEmptyShellIsNotMissing holds that a page without text is a shell where names that do not exist are answered so too.
func TestAnEmptyShellIsNotMissing(t *testing.T) {
	t.Parallel()
	host, empty := &HostMemory{}, "<title>App</title><div id=root></div>"
	host.LearnMissing(read(t, empty), 200, noon)
	v := Judge(Case{Before: read(t, page("App", story(9)...)), After: read(t, empty+"<script>1</script>"), Host: host, Threshold: threshold, Now: noon})
	if v.Kind != Transient || v.Class != models.Shell {
		t.Errorf("an empty shell is %v %v", v.Kind, v.Class)
	}
}

func TestSoftMissing(t *testing.T) {
	t.Parallel()
	host := &HostMemory{}
	missing := page("Not here", "We could not find /what-was-asked-17, which is a pity.")
	host.LearnMissing(read(t, missing), 200, noon)
	host = DecodeHost(host.Encode())
	held := read(t, page("Terms", story(5)...))
	again := read(t, strings.Replace(missing, "17", "4711", 1))
	if v := Judge(Case{Before: held, After: again, Host: host, Threshold: threshold, Now: noon}); v.Kind != SoftMissing {
		t.Errorf("the host's answer for missing pages is %v", v.Kind)
	}
	if v := Judge(Case{Before: Read(nil, "text/html", mustParse(t, "https://example.org/"), nil), After: again, Host: host, Now: noon}); v.Kind != SoftMissing {
		t.Errorf("as a first answer it is %v", v.Kind)
	}
	if host.IsMissing(held) {
		t.Error("a page is taken for a missing one")
	}
	host.LearnMissing(nil, 404, noon)
	if host.IsMissing(again) {
		t.Error("the shape is kept although the host answers 404 now")
	}
}

// TestReasonsOfNumbers holds that a number is called a date only where it is one.
func TestReasonsOfNumbers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		want     models.Reasons
	}{
		{"A spade of two hands weighs 12 pounds", "A spade of two hands weighs 14 pounds", models.ReasonCounter},
		{"12 pounds", "14 pounds", models.ReasonCounter},
		{"Marlin 1.14.1", "Marlin 1.14.2", models.ReasonCounter},
		{"You may return the goods within 3 days", "You may return the goods within 5 days", models.ReasonCounter},
		{"This is a contract of the buyer", "This is the contract of a buyer", models.ReasonText},
		{"First the buyer pays the seller", "First the seller pays the buyer", models.ReasonText},
		{"Posted on the 3rd of May", "Posted on the 4th of May", models.ReasonDateOnly},
		{"Publié le 3 mars 2024", "Publié le 4 avril 2024", models.ReasonDateOnly},
	} {
		v := judgePages(t, page("Terms", append(story(5), test.from)...), page("Terms", append(story(5), test.to)...))
		if v.Kind != Change || v.Reasons != test.want || v.Significance < threshold {
			t.Errorf("%q -> %q: %v for %v of %v, want a change for %v", test.from, test.to, v.Kind, v.Reasons, v.Significance, test.want)
		}
	}
}
