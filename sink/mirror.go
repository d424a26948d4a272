package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
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

	// The file cannot be written or taken away, for a reason of its own; what stands there is older than the page.
	stateWithheld = "withheld"
)

// Archive gives back bodies; archive.Archive and archive.Reader do. It is safe for concurrent use.
type Archive interface {
	Read(models.Record) (archive.Answer, error)
}

// MirrorBatch is how many events a Mirror is best given at a time. Each batch waits for the disk twice, and for the transaction
// under way to move its cursors: of 512, a first crawl at full speed left a fifth and more behind for so long that their bodies were not
// in memory any more, and to read and unpack one takes more than to write its file.
const MirrorBatch = 1024

// Mirror is the Sink that keeps a tree of files: each page's newest copy under the name of its URL, with its
// Last-Modified as modification time. A page that is gone, or asks not to be archived, has its file moved to the trash;
// one that redirects, fails, is excluded or whose site was removed keeps its last good copy, and the manifest says so. A visit that found nothing
// new is no event and touches nothing. It is used by one goroutine at a time. Several processes may have it open, as long as only one of
// them uses it at a time, which is what a Drain's lease is for.
type Mirror struct {
	options  MirrorOptions
	tree     *tree
	manifest *manifest
	emptied  string // the trash of the day on which the trash was last emptied; "": not yet
	lost     losses // of the delivery under way, or of the last one
	without  int64  // pages without their bodies when it was made anew last
}

// losses are pages whose bodies the archive has lost. A folder of segments that is gone takes thousands at once, which is one thing to say.
type losses struct {
	pages int64
	news  int64  // of them those that nobody has noted as lost yet
	first string // URL of one, of the news where there are some
	why   error
}

func (l *losses) add(e models.Event, why error) {
	known := e.Record.Lost()
	if l.pages++; !known {
		l.news++
	}
	if l.pages == 1 || !known && l.news == 1 {
		l.first, l.why = e.URL, why
	}
}

// MirrorOptions set up a Mirror.
type MirrorOptions struct {
	Archive Archive       // required, but to read the manifest
	Trash   time.Duration // how long what is in the trash is kept; 0: for ever
	Log     *slog.Logger  // required
}

// OpenMirror opens the mirror in a directory, which it makes where there is none, and sweeps the temporary files of a
// crash. One that begins where the file system does not tell A from a has names that suit that (FoldedName), and keeps them.
func OpenMirror(dir string, o MirrorOptions) (*Mirror, error) {
	t, err := openTree(dir)
	if err != nil {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	m, err := openManifest(t)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open mirror: %w", err), t.close())
	}
	if t.folds && !strings.HasSuffix(t.place, folded) {
		o.Log.Warn("the mirror began where A and a are two files, and here they are one: pages whose names differ so alone overwrite "+
			"each other; move its directory away and it is made anew", slog.String("mirror", dir))
	}
	return &Mirror{options: o, tree: t, manifest: m}, nil
}

// Name implements Sink.
func (m *Mirror) Name() string { return mirrorName }

const mirrorName = "mirror"

// Close closes the mirror and writes nothing: by now it may be another process's turn.
func (m *Mirror) Close() error {
	return errors.Join(m.manifest.close(), m.tree.close())
}

// Idle brings the manifest up to date where that is cheap: a big one waits until its log is worth the pass. Once a day it empties
// the trash of what has been there for long enough.
func (m *Mirror) Idle(now time.Time) error {
	behind := len(m.manifest.changes) > 0 && m.manifest.cheap()
	full := m.options.Trash > 0 && m.emptied != trashFor(now)
	if !behind && !full {
		return nil
	}
	end, err := m.Begin()
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer end()
	if full {
		m.emptyTrash(now)
	}
	if !behind {
		return nil
	}
	return m.flush()
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
	drafts  []*draft         // that were made
	refused map[string]error // files that cannot be written, with why
}

// change is what happens to one file: new content, then the trash.
type change struct {
	draft   *draft // nil: none
	discard bool
	day     time.Time // of the trash
}

// Deliver implements Sink. It refuses the pages whose file cannot be written for a reason of its own, and those whose body lies in another
// archive (archive.ErrElsewhere).
func (m *Mirror) Deliver(ctx context.Context, events []models.Event) error {
	m.lost = losses{}
	defer m.tellLost()
	return m.deliverSome(ctx, events)
}

// tellLost says in the log what could not be copied because the archive has lost it.
func (m *Mirror) tellLost() {
	what := []any{slog.Int64("pages", m.lost.pages), slog.String("first", m.lost.first), slog.Any("error", m.lost.why)}
	switch {
	case m.lost.news > 0:
		m.options.Log.Error("the archive has lost bodies of pages, whose files stay as they are or are missing: recrawld verify says which, "+
			"and verify --mend has them fetched anew", what...)
	case m.lost.pages > 0:
		m.options.Log.Info("pages have no file, or an old one, until what the archive has lost of them is fetched anew", what...)
	}
}

// Lost is of how many pages the archive had lost the bodies when the mirror was made anew last.
func (m *Mirror) Lost() int64 { return m.without }

// deliverSome is Deliver, and leaves to the caller to say what the archive has lost.
func (m *Mirror) deliverSome(ctx context.Context, events []models.Event) error {
	defer m.tree.release()
	b := &batch{changes: make(map[string]change), refused: make(map[string]error)}
	if err := m.deliver(ctx, b, events); err != nil {
		for _, d := range b.drafts {
			m.tree.drop(d)
		}
		return fmt.Errorf("mirror: %w", err)
	}
	return m.refusal(b, events)
}

func (m *Mirror) deliver(ctx context.Context, b *batch, events []models.Event) error {
	if err := m.manifest.refresh(); err != nil {
		return fmt.Errorf("refresh manifest: %w", err)
	}
	names := make([]string, len(events))
	for i := range events {
		names[i] = m.tree.fileOf(events[i].URL)
	}
	copies, err := m.copyAll(ctx, b, events, names)
	if err != nil {
		return err
	}
	for i, e := range events {
		if err := m.take(b, e, names[i], copies[i]); err != nil {
			return fmt.Errorf("%s: %w", e.URL, err)
		}
	}
	// The content must be on disk before its name is: a file of the right name and no content is what some file systems
	// leave after a power loss.
	if err := m.tree.sync(); err != nil {
		return err
	}
	for _, name := range b.order {
		if b.refused[name] != nil {
			continue
		}
		if err := m.apply(b, name); m.tree.ofOneName(err) {
			b.refused[name] = fmt.Errorf("%s: %w", name, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	b.refuse(m.tree)
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
	if c.draft != nil {
		if err := m.tree.replace(c.draft, name); err != nil {
			return err
		}
		m.tree.settled(c.draft)
		b.changes[name] = change{discard: c.discard, day: c.day}
	}
	if c.discard {
		return m.tree.discard(name, c.day)
	}
	return nil
}

// take adds an event, whose file has that name, to a batch: what is to be done is noted.
func (m *Mirror) take(b *batch, e models.Event, name string, c copied) error {
	row := Row{URL: e.URL, Path: name, State: e.Kind.String(), Status: e.Status, EventAt: e.At.String()}
	switch e.Kind {
	case models.EventNew, models.EventChanged, models.EventRefreshed, models.EventRestored:
		return m.takeBody(b, e, row, c)
	case models.EventMoved:
		row.RedirectTo = e.RedirectTo
	case models.EventGone:
		b.discard(name, e.At)
	case models.EventFailing, models.EventExcluded: // the last copy stays
	case models.EventRemoved: // so it does, and no other one will come in place of a body that was too large
		delete(b.refused, name)
	case models.EventTemplate: // of the host: its pages have events of their own
		return nil
	default:
		m.options.Log.Warn("mirror skips an event of an unknown kind", slog.Int("kind", int(e.Kind)), slog.String("page", e.URL))
		return nil
	}
	b.rows = append(b.rows, row)
	return nil
}

func (m *Mirror) takeBody(b *batch, e models.Event, row Row, c copied) error {
	row.State = stateLive
	if e.Kind == models.EventRestored {
		if m.stays(b, e, row.Path) {
			b.rows = append(b.rows, row)
			return nil
		}
		var err error
		if c, err = m.copyBody(e, row.Path); err != nil {
			return err
		}
		if c.draft != nil {
			b.drafts = append(b.drafts, c.draft)
		}
	}
	switch {
	case c.refused != nil:
		b.change(row.Path)
		b.refused[row.Path] = c.refused
	case e.Record == (models.Record{}):
		row.State = stateUnkept
		b.discard(row.Path, e.At)
	case c.draft == nil:
		row.State = stateLost
		m.lost.add(e, c.lost)
	default:
		if old := b.change(row.Path); old.draft != nil {
			m.tree.drop(old.draft)
		}
		delete(b.refused, row.Path)
		b.changes[row.Path] = change{draft: c.draft}
		row = c.row(row, e)
	}
	b.rows = append(b.rows, row)
	return nil
}

// stays tells whether the copy of a page that is back is the file that is there, or that the batch brings. If the batch was to take the
// latter away because the page was gone, it does not. A file that it takes away may be older than the page: one that could not be
// written.
func (m *Mirror) stays(b *batch, e models.Event, name string) bool {
	c := b.changes[name]
	if c.draft == nil {
		return !c.discard && m.tree.holds(name)
	}
	if c.discard && e.Record == (models.Record{}) {
		return false
	}
	c.discard = false
	b.changes[name] = c
	return true
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
	delete(b.refused, name)
	c.discard, c.day = true, at.Time()
	b.changes[name] = c
}
