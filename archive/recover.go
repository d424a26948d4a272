package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

// recover closes the open segments of this worker, each cut after its last whole record.
func (a *Archive) recover() error {
	names, err := fs.Glob(a.root.FS(), "recrawld-*.warc.gz"+openSuffix)
	if err != nil {
		return err
	}
	for _, name := range names {
		m := segmentName.FindStringSubmatch(name)
		if m == nil || m[1] != a.opts.Worker {
			continue
		}
		name = strings.TrimSuffix(name, openSuffix)
		if _, err := a.root.Lstat(name); err == nil {
			// A copy of the directory that was taken while the segment was closed: the closed one is the whole one.
			a.opts.Log.Warn("an open segment is there closed, too, and left alone", slog.String("segment", name))
			continue
		}
		if err := a.repair(name); err != nil {
			return fmt.Errorf("repair %s: %w", name, err)
		}
	}
	return nil
}

// repair cuts a segment's torn tail and closes the segment. One without a whole record is removed: nothing refers to it.
func (a *Archive) repair(name string) error {
	f, err := a.root.OpenFile(name+openSuffix, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	end, err := lastWhole(f, stat.Size())
	if err != nil {
		return err
	}
	if cut := stat.Size() - end; cut > 0 {
		a.opts.Log.Warn("cut the torn tail of a segment", slog.String("segment", name), slog.Int64("bytes", cut))
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	if end == 0 {
		return errors.Join(a.root.Remove(name+openSuffix), syncDir(a.root))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return settle(a.root, name)
}

// lastWhole is the offset after the last whole record of a segment. It hops from record to record by their skip
// lengths where the next one begins there, unpacks a record otherwise, and looks for the next one past a damaged place: for one
// that names the segment's own warcinfo record, whose ID no site knows. What a site sent may hold whole records, too.
func lastWhole(f io.ReaderAt, size int64) (int64, error) {
	_, info, err := wholeRecord(f, 0, size)
	if err != nil {
		return 0, err
	}
	var end, at int64
	damaged := false // before at
	head := make([]byte, memberHead)
	for at < size {
		n, err := f.ReadAt(head, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if skip := skipLength(head[:n]); !damaged && skip > 0 && beginsMember(f, at+skip) {
			at += skip
			end = at
			continue
		}
		length, w, err := wholeRecord(f, at, size)
		if err != nil {
			return 0, err
		}
		if length > 0 && (!damaged || w.ofSegment(info)) {
			at += length
			end, damaged = at, false
			continue
		}
		damaged = true
		if at, err = nextMember(f, at+1, size); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// ofSegment tells whether a record names the same warcinfo record as a segment's first one is. Where that is not known any more
// it is taken to.
func (w warcRecord) ofSegment(first warcRecord) bool {
	info := first.field("WARC-Record-ID")
	return first.field("WARC-Type") != "warcinfo" || info == "" || w.field("WARC-Warcinfo-ID") == info
}

const memberMagic = "\x1f\x8b\x08"

func beginsMember(f io.ReaderAt, at int64) bool {
	magic := make([]byte, len(memberMagic))
	_, err := f.ReadAt(magic, at)
	return err == nil && string(magic) == memberMagic
}

// wholeRecord is the record at an offset and its compressed length, 0 where there is no whole one.
func wholeRecord(f io.ReaderAt, at, size int64) (int64, warcRecord, error) {
	src := &watched{r: io.NewSectionReader(f, at, size-at)}
	plain, length, err := readMember(bufio.NewReaderSize(src, 64<<10))
	if src.err != nil {
		return 0, warcRecord{}, src.err
	}
	if err != nil {
		return 0, warcRecord{}, nil
	}
	w, rest, err := parseRecord(plain)
	if err != nil || len(rest) > 0 {
		return 0, warcRecord{}, nil
	}
	return length, w, nil
}

// watched remembers an error of the disk, which must not be taken for a torn record: what follows is truncation.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// nextMember is the offset of the next thing from an offset on that looks like a gzip member, size where there is none.
func nextMember(f io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at := from; at < size; at += int64(len(buf) - len(memberMagic) + 1) {
		n, err := f.ReadAt(buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.Index(buf[:n], []byte(memberMagic)); i >= 0 {
			return at + int64(i), nil
		}
	}
	return size, nil
}
