package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"recrawld/export"
	"recrawld/export/folder"
	"recrawld/models"
	"recrawld/recrawl/canon"
)

// folderFormat is the format of a folder that opens in a browser from disk.
const folderFormat export.Format = "folder"

// vacant is an error where the export must not be written to its file or folder.
func (c exportCmd) vacant(format export.Format) error {
	if format != folderFormat {
		return vacant(c.Output, c.Force)
	}
	err := folder.Vacant(c.Output, c.Force)
	if errors.Is(err, fs.ErrNotExist) {
		return named(fmt.Errorf("write %s: %w", c.Output, err)) // it names the folder that it would be in
	}
	return c.folderError(err)
}

// folderError is what a person can do about a folder that is not written.
func (c exportCmd) folderError(err error) error {
	switch {
	case errors.Is(err, folder.ErrTaken):
		return usagef("%s is there already: --force replaces it", c.Output)
	case errors.Is(err, folder.ErrForeign):
		return usagef("%s is there already and no former export of a folder, which is all that --force replaces: name another one", c.Output)
	}
	return err
}

// folder writes a folder of the pages that are chosen, each in the last of its versions.
func (r *exportRun) folder(ctx context.Context, c exportCmd, chosen *selection, x *export.Exporter) (folder.Summary, error) {
	starts, err := r.starts(chosen)
	if err != nil {
		return folder.Summary{}, err
	}
	w := folder.New(folder.Options{Versions: x, Path: c.Output, Force: c.Force, Temp: c.temp(), Software: "recrawld " + versionText(),
		About: strings.TrimSuffix(chosen.words(), ", last versions"), Starts: starts, Now: r.began, Step: r.step})
	defer w.Close()
	chosen.last = true
	chosen.moved = func(p *models.Page) error { return w.Redirect(p.URL, p.RedirectTo) }
	add := func(p *models.Page, v models.Version) error {
		return w.Add(folder.Page{Version: exportVersion(p, v), Number: v.Number, MediaType: v.ContentType})
	}
	if err := r.choose(ctx, c.Alone, chosen, x, add); err != nil {
		return folder.Summary{}, err
	}
	w.Refused(chosen.refused)
	sum, err := w.Write(ctx)
	return sum, c.folderError(err)
}

// mostStarts is how many sites' start pages a folder names.
const mostStarts = 100

// starts are the pages that somebody would look at first.
func (r *exportRun) starts(chosen *selection) (starts []folder.Start, err error) {
	for _, url := range chosen.prefixes {
		starts = append(starts, folder.Start{URL: url})
	}
	if len(starts) > 0 {
		return starts, nil
	}
	for _, site := range r.force.rows {
		u, err := canon.Parse(site.URL)
		if err == nil && (chosen.site == 0 || chosen.site == site.ID) && len(starts) < mostStarts {
			starts = append(starts, folder.Start{Site: cmp.Or(site.Name, site.URL), URL: u.String()})
		}
	}
	return starts, nil
}
