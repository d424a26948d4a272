package folder

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"recrawld/recrawl/canon"
)

// library is what the folder of the tests holds.
var library = map[string]string{
	"https://example.org/":                "example.org/index.html",
	"https://example.org/docs/a":          "example.org/docs/a.html",
	"https://example.org/docs/b":          "example.org/docs/b.html",
	"https://example.org/docs/b?x=1&y=2":  "example.org/docs/b~q-aaaaaaaaaa.html",
	"https://example.org/docs/b?" + thing: "example.org/docs/thing.html",
	"https://example.org/docs/caf%C3%A9":  "example.org/docs/café 1#2.html",
	"https://example.org/docs/l%E4?q=%E4": "example.org/docs/latin.html",
	"https://example.org/style.css":       "example.org/style.css",
	"https://example.org/img/x.png":       "example.org/img/x.png",
	"https://example.org/img/y,z.png":     "example.org/img/y,z.png",
	"https://example.org/app.js":          "example.org/app.js",
	"https://cdn.example.net/f.woff2":     "cdn.example.net/f.woff2",
	"https://example.org/moved":           "example.org/docs/b.html",
}

func held(url string) (string, error) { return library[url], nil }

const (
	thing    = "sid=0123456789-boots-for-winter" // of one thing
	pageURL  = "https://example.org/docs/a"
	pageFile = "example.org/docs/a.html"
)

// taken is when pages were asked for.
var taken = time.Unix(1764125712, 0)

func rewrite(t *testing.T, contentType, body string) (string, file) {
	t.Helper()
	at, err := canon.Parse(pageURL)
	if err != nil {
		t.Fatal(err)
	}
	f, err := rewritten(at, taken, pageFile, contentType, []byte(body), held)
	if err != nil {
		t.Fatal(err)
	}
	return string(f.text), f
}

func TestHTMLIsRewritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, body, want string }{
		{"without the moment", `<a href="/docs/b?1764125700">b</a><a href="/docs/b?1764000000">b</a>`,
			`<a href="b.html">b</a><a href="https://example.org/docs/b?1764000000">b</a>`},
		{"without a campaign", `<a href="/docs/b?utm_source=rss">b</a><a href="/nowhere?utm_source=rss">b</a>`,
			`<a href="b.html">b</a><a href="https://example.org/nowhere?utm_source=rss">b</a>`},
		{"without a session", `<a href="/docs/b?sid=8e02d65c0a279f970f3850c2e4a46ae4">b</a><a href="/docs/b;jsessionid=0AAF3E1C9B77D102?utm_source=rss">b</a>`,
			`<a href="b.html">b</a><a href="b.html">b</a>`},
		{"what is no session", `<a href="/docs/b?` + thing + `&amp;utm_source=rss">b</a><img src="/img/x.png?PHPSESSID=4fo7d0h6tn8u0g6v5mgs5vsr6q&amp;1764125700">`,
			`<a href="thing.html">b</a><img src="../img/x.png">`},
		{"a link", `<a href="/docs/b">b</a>`, `<a href="b.html">b</a>`},
		{"a link with a fragment", `<a href='b#part one'>b</a>`, `<a href='b.html#part%20one'>b</a>`},
		{"a link without quotes", `<A HREF=/docs/b?x=1&y=2 id=k>b</A>`, `<A HREF="b~q-aaaaaaaaaa.html" id=k>b</A>`},
		{"character references", `<a href="b?x=1&amp;y=2">`, `<a href="b~q-aaaaaaaaaa.html">`},
		{"references without a semicolon", `<a href="/n?a=1&copy=2">`, `<a href="https://example.org/n?a=1&amp;copy=2">`},
		{"a fragment alone", `<a href="#top"><a href="">`, `<a href="#top"><a href="">`},
		{"the page itself", `<a href="/docs/a#top"><a href=a>`, `<a href="#top"><a href="a.html">`},
		{"a redirect", `<a href="/moved#x">`, `<a href="b.html#x">`},
		{"what is not there", `<a href="../nowhere?q=1#f">`, `<a href="https://example.org/nowhere?q=1#f">`},
		{"another host", `<a href="//other.example.com">`, `<a href="https://other.example.com/">`},
		{"a file on another host", `<link rel=preload href="//cdn.example.net/f.woff2" crossorigin>`,
			`<link rel=preload href="../../cdn.example.net/f.woff2" >`},
		{"a name with other letters", `<a href="caf&eacute;">`, `<a href="caf%C3%A9%201%232.html">`},
		{"other schemes", `<a href="mailto:x@example.org"><a href="javascript:go('/docs/b')"><img src="data:,x">`,
			`<a href="mailto:x@example.org"><a href="javascript:go('/docs/b')"><img src="data:,x">`},
		{"files of this machine", `<img src="file:///etc/passwd"><a href="FI&#9;LE:x">`, `<img src="about:invalid"><a href="about:invalid">`},
		{"another machine of the network", `<img src="\\a..b\share">`, `<img src="about:invalid">`},
		{"it means the same", "<a\n href = \"b.html\" >", "<a\n href = \"https://example.org/docs/b.html\" >"},
		{"images", `<img src=/img/x.png srcset="/img/x.png 1x, /img/y,z.png 2x,/img/no.png 300w" alt="/img/x.png">`,
			`<img src="../img/x.png" srcset="../img/x.png 1x, ../img/y%2Cz.png 2x,https://example.org/img/no.png 300w" alt="/img/x.png">`},
		{"images that scripts show", `<img data-src="/img/x.png" data-srcset="/img/x.png 1x, /no.png 2x"><img data-src="/no.png">`,
			`<img data-src="../img/x.png" data-srcset="../img/x.png 1x, /no.png 2x"><img data-src="/no.png">`},
		{"media", `<video poster="/img/x.png" src=/no.mp4><object data="/img/x.png"><td background=/img/x.png>`,
			`<video poster="../img/x.png" src="https://example.org/no.mp4"><object data="../img/x.png"><td background="../img/x.png">`},
		{"hashes and permissions", `<link rel=stylesheet integrity="sha256-x" href=/style.css crossorigin="anonymous" integrity=y>`,
			`<link rel=stylesheet  href="../style.css"  >`},
		{"hashes of what is elsewhere", `<script integrity=sha256-x src=https://cdn.example.net/x.js crossorigin></script>`,
			`<script integrity=sha256-x src=https://cdn.example.net/x.js crossorigin></script>`},
		{"a base", `<base href="/docs/deep/" target=_blank><a href="../b"><a href="#x"><a href="">`,
			`<base  target=_blank><a href="b.html"><a href="https://example.org/docs/deep/#x"><a href="">`},
		{"a base behind a link", `<a href="b"><base href=/docs/>`, `<a href="b.html"><base >`},
		{"a canonical URL", `<link rel="canonical" href="b">`, `<link rel="canonical" href="https://example.org/docs/b">`},
		{"a form", `<form action="b"><button formaction=/x>`, `<form action="https://example.org/docs/b"><button formaction="https://example.org/x">`},
		{"a refresh", `<meta http-equiv=Refresh content="5;URL='/docs/b'">`, `<meta http-equiv=Refresh content="5; url=b.html">`},
		{"a policy", `<meta http-equiv="Content-Security-Policy" content="default-src 'self'">`, `<meta  content="default-src 'self'">`},
		{"a style attribute", `<p style="background:url(/img/x.png) no-repeat">`, `<p style="background:url('../img/x.png') no-repeat">`},
		{"a style", `<style>@import "/style.css";a{b:url( /img/x.png );c:url(#d)}</style>`,
			`<style>@import "../style.css";a{b:url( "../img/x.png" );c:url(#d)}</style>`},
		{"SVG", `<svg><use xlink:href="#a"/><image href="/img/x.png"/><style/><a href=b></a><p fill="url(#k)"></svg>`,
			`<svg><use xlink:href="#a"/><image href="../img/x.png"/><style/><a href="b.html"></a><p fill="url(#k)"></svg>`},
		{"without scripts", `<noscript><img src="/img/x.png"><style>a{b:url(/img/x.png)}</style><noscript></noscript><a href=b>`,
			`<noscript><img src="../img/x.png"><style>a{b:url("../img/x.png")}</style><noscript></noscript><a href="b.html">`},
		{"a page within", `<iframe srcdoc="<a href='/docs/b'>x</a>&lt;iframe srcdoc=y>" src=b></iframe>`,
			`<iframe srcdoc="&lt;a href='b.html'>x&lt;/a>&lt;iframe srcdoc=y>" src="b.html"></iframe>`},
		{"scripts, comments and text", `<script>x="<a href=/docs/b>"</script><!-- <a href=/docs/b> --><title><a href=/docs/b></title><textarea><a href=b></textarea>`,
			`<script>x="<a href=/docs/b>"</script><!-- <a href=/docs/b> --><title><a href=/docs/b></title><textarea><a href=b></textarea>`},
		{"a template", `<template><a href=b></template>`, `<template><a href="b.html"></template>`},
		{"an attribute twice", `<a href=b href=/docs/b>`, `<a href="b.html" href=/docs/b>`},
		{"a tag that does not end", `<a href=b><a href="b`, `<a href="b.html"><a href="b`},
	} {
		if got, _ := rewrite(t, "text/html", test.body); got != test.want {
			t.Errorf("%s: %s\n is %s\nwant %s", test.name, test.body, got, test.want)
		}
	}
}

// What a page said of its encoding with its header alone, its file says itself; its bytes stay.
func TestEncodings(t *testing.T) {
	t.Parallel()
	wide := func(text string) string {
		var b strings.Builder
		for i := range len(text) {
			b.WriteByte(text[i])
			b.WriteByte(0)
		}
		return b.String()
	}
	for _, test := range []struct{ name, contentType, body, want string }{
		{"said by the header", "text/html; charset=ISO-8859-1", "<!DOCTYPE html><html><head><title>\xe4</title><a href=l\xe4?q=\xe4>",
			"<!DOCTYPE html><html><head><meta charset=\"windows-1252\"><title>\xe4</title><a href=\"https://example.org/docs/l%C3%A4?q=%E4\">"},
		{"without a head", "text/html; charset=utf-8", "<title>ä</title>", "<meta charset=\"utf-8\"><title>ä</title>"},
		{"behind what was rewritten", "text/html; charset=utf-8", "<!doctype html>\n<html manifest=x style='a:url(/img/x.png)'>ä<head>",
			"<!doctype html>\n<html manifest=x style='a:url(\"../img/x.png\")'><meta charset=\"utf-8\">ä<head>"},
		{"said by the page", "text/html", "<meta charset=utf-8>ä<a href=b>", "<meta charset=utf-8>ä<a href=\"b.html\">"},
		{"said by the page in the old way", "text/html; charset=utf-8", "<meta http-equiv=content-type content='text/html; charset=utf-8'>ä",
			"<meta http-equiv=content-type content='text/html; charset=utf-8'>ä"},
		{"the header says otherwise", "text/html; charset=utf-8", "<head><meta charset=latin1>ä", "<head><meta charset=\"utf-8\"><meta charset=latin1>ä"},
		{"a mark at the beginning", "text/html; charset=utf-8", "\ufeff<p>ä", "\ufeff<p>ä"},
		{"nobody says it, and it does not matter", "text/html", "<head><p>a", "<head><p>a"},
		{"nobody says it", "text/html", "<head><p>ä", "<head><meta charset=\"utf-8\"><p>ä"},
		{"UTF-16", "text/html; charset=utf-16le", wide("<a href=b>x"), "\xff\xfe" + wide(`<a href="b.html">x`)},
		{"XHTML", "application/xhtml+xml; charset=iso-8859-1", "<html><a href='b?x=1&amp;y=2'/>\xe4</html>",
			"<?xml version=\"1.0\" encoding=\"windows-1252\"?><html><a href='b~q-aaaaaaaaaa.html'/>\xe4</html>"},
	} {
		if got, _ := rewrite(t, test.contentType, test.body); got != test.want {
			t.Errorf("%s: %q\n is %q\nwant %q", test.name, test.body, got, test.want)
		}
	}
}

func TestStyleSheetsAreRewritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, contentType, body, want string }{
		{"references", "text/css", `@import url(/style.css) print;a{b:url('../img/x.png');c:url("//cdn.example.net/f.woff2#iefix")}/* url(/img/x.png) */`,
			`@import url("../style.css") print;a{b:url('../img/x.png');c:url("../../cdn.example.net/f.woff2#iefix")}/* url(/img/x.png) */`},
		{"what is not there", "text/css", `a{b:url(no\ \'.png)}`, `a{b:url("https://example.org/docs/no%20'.png")}`},
		{"its encoding", "text/css", `a{content:"ä"}`, `@charset "utf-8";a{content:"ä"}`},
		{"its encoding by the header", "text/css; charset=latin1", "@charset \"utf-8\";a{content:\"\xe4\"}",
			"@charset \"windows-1252\";@charset \"utf-8\";a{content:\"\xe4\"}"},
		{"SVG", "image/svg+xml", `<?xml-stylesheet href="/style.css"?><svg><style>a{b:url(/docs/b?x=1&amp;y=2)}</style><image xlink:href="/img/x.png"/></svg>`,
			`<?xml-stylesheet href="../style.css"?><svg><style>a{b:url("b~q-aaaaaaaaaa.html")}</style><image xlink:href="../img/x.png"/></svg>`},
		{"scripts stay", "text/javascript", `import "/app.js"`, `import "/app.js"`},
		{"text stays", "text/plain", `<a href="/docs/b">`, `<a href="/docs/b">`},
	} {
		if got, _ := rewrite(t, test.contentType, test.body); got != test.want {
			t.Errorf("%s: %s\n is %s\nwant %s", test.name, test.body, got, test.want)
		}
	}
}

// What leads out of the folder is counted, what the page needs to be shown by itself.
func TestReferencesElsewhereAreCounted(t *testing.T) {
	t.Parallel()
	_, f := rewrite(t, "text/html", `<a href=/no><a href=/no><img src=/no.png><p style="a:url(/no.gif)"><img data-src=/no><a href=b><img src=/img/x.png>`)
	if f.away != 4 || f.needs != 2 {
		t.Errorf("%d references elsewhere, %d of them needed, want 4 and 2", f.away, f.needs)
	}
}

// A page in which nothing has to be changed stays as it is, byte for byte.
func TestNothingElseChanges(t *testing.T) {
	t.Parallel()
	const body = "<!DOCTYPE html>\r\n<HTML ><head\t><meta CHARSET='utf-8'/><body a=1 a=2 b = 'x'\n><p\x00>&nbsp;&amp;<br/ >< a><x y=\"\r\n\"><![CDATA[x]]><?pi?></p"
	got, err := rewritten(mustParse(t, pageURL), taken, pageFile, "text/html", []byte(body), held)
	if err != nil || !bytes.Equal(got.text, []byte(body)) {
		t.Errorf("%q\n is %q (%v)", body, got.text, err)
	}
}

func mustParse(t *testing.T, url string) canon.URL {
	t.Helper()
	u, err := canon.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Also where the reference is a whole URL, and so stays as it is.
func TestWhatIsNeededOnTheWebIsCounted(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{
		"text/css":      `a{background:url("https://cdn.example.net/none.png")}`,
		"text/html":     `<img src="https://cdn.example.net/none.png">`,
		"image/svg+xml": `<?xml-stylesheet href="https://cdn.example.net/none.css"?><svg/>`,
	} {
		if got, f := rewrite(t, contentType, body); got != body || f.away != 1 || f.needs != 1 {
			t.Errorf("%s: %s with %d references elsewhere, %d of them needed, want 1 and 1", contentType, got, f.away, f.needs)
		}
	}
}
