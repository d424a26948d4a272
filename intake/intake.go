// Package intake reads the URLs that people have of what shall be kept fresh: lists and tables, sitemaps, feeds, bookmarks, and the indexes,
// archives and mirrors of other crawlers. Open and Read tell by its first bytes what an input is; Options.Format forces it.
//
// An input is read as a stream: memory is bounded by its longest entry, for which each format has a limit, and time is linear in its bytes. URLs
// are given as they stand there: whether one is a page that can be visited is for the caller to say.
package intake

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
)

// ErrFormat says that an input is not of a format that is read here, or not of the one that was named. The command line is wrong, not a disk.
var ErrFormat = errors.New("not read as a list of URLs")

// Options say how an input is read. The zero Options tell all by the input.
type Options struct {
	Format Format
	Base   string // the address of a page of HTML, against which its links are resolved; "": that of its base element
	Scheme string // of the pages of a tree of files, which does not tell it; "": https

	decoded bool // the stream is UTF-8 by now, whatever it says of itself
}

// Item is one entry of an input.
type Item struct {
	URL   string
	FR    int  // interval to start with, in cycles; 0: not told
	Skip  bool // it names no page: a capture of an error, an address of another scheme, a heading of the format's own
	Place Place
}

// Place is where in an input an entry stands.
type Place struct {
	File   string // within the input, for one of several files; "": it is one
	Unit   string // what is counted: "line", "record"; "": File is the entry
	Number int    // from 1
}

// String is the place as errors name it.
func (p Place) String() string {
	at := p.Unit + " " + strconv.Itoa(p.Number)
	switch {
	case p.Unit == "":
		return p.File
	case p.File != "":
		return p.File + ", " + at
	}
	return at
}

// Bad says what is wrong with an entry; those after it are good to read.
type Bad struct {
	Place Place
	Text  string // its beginning, quoted
	Err   error
}

// beginning is how much of a bad entry is shown.
const beginning = 80

// NewBad is a Bad with the beginning of text.
func NewBad(at Place, text string, err error) *Bad {
	if len(text) > beginning {
		text = text[:beginning] + "…"
	}
	return &Bad{at, strconv.QuoteToGraphic(text), err}
}

// Error implements error.
func (b *Bad) Error() string { return fmt.Sprintf("%s: %v: %s", b.Place, b.Err, b.Text) }

// Unwrap returns what is wrong.
func (b *Bad) Unwrap() error { return b.Err }

// Damaged says that an input cannot be read behind a place: it is cut off, or its bytes are wrong. What came before is good.
type Damaged struct {
	Place Place // of the entry that could not be read
	Err   error
}

// Error implements error.
func (d *Damaged) Error() string {
	return fmt.Sprintf("%s: %v; nothing behind it is read", d.Place, d.Err)
}

// Unwrap returns what is wrong.
func (d *Damaged) Unwrap() error { return d.Err }

// Source is an input that was opened. It is read once, and is not safe for concurrent use.
type Source struct {
	Format Format
	items  iter.Seq2[Item, error]
	close  func() error
}

// Items gives the entries in the order of the input. An error that is a *Bad tells of one entry; any other is the last thing: a *Damaged where the
// input ends in the middle or makes no sense from there on, else that of reading it.
func (s *Source) Items() iter.Seq2[Item, error] { return s.items }

// Close closes what Open opened.
func (s *Source) Close() error { return s.close() }

// Open opens a file, or a directory as a mirror. Errors name it; they wrap ErrFormat where it cannot be read so.
func Open(name string, o Options) (*Source, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err // it names the file
	}
	stat, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s, err := open(file, stat, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	inner := s.items
	s.items = func(yield func(Item, error) bool) {
		for item, err := range inner {
			if err != nil && !isBad(err) {
				err = fmt.Errorf("%s: %w", name, err)
			}
			if !yield(item, err) {
				return
			}
		}
	}
	return s, nil
}

func open(file *os.File, stat fs.FileInfo, o Options) (*Source, error) {
	switch {
	case stat.IsDir():
		return openTree(file, o)
	case !stat.Mode().IsRegular():
		return read(file, o, file.Close)
	}
	var magic [4]byte
	n, err := file.ReadAt(magic[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if o.Format == WACZ || o.Format == Auto && isZip(magic[:n]) {
		return openPackage(file, stat.Size(), file.Close)
	}
	return read(file, o, file.Close)
}

func openTree(dir *os.File, o Options) (*Source, error) {
	if o.Format != Auto && o.Format != Tree && o.Format != HTTrack {
		return nil, fmt.Errorf("%w: a directory is not of the format %s", ErrFormat, o.Format)
	}
	root, err := os.OpenRoot(dir.Name())
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(dir.Name())
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s, err := readTree(root.FS(), filepath.Base(full), o)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	inner := s.close
	s.close = func() error { return errors.Join(inner(), root.Close(), dir.Close()) }
	return s, nil
}

// Read reads a stream. It reads its beginning at once, and waits for that.
func Read(in io.Reader, o Options) (*Source, error) {
	return read(in, o, func() error { return nil })
}
