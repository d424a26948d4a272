package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"recrawld/clock"
	"recrawld/models"
	"recrawld/report"
)

// restoreCmd goes back to a checkpoint. The checkpoint stays as it is, and what was in force before is kept beside.
type restoreCmd struct {
	File string `arg:"" help:"A checkpoint, as recrawld backup wrote it; - is standard input."`
	Yes  bool   `short:"y" help:"Do not ask."`
}

// Help is the text below the flags.
func (restoreCmd) Help() string {
	return `The daemon must be stopped. Afterwards it goes on from the checkpoint: what was due is visited, what happened since is
found again. The archive is not touched, what it holds beyond the checkpoint stays; the mirror is made anew at the next
start. A checkpoint of SQLite can be restored into PostgreSQL and the other way round. A SQLite database that is there
is kept beside the new one; a PostgreSQL database must be empty.`
}

// Run implements the command.
func (r restoreCmd) Run(ctx context.Context, g *globals) error {
	c, _, err := g.loadConfig()
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Go back to %s?", filepath.Base(r.File))
	in, err := openInput(g, r.File)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	if err := g.askable(question, r.Yes); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := becomeOwner(c.Data); err != nil {
		return err
	}
	l, err := takeLock(c.Data, "")
	if err != nil {
		return err
	}
	defer l.release()
	yes, err := g.confirm(question, r.Yes, false)
	if err != nil || !yes {
		return err
	}
	if c.Store == "sqlite" {
		return r.of(restoreSQLite(ctx, g, in, c.Data, everySink(&c)))
	}
	sum, err := restoreInto(ctx, c.Store, in, everySink(&c))
	if errors.Is(err, models.ErrNotEmpty) || errors.Is(err, models.ErrOlderSchema) {
		return usagef("%w: create a new one and name it with --store", err)
	}
	if err != nil {
		return r.of(err)
	}
	return tellRestored(g, sum, "")
}

// of names the checkpoint in an error.
func (r restoreCmd) of(err error) error {
	if err == nil {
		return nil
	}
	name := r.File
	if name == "-" {
		name = "standard input"
	}
	if errors.Is(err, models.ErrBadBackup) {
		return fmt.Errorf("%s is damaged, cut off, or no checkpoint at all; nothing was restored and nothing is changed, take another one (%w)", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// restoreSQLite fills a new file and gives it the database's name once it is whole.
func restoreSQLite(ctx context.Context, g *globals, in io.Reader, data string, sinks []string) error {
	path := filepath.Join(data, databaseFile)
	fresh := path + ".restored"
	if err := removeDatabase(fresh); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	sum, err := restoreInto(ctx, "sqlite:"+fresh, in, sinks)
	if err != nil {
		return errors.Join(err, removeDatabase(fresh))
	}
	kept, err := keepBeside(ctx, path)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err == nil {
		err = syncDirectory(data)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return tellRestored(g, sum, kept)
}

// tellRestored says what was restored, and where is what was there before; "": nothing was.
func tellRestored(g *globals, sum models.BackupSummary, kept string) error {
	words := fmt.Sprintf("restored %s as of %s; recrawld run goes on from there", report.Plural(sum.Total(), "row"), sum.TakenAt.Format(time.DateTime))
	if kept != "" {
		words = "what was there before: " + kept + "\n" + words
	}
	return g.answer(struct {
		Rows    int64     `json:"rows"`
		TakenAt time.Time `json:"taken_at"`
		Before  string    `json:"before,omitempty"`
	}{sum.Total(), sum.TakenAt, kept}, words)
}

// restoreInto fills an empty database, and asks for sinks to be made anew: they may have seen what the checkpoint
// has not.
func restoreInto(ctx context.Context, dsn string, in io.Reader, sinks []string) (sum models.BackupSummary, err error) {
	store, err := models.Open(ctx, dsn, models.Options{})
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	machine, err := machineOf(ctx, store)
	if err != nil {
		return sum, err
	}
	if err := makeTables(ctx, store); err != nil {
		return sum, fmt.Errorf("nothing was restored: %w", err)
	}
	now := machine.Now()
	if sum, err = store.Restore(ctx, bufio.NewReaderSize(in, 1<<20), now); err != nil {
		return sum, err
	}
	if err := store.NoteRestored(ctx, now); err != nil {
		return sum, err
	}
	for _, name := range sinks {
		old, err := store.Meta(ctx, replayKey(name))
		if err != nil {
			return sum, err
		}
		if _, err := store.SetMeta(ctx, replayKey(name), old, replayAsked+now.Format(time.RFC3339Nano)); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// keepBeside gives a SQLite database, with what its log holds, a second name and says which; "" where there is none. It
// keeps its own name until another file takes it, so that there is a database at every moment; its log does not, because
// it would be taken for the other one's.
func keepBeside(ctx context.Context, path string) (string, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if store, err := models.Open(ctx, "sqlite:"+path, models.Options{}); err == nil {
		_ = store.Close() // brings the log into the file; a broken database is kept as it is
	}
	base := path + ".before-" + clock.System{}.Now().Format("20060102T150405Z")
	kept := base
	for n := 2; exists(kept); n++ { // by another restore within the second
		kept = fmt.Sprintf("%s-%d", base, n)
	}
	for _, suffix := range databaseFiles[1:] {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if os.Link(path, kept) == nil {
		return kept, nil
	}
	return kept, os.Rename(path, kept) // a file system without links
}

// exists tells whether a file of that name is seen.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func removeDatabase(path string) error {
	for _, suffix := range databaseFiles {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// databaseFiles are the ends of the names of a SQLite database's files, the database itself first.
var databaseFiles = []string{"", "-wal", "-shm"}

func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
