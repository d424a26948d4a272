package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"recrawld/config"
)

// Where a daemon was moved to another engine, the database that it left has notes of a file that it goes by no more, or of none, and a
// command that wrote there would say that it was done. What the running daemon goes by stands in its lock.

// holder is a daemon that has a lock, as it signed it.
type holder struct {
	pid      string
	database string // as databasePlace tells; "": of a release that did not say
	file     string // absolute; "": the defaults, or not said
}

// readHolder reads what stands in a lock.
func readHolder(r io.Reader) holder {
	held, _ := io.ReadAll(io.LimitReader(r, 16<<10)) // without it whoever finds the lock taken still says what to do
	lines := append(strings.Split(strings.TrimRight(string(held), "\n"), "\n"), "", "")
	return holder{pid: strings.TrimSpace(lines[0]), database: lines[1], file: lines[2]}
}

// otherHolder is a running daemon of the data directory that is on another engine than a configuration, if there is one.
func otherHolder(c *config.Config) (holder, bool) {
	pattern := "lock" // a daemon on SQLite has the whole directory
	if c.Store == "sqlite" {
		pattern = "lock-*"
	}
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(c.Data), pattern))
	for _, path := range paths {
		if h, held := holderOf(path); held && (c.Store == "sqlite" || h.database != "") { // else a restore has it
			return h, true
		}
	}
	return holder{}, false
}

// escapeGlob is a path as a pattern that matches it alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// holderOf is who has a lock, if anybody has it. Of one that may not be read that cannot be told.
func holderOf(path string) (h holder, held bool) {
	file, err := os.Open(path)
	if err != nil {
		return holder{}, false
	}
	defer file.Close() // it gives the lock back
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return holder{}, false
	}
	return readHolder(file), true
}

// followHolder goes by the file of the running daemon where that is on another engine than what would be gone by, and refuses where that
// file does not lead to its database. With --store it was said which one is meant.
func (g *globals) followHolder(c config.Config, origins config.Origins) (config.Config, config.Origins, error) {
	h, found := otherHolder(&c)
	if !found || g.StoreURL != "" {
		return c, origins, nil
	}
	with := *g
	with.ConfigPath = h.file
	read, readOrigins, err := with.loadConfig()
	if err == nil && resolved(read.Data) != resolved(c.Data) { // the daemon was told by flags
		with.Data = c.Data
		read, readOrigins, err = with.loadConfig()
	}
	if err != nil || h.database == "" || databasePlace(&read) != h.database {
		reason := ""
		if err != nil {
			reason = " (" + firstLine(err) + ")"
		}
		return c, origins, usagef("the daemon of %s, process %s, runs on %s by %s%s, and this would go to %s: name the daemon's file with -c, or the database with --store",
			c.Data, cmp.Or(h.pid, "unknown"), cmp.Or(h.database, "another database"), cmp.Or(h.file, "no file that it names"), reason, databaseName(&c))
	}
	*g = with
	g.note(fmt.Sprintf("by %s, as the daemon on %s; -c FILE names another", h.file, h.database))
	return read, readOrigins, nil
}
