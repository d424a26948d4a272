package folder

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"recrawld/recrawl/canon"
	"recrawld/recrawl/css"
)

// refsOf are the references of a page in order, as a parser that has nothing to do with ours reads them.
func refsOf(body []byte) (refs []string) {
	tokens := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return refs
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			for _, a := range token.Attr {
				switch a.Key {
				case "href", "src", "poster":
					refs = append(refs, a.Val)
				case "style":
					for ref := range css.Refs([]byte(a.Val)) {
						refs = append(refs, ref.Text)
					}
				}
			}
		}
	}
}

// leads is where a browser goes that opened a file of the folder from disk, by the standard library's rules: the file of the folder, or the URL.
func leads(t *rapid.T, from, ref string) string {
	base := &url.URL{Scheme: "file", Path: "/x/" + from}
	u, err := url.Parse(ref)
	if err != nil {
		t.Fatalf("%q is no reference: %v", ref, err)
	}
	to := base.ResolveReference(u)
	if to.Scheme != "file" {
		to.Fragment, to.RawFragment = "", ""
		return to.String()
	}
	name, ok := strings.CutPrefix(to.Path, "/x/")
	if !ok {
		t.Fatalf("%q leads out of the folder, to %s", ref, to)
	}
	return name
}

// Each reference of a file leads to the file of what the page's led to, or to the same URL on the web.
func TestReferencesLeadToWhereTheyLed(t *testing.T) {
	t.Parallel()
	segment := rapid.SampledFrom([]string{"a", "b", "..", ".", "caf%C3%A9", "x y", "q?x=1", "a#f", "A", "c,d", "e'f", "(g)", "h:i", "%2F", "a;b", "&amp;", "~d", "z.html"})
	path := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(segment, 1, 5).Draw(t, "segments"), "/") })
	reference := rapid.OneOf(path, rapid.Map(path, func(p string) string { return "/" + p }),
		rapid.Map(path, func(p string) string { return "//other.example.net/" + p }), rapid.Map(path, func(p string) string { return "https://example.org/" + p }))
	forms := rapid.SampledFrom([]string{`<a href="%s">`, `<img src="%s">`, `<link rel=stylesheet href="%s">`, `<p style="b:url(&quot;%s&quot;)">`, `<video poster="%s">`})
	rapid.Check(t, func(t *rapid.T) {
		at, err := canon.Parse("https://example.org/" + path.Draw(t, "page"))
		if err != nil {
			t.Skip()
		}
		refs := rapid.SliceOfN(reference, 1, 6).Draw(t, "references")
		names := map[string]string{at.String(): wished(at.String(), "text/html")}
		var want []string
		var page strings.Builder
		for _, ref := range refs {
			u, err := at.Resolve(html.UnescapeString(ref))
			if err != nil {
				t.Skip()
			}
			if rapid.Bool().Draw(t, "held") {
				names[u.String()] = wished(u.String(), "text/html")
			}
			want = append(want, u.String())
			fmt.Fprintf(&page, forms.Draw(t, "form"), ref)
		}
		f, err := rewritten(at, taken, names[at.String()], "text/html", []byte(page.String()), func(url string) (string, error) { return names[url], nil })
		if err != nil {
			t.Fatal(err)
		}
		got := refsOf(f.text)
		if len(got) != len(want) {
			t.Fatalf("%s\nhas the references %q, want %d", f.text, got, len(want))
		}
		for i, ref := range got {
			to := leads(t, names[at.String()], ref)
			switch name, here := names[want[i]]; {
			case here && to != name:
				t.Fatalf("%q leads to %q, want %q of %s", ref, to, name, want[i])
			case !here:
				if u, err := canon.Parse(to); err != nil || u.String() != want[i] {
					t.Fatalf("%q leads to %s (%v), want %s", ref, to, err, want[i])
				}
			}
		}
	})
}

// Character references in attributes mean what they mean to the tokenizer.
func TestCharacterReferences(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"&", "amp", "copy", "not", "notit", "x", ";", "=", "#", "#x", "65", "0", "128", "1F600", "a", "lt", "CounterClockwiseContourIntegral",
		"ngE", "\u00e4", " ", "/", strings.Repeat("z", 50)})
	rapid.Check(t, func(t *rapid.T) {
		value := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		tokens := html.NewTokenizer(strings.NewReader(`<a b="` + value + `">`))
		tokens.Next()
		tokens.TagName()
		_, want, _ := tokens.TagAttr()
		if got := plainValue(value); got != string(want) {
			t.Fatalf("plainValue(%q) = %q, want %q", value, got, want)
		}
	})
	for value, want := range map[string]string{"&#x;": "&#x;", "&#xz": "&#xz", "&#;": "&#;", "&#x": "&#x", "&#X41;": "A", "&#65": "A", "&#xfg": "\u000fg"} {
		if got := plainValue(value); got != want {
			t.Errorf("plainValue(%q) = %q, want %q", value, got, want)
		}
	}
}

// A page that was rewritten stays as it is when it is rewritten as the file that it is: nothing is escaped twice.
func FuzzMarkup(f *testing.F) {
	for _, seed := range []string{`<a href=/docs/b>`, `<img srcset="/img/x.png 1x, a 2x">`, `<base href=/x/><p style='a:url(b)'>`, `<svg><style/><a xlink:href="b"/>`,
		"<noscript><img src=b><noscript></noscript>", `<iframe srcdoc="<a href=b>">`, `<meta http-equiv=refresh content="0;url=b">`, "<a href=\"b", "<a b='c'd=\"e\"f",
		"<meta charset=iso-2022-jp><a href=\x1b$B>", "\xff\xfe<\x00a\x00", `<?xml-stylesheet href="b"?><a/>`, "<plaintext><a href=b>", "<a \x00href=/docs/b>"} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(1))
	}
	types := []string{"text/html", "application/xhtml+xml", "image/svg+xml", "text/css", "text/html; charset=gbk", "text/html; charset=utf-16be"}
	f.Fuzz(func(t *testing.T, body []byte, kind uint8) {
		at, err := canon.Parse(pageURL)
		if err != nil {
			t.Fatal(err)
		}
		contentType := types[int(kind)%len(types)]
		nothing := func(string) (string, error) { return "", nil }
		got, err := rewritten(at, taken, pageFile, contentType, bytes.Clone(body), nothing)
		if err != nil {
			t.Fatal(err)
		}
		again, err := rewritten(at, taken, pageFile, contentType, bytes.Clone(got.text), nothing)
		if err != nil {
			t.Fatal(err)
		}
		if contentType == "text/html" && !bytes.Contains(body, []byte("\x1b")) && !bytes.Equal(got.text, again.text) {
			t.Fatalf("%q\nis %q,\nagain %q", body, got.text, again.text)
		}
		if len(got.text) > 40*len(body)+1000 {
			t.Fatalf("%d bytes are %d", len(body), len(got.text))
		}
	})
}
