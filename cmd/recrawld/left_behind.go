package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"recrawld/models"
	"recrawld/report"
)

// lookForLeftBehind warns where the data directory has a SQLite database with pages and the daemon goes by a PostgreSQL database that no
// checkpoint was restored into: all that was learned lies in the one, and the other begins from nothing.
func (d *daemon) lookForLeftBehind(ctx context.Context) error {
	path := filepath.Join(d.start.Data, databaseFile)
	if d.alone() {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	restored, err := d.store.Restored(ctx)
	if err != nil || restored != "" {
		return err
	}
	pages, err := pagesIn(ctx, path)
	has := report.Plural(pages, "page")
	if err != nil {
		has = fmt.Sprintf("what cannot be read here (%s)", firstLine(err)) // not this daemon's database: no reason not to begin
	}
	if pages > 0 || err != nil {
		d.log.Warn("the data directory has a database that is not gone on from: stop this, take a checkpoint of it with recrawld backup --store sqlite "+
			"and bring that into an empty database with recrawld restore; or move the file away if it is not wanted",
			"file", path, "has", has, "store", storeName(&d.start))
	}
	return nil
}

// pagesIn counts the pages of a SQLite database, in any state.
func pagesIn(ctx context.Context, path string) (n int64, err error) {
	store, err := models.Open(ctx, "sqlite:"+path, models.Options{ReadOnly: true})
	if errors.Is(err, models.ErrNoSchema) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	counts, err := store.PageCounts(ctx)
	for _, c := range counts {
		n += c.Pages
	}
	return n, err
}
