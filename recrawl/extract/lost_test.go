package extract

import (
	"strings"
	"testing"
)

func pageOf(t *testing.T, body string) Extraction {
	t.Helper()
	return Page([]byte(body), "text/html", mustParse(t, "https://example.org/a/"), Options{Bytes: 1 << 20, Links: 100})
}

// TestTheFirstOfTwoAttributesCounts holds that a link leads where it does in browsers (HTML, 13.2.5.33: of two attributes
// of one name the second is dropped).
func TestTheFirstOfTwoAttributesCounts(t *testing.T) {
	t.Parallel()
	found := pageOf(t, `<meta name=robots content=nofollow content=all><a href=x href=/y rel=nofollow rel=x>a</a><iframe src=i src=/j></iframe>`)
	if !found.Robots.NoFollow {
		t.Error("the second content counts")
	}
	for i, want := range []string{"https://example.org/a/x", "https://example.org/a/i"} {
		if len(found.Links) != 2 || found.Links[i].URL.String() != want {
			t.Fatalf("links %v, want %s", found.Links, want)
		}
	}
	if !found.Links[0].NoFollow {
		t.Error("the second rel counts")
	}
}

// TestElementsOfPicturesEndWithASlash holds that the rest of a page is not the title of a picture, and that a slash says
// nothing elsewhere.
func TestElementsOfPicturesEndWithASlash(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{
		"<svg><title/><style/></svg><p>text":  4,
		"<svg/><p>text<script/>x</script>":    4,
		"<math><mi/></math><title/>x</title>": 1,
		"<svg><g/></svg><textarea/>one<p>two": 9,
	} {
		if got := pageOf(t, body).TextBytes; got != want {
			t.Errorf("%q shows %d bytes of text, want %d", body, got, want)
		}
	}
}

// TestShadowTreesAreShown holds that the text and the links of a declarative shadow tree are the page's, and no other
// template's.
func TestShadowTreesAreShown(t *testing.T) {
	t.Parallel()
	for mode, shown := range map[string]bool{"shadowrootmode=open": true, "shadowrootmode=CLOSED": true, "shadowrootmode": false, "": false, "open": false} {
		found := pageOf(t, "<p>one<x-y><template "+mode+"><p>two<a href=x>three</a></template></x-y>four")
		if (found.TextBytes > 7) != shown || (len(found.Links) == 1) != shown {
			t.Errorf("%q: %d bytes of text, links %v", mode, found.TextBytes, found.Links)
		}
	}
}

// TestAMistakeIsNoOtherEncoding holds that a few bytes that are no UTF-8 do not turn all letters of a page into others.
func TestAMistakeIsNoOtherEncoding(t *testing.T) {
	t.Parallel()
	ascii, letters := strings.Repeat("plain ", 300), strings.Repeat("é", 40)
	for body, want := range map[string]string{
		ascii + letters:                      "utf-8",
		ascii + letters + "\xc3":             "utf-8",
		ascii + letters + "\xe2\x82":         "utf-8",
		ascii + letters[:21] + " " + letters: "utf-8",
		ascii + "\xe9":                       "windows-1252",
		ascii + "caf\xe9 \xc3\xa9 \xe8":      "windows-1252",
	} {
		if got := pageOf(t, body).Charset; got != want {
			t.Errorf("%q is read as %s, want %s", body[len(ascii):], got, want)
		}
		if _, got := Decode([]byte(body), "text/csv"); got != want {
			t.Errorf("%q as CSV is read as %s, want %s", body[len(ascii):], got, want)
		}
	}
}

// TestHiddenTextOfAPageCounts holds that a page which its scripts show is looked at closely when its hidden text changes,
// and that the scripts and templates in it do not count.
func TestHiddenTextOfAPageCounts(t *testing.T) {
	t.Parallel()
	story := strings.Repeat("one and two ", 50)
	for name, test := range map[string]struct {
		a, b string
		same bool
	}{
		"text":          {"Loading<div style='display:none'>" + story, "Loading<div style='display:none'>" + story + "three", false},
		"body":          {"<body hidden><p>" + story, "<body hidden><p>" + story + "three", false},
		"white space":   {"Loading<div hidden>" + story, "Loading<div hidden>  " + story, true},
		"a script":      {"Loading<div hidden>" + story + "<script>1</script>", "Loading<div hidden>" + story + "<script>2</script>", true},
		"a template":    {"Loading<template>" + story, "Loading<template>two " + story, true},
		"little hidden": {story + "<div hidden>token 1", story + "<div hidden>token 2", true},
	} {
		a, b := pageOf(t, test.a), pageOf(t, test.b)
		if a.TextDigest != b.TextDigest || (a.LinkPrint == b.LinkPrint) != test.same {
			t.Errorf("%s: the same link print: %v, want %v", name, a.LinkPrint == b.LinkPrint, test.same)
		}
	}
}
