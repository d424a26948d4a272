package recrawl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// TestLinksThatLeadBack: a link to a language, which each page has to itself and which leads back to it, is asked for until some did nothing else; then it
// counts as one to the page, until one of them shows something.
func TestLinksThatLeadBack(t *testing.T) {
	t.Parallel()
	const pages, languages = 6, content.EnoughAside
	answers := make(map[string]hostile.Answer)
	for n := range pages {
		links := ""
		for lang := range languages {
			at := fmt.Sprintf("/p%d?lang=l%d", n, lang)
			links += fmt.Sprintf(`<a href="%s">language</a>`, at)
			answers[at] = hostile.Whole(302, map[string]string{"Location": fmt.Sprintf("/p%d", n)}, "")
		}
		answers[fmt.Sprintf("/p%d", n)] = page(edition(n) + links + fmt.Sprintf(`<a href="/p%d">next</a>`, n+1))
	}
	o := listen(t, answers)
	l := newLife(t, nil)
	knows := func(path string) string {
		url := o.URL(path)
		if _, known := l.pages[url]; !known {
			p := pageOf(t, url)
			p.Level = 2
			l.pages[url], l.host.Name = p, strings.Split(url, "/")[2]
		}
		return url
	}
	for n := range pages - 1 {
		if out, all := l.turn(knows(fmt.Sprintf("/p%d", n))), languages+1; n < 4 && len(out.Links) != all {
			t.Fatalf("page %d leads to %v", n, urlsOf(out.Links))
		}
		for lang := range languages {
			if n < 3 || n == 3 && lang == 0 {
				wantKind(t, l.turn(knows(fmt.Sprintf("/p%d?lang=l%d", n, lang))), models.Moved)
			}
		}
	}
	if out := l.turn(knows("/p5")); !slices.Equal(urlsOf(out.Links), []string{o.URL("/p5"), o.URL("/p6")}) {
		t.Errorf("a page leads to %v", urlsOf(out.Links))
	}
	asked := len(o.Requests())
	out := l.turn(knows("/p5?lang=l3"))
	wantKind(t, out, models.Excluded)
	if want := []string{o.URL("/p5")}; len(o.Requests()) != asked || !slices.Equal(urlsOf(out.Links), want) || !strings.Contains(out.Detail, "duplicates: off") {
		t.Errorf("it was asked for, or leads to %v, or is not said why: %q", urlsOf(out.Links), out.Detail)
	}
	o.Set("/p0?lang=l0", page(edition(90)+"<p>En français</p>"))
	wantKind(t, l.turn(knows("/p0?lang=l0")), models.First)
	wantKind(t, l.turn(knows("/p5?lang=l3")), models.Moved)
}

// TestLogInsThatLeadBack: a page's link to a log-in that leads back to it is one to the log-in, which all pages have.
func TestLogInsThatLeadBack(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/a": page(edition(1) + `<a href="/login?redirect_to=%2Fa">Log in</a><a href="/login">Log in</a><a href="/login?redirect_to=%2Fb">Write</a>`),
	})
	l := newLife(t, nil)
	if got, want := urlsOf(l.turn(o.URL("/a")).Links), []string{o.URL("/login"), o.URL("/login?redirect_to=%2Fb")}; !slices.Equal(got, want) {
		t.Errorf("links are %v, want %v", got, want)
	}
}
