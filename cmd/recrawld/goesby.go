package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// A daemon leaves in its database which configuration file it goes by, so that a command that is given none does not answer by
// other settings. The text stays in the file: it may name secrets, and more people may read the database.

// goesBy is what a worker says of its configuration.
type goesBy struct {
	Worker   string         `json:"worker"`
	Machine  string         `json:"machine"`
	Database string         `json:"database"` // as databasePlace tells: another one is a copy
	Data     string         `json:"data"`     // directory, absolute
	File     string         `json:"file"`     // absolute; "": the defaults
	Dir      string         `json:"dir"`      // the daemon's working directory, from which relative ones of the file go; "": of an earlier release
	Digest   string         `json:"digest"`
	At       models.Instant `json:"at"` // when it was put in force, by the machine's clock
}

const goesByPrefix = "goes-by:"

// noteConfig leaves in the database which file is in force. The caller holds mu, or has the daemon to itself.
func (d *daemon) noteConfig(ctx context.Context) error {
	note := goesBy{Worker: d.start.Worker.Name, Machine: thisMachine(), Database: databasePlace(&d.start), Data: resolved(d.start.Data),
		File: absolute(d.g.ConfigPath), Dir: absolute("."), Digest: digestOf(&d.base, d.origins), At: models.At(d.machine.Now())}
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	key := goesByPrefix + note.Worker
	old, err := d.store.Meta(ctx, key)
	if err != nil {
		return err
	}
	var before goesBy
	if json.Unmarshal([]byte(old), &before) == nil && before.File != "" && before.File != note.File {
		d.log.Warn("another configuration file than last time", "file", cmp.Or(note.File, "none"), "last", before.File)
	}
	if _, err = d.store.SetMeta(ctx, key, old, string(text)); err != nil {
		return err
	}
	return d.forgetGone(ctx)
}

// thisMachine is the machine's name, "" where it has none.
func thisMachine() string {
	name, _ := os.Hostname()
	return name
}

// databasePlace names a database so that a copy of it has another name, even one on the same machine: what the file of the daemon says of
// other directories, such as the mirror's, is not said of the copy.
func databasePlace(c *config.Config) string {
	if c.Store == "sqlite" {
		return filepath.Join(resolved(c.Data), databaseFile)
	}
	return storeName(c)
}

// resolved is a directory as everybody would name it, as far as that can be found out.
func resolved(dir string) string {
	dir = absolute(dir)
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir
}

// absolute is a path that means the same to whoever stands elsewhere; "" stays "".
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && path != "" {
		return full
	}
	return path
}

// byFlags are the keys that flags of the daemon or of a command may put over the file.
var byFlags = []string{"data", "store", "listen", "worker.name", "agent.contact"}

// digestOf is a digest of what a file says, but for byFlags. Values are written as for showing, so that nobody can try passwords on it.
func digestOf(c *config.Config, origins config.Origins) string {
	sum := sha256.New()
	for _, v := range c.Values(origins) {
		if v.Origin.Source == config.FromFile && !slices.Contains(byFlags, v.Key) {
			fmt.Fprintf(sum, "%q %q %q\n", v.Site, v.Key, v.Value)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// commandConfig is loadConfig for a command beside the daemon: without --config it goes by the file that the daemon goes by, or last
// went by, and says so.
func (g *globals) commandConfig(ctx context.Context) (config.Config, config.Origins, error) {
	if g.ConfigPath != "" || g.followed {
		return g.loadConfig()
	}
	c, origins, err := g.loadConfig()
	if err != nil {
		return c, origins, err
	}
	g.followed = true
	if c, origins, err = g.followHolder(c, origins); err != nil {
		return c, origins, err
	}
	notes, living, err := g.notes(ctx, &c)
	if err != nil || len(notes) == 0 {
		return c, origins, nil // the command itself complains of a database that cannot be read
	}
	here := goesBy{Machine: thisMachine(), Database: databasePlace(&c), File: absolute(g.ConfigPath), Digest: digestOf(&c, origins)}
	lead := leading(notes, living, here.Machine)
	follow, hint := lead.compare(here, databaseName(&c))
	if follow == "" {
		g.note(hint, differing(notes, living))
		if lead.File == here.File && lead.Machine == here.Machine && lead.Database == here.Database {
			g.fileDir = lead.Dir
			g.place(&c, origins)
		}
		return c, origins, nil
	}
	read, readOrigins, err := g.loadFrom(lead, &c)
	var problems config.Problems
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || errors.As(err, &problems) && problems.OfSecrets() {
		g.note(fmt.Sprintf("the daemon on %s goes by %s; this goes by %s; -c FILE names another", databaseName(&c), firstLine(err), here.file()))
		return c, origins, nil
	}
	g.ConfigPath = follow // config check says what is wrong with it
	g.note(hint, differing(notes, living))
	return read, readOrigins, err
}

// loadFrom is loadConfig by the file that a worker goes by, on the database that was found and the data of that worker, unless the
// command names others. Where it can be read it stays the file of the command.
func (g *globals) loadFrom(lead goesBy, found *config.Config) (config.Config, config.Origins, error) {
	with := *g
	with.ConfigPath, with.fileDir = lead.File, lead.Dir
	c, origins, err := with.loadConfig()
	if err != nil {
		return c, origins, err
	}
	data := found.Data
	if found.Store != "sqlite" && g.Data == "" {
		data = lead.Data // found was the database alone
	}
	if c.Data != data || c.Store != found.Store { // the daemon was told by flags
		with.Data, with.StoreURL = data, found.Store
		c, origins, err = with.loadConfig()
	}
	*g = with
	return c, origins, err
}

// place has the directories that the file names relative to the daemon's working directory be where the daemon has them.
func (g *globals) place(c *config.Config, origins config.Origins) {
	for key, dir := range map[string]*string{"mirror.dir": &c.Mirror.Dir, "backup.dir": &c.Backup.Dir} {
		if g.fileDir != "" && *dir != "off" && !filepath.IsAbs(*dir) && origins.Of(config.Place{Key: key}).Source == config.FromFile {
			*dir = filepath.Join(g.fileDir, *dir)
		}
	}
}

// notes are what the workers of a database said of their configurations, and the names of those that live.
func (g *globals) notes(ctx context.Context, c *config.Config) (notes []goesBy, living []string, err error) {
	store, err := g.openStore(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keys, err := store.MetaKeys(ctx, goesByPrefix)
	for _, key := range keys {
		var note goesBy
		text, metaErr := store.Meta(ctx, key)
		if err = errors.Join(err, metaErr); json.Unmarshal([]byte(text), &note) == nil {
			notes = append(notes, note)
		}
	}
	workers, workersErr := store.Workers(ctx)
	return notes, livingWorkers(workers, clock.System{}.Now()), errors.Join(err, workersErr)
}

// leading is the note to go by: of a worker that lives rather than of one that did, of this machine rather than of another, and of
// several the newest.
func leading(notes []goesBy, living []string, machine string) goesBy {
	return slices.MaxFunc(notes, func(a, b goesBy) int {
		for _, better := range []func(goesBy) bool{
			func(n goesBy) bool { return slices.Contains(living, n.Worker) },
			func(n goesBy) bool { return n.Machine == machine },
		} {
			if better(a) != better(b) {
				return map[bool]int{true: 1, false: -1}[better(a)]
			}
		}
		return cmp.Compare(a.At, b.At)
	})
}

// compare tells which file a command shall read that would go by what is here, "" for that, and what it is to say.
func (n goesBy) compare(here goesBy, database string) (follow, hint string) {
	switch {
	case n.Machine != here.Machine && n.Digest != here.Digest:
		return "", fmt.Sprintf("the worker %s on %s goes by %s there, which says otherwise than %s here; -c FILE names another",
			n.Worker, n.Machine, n.file(), here.file())
	case n.Machine != here.Machine:
		return "", ""
	case n.Database != here.Database && n.Digest != here.Digest:
		return "", fmt.Sprintf("%s was written as %s, by a daemon that goes by %s; for a copy %s holds; -c FILE names another",
			database, n.Database, n.file(), here.file())
	case n.File == here.File && n.Digest != here.Digest:
		return "", fmt.Sprintf("%s says otherwise than when the daemon on %s read it; SIGHUP lets it read it again", n.File, database)
	case n.File == here.File:
		return "", ""
	case n.File == "":
		return "", fmt.Sprintf("the daemon on %s began before there was %s, and goes by it from its next start on", database, here.File)
	}
	return n.File, fmt.Sprintf("by %s, as the daemon on %s; -c FILE names another", n.File, database)
}

func (n goesBy) file() string { return cmp.Or(n.File, "the defaults") }

// differing names the files of workers that live, where they say different things.
func differing(notes []goesBy, living []string) string {
	var digests, names []string
	for _, n := range notes {
		if slices.Contains(living, n.Worker) && !slices.Contains(digests, n.Digest) {
			digests = append(digests, n.Digest)
			names = append(names, fmt.Sprintf("%s by %s on %s", n.Worker, n.file(), n.Machine))
		}
	}
	if len(names) < 2 {
		return ""
	}
	return "the workers go by configurations that differ: " + strings.Join(names, ", ")
}

// note says something beside what a command answers.
func (g *globals) note(hints ...string) {
	for _, hint := range hints {
		if hint != "" {
			fmt.Fprintf(g.Stderr, "recrawld: %s\n", hint)
		}
	}
}
