package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// draft is the content of a file before it has its name: a file without any name where the file system makes such, which a
// crash leaves nothing of, and else a temporary file.
type draft struct {
	file *nameless // nil: it was made with a temporary name
	temp string    // its temporary name; "": it has none
}

// maxHeld is how many files without a name are open at a time at most. What goes beyond gets a temporary name.
const maxHeld = MirrorBatch

// write makes the draft of a file with the given content and modification time. It may be called from several goroutines at
// once, while nothing else is done with the tree.
func (t *tree) write(name string, content []byte, modified time.Time) (*draft, error) {
	made, err := t.writeNameless(name, content, modified)
	if err != nil || made != nil {
		return made, err
	}
	for {
		dir, number, err := t.temporary()
		if err != nil {
			return nil, err
		}
		if err := dir.create(number, content, modified); !errors.Is(err, fs.ErrExist) { // else another process has used the number
			return &draft{temp: temps + "/" + number}, err
		}
	}
}

// writeNameless makes a draft without a name, in the directory where its file will be: that is where the file system looks
// for room. It makes none where that is not to be had.
func (t *tree) writeNameless(name string, content []byte, modified time.Time) (*draft, error) {
	t.mu.Lock()
	if t.held >= t.mostHeld {
		t.mu.Unlock()
		return nil, nil
	}
	err := t.before("write", name)
	var file *nameless
	if err == nil {
		file = t.openNameless(path.Dir(name))
	}
	t.mu.Unlock()
	if err != nil || file == nil {
		return nil, err
	}
	d := &draft{file: file}
	if err := file.fill(content, modified); err != nil {
		t.drop(d)
		return nil, &fs.PathError{Op: "write", Path: name, Err: err}
	}
	return d, nil
}

// openNameless opens a file without a name in a directory, nil where it cannot: what is in its way then is in the way of a
// named one as well, or no more files may be open. The caller holds mu.
func (t *tree) openNameless(directory string) *nameless {
	dir, err := t.open(directory)
	if err != nil {
		return nil
	}
	file, err := dir.nameless()
	if err != nil {
		return nil
	}
	t.held++
	return file
}

// makesNameless tries whether files without a name can be made, and given one.
func (t *tree) makesNameless() bool {
	file := t.openNameless(temps)
	if file == nil {
		return false
	}
	d := &draft{file: file}
	defer t.drop(d)
	const probe = temps + "/probe"
	return errors.Join(t.receive(d, probe), t.root.Remove(probe)) == nil
}

// temporary chooses a name for a temporary file.
func (t *tree) temporary() (dir *directory, name string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name = t.next()
	if err := t.before("write", temps+"/"+name); err != nil {
		return nil, "", err
	}
	dir, err = t.open(temps)
	return dir, name, err
}

// next is a name that this process has not used yet.
func (t *tree) next() string {
	t.number++
	return strconv.Itoa(t.number)
}

// receive gives a draft its name where nothing is in the way but a file.
func (t *tree) receive(d *draft, name string) error {
	to, err := t.open(path.Dir(name))
	if err != nil {
		return err
	}
	if d.temp == "" {
		if err := to.adopt(d.file, path.Base(name)); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	from, err := t.open(temps)
	if err != nil {
		return fmt.Errorf("%w: %w", errOwn, err)
	}
	if err := t.label(d, from); errors.Is(err, unix.EXDEV) { // it was made on another file system, where its name is
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", errOwn, err)
	}
	if to, err = t.open(path.Dir(name)); err != nil { // it may have been closed meanwhile
		return err
	}
	return to.receive(from, path.Base(d.temp), path.Base(name))
}

// label gives a draft a temporary name, if it has none: only what has a name can take the place of a file.
func (t *tree) label(d *draft, dir *directory) error {
	for d.temp == "" {
		number := t.next()
		err := dir.adopt(d.file, number)
		if err == nil {
			d.temp = temps + "/" + number
		} else if !errors.Is(err, fs.ErrExist) { // else another process has used the number
			return err
		}
	}
	return nil
}

// settled ends a draft that has its name.
func (t *tree) settled(d *draft) {
	if d.file == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.file.close() {
		t.held--
	}
}

// drop ends a draft that is not to have its name, unless it has it.
func (t *tree) drop(d *draft) {
	if d.temp != "" {
		t.root.Remove(d.temp) // what is in place is not there any more, and the next start sweeps what stays
	}
	t.settled(d)
}
