package recrawl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
)

// form is a page that no crawler is to look at, and article one that links to those of some.
func form(n int) hostile.Answer {
	return page(fmt.Sprintf(`<html><head><meta name="robots" content="noindex,nofollow"></head><body>%s</body></html>`, edition(n)))
}

func article(n, forms int) hostile.Answer {
	links := ""
	for i := range forms {
		links += fmt.Sprintf(`<a href="/w?title=P%d&amp;action=edit">edit</a> <a href="/wiki/P%d">P%d</a> `, i, i, i)
	}
	return page(edition(n) + links)
}

// wiki is a life of a site whose pages each have a form to edit them, which nobody named.
func wiki(t *testing.T, edit func(*config.Settings)) (*life, *hostile.Origin, func(n int) string) {
	const forms = content.EnoughAside + 4
	answers := make(map[string]hostile.Answer)
	for i := range forms {
		answers[fmt.Sprintf("/w?title=P%d&action=edit", i)], answers[fmt.Sprintf("/wiki/P%d", i)] = form(i), article(i, forms)
	}
	o := listen(t, answers)
	l := newLife(t, func(_ *Config, s *config.Settings) {
		if edit != nil {
			edit(s)
		}
	})
	return l, o, func(n int) string {
		url := o.URL(fmt.Sprintf("/w?title=P%d&action=edit", n))
		if _, known := l.pages[url]; !known {
			p := pageOf(t, url)
			p.Level = 2
			l.pages[url] = p
			l.host.Name = strings.Split(url, "/")[2]
		}
		return url
	}
}

func asides(out *models.Outcome) (aside, others int) {
	for _, l := range out.Links {
		if l.Aside {
			aside++
		} else {
			others++
		}
	}
	return aside, others
}

// TestFormsAreLeftAside: of the forms to edit a wiki a few are visited, no others are found, and those that were found before are not asked for.
func TestFormsAreLeftAside(t *testing.T) {
	t.Parallel()
	l, o, formOf := wiki(t, nil)
	for n := range content.EnoughAside {
		out := l.turn(o.URL("/wiki/P0"))
		if aside, others := asides(&out); aside > 0 || n == 0 && others == 0 {
			t.Fatalf("%d links are left aside and %d are not, after %d forms", aside, others, n)
		}
		wantKind(t, l.turn(formOf(n)), models.First)
	}
	asked := len(o.Requests())
	out := l.turn(formOf(content.EnoughAside))
	wantKind(t, out, models.Excluded)
	if len(o.Requests()) != asked || !strings.Contains(out.Detail, "noindex: all") {
		t.Errorf("it was asked for, or is not said why: %q", out.Detail)
	}
	out = l.turn(o.URL("/wiki/P1"))
	if aside, others := asides(&out); aside != content.EnoughAside+4 || others != content.EnoughAside+4-1+1 {
		t.Errorf("%d links are left aside, %d are not", aside, others)
	}
	wantKind(t, l.turn(formOf(0)), models.SameBytes)
	for n, rule := range map[int]models.Rule{0: models.RuleAside, content.EnoughAside: models.RuleExcluded} {
		p, now := l.pages[formOf(n)], l.clock.Now()
		if p.Rule != rule || p.DueAt.Time().Before(now.Add(24*time.Hour)) || p.DueAt.Time().After(now.Add(7*24*time.Hour)) {
			t.Errorf("%s is due %s by the rule %s, want within a week by %s", p.URL, p.DueAt, p.Rule, rule)
		}
	}
	o.Set("/w?title=P1&action=edit", page(edition(77)))
	wantKind(t, l.turn(formOf(1)), models.Changed) // and one comes to be for readers
	wantKind(t, l.turn(formOf(content.EnoughAside)), models.First)
	out = l.turn(o.URL("/wiki/P2"))
	if aside, _ := asides(&out); aside > 0 {
		t.Errorf("%d links are left aside of a family that is for readers", aside)
	}
}

// TestWhatIsNotLeftAside: pages that somebody named, or asks for, and all of them where the site says so.
func TestWhatIsNotLeftAside(t *testing.T) {
	t.Parallel()
	l, _, formOf := wiki(t, nil)
	for n := range content.EnoughAside {
		wantKind(t, l.turn(formOf(n)), models.First)
	}
	for n, edit := range []func(*models.Page){func(p *models.Page) { p.Level = 0 }, func(p *models.Page) { p.Rule = models.RuleManual }} {
		url := formOf(content.EnoughAside + n)
		p := l.pages[url]
		edit(&p)
		l.pages[url] = p
		wantKind(t, l.turn(url), models.First)
	}

	l, _, formOf = wiki(t, func(s *config.Settings) { s.NoIndex = config.NoIndexAll })
	for n := range content.EnoughAside + 4 {
		wantKind(t, l.turn(formOf(n)), models.First)
	}
}
