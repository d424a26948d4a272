package content

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/models"
)

// TestWhatABuildRenumbers holds that what generators and the programs in their manuals number anew at each build is no change: marks that a
// reader copies the address of a place from, anchors named for a hash, objects by their address in memory.
func TestWhatABuildRenumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string
		want     VerdictKind
	}{
		"an anchor of a line of code": {`<pre><a href="#cb1-1"></a>install("tools")</pre>`, `<pre><a href="#cb3-1"></a>install("tools")</pre>`, Noise},
		"anchors where were none":     {`<pre>install("tools")</pre>`, `<pre><a href="#cb3-1"></a>install("tools")</pre>`, Noise},
		"another mark of a heading":   {`<h2>Delivery<a href="#delivery">¶</a></h2>`, "<h2>Delivery<a href='#delivery'>\uf0c1</a></h2>", Noise},
		"a mark within a line":        {`<p>What is said <a href="#x">#</a>at length of it`, `<p>What is said at length of it`, Noise},
		"a picture of another page":   {`<p><a href="#/lamps/brass"><img src=/lamp.png></a>`, `<p><a href="#/lamps/steel"><img src=/lamp.png></a>`, Change},
		"a place of the page":         {`<p><a href="#mailing-list">Mailing lists of all of us</a>`, `<p><a href="#mailing-lists">Mailing lists of all of us</a>`, Change},
		"a page behind a hash":        {`<p><a href="#/lamps/brass">The lamp of this week</a>`, `<p><a href="#/lamps/steel">The lamp of this week</a>`, Change},
		"stars that lead to a place":  {`<p>Brass lamp <a href="#reviews">★★★</a>`, `<p>Brass lamp <a href="#reviews">★★</a>`, Change},
		"an anchor named for a hash":  {`<p><a href="/api.html#aef669de6b4217a347c60ff37278eb15d">offers of it</a>`, `<p><a href="/api.html#a962f786a6175b9b8cee83e4b2eea18a8">offers of it</a>`, Noise},
		"an anchor of another page":   {`<p><a href="/api.html#offers">offers of it</a>`, `<p><a href="/api.html#prices">offers of it</a>`, Change},
		"an object of Java":           {`<pre>// eval: Eval[Int] = cats.Later@26df33cb</pre>`, `<pre>// eval: Eval[Int] = cats.Later@868341f</pre>`, Noise},
		"a function of Java":          {`<pre>f = ContT$$Lambda$117/0x00007f91c801a908@3eef3e82,</pre>`, `<pre>f = ContT$$Lambda$118/0x00007f7e54004908@23012905,</pre>`, Noise},
		"an object of R":              {`<pre>&lt;pointer: 0x2b1c581bb8a0&gt;, x</pre>`, `<pre>&lt;pointer: 0x2ba78126b8a0&gt;, x</pre>`, Noise},
		"an object and its value":     {`<pre>&lt;pointer: 0x2b1c581bb8a0&gt;, x</pre>`, `<pre>&lt;pointer: 0x2ba78126b8a0&gt;, y</pre>`, Change},
		"a commit that is pinned":     {`<pre>uses: actions/Checkout@8f4b7f8</pre>`, `<pre>uses: actions/Checkout@11bd719</pre>`, Change},
		"a comma":                     {`<p>Ask those @ home, or later`, `<p>Ask those @ home; or later`, Change},
		"a price":                     {`<p>Rice@12500 of all`, `<p>Rice@13500 of all`, Change},
		"a constant":                  {`<pre>MAGIC = 0xdeadbeef of all</pre>`, `<pre>MAGIC = 0xcafebabe of all</pre>`, Change},
		"an account":                  {`<p>Send it to 0x52908400098527886e0f7030069857d2e4169ee7.`, `<p>Send it to 0x8617e340b3d01fa5f11f306f4090fd50e238070d.`, Change},
		"how to edit the page":        {`<p><a href="https://github.com/us/site/edit/draft/docs/a.md">Edit this page</a>`, `<p><a href="https://github.com/us/site/edit/main/docs/a.md">Edit this page</a>`, Noise},
		"an edit that is a page":      {`<p><a href="https://shop.example/edit/spring/a">What we chose for you</a>`, `<p><a href="https://shop.example/edit/summer/a">What we chose for you</a>`, Change},
	} {
		of := func(what string) string { return editedPage("Terms", "<p>"+strings.Join(story(4), "<p>")+what, "<p>x") }
		if v := judgePages(t, of(c.from), of(c.to)); v.Kind != c.want && !(c.want == Noise && v.Kind == Same) {
			t.Errorf("%s: %v for %v, want %v", name, v.Kind, v.Reasons, c.want)
		}
	}
}

// TestTheDayOfABuildBesideEachPagesForm holds that a day that many pages show at once is the host's, though each has a link to edit it beside it.
func TestTheDayOfABuildBesideEachPagesForm(t *testing.T) {
	t.Parallel()
	host, v := &HostMemory{}, Verdict{}
	for i, text := range story(flipOwn + 1) {
		body := func(day string) string {
			return editedPage("Terms", "<p>"+text+"<p>Last updated on "+day+fmt.Sprintf(" | <a href=https://github.com/us/site/edit/main/%d.md>Edit this page</a>", i), "<p>x")
		}
		v = judgeOn(t, host, int64(i+1), body("2026-11-28"), body("2026-11-30"))
	}
	if v.Kind != Noise || v.Reasons&models.ReasonTemplate == 0 {
		t.Errorf("the last page is %v for %v", v.Kind, v.Reasons)
	}
}

// TestTheYearOfACopyright holds that a new year is none of what a page says, also where the line stands in the content, and that
// what else the line says is.
func TestTheYearOfACopyright(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     VerdictKind
	}{
		{"Copyright © 2026 The Tools Foundation, Licensed under the Apache License.", "Copyright © 2027 The Tools Foundation, Licensed under the Apache License.", Noise},
		{"Copyright © 2011-2026 The Tools Foundation.", "Copyright © 2011-2027 The Tools Foundation.", Noise},
		{"Copyright 2026 The Tools Foundation.", "Copyright 2011–2027 The Tools Foundation.", Noise},
		{"© Tools Ltd, 2026", "© Tools Ltd, 2027", Noise},
		{"© 2026 The Tools Foundation.", "© 2027 The Gardens Foundation.", Change},
		{"© 2026 Tools Ltd. The next fair is in 2027.", "© 2026 Tools Ltd. The next fair is in 2028.", Change},
		{"© 2026 Tools Ltd. Licensed for 2000 people.", "© 2026 Tools Ltd. Licensed for 1999 people.", Change},
		{"The next fair is in May 2027", "The next fair is in May 2028", Change},
	} {
		of := func(what string) string {
			return editedPage("Terms", "<p>"+strings.Join(story(4), "<p>")+"<p>"+what, "<p>x")
		}
		if v := judgePages(t, of(c.from), of(c.to)); v.Kind != c.want {
			t.Errorf("%q -> %q: %v for %v, want %v", c.from, c.to, v.Kind, v.Reasons, c.want)
		}
	}
}

// TestTheContentsOfABookBesideAStub holds that the list of a book's chapters is navigation also beside a chapter that says little, where
// the headings of its parts are more text outside links than all of that; what such a region says in words is not.
func TestTheContentsOfABookBesideAStub(t *testing.T) {
	t.Parallel()
	chapters := func(more string) string {
		var b strings.Builder
		for _, part := range []string{"beginning with it", "what all of it is for", "how each of them works", "what to do where it does not"} {
			b.WriteString("<li>Part of the book that tells of " + part + "<li><a href=/x>The first chapter of this part of the book</a><li><a href=/y>The second chapter of this part of the book</a>")
		}
		return "<nav><ul>" + b.String() + more + "</ul></nav>"
	}
	of := func(nav string) string {
		return "<title>a9a</title><body>" + nav + "<div role=main><section><p>This project is an effort undergoing incubation at a foundation, sponsored by those who incubate.</section></div>"
	}
	for name, c := range map[string]struct {
		more string
		want VerdictKind
	}{
		"a chapter": {"<li><a href=/z>The third chapter of this part</a>", Noise},
		"words":     {"<li>" + strings.Repeat("What is said at length is read by somebody. ", 12), Change},
	} {
		if v := judgePages(t, of(chapters("")), of(chapters(c.more))); v.Kind != c.want {
			t.Errorf("%s: %v for %v, want %v", name, v.Kind, v.Reasons, c.want)
		}
	}
}
