package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
	"recrawld/verify"
)

// archiveVerified is what came of the archive.
type archiveVerified struct {
	verify.Found
	Rest   *restVerified `json:"rest,omitempty"` // nil: a part was looked at
	Mended *mended       `json:"mended,omitempty"`

	sample verify.Sample
}

func (a *archiveVerified) words() string {
	words := "archive: " + report.Count(a.Versions)
	if a.sample != (verify.Sample{}) {
		words += " of " + report.Count(a.All)
	}
	words += fmt.Sprintf(" versions in %s of %s, %s damaged, %s missing", report.Plural(a.Records, "record"), report.Plural(a.Segments, "segment"),
		report.Count(a.Damaged), report.Count(a.Missing))
	for _, part := range []struct {
		n    int64
		what string
	}{{a.Lost, "lost before"}, {a.Again, "lost before are there again"}, {a.Elsewhere, "on other machines not looked at"}} {
		if part.n > 0 {
			words += fmt.Sprintf("; %s %s", report.Plural(part.n, "version"), part.what)
		}
	}
	if a.Rest != nil {
		words += a.Rest.words()
	}
	if a.Ended {
		return words // in the order of their places, the first of a sample are none
	}
	return words + sampleWords(a.sample, a.Bad, a.Versions, a.All, "have lost their bodies")
}

// absent is an archive that is not there.
type absent struct{}

// Read implements verify.Reader.
func (absent) Read(at models.Record) (archive.Answer, error) {
	return archive.Answer{}, fmt.Errorf("read %s: %w", at.File, fs.ErrNotExist)
}

// archive looks at the records of versions.
func (r *verifyRun) archive(ctx context.Context) (err error) {
	dir := archiveDir(&r.force.config)
	if err := r.forgetArchives(ctx, r.Gone); err != nil {
		return err
	}
	var reader verify.Reader = absent{}
	if opened, failed := openArchiveReader(&r.force.config, r.store, clock.System{}.Now); failed == nil {
		defer func() { err = errors.Join(err, opened.Close()) }()
		reader = opened
	} else if !errors.Is(failed, fs.ErrNotExist) {
		return failed
	}
	o := verify.Options{Dir: r.force.config.Data, Sample: r.Sample, Progress: r.progress.tell}
	if o.Here, err = segmentsHere(ctx, r.store, dir, r.Gone...); err != nil {
		return err
	}
	r.out.Archive = &archiveVerified{sample: r.Sample}
	if r.Mend {
		if err := r.mayMend(dir); err != nil {
			return err
		}
		r.mender = &mender{reader: reader, now: r.now, writable: r.writable}
		o.Again = r.mender.again(ctx)
	}
	told := make(map[spot]bool)
	o.Gone = func(k models.Kept) error {
		told[spotOf(k.Record)] = true
		return r.mender.bad(ctx, k) // the body may have come back elsewhere
	}
	listed, segments := 0, make(map[string]int)
	asking := context.WithoutCancel(ctx)
	o.Refuted = func(k models.Kept) bool { return movedSince(asking, r.store, k) }
	o.Bad = func(t verify.Trouble) error {
		told[spotOf(t.Record)] = true
		r.archiveTrouble(asking, &listed, segments, t)
		return r.mender.bad(ctx, t.Kept)
	}
	r.progress.begin("archive", "versions")
	err = gently(func() (err error) {
		r.out.Archive.Found, err = verify.Check(ctx, r.store.KeptVersions(ctx, r.site), reader, o)
		if err == nil {
			err = r.rest(ctx, reader, told, &listed)
		}
		return err
	})
	if err == nil && r.Mend && !r.out.Archive.Ended {
		err = r.mender.mend(ctx)
		r.out.Archive.Mended = &r.mender.done
	}
	r.archiveNotes(dir, listed)
	return err
}

// archiveTrouble lists a version that has lost its body. Of a segment that is missing it lists one.
func (r *verifyRun) archiveTrouble(ctx context.Context, listed *int, segments map[string]int, t verify.Trouble) {
	if i, known := segments[t.Record.File]; known && t.Missing {
		if i < len(r.out.Troubles) {
			r.out.Troubles[i].More++
		}
		return
	}
	if t.Missing {
		segments[t.Record.File] = len(r.out.Troubles)
	}
	row := verifyTrouble{Part: "archive", Version: t.Number, File: t.Record.File, Offset: &t.Record.Offset, Why: t.Why}
	if r.Limit == 0 || *listed < r.Limit {
		if page, err := r.store.Page(ctx, t.Bucket, t.PageID); err == nil { // else it was removed meanwhile
			row.URL = page.URL
		}
	}
	r.trouble(listed, row)
}

// archiveNotes say what is not listed, and the way out.
func (r *verifyRun) archiveNotes(dir string, listed int) {
	if more := listed - r.Limit; r.Limit > 0 && more > 0 {
		r.notes = append(r.notes, fmt.Sprintf("… and %s more of the archive (--limit 0 lists all)", report.Plural(more, "trouble")))
	}
	switch a := r.out.Archive; {
	case a.Mended != nil:
		if words := a.Mended.words(); words != "" {
			r.notes = append(r.notes, words)
		}
	case a.Bad > 0:
		r.notes = append(r.notes, "If there is a backup of these segments, put them back into "+dir+". Else recrawld verify --mend has what is lost "+
			"stored anew, as far as it can be had again.")
	case a.Rest != nil && a.Rest.Flaws > 0:
		r.notes = append(r.notes, "No version has lost its body by a flaw elsewhere: a backup of these segments has what was there. --mend leaves it as it is.")
	case a.Again > 0:
		r.notes = append(r.notes, "recrawld verify --mend notes that they are there again.")
	}
}

// mayMend refuses to call everything lost where the archive may only not be mounted.
func (r *verifyRun) mayMend(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.Yes || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return archive.WorkerOf(e.Name()) != "" }) {
		return nil
	}
	return refusedf("%s holds no segment at all: is its disk mounted? Without --yes nothing is mended", dir)
}

// movedSince tells whether the database says something else of a version by now.
func movedSince(ctx context.Context, store *models.Store, k models.Kept) bool {
	v, err := store.Version(ctx, k.Bucket, k.PageID, k.Number)
	return errors.Is(err, models.ErrNotFound) || err == nil && v.Record != k.Record
}
