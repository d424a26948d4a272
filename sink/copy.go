package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"recrawld/archive"
	"recrawld/models"
)

// copied is a body that was brought from the archive into a draft of its file.
type copied struct {
	draft   *draft         // nil where the archive has lost the body, or there is none
	answer  archive.Answer // without its body
	bytes   int64
	refused error // the body cannot be had yet, or the file system takes no file of that size
	lost    error // why the archive does not have the body any more
}

// copiers is how many bodies are copied at once. One after the other they would fall behind the visits: with all processors
// at work, whoever waits for a system call waits for its next turn as well.
const copiers = 4

// copyAll copies the bodies of the events that bring one in any case, to files of these names, and leaves nothing for the others.
func (m *Mirror) copyAll(ctx context.Context, b *batch, events []models.Event, names []string) ([]copied, error) {
	copies := make([]copied, len(events))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(copiers, len(events)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(events)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if !bringsBody(events[i].Kind) {
					continue
				}
				var err error
				if copies[i], err = m.copyBody(events[i], names[i]); err != nil {
					return fmt.Errorf("%s: %w", events[i].URL, err)
				}
			}
			return nil
		})
	}
	err := group.Wait()
	for _, c := range copies {
		if c.draft != nil {
			b.drafts = append(b.drafts, c.draft)
		}
	}
	return copies, err
}

// bringsBody tells whether every event of a kind brings a body, if that was kept.
func bringsBody(kind models.EventKind) bool {
	return kind == models.EventNew || kind == models.EventChanged || kind == models.EventRefreshed
}

// copyBody brings the body of an event into a draft of the file of a name. Several goroutines may do so at once.
func (m *Mirror) copyBody(e models.Event, name string) (copied, error) {
	if e.Record == (models.Record{}) {
		return copied{}, nil
	}
	answer, err := m.options.Archive.Read(e.Record)
	if errors.Is(err, archive.ErrElsewhere) {
		return copied{refused: err}, nil // it may yet be brought here
	}
	if errors.Is(err, archive.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		return copied{lost: err}, nil // trying again would hold up all other pages for ever; the old copy stays
	}
	if err != nil {
		return copied{}, err
	}
	modified, err := http.ParseTime(e.LastModified)
	if err != nil {
		modified = e.At.Time()
	}
	c := copied{answer: answer, bytes: int64(len(answer.Body))}
	c.draft, err = m.tree.write(name, answer.Body, modified)
	c.answer.Body = nil
	if errors.Is(err, unix.EFBIG) {
		c.refused, err = fmt.Errorf("%s: %w", name, err), nil
	}
	return c, err
}

// row says what the file of an event holds.
func (c copied) row(row Row, e models.Event) Row {
	length := c.bytes // what a row holds on to is held for long
	row.Length, row.SHA256, row.Type, row.Version = &length, c.answer.Digest.String(), e.ContentType, e.Version
	row.LastModified, row.ETag = e.LastModified, etag(c.answer.Header)
	row.FetchedAt = row.EventAt
	if e.Kind == models.EventNew || e.Kind == models.EventChanged {
		row.ChangedAt = row.EventAt
		if e.Seq == 0 && e.NotAfter != 0 { // the page as it is, whose copy may be newer than its text
			row.ChangedAt = e.NotAfter.String()
		}
	}
	return row
}

func etag(header []byte) string {
	for line := range bytes.Lines(header) {
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("ETag")) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
