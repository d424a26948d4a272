package main

import (
	"bytes"
	"context"
	"errors"
	"time"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/extract"
	"recrawld/recrawl/sitemap"
)

// namer reads what copies name, with all that a visit may have taken it for: rather too much than too little. It asks no server anything.
type namer struct {
	past   *past
	agent  string
	reader extract.Reader
}

// undecided is why what a page names cannot be told; "": it can.
type undecided string

const (
	unreadable undecided = "its copy cannot be read"
	scripted   undecided = "scripts make it what it is"
	endless    undecided = "it names more than is read"
)

// names calls take with the IDs of all that the newest copy of a page names.
func (n *namer) names(ctx context.Context, p *models.Page, take func(id int64)) (undecided, error) {
	at, err := canon.Parse(p.URL)
	if err != nil {
		return unreadable, nil // it was canonical by other rules, of an earlier release
	}
	answer, ok, err := n.past.answer(ctx, p)
	body, contentType := answer.Body, archive.Field(answer.Header, "Content-Type")
	switch {
	case ctx.Err() != nil:
		return unreadable, ctx.Err()
	case err != nil || !ok || p.Lost || !p.Digest.IsZero() && models.DigestOf(body) != p.Digest:
		return unreadable, nil
	case p.Entries > 0 && !isMarkup(p.ContentType):
		listNames(body, take)
		return "", nil
	}
	found := n.reader.Page(body, contentType, at, extract.Options{Bytes: len(body), Links: mostNeeds, Agent: n.agent, Requisites: true,
		Linked: archive.Fields(answer.Header, "Link")})
	asked := readAt(p)
	for _, u := range found.Requisites {
		take(models.PageID(u.String()))
		for _, slack := range []time.Duration{0, -stampedWithin, stampedWithin} { // whichever moment the visit went by
			take(models.PageID(extract.Timeless(u, asked.Add(slack)).String()))
		}
	}
	for i := range found.Links {
		take(models.PageID(found.Links[i].URL.String()))
	}
	take(models.PageID(found.Refresh.URL.String()))
	switch {
	case found.Undue > 0 || found.Dropped > 0:
		return endless, nil
	case found.HTML && scriptMade(&found, body):
		return scripted, nil
	}
	return "", nil
}

// stampedWithin is within what time of the visit's moment a page's is known: the visit took that long at most.
const stampedWithin = 5 * time.Minute

// scriptMade tells whether a page has scripts, and without them neither a link nor a line of text: what it needs they know.
func scriptMade(found *extract.Extraction, body []byte) bool {
	const line = 100
	return found.TextBytes < line && len(found.Links) == 0 && bytes.Contains(bytes.ToLower(body), []byte("<script"))
}

func isMarkup(media string) bool { return media != "" && models.MayName(media) }

// listNames takes what a sitemap or a feed lists. What is at fault in it is nobody's need.
func listNames(body []byte, take func(id int64)) {
	limits := sitemap.Limits{URLs: mostNeeds, Bytes: sitemap.MaxBytes}
	set, err := sitemap.Read(bytes.NewReader(body), limits)
	if errors.Is(err, sitemap.ErrFormat) {
		set, _ = sitemap.ReadFeed(body, limits)
	}
	for _, e := range append(set.URLs, set.Sitemaps...) {
		take(models.PageID(e.Loc))
	}
}
