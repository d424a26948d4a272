package folder

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"recrawld/internal/leftover"
)

// draft is a folder that is being written, beside the one that it shall be. Nobody else can write there.
type draft struct {
	path   string
	held   *os.File // as long as it is a draft
	former *former  // the folder that it replaces; nil: none
	files  int64
	bytes  int64
	reused int64 // files that the former folder has, too
}

// former is a folder that is replaced.
type former struct {
	dir    *os.File
	buffer bytes.Buffer
}

// newDraft begins a draft, after it has removed those that were left behind.
func newDraft(path string) (*draft, error) {
	if err := sweep(path); err != nil {
		return nil, err
	}
	made, err := os.MkdirTemp(filepath.Dir(path), leftover.Pattern(path))
	if err != nil {
		return nil, err
	}
	held, err := claim(made)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(made))
	}
	d := &draft{path: made, held: held}
	if dir, err := os.Open(path); err == nil {
		d.former = &former{dir: dir}
	}
	return d, nil
}

// close lets go of it, and of the former folder.
func (d *draft) close() {
	_ = d.held.Close() // nothing was written to it
	if d.former != nil {
		_ = d.former.dir.Close() // it was only read
	}
}

// write writes a file that is not there yet, with the time that it shall have.
func (d *draft) write(name string, text []byte, at time.Time) error {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	err := d.put(name, path, text, at)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		err = d.put(name, path, text, at)
	}
	if err == nil {
		d.files++
		d.bytes += int64(len(text))
	}
	return err
}

func (d *draft) put(name, path string, text []byte, at time.Time) error {
	if d.former.reuse(name, path, text, at) {
		d.reused++
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}

// remove takes the draft away, with all that is in it.
func (d *draft) remove() error { return os.RemoveAll(d.path) }

// finish makes it none any more: it is whole.
func (d *draft) finish() error {
	return os.Remove(filepath.Join(d.path, filepath.FromSlash(draftName)))
}
