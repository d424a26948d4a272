package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/report"
)

// usualChunk is the length of a chunk, in characters, for whoever does not say: some 500 tokens of a language model in English.
const usualChunk = 2000

// The lengths that chunks may have.
const (
	leastChunk = 200
	mostChunk  = 100_000
)

// shownChunk is the JSON form of a chunk of a page.
type shownChunk struct {
	ID       string   `json:"id"`
	Headings []string `json:"headings"` // that it stands under, the outermost first
	Text     string   `json:"text"`
	New      bool     `json:"new"` // it was not in the version that the asker has
}

// errNoBasis is that what the asker has cannot be held against anything: chunks are all new to him, and which of his are gone is not known.
var errNoBasis = errors.New("take all chunks as new, and drop all that you have of the page")

// chunkLength reads the length of chunks: "on" is the usual one, "" is none.
func chunkLength(word string) (int, error) {
	switch word {
	case "":
		return 0, nil
	case "on":
		return usualChunk, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < leastChunk || n > mostChunk {
		return 0, fmt.Errorf("chunks is on, for about %d characters in each, or a number of characters from %d to %d", usualChunk, leastChunk, mostChunk)
	}
	return n, nil
}

// chunks cuts what a page says into chunks of about n characters, and tells which are new to whoever has a version of it, and which of
// that version are gone. have is 0 for whoever has none.
func (b library) chunks(ctx context.Context, s *shownText, page models.Page, u canon.URL, view *content.View, n int, have int32) error {
	known := make(map[string]bool)
	if have > 0 {
		before, err := b.viewOf(ctx, page, u, have)
		if err != nil {
			return err
		}
		for _, c := range before.Chunks(n) {
			known[c.ID] = true
		}
	}
	s.Chunks, s.Gone = []shownChunk{}, []string{}
	for _, c := range view.Chunks(n) {
		s.Chunks = append(s.Chunks, shownChunk{ID: c.ID, Headings: c.Headings, Text: c.Text, New: !known[c.ID]})
		delete(known, c.ID)
	}
	for id := range known {
		s.Gone = append(s.Gone, id)
	}
	slices.Sort(s.Gone)
	return nil
}

// viewOf is a version of a page as it is compared. The error is errNoBasis where it cannot be had, and will not be.
func (b library) viewOf(ctx context.Context, page models.Page, u canon.URL, number int32) (*content.View, error) {
	none := func(why error) error { return fmt.Errorf("%w; %w", why, errNoBasis) }
	v, err := b.version(ctx, page, number)
	switch {
	case exitCode(err) == exitNotFound:
		return nil, none(err)
	case err != nil:
		return nil, err
	case v.Bytes > mostRead:
		return nil, none(fmt.Errorf("version %d of %s is longer than what is read of one", number, page.URL))
	}
	answer, err := b.copied(ctx, page, v)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, none(err)
	}
	_, _, rules := b.force.visited(page.SiteID)
	return content.Read(answer.Body, headerOf(answer).Get("Content-Type"), u, rules), nil
}

// writeChunks prints chunks for a person; to whoever has a version it says which are new.
func writeChunks(l *look, s *shownText, have int32) error {
	for i, c := range s.Chunks {
		head := strings.Join(c.Headings, " > ")
		if head == "" {
			head = "(no heading)"
		}
		switch {
		case have > 0 && c.New:
			head += "  new"
		case have > 0:
			head += "  as before"
		}
		text := l.style.Paint(report.Faint, c.ID) + "  " + l.style.Bold(report.Printable(head)) + "\n"
		for line := range strings.Lines(c.Text) {
			text += report.Printable(strings.TrimSuffix(line, "\n")) + "\n"
		}
		if i > 0 {
			text = "\n" + text
		}
		if _, err := fmt.Fprint(l.Stdout, text); err != nil {
			return err
		}
	}
	if len(s.Gone) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(l.Stdout, "\n%s of version %d that are gone: %s\n", report.Plural(len(s.Gone), "chunk"), have, strings.Join(s.Gone, " "))
	return err
}
