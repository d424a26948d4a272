package sink

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"recrawld/models"
)

// Ledger says what a mirror ought to hold, and what of that has not reached it; models.Store is one.
type Ledger interface {
	Source
	Page(ctx context.Context, bucket int16, id int64) (models.Page, error)
	Version(ctx context.Context, bucket int16, page int64, number int32) (models.Version, error)
	Events(ctx context.Context, bucket int16, after int64, limit int) ([]models.Event, error)
	Cursor(ctx context.Context, sink string, bucket int16) (int64, error)
	Meta(ctx context.Context, key string) (string, error)
}

// ErrNoMirror says that a directory holds no mirror.
var ErrNoMirror = errors.New("no mirror")

// Audit holds the files of a mirror against the pages. It reads alone, beside whoever drains the mirror. It is not safe for concurrent use.
type Audit struct {
	Ledger Ledger                   // required
	Site   int32                    // 0: all
	Draw   func(models.Event) bool  // tells whether a page's file is looked at; nil: that of each
	Drawn  func() []models.Event    // are further ones, known when Draw was asked of all; nil: none
	Bad    func(AuditTrouble) error // told of each file that is not what it should be; required
	Done   func(pages int64)        // told of pages that were looked at; nil: nobody is

	tree     *tree
	withheld map[string]bool
	known    []uint64 // of the names of files that pages have
	found    Audited
	buffer   []byte
}

// AuditTrouble is a file that is not what it should be.
type AuditTrouble struct {
	URL     string // empty: it belongs to no page
	Version int32
	File    string // relative to the mirror
	Why     string
}

// Audited is what an Audit found.
type Audited struct {
	All      int64 `json:"all"`   // pages that should have a file
	Files    int64 `json:"files"` // of them those that were looked at
	Bytes    int64 `json:"bytes"`
	Changed  int64 `json:"changed"` // files with another content than their page's
	Missing  int64 `json:"missing"`
	Stray    int64 `json:"stray"`           // files that the mirror has made and no page has any more
	Others   int64 `json:"others"`          // files that the mirror has not made; named, and no fault
	Waiting  int64 `json:"waiting"`         // pages that differ, of which events are still to be delivered
	Withheld int64 `json:"withheld"`        // pages that the mirror could not take, which it says itself
	Lost     int64 `json:"lost"`            // pages of which nobody has the body any more
	Whole    bool  `json:"whole,omitempty"` // foreign files were looked for: all pages were
	Anew     bool  `json:"anew,omitempty"`  // the daemon makes the mirror anew when it runs next: the cursors are of another, as after a restore, or it lacks events
	Ended    bool  `json:"ended,omitempty"` // early, because the context did
}

// auditRows is how many candidates for foreign files are looked up in the manifest at a time.
const auditRows = 100_000

// Run looks at the files of a mirror's directory. Where ctx ends it returns what was found until then. It returns ErrNoMirror where there
// is none.
func (a *Audit) Run(ctx context.Context, dir string) (Audited, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return a.found, ErrNoMirror
	}
	if err != nil {
		return a.found, err
	}
	defer root.Close()
	a.tree, a.buffer = &tree{root: root}, make([]byte, 256<<10)
	place, err := root.ReadFile(placeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return a.found, ErrNoMirror
	}
	a.tree.place = strings.TrimSpace(string(place))
	if err == nil {
		a.found.Anew, err = a.anew(ctx)
	}
	if err == nil {
		err = a.files(ctx)
	}
	if err == nil && a.Site == 0 && a.Draw == nil {
		a.found.Whole = true
		err = a.foreign(ctx)
	}
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		a.found.Ended, err = true, nil
	}
	return a.found, err
}

// anew tells whether the mirror is to be made anew in any case, which its Drain does.
func (a *Audit) anew(ctx context.Context) (bool, error) {
	was, err := a.Ledger.Meta(ctx, placeKey(mirrorName))
	if err != nil {
		return false, err
	}
	row, err := a.Ledger.Meta(ctx, LackedKey(mirrorName))
	if err != nil {
		return false, err
	}
	lacked, err := LackedIn(row)
	return lacked.Anew || was != "" && was != a.tree.place, err
}

// files looks at the file of each page.
func (a *Audit) files(ctx context.Context) error {
	row, err := a.Ledger.Meta(ctx, WithheldKey(mirrorName))
	if err != nil {
		return err
	}
	pages, err := WithheldIn(row)
	if err != nil {
		return err
	}
	a.withheld = make(map[string]bool, len(pages))
	for _, p := range pages {
		a.withheld[p.URL] = true
	}
	done := int64(0)
	for e, err := range a.copies(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := a.file(ctx, &e); err != nil {
			return err
		}
		if done++; a.Done != nil {
			a.Done(done)
		}
	}
	if a.Drawn != nil {
		for _, e := range a.Drawn() {
			if err := cmp.Or(ctx.Err(), a.look(ctx, &e)); err != nil {
				return err
			}
		}
	}
	slices.Sort(a.known)
	return nil
}

// copies are the events that bring the newest copy of each page.
func (a *Audit) copies(ctx context.Context) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		for e, err := range a.Ledger.Current(ctx) {
			if err == nil && (e.Kind != models.EventNew || a.Site != 0 && e.SiteID != a.Site) {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// file looks at the file of a page.
func (a *Audit) file(ctx context.Context, e *models.Event) error {
	name := a.tree.fileOf(e.URL)
	a.known = append(a.known, keyOf(name))
	if e.Record.Lost() {
		a.found.Lost++
		return nil
	}
	a.found.All++
	if a.Draw != nil && !a.Draw(*e) {
		return nil
	}
	return a.look(ctx, e)
}

// look looks at the file of a page that was drawn.
func (a *Audit) look(ctx context.Context, e *models.Event) error {
	name := a.tree.fileOf(e.URL)
	a.found.Files++
	_, why, err := a.compare(name, e.Digest)
	if err != nil || why == "" {
		return err
	}
	stands, missing, why, err := a.confirm(ctx, e.Bucket, e.PageID, name)
	switch {
	case err != nil:
		return err
	case a.withheld[e.URL]:
		a.found.Withheld++
		return nil
	case !stands:
		return nil
	case missing:
		a.found.Missing++
	default:
		a.found.Changed++
	}
	return a.Bad(AuditTrouble{URL: e.URL, Version: e.Version, File: name, Why: why})
}

// compare says in words how a file differs from a digest; "": not at all.
func (a *Audit) compare(name string, want models.Digest) (missing bool, why string, err error) {
	held, err := a.tree.looks(name)
	if err != nil {
		return false, "", err
	}
	if !held {
		if stat, err := a.tree.root.Lstat(name); err == nil && !stat.Mode().IsRegular() {
			return true, "something else stands in its place", nil
		}
		return true, "the file is missing", nil
	}
	file, err := a.tree.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, "the file is missing", nil
	}
	if err != nil {
		return false, "", err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{file}, a.buffer)
	a.found.Bytes += n
	if err != nil {
		return false, "the file cannot be read: " + err.Error(), nil
	}
	if got := models.Digest(sum.Sum(nil)); got != want {
		return false, fmt.Sprintf("the file has another content (%d bytes)", n), nil
	}
	return false, "", nil
}

// confirm tells whether a file that differs is wrong: the page may have changed meanwhile, and what it became may not be delivered yet. A
// drain writes files before it moves its cursor, so what the cursor has passed is in the files.
func (a *Audit) confirm(ctx context.Context, bucket int16, id int64, name string) (stands, missing bool, why string, err error) {
	for range 3 {
		cursor, err := a.Ledger.Cursor(ctx, mirrorName, bucket)
		if err != nil {
			return false, false, "", err
		}
		page, digest, has, err := a.wants(ctx, bucket, id)
		if err != nil || !has {
			return false, false, "", err
		}
		waits, err := a.waits(ctx, bucket, id, cursor)
		if waits {
			a.found.Waiting++
		}
		if err != nil || waits {
			return false, false, "", err
		}
		missing, why, err = a.compare(name, digest)
		if err != nil || why == "" {
			return false, false, "", err
		}
		again, _, has, err := a.wants(ctx, bucket, id)
		if err != nil || !has {
			return false, false, "", err
		}
		if again.Version == page.Version && again.Visits == page.Visits {
			return true, missing, why, nil
		}
	}
	a.found.Waiting++ // it changes faster than it is looked at
	return false, false, "", nil
}

// wants reads what the file of a page should hold, if there should be one.
func (a *Audit) wants(ctx context.Context, bucket int16, id int64) (page models.Page, digest models.Digest, has bool, err error) {
	page, err = a.Ledger.Page(ctx, bucket, id)
	if errors.Is(err, models.ErrNotFound) {
		return page, digest, false, nil
	}
	if err != nil || page.Version == 0 || page.State == models.StateGone {
		return page, digest, false, err
	}
	v, err := a.Ledger.Version(ctx, bucket, id, page.Version)
	if errors.Is(err, models.ErrNotFound) {
		return page, digest, false, nil
	}
	return page, v.Digest, err == nil && v.Record.File != "" && !v.Record.Lost(), err
}

// waits tells whether an event of a page comes after a cursor.
func (a *Audit) waits(ctx context.Context, bucket int16, id int64, after int64) (bool, error) {
	const slice = 1000
	for {
		events, err := a.Ledger.Events(ctx, bucket, after, slice)
		if err != nil {
			return false, err
		}
		for _, e := range events {
			if e.PageID == id {
				return true, nil
			}
			after = e.Seq
		}
		if len(events) < slice {
			return false, nil
		}
	}
}

// keyOf stands for a file name: ten million of them fit into memory.
func keyOf(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return uint64(sum[0])<<56 | uint64(sum[1])<<48 | uint64(sum[2])<<40 | uint64(sum[3])<<32 |
		uint64(sum[4])<<24 | uint64(sum[5])<<16 | uint64(sum[6])<<8 | uint64(sum[7])
}
