package recrawl

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/robots"
)

// TestLongRobotsAreNotHeldAgainstAllLinks: a robots.txt with as many rules as it has room for, and a page with as many links as
// are read of one, take seconds together and not minutes.
func TestLongRobotsAreNotHeldAgainstAllLinks(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	rules.WriteString("User-agent: *\n")
	for i := 0; rules.Len() < robots.MaxBytes-30; i++ {
		fmt.Fprintf(&rules, "Disallow:*q%x\n", i)
	}
	parse := func(raw string) extract.Link {
		u, err := canon.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return extract.Link{URL: u}
	}
	var links []extract.Link
	for i := range 100 {
		links = append(links, parse(fmt.Sprintf("https://a.example/%d", i)))
	}
	links = append(links, parse("https://b.example/"))

	visitor := &Visitor{rules: newRulesCache(), log: slog.New(slog.DiscardHandler)}
	s := &visit{Visitor: visitor, page: &models.Page{}, over: func() bool { return false }, robots: &models.Robots{Origin: "https://a.example", Body: []byte(rules.String())}}
	s.out.LinksKnown = true
	each := s.rules.of(s.robots).Effort("", "/10")
	s.effort = mostEffort - 50*each
	kept := s.keep(t.Context(), links)
	if n := len(kept); n < 50 || n > 55 || kept[n-1].Host != "b.example" || s.out.LinksKnown {
		t.Errorf("%d links are kept, known: %v, want half a hundred and the other origin's, and not known", n, s.out.LinksKnown)
	}
	if most := mostEffort / each; most > 5000 {
		t.Errorf("as many as %d links are held against %d bytes of rules, want fewer", most, rules.Len())
	}
	s = &visit{Visitor: visitor, page: &models.Page{}, over: func() bool { return false }, robots: &models.Robots{Origin: "https://a.example", Body: []byte("User-agent: *\nDisallow: /x*y\n"), GoodAt: 1}}
	s.over = func() bool { return true } // the daemon stops: nobody waits for the links
	if kept := s.keep(t.Context(), links); len(kept) != 1 || !s.cut {
		t.Errorf("%d links are kept of a visit that is over, cut: %v, want the other origin's alone", len(kept), s.cut)
	}
	s.over, s.cut = func() bool { return false }, false
	if kept := s.keep(t.Context(), links); len(kept) != len(links) || s.effort*500_000/len(links) > mostEffort {
		t.Errorf("%d of %d links are kept at an effort of %d", len(kept), len(links), s.effort)
	}
}
