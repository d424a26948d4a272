package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"recrawld/config"
	"recrawld/models"
)

// defaultConfig is read where no --config is given and it exists.
const defaultConfig = "/etc/recrawld/recrawld.yaml"

// databaseFile is the SQLite database in the data directory.
const databaseFile = "recrawld.db"

// loadConfig reads the configuration file, or the defaults where there is none and none was named, and puts --data and
// --store over it. Its error ends the program with exitUsage.
func (g *globals) loadConfig() (config.Config, config.Origins, error) {
	c, origins, err := g.readConfig()
	if err == nil && g.Data != "" {
		err = c.Set(origins, "data", g.Data)
	}
	if err == nil && g.StoreURL != "" {
		err = c.Set(origins, "store", g.StoreURL)
	}
	if err != nil {
		return config.Config{}, nil, coded{exitUsage, err}
	}
	g.place(&c, origins)
	return c, origins, nil
}

// readConfig reads the file that was named, or else the default one, or else the one that lies beside the data: so that
// commands see a directory as the daemon that filled it did.
func (g *globals) readConfig() (config.Config, config.Origins, error) {
	if g.ConfigPath != "" {
		return config.Read(g.ConfigPath)
	}
	for _, path := range g.defaultConfigs() {
		if c, origins, err := config.Read(path); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				g.ConfigPath = path // a reload that does not find it says so and does not take the defaults
			}
			return c, origins, err
		}
	}
	return config.Default(), config.DefaultOrigins(), nil
}

// defaultConfigs are the files of which the first that exists is read where no --config is given.
func (g *globals) defaultConfigs() []string {
	return []string{defaultConfig, filepath.Join(cmp.Or(g.Data, config.Default().Data), "recrawld.yaml")}
}

// openStore opens the database of a configuration for reading alone. Where there is none yet the error says so and ends
// the program with exitNotFound. The caller closes the store.
func (g *globals) openStore(ctx context.Context, c *config.Config) (*models.Store, error) {
	if err := g.exists(c); err != nil {
		return nil, err
	}
	if c.Store == "sqlite" {
		if err := becomeOwner(c.Data); err != nil {
			return nil, err
		}
	}
	store, err := models.Open(ctx, dsn(c), models.Options{ReadOnly: true})
	return store, unusable(c, err)
}

// openExisting is openStoreForWriting for a database that must be there, as for openStore.
func (g *globals) openExisting(ctx context.Context, c *config.Config) (*models.Store, error) {
	if err := g.exists(c); err != nil {
		return nil, err
	}
	return g.openStoreForWriting(ctx, c)
}

// withStore opens the database that the flags name with openStore or openExisting, calls f and closes it.
func (g *globals) withStore(ctx context.Context, open func(context.Context, *config.Config) (*models.Store, error),
	f func(*config.Config, *models.Store) error) (err error) {
	c, _, err := g.commandConfig(ctx)
	if err != nil {
		return err
	}
	store, err := open(ctx, &c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return f(&c, store)
}

// exists is an error that ends the program with exitNotFound where there is no database file yet.
func (g *globals) exists(c *config.Config) error {
	if c.Store != "sqlite" {
		return nil
	}
	_, err := os.Stat(filepath.Join(c.Data, databaseFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFoundf("nothing has been crawled in %s yet (recrawld run or recrawld add begins; --data names another directory)", c.Data)
	case err != nil:
		return fmt.Errorf("open the data directory: %w", err)
	}
	return nil
}

// openStoreForWriting opens the database of a configuration, and creates it where there is none. One of an earlier release it leaves as it
// is: what that release has installed as the daemon could not read it any more. The caller closes the store.
func (g *globals) openStoreForWriting(ctx context.Context, c *config.Config) (*models.Store, error) {
	return openWith(ctx, c, makeTables)
}

// openStoreForDaemon is openStoreForWriting that brings the schema up to date.
func (g *globals) openStoreForDaemon(ctx context.Context, c *config.Config) (*models.Store, error) {
	return openWith(ctx, c, g.migrate)
}

// openWith opens a database that may be missing, and has prepare see to its tables.
func openWith(ctx context.Context, c *config.Config, prepare func(context.Context, *models.Store) error) (*models.Store, error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("create the data directory: %w", err)
	}
	if err := becomeOwner(c.Data); err != nil {
		return nil, err
	}
	store, err := models.Open(ctx, dsn(c), models.Options{PagesPerHost: c.Defaults.PagesPerHost, Requisites: models.LeastRequisites,
		Conns: conns(c), Idle: min(c.Worker.Lease/2, 30*time.Second)})
	if err != nil {
		return nil, unusable(c, err)
	}
	if err := prepare(ctx, store); err != nil {
		return nil, errors.Join(unusable(c, err), store.Close())
	}
	return store, nil
}

// unusable says of an error of opening a database which it is, and what to do with one of a later release.
func unusable(c *config.Config, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, models.ErrNoSchema):
		return notFoundf("nothing has been crawled into the database %s yet (recrawld run or recrawld add begins; --store and --data name others)",
			databaseName(c))
	case errors.Is(err, models.ErrOlderSchema):
		err = fmt.Errorf("%w: start the daemon of this release, in place of the one that may still run, which brings them up to date; "+
			"until then use the commands of that release", err)
	case errors.Is(err, models.ErrNewerSchema):
		err = fmt.Errorf("%w: use the later release, or restore a checkpoint of this one", err)
	case models.IsDamaged(err):
		err = fmt.Errorf("%w: go back to a checkpoint with recrawld restore FILE%s, which keeps this file beside", err, checkpointsIn(c))
	}
	if c.Store == "sqlite" {
		return fmt.Errorf("%s: %w%s", databaseName(c), err, writableHint(c.Data))
	}
	return err // it names the server
}

// checkpointsIn says where the daemon left its checkpoints, if it took any.
func checkpointsIn(c *config.Config) string {
	if entries, err := os.ReadDir(c.Backup.Dir); err != nil || len(entries) == 0 {
		return ""
	}
	return " (they are in " + c.Backup.Dir + ")"
}

// databaseName is the database for a person: its file, or its URL without the password.
func databaseName(c *config.Config) string {
	if c.Store == "sqlite" {
		return filepath.Join(c.Data, databaseFile)
	}
	return storeName(c)
}

// writableHint says what to do where SQLite may not write in the data directory: it keeps its locks in files there, so that it
// does for looking too.
func writableHint(dir string) string {
	err := errors.Join(unix.Access(dir, unix.W_OK|unix.X_OK), unix.Access(filepath.Join(dir, databaseFile), unix.R_OK|unix.W_OK))
	switch {
	case err == nil:
		return ""
	case errors.Is(err, unix.EROFS):
		return "; its disk is read-only, and SQLite writes its locks there for looking too: copy the directory elsewhere and name it with --data"
	}
	return "; SQLite writes its locks there for looking too: run it as the user whose directory it is, or with sudo"
}

// conns is how many connections to the database a worker of this size keeps: its claims, commits, sinks and chores.
func conns(c *config.Config) int { return max(8, min(c.Worker.Fetchers/8, 32)) }

// dsn is the address of the database, as models.Open takes it.
func dsn(c *config.Config) string {
	if c.Store == "sqlite" {
		return "sqlite:" + filepath.Join(c.Data, databaseFile)
	}
	return c.Store
}

// becomeOwner gives up root for the user whose directory it is, so that `sudo recrawld add …` leaves no file that the
// daemon's user cannot write.
func becomeOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || stat.Uid == 0 {
		return nil
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(int(stat.Gid)), syscall.Setuid(int(stat.Uid))); err != nil {
		return fmt.Errorf("become the user of the data directory: %w", err)
	}
	return nil
}
