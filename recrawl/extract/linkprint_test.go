package extract

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// printOf is the link print of a page at https://example.org/dir/page.
func printOf(t testing.TB, markup string) int64 {
	t.Helper()
	return Page([]byte(markup), "text/html; charset=utf-8", mustParse(t, "https://example.org/dir/page"), all).LinkPrint
}

func TestLinkPrint(t *testing.T) {
	t.Parallel()
	const held = `<a href=/one>1</a> <a href="two?b=1&a=2">2</a> <a href="mailto:a@b.test">3</a>`
	for name, test := range map[string]struct {
		markup string
		same   bool
	}{
		"as it was":              {held, true},
		"another order":          {`<a href="mailto:a@b.test">3</a><a href="two?b=1&a=2">2</a><a href=/one>1</a>`, true},
		"one of them twice":      {held + `<a href=/one>again</a>`, false},
		"a fragment":             {strings.Replace(held, "/one", "/one#part", 1), false},
		"a fragment beside":      {held + `<a href=/one#part>again</a>`, false},
		"another scheme":         {strings.Replace(held, "/one", "http://example.org/one", 1), false},
		"a heading":              {held + `<h2>x</h2>`, false},
		"emphasis":               {held + `<b>x</b>`, false},
		"hidden emphasis":        {held + `<div hidden><b>x</b></div>`, true},
		"a hidden heading":       {held + `<div hidden><h2>x</h2></div>`, true},
		"tracking":               {strings.Replace(held, "/one", "/one?utm_source=x&gclid=3", 1), true},
		"a session":              {strings.Replace(held, "a=2", "a=2&amp;PHPSESSID=17", 1), true},
		"a vague session":        {strings.Replace(held, "a=2", "a=2&amp;sid=8e02d65c0a279f970f3850c2e4a46ae4", 1), true},
		"a token":                {strings.Replace(held, "a=2", "a=2&amp;my_post_key=8e02d65c0a279f97", 1), true},
		"a script":               {held + `<a href="javascript:go(17)">x</a>`, true},
		"an image":               {held + `<img src=/new.png>`, true},
		"the head":               {held + `<link rel=alternate href=/feed>`, true},
		"a frame":                {held + `<iframe src=/ad?17></iframe>`, true},
		"a template":             {held + `<template><a href=/four>4</a></template>`, true},
		"other text":             {strings.Replace(held, ">1<", ">first<", 1), true},
		"a link more":            {held + `<a href=/four>4</a>`, false},
		"a link less":            {strings.Replace(held, "<a href=/one>1</a>", "", 1), false},
		"another path":           {strings.Replace(held, "/one", "/1", 1), false},
		"another host":           {strings.Replace(held, "/one", "//example.net/one", 1), false},
		"a parameter":            {strings.Replace(held, "a=2", "a=3", 1), false},
		"another mail address":   {strings.Replace(held, "a@b", "c@b", 1), false},
		"a base for all":         {`<base href=https://example.net/>` + held, false},
		"a name like tracking's": {strings.Replace(held, "/one", "/one?utm=x", 1), false},
	} {
		if got := printOf(t, test.markup) == printOf(t, held); got != test.same {
			t.Errorf("%s: the same print %v, want %v", name, got, test.same)
		}
	}
}

func TestLinkPrintFoldsMailHiddenByACDN(t *testing.T) {
	t.Parallel()
	first := printOf(t, `<a href="/cdn-cgi/l/email-protection#3b52">x</a>`)
	if again := printOf(t, `<a href="/cdn-cgi/l/email-protection#a1c8">x</a>`); again != first || first == 0 {
		t.Errorf("one mail address hidden twice has the prints %d and %d", first, again)
	}
}

func TestLinkPrintOfNoLinks(t *testing.T) {
	t.Parallel()
	for _, markup := range []string{"", "<p>text", "<a>no address</a>", `<a href="javascript:void(0)">x</a>`, "<a href=''>x</a>"} {
		if got := printOf(t, markup); got != 0 {
			t.Errorf("print of %q = %d, want 0", markup, got)
		}
	}
	at := mustParse(t, "https://example.org/")
	if got := Page([]byte("<a href=/x>"), "text/html", at, Options{Bytes: 4, Links: 10}); got.LinkPrint != 0 || !got.Cut {
		t.Errorf("a page that was cut has the print %d", got.LinkPrint)
	}
}

// TestLinkPrintWithoutLinks holds that links count although none is wanted.
func TestLinkPrintWithoutLinks(t *testing.T) {
	t.Parallel()
	at := mustParse(t, "https://example.org/")
	one := Page([]byte("<a href=/x>"), "text/html", at, Options{Bytes: 100})
	two := Page([]byte("<a href=/y>"), "text/html", at, Options{Bytes: 100})
	if one.LinkPrint == two.LinkPrint || len(one.Links) != 0 {
		t.Errorf("prints %d and %d, %d links", one.LinkPrint, two.LinkPrint, len(one.Links))
	}
}

// TestLinkPrintHasNoOrder holds that the order of links does not matter, and that each of them does.
func TestLinkPrintHasNoOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "links")
		links := make([]string, n)
		for i := range links {
			links[i] = fmt.Sprintf("<a href=/%d?q=%d>x</a>", i, rapid.IntRange(0, 9).Draw(rt, "q"))
		}
		before := printOf(t, strings.Join(links, ""))
		seed := rapid.Uint64().Draw(rt, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(n, func(i, j int) { links[i], links[j] = links[j], links[i] })
		if after := printOf(t, strings.Join(links, " ")); after != before {
			rt.Fatalf("%d links in another order: %d, then %d", n, before, after)
		}
		if fewer := printOf(t, strings.Join(links[1:], "")); fewer == before {
			rt.Fatalf("%d links and one less have the print %d", n, before)
		}
	})
}

// TestTargetIsWhatThePrintIsOf holds that the hash that the print is made of is the hash of Target.
func TestTargetIsWhatThePrintIsOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://example.org": "example.org/",
		"http://example.org:8080/a?x=1&utm_medium=m&y&&z=2#f":    "example.org:8080/a?x=1&y&z=2",
		"https://example.org/a;jsessionid=17?FBCLID=2&utm_own=3": "example.org/a",
		"https://example.org/?" + strings.Repeat("long", 10):     "example.org/?" + strings.Repeat("long", 10),
		"https://example.org/cdn-cgi/l/email-protection#abcdef":  "example.org/cdn-cgi/l/email-protection",
	} {
		u := mustParse(t, raw)
		if got := Target(u); got != want {
			t.Errorf("Target(%s) = %q, want %q", raw, got, want)
		}
		if hashTarget(u) != fnvString(fnvOffset, Target(u)) {
			t.Errorf("the hash of %s is not that of its target", raw)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ kind, body, text, charset string }{
		"html, meta":            {"text/html", "<meta charset=iso-8859-1>\xe9", "<meta charset=iso-8859-1>é", "windows-1252"},
		"html, broken utf-8":    {"text/html; charset=utf-8", "a\xe9b", "a\ufffdb", "utf-8"},
		"plain, header":         {"text/plain; charset=koi8-r", "\xc1", "а", "koi8-r"},
		"mark":                  {"application/json", "\xef\xbb\xbf{}", "{}", "utf-8"},
		"utf-16":                {"application/xml", "\xff\xfe<\x00a\x00/\x00>\x00", "<a/>", "utf-16le"},
		"json":                  {"application/json", `{"a":"é"}`, `{"a":"é"}`, "utf-8"},
		"json, late":            {"application/json", strings.Repeat(" ", 2000) + "é", strings.Repeat(" ", 2000) + "é", "utf-8"},
		"xml, declared":         {"application/rss+xml", "<?xml version='1.0' encoding = 'ISO-8859-2'?>\xb1", "<?xml version='1.0' encoding = 'ISO-8859-2'?>ą", "iso-8859-2"},
		"xml, header wins":      {"text/xml; charset=utf-8", "<?xml encoding='ISO-8859-2'?>é", "<?xml encoding='ISO-8859-2'?>é", "utf-8"},
		"xml, unknown":          {"text/xml", "<?xml encoding='martian'?>é", "<?xml encoding='martian'?>é", "utf-8"},
		"xml, cannot be utf-16": {"text/xml", "<?xml encoding='UTF-16'?>é", "<?xml encoding='UTF-16'?>é", "utf-8"},
		"guess":                 {"application/xml", "<a>\xe9</a>", "<a>é</a>", "windows-1252"},
		"nothing":               {"", "", "", "utf-8"},
	} {
		text, charset := Decode([]byte(test.body), test.kind)
		if string(text) != test.text || charset != test.charset && name != "nothing" {
			t.Errorf("%s: %q in %s, want %q in %s", name, text, charset, test.text, test.charset)
		}
	}
}
