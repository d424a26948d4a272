package sink

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// exclusive is a sink that several processes can reach and only one may use at a time. A lease is not enough for that: whoever
// stalls in the midst of a delivery goes on with it when his lease has long been another's.
type exclusive interface {
	// Begin takes the sink for this process until end is called. It returns ErrBusy where another process has it.
	Begin() (end func(), err error)
}

// placed is a sink that keeps what it was given in a place, which may be lost or be another one than yesterday.
type placed interface {
	// Place tells the place from all others, once Begin has succeeded; "" where that is not known.
	Place() string
}

// begin takes the sink for this process, whose turn it still is.
func (d *Drain) begin(ctx context.Context) (end func(), err error) {
	s, ok := d.sink.(exclusive)
	if !ok {
		return func() {}, nil
	}
	if end, err = s.Begin(); err != nil {
		return nil, fmt.Errorf("sink %s: %w", d.sink.Name(), err)
	}
	// What is read from here on was delivered by nobody else: who takes the lease meanwhile waits at Begin.
	if err = d.hold(ctx); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// placeKey is the key of the row with the place that the cursors of a sink are of.
func placeKey(sink string) string { return "sink-place:" + sink }

// moved tells whether the place of a sink is yet to be held against the one that the cursors are of.
func (d *Drain) moved() bool {
	s, ok := d.sink.(placed)
	return ok && s.Place() != "" && s.Place() != d.place
}

// settle makes the sink anew where the cursors are not those of its place.
func (d *Drain) settle(ctx context.Context) error {
	s, ok := d.sink.(placed)
	if !ok || s.Place() == d.place {
		return nil
	}
	was, err := d.log.Meta(ctx, placeKey(d.sink.Name()))
	if err != nil {
		return err
	}
	if was != "" && was != s.Place() && d.rebuilds() {
		d.opts.Log.Warn("the sink lies in another place than before", slog.String("sink", d.sink.Name()))
		return d.rebuild(ctx)
	}
	return d.settled(ctx)
}

// settled notes that the cursors are those of the sink's place.
func (d *Drain) settled(ctx context.Context) error {
	s, ok := d.sink.(placed)
	if !ok || s.Place() == "" {
		return nil
	}
	was, err := d.log.Meta(ctx, placeKey(d.sink.Name()))
	if err == nil && was != s.Place() {
		_, err = d.log.SetMeta(ctx, placeKey(d.sink.Name()), was, s.Place())
	}
	if err == nil {
		d.place = s.Place()
	}
	return err
}

const (
	turnFile  = own + "/lock"
	placeFile = own + "/id"
)

// openTurn opens the file that is locked by whoever uses the tree, and reads what the tree is called, or gives it a name.
func (t *tree) openTurn() (err error) {
	for _, name := range []string{turnFile, placeFile} {
		if stat, err := t.root.Lstat(name); err == nil && !stat.Mode().IsRegular() {
			if err := t.root.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	t.turn, err = t.root.OpenFile(turnFile, os.O_RDWR|os.O_CREATE, 0o644)
	return err
}

// begin locks the tree; the kernel unlocks it when the process dies. A file system that knows no locks goes without.
func (t *tree) begin() (end func(), err error) {
	unlock := func() { _ = unix.Flock(int(t.turn.Fd()), unix.LOCK_UN) }
	err = retryFlock(int(t.turn.Fd()))
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, ErrBusy
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL):
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", turnFile, err)
	}
	return unlock, nil
}

func retryFlock(fd int) error {
	for {
		if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// name reads what the tree is called, or gives it a name that no other has. The name of one that begins where A and a are one file
// ends in folded: it keeps its kind of file names wherever it is moved to.
func (t *tree) name() (string, error) {
	raw, err := t.root.ReadFile(placeFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if name := strings.TrimSpace(string(raw)); name != "" {
		return name, nil
	}
	name := rand.Text()
	if t.folds {
		name += folded
	}
	return name, t.root.WriteFile(placeFile, []byte(name+"\n"), 0o644)
}

// folded ends the name of a tree whose files are called by FoldedName.
const folded = " folded"

// fileOf is what the file of a URL is called in the tree.
func (t *tree) fileOf(url string) string { return name(url, strings.HasSuffix(t.place, folded)) }

// looksFolding tries whether the file system takes A and a for the same.
func (t *tree) looksFolding() (bool, error) {
	const probe = temps + "/case"
	if err := t.root.WriteFile(probe, nil, 0o644); err != nil {
		return false, err
	}
	_, err := t.root.Lstat(temps + "/CASE")
	return err == nil, t.root.Remove(probe)
}

// Begin implements exclusive.
func (m *Mirror) Begin() (end func(), err error) { return m.tree.begin() }

// Place implements placed.
func (m *Mirror) Place() string { return m.tree.place }
