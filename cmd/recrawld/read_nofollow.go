package main

import (
	"net/http"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
)

// unfollowedIn tells whether a version of a page has links and asks that they be not followed: then a site ends with it, and nothing else says so.
// A version that cannot be read asks nothing.
func (l *look) unfollowedIn(v models.Version, p models.Page, u canon.URL) bool {
	if p.Children > 0 || p.Requisite || !models.MayName(v.ContentType) {
		return false
	}
	answer, err := l.answer(v.Record)
	if err != nil {
		return false
	}
	site, _ := l.force.site(p.SiteID)
	agent := l.force.config.Agent.Name
	found := extract.Page(answer.Body, archive.Field(answer.Header, "Content-Type"), u,
		extract.Options{Bytes: int(site.Settings.BodyBytes), Links: 1, Agent: agent})
	tags := http.Header{"X-Robots-Tag": archive.Fields(answer.Header, "X-Robots-Tag")}
	asks := recrawl.RobotsTag(tags, agent, l.now).Or(found.Robots)
	return asks.NoFollow && len(found.Links) > 0
}
