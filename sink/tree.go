package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	own   = ".recrawl"
	temps = own + "/tmp"
	aside = own + "/aside"
	trash = own + "/trash"
)

// tree is the mirror's directory. Nothing leaves it (os.Root) and nothing in it is followed: a symbolic link, a device
// or whatever else stands where the mirror wants a file or a directory is moved aside or replaced, never opened.
type tree struct {
	root       *os.Root
	base       *os.File                      // root's own directory
	turn       *os.File                      // locked by the process that uses the tree
	place      string                        // the tree's name
	folds      bool                          // the file system takes A and a for the same
	mostHeld   int                           // drafts without a name that may be open; 0: there can be none
	mostOpened int                           // directories that may be open
	mu         sync.Mutex                    // held where drafts are made: what is below, and before
	number     int                           // of the last temporary file
	held       int                           // drafts without a name that are open
	opened     map[string]*directory         // by name, until release
	before     func(step, name string) error // asked before each change; tests stop the world there
	room       func() bool                   // whether the file system has some; tests fill it
}

func openTree(dir string) (*tree, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	base, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	spread(base)
	t := &tree{root: root, base: base, opened: make(map[string]*directory), mostOpened: min(max(fewFiles(), 16), maxOpened),
		before: func(string, string) error { return nil }, room: func() bool { return hasRoom(base) }}
	if err := t.prepare(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// prepare makes the tree's own directory fit for use, while nobody else uses the tree.
func (t *tree) prepare() error {
	if err := t.directories(own); err != nil {
		return err
	}
	if err := t.openTurn(); err != nil {
		return err
	}
	end, err := t.begin()
	if err != nil {
		return err
	}
	defer end()
	if err := t.sweep(); err != nil {
		return err
	}
	if t.folds, err = t.looksFolding(); err != nil {
		return err
	}
	if t.place, err = t.name(); err != nil {
		return err
	}
	if t.makesNameless() {
		t.mostHeld = min(fewFiles(), maxHeld)
	}
	return nil
}

// sweep removes what a crash left in the directory of temporary files.
func (t *tree) sweep() error {
	if err := t.root.RemoveAll(temps); err != nil {
		return err
	}
	return t.directories(temps)
}

// maxOpened is how many directories are open at a time at most, beside that of temporary files: each file of a Drain's batch
// may have one of its own, in which it is made and later named.
const maxOpened = MirrorBatch

// open opens a directory, which it makes where there is none, and keeps it open until release: files come by the dozen
// into one directory. Nobody else should move it meanwhile; if somebody does, its files go with it.
func (t *tree) open(name string) (*directory, error) {
	if d, ok := t.opened[name]; ok {
		return d, nil
	}
	if len(t.opened) >= t.mostOpened {
		t.evict()
	}
	d, err := openDirectory(t.root, t.base, name)
	if errors.Is(err, fs.ErrNotExist) && t.add(name) == nil {
		d, err = openDirectory(t.root, t.base, name)
	}
	if err != nil {
		if err := t.directories(name); err != nil {
			return nil, err
		}
		d, err = openDirectory(t.root, t.base, name)
	}
	if err == nil {
		t.opened[name] = d
	}
	return d, err
}

// add makes a directory where nothing is in the way: the one above it is opened for that, and made if need be.
func (t *tree) add(name string) error {
	above := path.Dir(name)
	if above == "." {
		return t.directories(name)
	}
	dir, err := t.open(above)
	if err != nil {
		return err
	}
	if err := t.before("mkdir", name); err != nil {
		return err
	}
	return dir.mkdir(path.Base(name))
}

// release closes the directories that are open: at the end of a delivery, and where one of them may not be what its
// name says any more. Nobody makes drafts meanwhile.
func (t *tree) release() {
	t.evict()
	if d, ok := t.opened[temps]; ok {
		d.close()
		delete(t.opened, temps)
	}
}

// evict closes all of them but that of temporary files, where files are made without mu.
func (t *tree) evict() {
	for name, d := range t.opened {
		if name != temps {
			d.close() // it was not written to
			delete(t.opened, name)
		}
	}
}

func (t *tree) close() error {
	t.release()
	var err error
	if t.turn != nil {
		err = t.turn.Close()
	}
	return errors.Join(err, t.base.Close(), t.root.Close())
}

// replace gives a draft its name, over the file that has it.
func (t *tree) replace(d *draft, name string) error {
	if err := t.before("rename", name); err != nil {
		return err
	}
	if t.receive(d, name) == nil {
		return nil
	}
	// Something is in the way, or the directory is not there any more.
	t.release()
	if err := t.directories(path.Dir(name)); err != nil {
		return err
	}
	if stat, err := t.root.Lstat(name); err == nil && stat.IsDir() {
		if err := t.moveAside(name); err != nil {
			return err
		}
	}
	return t.receive(d, name)
}

func (t *tree) rename(from, to string) error {
	if err := t.before("rename", to); err != nil {
		return err
	}
	return t.root.Rename(from, to)
}

// discard moves a file to the trash of a day, over what is there of the same name. No file is no error.
func (t *tree) discard(name string, day time.Time) error {
	if held, err := t.looks(name); err != nil || !held {
		return err
	}
	to := path.Join(trashFor(day), name)
	if err := t.directories(path.Dir(to)); err != nil {
		return err
	}
	if err := t.rename(name, to); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if t.root.Remove(dir) != nil {
			break // not empty
		}
		t.evict()
	}
	return nil
}

// holds tells whether a regular file is seen to have that name.
func (t *tree) holds(name string) bool {
	held, err := t.looks(name)
	return held && err == nil
}

// looks finds out whether a regular file has that name, by way of real directories alone. It returns an error where it cannot
// see that.
func (t *tree) looks(name string) (bool, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if stat, err := t.root.Lstat(name[:i]); err != nil || !stat.IsDir() {
			return false, unlessMissing(err)
		}
	}
	stat, err := t.root.Lstat(name)
	return err == nil && stat.Mode().IsRegular(), unlessMissing(err)
}

// unlessMissing is an error but for one that says that there is no such file, or cannot be: then it is nil.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENAMETOOLONG) {
		return nil
	}
	return err
}

// directories makes a directory and those above it.
func (t *tree) directories(name string) error {
	for end := 0; end < len(name); {
		if i := strings.IndexByte(name[end+1:], '/'); i >= 0 {
			end += 1 + i
		} else {
			end = len(name)
		}
		dir := name[:end]
		stat, err := t.root.Lstat(dir)
		if err == nil && stat.IsDir() {
			continue
		}
		if err == nil {
			err = t.moveAside(dir)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := t.before("mkdir", dir); err != nil {
			return err
		}
		if err := t.root.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// moveAside takes away what is no part of the mirror and stands in its way.
func (t *tree) moveAside(name string) error {
	t.evict()
	if name == own {
		return fmt.Errorf("%s is no directory", own)
	}
	if strings.HasPrefix(name, own+"/") {
		return t.root.RemoveAll(name) // our own directory: nobody else has business there
	}
	if err := t.directories(aside); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := aside + "/" + strconv.Itoa(n)
		if _, err := t.root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return t.rename(name, to)
		}
	}
}

// sync makes all that was written so far durable.
func (t *tree) sync() error {
	if err := t.before("sync", "."); err != nil {
		return err
	}
	return syncFileSystem(t.base)
}
