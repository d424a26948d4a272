package sink

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"recrawld/internal/filename"
	"recrawld/models"
)

// namesAtOnce is how many names of a directory are read at a time: one may have ten million.
const namesAtOnce = 1000

// foreign looks for files that no page has. What the mirror keeps for itself is not looked at.
func (a *Audit) foreign(ctx context.Context) error {
	var names []string
	err := eachFile(ctx, a.tree.root.FS(), ".", func(name string) error {
		if _, known := slices.BinarySearch(a.known, keyOf(name)); known {
			return nil
		}
		if names = append(names, name); len(names) < auditRows {
			return nil
		}
		err := a.judge(ctx, names)
		names = nil
		return err
	})
	if err != nil {
		return err
	}
	return a.judge(ctx, names)
}

// eachFile finds the files below a directory of the mirror, in order where it has few names. Those that come or go meanwhile may be
// among them or not.
func eachFile(ctx context.Context, tree fs.FS, dir string, found func(name string) error) error {
	opened, err := tree.Open(dir)
	if errors.Is(err, fs.ErrNotExist) { // it was there a moment ago
		return nil
	}
	if err != nil {
		return err
	}
	defer opened.Close()
	list, ok := opened.(fs.ReadDirFile)
	if !ok {
		return &fs.PathError{Op: "read", Path: dir, Err: errors.New("no directory")}
	}
	for {
		entries, err := list.ReadDir(namesAtOnce)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		for _, entry := range entries {
			switch name := path.Join(dir, entry.Name()); {
			case !entry.IsDir():
				err = found(name)
			case name != own:
				err = eachFile(ctx, tree, name, found)
			}
			if err != nil {
				return err
			}
		}
	}
}

// judge tells which of some files, that no page had when the pages were read, are foreign.
func (a *Audit) judge(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	rows, err := a.rowsOf(names)
	if err != nil {
		return err
	}
	for _, name := range names {
		row, made := rows[name]
		switch {
		case !made:
		case row.State == stateLost, row.State == stateWithheld, row.State == models.EventRemoved.String():
			continue // the file may be the last copy
		}
		url := row.URL
		if !made {
			url, _ = URL(name)
		}
		legit, err := a.belongs(ctx, url, name)
		if err != nil {
			return err
		}
		if held, err := a.tree.looks(name); legit || err == nil && !held && !a.stands(name) {
			continue
		}
		t := AuditTrouble{File: name, Why: "the mirror has not made this file, and leaves it alone"}
		if made {
			a.found.Stray++
			t.URL, t.Why = url, "no page has this file any more"
		} else {
			a.found.Others++
		}
		if err := a.Bad(t); err != nil {
			return err
		}
	}
	return nil
}

// stands tells whether something has a name, if it is no file either.
func (a *Audit) stands(name string) bool {
	_, err := a.tree.root.Lstat(name)
	return err == nil
}

// belongs tells whether a file is that of a page, or was and the event that takes it away is not delivered yet.
func (a *Audit) belongs(ctx context.Context, url, name string) (bool, error) {
	at, _, ok := filename.SplitURL(url)
	if !ok || a.tree.fileOf(url) != name {
		return false, nil
	}
	host := at.Host
	if at.Port != "" {
		host += ":" + at.Port
	}
	bucket, id := models.BucketOf(host), models.PageID(url)
	cursor, err := a.Ledger.Cursor(ctx, mirrorName, bucket)
	if err != nil {
		return false, err
	}
	page, _, has, err := a.wants(ctx, bucket, id)
	if err != nil || has || a.withheld[url] || page.Lost {
		return err == nil, err
	}
	return a.waits(ctx, bucket, id, cursor)
}

// rowsOf is what the manifest says of files that it knows, among some.
func (a *Audit) rowsOf(names []string) (map[string]Row, error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	rows := make(map[string]Row)
	for _, file := range []string{retiredFile, manifestFile, logFile} {
		from, err := a.tree.root.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = eachLine(from, func(line []byte) error {
			var r Row
			if json.Unmarshal(line, &r) == nil && wanted[r.Path] {
				rows[r.Path] = r.over(rows[r.Path])
			}
			return nil
		})
		if err := errors.Join(err, from.Close()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
