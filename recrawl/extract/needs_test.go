package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/recrawl/canon"
)

// withNeeds are options that ask for requisites, too.
var withNeeds = Options{Bytes: 1 << 20, Links: 1000, Requisites: true}

// requisites are those of a page at https://h/d/p as strings, without that.
func requisites(t *testing.T, page, contentType string) []string {
	t.Helper()
	var list []string
	for _, u := range Page([]byte(page), contentType, mustParse(t, "https://h/d/p"), withNeeds).Requisites {
		list = append(list, strings.TrimPrefix(u.String(), "https://h/"))
	}
	return list
}

func TestRequisites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want string // separated by spaces
	}{
		"images": {`<img src=a.png><img src=" b.png " srcset="c.png 1x, d.png 2x"><input type=Image src=e><input type=text src=no><input src=no>`,
			"d/a.png d/b.png d/c.png d/d.png d/e"},
		"picture": {`<picture><source srcset="a.avif 1x,b.avif" type=image/avif><source src=c><img src=d></picture>`, "d/a.avif d/b.avif d/c d/d"},
		"links": {`<link rel=stylesheet href=a><link rel="alternate StyleSheet" href=b><link rel="shortcut icon" href=c><link rel=apple-touch-icon href=d>
			<link rel=mask-icon href=e><link rel=preload href=f imagesrcset="g 2x"><link rel=modulepreload href=h><link rel=manifest href=i>
			<link rel=canonical href=no><link rel=next href=no><link rel=alternate href=no><link rel=dns-prefetch href=no><link href=no>`,
			"d/a d/b d/c d/d d/e d/f d/g d/h d/i"},
		"others": {`<script src=a></script><video src=b poster=c><source src=d><track src=e></video><audio src=f></audio><embed src=g><object data=h></object>`,
			"d/a d/b d/c d/d d/e d/f d/g d/h"},
		"old pages":                {`<body background=a><table background=b><tr background=c><td background=d><th background=e><bgsound src=f><div background=no>`, "d/a d/b d/c d/d d/e d/f"},
		"SVG":                      {`<svg><image href=a /><image xlink:href=b /><use href="c#d"/><use xlink:href="#no"/><feImage href=e /></svg>`, "d/a d/b d/c d/e"},
		"styles":                   {`<p style="background:url(a)"><div STYLE="background:URL('b')"><style>@import "c"; d{background:url("e") image-set("f" 1x)}</style>`, "d/a d/b d/c d/e d/f"},
		"style is over":            {`<style></style>a{b:url(no)}<noscript></noscript>&lt;img src=no>`, ""},
		"noscript":                 {`<noscript><img src=a><style></style>b{c:url(no)}<noscript><img src=d><style>e{f:url(g)}</style></noscript><img src=i>`, "d/a d/d d/g d/i"},
		"lazy":                     {`<img data-src=a data-srcset="b 2x"><img src="data:image/gif;base64,AA" data-src=c><img src=d data-src=no><img src=about:blank data-src=e>`, "d/a d/b d/c d/d d/e"},
		"a pixel":                  {`<img src=no width=1 height=1><noscript><img height="0" width=" 1px " src=no srcset="no 2x"></noscript><img src=a width=1><img src=b width=1 height=100%><img src=c width=10 height=10>`, "d/a d/b d/c"},
		"hidden":                   {`<div hidden><img src=a></div><p style="display:none;background:url(b)"><img src=c>`, "d/a d/b d/c"},
		"template":                 {`<template><img src=no><style>a{b:url(no)}</style><noscript><img src=no></noscript></template><img src=a>`, "d/a"},
		"shadow tree":              {`<template shadowrootmode=open><img src=a></template>`, "d/a"},
		"none":                     {`<img src="data:image/png,a"><img src="javascript:a"><img src="#a"><img src=""><img src=" "><img><p style="a:url(#b) url()"><img src="http://[">`, ""},
		"not the page":             {`<img src=/d/p><img src="?"><img src=p#x>`, "d/p?"},
		"once each":                {`<img src=a><img src=./a><img src=/d/a#b><p style="c:url(a)">`, "d/a"},
		"base":                     {`<img src=a><style>b{c:url(d)}</style><base href=/e/>`, "e/a e/d"},
		"no links":                 {`<a href=no><iframe src=no></iframe><frame src=no><form action=no>`, ""},
		"twice":                    {`<img src=a src=no>`, "d/a"},
		"nothing to close a style": {`<style>a{b:url(c)}`, "d/c"},
		"comment in a style":       {`<style><!-- a{b:url(c)} --></style>`, "d/c"},
		"scripts": {`<script type=module>import "./a.js"</script><script>import("/b.js")</script><script type=text/javascript>import("c")</script>
			<script type=application/json>{"x":'import("/no.js")'}</script><script src=d>import("/no.js")</script>&lt;p>import "/no.js"`, "d/a.js b.js d/d"},
		"in a comment": {`<!-- <img src=no> --><script>'<img src=no>'</script><textarea><img src=no></textarea>`, ""},
		"references":   {`<img src="a?b=1&amp;c=2"><p style="d:url(&quot;e&quot;)">`, "d/a?b=1&c=2 d/e"},
	} {
		if diff := cmp.Diff(c.want, strings.Join(requisites(t, c.page, "text/html"), " ")); diff != "" {
			t.Errorf("%s: requisites (-want +got):\n%s", name, diff)
		}
	}
	if got := Page([]byte(`<img src=a>`), "text/html", mustParse(t, "https://h/"), all); got.Requisites != nil {
		t.Errorf("requisites %v of a page of which they are not asked for", got.Requisites)
	}
}

func TestRequisitesOfXHTML(t *testing.T) {
	t.Parallel()
	page := `<html><head><style/><title>a{b:url(no)}</title><script src="a"/></head><body><img src="b"/><style>c{d:url(e)}</style></body></html>`
	if got := strings.Join(requisites(t, page, "application/xhtml+xml"), " "); got != "d/a d/b d/e" {
		t.Errorf("requisites %s, want d/a d/b d/e", got)
	}
}

func TestRequisitesOfStyleSheets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sheet, contentType, want string }{
		"sheet":       {`@import "a"; @font-face{src:url(b)} c{background:url(//cdn/d)}`, "text/css", "d/a d/b https://cdn/d"},
		"upper case":  {`a{b:url(c)}`, "Text/CSS; charset=utf-8", "d/c"},
		"not a sheet": {`a{b:url(c)}`, "text/plain", ""},
		"header":      {"a{b:url(\xe9)}", "text/css; charset=latin1", "d/%C3%A9"},
		"rule":        {"@charset \"latin1\";a{b:url(\xe9)}", "text/css", "d/%C3%A9"},
		"late rule":   {" @charset \"latin1\";a{b:url(\xc3\xa9)}", "text/css", "d/%C3%A9"},
		"mark":        {"\ufeffa{b:url(é)}", "text/css; charset=latin1", "d/%C3%A9"},
		"wide rule":   {"@charset \"utf-16le\";a{b:url(é)}", "text/css", "d/%C3%A9"},
		"query":       {"@charset \"latin1\";a{b:url(?\xe9)}", "text/css", "d/p?%C3%A9"},
	} {
		got := Page([]byte(c.sheet), c.contentType, mustParse(t, "https://h/d/p"), withNeeds)
		if got.HTML || len(got.Links) > 0 || got.TextDigest != Page([]byte(c.sheet), c.contentType, mustParse(t, "https://h/d/p"), all).TextDigest {
			t.Errorf("%s: taken for more than a sheet: %+v", name, got)
		}
		if got := strings.Join(requisites(t, c.sheet, c.contentType), " "); got != c.want {
			t.Errorf("%s: requisites %s, want %s", name, got, c.want)
		}
	}
}

func TestRequisitesOfScripts(t *testing.T) {
	t.Parallel()
	const text = `import{a}from"./a.js";const b=()=>import("../b.js"),c=new URL("c.png",import.meta.url)`
	for contentType, want := range map[string]string{"text/javascript; charset=utf-8": "d/a.js b.js d/c.png", "application/javascript": "d/a.js b.js d/c.png",
		"application/x-javascript": "d/a.js b.js d/c.png", "application/json": "", "text/plain": ""} {
		if got := strings.Join(requisites(t, text, contentType), " "); got != want {
			t.Errorf("%s: requisites %q, want %q", contentType, got, want)
		}
	}
}

func TestRequisitesAreBounded(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 100 {
		page.WriteString(`<img src="` + strings.Repeat("x", i+1) + `">`)
	}
	got := Page([]byte(page.String()), "text/html", mustParse(t, "https://h/"), Options{Bytes: 1 << 20, Links: 10, Requisites: true})
	if len(got.Requisites) != 10 || got.Undue != 90 || got.Dropped != 0 {
		t.Errorf("%d requisites, %d undue and %d links dropped, want 10, 90 and 0", len(got.Requisites), got.Undue, got.Dropped)
	}
	cut := Page([]byte(`a{b:url(c)}d{e:url(f)}`), "text/css", mustParse(t, "https://h/"), Options{Bytes: 12, Links: 10, Requisites: true})
	if len(cut.Requisites) != 1 || !cut.Cut {
		t.Errorf("%d requisites of a sheet that is cut behind its first rule, want 1", len(cut.Requisites))
	}
}

// TestSrcset holds the parser to the cases of the standard's text.
func TestSrcset(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"":                            "",
		" , ,":                        "",
		"a":                           "a",
		"a, b":                        "a b",
		"a,b":                         "a,b",
		"a,, b":                       "a b",
		"a 1x, b 2x":                  "a b",
		"a 1x,b 2x":                   "a b",
		"a 1.5x, b -1x, c x, d 1e3x":  "a d",
		"a 100w, b 0w, c 1.5w":        "a",
		"a 100w 50h, b 50h, c 50h 1x": "a",
		"a 1x 2x, b 1w 1x, c 1w 2w":   "",
		"a (1x, 2x) 3x, b":            "b",
		"a (1x, 2x":                   "",
		"data:,a 1x, b":               "data:,a b",
		"/a,w_10,h_20/b.png 1x, c":    "/a,w_10,h_20/b.png c",
		"a\n100w\t,\n b\f200w":        "a b",
		"a foo, b":                    "b",
	} {
		if got := strings.Join(srcset(value), " "); got != want {
			t.Errorf("srcset(%q) = %s, want %s", value, got, want)
		}
	}
}

func FuzzSrcset(f *testing.F) {
	for _, seed := range []string{"a 1x, b 2x", "a,, b", "a (1x, 2x) 3x", ",,,", "a 1w 1h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		rest := value
		for _, url := range srcset(value) {
			_, after, ok := strings.Cut(rest, url)
			if url == "" || strings.ContainsAny(url, space) || strings.HasSuffix(url, ",") || !ok {
				t.Fatalf("srcset(%q) has %q", value, url)
			}
			rest = after
		}
	})
}

func isSheet(contentType string) bool { return mediaType(contentType) == "text/css" }

// checkRequisites holds what must be true of the requisites of any page.
func checkRequisites(t failer, got *Extraction, at canon.URL, options Options) {
	if len(got.Requisites) > options.Links || got.Undue < 0 {
		t.Fatalf("%d requisites and %d undue", len(got.Requisites), got.Undue)
	}
	seen := map[canon.URL]bool{at: true}
	for _, u := range got.Requisites {
		if again, err := canon.Parse(u.String()); err != nil || again != u || seen[u] {
			t.Fatalf("requisite %q is not canonical (%v), named twice or the page", u, err)
		}
		seen[u] = true
	}
}

// TestNeedsTakeLinearTime reads pages that would take hours if each part looked at all that follows, or took memory of its own.
func TestNeedsTakeLinearTime(t *testing.T) {
	t.Parallel()
	at, options := mustParse(t, "https://h/d/p"), Options{Bytes: 4 << 20, Links: 1000, Requisites: true}
	for _, part := range []string{"<noscript>", "<noscript><b</noscript>", "<noscript><style>", "<style>@import'a';</style>", `<img srcset="`, `<img srcset="a (,">`,
		`<p style="a:url(`, `<p style='a:url("b")'>`, "<img src=a>", "<svg><use href=a><image>", `<link rel="a a a a `} {
		page := strings.Repeat(part, options.Bytes/len(part))
		if got := Page([]byte(page), "text/html", at, options); len(got.Requisites) > 1 {
			t.Errorf("%q again and again: %d requisites", part, len(got.Requisites))
		}
	}
	value := strings.Repeat(" a (", 1<<20)
	if got := srcset(value); len(got) > 0 {
		t.Errorf("%d candidates in one that never ends", len(got))
	}
}
