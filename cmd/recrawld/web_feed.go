package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"recrawld/diff"
	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
	"recrawld/web"
)

// What an entry of a feed shows: lines of a difference and bytes of their text, characters of a page's text.
const (
	entryLines = 20
	entryBytes = 10_000
	entryText  = 500
)

// Feed implements web.Library.
func (s shelf) Feed(ctx context.Context, q web.ChangesQuery) (web.Feed, error) {
	f, err := s.library().feed(ctx, q, s.recent)
	if exitCode(err) == exitNotFound { // what a word of the question names
		return f, web.Refusal{Status: http.StatusBadRequest, Err: err}
	}
	return f, refusal(err)
}

// feed lists the newest events that a query asks for.
func (b library) feed(ctx context.Context, q web.ChangesQuery, recent *recentFeeds) (f web.Feed, err error) {
	kinds, err := eventKinds(q.Kinds)
	if err != nil {
		return f, err
	}
	sites, err := b.sitesTold(ctx, q.Site)
	if err != nil {
		return f, err
	}
	events, back, err := recent.newest(ctx, b, models.ChangesQuery{Sites: sites, Kinds: kinds, Requisites: q.Requisites, Limit: q.Limit, Weight: float32(q.Weight)})
	if err != nil {
		return f, err
	}
	f.At, f.Back = b.now, back.Time()
	if f.Log, err = b.store.LogName(ctx); err != nil {
		return f, err
	}
	f.Entries, err = b.entries(ctx, events, f.Log)
	return f, err
}

// entries are events as a feed tells them.
func (b library) entries(ctx context.Context, events []models.RecentEvent, log string) (entries []web.Entry, err error) {
	plain := make([]models.Event, len(events))
	for i, e := range events {
		plain[i] = e.Event
	}
	rows, err := sitesOf(ctx, b.store, b.force.rows, plain)
	if err != nil {
		return nil, err
	}
	names := siteNames(rows)
	for _, e := range events {
		entry := b.entry(e, log, names[e.SiteID])
		if i := slices.IndexFunc(rows, func(site models.Site) bool { return site.ID == e.SiteID && site.URL != "" }); i >= 0 && entry.Pages > 0 {
			entry.URL = rows[i].URL
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// entry is an event as a feed tells it.
func (b library) entry(e models.RecentEvent, log, site string) web.Entry {
	entry := web.Entry{ID: e.ID(log), At: e.At.Time(), Kind: e.Kind.String(), Site: site, URL: e.URL}
	switch e.Kind {
	case models.EventMoved:
		entry.RedirectTo = e.RedirectTo
	case models.EventRemoved:
		entry.Pages = e.Pages
	}
	compared := (e.Kind == models.EventChanged || e.Kind == models.EventRefreshed) && e.Previous > 0 && e.Previous != e.Version
	switch {
	case compared:
		entry.Versions = fmt.Sprintf("%d..%d", e.Previous, e.Version)
		entry.Read = b.reading(e.Event, b.changed)
	case fates[e.Kind] != "":
		entry.Read = func(context.Context) (string, template.HTML, error) { return "", fate(e.Event), nil }
	default:
		entry.Read = b.reading(e.Event, b.begins)
	}
	return entry
}

// fates are what is said of pages of which there is nothing to read.
var fates = map[models.EventKind]string{
	models.EventMoved:    "The page leads to another one now.",
	models.EventGone:     "The page is gone.",
	models.EventFailing:  "The page cannot be read at present.",
	models.EventExcluded: "The page is no longer visited.",
	models.EventTemplate: "What many pages of this host share has changed on all of them.",
	models.EventRemoved:  "The site was removed: its pages are no longer visited.",
}

// fate says what became of a page.
func fate(e models.Event) template.HTML {
	said := "<p>" + fates[e.Kind] + "</p>"
	if e.Kind == models.EventTemplate && e.Note != "" {
		said += "<p>" + html.EscapeString(shortSample(e.Note)) + "</p>"
	}
	return template.HTML(said) // escaped
}

// seen reads what an event says out of copies of its page.
type seen func(ctx context.Context, e models.Event, page models.Page, u canon.URL) (title string, said template.HTML, err error)

// reading finds the page of an event first, and whether there are copies of it for others to see.
func (b library) reading(e models.Event, read seen) func(context.Context) (string, template.HTML, error) {
	return func(ctx context.Context) (string, template.HTML, error) {
		page, err := b.store.Page(ctx, e.Bucket, e.PageID)
		if errors.Is(err, models.ErrNotFound) {
			return "", "", notFoundf("nothing is known of the page any more: its site was removed")
		}
		if err != nil {
			return "", "", err
		}
		u, err := canon.Parse(page.URL)
		switch {
		case err != nil:
			return "", "", err
		case page.NoArchive:
			return "", "", notFoundf("%s asks not to be archived", page.URL)
		}
		return read(ctx, e, page, u)
	}
}

// changed is what differs in a page since the version before.
func (b library) changed(ctx context.Context, e models.Event, page models.Page, u canon.URL) (string, template.HTML, error) {
	before, err := b.readable(ctx, page, u, e.Previous, models.Digest{})
	if err != nil {
		return "", "", err
	}
	after, err := b.readable(ctx, page, u, e.Version, e.Digest)
	if err != nil {
		return "", "", err
	}
	d, err := b.difference(ctx, page, u, before, after, diff.Options{})
	return after.View.Title, diff.Excerpt(d, entryLines, entryBytes), err
}

// begins is how the text of a page begins.
func (b library) begins(ctx context.Context, e models.Event, page models.Page, u canon.URL) (string, template.HTML, error) {
	read, err := b.readable(ctx, page, u, e.Version, e.Digest)
	if err != nil {
		return "", "", err
	}
	text := read.View.Text()
	if text == "" {
		text = fmt.Sprintf("%s of %s without text that is read", report.Bytes(read.row.Bytes), read.row.ContentType)
	}
	if runes := []rune(text); len(runes) > entryText {
		text = string(runes[:entryText]) + "…"
	}
	p := diff.Paragraph(text)
	return read.View.Title, template.HTML(p + strings.ReplaceAll(html.EscapeString(text), "\n", "</p>"+p) + "</p>"), nil // escaped
}

// readable is a version that is not too long to be looked into, of that digest; zero: of any. One of another was stored since the page was
// forgotten and found again, which counts versions anew.
func (b library) readable(ctx context.Context, page models.Page, u canon.URL, number int32, digest models.Digest) (side, error) {
	row, err := b.version(ctx, page, number)
	switch {
	case err != nil:
		return side{}, err
	case digest != (models.Digest{}) && row.Digest != digest:
		return side{}, notFoundf("the copy of that time is not there any more")
	case row.Bytes > mostRead:
		return side{}, notFoundf("version %d has %s, more than is looked into for a feed", row.Number, report.Bytes(row.Bytes))
	}
	return b.sideOf(ctx, page, u, row)
}
