package e2e

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// checkSegments reads every WARC segment to its end, member by member: a torn tail or anything but whole gzip members
// is an error. The daemon has ended in order, so no segment is open either.
func (r *rehearsal) checkSegments() {
	r.t.Helper()
	segments, bytes := 0, int64(0)
	err := filepath.WalkDir(filepath.Join(r.data(), "archive"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".open") {
			r.t.Errorf("%s is still open", path)
		}
		if strings.Contains(path, ".warc.gz") {
			n, err := readThrough(path)
			if err != nil {
				r.t.Errorf("%s: %v", path, err)
			}
			segments, bytes = segments+1, bytes+n
		}
		return nil
	})
	if err != nil {
		r.t.Error(err)
	}
	if segments == 0 {
		r.t.Error("there is no WARC segment")
	}
	r.report("WARC segments read to the end: %d, %.1f MB unpacked, no torn tail", segments, float64(bytes)/1e6)
}

func readThrough(path string) (n int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(io.Discard, plain)
	return n, errors.Join(err, plain.Close())
}
