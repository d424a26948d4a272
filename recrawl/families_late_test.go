package recrawl

import (
	"fmt"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// leadsBack makes a page in a language lead to the page, and gives it its turn.
func (f *forum) leadsBack(t *testing.T, n, lang int) {
	t.Helper()
	at := fmt.Sprintf("/l%d?lang=%d", n, lang)
	f.o.Set(at, hostile.Redirect(302, fmt.Sprintf("/l%d", n)))
	wantKind(t, f.turn(f.known(t, at)), models.Moved)
}

// TestWhatSaysAsEverSpeaks: a page that was known before anything was learned of its host, and answers 304 since, shows something by its parameter; so does
// a file.
func TestWhatSaysAsEverSpeaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer hostile.Answer
		then   models.OutcomeKind
	}{
		"page": {hostile.Honest(fields("ETag", `"1"`), edition(80)), models.NotModified},
		"file": {hostile.Whole(200, map[string]string{"Content-Type": "application/pdf"}, "%PDF-1.4 nothing"), models.SameBytes},
	} {
		f := newForum(t)
		f.o.Set("/x?lang=7", c.answer)
		wantKind(t, f.turn(f.known(t, "/x?lang=7")), models.First)
		delete(f.past.memories, models.HostMemoryID) // it was found by a release before
		wantKind(t, f.turn(f.known(t, "/x?lang=7")), c.then)
		for n := range 4 {
			for lang := range content.EnoughAside {
				f.leadsBack(t, n, lang)
			}
		}
		f.o.Set("/l9?lang=3", page(edition(81)))
		if out := f.turn(f.known(t, "/l9?lang=3")); out.Kind != models.First {
			t.Errorf("%s: another one with the parameter is %v (%s)", name, out.Kind, out.Detail)
		}
	}
}

// TestRedirectsByWhichAParameterIsIdle are looked at within a week where they are of the first page that led so: a site may come to show something by it.
func TestRedirectsByWhichAParameterIsIdle(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	f.life = newLife(t, func(_ *Config, s *config.Settings) { s.FRMax, s.Vary = 2000, 0 })
	for n := range 4 {
		for lang := range content.EnoughAside {
			if n < 3 || lang == 0 {
				f.leadsBack(t, n, lang)
			}
		}
	}
	for path, want := range map[string]models.Rule{"/l0?lang=3": models.RuleAside, "/l2?lang=3": models.RulePolicy} {
		wantKind(t, f.turn(f.known(t, path)), models.Moved)
		if p := f.pages[f.o.URL(path)]; p.Rule != want {
			t.Errorf("%s is due by the rule %s, want %s", path, p.Rule, want)
		}
	}
}

// TestPlainFamilyOfWhatSaysAsEver: a product that stands for itself and answers 304 since this is learned speaks against its family.
func TestPlainFamilyOfWhatSaysAsEver(t *testing.T) {
	t.Parallel()
	l, o, plain, listed := shop(t, nil)
	o.Set("/i?path=1_2&product=0", hostile.Honest(fields("ETag", `"1"`), edition(90)))
	wantKind(t, l.turn(listed(0)), models.First)
	delete(l.past.memories, models.HostMemoryID)
	for n := range products - 2 {
		l.turn(plain(n + 1))
		l.turn(listed(n))
	}
	wantKind(t, l.turn(listed(products-1)), models.First)
}

// TestRedirectsThatSpeakAreLookedAt within a week, as pages are by which it is known what their family is for.
func TestRedirectsThatSpeakAreLookedAt(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	f.life = newLife(t, func(_ *Config, s *config.Settings) { s.FRMax, s.Vary = 2000, 0 })
	f.visits(t, topics, "/t?id=%d", models.First)
	f.visits(t, content.EnoughAside, "/go?topic=%d", models.Moved)
	f.last(t, "/go?topic=%d", models.Excluded)
	url := f.known(t, "/go?topic=3")
	p := f.pages[url]
	p.FRMax = 2000
	f.pages[url] = p
	wantKind(t, f.turn(url), models.Moved)
	if p = f.pages[url]; p.Rule != models.RuleAside || p.DueAt.Time().Sub(f.clock.Now()) > 8*24*time.Hour {
		t.Errorf("it is due in %v by the rule %s", p.DueAt.Time().Sub(f.clock.Now()), p.Rule)
	}
	f.o.Set("/go?topic=3", page(edition(70)))
	wantKind(t, f.turn(url), models.First)
	f.last(t, "/go?topic=%d", models.Moved)
}

// TestPlacesThatAreKnownByRedirectsAlone: what is to be done with a page leads to a file of it, by its own address and more, to which nothing else leads.
func TestPlacesThatAreKnownByRedirectsAlone(t *testing.T) {
	t.Parallel()
	f := newForum(t)
	f.visits(t, topics, "/t?id=%d", models.First)
	for n := range topics {
		f.o.Set(fmt.Sprintf("/t?do=get&id=%d", n), hostile.Redirect(302, fmt.Sprintf("/t?file=f%d.pdf&id=%d", n, n)))
	}
	f.visits(t, topics-1, "/t?do=get&id=%d", models.Moved)
	f.last(t, "/t?do=get&id=%d", models.Moved)
}

// TestWhereRedirectsLeadIsKeptAsItStands: a mirror leads readers of a page that has moved to where it leads, though something else stands for that.
func TestWhereRedirectsLeadIsKeptAsItStands(t *testing.T) {
	t.Parallel()
	l, o, plain, listed := shop(t, nil)
	for n := range content.EnoughAside {
		wantKind(t, l.turn(plain(n)), models.First)
		wantKind(t, l.turn(listed(n)), models.First)
	}
	url := listed(products - 1)
	p := l.pages[url]
	p.Chain = []int64{models.PageID(o.URL("/lamp"))}
	l.pages[url] = p
	wantKind(t, l.turn(url), models.First)
}
