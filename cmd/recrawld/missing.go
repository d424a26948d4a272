package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"recrawld/archive"
	"recrawld/models"
	"recrawld/report"
)

// A checkpoint has no bodies: who restores it puts the archive beside it, or an older copy of that, or forgets to. What the archive then does
// not have is found out at the next start, once, before the mirror is made anew from it, and the pages are asked for in full.

// missing is what a worker's archive did not have when it was held against a restored database.
type missing struct {
	Restored string    `json:"restored"` // models.Store.Restored, so that it is looked once after each
	Worker   string    `json:"worker"`
	At       time.Time `json:"at"`
	Dir      string    `json:"archive"`
	Segments int       `json:"segments"` // that are not there, or too short
	Versions int64     `json:"versions"` // that they had
	Pages    int64     `json:"pages"`    // whose newest version is among them, which were asked for anew
	Left     int64     `json:"left"`     // pages that are still to be fetched
}

const missingPrefix = "missing:"

// missings reads what the archives of the workers did not have after the last restore, and which that was.
func missings(ctx context.Context, store *models.Store) (restored string, found []missing, err error) {
	if restored, err = store.Restored(ctx); err != nil || restored == "" {
		return "", nil, err
	}
	keys, err := store.MetaKeys(ctx, missingPrefix)
	if err != nil {
		return "", nil, err
	}
	for _, key := range keys {
		var m missing
		row, err := store.Meta(ctx, key)
		if err == nil {
			err = json.Unmarshal([]byte(row), &m)
		}
		if err != nil {
			return "", nil, fmt.Errorf("read %s: %w", key, err)
		}
		if m.Restored == restored { // else it came with the checkpoint
			found = append(found, m)
		}
	}
	return restored, found, nil
}

// keep writes it.
func (m missing) keep(ctx context.Context, store *models.Store) error {
	return keepRow(ctx, store, missingPrefix+m.Worker, m)
}

// keepRow writes a value as the row of a key, unless somebody else does meanwhile.
func keepRow(ctx context.Context, store *models.Store, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	old, err := store.Meta(ctx, key)
	if err == nil && old != string(text) {
		_, err = store.SetMeta(ctx, key, old, string(text))
	}
	return err
}

// lookForMissing holds the archive against a database that was restored since the last look.
func (d *daemon) lookForMissing(ctx context.Context) error {
	restored, found, err := missings(ctx, d.store)
	if err != nil || restored == "" {
		return err
	}
	d.missed = slices.ContainsFunc(found, func(m missing) bool { return m.Left > 0 })
	m := missing{Restored: restored, Worker: d.start.Worker.Name, At: d.clock.Now(), Dir: archiveDir(&d.start)}
	if slices.ContainsFunc(found, func(before missing) bool { return d.sameShelf(&m, before) }) {
		return nil
	}
	if err := d.loseMissing(ctx, &m, missingBatch); err != nil {
		return fmt.Errorf("look what the archive has of the restored database: %w", err)
	}
	d.missed = d.missed || m.Left > 0
	if m.Versions > 0 {
		d.log.Error("the archive does not have all that the restored database names: the pages are fetched anew, and what only older versions said is lost, "+
			"unless the segments are put back there and recrawld verify --mend finds them", "archive", m.Dir, "segments", m.Segments,
			"versions", m.Versions, "pages", m.Pages)
	}
	return m.keep(ctx, d.store)
}

// sameShelf tells whether somebody looked through this worker's archive before: also one of another name, as a worker in a container that is named
// anew at each start.
func (d *daemon) sameShelf(m *missing, before missing) bool {
	return before.Worker == m.Worker || before.Dir == m.Dir && d.store.Dialect() == "sqlite"
}

// missingBatch is how many versions are noted as lost at a time.
const missingBatch = 5000

// missingBegun is what was found missing before any of it was noted as lost: whoever goes on after a kill cannot tell what was lost by then from
// what the checkpoint has as lost.
type missingBegun struct {
	Missing missing `json:"missing"`
	Lost    int64   `json:"lost"` // pages that were to be fetched anew before
}

const missingBegunPrefix = "missing-begun:"

// loseMissing notes the versions as lost whose segments are missing or end before their records, so many at a time. What it fills in is the
// whole, also where it goes on with what was begun before.
func (d *daemon) loseMissing(ctx context.Context, m *missing, batch int) error {
	begun, err := d.beginMissing(ctx, m)
	if err != nil {
		return err
	}
	m.Segments, m.Versions = begun.Missing.Segments, begun.Missing.Versions
	var lost []models.Kept
	note := func() error {
		asked, err := d.store.LoseVersions(ctx, d.clock.Now(), lost)
		if err == nil {
			err = d.store.LoseContents(ctx, lost)
		}
		m.Pages, lost = m.Pages+int64(asked), lost[:0]
		return err
	}
	_, err = d.eachMissing(ctx, m.Dir, func(k models.Kept) error {
		if lost = append(lost, k); len(lost) < batch {
			return nil
		}
		return note()
	})
	if err == nil {
		err = note()
	}
	if err != nil {
		return err
	}
	left, err := d.store.LostPages(ctx)
	m.Pages = max(m.Pages, left-begun.Lost)
	m.Left = m.Pages
	return err
}

// beginMissing finds out what is missing, and notes that, or reads what a start before this one noted.
func (d *daemon) beginMissing(ctx context.Context, m *missing) (begun missingBegun, err error) {
	keys, err := d.store.MetaKeys(ctx, missingBegunPrefix)
	if err != nil {
		return begun, err
	}
	for _, key := range keys {
		row, err := d.store.Meta(ctx, key)
		if err == nil {
			err = json.Unmarshal([]byte(row), &begun)
		}
		if err != nil {
			return begun, fmt.Errorf("read %s: %w", key, err)
		}
		if begun.Missing.Restored == m.Restored && d.sameShelf(m, begun.Missing) {
			return begun, nil
		}
	}
	begun = missingBegun{Missing: *m}
	if begun.Lost, err = d.store.LostPages(ctx); err != nil {
		return begun, err
	}
	begun.Missing.Segments, err = d.eachMissing(ctx, m.Dir, func(models.Kept) error {
		begun.Missing.Versions++
		return nil
	})
	if err != nil {
		return begun, err
	}
	return begun, keepRow(ctx, d.store, missingBegunPrefix+m.Worker, begun)
}

// eachMissing calls f with the versions whose segments are missing or end before their records, unless that is known, and returns how many
// segments these are.
func (d *daemon) eachMissing(ctx context.Context, dir string, f func(models.Kept) error) (segments int, err error) {
	here, err := segmentsHere(ctx, d.store, dir)
	if err != nil {
		return 0, err
	}
	shelf := reaches{of: d.archive.Reach, known: make(map[string]int64), lacking: make(map[string]bool)}
	for k, err := range d.store.KeptVersions(ctx, 0) {
		if err != nil {
			return 0, err
		}
		if k.Record.Lost() || here != nil && !here(k.Record.File) {
			continue
		}
		has, err := shelf.has(k.Record)
		if err == nil && !has {
			err = f(k)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(shelf.lacking), nil
}

// reaches tells which records lie within their segments.
type reaches struct {
	of      func(models.Record) (int64, error) // archive.Reader.Reach
	known   map[string]int64                   // -1: it is not there
	lacking map[string]bool                    // segments that are not there, or too short
}

// has tells whether a segment is there as far as the end of a record. One that grows is looked at anew where it seems too short.
func (s *reaches) has(at models.Record) (bool, error) {
	if size, known := s.known[at.File]; known && (size < 0 || at.Offset+at.Length <= size) {
		return size >= 0, nil
	}
	size, err := s.of(at)
	switch {
	case errors.Is(err, archive.ErrElsewhere):
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		size = -1
	case err != nil && !errors.Is(err, archive.ErrDamaged):
		return false, err
	}
	s.known[at.File] = size
	if err != nil {
		s.lacking[at.File] = true
	}
	return err == nil, nil
}

// The pages that are still to be fetched are counted every so often, and no more than a twentieth of the time.
const (
	missingEvery = 5 * time.Second
	missingRest  = 20
)

// followMissing counts how many pages of what was missing are still to be fetched, also for workers that are gone by now.
func (d *daemon) followMissing(ctx context.Context, _ time.Time) error {
	began := d.machine.Now()
	if !d.missed || began.Before(d.missedAgain) {
		return nil
	}
	left, err := d.store.LostPages(ctx)
	if err != nil {
		return err
	}
	now := d.machine.Now()
	d.missedAgain = now.Add(missingRest * now.Sub(began))
	_, found, err := missings(ctx, d.store)
	for _, m := range found {
		if m.Left > 0 && err == nil {
			m.Left = left
			err = m.keep(ctx, d.store)
		}
	}
	if d.missed = left > 0; !d.missed && err == nil {
		d.log.Info("the pages that the archive did not have after the restore are fetched")
	}
	return err
}

// statusMissing fills in what archives did not have after a restore and what is still to be fetched.
func (l *look) statusMissing(ctx context.Context, s *status) error {
	_, found, err := missings(ctx, l.store)
	if err != nil {
		return err
	}
	s.Missing = []missing{}
	for _, m := range found {
		if m.Left > 0 {
			s.Missing = append(s.Missing, m)
		}
	}
	return nil
}

// addMissing adds a line for each archive that did not have what a restored database names.
func (s status) addMissing(head *facts) {
	for _, m := range s.Missing {
		words := fmt.Sprintf("%s were not there after the restore", report.Plural(m.Versions, "version"))
		head.add("archive", "%s; %s still to be fetched anew. Or put the segments into %s and run recrawld verify --mend",
			head.style.Paint(report.Bad, words), report.Plural(m.Left, "page"), m.Dir)
	}
}
