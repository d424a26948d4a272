package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"recrawld/archive"
	"recrawld/config"
	"recrawld/models"
)

// Workers of one machine write to one archive. Those of several may share one, on a file system that all of them see, or have one each: then
// what another worker stored is not here, until somebody brings its segments. Which it is each says in the database.

// noteArchives is the name of the note with where the workers keep their archives.
const noteArchives = "archives"

// archivePlace is the archive of a worker, as that said last.
type archivePlace struct {
	ID      string `json:"id"`      // archive.Reader.ID
	Machine string `json:"machine"` // the name of its host
	Dir     string `json:"dir"`
}

func (p archivePlace) String() string { return p.Dir + " on " + p.Machine }

// archiveDir is where a configuration has its archive.
func archiveDir(c *config.Config) string { return filepath.Join(c.Data, "archive") }

// archivePlaces reads where the workers keep their archives, by their names.
func archivePlaces(ctx context.Context, store *models.Store) (map[string]archivePlace, error) {
	note, err := store.Note(ctx, noteArchives)
	if err != nil {
		return nil, err
	}
	places := make(map[string]archivePlace)
	if len(note) > 0 {
		err = json.Unmarshal(note, &places)
	}
	if err != nil {
		return nil, fmt.Errorf("read where workers keep their archives: %w", err)
	}
	return places, nil
}

// changeArchivePlaces changes where the workers keep their archives, and returns where that is then. What cannot be read is written anew.
// Change may be called again.
func changeArchivePlaces(ctx context.Context, store *models.Store, change func(map[string]archivePlace)) (places map[string]archivePlace, err error) {
	err = store.Merge(ctx, noteArchives, func(old []byte) []byte {
		places = make(map[string]archivePlace)
		if json.Unmarshal(old, &places) != nil {
			places = make(map[string]archivePlace)
		}
		before := maps.Clone(places)
		if change(places); maps.Equal(before, places) {
			return nil
		}
		body, _ := json.Marshal(places) // of strings alone
		return body
	})
	if err != nil {
		return nil, fmt.Errorf("note where an archive is: %w", err)
	}
	return places, nil
}

// noteArchive says in the database where this worker keeps its archive, and in the log which workers that live have another one.
func (d *daemon) noteArchive(ctx context.Context) error {
	if d.store.Dialect() == "sqlite" { // nobody else works on it
		return nil
	}
	id, err := d.archive.ID()
	if err != nil {
		return err
	}
	machine, _ := os.Hostname() // for a person to read
	mine := archivePlace{id, machine, archiveDir(&d.start)}
	name := d.start.Worker.Name
	places, err := changeArchivePlaces(ctx, d.store, func(places map[string]archivePlace) { places[name] = mine })
	if err != nil {
		return err
	}
	workers, err := d.store.Workers(ctx)
	if err != nil {
		return err
	}
	for _, other := range livingWorkers(workers, d.machine.Now()) {
		if p, known := places[other]; known && p.ID != id && other != name {
			d.log.Warn("another worker has an archive of its own: what it stores is neither mirrored nor shown here until its segments are brought "+
				"here, or both have one archive (docs/workers.md)", "worker", other, "archive", p.String())
		}
	}
	return nil
}

// otherArchives tells where the archives of other workers are. It is safe for concurrent use.
type otherArchives struct {
	store *models.Store
	now   func() time.Time // of the machine
	id    string           // of the archive here

	mu     sync.Mutex
	read   time.Time               // guarded by mu
	places map[string]archivePlace // guarded by mu; as they were then
}

// placesFor is how long what was read of them holds.
const placesFor = time.Minute

// openArchiveReader opens the archive of a configuration to read it, which knows which segments other archives have.
func openArchiveReader(c *config.Config, store *models.Store, now func() time.Time) (*archive.Reader, error) {
	reader, err := archive.OpenReader(archiveDir(c))
	if err != nil {
		return nil, err
	}
	if err := knowOthers(reader, store, now); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return reader, nil
}

// knowOthers has an archive know which segments others have.
func knowOthers(reader *archive.Reader, store *models.Store, now func() time.Time) error {
	id, err := reader.ID()
	if err != nil || id == "" || store.Dialect() == "sqlite" {
		return err
	}
	reader.Elsewhere((&otherArchives{store: store, now: now, id: id}).of)
	return nil
}

// of is where the archive of a worker is, and what to do; "" where it is this one, or nobody knows. A worker notes its archive before it
// stores anything, so one that is not known yet is looked up.
func (o *otherArchives) of(worker string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, known := o.places[worker]
	if now := o.now(); !known || now.Sub(o.read).Abs() > placesFor {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		places, err := archivePlaces(ctx, o.store)
		if err != nil {
			return fmt.Sprintf("or is lost: where worker %s has its archive cannot be found out now: %v", worker, err)
		}
		o.places, o.read = places, now
		p, known = places[worker]
	}
	if known && p.ID != o.id {
		return fmt.Sprintf("that of worker %s (%s): bring its segments here, or have one archive for both", worker, p)
	}
	return ""
}

// segmentsHere tells which segments an archive ought to have: those of the workers that write to it, those of workers of this machine and of
// workers with others there that nobody knows the archive of, those of workers whose archive is gone, and whatever is there.
func segmentsHere(ctx context.Context, store *models.Store, dir string, gone ...string) (func(string) bool, error) {
	if store.Dialect() == "sqlite" {
		return nil, nil
	}
	there, err := segmentsIn(dir)
	if err != nil {
		return nil, err
	}
	here := make(map[string]bool)
	for segment := range there {
		here[archive.WorkerOf(segment)] = true
	}
	workers, err := store.Workers(ctx)
	if err != nil {
		return nil, err
	}
	self, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find out whose segments are here: %w", err)
	}
	for _, w := range workers {
		here[w.Name] = here[w.Name] || w.Machine == self
	}
	places, err := archivePlaces(ctx, store)
	if err != nil {
		return nil, err
	}
	id, err := archiveID(dir)
	if err != nil {
		return nil, err
	}
	for worker, p := range places {
		here[worker] = p.ID == id
	}
	return func(segment string) bool {
		worker := archive.WorkerOf(segment)
		return here[worker] || there[segment] || slices.Contains(gone, worker)
	}, nil
}

// segmentsIn are the names of the segments in a directory, none where that is not there.
func segmentsIn(dir string) (map[string]bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	segments := make(map[string]bool)
	for _, e := range entries {
		if archive.WorkerOf(e.Name()) != "" {
			segments[strings.TrimSuffix(e.Name(), ".open")] = true
		}
	}
	return segments, nil
}

// archiveID is the ID of the archive in a directory; "" where there is none.
func archiveID(dir string) (id string, err error) {
	reader, err := archive.OpenReader(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return reader.ID()
}

// forgetArchives notes that the archives of workers are gone for good. Those of workers that live are not.
func (r *verifyRun) forgetArchives(ctx context.Context, gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	places, err := archivePlaces(ctx, r.store)
	if err != nil {
		return err
	}
	workers, err := r.store.Workers(ctx)
	if err != nil {
		return err
	}
	living := livingWorkers(workers, r.now)
	for _, worker := range gone {
		p, known := places[worker]
		switch {
		case slices.Contains(living, worker):
			return refusedf("worker %s is at work, with its archive in %s: stop it first", worker, p)
		case !known:
			return notFoundf("no worker %s has an archive; those that have: %s", worker, strings.Join(slices.Sorted(maps.Keys(places)), ", "))
		}
	}
	return r.writable(ctx, func(_ *config.Config, store *models.Store) error {
		_, err := changeArchivePlaces(ctx, store, func(places map[string]archivePlace) {
			for _, worker := range gone {
				delete(places, worker)
			}
		})
		return err
	})
}
