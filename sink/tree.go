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
	root   *os.Root
	mu     sync.Mutex                    // held where a name is chosen for a temporary file
	number int                           // of the last one; guarded by mu
	opened map[string]*directory         // by name, until release
	before func(step, name string) error // asked before each change; tests stop the world there
}

func openTree(dir string) (*tree, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, opened: make(map[string]*directory), before: func(string, string) error { return nil }}
	if err := t.sweep(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return t, nil
}

// sweep removes what a crash left in the directory of temporary files.
func (t *tree) sweep() error {
	if err := t.directories(own); err != nil {
		return err
	}
	if err := t.root.RemoveAll(temps); err != nil {
		return err
	}
	return t.directories(temps)
}

// maxOpened is how many directories are open at a time, that of temporary files among them.
const maxOpened = 64

// open opens a directory, which it makes where there is none, and keeps it open until release: files come by the dozen
// into one directory. Nobody else should move it meanwhile; if somebody does, its files go with it.
func (t *tree) open(name string) (*directory, error) {
	if d, ok := t.opened[name]; ok {
		return d, nil
	}
	if err := t.directories(name); err != nil {
		return nil, err
	}
	d, err := openDirectory(t.root, name)
	if err == nil {
		t.opened[name] = d
	}
	return d, err
}

// release closes the directories that are open: at the end of a delivery, and where one of them may not be what its
// name says any more.
func (t *tree) release() {
	for _, d := range t.opened {
		d.close() // it was not written to
	}
	clear(t.opened)
}

func (t *tree) close() error {
	t.release()
	return t.root.Close()
}

// write makes a temporary file with the given content and modification time and returns its name. It may be called from
// several goroutines at once, while nothing else is done with the tree.
func (t *tree) write(content []byte, modified time.Time) (string, error) {
	for {
		dir, number, err := t.temporary()
		if err != nil {
			return "", err
		}
		if err := dir.create(number, content, modified); !errors.Is(err, fs.ErrExist) { // else another process has used the number
			return temps + "/" + number, err
		}
	}
}

// temporary chooses a name for a temporary file.
func (t *tree) temporary() (dir *directory, name string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	name = strconv.Itoa(t.number)
	if err := t.before("write", temps+"/"+name); err != nil {
		return nil, "", err
	}
	dir, err = t.open(temps)
	return dir, name, err
}

// replace moves a temporary file to its place, over the file that is there.
func (t *tree) replace(temp, name string) error {
	if err := t.before("rename", name); err != nil {
		return err
	}
	if t.receive(temp, name) == nil {
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
	return t.rename(temp, name)
}

// receive is replace where nothing is in the way.
func (t *tree) receive(temp, name string) error {
	if len(t.opened) >= maxOpened {
		t.release()
	}
	from, err := t.open(temps)
	if err != nil {
		return err
	}
	to, err := t.open(path.Dir(name))
	if err != nil {
		return err
	}
	return to.receive(from, path.Base(temp), path.Base(name))
}

func (t *tree) rename(from, to string) error {
	if err := t.before("rename", to); err != nil {
		return err
	}
	return t.root.Rename(from, to)
}

// discard moves a file to the trash of a day, over what is there of the same name. No file is no error.
func (t *tree) discard(name string, day time.Time) error {
	if !t.holds(name) {
		return nil
	}
	to := path.Join(trash, day.UTC().Format(time.DateOnly), name)
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
		t.release()
	}
	return nil
}

// holds tells whether a regular file has that name, by way of real directories alone.
func (t *tree) holds(name string) bool {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if stat, err := t.root.Lstat(name[:i]); err != nil || !stat.IsDir() {
			return false
		}
	}
	stat, err := t.root.Lstat(name)
	return err == nil && stat.Mode().IsRegular()
}

// files calls f for every regular file of the mirror, its own directory left out.
func (t *tree) files(f func(name string) error) error {
	return fs.WalkDir(t.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == own:
			return fs.SkipDir
		case entry.Type().IsRegular():
			return f(name)
		}
		return nil
	})
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
	t.release()
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
	dir, err := t.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(syncFileSystem(dir), dir.Close())
}
