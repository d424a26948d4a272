package main

import (
	"fmt"
	"math"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/scope"
	"recrawld/report"
)

// surveyNeeds is what the pages that were looked at need to be shown: images, styles, scripts.
type surveyNeeds struct {
	Setting   string  `json:"setting"`            // of the site
	Here      float64 `json:"per_page"`           // on the hosts of the site, the mean
	Elsewhere float64 `json:"elsewhere_per_page"` // on others, the mean
	Hosts     int     `json:"other_hosts"`        // which these are
	Kept      int     `json:"kept"`               // of all pages, that the setting keeps; an estimate

	onHost int // of Kept, on the host of the start URL
}

// needing counts what pages need.
type needing struct {
	near  *scope.Scope           // keeps what lies on the hosts of the site
	pages int                    // that were looked at
	times map[canon.URL]int      // in how many of them each is needed
	hosts map[string]bool        // others than the site's
	here  map[canon.URL]struct{} // on the site's
}

func newNeeding(site config.Site) (*needing, error) {
	site.Settings.Requisites, site.Settings.RequisitesFilter = config.RequisitesSite, config.Filter{}
	near, err := scope.Compile(site)
	return &needing{near: near, times: make(map[canon.URL]int), hosts: make(map[string]bool), here: make(map[canon.URL]struct{})}, err
}

// page takes what a page needs.
func (n *needing) page(out *models.Outcome) {
	if !out.Kind.Observed() || !models.MayName(out.ContentType) {
		return
	}
	n.pages++
	for _, found := range out.Requisites {
		u, err := canon.Parse(found.URL)
		if err != nil {
			continue
		}
		n.times[u]++
		if n.near.DecideRequisite(u).Keep {
			n.here[u] = struct{}{}
		} else {
			n.hosts[u.HostName()] = true
		}
	}
}

// sum is what they need, and what the site keeps of that for so many pages: what several need once, and of the rest as much for each
// page as for those that were looked at. Of one page alone nobody knows what others share with it, so they share all.
func (n *needing) sum(site *config.Site, own *scope.Scope, host string, pages int) surveyNeeds {
	s := surveyNeeds{Setting: site.Settings.Requisites, Hosts: len(n.hosts)}
	if n.pages == 0 {
		return s
	}
	var kept, onHost [2]float64 // needed by several pages, and by one
	for u, times := range n.times {
		if _, here := n.here[u]; here {
			s.Here += float64(times)
		} else {
			s.Elsewhere += float64(times)
		}
		alone := 0
		if times == 1 && n.pages > 1 {
			alone = 1
		}
		if own.DecideRequisite(u).Keep {
			kept[alone]++
			if u.HostName() == host {
				onHost[alone]++
			}
		}
	}
	looked := float64(n.pages)
	s.Here, s.Elsewhere = s.Here/looked, s.Elsewhere/looked
	of := func(count [2]float64) int { return int(math.Round(count[0] + count[1]/looked*float64(pages))) }
	s.Kept, s.onHost = of(kept), of(onHost)
	return s
}

// text says it in a line, "" where they need nothing.
func (s *surveyNeeds) text() string {
	if s.Here+s.Elsewhere == 0 {
		return ""
	}
	text := report.Count(int64(math.Round(s.Here))) + " images, styles … a page here"
	if s.Hosts > 0 {
		text += fmt.Sprintf(", %s on %s", report.Count(int64(math.Ceil(s.Elsewhere))), report.Plural(s.Hosts, "other host"))
	}
	if s.Setting == config.RequisitesSite || s.Setting == config.RequisitesAll {
		return text + "; about " + report.Count(int64(s.Kept)) + " kept"
	}
	return text + "; off: none is kept, --requisites all keeps them"
}
