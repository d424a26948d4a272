//go:build !linux

package sink

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// directory is a directory of a tree.
type directory struct {
	root *os.Root
	name string
}

func openDirectory(root *os.Root, _ *os.File, name string) (*directory, error) {
	if stat, err := root.Lstat(name); err != nil || !stat.IsDir() {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	return &directory{root, name}, nil
}

// fewFiles is how many files may be open beside connections.
func fewFiles() int { return 64 }

func (d *directory) mkdir(name string) error { return d.root.Mkdir(d.name+"/"+name, 0o755) }

func (d *directory) close() error { return nil }

// create makes a file that is not there yet, with its content and modification time.
func (d *directory) create(name string, content []byte, modified time.Time) error {
	whole := d.name + "/" + name
	f, err := d.root.OpenFile(whole, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.root.Remove(whole))
	}
	return d.root.Chtimes(whole, modified, modified)
}

// receive moves a file of another directory here, over the one that has its new name.
func (d *directory) receive(from *directory, old, name string) error {
	return d.root.Rename(from.name+"/"+old, d.name+"/"+name)
}
