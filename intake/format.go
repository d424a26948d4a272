package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"recrawld/recrawl/sitemap"
)

// Format is what an input is.
type Format string

// The formats. Any of a stream may come in gzip.
const (
	Auto      Format = ""          // told by the input
	Lines     Format = "lines"     // a URL a line, or CSV lines of URL and fr
	Sitemap   Format = "sitemap"   // its pages, or the sitemaps of an index
	Feed      Format = "feed"      // the entries of RSS or Atom
	OPML      Format = "opml"      // feeds and what they are of
	Bookmarks Format = "bookmarks" // as browsers export them
	HTML      Format = "html"      // the links of a page; only where it is named
	CDX       Format = "cdx"       // captures of an index
	CDXJ      Format = "cdxj"      // captures of an index
	JSONL     Format = "jsonl"     // a JSON object with "url" a line, as the pages of a WACZ package
	WARC      Format = "warc"      // responses
	WACZ      Format = "wacz"      // pages of a package; a file, not a stream
	Tree      Format = "tree"      // a directory of files named for their URLs, as wget makes it
	HTTrack   Format = "httrack"   // the list of files of HTTrack, hts-cache/new.txt
)

// Unit is what its entries are called, as in "line 3".
func (f Format) Unit() string {
	switch f {
	case Sitemap, Feed:
		return "entry"
	case OPML:
		return "outline"
	case Bookmarks:
		return "bookmark"
	case HTML:
		return "link"
	case WARC:
		return "record"
	case Tree:
		return "file"
	}
	return "line"
}

// streams are the readers of formats that are streams.
var streams = map[Format]func(in *bufio.Reader, o Options) iter.Seq2[Item, error]{
	Lines:     func(in *bufio.Reader, _ Options) iter.Seq2[Item, error] { return each(newLineReader(in).next) },
	Sitemap:   readSitemap,
	Feed:      readSitemap,
	OPML:      readOPML,
	Bookmarks: readBookmarks,
	HTML:      readPage,
	CDX: func(in *bufio.Reader, _ Options) iter.Seq2[Item, error] {
		return eachLine(in, longestLine, new(cdxReader).line)
	},
	CDXJ: func(in *bufio.Reader, _ Options) iter.Seq2[Item, error] {
		return eachLine(in, longestLine, new(cdxReader).jsonLine)
	},
	JSONL: func(in *bufio.Reader, _ Options) iter.Seq2[Item, error] { return eachLine(in, longestObject, jsonLine) },
	WARC:  readWARC,
	HTTrack: func(in *bufio.Reader, _ Options) iter.Seq2[Item, error] {
		return eachLine(in, longestLine, httrackLine)
	},
}

// sniffBytes is how much of an input tells what it is: comments may stand before the root of a document.
const sniffBytes = 16 << 10

// mostGzip is how often gzip within gzip is undone: some servers pack what is packed already.
const mostGzip = 2

// read begins to read a stream.
func read(in io.Reader, o Options, done func() error) (*Source, error) {
	source := &faulty{in: in}
	text, err := unpacked(source)
	if err != nil {
		return nil, err
	}
	head, err := text.Peek(sniffBytes)
	if err != nil && source.err != nil {
		return nil, fmt.Errorf("read list: %w", source.err)
	}
	format := o.Format
	if format == Auto {
		if format, err = recognise(head); err != nil {
			return nil, err
		}
	}
	reader, ok := streams[format]
	if !ok {
		return nil, fmt.Errorf("%w: %s comes as a file or a directory, not as a stream", ErrFormat, format)
	}
	if isUTF16(head) && format != Sitemap && format != Feed { // those know by it that what they say of their encoding does not hold
		text = bufio.NewReaderSize(transform.NewReader(text, unicode.BOMOverride(encoding.Nop.NewDecoder())), longestLine)
	}
	o.decoded = isUTF16(head)
	items := reader(text, o)
	return &Source{Format: format, close: done, items: func(yield func(Item, error) bool) {
		for item, err := range items {
			if damaged := new(Damaged); source.err != nil && errors.As(err, &damaged) {
				err = fmt.Errorf("read list: %w", source.err) // the disk, not what lies there
			}
			if !yield(item, err) {
				return
			}
		}
	}}, nil
}

// faulty remembers an error of its reader.
type faulty struct {
	in  io.Reader
	err error
}

// Read implements io.Reader.
func (f *faulty) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// unpacked undoes gzip.
func unpacked(in io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(in, longestLine)
	for range mostGzip {
		if magic, _ := text.Peek(2); !bytes.Equal(magic, []byte{0x1F, 0x8B}) {
			break
		}
		plain, err := gzip.NewReader(text)
		if err != nil {
			return nil, fmt.Errorf("%w: it begins like gzip, and is none: %w", ErrFormat, err)
		}
		text = bufio.NewReaderSize(plain, longestLine)
	}
	return text, nil
}

func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xFE, 0xFF}) || bytes.HasPrefix(head, []byte{0xFF, 0xFE})
}

func isZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// recognise tells what an input is by its first bytes. Whatever is no other format is a list of lines, whose reader says what is wrong with it.
func recognise(head []byte) (Format, error) {
	switch kind := sitemap.KindOf(head); kind {
	case sitemap.Sitemap, sitemap.Index:
		return Sitemap, nil
	case sitemap.Feed:
		return Feed, nil
	}
	if isUTF16(head) {
		plain, _, _ := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), head[:len(head)&^1])
		head = plain
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	text := bytes.TrimSpace(head)
	switch {
	case isZip(head):
		return Auto, fmt.Errorf("%w: a zip archive is read as a file, not as a stream: give its name", ErrFormat)
	case bytes.HasPrefix(head, []byte("WARC/")):
		return WARC, nil
	case isCDXHeading(string(line)):
		return CDX, nil
	case bytes.HasPrefix(text, []byte("<")):
		return markup(text)
	case bytes.HasPrefix(text, []byte("{")):
		return JSONL, nil
	case isHTTrackHeading(string(line)):
		return HTTrack, nil
	}
	return capture(string(line)), nil
}

// markup tells what a text is that begins like XML or HTML and is no sitemap or feed.
func markup(text []byte) (Format, error) {
	switch root := rootOf(text); {
	case hasPrefixFold(text, "<!doctype netscape-bookmark-file"):
		return Bookmarks, nil
	case root == "opml":
		return OPML, nil
	case root == "html", hasPrefixFold(text, "<!doctype html"):
		return Auto, fmt.Errorf("%w: it is a page of HTML; --format html takes its links", ErrFormat)
	}
	return Lines, nil
}

func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && bytes.EqualFold(text[:len(prefix)], []byte(prefix))
}
