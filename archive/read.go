package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"recrawld/models"
)

// ErrDamaged says that no whole answer lies where a Record points: bytes are missing or wrong, or it is another kind
// of record. Reading it again will not help.
var ErrDamaged = errors.New("damaged record")

// Answer is what the archive holds of a version.
type Answer struct {
	URL    string
	At     time.Time // when the request was sent, to the millisecond
	Proto  string    // "HTTP/1.1"
	Status int
	Header []byte // CRLF lines without the status line and the empty line
	Body   []byte // decoded
	Digest models.Digest
}

// Reader reads records of all segments in a directory, those that still grow included. It is safe for concurrent use,
// and beside any number of writers in this process or another.
type Reader struct {
	root      *os.Root
	unpackers sync.Pool                  // of *gzip.Reader: a new one makes tables of 40 KiB
	elsewhere func(worker string) string // where the archive of a worker is; nil: all are this one
}

// OpenReader opens the archive in an existing directory for reading; it changes nothing there.
func OpenReader(dir string) (*Reader, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return &Reader{root: root}, nil
}

// Close releases the directory.
func (r *Reader) Close() error { return r.root.Close() }

// Read returns the answer of a record and has checked its digests. It returns ErrDamaged where no whole answer lies
// there, an error that is fs.ErrNotExist where the segment is missing, ErrElsewhere, too, where it is known to lie in another archive
// (Elsewhere), and other errors of the file system.
func (r *Reader) Read(at models.Record) (Answer, error) {
	answer, err := r.read(at)
	if err != nil {
		return Answer{}, fmt.Errorf("read %s at %d: %w", at.File, at.Offset, err)
	}
	return answer, nil
}

func (r *Reader) read(at models.Record) (Answer, error) {
	f, err := r.open(at.File)
	if err != nil {
		return Answer{}, r.missing(at.File, err)
	}
	defer f.Close()
	w, _, err := r.recordIn(f, at)
	if err != nil {
		return Answer{}, r.missing(at.File, err)
	}
	answer, err := w.answer()
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return answer, nil
}

// recordIn reads the record at a place of an open segment, and its member as it lies there.
func (r *Reader) recordIn(f *os.File, at models.Record) (w warcRecord, packed []byte, err error) {
	stat, err := f.Stat()
	if err != nil {
		return w, nil, err
	}
	if at.Lost() {
		return w, nil, fmt.Errorf("%w: it was found to be lost before", ErrDamaged)
	}
	if at.Offset < 0 || at.Length <= 0 || at.Offset > stat.Size()-at.Length {
		return w, nil, fmt.Errorf("%w: %w", ErrDamaged, short{at.Length, stat.Size()})
	}
	packed = make([]byte, at.Length)
	if _, err := f.ReadAt(packed, at.Offset); err != nil {
		return w, nil, err
	}
	plain, length, err := r.unpack(packed)
	if err != nil {
		return w, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if length != at.Length {
		return w, nil, fmt.Errorf("%w: member of %d bytes, want %d", ErrDamaged, length, at.Length)
	}
	if w, _, err = parseRecord(plain); err != nil {
		return w, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return w, packed, nil
}

// open finds a segment under its final name or the one it has while it grows. The final name is tried twice, because
// the segment may be closed between the first two looks.
func (r *Reader) open(name string) (*os.File, error) {
	if m := segmentName.FindStringSubmatch(name); m == nil || m[4] != "" {
		return nil, fmt.Errorf("%w: %q is no segment name", ErrDamaged, name)
	}
	var err error
	for _, try := range []string{name, name + openSuffix, name} {
		var f *os.File
		if f, err = r.root.Open(try); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}

// has tells whether a segment is there, as far as that can be told.
func (r *Reader) has(name string) bool {
	f, err := r.open(name)
	if err == nil {
		f.Close()
	}
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged)
}

// unpack is readMember for a member in memory.
func (r *Reader) unpack(packed []byte) ([]byte, int64, error) {
	counted := &counter{src: bytes.NewReader(packed)}
	zr, ok := r.unpackers.Get().(*gzip.Reader)
	if !ok {
		zr = new(gzip.Reader)
	}
	defer r.unpackers.Put(zr)
	if err := zr.Reset(counted); err != nil {
		return nil, 0, err
	}
	zr.Multistream(false)
	plain := bytes.NewBuffer(make([]byte, 0, plainLength(packed)+bytes.MinRead))
	_, err := plain.ReadFrom(zr)
	return plain.Bytes(), counted.n, err
}

// readMember unpacks the gzip member that begins src and tells its compressed length.
func readMember(src interface {
	io.Reader
	io.ByteReader
}) ([]byte, int64, error) {
	counted := &counter{src: src}
	zr, err := gzip.NewReader(counted)
	if err != nil {
		return nil, 0, err
	}
	zr.Multistream(false)
	plain, err := io.ReadAll(zr)
	return plain, counted.n, err
}

// warcRecord is one parsed record; its slices lie in the text it was parsed from.
type warcRecord struct {
	fields []field
	block  []byte
}

// parseRecord takes the record that begins text apart and returns what follows it.
func parseRecord(text []byte) (warcRecord, []byte, error) {
	w, rest, err := parseFields(text)
	if err != nil {
		return w, nil, err
	}
	length, err := strconv.ParseInt(w.field("Content-Length"), 10, 64)
	if err != nil || length < 0 || length > int64(len(rest)) {
		return w, nil, fmt.Errorf("content length %q with %d bytes left", w.field("Content-Length"), len(rest))
	}
	w.block, rest = rest[:length], rest[length:]
	if !bytes.HasPrefix(rest, []byte(recordEnd)) {
		return w, nil, errors.New("no end of record")
	}
	return w, rest[len(recordEnd):], nil
}

// parseFields takes the header of the record that begins text apart and returns what follows it. Lines may end in a bare line
// feed, as some old writers have it.
func parseFields(text []byte) (warcRecord, []byte, error) {
	var w warcRecord
	line, rest, ok := bytes.Cut(text, []byte("\n"))
	version := string(bytes.TrimSuffix(line, []byte("\r")))
	if !ok || (version != "WARC/1.1" && version != "WARC/1.0") {
		return w, nil, errors.New("no WARC version line")
	}
	for {
		if line, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			return w, nil, errors.New("header does not end")
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			return w, rest, nil
		}
		if last := len(w.fields) - 1; last >= 0 && (line[0] == ' ' || line[0] == '\t') {
			w.fields[last].value += " " + string(bytes.TrimSpace(line))
			continue
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return w, nil, errors.New("header line without a colon")
		}
		w.fields = append(w.fields, field{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
}

// field is the first value of a header field, "" for none.
func (w warcRecord) field(name string) string {
	for _, f := range w.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// answer reads an HTTP response record.
func (w warcRecord) answer() (Answer, error) {
	if w.field("WARC-Type") != "response" {
		return Answer{}, fmt.Errorf("record of type %q", w.field("WARC-Type"))
	}
	if err := checkDigest(w.field("WARC-Block-Digest"), w.block); err != nil {
		return Answer{}, fmt.Errorf("block: %w", err)
	}
	head, body, ok := bytes.Cut(w.block, []byte("\r\n\r\n"))
	if !ok {
		return Answer{}, errors.New("response header does not end")
	}
	digest := models.DigestOf(body)
	if want := w.field("WARC-Payload-Digest"); want != digestField(digest) {
		if err := checkDigest(want, body); err != nil {
			return Answer{}, fmt.Errorf("payload: %w", err)
		}
	}
	url := w.field("WARC-Target-URI")
	if strings.HasPrefix(url, "<") { // as WARC/1.0 was often read
		url = strings.Trim(url, "<>")
	}
	a := Answer{URL: url, Body: body, Digest: digest}
	var err error
	if a.At, err = time.Parse(time.RFC3339, w.field("WARC-Date")); err != nil {
		return Answer{}, err
	}
	line, header, _ := bytes.Cut(head, []byte("\r\n"))
	words := strings.SplitN(string(line), " ", 3)
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/") {
		return Answer{}, fmt.Errorf("status line %q", line)
	}
	a.Proto = words[0]
	if a.Status, err = strconv.Atoi(words[1]); err != nil {
		return Answer{}, fmt.Errorf("status line %q", line)
	}
	if len(header) > 0 {
		a.Header = append(header[:len(header):len(header)], "\r\n"...)
	}
	return a, nil
}
