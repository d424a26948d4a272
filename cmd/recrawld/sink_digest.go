package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/digest"
	"recrawld/models"
	"recrawld/sink"
)

// digestWriter writes what people are told.
type digestWriter struct {
	name   string // of the mail or chat
	digest *config.Digest
	most   int                                      // pages that it tells of one by one
	write  func(*digest.Digest, *sink.Letter) error // fills in what a letter says
	parts  sinkParts

	rows  []models.Site    // as they were last read
	names map[int32]string // of them, "" for those that are not there any more
}

// compose puts a period into a letter.
func (w *digestWriter) compose(ctx context.Context, p *sink.Period, events iter.Seq2[models.Event, error]) (*sink.Letter, string, error) {
	b, err := w.parts.library(ctx)
	if err != nil {
		return nil, "", err
	}
	w.rows, w.names = b.force.rows, siteNames(b.force.rows)
	gather, err := w.gather(ctx, events)
	if err != nil {
		return nil, "", err
	}
	log, err := w.parts.store.LogName(ctx)
	if err != nil {
		return nil, "", err
	}
	found, tally := gather.Found()
	d := digest.Digest{From: p.Told, To: p.End}
	w.fill(ctx, b, &d, found, tally)
	memo, err := w.unusual(ctx, &d, p.Memo)
	if err != nil {
		return nil, "", err
	}
	if p.Missed {
		d.Notes = append(d.Notes, "Some of what happened is not told here: it was older than history.keep when this was due.")
	}
	if d.Empty() {
		return nil, memo, nil
	}
	letter, err := w.letter(&d, log, p.End)
	return letter, memo, err
}

// letter writes a digest.
func (w *digestWriter) letter(d *digest.Digest, log string, end time.Time) (*sink.Letter, error) {
	thread := w.name + "-" + log
	l := &sink.Letter{ID: fmt.Sprintf("%s-%d", thread, models.At(end)), Thread: thread, List: w.name + ".recrawld", Date: w.parts.clock.Now()}
	return l, w.write(d, l)
}

// gather puts together what is told of. Matches leaves out what pages need to be shown, images and styles.
func (w *digestWriter) gather(ctx context.Context, events iter.Seq2[models.Event, error]) (*digest.Gather, error) {
	kinds, err := eventKinds(w.digest.Kinds)
	if err != nil {
		return nil, err
	}
	told, g := models.ChangesQuery{Kinds: kinds, Weight: float32(w.digest.Weight)}, &digest.Gather{Most: w.most}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if !told.Matches(e) {
			continue
		}
		name, err := w.site(ctx, e)
		if err != nil {
			return nil, err
		}
		if len(w.digest.Sites) == 0 || slices.Contains(w.digest.Sites, name) {
			g.Add(e)
		}
	}
	return g, nil
}

// site is the name of an event's site.
func (w *digestWriter) site(ctx context.Context, e models.Event) (string, error) {
	name, known := w.names[e.SiteID]
	if known {
		return name, nil
	}
	rows, err := sitesOf(ctx, w.parts.store, w.rows, []models.Event{e})
	if err != nil {
		return "", err
	}
	w.rows, w.names = rows, siteNames(rows)
	if name, known = w.names[e.SiteID]; !known {
		w.names[e.SiteID] = "" // else it is looked for again with each of its events
	}
	return name, nil
}

// digestRead is how long the copies of its pages are read: of the others it says that there was no time.
const digestRead = time.Minute

// fill fills in what was found.
func (w *digestWriter) fill(ctx context.Context, b library, d *digest.Digest, found []digest.Found, tally map[int32]digest.Tally) {
	inTime, cancel := context.WithTimeout(ctx, digestRead)
	defer cancel()
	sites := map[int32]*digest.Site{}
	for id, t := range tally {
		sites[id] = &digest.Site{Name: w.called(id), Tally: t}
		d.More += t.Pages()
	}
	for _, f := range found {
		if f.Kind == models.EventRemoved {
			d.Removed = append(d.Removed, digest.Removal{Name: w.called(f.SiteID), Pages: f.Pages, At: f.At.Time()})
			continue
		}
		site := sites[f.SiteID]
		site.Entries = append(site.Entries, w.entry(inTime, b, f))
		d.More--
	}
	for _, site := range sites {
		d.Sites = append(d.Sites, *site)
	}
	digest.SortSites(d.Sites)
	d.Command = w.command(d.To.Sub(d.From))
}

func (w *digestWriter) called(site int32) string {
	if name := w.names[site]; name != "" {
		return name
	}
	return "a site that is no more"
}

// entry is what happened to a page, with what the feed says of it.
func (w *digestWriter) entry(ctx context.Context, b library, f digest.Found) digest.Entry {
	e := b.entry(models.RecentEvent{Event: f.Event, Pages: f.Pages}, "", "")
	entry := digest.Entry{Kind: f.Kind, At: e.At, URL: e.URL, RedirectTo: e.RedirectTo, Times: f.Times, Significance: f.Significance}
	if f.Kind != models.EventChanged && f.Kind != models.EventRefreshed {
		entry.Significance = 0
	}
	title, said, err := e.Read(ctx)
	switch {
	case ctx.Err() != nil:
		said = "<p>What this says cannot be shown: there was no time left to read it.</p>"
	case err != nil:
		said = digest.Paragraph("What this says cannot be shown: " + err.Error())
	}
	entry.Title, entry.Said = title, said
	return entry
}

// command shows all that a digest of so much time tells of, also on the day after.
func (w *digestWriter) command(d time.Duration) string {
	command := fmt.Sprintf("recrawld changes --since %dd --limit 0", int(d/(24*time.Hour))+2)
	if len(w.digest.Sites) == 1 {
		command += " --site " + w.digest.Sites[0]
	}
	if w.digest.Weight > 0 {
		command += fmt.Sprintf(" --min-significance %g", w.digest.Weight)
	}
	return command
}
