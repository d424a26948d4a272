package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
)

// backupCmd takes a checkpoint of the database. What it refers to, the archive, only ever grows and is copied as it is.
type backupCmd struct {
	File string `arg:"" optional:"" type:"path" help:"Where to; - is standard output; default a new file in the directory of the backups."`
}

// Run implements the command.
func (b backupCmd) Run(ctx context.Context, g *globals) (err error) {
	c, _, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	store, err := g.openStore(ctx, &c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	machine := clock.System{}
	began := machine.Now()
	var sum models.BackupSummary
	path := b.File
	switch path {
	case "-":
		if isTerminal(g.Stdout) {
			return usagef("a checkpoint is no text for a terminal: name a file, or lead standard output into one (recrawld backup - > FILE)")
		}
		_, err = store.Backup(ctx, g.Stdout, began)
		return err
	case "":
		path, sum, err = store.BackupTo(ctx, c.Backup.Dir, began)
		path = filepath.Join(c.Backup.Dir, path)
	default:
		sum, err = backupInto(ctx, store, path, began)
	}
	if err != nil {
		return err
	}
	took := machine.Now().Sub(began)
	return g.answer(struct {
		File string `json:"file"`
		Rows int64  `json:"rows"`
		Took int64  `json:"took_ms"`
	}{path, sum.Total(), took.Milliseconds()}, fmt.Sprintf("%s: %s in %s", path, report.Plural(sum.Total(), "row"), report.Span(took)))
}

// backupInto writes a checkpoint into a new file.
func backupInto(ctx context.Context, store *models.Store, path string, now time.Time) (models.BackupSummary, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return models.BackupSummary{}, named(fmt.Errorf("backup: %w", err))
	}
	out := bufio.NewWriterSize(io.Writer(file), 1<<20)
	sum, err := store.Backup(ctx, out, now)
	if err == nil {
		err = errors.Join(out.Flush(), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return sum, errors.Join(err, os.Remove(path)) // half a checkpoint is none
	}
	return sum, nil
}

// backupPause is the least real time between two checkpoints, however fast the clock runs; backupRetry is that after one
// that failed: what is wrong lasts, and each try reads the whole database.
const (
	backupPause = 10 * time.Second
	backupRetry = 10 * time.Minute
)

// backupLook is how often, in real time, it is looked whether a checkpoint is due: a reload may have changed how often one is.
const backupLook = time.Minute

// backupJob is the chore of taking checkpoints.
func (d *daemon) backupJob() scheduler.Job {
	pause, since, due := backupPause, time.Time{}, false // used by the chore's own goroutine alone, as is all here
	return scheduler.Job{
		Name: "backup",
		Next: func(now time.Time) time.Time {
			if since.IsZero() {
				since = now
			}
			look, at := now.Add(d.clock.Real(backupLook)), d.nextBackup(now, since, d.clock.Real(pause))
			if due = !at.IsZero() && at.Before(look); due {
				return at
			}
			return look
		},
		Run: func(ctx context.Context, now time.Time) error {
			if !due {
				return nil
			}
			err := d.backup(ctx, now)
			since = d.clock.Now()
			if pause = backupPause; err != nil {
				pause = backupRetry
			}
			return err
		},
	}
}

// backup takes a checkpoint. Of several workers on a database one takes it.
func (d *daemon) backup(ctx context.Context, now time.Time) error {
	c := &d.force.Load().config
	if live := d.peers(); c.Backup.Every == 0 || len(live) > 1 && scheduler.Prefer(live, 0) != d.start.Worker.Name {
		return nil
	}
	name, sum, err := d.store.BackupTo(ctx, c.Backup.Dir, now)
	if err != nil {
		return err
	}
	d.log.Info("backup taken", "file", filepath.Join(c.Backup.Dir, name), "rows", sum.Total())
	_, err = models.RotateBackups(c.Backup.Dir, c.Backup.Keep, now)
	return err
}

// nextBackup is when the next checkpoint is due: some time after the newest one there is, whoever took it. The zero time: never.
func (d *daemon) nextBackup(now, since time.Time, pause time.Duration) time.Time {
	c := &d.force.Load().config
	if c.Backup.Every == 0 {
		return time.Time{}
	}
	names, _ := models.Backups(c.Backup.Dir) // a directory that cannot be read has none to go by; the backup says why
	return nextBackupAfter(now, since, names, c.Backup.Every, pause)
}

// nextBackupAfter is every after the newest of the checkpoints that were taken by now, or after since where there is none to go
// by, and no sooner than the pause after that: since is when the last one was tried, or the daemon began.
func nextBackupAfter(now, since time.Time, newestFirst []string, every, pause time.Duration) time.Time {
	next := since.Add(every)
	for _, name := range newestFirst {
		taken, err := time.Parse("recrawld-20060102T150405Z.backup", name)
		if err == nil && !taken.After(now) {
			next = taken.Add(every)
			break
		}
	}
	if earliest := since.Add(pause); next.Before(earliest) {
		return earliest
	}
	return next
}
