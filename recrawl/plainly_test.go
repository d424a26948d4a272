package recrawl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// onSale is a page about a product, which names its plain address as canonical.
func onSale(n int, canonical, more string) hostile.Answer {
	head := ""
	if canonical != "" {
		head = fmt.Sprintf(`<link rel=canonical href="%s">`, canonical)
	}
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "<p>Part %d of lamp %d is made of brass number %d, and of glass that was blown in %d.</p>", i, n, n*i+7, 1900+(n*31+i*7)%100)
	}
	return page(fmt.Sprintf(`<html><head><title>Lamp %d</title>%s</head><body><main><h1>Lamp %d</h1>%s%s</main></body></html>`, n, head, n, text.String(), more))
}

const products = content.EnoughAside + 4

// shop is a life of a site that has each product by an address that says from which list it comes, and says what the plain one does.
func shop(t *testing.T, edit func(*config.Settings)) (l *life, o *hostile.Origin, plain, listed func(n int) string) {
	answers, list := make(map[string]hostile.Answer), ""
	for n := range products {
		answers[fmt.Sprintf("/i?product=%d", n)] = onSale(n, "", "")
		answers[fmt.Sprintf("/i?path=1_2&product=%d", n)] = onSale(n, fmt.Sprintf("/i?product=%d", n), `<a href="/">Lamps</a>`)
		list += fmt.Sprintf(`<a href="/i?path=1_2&amp;product=%d">Lamp %d</a> <a href="/i?product=%d">the same</a>`, n, n, n)
	}
	answers["/list"] = page(edition(1) + list)
	o = listen(t, answers)
	l = newLife(t, func(_ *Config, s *config.Settings) {
		if edit != nil {
			edit(s)
		}
	})
	known := func(format string) func(int) string {
		return func(n int) string {
			url := o.URL(fmt.Sprintf(format, n))
			if _, known := l.pages[url]; !known {
				p := pageOf(t, url)
				p.Level = 2
				l.pages[url] = p
				l.host.Name = strings.Split(url, "/")[2]
			}
			return url
		}
	}
	return l, o, known("/i?product=%d"), known("/i?path=1_2&product=%d")
}

func urlsOf(links []models.FoundLink) []string {
	urls := make([]string, len(links))
	for i, l := range links {
		urls[i] = l.URL
	}
	return urls
}

// TestWhatAShopNamesPlainly: a product by the address of a list is asked for until some of them said what their canonical pages say; then the plain
// address is found in its place, and asked for in its place.
func TestWhatAShopNamesPlainly(t *testing.T) {
	t.Parallel()
	l, o, plain, listed := shop(t, nil)
	for n := range content.EnoughAside {
		if out := l.turn(o.URL("/list")); len(out.Links) != 2*products {
			t.Fatalf("%d links are found, after %d products", len(out.Links), n)
		}
		wantKind(t, l.turn(plain(n)), models.First)
		wantKind(t, l.turn(listed(n)), models.First)
	}
	asked, last := len(o.Requests()), content.EnoughAside
	out := l.turn(listed(last))
	wantKind(t, out, models.Excluded)
	if want := []string{o.URL(fmt.Sprintf("/i?product=%d", last))}; len(o.Requests()) != asked || !slices.Equal(urlsOf(out.Links), want) || !strings.Contains(out.Detail, "duplicates: off") {
		t.Errorf("it was asked for, or leads to %v, or is not said why: %q", urlsOf(out.Links), out.Detail)
	}
	out = l.turn(o.URL("/list"))
	if urls := urlsOf(out.Links); len(urls) != products || slices.ContainsFunc(urls, func(u string) bool { return strings.Contains(u, "path=") }) {
		t.Errorf("the list leads to %v", urls)
	}
	gone := content.EnoughAside + 1
	o.Set(fmt.Sprintf("/i?product=%d", gone), hostile.Whole(404, nil, "not found"))
	wantKind(t, l.turn(plain(gone)), models.Missing)
	wantKind(t, l.turn(listed(gone)), models.First) // what stands for it is not there
	o.Set(fmt.Sprintf("/i?path=1_2&product=%d", 1), onSale(1, "", "<p>This is what it is here</p>"))
	l.turn(listed(1)) // and one stands for itself
	wantKind(t, l.turn(listed(last)), models.First)
	if out = l.turn(o.URL("/list")); len(out.Links) != 2*products {
		t.Errorf("%d links are found of a family of pages of which one stands for itself", len(out.Links))
	}
}

// TestWhatIsNotNamedPlainly: pages that say something else than what they name as canonical, as the further pages of a list do, speak against it, and nothing is learned
// of those whose canonical page is not there or was not visited, nor where a site visits duplicates as any page; what somebody named is asked for.
func TestWhatIsNotNamedPlainly(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(l *life, o *hostile.Origin, plain, listed func(int) string) (lastKind models.OutcomeKind){
		"they say something else": func(l *life, o *hostile.Origin, plain, _ func(int) string) models.OutcomeKind {
			for n := range products {
				o.Set(fmt.Sprintf("/i?path=1_2&product=%d", n), onSale(n+100, fmt.Sprintf("/i?product=%d", n), ""))
				l.turn(plain(n))
			}
			return models.First
		},
		"a third of them do": func(l *life, o *hostile.Origin, plain, _ func(int) string) models.OutcomeKind {
			for n := range products {
				if n%3 == 2 {
					o.Set(fmt.Sprintf("/i?path=1_2&product=%d", n), onSale(n+100, fmt.Sprintf("/i?product=%d", n), ""))
				}
				l.turn(plain(n))
			}
			return models.First
		},
		"it was not visited": func(*life, *hostile.Origin, func(int) string, func(int) string) models.OutcomeKind {
			return models.First
		},
		"it is not there": func(l *life, o *hostile.Origin, plain, _ func(int) string) models.OutcomeKind {
			for n := range products {
				o.Set(fmt.Sprintf("/i?product=%d", n), hostile.Whole(404, nil, "not found"))
				l.turn(plain(n))
			}
			return models.First
		},
		"somebody named it": func(l *life, _ *hostile.Origin, plain, listed func(int) string) models.OutcomeKind {
			for n := range products {
				l.turn(plain(n))
			}
			p := l.pages[listed(products-1)]
			p.Level = 0
			l.pages[p.URL] = p
			return models.First
		},
		"nobody did": func(l *life, _ *hostile.Origin, plain, _ func(int) string) models.OutcomeKind {
			for n := range products {
				l.turn(plain(n))
			}
			return models.Excluded
		},
	} {
		l, o, plain, listed := shop(t, nil)
		want := prepare(l, o, plain, listed)
		for n := range products - 1 {
			l.turn(listed(n))
		}
		if out := l.turn(listed(products - 1)); out.Kind != want {
			t.Errorf("%s: the last one is %v, want %v", name, out.Kind, want)
		}
	}
	l, _, plain, listed := shop(t, func(s *config.Settings) { s.Duplicates = false })
	for n := range products {
		l.turn(plain(n))
		wantKind(t, l.turn(listed(n)), models.First)
	}
}

// TestOrdersThatAreNamedPlainly: a list in another order, which begins with other entries and names the list as canonical, is known by the list; further
// pages that name the first one so are not.
func TestOrdersThatAreNamedPlainly(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]models.OutcomeKind{"/i?board=%d;sort=o%d": models.Excluded, "/i?board=%d;start=%d": models.First} {
		f := newForum(t)
		last := ""
		for n := range topics {
			board := fmt.Sprintf("/i?board=%d", n)
			last = fmt.Sprintf(format, n, n)
			f.o.Set(board, page(edition(n)))
			f.o.Set(last, canonicalTo(board, edition(100+n)))
			f.turn(f.known(t, board))
			if n < topics-1 {
				f.turn(f.known(t, last))
			}
		}
		if out := f.turn(f.known(t, last)); out.Kind != want {
			t.Errorf("%s: %v (%s), want %v", last, out.Kind, out.Detail, want)
		}
	}
}
