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

// ErrElsewhere says that a record lies in an archive that is not this one, and is not here, or not yet all of it. It is an fs.ErrNotExist, too.
var ErrElsewhere error = elsewhere{}

type elsewhere struct{}

func (elsewhere) Error() string        { return "it lies in another archive" }
func (elsewhere) Is(target error) bool { return target == fs.ErrNotExist }

// short says of a segment that it ends before a record does, as does one that was copied while it grew.
type short struct{ record, size int64 } // bytes: of the record, and where the segment ends

func (s short) Error() string { return fmt.Sprintf("%d bytes past the end of %d", s.record, s.size) }

// ID tells the archive from all others, and stays with its directory wherever that is moved or mounted; "" where no Archive was
// opened there yet by a release that gives one.
func (r *Reader) ID() (string, error) {
	id, err := r.root.ReadFile(idFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read which archive it is: %w", err)
	}
	return strings.TrimSpace(string(id)), nil
}

// Elsewhere has the reader ask of each segment that is missing, or too short, where the archive is that its worker writes to: "" where that is this one,
// or is not known. It is called before the reader is used, and where is safe for concurrent use.
func (r *Reader) Elsewhere(where func(worker string) string) { r.elsewhere = where }

// missing says of the error of a segment that is not here, or ends too soon, where it lies, if that is known.
func (r *Reader) missing(segment string, err error) error {
	if _, tooShort := errors.AsType[short](err); r.elsewhere == nil || !tooShort && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if where := r.elsewhere(WorkerOf(segment)); where != "" {
		return fmt.Errorf("%w, %s (%v)", ErrElsewhere, where, err) // %v: it is not damaged
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
