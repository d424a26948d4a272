package recrawl

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// shelf is a page of a list: a menu that all pages of the site have and an introduction of the list, which are most of what it says, and below them what it
// lists, from the first number on.
func shelf(list, first, entries int, canonical string) hostile.Answer {
	var menu, intro, items strings.Builder
	for i := range 60 {
		fmt.Fprintf(&menu, `<li><a href="/c%d">Everything for the room %d</a></li>`, i, i)
	}
	for i := range 20 {
		fmt.Fprintf(&intro, "<p>Shelf %d is made of oak number %d, and was planed with a tool that we have had since %d.</p>", list, list*i+7, 1900+(list*31+i*7)%100)
	}
	for i := range entries {
		fmt.Fprintf(&items, `<li><a href="/thing%d-%d">Thing %d</a></li>`, list, first+i, first+i)
	}
	pager := ""
	for n := 1; n <= 3; n++ {
		pager += fmt.Sprintf(`<a href="/i?cat=%d&amp;page=%d">%d</a> `, list, n, n)
	}
	head := ""
	if canonical != "" {
		head = fmt.Sprintf(`<link rel=canonical href="%s">`, canonical)
	}
	return page(fmt.Sprintf(`<html><head><title>Shelves %d</title>%s</head><body><nav><ul>%s</ul></nav><main><h1>Shelves %d</h1>%s<ul>%s</ul>%s</main></body></html>`,
		list, head, &menu, list, &intro, &items, pager))
}

// TestFurtherPagesOfLists: pages of a list that name the first one as canonical and say nearly the same, a long introduction, but lead to other things are
// visited, however short what they list is.
func TestFurtherPagesOfLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ format, first string }{
		"by a parameter":     {"/i?cat=%d&page=2", "/i?cat=%d"},
		"by another address": {"/further?cat=%d&page=2", "/i?cat=%d"},
	} {
		for _, entries := range []int{12, 4} {
			if entries == 4 && name != "by a parameter" {
				continue
			}
			f := newForum(t)
			for n := range topics {
				first := fmt.Sprintf(c.first, n)
				f.o.Set(first, shelf(n, 1, entries, ""))
				f.o.Set(fmt.Sprintf(c.format, n), shelf(n, 1+entries, entries, first))
			}
			for n := range topics {
				wantKind(t, f.turn(f.known(t, fmt.Sprintf(c.first, n))), models.First)
			}
			for n := range topics - 1 {
				if out := f.turn(f.known(t, fmt.Sprintf(c.format, n))); out.Kind != models.First {
					t.Fatalf("%s, %d entries: page 2 of list %d is %v (%s)", name, entries, n, out.Kind, out.Detail)
				}
			}
			f.last(t, c.format, models.First)
		}
	}
}

// TestWhatAShopShowsBeside: products beside which other things are shown than when their plain pages were read are known by these all the same.
func TestWhatAShopShowsBeside(t *testing.T) {
	t.Parallel()
	for others, want := range map[int]models.OutcomeKind{mostBeside: models.Excluded, mostBeside + 1: models.First} {
		l, o, plain, listed := shop(t, nil)
		for n := range products {
			beside := ""
			for i := range others {
				beside += fmt.Sprintf(`<a href="/i?product=%d">Lamp</a> `, 1000*n+i+100)
			}
			o.Set(fmt.Sprintf("/i?path=1_2&product=%d", n), onSale(n, fmt.Sprintf("/i?product=%d", n), beside))
			wantKind(t, l.turn(plain(n)), models.First)
		}
		for n := range products - 1 {
			l.turn(listed(n))
		}
		if out := l.turn(listed(products - 1)); out.Kind != want {
			t.Errorf("with %d other things beside each the last one is %v (%s), want %v", others, out.Kind, out.Detail, want)
		}
	}
}

// TestGalleriesThatSayTheSame: pages whose text is the same, as those of a gallery without words, and that lead to other things.
func TestGalleriesThatSayTheSame(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	gallery := func(n, first int) string {
		body := "<title>Gallery</title><main><h1>Gallery</h1>"
		for i := range 8 {
			body += fmt.Sprintf(`<a href="/photo%d-%d"><img src="/thumb%d-%d.jpg"></a>`, n, first+i, n, first+i)
		}
		return body + "<p>Next</p></main>"
	}
	for n := range topics {
		f.o.Set(fmt.Sprintf("/g?album=%d", n), page(gallery(n, 0)))
		f.o.Set(fmt.Sprintf("/g?album=%d&from=8", n), canonicalTo(fmt.Sprintf("/g?album=%d", n), gallery(n, 8)))
		wantKind(t, f.turn(f.known(t, fmt.Sprintf("/g?album=%d", n))), models.First)
	}
	for n := range content.EnoughAside {
		f.turn(f.known(t, fmt.Sprintf("/g?album=%d&from=8", n)))
	}
	f.last(t, "/g?album=%d&from=8", models.First)
}

// TestLostPlainPages: what stands for others is not there in one case, which is heard once it was looked for.
func TestLostPlainPages(t *testing.T) {
	t.Parallel()
	l, o, plain, listed := shop(t, nil)
	for n := range content.EnoughAside {
		wantKind(t, l.turn(plain(n)), models.First)
		wantKind(t, l.turn(listed(n)), models.First)
	}
	last := products - 1
	for name, answer := range map[string]hostile.Answer{
		"not there":       hostile.Whole(404, nil, "not found"),
		"fails":           hostile.Whole(503, nil, "busy"),
		"leads elsewhere": hostile.Redirect(302, fmt.Sprintf("/i?path=1_2&product=%d", last)),
	} {
		o.Set(fmt.Sprintf("/i?product=%d", last), answer)
		delete(l.pages, plain(last))
		delete(l.pages, listed(last))
		for range 3 {
			l.turn(plain(last))
		}
		found := false
		for _, u := range urlsOf(l.turn(o.URL("/list")).Links) {
			found = found || strings.HasSuffix(u, fmt.Sprintf("/i?path=1_2&product=%d", last))
		}
		if !found {
			t.Errorf("%s: the list does not lead to the address that is there", name)
		}
		if out := l.turn(listed(last)); out.Kind != models.First {
			t.Errorf("%s: the address that is there is %v (%s)", name, out.Kind, out.Detail)
		}
	}
}
