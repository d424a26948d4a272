package sink

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

const (
	manifestFile = own + "/manifest.ndjson"
	logFile      = own + "/manifest.log"
	summaryFile  = own + "/SUMMARY.json"
	compactMin   = 2_000   // lines in the log that make a compaction worth it ...
	compactMax   = 200_000 // ... and that are held in memory at most
)

// manifest is the table of a mirror: a file of all rows, and a log of what changed since.
type manifest struct {
	tree    *tree
	log     *os.File
	changes map[string]Row // what the log says, by URL
	order   []string       // its URLs as they came
	rows    int64          // in the file, as far as known
	left    state          // of the files when this process last wrote them
	sum     *Summary       // of the file; nil: not known to this process
}

// state tells whether somebody else wrote a file since.
type state struct {
	log      int64     // bytes
	compact  time.Time // when the manifest was written
	manifest int64     // bytes
}

// stat is the present state of the files.
func (m *manifest) stat() (state, error) {
	var s state
	log, err := m.log.Stat()
	if err != nil {
		return s, err
	}
	s.log = log.Size()
	switch file, err := m.tree.root.Lstat(manifestFile); {
	case err == nil:
		s.compact, s.manifest = file.ModTime(), file.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return s, err
	}
	return s, nil
}

// refresh reads the log again where another process has written it: the mirror was drained there for a while.
func (m *manifest) refresh() error {
	now, err := m.stat()
	if err != nil || now == m.left {
		return err
	}
	again, err := openManifest(m.tree)
	if err != nil {
		return err
	}
	old := m.log
	*m = *again
	return old.Close()
}

// leave remembers the state in which this process leaves the files.
func (m *manifest) leave() (err error) {
	m.left, err = m.stat()
	return err
}

// openManifest reads the log, without a last line that a crash cut.
func openManifest(t *tree) (*manifest, error) {
	m := &manifest{tree: t, changes: make(map[string]Row)}
	for _, name := range []string{manifestFile, logFile, summaryFile} {
		if stat, err := t.root.Lstat(name); err == nil && !stat.Mode().IsRegular() {
			if err := t.root.RemoveAll(name); err != nil {
				return nil, err
			}
		}
	}
	if raw, err := t.root.ReadFile(summaryFile); err == nil {
		var s Summary
		if json.Unmarshal(raw, &s) == nil {
			m.rows = s.URLs
		}
	}
	var err error
	if m.log, err = t.root.OpenFile(logFile, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	whole := int64(0)
	err = eachLine(m.log, func(line []byte) error {
		var r Row
		if json.Unmarshal(line, &r) == nil && r.URL != "" { // else never acknowledged: a crash left it
			m.note(r)
		}
		whole += int64(len(line)) + 1
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, m.log.Close())
	}
	if err := m.log.Truncate(whole); err != nil {
		return nil, errors.Join(err, m.log.Close())
	}
	if err := m.leave(); err != nil {
		return nil, errors.Join(err, m.log.Close())
	}
	return m, nil
}

// eachLine calls f for each line that ends, without its end. Its memory is f's until f returns.
func eachLine(src io.Reader, f func(line []byte) error) error {
	for lines := bufio.NewReaderSize(src, 1<<20); ; {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			line = bytes.Clone(line)
			rest, err = lines.ReadBytes('\n')
			line = append(line, rest...)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
}

func (m *manifest) note(r Row) {
	old, known := m.changes[r.URL]
	if !known {
		m.order = append(m.order, r.URL)
		m.changes[r.URL] = r
		return
	}
	m.changes[r.URL] = r.over(old)
}

// append writes rows to the log; the caller syncs.
func (m *manifest) append(rows []Row) error {
	if err := m.tree.before("log", logFile); err != nil {
		return err
	}
	const each = 512 // bytes, for most
	text := bytes.NewBuffer(make([]byte, 0, each*len(rows)))
	encoder := json.NewEncoder(text)
	for _, r := range rows {
		if err := encoder.Encode(r); err != nil {
			return fmt.Errorf("manifest row of %s: %w", r.URL, err)
		}
	}
	end, err := m.log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := m.log.Write(text.Bytes()); err != nil {
		return errors.Join(err, m.log.Truncate(end)) // half a line would hide what comes after it
	}
	for _, r := range rows {
		m.note(r)
	}
	return m.leave()
}

// due tells whether the log has grown enough to be worth a new manifest.
func (m *manifest) due() bool {
	return int64(len(m.changes)) >= min(max(m.rows/2, compactMin), compactMax)
}

// cheap tells whether the pass over the manifest costs little for each line of the log.
func (m *manifest) cheap() bool { return m.rows <= max(64*int64(len(m.changes)), compactMin) }

// compact writes manifest and summary anew, one pass over the old manifest, and empties the log. A crash in between
// leaves a log that says once more what the new manifest says already.
func (m *manifest) compact() error {
	if err := m.tree.before("compact", manifestFile); err != nil {
		return err
	}
	const fresh = temps + "/manifest"
	f, err := m.tree.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	sum, err := m.merge(out)
	m.sum = nil // until the files say so
	if err := errors.Join(err, out.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	text, err := json.MarshalIndent(sum, "", "  ")
	if err != nil {
		return err
	}
	const freshSummary = temps + "/summary"
	if err := m.tree.root.WriteFile(freshSummary, append(text, '\n'), 0o644); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return m.tree.rename(fresh, manifestFile) },
		func() error { return m.tree.rename(freshSummary, summaryFile) },
		m.tree.sync,
		func() error { return m.tree.before("empty", logFile) },
		func() error { return m.log.Truncate(0) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	m.changes, m.order, m.rows, m.sum = make(map[string]Row), nil, sum.URLs, &sum
	return m.leave()
}

// merge writes the rows of the old manifest with the changes put over them, and those that are new behind them. Where the
// summary of the old rows is known, those that stay need not be read.
func (m *manifest) merge(out *bufio.Writer) (Summary, error) {
	sum := Summary{States: make(map[string]int64)}
	if m.sum != nil {
		sum = m.sum.clone()
	}
	encoder := json.NewEncoder(out)
	write := func(r Row) error {
		sum.add(r)
		return encoder.Encode(r)
	}
	merged := make(map[string]bool, len(m.changes))
	err := m.lines(func(line []byte) error {
		if m.sum != nil && m.stays(line) {
			_, err := out.Write(append(line, '\n'))
			return err
		}
		r, err := rowOf(line)
		if err != nil {
			return err
		}
		if m.sum != nil {
			sum.remove(r)
		}
		if change, ok := m.changes[r.URL]; ok {
			merged[r.URL] = true
			r = change.over(r)
		}
		return write(r)
	})
	if err != nil {
		return sum, err
	}
	for _, url := range m.order {
		if merged[url] {
			continue
		}
		if err := write(m.changes[url]); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// stays tells, for most rows that do not change, that a line of the manifest is one.
func (m *manifest) stays(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(`{"url":"`))
	url, _, ended := bytes.Cut(rest, []byte(`"`))
	if !ok || !ended || bytes.IndexByte(url, '\\') >= 0 {
		return false
	}
	_, changes := m.changes[string(url)]
	return !changes
}

// old calls f for each row of the manifest file.
func (m *manifest) old(f func(Row) error) error {
	return m.lines(func(line []byte) error {
		r, err := rowOf(line)
		if err != nil {
			return err
		}
		return f(r)
	})
}

func rowOf(line []byte) (r Row, err error) {
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("manifest: %w", err)
	}
	return r, nil
}

// lines calls f for each line of the manifest file; its memory is f's until f returns.
func (m *manifest) lines(f func(line []byte) error) error {
	file, err := m.tree.root.Open(manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return eachLine(file, f)
}

func (m *manifest) close() error { return m.log.Close() }
