package extract

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"

	"recrawld/recrawl/canon"
)

// FuzzRuns holds a page whose runs of text are taken beside the tokenizer against the same one that it reads alone.
func FuzzRuns(f *testing.F) {
	for _, page := range []string{
		"<!DOCTYPE html><title>a < b</title><p>one &amp; two <b>three</b> 3 < 4 <5> six</p>",
		"text<", "text</", "text</>more", "<", "</", "a<!", "a<!-", "a<!-- > -- > --!> b<p>c", "<!--><p>x", "<?php > ?> text",
		"<script>if (a < b) '<p>' > 1</script>after<style>p > q {}</style>x<SCRIPT>\"</p>\"</SCRIPT >y",
		"<script><!-- <script> </script> --></script>z", "<textarea><p>&lt;</textarea><p>q", "<title/>x<title></title>y",
		"<plaintext>a<p>b</plaintext>", "<a href='x>y' title=\"<p>\">in a > link</a> out", "<a href=x>1<a href=y/>2<a/b=c>3",
		"<p\n>a\r\nb\x00c<p>d\r<xmp><b></xmp>e", "<p hidden>h<p>s<template>t<a href=u>v</template>w<a href=z>",
		"<svg><title>a<b></svg>c<noscript><p>d</noscript>e<iframe src=i><p></iframe>f", "<p>\u00e4 <\u00e4> &auml</p>tail",
	} {
		f.Add([]byte(page), false)
		f.Add([]byte(page), true)
	}
	at, err := canon.Parse("https://a.org/dir/page.html")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, xhtml bool) { holdRuns(t, "the page", at, body, xhtml) })
}

func holdRuns(t *testing.T, name string, at canon.URL, body []byte, xhtml bool) {
	t.Helper()
	var texts [2]bytes.Buffer
	var found [2]Extraction
	for i := range found {
		r := newReader()
		if i == 0 { // it was used before, for a page that ends anywhere
			r.begin(document{text: body[:2*len(body)/3], charset: "windows-1252", legacy: charmap.Windows1252}, !xhtml, at, Options{Links: 3})
			r.read()
		}
		r.begin(document{text: body, charset: "utf-8"}, xhtml, at, Options{Bytes: 1 << 20, Links: 100, Text: &texts[i]})
		if i == 1 {
			r.tokens, r.runs.at = html.NewTokenizer(bytes.NewReader(body)), len(body)
		}
		r.read()
		found[i] = r.finish()
	}
	if d := cmp.Diff(found[1], found[0], cmp.Comparer(func(a, b canon.URL) bool { return a == b })); d != "" {
		t.Errorf("extractions of %s differ (-by the tokenizer alone +with runs):\n%s", name, d)
	}
	if d := cmp.Diff(texts[1].String(), texts[0].String()); d != "" {
		t.Errorf("texts of %s differ (-by the tokenizer alone +with runs):\n%s", name, d)
	}
}

// TestRunsOfRealPages is FuzzRuns over the corpus.
func TestRunsOfRealPages(t *testing.T) {
	t.Parallel()
	at, err := canon.Parse("https://a.org/dir/page.html")
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	eachPage(t, func(name string, body []byte) {
		if pages++; pages%4 != 0 {
			return
		}
		holdRuns(t, name, at, body, false)
	})
	if pages < 1000 {
		t.Errorf("the corpus has %d pages", pages)
	}
}
