package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"recrawld/archive"
	"recrawld/models"
)

// The states of a row that are no kind of event.
const (
	stateLive = "live"
	stateLost = "lost" // the archive does not have the body any more, or not whole

	// The page asks not to be archived: there is no body, and an older copy would pass for what the page says now.
	stateUnkept = "unkept"
)

// Archive gives back bodies; archive.Archive and archive.Reader do.
type Archive interface {
	Read(models.Record) (archive.Answer, error)
}

// Mirror is the Sink that keeps a tree of files: each page's newest copy under the name of its URL, with its
// Last-Modified as modification time. A page that is gone, or asks not to be archived, has its file moved to the trash;
// one that redirects, fails or is excluded keeps its last good copy, and the manifest says so. A visit that found nothing
// new is no event and touches nothing. It is used by one goroutine at a time. Several processes may have it open, as long as only one of
// them uses it at a time, which is what a Drain's lease is for.
type Mirror struct {
	archive  Archive
	log      *slog.Logger
	fold     bool
	tree     *tree
	manifest *manifest
}

// OpenMirror opens the mirror in a directory, which it makes where there is none, and sweeps the temporary files of a
// crash. With fold the names suit file systems that do not tell case apart; a mirror keeps the setting it began with.
func OpenMirror(dir string, fold bool, a Archive, log *slog.Logger) (*Mirror, error) {
	t, err := openTree(dir)
	if err != nil {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	m, err := openManifest(t)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", err), t.root.Close())
	}
	return &Mirror{archive: a, log: log, fold: fold, tree: t, manifest: m}, nil
}

// Name implements Sink.
func (m *Mirror) Name() string { return "mirror" }

// Close closes the mirror and writes nothing: by now it may be another process's turn.
func (m *Mirror) Close() error {
	return errors.Join(m.manifest.close(), m.tree.close())
}

// Idle brings the manifest up to date where that is cheap: a big one waits until its log is worth the pass.
func (m *Mirror) Idle() error {
	if m.manifest.cheap() {
		return m.flush()
	}
	return nil
}

func (m *Mirror) flush() error {
	if err := m.manifest.refresh(); err != nil {
		return fmt.Errorf("refresh manifest: %w", err)
	}
	if len(m.manifest.changes) == 0 {
		return nil
	}
	if err := m.manifest.compact(); err != nil {
		return fmt.Errorf("compact manifest: %w", err)
	}
	return nil
}

// batch is what a delivery does to the tree, by file name: for each file only how it ends counts.
type batch struct {
	changes map[string]change
	order   []string
	rows    []Row
}

// change is what happens to one file: new content, then the trash.
type change struct {
	temp    string // "" for none
	discard bool
	day     time.Time // of the trash
}

// Deliver implements Sink.
func (m *Mirror) Deliver(ctx context.Context, events []models.Event) error {
	defer m.tree.release()
	b := &batch{changes: make(map[string]change)}
	if err := m.deliver(ctx, b, events); err != nil {
		for _, c := range b.changes {
			if c.temp != "" {
				m.tree.root.Remove(c.temp) // the next start sweeps what stays
			}
		}
		return fmt.Errorf("mirror: %w", err)
	}
	return nil
}

func (m *Mirror) deliver(ctx context.Context, b *batch, events []models.Event) error {
	if err := m.manifest.refresh(); err != nil {
		return fmt.Errorf("refresh manifest: %w", err)
	}
	for _, e := range events {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.take(b, e); err != nil {
			return fmt.Errorf("%s: %w", e.URL, err)
		}
	}
	// The content must be on disk before its name is: a file of the right name and no content is what some file systems
	// leave after a power loss.
	if err := m.tree.sync(); err != nil {
		return err
	}
	for _, name := range b.order {
		if err := m.apply(b, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := m.manifest.append(b.rows); err != nil {
		return err
	}
	if err := m.tree.sync(); err != nil {
		return err
	}
	if m.manifest.due() {
		return m.flush()
	}
	return nil
}

func (m *Mirror) apply(b *batch, name string) error {
	c := b.changes[name]
	if c.temp != "" {
		if err := m.tree.replace(c.temp, name); err != nil {
			return err
		}
		b.changes[name] = change{discard: c.discard, day: c.day}
	}
	if c.discard {
		return m.tree.discard(name, c.day)
	}
	return nil
}

// take adds an event to a batch: the body goes into a temporary file, what is to be done with it is noted.
func (m *Mirror) take(b *batch, e models.Event) error {
	name := name(e.URL, m.fold)
	row := Row{URL: e.URL, Path: name, State: e.Kind.String(), Status: e.Status, EventAt: e.At.String()}
	switch e.Kind {
	case models.EventNew, models.EventChanged, models.EventRefreshed, models.EventRestored:
		return m.takeBody(b, e, row)
	case models.EventMoved:
		row.RedirectTo = e.RedirectTo
	case models.EventGone:
		b.discard(name, e.At)
	case models.EventFailing, models.EventExcluded:
	case models.EventTemplate: // of the host: its pages have events of their own
		return nil
	default:
		m.log.Warn("mirror skips an event of an unknown kind", slog.Int("kind", int(e.Kind)), slog.String("page", e.URL))
		return nil
	}
	b.rows = append(b.rows, row)
	return nil
}

func (m *Mirror) takeBody(b *batch, e models.Event, row Row) error {
	row.State = stateLive
	if e.Kind == models.EventRestored && m.stays(b, e, row.Path) {
		b.rows = append(b.rows, row)
		return nil
	}
	if e.Record == (models.Record{}) {
		row.State = stateUnkept
		b.discard(row.Path, e.At)
		b.rows = append(b.rows, row)
		return nil
	}
	answer, err := m.archive.Read(e.Record)
	if errors.Is(err, archive.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		// Trying again would hold up all other pages for ever; the old copy stays.
		m.log.Error("the archive has lost a body", slog.String("page", e.URL), slog.Any("error", err))
		row.State = stateLost
		b.rows = append(b.rows, row)
		return nil
	}
	if err != nil {
		return err
	}
	modified, err := http.ParseTime(e.LastModified)
	if err != nil {
		modified = e.At.Time()
	}
	temp, err := m.tree.write(answer.Body, modified)
	if err != nil {
		return err
	}
	if old := b.change(row.Path); old.temp != "" {
		if err := m.tree.root.Remove(old.temp); err != nil {
			return err
		}
	}
	b.changes[row.Path] = change{temp: temp}
	b.rows = append(b.rows, contentRow(row, e, answer))
	return nil
}

// stays tells whether the copy of a page that is back is the file that is there, or that the batch brings. If the batch
// was to take it away because the page was gone, it does not.
func (m *Mirror) stays(b *batch, e models.Event, name string) bool {
	c, changes := b.changes[name]
	if c.temp == "" && !m.tree.holds(name) || c.discard && e.Record == (models.Record{}) {
		return false
	}
	if changes {
		c.discard = false
		b.changes[name] = c
	}
	return true
}

// contentRow says what the file of an event holds.
func contentRow(row Row, e models.Event, answer archive.Answer) Row {
	length := int64(len(answer.Body))
	row.Length, row.SHA256, row.Type, row.Version = &length, answer.Digest.String(), e.ContentType, e.Version
	row.LastModified, row.ETag = e.LastModified, etag(answer.Header)
	row.FetchedAt = e.At.String()
	if e.Kind == models.EventNew || e.Kind == models.EventChanged {
		row.ChangedAt = e.At.String()
		if e.NotAfter != 0 {
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

// change is what the batch does to a file so far; asking for it puts the file in order.
func (b *batch) change(name string) change {
	c, known := b.changes[name]
	if !known {
		b.order = append(b.order, name)
		b.changes[name] = c
	}
	return c
}

// discard has the file end in the trash of the day of an event.
func (b *batch) discard(name string, at models.Instant) {
	c := b.change(name)
	c.discard, c.day = true, at.Time()
	b.changes[name] = c
}
