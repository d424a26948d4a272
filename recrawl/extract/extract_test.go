package extract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recrawld/recrawl/canon"
)

// urls are the links of an extraction as strings, marked with what else is known of them.
func urls(links []Link) []string {
	var list []string
	for _, link := range links {
		s := link.URL.String()
		if link.Relative {
			s += " relative"
		}
		if link.NoFollow {
			s += " nofollow"
		}
		if link.Order {
			s += " order"
		}
		if link.Action {
			s += " action"
		}
		if link.Feed {
			s += " feed"
		}
		list = append(list, s)
	}
	return list
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"sources": {`<link rel=next href=n><link rel="stylesheet alternate" href=s><link rel="Alternate" href=al>
			<link rel=canonical href=//o/c><meta http-equiv=refresh content="9;r"><frame src=f><area href=ar><a href=a>
			<iframe src=i></iframe><img src=no srcset="no 2x"><form action=no><script src=no></script>`,
			[]string{"https://h/d/n relative", "https://h/d/al relative", "https://o/c", "https://h/d/r relative",
				"https://h/d/f relative", "https://h/d/ar relative", "https://h/d/a relative", "https://h/d/i relative"}},
		"alternates": {`<link rel=alternate type="application/rss+xml; charset=utf-8" href=feed><link rel=alternate type=application/atom+xml href=atom>
			<link rel=alternate type=application/json href=no><link rel=alternate type=application/json+oembed href=no><link rel=alternate type=text/xml+oembed href=no>
			<link rel=alternate type=application/x-wiki href=no><link rel=alternate type=text/html href=no><link rel=alternate hreflang=de href=de>
			<link rel=alternate type=text/html hreflang=fr href=fr><link rel=alternate media=handheld href=//m/><a href=atom>`,
			[]string{"https://h/d/feed relative feed", "https://h/d/atom relative", "https://h/d/de relative", "https://h/d/fr relative", "https://m/"}},
		"a sitemap":         {`<link rel=sitemap type=application/xml href=/sitemap-index.xml>`, []string{"https://h/sitemap-index.xml relative"}},
		"no pages":          {`<a href="javascript:x"><a href=mailto:a@b><a href=data:,x><a href=tel:1><a href="http://[">`, nil},
		"a campaign":        {`<a href="x?utm_source=share&amp;utm_medium=web"><a href=x><a href="y?id=1&amp;gclid=2">`, []string{"https://h/d/x relative", "https://h/d/y?id=1 relative"}},
		"once each":         {`<a href=x#1><a href=x#2><a href=./x><a href=/d/x>`, []string{"https://h/d/x relative"}},
		"nofollow by all":   {`<a rel=NoFollow href=x><a rel="ugc nofollow" href=x><a rel=follow href=y>`, []string{"https://h/d/x relative nofollow", "https://h/d/y relative"}},
		"nofollow by one":   {`<a rel=nofollow href=x><a href=x>`, []string{"https://h/d/x relative"}},
		"absolute by one":   {`<a href=x><a href=https://h/d/x>`, []string{"https://h/d/x"}},
		"base behind link":  {`<a href=x></a><base href=/b/>`, []string{"https://h/b/x relative"}},
		"first base counts": {`<base target=x><base href=/b/><base href=/c/><a href=x>`, []string{"https://h/b/x relative"}},
		"base elsewhere":    {`<base href=//o/><a href=x>`, []string{"https://o/x"}},
		"base unusable":     {`<base href=data:,x><a href=x>`, []string{"https://h/d/x relative"}},
		"template":          {`<template><a href=x></template><a href=y>`, []string{"https://h/d/y relative"}},
		"hidden":            {`<div hidden><a href=x></div>`, []string{"https://h/d/x relative"}},
		"references":        {`<a href="?a=1&amp;b=2&copy=3"> <a href=" /sp ace ">`, []string{"https://h/d/p?a=1&b=2&copy=3 relative", "https://h/sp%20ace relative"}},
		"in comment":        {`<!-- <a href=x> --><textarea><a href=y></textarea>`, nil},
	} {
		got := urls(Page([]byte(c.page), "text/html", mustParse(t, "https://h/d/p"), all).Links)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: links (-want +got):\n%s", name, diff)
		}
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`<!doctype html><html lang=" de-CH "><p lang=fr>`: "de-CH",
		`<html><html lang=en><p>`:                         "en",
		`<html lang=en><html lang=fr>`:                    "en",
		`<p lang=fr>`:                                     "",
		`<html lang="de<script>">`:                        "",
		`<html lang="` + strings.Repeat("x", 36) + `">`:   "",
		`<html lang="" LANG=en xml:lang=it>`:              "",
	} {
		if got := Page([]byte(page), "text/html", mustParse(t, "https://h/"), all).Language; got != want {
			t.Errorf("language of %s = %q, want %q", page, got, want)
		}
	}
	for _, attrs := range []string{`xml:lang="it"`, `lang="en" xml:lang="it"`, `xml:lang="it" lang="en"`} {
		if got := Page([]byte("<html "+attrs+"><p>"), "application/xhtml+xml", mustParse(t, "https://h/"), all).Language; got != "it" {
			t.Errorf("language of XHTML with %s = %q, want it", attrs, got)
		}
	}
}

func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 100 {
		page.WriteString(`<a href="` + strings.Repeat("x", i+1) + `">`)
	}
	got := Page([]byte(page.String()), "text/html", mustParse(t, "https://h/"), Options{Bytes: 1 << 20, Links: 10})
	if len(got.Links) != 10 || got.Dropped != 90 || got.Links[9].URL.Path() != "/xxxxxxxxxx" {
		t.Errorf("%d links and %d dropped, the last %v; want the first 10, and 90 dropped", len(got.Links), got.Dropped, got.Links[9])
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://h/d/p")
	got := Page([]byte("\ufeff<html><head><title> A &amp;\n B </title><link rel=canonical href=c#x><link rel=canonical href=d>"+
		`<base href=/b/><META HTTP-EQUIV=Refresh CONTENT="3.9; URL='r'"><meta http-equiv=refresh content=0;url=no>
		<meta name=ROBOTS content="NoArchive, max-snippet:-1"><meta name=recrawld content=nofollow><meta name=other content=noindex>
		<svg><title>icon</title></svg>`), "text/html", at, all)
	if got.Title != "A & B" || !got.HTML || got.Charset != "utf-8" || got.Cut {
		t.Errorf("title %q, HTML %v, charset %q, cut %v", got.Title, got.HTML, got.Charset, got.Cut)
	}
	if got.Base.String() != "https://h/b/" || got.Canonical.String() != "https://h/b/c" {
		t.Errorf("base %q, canonical %q", got.Base, got.Canonical)
	}
	if got.Refresh.URL.String() != "https://h/b/r" || got.Refresh.Delay != 3*time.Second {
		t.Errorf("refresh %v", got.Refresh)
	}
	if want := (Directives{NoFollow: true, NoArchive: true}); got.Robots != want {
		t.Errorf("robots %+v, want %+v", got.Robots, want)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	const body = "<html><title>t</title><a href=x>text</a>"
	for contentType, want := range map[string]struct{ html, text bool }{
		"text/html": {true, true}, "TEXT/HTML; charset=\"": {true, true}, "": {true, true},
		"application/xhtml+xml": {true, true}, "text/plain; charset=utf-8": {false, true},
		"application/json": {false, false}, "application/xml": {false, false}, "image/png": {false, false}, "nonsense": {false, false},
	} {
		got := Page([]byte(body), contentType, mustParse(t, "https://h/"), all)
		if got.HTML != want.html || (got.TextDigest != [32]byte{}) != want.text || (len(got.Links) == 1) != want.html {
			t.Errorf("%q: HTML %v, text %v, %d links, want %+v", contentType, got.HTML, got.TextBytes, len(got.Links), want)
		}
	}
}

func TestXHTMLSelfClosing(t *testing.T) {
	t.Parallel()
	const body = `<html><head><title/><script src="x"/></head><body>seen<a href="y"/></body></html>`
	at := mustParse(t, "https://h/")
	if got := Page([]byte(body), "application/xhtml+xml", at, all); got.TextBytes != 4 || len(got.Links) != 1 {
		t.Errorf("as XHTML: %d bytes of text, %d links, want 4 and 1", got.TextBytes, len(got.Links))
	}
	if got := Page([]byte(body), "text/html", at, all); len(got.Links) != 0 {
		t.Errorf("as HTML: %d links, want none: the title never ends", len(got.Links))
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://h/")
	want := Page([]byte("<p>caf\u00e9</p>"), "text/html; charset=utf-8", at, all).TextDigest
	late := strings.Repeat("<!-- comment -->", 200)
	for name, c := range map[string]struct{ body, contentType string }{
		"header":        {"<p>caf\xe9</p>", "text/html; charset=ISO-8859-1"},
		"meta":          {"<meta charset=latin1><p>caf\xe9</p>", "text/html"},
		"late meta":     {late + "<meta charset=iso-8859-2><p>caf\xe9</p>", "text/html"},
		"mark, header":  {"\ufeff<p>caf\u00e9</p>", "text/html; charset=ISO-8859-1"},
		"UTF-16":        {"\xff\xfe<\x00p\x00>\x00c\x00a\x00f\x00\xe9\x00", "text/html"},
		"UTF-16 header": {"\x00<\x00p\x00>\x00c\x00a\x00f\x00\xe9", "text/html; charset=utf-16be"},
		"late UTF-8":    {late + "<p>caf\u00e9</p>", "text/html"},
		"unknown label": {"<p>caf\u00e9</p>", "text/html; charset=klingon"},
	} {
		if got := Page([]byte(c.body), c.contentType, at, all); got.TextDigest != want {
			t.Errorf("%s: read as %s, another text of %d bytes", name, got.Charset, got.TextBytes)
		}
	}
}

func TestQueryIsInThePagesEncoding(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]string{
		"text/html; charset=iso-8859-1": "https://h/%C3%A9?q=%E9%26%238987%3B",
		"text/html; charset=shift_jis":  "https://h/%C3%A9?q=%26%23233%3B%26%238987%3B",
		"text/html; charset=utf-8":      "https://h/%C3%A9?q=%C3%A9%E2%8C%9B",
	} {
		page := `<a href="/&eacute;?q=&eacute;&#8987;#&eacute;">`
		if got := urls(Page([]byte(page), contentType, mustParse(t, "https://h/"), all).Links); len(got) != 1 || got[0] != want+" relative" {
			t.Errorf("%s: %q, want %q", contentType, got, want)
		}
	}
}

// TestQueryWithAByteThatEndsIt is of an encoding whose letters hold the byte of "#".
func TestQueryWithAByteThatEndsIt(t *testing.T) {
	t.Parallel()
	found := Page([]byte(`<a href="/?q=&#x30A3;&r=1">`), "text/html; charset=iso-2022-jp", mustParse(t, "https://h/"), all)
	if got, want := urls(found.Links), "https://h/?q=%1B$B%%23%1B(B&r=1 relative"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEncodingsThatBrowsersRefuse would make one letter of any body.
func TestEncodingsThatBrowsersRefuse(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://h/")
	one := Page([]byte("<p>one thing"), "text/html; charset=iso-2022-kr", at, all)
	other := Page([]byte("<p>quite another thing"), "text/html; charset=iso-2022-kr", at, all)
	if one.TextDigest == other.TextDigest && one.TextDigest != [32]byte{} {
		t.Errorf("two bodies have the same text, of %d bytes, read as %s", one.TextBytes, one.Charset)
	}
}

func TestVisibleAttributes(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://h/")
	text := func(page string) [32]byte { return Page([]byte(page), "text/html", at, all).TextDigest }
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"alternative text":   {`x<img alt=one>`, `x<img alt=two>`, false},
		"button":             {`x<input type=SUBMIT value=one>`, `x<input type=submit value=two>`, false},
		"token":              {`x<input type=hidden value=one>`, `x<input type=hidden value=two>`, true},
		"field":              {`x<input value=one>`, `x<input value=two>`, true},
		"tooltip":            {`x<b title=one>y</b>`, `x<b title=two>y</b>`, true},
		"link target":        {`<a href=one>x</a>`, `<a href=two>x</a>`, true},
		"hidden":             {`x<b hidden>y</b>`, `x`, true},
		"display":            {`x<b style="color:red; DISPLAY : none !important">y</b>`, `x`, true},
		"until found":        {`x<b hidden=until-found>y</b>`, `xy`, true},
		"streamed":           {`x<div hidden id=S:1>y</div>`, `x<div>y</div>`, true},
		"not quite display":  {`x<b style="display:block">y</b>`, `xy`, true},
		"hidden by its name": {`x<b class=hidden>y</b>`, `xy`, true},
		"image in hidden":    {`x<div hidden><img alt=one></div>`, `x`, true},
	} {
		if same := text(c.a) == text(c.b); same != c.same {
			t.Errorf("%s: %q and %q have the same text: %v, want %v", name, c.a, c.b, same, c.same)
		}
	}
}

func TestCutPageHasNoTextDigest(t *testing.T) {
	t.Parallel()
	body := []byte("<a href=x>one</a><a href=y>two</a>")
	got := Page(body, "text/html", mustParse(t, "https://h/"), Options{Bytes: 17, Links: 10})
	if !got.Cut || got.TextDigest != ([32]byte{}) || len(got.Links) != 1 {
		t.Errorf("cut %v, %d links, digest %x; want one link and no digest", got.Cut, len(got.Links), got.TextDigest)
	}
}

func TestRobotsTag(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Directives{
		"noindex":                   {NoIndex: true},
		"None":                      {NoIndex: true, NoFollow: true},
		"noarchive , NoFollow":      {NoArchive: true, NoFollow: true},
		"recrawld: noindex":         {NoIndex: true},
		"Recrawld : a, noindex":     {NoIndex: true},
		"otherbot: noindex, none":   {},
		"unavailable_after: 25 Jun": {},
		"max-snippet:0, noindex":    {NoIndex: true},
		"all, follow, :":            {},
		"":                          {},
	} {
		if got := ParseRobotsTag([]string{value}, "recrawld"); got != want {
			t.Errorf("ParseRobotsTag(%q) = %+v, want %+v", value, got, want)
		}
	}
	if got := ParseRobotsTag([]string{"noindex", "recrawld: noarchive"}, "recrawld"); got != (Directives{NoIndex: true, NoArchive: true}) {
		t.Errorf("two headers = %+v", got)
	}
}

// hostile are pages made to be slow to read.
func hostile() map[string]string {
	return map[string]string{
		"depth":          strings.Repeat("<div>", 100_000) + "x" + strings.Repeat("</div>", 100_000),
		"hidden depth":   strings.Repeat("<div hidden>", 100_000) + "x",
		"unclosed":       strings.Repeat("<b><i><p><a href=x>", 100_000),
		"open tags":      strings.Repeat("<a ", 100_000),
		"10 MB value":    `<a href="` + strings.Repeat("x", 10<<20) + `">x`,
		"10 MB alt":      `<img alt="` + strings.Repeat("&amp;", 1<<20) + `">x`,
		"10 MB name":     "<" + strings.Repeat("x", 10<<20),
		"attributes":     "<a " + strings.Repeat("x=1 y ", 100_000) + ">",
		"NULs":           strings.Repeat("<\x00a hr\x00ef=\x00>\x00", 100_000),
		"comments":       strings.Repeat("<!--", 100_000),
		"script ends":    "<script>" + strings.Repeat("<!--<script></scrip", 100_000),
		"ampersands":     strings.Repeat("&", 1<<20),
		"entities":       strings.Repeat("&ampampampamp;", 100_000),
		"links":          strings.Repeat("<a href=x>", 100_000),
		"end tags":       strings.Repeat("</p></div>", 100_000),
		"credentials":    strings.Repeat("<a href=//"+strings.Repeat("@", 1000)+"h>", 1000),
		"metas":          strings.Repeat("<meta charset=x>", 100_000),
		"angle brackets": strings.Repeat("<", 1<<20),
		"titles":         strings.Repeat("<title>x</title>", 100_000),
	}
}

// quadratic is more than any page takes that is read in linear time, on a busy machine under the race detector, and less
// than a page of these takes whose reading goes with the square of its length.
const quadratic = 20 * time.Second

func TestHostilePagesAreQuick(t *testing.T) {
	at := mustParse(t, "https://h/")
	for name, page := range hostile() {
		start := time.Now()
		Page([]byte(page), "text/html", at, all)
		took := time.Since(start)
		t.Logf("%s: %d bytes in %v", name, len(page), took)
		if took > quadratic {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// pieces is what the property test and the fuzz seeds put pages together from.
var pieces = []string{"<a href=x>", "<a href='//o/y?\xe9#z' rel=nofollow>", "</a>", "<base href=/b/>", "<div hidden>", "</div>",
	"<p hidden>", "<p>", "<template>", "</template>", "<script>", "</script>", "<title>t", "</title>", "<!--", "-->", "text",
	"<meta charset=koi8-r>", "<meta http-equiv=refresh content=1;url=x>", "<meta name=robots content=none>", "<", ">", "\"", "'",
	"\x00", "\xff\xfe", "&amp", "&#0;", "<li hidden>", "<ul>", "</ul>", "<svg/>", "<img alt=x>", "<iframe src=x/>", "<plaintext>",
	"<link rel=canonical href=c>", "<![CDATA[", "]]>", "<?xml?>", "é", "\u200b", "<img src=i srcset='s 2x, t,,u'>", "<style>", "</style>",
	"@import 'y';", "<noscript>", "</noscript>", "<p style='x:url(z)'>", "<use href=w#f>", "HIDDEN Style=display:none>"}

func TestExtractionIsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		page := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
		contentType := rapid.SampledFrom([]string{"text/html", "application/xhtml+xml", "text/plain", ""}).Draw(t, "type")
		checkPage(t, []byte(page), contentType)
	})
}

func FuzzExtract(f *testing.F) {
	for _, piece := range pieces {
		f.Add([]byte("<title>t</title>"+piece+"<a href=y>"+piece), "text/html; charset=utf-8")
	}
	f.Add([]byte("\xfe\xff\x00<\x00a"), "text/html")
	f.Add([]byte("<a/>"), "application/xhtml+xml; charset=shift_jis")
	f.Add([]byte("@charset \"koi8-r\";@import 'a';b{c:url(d)}"), "text/css")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) { checkPage(t, body, contentType) })
}

type failer interface {
	Fatalf(format string, args ...any)
}

// checkPage holds what must be true of any page.
func checkPage(t failer, body []byte, contentType string) {
	at, err := canon.Parse("https://h/d/p")
	if err != nil {
		t.Fatalf("%v", err)
	}
	options := Options{Bytes: 1 << 20, Links: 3, Agent: "recrawld", Requisites: true}
	got := Page(body, contentType, at, options)
	if diff := cmp.Diff(got, Page(body, contentType, at, options), cmp.Comparer(func(a, b canon.URL) bool { return a == b })); diff != "" {
		t.Fatalf("read again %q is another page:\n%s", body, diff)
	}
	if len(got.Links) > options.Links || len(got.Title) > maxTitle || got.Dropped < 0 || got.Refresh.Delay < 0 ||
		got.Refresh.Delay > maxRefresh || (got.TextBytes == 0 && got.TextDigest != [32]byte{}) {
		t.Fatalf("out of bounds: %+v", got)
	}
	checkRequisites(t, &got, at, options)
	plain := options
	plain.Requisites = false
	got.Requisites, got.Undue = nil, 0
	if diff := cmp.Diff(Page(body, contentType, at, plain), got, cmp.Comparer(func(a, b canon.URL) bool { return a == b })); diff != "" && !isSheet(contentType) {
		t.Fatalf("with its requisites %q is another page:\n%s", body, diff)
	}
	seen := map[canon.URL]bool{}
	for _, link := range got.Links {
		if again, err := canon.Parse(link.URL.String()); err != nil || again != link.URL || seen[again] {
			t.Fatalf("link %q is not canonical (%v) or named twice", link.URL, err)
		}
		if seen[link.URL] = true; link.Relative && link.URL.HostName() != "h" {
			t.Fatalf("link %q is relative and leads elsewhere", link.URL)
		}
	}
}

func FuzzRefresh(f *testing.F) {
	for _, content := range []string{"1; url=foo", "1,'foo'bar", ".5 url", "9999999999999999999999;x", "1\furl = \"a", ";", "1x"} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		delay, ref, ok := ParseRefresh(content)
		if delay < 0 || delay > maxRefresh || !strings.Contains(content, ref) || !ok && (delay != 0 || ref != "") {
			t.Errorf("ParseRefresh(%q) = %v, %q, %v", content, delay, ref, ok)
		}
	})
}

// A Reader says of each page what one that has read nothing says, whatever it read before: pages that end in the midst of a
// script or of something hidden, of another charset, with more links or longer tags than it keeps room for.
func TestReaderOfManyPages(t *testing.T) {
	t.Parallel()
	at, reader := mustParse(t, "https://h/d/p"), new(Reader)
	pages := []string{
		`<title>One</title><base href=/b/><h1>One</h1><p>A line of text that is long enough to count as one.</p><a href=x>x</a>`,
		`<svg><title>no</title><p hidden>gone <script>var x = "<a href=y>"`,
		`<html lang=de><meta name=robots content=nofollow><p>A second page, with <a rel=nofollow href=z>a link</a>`,
		`<p title="` + strings.Repeat("long ", 1000) + `">text</p><template><a href=q>`,
		strings.Repeat(`<a href=`+strings.Repeat("u", 20)+`>`, 3) + manyLinks(2000),
		`<textarea>not ended`, `plain`, ``, `<noscript><img src=a><style>b{c:url(d)}</style></noscript><img src=e>`, `<noscript><img src="never`,
		`<style>a{b:url(c)`, `<noscript><title>`, strings.Repeat(`<img src=`+strings.Repeat("i", 20)+`>`, 3) + strings.ReplaceAll(manyLinks(300), "a href", "img src"),
	}
	for range 3 {
		for _, page := range pages {
			for _, kind := range []string{"text/html", "application/xhtml+xml", "text/html; charset=iso-8859-1", "text/plain"} {
				for _, options := range []Options{all, withNeeds} {
					want, got := Page([]byte(page), kind, at, options), reader.Page([]byte(page), kind, at, options)
					if d := cmp.Diff(want, got, cmp.Comparer(func(a, b canon.URL) bool { return a == b })); d != "" {
						t.Errorf("%.40q as %s after other pages (-want +got):\n%s", page, kind, d)
					}
				}
			}
		}
	}
}

func manyLinks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=page%d>", i)
	}
	return b.String()
}

// What the header says of UTF-8 counts for less than a byte order mark of another encoding.
func TestSaidToBeUTF8(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"<p>é": "utf-8", "\xef\xbb\xbf<p>é": "utf-8", "<meta charset=iso-8859-1><p>é": "utf-8",
		"\xfe\xff\x00<\x00p\x00>": "utf-16be", "\xff\xfe<\x00p\x00>\x00": "utf-16le",
	} {
		for _, kind := range []string{"text/html; charset=utf-8", "text/html;charset=UTF-8", `text/html; charset="utf-8"`} {
			if got := Page([]byte(body), kind, mustParse(t, "https://h/"), all).Charset; got != want {
				t.Errorf("%q as %s is read as %s, want %s", body, kind, got, want)
			}
		}
	}
}
