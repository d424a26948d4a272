package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// mostFacts bounds how many facts are kept.
const mostFacts = 500

// mostItems bounds how many pieces of a source are compared.
const mostItems = 400_000

// item is a piece of an HTML source: an attribute, a script, a comment, a tag, a run of text.
type item struct{ what, where, value string }

func (i item) key() string { return i.what + "\x00" + i.where + "\x00" + i.value }

// sourceFacts compares the sources of two HTML pages piece by piece. Where the content differs,
// what comes with it (text, tags, links, images) is left to its lines. more is how many facts were left out.
func sourceFacts(before, after []byte, contentDiffers bool) (facts []Fact, more int) {
	a, b := items(before), items(after)
	keysA, keysB := make([]string, len(a)), make([]string, len(b))
	for i := range a {
		keysA[i] = a[i].key()
	}
	for i := range b {
		keysB[i] = b[i].key()
	}
	for _, e := range edits(keysA, keysB) {
		for _, f := range itemFacts(a[e.from:e.to], b[e.newFrom:e.newTo]) {
			switch {
			case contentDiffers && slices.Contains(withContent, f.What):
			case len(facts) == mostFacts:
				more++
			default:
				f.Before, f.After = excerpts(f.Before, f.After)
				facts = append(facts, f)
			}
		}
	}
	return facts, more
}

// withContent are the kinds of fact that are part of content, or follow from it.
var withContent = []string{"text", "markup", "link", "image"}

// itemFacts pairs what went and what came at one place by what and where it is.
func itemFacts(gone, come []item) []Fact {
	var facts []Fact
	open := map[string][]int{} // facts that wait for their After
	for _, i := range gone {
		name := i.what + "\x00" + i.where
		open[name] = append(open[name], len(facts))
		facts = append(facts, Fact{What: i.what, Where: i.where, Before: i.value})
	}
	for _, i := range come {
		name := i.what + "\x00" + i.where
		if waiting := open[name]; len(waiting) > 0 {
			facts[waiting[0]].After = i.value
			open[name] = waiting[1:]
			continue
		}
		facts = append(facts, Fact{What: i.what, Where: i.where, After: i.value})
	}
	out := facts[:0]
	for _, f := range facts {
		if f.Before != f.After {
			out = append(out, f)
		}
	}
	return out
}

// items cuts an HTML source into its pieces.
func items(source []byte) []item {
	z := html.NewTokenizer(bytes.NewReader(source))
	z.SetMaxBuf(0)
	var out []item
	raw := "" // the element whose raw text comes next
	for len(out) < mostItems {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.CommentToken:
			out = append(out, item{what: "comment", value: strings.TrimSpace(string(z.Text()))})
		case html.DoctypeToken:
			out = append(out, item{what: "doctype", value: string(z.Text())})
		case html.EndTagToken:
			name, _ := z.TagName()
			out = append(out, item{what: "markup", value: "</" + string(name) + ">"})
			raw = ""
		case html.TextToken:
			out = appendText(out, raw, string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			out = appendTag(out, t)
			raw = ""
			if t.Data == "script" || t.Data == "style" || t.Data == "noscript" || t.Data == "template" {
				raw = t.Data
			}
		}
	}
	return out
}

func appendText(out []item, raw, text string) []item {
	switch {
	case raw != "":
		return append(out, item{what: raw, value: text})
	case strings.TrimSpace(text) == "":
		return out
	}
	return append(out, item{what: "text", value: text})
}

// appendTag adds a tag and its attributes, each by what it is for.
func appendTag(out []item, t html.Token) []item {
	where := "<" + t.Data + mark(t) + ">"
	out = append(out, item{what: "markup", value: "<" + t.Data + ">"})
	for _, a := range t.Attr {
		what, at := attributeKind(t.Data, a.Key), where
		if what == "attribute" || what == "form field" {
			at = a.Key + " of " + where
		}
		out = append(out, item{what, at, a.Val})
	}
	return out
}

// mark tells a tag from others of its name by the first of the attributes that name it.
func mark(t html.Token) string {
	for _, key := range []string{"id", "name", "property", "rel", "http-equiv", "itemprop"} {
		for _, a := range t.Attr {
			if a.Key == key && a.Val != "" && len(a.Val) <= 60 && !strings.ContainsAny(a.Val, "0123456789") {
				return fmt.Sprintf(" %s=%q", key, a.Val)
			}
		}
	}
	return ""
}

// attributeKind says what an attribute is for.
func attributeKind(tag, key string) string {
	switch tag + " " + key {
	case "a href", "area href":
		return "link"
	case "img src", "img srcset", "img data-src", "source srcset", "source src", "video src", "video poster", "picture src":
		return "image"
	case "script src":
		return "script address"
	case "link href":
		return "linked file"
	case "iframe src", "frame src", "embed src", "object data":
		return "frame"
	case "form action":
		return "form address"
	case "input value", "button value", "option value":
		return "form field"
	case "meta content":
		return "meta"
	}
	if key == "style" {
		return "style"
	}
	return "attribute"
}
