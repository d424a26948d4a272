package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
	"recrawld/report"
)

// shownText is the JSON form of what a page says: what a search index stores of it. Times that never were are null.
type shownText struct {
	URL         string     `json:"url"`
	Site        string     `json:"site"`
	State       string     `json:"state"`
	Requisite   bool       `json:"requisite,omitempty"`    // it is kept because pages need it to be shown
	Canonical   string     `json:"canonical,omitempty"`    // what it names as that
	DuplicateOf string     `json:"duplicate_of,omitempty"` // what has the same content and was known first
	Title       string     `json:"title"`
	Language    string     `json:"language,omitempty"` // that it says it is in
	Text        string     `json:"text"`               // its content, a line a paragraph
	Cut         bool       `json:"cut,omitempty"`      // it is longer than what is read of one
	NoIndex     *bool      `json:"noindex,omitempty"`  // it asks not to be offered to readers; not known of one that is not read
	ContentType string     `json:"content_type"`
	Bytes       int64      `json:"bytes"`
	Digest      string     `json:"digest"`
	Version     int32      `json:"version"`
	At          *time.Time `json:"at"` // this version was first seen
	FirstSeen   *time.Time `json:"first_seen"`
	ChangedAt   *time.Time `json:"changed_at"` // its content; null: not since it is known
	VisitedAt   *time.Time `json:"visited_at"`
	Importance  float64    `json:"importance"`

	// In place of Text, where that was asked for.
	Chunks []shownChunk `json:"chunks,omitzero"` // its content in chunks
	Gone   []string     `json:"gone,omitzero"`   // IDs of chunks that the asker has and that are not there any more
}

// textQuery is what somebody wants to know of what a page says.
type textQuery struct {
	url    string
	number int32 // of the version; 0: the newest of a page that is there
	chunks int   // about as many characters in a chunk; 0: all as one text
	have   int32 // the version that the asker has; 0: none
}

// mostRead is the length of the longest body that is looked into: its text is read up to content.MaxBytes.
const mostRead = 2 * content.MaxBytes

// text is what a version of a page says.
func (b library) text(ctx context.Context, q textQuery) (shownText, error) {
	page, u, err := findPage(ctx, b.store, q.url)
	number := q.number
	if err != nil {
		return shownText{}, err
	}
	away := page.State == models.StateGone || page.State == models.StateExcluded || page.LeadsAway()
	switch {
	case page.Version == 0:
		return shownText{}, nothingf("%s is %s, and there is no copy of it", page.URL, page.State)
	case number == 0 && away:
		return shownText{}, nothingf("%s is %s; its last copy is version %d", page.URL, page.State, page.Version)
	case number == 0 && page.NoArchive: // perhaps since its header says so, with a copy of before
		return shownText{}, nothingf("%s asks not to be archived", page.URL)
	case number == 0:
		number = page.Version
	}
	v, err := b.version(ctx, page, number)
	if err != nil {
		return shownText{}, err
	}
	s := shownText{
		URL: page.URL, Site: siteName(b.force.rows, page.SiteID), State: page.State.String(), Requisite: page.Requisite, Canonical: page.Canonical,
		DuplicateOf: page.DuplicateOf, ContentType: v.ContentType, Bytes: v.Bytes, Digest: v.Digest.String(), Version: v.Number,
		At: when(v.At), FirstSeen: when(page.Stats.FirstAt), ChangedAt: when(page.Stats.ChangedAt), VisitedAt: when(page.Stats.VisitedAt),
		Importance: round(float64(cmp.Or(page.Importance, 1))),
	}
	if s.Cut = v.Bytes > mostRead; s.Cut {
		return s, nil
	}
	answer, err := b.copied(ctx, page, v)
	if err != nil {
		return s, err
	}
	view := b.say(&s, page, u, answer)
	if q.chunks > 0 {
		s.Text = ""
		err = b.chunks(ctx, &s, page, u, view, q.chunks, q.have)
	}
	return s, err
}

// copied is the copy of a version. Where that is lost, another copy of the same body will do, that was stored since.
func (b library) copied(ctx context.Context, page models.Page, v models.Version) (archive.Answer, error) {
	if v.Record.File == "" {
		return archive.Answer{}, nothingf("there is no copy of version %d of %s: it asked not to be archived", v.Number, page.URL)
	}
	answer, err := b.read(v.Record)
	if !isLost(err) {
		return answer, err
	}
	seen, failed := b.store.Contents(ctx, []models.Digest{v.Digest})
	if failed != nil {
		return answer, failed
	}
	if other, known := seen[v.Digest]; known && other.Record != v.Record {
		if again, failed := b.read(other.Record); failed == nil && again.Digest == v.Digest {
			return again, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) && b.force.config.Store != "sqlite" {
		return answer, fmt.Errorf("the copy of %s %w, whose segment %s this one does not see", page.URL, errElsewhere, v.Record.File)
	}
	return answer, coded{exitNotFound, fmt.Errorf("the copy of version %d of %s is lost (recrawld verify says what else is): %w", v.Number, page.URL, err)}
}

// nothing is why a page has nothing to be shown now, as one that is gone. That what it has is not found is no such reason.
type nothing struct{ error }

func nothingf(format string, args ...any) error {
	return coded{exitNotFound, nothing{fmt.Errorf(format, args...)}}
}

// errElsewhere says that a copy is not on this machine.
var errElsewhere = errors.New("is in the archive of another worker")

// isLost tells whether an error of reading the archive says that a record is not there, or not whole.
func isLost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, archive.ErrDamaged)
}

// say takes what the page says out of its copy, and returns that as it is compared.
func (b library) say(s *shownText, page models.Page, u canon.URL, answer archive.Answer) *content.View {
	header, agent := headerOf(answer), b.force.config.Agent.Name
	kind := header.Get("Content-Type")
	_, _, rules := b.force.visited(page.SiteID)
	view := content.Read(answer.Body, kind, u, rules)
	found := extract.Page(answer.Body, kind, u, extract.Options{Bytes: content.MaxBytes, Agent: agent})
	noIndex := recrawl.RobotsTag(header, agent, b.now).Or(found.Robots).NoIndex
	s.Title, s.Text, s.Cut, s.NoIndex = view.Title, view.Text(), view.Cut, &noIndex
	first, _, _ := strings.Cut(header.Get("Content-Language"), ",")
	s.Language = cmp.Or(found.Language, extract.Language(first))
	return view
}

// headerOf is the header of an answer. What does not parse of one that was archived has no meaning to anybody.
func headerOf(answer archive.Answer) http.Header {
	fields, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(bytes.Clone(answer.Header), "\r\n"...)))).ReadMIMEHeader()
	return http.Header(fields)
}

// text writes what a page says.
func (c showCmd) text(ctx context.Context, l *look) error {
	n, err := chunkLength(c.Chunks)
	if err != nil {
		return usagef("--%w", err)
	}
	if c.Have != 0 && (n == 0 || c.Have < 0) {
		return usagef("--have is the number of a version, from 1 on, and asks which --chunks are new since")
	}
	s, err := l.library().text(ctx, textQuery{url: c.URL, number: c.Version, chunks: n, have: c.Have})
	switch {
	case errors.Is(err, errNoBasis):
		return coded{exitNotFound, err}
	case err != nil:
		return err
	case l.JSON:
		return l.printJSON(s)
	case n > 0:
		return writeChunks(l, &s, c.Have)
	}
	for line := range strings.Lines(s.Text) {
		if _, err := fmt.Fprintln(l.Stdout, report.Printable(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
