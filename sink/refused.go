package sink

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"recrawld/models"
)

// Refused is the error of a sink that has taken all events but those of some pages, which it could not take for a reason of
// each page's own. What it took is durable; the others are to come again, and until then nothing newer of these pages.
type Refused struct {
	Pages []Refusal

	passes bool  // those that are too many may be passed over, see Passed
	passed int   // so many were
	why    error // one of them
}

// Refusal is a page that a sink could not take.
type Refusal struct {
	URL    string
	Events []models.Event // of the page, in order
	Why    error
	Away   bool // its copy is not to be had here: no receiver could mend that
}

// Error implements error.
func (r *Refused) Error() string {
	if len(r.Pages) == 0 {
		return "no page refused"
	}
	return fmt.Sprintf("%d pages refused, first %s: %v", len(r.Pages), r.Pages[0].URL, r.Pages[0].Why)
}

// tooMany is the error where so many pages are refused that it cannot be the pages, or are not to be had.
func tooMany(n int, r *Refused) error {
	if slices.ContainsFunc(r.Pages, func(p Refusal) bool { return p.Away }) {
		return fmt.Errorf("%w, of %d pages, more than %d: %v", errCopies, n, maxWithheld, r)
	}
	return fmt.Errorf("everything waits, as there are %d pages refused, more than %d: %v", n, maxWithheld, r) // %v: it is no Refused
}

// join adds the pages of an error that is a Refused, and returns any other error, of which tooMany is one.
func (r *Refused) join(err error) error {
	if more, ok := errors.AsType[*Refused](err); ok {
		r.Pages, err = append(r.Pages, more.Pages...), nil
		r.pass()
	}
	if len(r.Pages) > maxWithheld {
		return tooMany(len(r.Pages), r)
	}
	return err
}

// refusalOf is the Refused of those of some events that are refused, nil where none is: for each of says under what name, all events of which
// are one refusal, and why, which is nil for one that is not.
func refusalOf(events []models.Event, says func(e models.Event) (name string, why error)) error {
	r := &Refused{}
	at := make(map[string]int)
	for _, e := range events {
		name, why := says(e)
		if why == nil {
			continue
		}
		i, known := at[name]
		if !known {
			i = len(r.Pages)
			at[name] = i
			_, away := errors.AsType[missingCopy](why)
			r.Pages = append(r.Pages, Refusal{URL: e.URL, Why: why, Away: away})
		}
		r.Pages[i].Events = append(r.Pages[i].Events, e)
	}
	if len(r.Pages) == 0 {
		return nil
	}
	return r
}

// errOwn marks a fault of the mirror's own directory, which all files pass through.
var errOwn = errors.New("the mirror's own directory")

// ofOneName tells whether a fault is of one file name alone: who may write there, what stands there, what the file system takes
// for a name or a file. All others (no room, a disk that fails, a file system that is read-only or gone) are of the whole mirror, the
// unknown ones too: to wait with everything loses nothing. That there is no room is a directory's own fault where the file system has
// some: ext4 takes no more than some million names into one.
func (t *tree) ofOneName(err error) bool {
	if errors.Is(err, errOwn) {
		return false
	}
	if errors.Is(err, unix.ENOSPC) {
		return t.room()
	}
	for _, number := range []unix.Errno{
		unix.EACCES, unix.EPERM, unix.EBUSY, unix.EXDEV, unix.ELOOP, unix.EMLINK, // the directory: forbidden, a mount point, full
		unix.ENAMETOOLONG, unix.EINVAL, unix.EILSEQ, // the name
		unix.EFBIG,                                             // the file, or the directory
		unix.EISDIR, unix.ENOTDIR, unix.EEXIST, unix.ENOTEMPTY, // what stands there
	} {
		if errors.Is(err, number) {
			return true
		}
	}
	return false
}

// refuse takes back what a batch says of the files that could not be written or taken away: the manifest tells that they wait, and
// of what stands there.
func (b *batch) refuse(t *tree) {
	kept := b.rows[:0]
	waits := make(map[string]int) // where in kept
	for _, r := range b.rows {
		if b.refused[r.Path] == nil {
			kept = append(kept, r)
			continue
		}
		i, known := waits[r.Path]
		if !known {
			i = len(kept)
			waits[r.Path] = i
			kept = append(kept, t.waits(r))
		}
		if r.SHA256 != "" && b.changes[r.Path].draft == nil { // written, and then not taken away
			r.State = stateWithheld
			kept[i] = r
		}
	}
	b.rows = kept
	for file := range b.refused {
		if d := b.changes[file].draft; d != nil {
			t.drop(d)
		}
	}
}

// waits is the row of a page whose file stays as it is.
func (t *tree) waits(r Row) Row {
	w := Row{URL: r.URL, Path: r.Path, State: stateWithheld, EventAt: r.EventAt}
	if held, err := t.looks(r.Path); err == nil && !held {
		w.Length = new(int64) // and no sum: what the rows of before say of a file is not so any more
	}
	return w
}

// refusal is what a batch could not deliver of these events, nil where it delivered all.
func (m *Mirror) refusal(b *batch, events []models.Event) error {
	if len(b.refused) == 0 {
		return nil
	}
	return refusalOf(events, func(e models.Event) (string, error) {
		if e.Kind == models.EventTemplate {
			return "", nil
		}
		file := m.tree.fileOf(e.URL)
		return file, b.refused[file]
	})
}
