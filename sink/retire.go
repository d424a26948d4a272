package sink

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
)

// retiredFile holds the rows of before a rebuild until that has ended, and then those of the files that it could not take away: they
// alone tell which files the mirror has made.
const retiredFile = own + "/manifest.before"

// retire forgets all rows but in retiredFile, where those of a rebuild that did not end may be already.
func (m *manifest) retire() error {
	root := m.tree.root
	if _, err := root.Lstat(retiredFile); errors.Is(err, fs.ErrNotExist) {
		if err := m.tree.rename(manifestFile, retiredFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	to, err := root.OpenFile(retiredFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	for _, name := range []string{manifestFile, logFile} {
		if err = errors.Join(err, m.appendTo(to, name)); err != nil {
			break
		}
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err := m.tree.sync(); err != nil {
		return err
	}
	if err := root.Remove(manifestFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := m.log.Truncate(0); err != nil {
		return err
	}
	m.changes, m.order, m.rows, m.sum = make(map[string]Row), nil, 0, nil
	return m.leave()
}

// appendTo copies a file, if there is one, behind what may end in half a line.
func (m *manifest) appendTo(to io.Writer, name string) error {
	from, err := m.tree.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	if _, err := io.WriteString(to, "\n"); err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}

// retired calls f for each row that names a file of before the rebuild.
func (m *manifest) retired(f func(Row) error) error {
	file, err := m.tree.root.Open(retiredFile)
	if err != nil {
		return err
	}
	defer file.Close()
	return eachLine(file, func(line []byte) error {
		var r Row
		if json.Unmarshal(line, &r) != nil || r.Path == "" { // a rebuild is also what mends a manifest that is damaged
			return nil
		}
		return f(r)
	})
}

// forget removes the rows of before the rebuild, but for those of files that are still to be taken away.
func (m *manifest) forget(left []Row) error {
	if len(left) == 0 {
		return m.tree.root.Remove(retiredFile)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for _, r := range left {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	const fresh = temps + "/before"
	if err := m.tree.root.WriteFile(fresh, text.Bytes(), 0o644); err != nil {
		return err
	}
	if err := m.tree.sync(); err != nil {
		return err
	}
	return m.tree.rename(fresh, retiredFile)
}
