package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
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
	number int                           // of the next temporary file
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
	t := &tree{root: root, before: func(string, string) error { return nil }}
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

// write makes a temporary file with the given content and modification time and returns its name.
func (t *tree) write(content []byte, modified time.Time) (string, error) {
	var f *os.File
	var name string
	for err := fs.ErrExist; errors.Is(err, fs.ErrExist); { // another process may have used the number
		t.number++
		name = temps + "/" + strconv.Itoa(t.number)
		if err := t.before("write", name); err != nil {
			return "", err
		}
		if f, err = t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	_, err := f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, t.root.Remove(name))
	}
	return name, t.root.Chtimes(name, modified, modified)
}

// replace moves a temporary file to its place, over the file that is there.
func (t *tree) replace(temp, name string) error {
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
