package main

import (
	"context"
	"fmt"
	"slices"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
)

// unknown is what can be said of a URL that is not known; its JSON form is the command's.
type unknown struct {
	URL    string          `json:"url"`
	Known  bool            `json:"known"`
	Sites  []unknownInSite `json:"sites"`
	Robots verdict         `json:"robots"`
}

// unknownInSite is what a site's rules say about it.
type unknownInSite struct {
	Site string `json:"site"`
	verdict
	Requisite *verdict `json:"requisite,omitempty"` // where a link would not be followed, or no new ones are kept, and the site keeps what pages need
}

// whyUnknown says whether a URL that is not known would be kept, by which site, and which rule says no. It returns the
// error that ends the program with exitNotFound.
func (l *look) whyUnknown(ctx context.Context, u canon.URL) error {
	w := unknown{URL: u.String()}
	counts, err := l.store.PageCounts(ctx)
	if err != nil {
		return err
	}
	names, has := l.siteNames(), models.RequisitesBySite(counts)
	for _, row := range l.force.rows {
		w.Sites = append(w.Sites, l.unknownIn(row.ID, names[row.ID], u, has[row.ID]))
	}
	slices.SortStableFunc(w.Sites, func(a, b unknownInSite) int {
		switch {
		case a.keeps() == b.keeps():
			return 0
		case a.keeps():
			return -1
		}
		return 1
	})
	if w.Robots, err = l.robotsVerdict(ctx, u); err != nil {
		return err
	}
	if l.JSON {
		err = l.printJSON(w)
	} else {
		err = w.write(l)
	}
	if err != nil {
		return err
	}
	return notFoundf("%s is not known", u)
}

func (l *look) unknownIn(site int32, name string, u canon.URL, has models.SiteRequisites) unknownInSite {
	in := unknownInSite{Site: name, verdict: l.scopeVerdict(&models.Page{SiteID: site, Level: 1}, u)}
	_, pages := l.force.site(site)
	full := has.Room(models.LeastRequisites) == 0
	if in.Keep && !full || pages == nil || !l.force.keepsRequisites(site) {
		return in
	}
	v := pages.DecideRequisite(u)
	switch {
	case v.Keep && full:
		in.Requisite = &verdict{Rule: report.FullWords(has) + " (recrawld status)"}
	case !in.Keep:
		in.Requisite = &verdict{Keep: v.Keep, Rule: v.Rule}
	}
	return in
}

// needed tells whether the URL would be kept if a page needed it to be shown, and not as a link.
func (s unknownInSite) needed() bool { return s.Requisite != nil && s.Requisite.Keep }

// found tells whether the URL would be kept however it were found.
func (s unknownInSite) found() bool { return s.Keep && s.Requisite == nil }

func (s unknownInSite) keeps() bool { return s.Keep || s.needed() }

func (s unknownInSite) words(l *look) string {
	words := s.verdict.words(l)
	switch {
	case s.needed(), s.Requisite != nil && s.Keep:
		return words + "; as something that a page needs to be shown " + s.Requisite.words(l)
	case s.Requisite != nil:
		return words + "; also as something that a page needs to be shown: " + s.Requisite.Rule
	}
	return words
}

// sitesShown is how many sites a person is told of, those that keep the URL first.
const sitesShown = 6

func (w unknown) write(l *look) error {
	fmt.Fprintln(l.Stdout, l.style.Bold(l.style.Address(w.URL)))
	words := facts{style: l.style}
	kept := slices.ContainsFunc(w.Sites, func(s unknownInSite) bool { return s.Keep })
	needed := !kept && slices.ContainsFunc(w.Sites, unknownInSite.needed)
	state := "not known: nobody has added it, and no page that was read links to it"
	switch {
	case !w.Robots.Keep || !kept && !needed:
		state = "not known: links to it are not followed"
	case needed:
		state = "not known: links to it are not followed, and no page that was read needs it to be shown"
	}
	words.add("state", "%s", state)
	for i, site := range w.Sites {
		if i < sitesShown {
			words.add(site.Site, "%s", site.words(l))
		}
	}
	if more := len(w.Sites) - sitesShown; more > 0 {
		words.add("…", "and %s more", report.Plural(more, "site"))
	}
	if len(w.Sites) == 0 {
		words.add("sites", "there is none yet")
	}
	words.add("robots", "%s", w.Robots.words(l))
	switch {
	case kept && w.Robots.Keep && !slices.ContainsFunc(w.Sites, unknownInSite.found):
		words.add("so", "it would be kept if a page linked to it; recrawld import adds it now")
	case kept && w.Robots.Keep:
		words.add("so", "it would be kept if it were found; recrawld import adds it now")
	case needed && w.Robots.Keep:
		words.add("so", "it would be kept if a page were found to need it, as an image or a style is needed")
	default:
		words.add("so", "it would not be visited")
	}
	return words.write(l.Stdout)
}
