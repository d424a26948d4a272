package archive

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// idFile has what tells an archive from all others.
const idFile = "archive.id"

// ErrElsewhere says that a record lies in an archive that is not this one. Who sees it has an fs.ErrNotExist, too.
var ErrElsewhere = errors.New("it lies in another archive")

// ID tells the archive from all others, and stays with its directory wherever that is moved or mounted; "" where no Archive was
// opened there yet by a release that gives one.
func (r *Reader) ID() (string, error) {
	id, err := r.root.ReadFile(idFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read which archive it is: %w", err)
	}
	return strings.TrimSpace(string(id)), nil
}

// Elsewhere has the reader ask of each segment that is missing where the archive is that its worker writes to: "" where that is this one,
// or is not known. It is called before the reader is used, and where is safe for concurrent use.
func (r *Reader) Elsewhere(where func(worker string) string) { r.elsewhere = where }

// missing says of the error of a segment that is not here where it lies, if that is known.
func (r *Reader) missing(segment string, err error) error {
	if r.elsewhere == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if where := r.elsewhere(WorkerOf(segment)); where != "" {
		return fmt.Errorf("%w, %s: %w", ErrElsewhere, where, err)
	}
	return err
}

// identify gives the archive an ID where it has none. Of several that do so at once one wins.
func (a *Archive) identify() error {
	if id, err := a.ID(); id != "" || err != nil {
		return err
	}
	name := idFile + "." + rand.Text()
	if err := a.root.WriteFile(name, []byte(rand.Text()+"\n"), 0o640); err != nil {
		return err
	}
	err := a.root.Link(name, idFile)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = a.root.Remove(name)
	} else { // not every file system has links
		err = a.root.Rename(name, idFile)
	}
	return errors.Join(err, syncDir(a.root))
}
