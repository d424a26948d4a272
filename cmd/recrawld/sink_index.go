package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/sink"
)

// indexSinks begins the names of the sinks that search servers are.
const indexSinks = "index:"

// indexedText is how many bytes of what a page says a search server is given at most.
const indexedText = 256 << 10

// indexKind is the sink that a search server is.
func indexKind(c *config.Config, x *config.Index) sinkKind {
	name := indexSinks + x.Name
	return sinkKind{name: name, where: x.Where(), batch: sink.IndexBatch, make: func(p sinkParts) openedSink {
		told := indexTeller{index: x, others: othersInto(c, x), parts: p}
		return sink.NewIndex(sink.IndexOptions{Name: name, Form: sink.IndexFormOf(x.Form), URL: x.URL, Index: x.Index, Sites: x.Sites,
			Token: x.Secret, Dial: recrawl.DialReceiver(hookPort(x.URL), x.Private), Describe: told.describe, RetryAfter: recrawl.RetryAfter, Clock: p.clock})
	}}
}

// indexedPage is what a search server has of a page: docs/feeding.md tells of each field. What is not known is not there.
type indexedPage struct {
	ID          string     `json:"id"`
	URL         string     `json:"url"`
	Site        string     `json:"site"`
	Title       string     `json:"title"`
	Text        string     `json:"text"`
	Language    string     `json:"language,omitempty"`
	ContentType string     `json:"content_type"`
	Version     int32      `json:"version"`
	FirstSeen   *time.Time `json:"first_seen,omitempty"`
	ChangedAt   *time.Time `json:"changed_at,omitempty"`
}

// indexTeller says what a search server is to have.
type indexTeller struct {
	index  *config.Index
	others []*config.Index // that bring pages to the same index
	parts  sinkParts
}

// othersInto are the search servers of a configuration that are the same one by another name.
func othersInto(c *config.Config, x *config.Index) []*config.Index {
	var others []*config.Index
	for i := range c.Indexes {
		if o := &c.Indexes[i]; o.Name != x.Name && o.Form == x.Form && searchServer(o) == searchServer(x) && o.Index == x.Index {
			others = append(others, o)
		}
	}
	return others
}

// searchServer is the address of a search server, however it is written.
func searchServer(x *config.Index) string {
	u, err := canon.Parse(x.URL)
	if err != nil {
		return x.URL
	}
	return strings.TrimRight(u.String(), "/")
}

// gives tells whether a search server is given the pages of a site.
func gives(x *config.Index, site string) bool {
	return len(x.Sites) == 0 || slices.Contains(x.Sites, site)
}

func (w indexTeller) describe(ctx context.Context, events []models.Event, anew bool) ([]sink.Document, error) {
	b, err := w.parts.library(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := sitesOf(ctx, w.parts.store, b.force.rows, events)
	if err != nil {
		return nil, err
	}
	names := siteNames(rows)
	documents := make([]sink.Document, len(events))
	for i, e := range events {
		site := names[e.SiteID]
		switch {
		case gives(w.index, site):
			if documents[i], err = documentOf(ctx, b, e.URL); err != nil {
				return nil, err
			}
		case anew && !slices.ContainsFunc(w.others, func(o *config.Index) bool { return gives(o, site) }):
			documents[i].ID = documentID(e.URL) // it may have been given the site before
		}
	}
	return documents, nil
}

// documentID is the ID of a page's document.
func documentID(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// documentOf is what a search server is to have of a page: nothing of one that is not there, that asks not to be indexed, that says what
// another page says, or that says nothing. A copy that cannot be read, or a version that is not there, as where a newer one has just come, is
// no reason to drop what the server has.
func documentOf(ctx context.Context, b library, url string) (sink.Document, error) {
	d := sink.Document{ID: documentID(url)}
	s, err := b.text(ctx, textQuery{url: url})
	_, away := errors.AsType[nothing](err)
	switch {
	case away, errors.Is(err, models.ErrNotFound):
		return d, nil
	case exitCode(err) == exitNotFound, errors.Is(err, errElsewhere):
		d.Why = err
		return d, nil
	case err != nil:
		return d, err
	case s.NoIndex != nil && *s.NoIndex, s.DuplicateOf != "", s.Requisite, s.Title == "" && s.Text == "":
		return d, nil
	}
	d.Fields, err = json.Marshal(indexedPage{d.ID, s.URL, s.Site, s.Title, firstOf(s.Text, indexedText), s.Language, s.ContentType, s.Version, s.FirstSeen,
		cmp.Or(s.ChangedAt, s.At)})
	if err != nil {
		err = fmt.Errorf("describe %s: %w", url, err)
	}
	return d, err
}

// firstOf is the beginning of a text, of at most so many bytes, with whole lines if it has any in them.
func firstOf(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	if end := strings.LastIndexByte(text, '\n'); end > 0 {
		return text[:end]
	}
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// checkIndexes tells of search servers that nothing could be given: for want of a token, or because they are given pages of sites which
// are not there.
func (d *daemon) checkIndexes() {
	for i := range d.start.Indexes {
		index := &d.start.Indexes[i]
		if _, err := index.Secret(); err != nil {
			d.log.Warn("a search server has no token, it is given nothing without it", "index", index.Name, "err", err)
		}
		d.checkSites("index", index.Name, index.Sites)
	}
}
