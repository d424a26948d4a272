package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"recrawld/models"
	"recrawld/report"
	"recrawld/verify"
)

// selfChecked is what the last look at a sample of an archive found. Each worker looks at its own.
type selfChecked struct {
	At       time.Time `json:"at"`
	Worker   string    `json:"worker"`
	Versions int64     `json:"versions"` // that were looked at
	Of       int64     `json:"of"`       // there are
	Bad      int64     `json:"bad"`      // have lost their bodies
}

// How often a worker looks at a sample of its archive, and how many versions.
const (
	selfCheckEvery  = 7 * 24 * time.Hour
	selfCheckSample = 1000
)

const selfCheckPrefix = "self-check:"

// selfChecks reads what the workers found last.
func selfChecks(ctx context.Context, store *models.Store) ([]selfChecked, error) {
	keys, err := store.MetaKeys(ctx, selfCheckPrefix)
	if err != nil {
		return nil, err
	}
	found := make([]selfChecked, len(keys))
	for i, key := range keys {
		row, err := store.Meta(ctx, key)
		if err == nil {
			err = json.Unmarshal([]byte(row), &found[i])
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
	}
	return found, nil
}

// keepSelfCheck writes what a worker found.
func keepSelfCheck(ctx context.Context, store *models.Store, found selfChecked) error {
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	key := selfCheckPrefix + found.Worker
	old, err := store.Meta(ctx, key)
	if err != nil || old == string(text) {
		return err
	}
	_, err = store.SetMeta(ctx, key, old, string(text))
	return err
}

// selfCheck looks at a random sample of the archive where a week has passed since the last: cheap enough to do without being asked, and of a
// disk that rots, or a folder that is gone, it takes only some weeks to tell.
func (d *daemon) selfCheck(ctx context.Context, now time.Time) error {
	checks, err := selfChecks(ctx, d.store)
	if err != nil {
		return err
	}
	for _, last := range checks {
		if ago := now.Sub(last.At); last.Worker == d.start.Worker.Name && ago >= 0 && ago < selfCheckEvery {
			return nil
		}
	}
	here, err := segmentsHere(ctx, d.store, archiveDir(&d.start))
	if err != nil {
		return err
	}
	var found verify.Found
	err = gently(func() (err error) {
		found, err = verify.Check(ctx, d.store.KeptVersions(ctx, 0), d.past.bodies, verify.Options{
			Dir: d.start.Data, Sample: verify.Sample{Number: selfCheckSample}, Here: here,
			Refuted: func(k models.Kept) bool { return movedSince(ctx, d.store, k) }})
		return err
	})
	if err != nil || found.Ended || found.All == 0 {
		return err
	}
	check := selfChecked{At: now, Worker: d.start.Worker.Name, Versions: found.Versions, Of: found.All, Bad: found.Bad}
	if check.Bad > 0 {
		d.log.Error("the archive is damaged: recrawld verify says where, and what to do", "versions", check.Versions, "lost", check.Bad)
	} else {
		d.log.Info("a sample of the archive is right", "versions", check.Versions, "of", check.Of)
	}
	return keepSelfCheck(ctx, d.store, check)
}

// mendedSelfChecks has the alarm wait for the next sample.
func mendedSelfChecks(ctx context.Context, store *models.Store) error {
	checks, err := selfChecks(ctx, store)
	for _, c := range checks {
		if c.Bad = 0; err == nil {
			err = keepSelfCheck(ctx, store, c)
		}
	}
	return err
}

// archived reads what this worker found last in its archive.
func (f *figures) archived(ctx context.Context, worker string) error {
	checks, err := selfChecks(ctx, f.store)
	for _, c := range checks {
		if c.Worker == worker {
			f.damaged.WithLabelValues().Set(float64(c.Bad))
		}
	}
	return err
}

// statusArchive fills in what the workers found last in their archives.
func (l *look) statusArchive(ctx context.Context, s *status) (err error) {
	s.SelfChecks, err = selfChecks(ctx, l.store)
	return err
}

// addArchive adds a line for each archive that is damaged.
func (s status) addArchive(head *facts) {
	for _, c := range s.SelfChecks {
		if c.Bad > 0 {
			words := fmt.Sprintf("%s of a sample of %s have lost their bodies", report.Plural(c.Bad, "version"), report.Count(c.Versions))
			head.add("archive", "%s: recrawld verify on the machine of %s says which, and what to do", head.style.Paint(report.Bad, words), c.Worker)
		}
	}
}
