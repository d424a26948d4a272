// Package pagebench runs the judge of page changes over bodies of real pages with labels and says how often it agrees.
//
// A corpus is a folder with index.csv (site, page, t, file, size, blob, meaningful, skipped, fetcher, url: one row a body,
// each page's in time order) and pages.tar.zst, which holds the bodies in the same order.
package pagebench

import (
	"archive/tar"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"
)

// row is a line of the index.
type row struct {
	site, page, file, url string
	at                    time.Time
	label                 string // "1": the content changed since the row before, "0": it did not, "": not known
	skipped               int    // bodies left out between the row before and this one
}

// columns of the index that are read, by their names.
var columns = []string{"site", "page", "t", "file", "meaningful", "skipped", "url"}

func readIndex(name string) ([]row, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("read %s: it is empty", name)
	}
	at, err := places(records[0])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	rows := make([]row, 0, len(records)-1)
	for i, r := range records[1:] {
		seconds, err := strconv.ParseInt(r[at["t"]], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", name, i+2, err)
		}
		skipped, err := strconv.Atoi(r[at["skipped"]])
		if err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", name, i+2, err)
		}
		rows = append(rows, row{site: r[at["site"]], page: r[at["page"]], file: r[at["file"]], url: r[at["url"]],
			at: time.Unix(seconds, 0).UTC(), label: r[at["meaningful"]], skipped: skipped})
	}
	return rows, nil
}

func places(head []string) (map[string]int, error) {
	at := make(map[string]int)
	for i, name := range head {
		at[name] = i
	}
	for _, name := range columns {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("no column %q", name)
		}
	}
	return at, nil
}

// each calls f with each row and its body, in order. The body is valid until f returns.
func each(dir string, f func(row, []byte) error) error {
	rows, err := readIndex(filepath.Join(dir, "index.csv"))
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(dir, "pages.tar.zst"))
	if err != nil {
		return fmt.Errorf("open bodies: %w", err)
	}
	defer file.Close()
	plain, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(256<<20))
	if err != nil {
		return fmt.Errorf("open bodies: %w", err)
	}
	defer plain.Close()
	archive := tar.NewReader(plain)
	for _, r := range rows {
		body, err := next(archive, r.file)
		if err != nil {
			return err
		}
		if err := f(r, body); err != nil {
			return err
		}
	}
	return nil
}

// next reads the body of a name, which is the next regular file.
func next(archive *tar.Reader, name string) ([]byte, error) {
	for {
		head, err := archive.Next()
		if err != nil {
			return nil, fmt.Errorf("read bodies: no %s in its place: %w", name, err)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		if head.Name != name {
			return nil, fmt.Errorf("read bodies: %s where the index has %s", head.Name, name)
		}
		body, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("read bodies: %s: %w", name, err)
		}
		return body, nil
	}
}
