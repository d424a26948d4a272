package content

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/recrawl/canon"
)

func mustParse(t testing.TB, raw string) canon.URL {
	t.Helper()
	u, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// read is a page at https://example.org/dir/page.
func read(t testing.TB, markup string) *View {
	t.Helper()
	return Read([]byte(markup), "text/html; charset=utf-8", mustParse(t, "https://example.org/dir/page"), nil)
}

// texts are all blocks, with a star before those of the main content.
func texts(v *View) []string {
	var all []string
	for _, b := range v.Blocks() {
		s := b.Text
		if b.Main {
			s = "*" + s
		}
		all = append(all, s)
	}
	return all
}

const prose = "This is a sentence of running text that is long enough to be content by itself, and it goes on for a while."

func TestMainContent(t *testing.T) {
	t.Parallel()
	v := read(t, `<html><head><title> The  title </title><style>p{}</style></head><body>
<header><a href=/>Home</a></header><nav><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul></nav>
<div id=wrap><div class=intro>Last updated: 3 June 2024</div><div class=text><h1>Terms</h1>
<p>`+prose+`<p>`+prose+` <a href=/more>More</a>.<aside>A teaser for something else entirely</aside></div></div>
<div class="cookie-banner">We use cookies on this site and ask you to accept them</div><footer>© us</footer></body></html>`)
	want := []string{"Home", "A", "B", "*Last updated: 3 June 2024", "*Terms", "*" + prose, "*" + prose + " More.",
		"A teaser for something else entirely", "We use cookies on this site and ask you to accept them", "© us"}
	if diff := cmp.Diff(want, texts(v)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if v.Title != "The title" || v.Kind != HTML {
		t.Errorf("title %q, kind %v", v.Title, v.Kind)
	}
}

func TestBlocksAreCutWhereLinesAre(t *testing.T) {
	t.Parallel()
	for markup, want := range map[string][]string{
		"one<br>two":                                    {"one", "two"},
		"<p>a<b>b</b> c<i> d</i>":                       {"ab c d"},
		"<p>one<p>two<div>three":                        {"one", "two", "three"},
		"<ul><li>one<li>two</ul>":                       {"one", "two"},
		"<table><tr><td>1<td>2<tr><td>3</table>":        {"1", "2", "3"},
		"<pre>one\n two</pre>":                          {"one", "two"},
		"a&nbsp;\t b\u200bc&shy;d":                      {"a bcd"},
		"“a” ‘b’":                                       {`"a" 'b'`},
		"a<script>x</script>b<style>y</style>c":         {"abc"},
		"<p>a<noscript>b</noscript>c<svg><text>d</svg>": {"ac"},
		"<template><p>a</template>b":                    {"b"},
		"<p>seen<span hidden>not</span>":                {"seen"},
		"<dl><dt>a<dd>b<dt>c</dl>":                      {"a", "b", "c"},
		"<p>a</div>b":                                   {"a", "b"},
		"<select><option>a<option>b</select>":           {"a", "b"},
		"a<my-part>b</my-part>c":                        {"a", "b", "c"},
	} {
		var got []string
		for _, b := range read(t, markup).Blocks() {
			got = append(got, b.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("blocks of %q (-want +got):\n%s", markup, diff)
		}
	}
}

func TestWhereLinksLead(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]Link{
		"/a/b?utm_source=x&b=1#part":       {"example.org/a/b", "https://example.org/a/b?b=1#part"},
		"other/":                           {"example.org/dir/other", "https://example.org/dir/other/"},
		"#part":                            {"#", "#part"},
		"page#part":                        {"#", "#part"},
		"/cdn-cgi/l/email-protection#ab12": {"mailto:", "mailto:"},
		"mailto:a@b.test?subject=x":        {"mailto:a@b.test", "mailto:a@b.test?subject=x"},
		"javascript:go(17)":                {"#", "#"},
		"/l.php?u=https%3A%2F%2Fx.test%2Fa&h=AT1Hh12": {"x.test/a", "https://x.test/a"},
		"/share?url=https%3A%2F%2Fx.test%2Fa":         {"example.org/share", "https://example.org/share?url=https%3A%2F%2Fx.test%2Fa"},
	} {
		v := read(t, `<p>see <a href="`+ref+`">this</a>`)
		if got := v.Blocks()[0].Links; len(got) != 1 || got[0] != want {
			t.Errorf("link %s = %v, want %v", ref, got, want)
		}
	}
}

// What a framework streams into a page stands hidden at its end until a script moves it.
func TestWhatIsHidden(t *testing.T) {
	t.Parallel()
	v := read(t, `<p>`+prose+`</p><p hidden>a</p><p style="color:red; display : none">b</p><div hidden id="S:1">c</div><dialog>d</dialog>`)
	flags := map[string]Flags{}
	for _, b := range v.Blocks() {
		flags[b.Text] = b.Flags
	}
	want := map[string]Flags{prose: 0, "a": Hidden, "b": Hidden, "c": 0, "d": InDialog}
	if diff := cmp.Diff(want, flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

// TestWhatIsStreamedLate reads a page that waits for its data as one that had them at once: which of the two comes depends on how busy
// the server is.
func TestWhatIsStreamedLate(t *testing.T) {
	t.Parallel()
	const list = `<h1>Notes</h1><ul><li><a href=/a>On terms</a> and what they say of us</li></ul><p>` + prose + `</p><aside>Beside</aside>`
	const foot = `<footer>© us</footer>`
	atOnce := read(t, `<title>Notes</title><nav><a href=/>Home</a></nav><main><!--$-->`+list+`<!--/$--></main>`+foot)
	late := read(t, `<title>Notes</title><nav><a href=/>Home</a></nav><main><!--$?--><template id="B:0"></template><p>Loading the notes</p><!--/$--></main>`+
		foot+`<div hidden id="S:0">`+list+`</div><script>$RC("B:0","S:0")</script>`)
	if diff := cmp.Diff(texts(atOnce), texts(late)); diff != "" {
		t.Errorf("blocks (-at once +late):\n%s", diff)
	}
	if at, now := atOnce.MainPath(), late.MainPath(); at != now {
		t.Errorf("the main content of the late page is %q, want %q", now, at)
	}
}

// A region that holds most of the text is the page, whatever it is called.
func TestARegionThatHoldsTheTextIsContent(t *testing.T) {
	t.Parallel()
	for _, markup := range []string{"<div class=modal>", "<aside>", "<div style=display:none>", "<div class=sidebar-menu-popup>"} {
		v := read(t, "<body>"+markup+strings.Repeat("<p>"+prose+"</p>", 5)+"</div>")
		if len(v.Lines()) != 5 {
			t.Errorf("in %s there are %d lines of content, want 5", markup, len(v.Lines()))
		}
	}
}

// TestAFooterIsNoPage holds that where the main element lists links, whose text is all in them, a footer that holds most of what else is said
// stays one: with a new sentence in it each list of a site counted as changed. What says next to nothing is no page for its name.
func TestAFooterIsNoPage(t *testing.T) {
	t.Parallel()
	const footer = "<footer><p>" + prose + "</p></footer>"
	for main, want := range map[string]string{
		strings.Repeat("<li><a href=/p>A letter from the harbour</a> 3 June</li>", 8): "A letter from the harbour 3 June",
		"<p>Nothing.</p>": prose,
	} {
		lines := read(t, "<body><main><h1>Letters</h1><ul>"+main+"</ul></main>"+footer).Lines()
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("the last line of %q is %q, want %q", main, got, want)
		}
	}
}

// TestASidebarIsNoList holds that beside articles that are links alone, as in an archive or below a tag, a sidebar stays one though the headings of
// its parts are most of what is said outside links: of a blog each such page counted as changed with each new post.
func TestASidebarIsNoList(t *testing.T) {
	t.Parallel()
	page := func(element, recent string) *View {
		card := "<" + element + "><header><time><a href=/p>Jun 3</a></time><h1><a href=/p>A letter from the harbour</a></h1></header></" + element + ">"
		return read(t, "<body><header><a href=/>Blog</a></header><section>"+strings.Repeat(card, 4)+"</section><aside><h3>Categories</h3><ul><li><a href=/c>Sea</a></ul>"+
			"<h3>Recent posts</h3><ul>"+recent+"<li><a href=/q>The old bridge</a></ul></aside><footer>2026</footer>")
	}
	for element, want := range map[string]VerdictKind{"article": Noise, "div": Change} {
		got := Judge(Case{Before: page(element, ""), After: page(element, "<li><a href=/n>News of the lanterns</a>"), Threshold: 0.5})
		if got.Kind != want {
			t.Errorf("beside each %s: %v (%.2f, %v), want %v", element, got.Kind, got.Significance, got.Reasons, want)
		}
	}
}

// TestATextBesideTeasersIsThePage holds that beside articles that are links alone, as cards of others below a page or the list beside what was chosen of it,
// a text is the page whatever its region is called.
func TestATextBesideTeasersIsThePage(t *testing.T) {
	t.Parallel()
	cards := strings.Repeat("<article><a href=/p><h3>A letter from the harbour</h3><p>"+prose+"</p></a></article>", 6)
	for _, markup := range []string{"<aside>", "<div class=modal>", "<div style=display:none>"} {
		page := func(said string) *View {
			return read(t, "<body>"+markup+"<h1>The old bridge</h1><p>"+prose+"</p><p>"+said+"</p></div></aside><section>"+cards+"</section>")
		}
		got := Judge(Case{Before: page("It is open to walkers and riders."), After: page("It is closed until the flood is over."), Threshold: 0.5})
		if got.Kind != Change {
			t.Errorf("in %s: %v (%.2f, %v), want a change", markup, got.Kind, got.Significance, got.Reasons)
		}
	}
}

// TestAMenuAroundTheMainElement holds that a menu is not content where the main element says so little beside other articles that the whole page
// is: a new entry counted as a change of each short post. Without such an element it is, and so is what the footer says.
func TestAMenuAroundTheMainElement(t *testing.T) {
	t.Parallel()
	page := func(element, entry, notice string) *View {
		card := "<article><h2><a href=/x>Another one</a></h2><p>" + prose + "</p></article>"
		return read(t, "<body><div class=viewport><header><nav><ul><li><a href=/>Home</a><li><a href=/about>About</a>"+entry+"</ul></nav></header><"+element+
			"><h1>Coming soon</h1><p>"+prose+" And more.</p></"+element+"><section>"+card+card+"</section><footer><p>"+notice+"</p></footer></div>")
	}
	for _, test := range []struct {
		element, entry, notice string
		want                   VerdictKind
	}{
		{"main", "<li><a href=/repairs>Repairs</a>", "Call 555 1245", Noise},
		{"section", "<li><a href=/repairs>Repairs</a>", "Call 555 1245", Change},
		{"main", "", "Call 555 1384", Change},
	} {
		got := Judge(Case{Before: page(test.element, "", "Call 555 1245"), After: page(test.element, test.entry, test.notice), Threshold: 0.5})
		if got.Kind != test.want {
			t.Errorf("around a %s, %q and %q: %v (%.2f, %v), want %v", test.element, test.entry, test.notice, got.Kind, got.Significance, got.Reasons, test.want)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const page = `<main><div class=price>17 €</div><p>` + prose + `</p><div id=ad>Buy this</div><p>Visit no. 4711</p></main>`
	for name, test := range map[string]struct {
		watch, ignore, text []string
		want, unmatched     []string
	}{
		"watch":      {watch: []string{".price"}, want: []string{"17 €"}},
		"ignore":     {ignore: []string{"#ad, .none"}, want: []string{"17 €", prose, "Visit no. 4711"}},
		"text":       {ignore: []string{"#ad", ".price"}, text: []string{`no\. \d+`}, want: []string{prose, "Visit"}},
		"both":       {watch: []string{"main > p"}, ignore: []string{"p:last-child"}, want: []string{prose}},
		"nothing":    {watch: []string{".gone", "p"}, want: []string{prose, "Visit no. 4711"}, unmatched: []string{".gone"}},
		"watch none": {watch: []string{".gone"}, ignore: []string{"#ad", ".price", ".x"}, want: []string{prose, "Visit no. 4711"}, unmatched: []string{".gone", ".x"}},
	} {
		rules, err := Compile(test.watch, test.ignore, test.text)
		if err != nil {
			t.Fatal(err)
		}
		v := Read([]byte(page), "text/html", canon.URL{}, rules)
		if diff := cmp.Diff(test.want, v.Lines()); diff != "" {
			t.Errorf("%s: lines (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.unmatched, v.Unmatched); diff != "" {
			t.Errorf("%s: unmatched (-want +got):\n%s", name, diff)
		}
	}
	for _, bad := range [][3][]string{{{"p["}, nil, nil}, {nil, {":no-such"}, nil}, {nil, nil, {"("}}} {
		if _, err := Compile(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("Compile(%v) gave no error", bad)
		}
	}
	rules, err := Compile([]string{"main > p"}, []string{"p:last-child"}, nil, Watching{isShop{}, []string{".price"}}, Watching{isShop{}, nil})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{"https://shop.test/": "17 €", "https://blog.test/": prose} {
		if got := Read([]byte(page), "text/html", mustParse(t, url), rules).Lines(); len(got) != 1 || got[0] != want {
			t.Errorf("of %s there is %q, want %q", url, got, want)
		}
	}
	if rules, err := Compile(nil, nil, nil); rules != nil || err != nil {
		t.Errorf("Compile of nothing = %v, %v", rules, err)
	}
}

type isShop struct{}

func (isShop) Keeps(u canon.URL) bool { return u.HostName() == "shop.test" }

func TestKinds(t *testing.T) {
	t.Parallel()
	const rss = `<?xml version="1.0"?><rss><channel><title>News</title><lastBuildDate>today</lastBuildDate>
<item><title>One</title><link>/1</link><guid>1</guid><pubDate>x</pubDate><description>&lt;p&gt;All &lt;b&gt;of&lt;/b&gt; it&lt;/p&gt;</description></item></channel></rss>`
	for _, test := range []struct {
		media, body string
		kind        Kind
		lines       []string
	}{
		{"text/plain", "one\r\n\n  two  words \n", Text, []string{"one", "two words"}},
		{"application/json", `{"b":[1,{"c":null}],"a":"x y"}`, JSON, []string{"b: 1", "c: null", "a: x y"}},
		{"application/problem+json", `[true]`, JSON, []string{"$: true"}},
		{"application/json", `{"a":`, Text, []string{`{"a":`}},
		{"application/rss+xml", rss, Feed, []string{"News", "One", "All of it"}},
		{"text/xml", rss, Feed, []string{"News", "One", "All of it"}},
		{"application/atom+xml", `<feed><title>F</title><updated>1</updated><entry><id>a</id><title>T</title><link href="/a"/><content>C</content></entry></feed>`,
			Feed, []string{"F", "T", "C"}},
		{"application/atom+xml", `<feed><title>F</title><entry><title>T</title><content type="xhtml"><div><p>All <b>of</b> it</p></div></content></entry></feed>`,
			Feed, []string{"F", "T", "All of it"}},
		{"application/xml", `<a x="1"><b>two</b></a>`, XML, []string{"1", "two"}},
		{"application/pdf", "%PDF-1.7", Other, nil},
		{"image/svg+xml", "<svg/>", Other, nil},
		{"image/png", "\x89PNG", Other, nil},
		{"", "<p>one", HTML, []string{"one"}},
		{"", `{"a":1}`, JSON, []string{"a: 1"}},
		{"", "\x00\x01", Other, nil},
		{"", "plain", Text, []string{"plain"}},
		{"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body><script/><p>one</p></body></html>`, HTML, []string{"one"}},
		{"text/html; charset=utf-16le", "<\x00p\x00>\x00h\x00i\x00", HTML, []string{"hi"}},
		{"text/html; charset=latin1", "<p>caf\xe9", HTML, []string{"café"}},
	} {
		v := Read([]byte(test.body), test.media, mustParse(t, "https://example.org/"), nil)
		if v.Kind != test.kind {
			t.Errorf("%s %.20q is %v, want %v", test.media, test.body, v.Kind, test.kind)
		}
		if diff := cmp.Diff(test.lines, v.Lines()); diff != "" {
			t.Errorf("lines of %s %.20q (-want +got):\n%s", test.media, test.body, diff)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	v := read(t, `<body><div class="box7 wide"><p id=x1>`+prose)
	if got := v.Path(&v.Blocks()[0]); got != "body/div.box/p.x" {
		t.Errorf("path %q", got)
	}
	if got := (InNav | Hidden).String(); got != "nav,hidden" {
		t.Errorf("flags %q", got)
	}
}
