package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// read feeds mark-up to a Text the way package extract does. An element with the attribute hidden is hidden.
func read(markup string) *Text {
	text := NewText()
	tokens := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return text
		case html.TextToken:
			text.Write(tokens.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			hidden := bytes.Contains(tokens.Raw(), []byte(" hidden"))
			name, _ := tokens.TagName()
			text.Start(name, hidden, false)
		case html.EndTagToken:
			name, _ := tokens.TagName()
			text.End(name)
		}
	}
}

func TestVisibleText(t *testing.T) {
	t.Parallel()
	for markup, want := range map[string]string{
		"":                                   "",
		" \n<div> </div>":                    "",
		"a<b>b</b> c":                        "ab c",
		"<p>one<p>two":                       "one\ntwo",
		"<p> one </p>\n\n<p>two</p>":         "one\ntwo",
		"one<br>two<hr/>three":               "one\ntwo\nthree",
		"<table><tr><td>1<td>2</table>":      "1\n2",
		"a&nbsp;\t\u2003\r\nb":               "a b",
		"a\u200bb&shy;c\ufeff":               "abc",
		"x\x00y\x7f":                         "xy",
		"é\xff":                              "é\ufffd",
		"<title>T</title><h1>H</h1>":         "T\nH",
		"a<script>1 < 2 </b></script>b":      "ab",
		"a<style>p{}</style>b<!-- c -->d":    "abd",
		"a<noscript><p>b</noscript>c":        "ac",
		"a<template><p>b<p>c</template>d":    "ad",
		"a<iframe>b</iframe>c":               "ac",
		"<textarea>a\nb</textarea>":          "a b",
		"<select><option>a<option>b":         "a\nb",
		"<script>never closed":               "",
		"a<span hidden>b</span>c":            "ac",
		"<div hidden><div>a</div>b</div>c":   "c",
		"<div hidden><span></div>c":          "c",
		"<div hidden><p>a<p>b</div>c":        "c",
		"<ul><li hidden>a<li>b</ul>c":        "b\nc",
		"<ul><li hidden>a</ul>c":             "c",
		"<p hidden>a<p>b":                    "b",
		"<p hidden>a<div>b</div>":            "b",
		"<td hidden>a<td>b":                  "b",
		"<div hidden><br><img>a</div>b":      "b",
		"a<br hidden>b":                      "a\nb",
		"a</div></p></nothing>b":             "a\nb",
		"<div hidden>a<script>b</script>c":   "",
		"a<unknown-element>b</a>c":           "abc",
		strings.Repeat("<div>", 50000) + "a": "a",
	} {
		digest, n := read(markup).Sum()
		wantDigest := [32]byte{}
		if want != "" {
			wantDigest = sha256.Sum256([]byte(want))
		}
		if digest != wantDigest || n != int64(len(want)) {
			t.Errorf("text of %.60q has %d bytes, want %q", markup, n, want)
		}
	}
}

func TestPhraseStandsAlone(t *testing.T) {
	t.Parallel()
	text := NewText()
	text.Write([]byte("see"))
	text.Phrase([]byte(" the  map "))
	text.Write([]byte("here"))
	if got, _ := text.Sum(); got != sha256.Sum256([]byte("see the map here")) {
		t.Error("a phrase is not separated from the text around it")
	}
}

func TestInTemplate(t *testing.T) {
	t.Parallel()
	if text := read("<template><a>"); !text.InTemplate() || !text.Hidden() {
		t.Error("not in the template")
	}
	if text := read("<template><a></a></template>"); text.InTemplate() || text.Hidden() {
		t.Error("in the template after its end")
	}
}

// TestDigestIgnoresTheCut holds that it does not matter where text is cut into tokens.
func TestDigestIgnoresTheCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", " ", "\u00a0", "\u200b", strings.Repeat("long", 2000)})).Draw(t, "words")
		whole, parts := NewText(), NewText()
		whole.Write([]byte(strings.Join(words, "")))
		for _, word := range words {
			parts.Write([]byte(word))
		}
		a, n := whole.Sum()
		b, m := parts.Sum()
		if a != b || n != m {
			t.Fatalf("%d bytes at once, %d in parts", n, m)
		}
	})
}

// TestSpaceAndMarkupDoNotMatter holds that layout and inline mark-up leave the digest alone, and letters do not.
func TestSpaceAndMarkupDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zé]{1,8}`), 1, 20).Draw(t, "words")
		space := rapid.SampledFrom([]string{" ", "\n\t", "\u00a0 ", " <b></b>", "<!-- x --> ", " <script>y</script>"}).Draw(t, "space")
		plain, _ := read(strings.Join(words, " ")).Sum()
		styled, _ := read("<div>" + strings.Join(words, space) + "</div>").Sum()
		if plain != styled {
			t.Fatalf("%q with %q between is another text", words, space)
		}
		if other, _ := read(strings.Join(words, " ") + "x").Sum(); other == plain {
			t.Fatalf("a letter more is the same text")
		}
	})
}

func BenchmarkText(b *testing.B) {
	page := strings.Repeat("<p>Some words of <b>running</b> text, as pages have it, é and all.</p>\n", 2400)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		read(page)
	}
}

// TestPlainRun compares the run that is found word by word with the one that is found byte by byte.
func TestPlainRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("aaaaaaaaaaZ~! \n\x00\x1f\x7f\x80\xc3\xff")), 0, 40).Draw(t, "text")
		want := 0
		for want < len(text) && (seenASCII(text[want]) ||
			text[want] == ' ' && want > 0 && want+1 < len(text) && seenASCII(text[want+1])) {
			want++
		}
		if got := plainRun(text); got != want {
			t.Fatalf("plainRun(%q) = %d, want %d", text, got, want)
		}
	})
}
