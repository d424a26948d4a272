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
}

// whyUnknown says whether a URL that is not known would be kept, by which site, and which rule says no. It returns the
// error that ends the program with exitNotFound.
func (l *look) whyUnknown(ctx context.Context, u canon.URL) error {
	w := unknown{URL: u.String()}
	names := l.siteNames()
	for _, row := range l.force.rows {
		w.Sites = append(w.Sites, unknownInSite{names[row.ID], l.scopeVerdict(&models.Page{SiteID: row.ID, Level: 1}, u)})
	}
	slices.SortStableFunc(w.Sites, func(a, b unknownInSite) int {
		switch {
		case a.Keep == b.Keep:
			return 0
		case a.Keep:
			return -1
		}
		return 1
	})
	var err error
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

// sitesShown is how many sites a person is told of, those that keep the URL first.
const sitesShown = 6

func (w unknown) write(l *look) error {
	fmt.Fprintln(l.Stdout, l.style.Bold(l.style.Address(w.URL)))
	words := facts{style: l.style}
	kept := slices.ContainsFunc(w.Sites, func(s unknownInSite) bool { return s.Keep })
	state := "not known: nobody has added it, and no page that was read links to it"
	if !kept || !w.Robots.Keep {
		state = "not known: links to it are not followed"
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
	if kept && w.Robots.Keep {
		words.add("so", "it would be kept if it were found; recrawld import adds it now")
	} else {
		words.add("so", "it would not be visited")
	}
	return words.write(l.Stdout)
}
