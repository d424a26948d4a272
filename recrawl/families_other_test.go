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

// forum is a life of a site with topics, each of which has an address of its first post, which names it as canonical, and one that leads there.
type forum struct {
	*life
	o *hostile.Origin
}

const topics = 2*content.EnoughAside + 4

func newForum(t *testing.T) *forum {
	answers := make(map[string]hostile.Answer)
	for n := range topics {
		topic := fmt.Sprintf("/t?id=%d", n)
		answers[topic] = page(edition(n))
		answers[fmt.Sprintf("/t?post=%d", n)] = canonicalTo(topic, edition(n))
		answers[fmt.Sprintf("/t?action=last&id=%d", n)] = hostile.Redirect(302, fmt.Sprintf("/t?id=%d&at=%d", n, 7*n))
		answers[fmt.Sprintf("/go?topic=%d", n)] = hostile.Redirect(302, topic)
		answers[fmt.Sprintf("/new?topic=%d", n)] = hostile.Redirect(302, fmt.Sprintf("/t?post=%d", n))
	}
	return &forum{life: newLife(t, nil), o: listen(t, answers)}
}

func canonicalTo(path, body string) hostile.Answer {
	return page(`<html><head><link rel="canonical" href="` + path + `"></head><body>` + body + `</body></html>`)
}

// known makes a page known, two levels below the start, and returns its URL.
func (f *forum) known(t *testing.T, path string) string {
	url := f.o.URL(path)
	if _, known := f.pages[url]; !known {
		p := pageOf(t, url)
		p.Level = 2
		f.pages[url] = p
		f.host.Name = strings.Split(url, "/")[2]
	}
	return url
}

// visits gives each of some pages its turn.
func (f *forum) visits(t *testing.T, count int, format string, want models.OutcomeKind) {
	t.Helper()
	for n := range count {
		url := f.known(t, fmt.Sprintf(format, n))
		if out := f.turn(url); out.Kind != want {
			t.Fatalf("%s: %v (%s), want %v", url, out.Kind, out.Detail, want)
		}
	}
}

// last is the last of the pages, which was not visited.
func (f *forum) last(t *testing.T, format string, want models.OutcomeKind) {
	t.Helper()
	path := fmt.Sprintf(format, topics-1)
	delete(f.pages, f.o.URL(path))
	url := f.known(t, path)
	out := f.turn(url)
	if out.Kind != want || want == models.Excluded && !strings.Contains(out.Detail, "noindex: all") {
		t.Errorf("%s: %v (%s), want %v", url, out.Kind, out.Detail, want)
	}
}

// TestOtherAddressesAreLeftAside: once some were seen to be other addresses of topics that were read before, by what they call canonical or lead to.
func TestOtherAddressesAreLeftAside(t *testing.T) {
	t.Parallel()
	for format, kind := range map[string]models.OutcomeKind{"/t?post=%d": models.First, "/t?action=last&id=%d": models.Moved, "/go?topic=%d": models.Moved} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f := newForum(t)
			f.visits(t, topics, "/t?id=%d", models.First)
			for n := range topics {
				f.known(t, fmt.Sprintf("/t?id=%d&at=%d", n, 7*n)) // the topic's page leads there, too
			}
			f.visits(t, content.EnoughAside, format, kind)
			f.last(t, format, models.Excluded)
			f.last(t, "/t?id=%d", models.First) // as ever
		})
	}
}

// TestOtherAddressesThatAreTheOnlyOnes: what they lead to, or call canonical, is not known without them, or says something else, as the first page of a
// list does.
func TestOtherAddressesThatAreTheOnlyOnes(t *testing.T) {
	t.Parallel()
	for format, kind := range map[string]models.OutcomeKind{"/t?post=%d": models.First, "/t?action=last&id=%d": models.Moved, "/go?topic=%d": models.Moved} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f := newForum(t)
			f.visits(t, topics-1, format, kind)
			f.last(t, format, kind)
		})
	}
	f := newForum(t)
	f.visits(t, topics, "/t?id=%d", models.First)
	for n := range topics {
		f.o.Set(fmt.Sprintf("/t?id=%d&page=2", n), canonicalTo(fmt.Sprintf("/t?id=%d", n), edition(50+n)))
	}
	f.visits(t, topics-1, "/t?id=%d&page=2", models.First)
	f.last(t, "/t?id=%d&page=2", models.First)
	for n := range topics {
		f.o.Set(fmt.Sprintf("/t?from=a&id=%d", n), canonicalTo(fmt.Sprintf("/t?id=%d", n), edition(n)))
	}
	f.visits(t, content.EnoughAside, "/t?from=a&id=%d", models.First)
	plain := f.o.URL(fmt.Sprintf("/t?id=%d", topics-1)) // it may be known by such alone, so it is found by what is not visited
	if out := f.turn(f.known(t, fmt.Sprintf("/t?from=a&id=%d", topics-1))); out.Kind != models.Excluded || !slices.Equal(urlsOf(out.Links), []string{plain}) {
		t.Errorf("%v (%s), and leads to %v, want %s", out.Kind, out.Detail, urlsOf(out.Links), plain)
	}

	f = newForum(t)
	for n := range topics {
		f.o.Set(fmt.Sprintf("/t?id=%d", n), canonicalTo(fmt.Sprintf("/topic/%d", n), edition(n)))
	}
	f.visits(t, topics, "/t?id=%d", models.First)
	f.visits(t, topics-1, "/t?post=%d", models.First) // of what is another address itself
	f.last(t, "/t?post=%d", models.First)
}

// TestOtherAddressesOfSomeThatAreKnown: every second page that is led to is not known without, is known and not read, or was lost.
func TestOtherAddressesOfSomeThatAreKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		every func(f *forum, url string)
		want  models.OutcomeKind
	}{
		"not known": {func(*forum, string) {}, models.Moved},
		"not read":  {func(f *forum, url string) { f.pages[url] = pageOf(t, url) }, models.Excluded},
		"lost": {func(f *forum, url string) {
			p := pageOf(t, url)
			p.State, p.Stats.Records = models.StateMissing, 1
			f.pages[url] = p
		}, models.Moved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForum(t)
			f.visits(t, topics, "/t?id=%d", models.First)
			for n := 0; n < topics; n += 2 {
				url := f.o.URL(fmt.Sprintf("/t?id=%d", n))
				delete(f.pages, url)
				test.every(f, url)
			}
			f.visits(t, 2*content.EnoughAside, "/go?topic=%d", models.Moved)
			f.last(t, "/go?topic=%d", test.want)
		})
	}
}

// TestWhatLeadsToOtherAddresses is left aside where these are, which are not known then.
func TestWhatLeadsToOtherAddresses(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	f.visits(t, topics, "/t?id=%d", models.First)
	f.visits(t, content.EnoughAside, "/t?post=%d", models.First)
	for url := range f.pages {
		if strings.Contains(url, "post=") {
			delete(f.pages, url)
		}
	}
	f.visits(t, content.EnoughAside, "/new?topic=%d", models.Moved)
	f.last(t, "/new?topic=%d", models.Excluded)
}

// TestSiteThatLeadsToOnePage: where a site is being repaired all of its addresses lead to one page, and where it wants a log-in to the form for it, which
// is read.
func TestSiteThatLeadsToOnePage(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"/board?x=0", "/login?x=%d"} {
		f := newForum(t)
		f.o.Set("/board?x=0", page(edition(99)))
		for n := range topics - 1 {
			to := where
			if strings.Contains(where, "%") {
				to = fmt.Sprintf(where, n)
				f.o.Set(to, page(edition(100+n)))
			}
			f.o.Set(fmt.Sprintf("/t?id=%d", n), hostile.Redirect(302, to))
		}
		if strings.Contains(where, "%") {
			f.visits(t, topics-1, where, models.First)
		} else {
			f.visits(t, 1, "/board?x=%d", models.First)
		}
		f.visits(t, topics-1, "/t?id=%d", models.Moved)
		f.last(t, "/t?id=%d", models.First)
	}
}

// TestOtherAddressesComeBack: when one of them comes to be a page of its own, the others of its family are visited.
func TestOtherAddressesComeBack(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	f.visits(t, topics, "/t?id=%d", models.First)
	f.visits(t, content.EnoughAside, "/t?post=%d", models.First)
	f.last(t, "/t?post=%d", models.Excluded)
	url := f.o.URL("/t?post=3")
	wantKind(t, f.turn(url), models.SameBytes)
	if p := f.pages[url]; p.Rule != models.RuleAside {
		t.Errorf("it is due by the rule %s, want %s", p.Rule, models.RuleAside)
	}
	f.o.Set("/t?post=3", page(edition(77)))
	wantKind(t, f.turn(url), models.Changed)
	f.last(t, "/t?post=%d", models.First)
}

// TestOtherAddressesAreLookedAtAnew: where one of those that speak for the others comes to say something else than what it names, another one is visited.
func TestOtherAddressesAreLookedAtAnew(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	f.visits(t, topics, "/t?id=%d", models.First)
	f.visits(t, content.EnoughAside, "/t?post=%d", models.First)
	f.last(t, "/t?post=%d", models.Excluded)
	f.o.Set("/t?post=3", canonicalTo("/t?id=3", edition(77)))
	wantKind(t, f.turn(f.o.URL("/t?post=3")), models.Changed)
	f.last(t, "/t?post=%d", models.First)

	f = newForum(t)
	f.visits(t, topics, "/t?id=%d", models.First)
	f.visits(t, content.EnoughAside, "/go?topic=%d", models.Moved)
	f.o.Set("/go?topic=0", hostile.Redirect(302, fmt.Sprintf("/t?id=%d", topics-1)))
	wantKind(t, f.turn(f.o.URL("/go?topic=0")), models.Moved)
	f.last(t, "/go?topic=%d", models.Excluded) // it leads to another topic, which was read too
	f.o.Set("/go?topic=0", hostile.Redirect(302, "/never-read"))
	wantKind(t, f.turn(f.o.URL("/go?topic=0")), models.Moved)
	f.last(t, "/go?topic=%d", models.Moved)
}
