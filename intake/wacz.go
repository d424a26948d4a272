package intake

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
)

// packageParts are where a package tells its pages, the best first: the pages that were asked for, else what its index has, else its records.
var packageParts = []struct {
	dir    string
	ends   []string
	format Format
}{
	{"pages/", []string{".jsonl", ".jsonl.gz"}, JSONL},
	{"indexes/", []string{".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz"}, CDXJ},
	{"archive/", []string{".warc", ".warc.gz"}, WARC},
}

// openPackage opens a WACZ package: the first of its parts that names a page.
func openPackage(file io.ReaderAt, size int64, done func() error) (*Source, error) {
	packed, err := zip.NewReader(file, size)
	if err != nil {
		return nil, fmt.Errorf("%w: a zip archive that cannot be read: %w", ErrFormat, err)
	}
	var parts []packagePart
	for _, part := range packageParts {
		p := packagePart{format: part.format}
		for _, f := range packed.File {
			if path.Dir(f.Name)+"/" == part.dir && hasEnd(f.Name, part.ends) {
				p.files = append(p.files, f)
			}
		}
		if len(p.files) > 0 {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: a zip archive without pages/, indexes/ or archive/ is no WACZ package: unpack it first", ErrFormat)
	}
	return &Source{Format: WACZ, items: eachPart(parts), close: done}, nil
}

func hasEnd(name string, ends []string) bool {
	for _, end := range ends {
		if strings.HasSuffix(strings.ToLower(name), end) {
			return true
		}
	}
	return false
}

// packagePart is files of one kind.
type packagePart struct {
	format Format
	files  []*zip.File
}

// eachPart gives the entries of the first part that has a URL.
func eachPart(parts []packagePart) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, part := range parts {
			found := false
			for _, f := range part.files {
				for item, err := range eachOf(f, part.format) {
					found = found || err == nil && !item.Skip
					if !yield(item, err) || err != nil && !isBad(err) {
						return
					}
				}
			}
			if found {
				return
			}
		}
	}
}

// eachOf gives the entries of a file of a package, whose places are in it.
func eachOf(f *zip.File, format Format) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		text, err := f.Open()
		if err != nil {
			yield(Item{}, &Damaged{Place{File: f.Name}, err})
			return
		}
		defer text.Close() // it was only read
		s, err := Read(text, Options{Format: format})
		if err != nil {
			yield(Item{}, &Damaged{Place{File: f.Name}, err})
			return
		}
		for item, err := range s.items {
			item.Place.File = f.Name
			var bad *Bad
			var damaged *Damaged
			switch {
			case errors.As(err, &bad):
				bad.Place.File = f.Name
			case errors.As(err, &damaged):
				damaged.Place.File = f.Name
			case err != nil: // of zip, which checks what it unpacks
				err = &Damaged{Place{File: f.Name}, err}
			}
			if !yield(item, err) {
				return
			}
		}
	}
}
