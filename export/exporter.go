package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"recrawld/archive"
	"recrawld/internal/sorter"
	"recrawld/models"
)

// Format is what an export is written as.
type Format string

// The formats.
const (
	CDXJ Format = "cdxj" // a sorted index of the segments as they lie
	WARC Format = "warc" // one compressed WARC file
	WACZ Format = "wacz" // a package (specs.webrecorder.net/wacz/1.1.1)
)

// Options sets up an Exporter.
type Options struct {
	Format   Format
	Archive  *archive.Reader
	Temp     string    // where versions are sorted; "": where the system has temporary files
	Name     string    // of the file, as a WARC file says itself; "": export.warc.gz
	Software string    // what wrote the file
	About    string    // what was selected, for a person
	MainURL  string    // of a package: the page to begin with, if it is in there; "": none
	Now      time.Time // when the file is made

	Title func(url, contentType string, body []byte) string // of an HTML page; "" for none
	Step  func(what string, n int64)                        // told how far it is: of what, how many; called often
	Lost  func(Loss)                                        // told of what had to be left out
}

// Version is a version that is to be exported.
type Version struct {
	URL    string
	At     models.Instant // as the database has it: soon after the request was sent
	Digest models.Digest
	Record models.Record // of its body
}

// Loss is a body that cannot be read, and with it some versions; or, without any, a segment that could not be looked through: what has
// a record of its own there is exported with another answer's header.
type Loss struct {
	Segment  string
	URL      string // of the first of them
	At       models.Instant
	Versions int
	Err      error // names the segment and the offset
}

// Summary is what an export came to.
type Summary struct {
	Versions int64 // exported
	Pages    int64 // listed in a package
	Lost     int64 // left out because they cannot be read
	Bytes    int64 // written
}

// Exporter takes versions and then writes them. It is not safe for concurrent use.
type Exporter struct {
	o        Options
	versions *sorter.Sorter
	added    int64
	wanted   wanted
	marks    marks
	captures *sorter.Sorter         // once they were located
	told     map[models.Record]bool // bodies whose loss was told of
}

// New begins an export. The caller closes it.
func New(o Options) *Exporter {
	return &Exporter{o: o, versions: sorter.New(o.Temp), wanted: newWanted(), marks: make(marks), told: make(map[models.Record]bool)}
}

// Close gives memory and temporary files back.
func (e *Exporter) Close() {
	e.versions.Close()
	if e.captures != nil {
		e.captures.Close()
	}
}

// Added counts the versions that were added.
func (e *Exporter) Added() int64 { return e.added }

// Add takes a version. None may be added twice.
func (e *Exporter) Add(v Version) error {
	e.added++
	e.wanted.put(v.Digest)
	e.marks.mark(v.At.Time())
	return e.versions.Add(appendRecord(appendNumber(keyOf(v.URL, v.Digest.String()), int64(v.At)), v.Record))
}

// Write writes what was added, once, in one of the formats. It reads the archive, and returns an error where that cannot be done at all or out takes no more;
// of single records that cannot be read Options.Lost is told.
func (e *Exporter) Write(ctx context.Context, out io.Writer) (Summary, error) {
	counted := &countingWriter{out: out}
	captures, err := e.located(ctx)
	if err != nil {
		return Summary{}, err
	}
	var sum Summary
	switch e.o.Format {
	case CDXJ:
		sum, err = e.writeIndex(ctx, captures, counted)
	case WARC:
		sum, err = e.writeFile(ctx, captures, counted)
	case WACZ:
		sum, err = e.writePackage(ctx, captures, counted)
	default:
		err = fmt.Errorf("no format %q", e.o.Format)
	}
	sum.Bytes = counted.n
	return sum, err
}

// located are the captures of what was added. After it nothing may be added.
func (e *Exporter) located(ctx context.Context) (*sorter.Sorter, error) {
	var err error
	if e.captures == nil {
		e.captures, err = e.locate(ctx)
	}
	return e.captures, err
}

// longestVisit is how long before a version, at most, the request was sent that found it.
const longestVisit = time.Hour

// locate finds the revisit records of the versions and sorts all by the place of the body.
func (e *Exporter) locate(ctx context.Context) (captures *sorter.Sorter, err error) {
	revisits := sorter.New(e.o.Temp)
	defer revisits.Close()
	if err := e.lookThrough(ctx, revisits); err != nil {
		return nil, err
	}
	captures = sorter.New(e.o.Temp)
	if err := e.match(ctx, revisits, captures); err != nil {
		captures.Close()
		return nil, err
	}
	e.versions.Close()
	return captures, nil
}

// lookThrough collects the revisit records that may be those of versions. It lists the segments now, after the versions: what a daemon
// began meanwhile may have their records.
func (e *Exporter) lookThrough(ctx context.Context, revisits *sorter.Sorter) error {
	segments, err := e.o.Archive.Segments()
	if err != nil {
		return err
	}
	looked := int64(0)
	for _, segment := range e.marks.marked(segments) {
		var failed error
		err := e.o.Archive.Revisits(segment, func(r archive.Revisit) bool {
			if e.wanted.has(r.Digest) {
				failed = revisits.Add(appendRecord(appendNumber(keyOf(r.URL, r.Digest), r.At.UnixMilli()), r.Record))
			}
			if failed == nil {
				failed = ctx.Err()
			}
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			e.o.Lost(Loss{Segment: segment, Err: err})
		}
		looked++
		e.o.Step("segments looked through", looked)
	}
	return nil
}

// match gives each version the last revisit record of its URL and digest at most a visit's length before it, where there is one.
func (e *Exporter) match(ctx context.Context, revisits, captures *sorter.Sorter) error {
	next, stop := iter.Pull2(revisits.All())
	defer stop()
	var key []byte // of the last revisit record before the version
	var sent int64
	var place models.Record
	head, err, more := next()
	n := int64(0)
	for entry, failed := range e.versions.All() {
		if failed != nil {
			return failed
		}
		r := entryReader{rest: entry}
		c := capture{url: r.text(), digest: r.text(), at: r.number()}
		mine := entry[:len(entry)-len(r.rest)-8]
		upTo := entry[:len(mine)+8]
		c.body = r.record()
		for ; more && err == nil && bytes.Compare(head[:keyed(head)+8], upTo) <= 0; head, err, more = next() {
			key = append(key[:0], head[:keyed(head)]...)
			found := entryReader{rest: head[len(key):]}
			sent, place = found.number(), found.record()
			r.err = errors.Join(r.err, found.err)
		}
		if err := errors.Join(err, r.err); err != nil {
			return err
		}
		if bytes.Equal(key, mine) && c.at-sent <= longestVisit.Milliseconds() {
			c.sent, c.own = sent, place
			key = key[:0] // it is of this version alone
		}
		if err := captures.Add(c.append(nil)); err != nil {
			return err
		}
		if n++; n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// keyed is the length of the key that begins an entry: two texts.
func keyed(entry []byte) int {
	first := bytes.IndexByte(entry, 0) + 1
	return first + bytes.IndexByte(entry[first:], 0) + 1
}

// capture is a version with the places of its records.
type capture struct {
	body   models.Record // the response that has its body
	own    models.Record // its own revisit record; zero: it has none, or it was not found
	at     int64         // models.Instant of the version
	sent   int64         // of the revisit record
	url    string
	digest string
}

// append writes the capture as an entry: by its body's place, those without a revisit record first, then by time.
func (c *capture) append(b []byte) []byte {
	b = appendNumber(appendText(b, c.body.File), c.body.Offset)
	revisit := int64(0)
	if c.own.File != "" {
		revisit = 1
	}
	b = appendNumber(appendNumber(b, revisit), c.at)
	b = appendNumber(appendText(b, c.url), c.body.Length)
	b = appendNumber(appendRecord(b, c.own), c.sent)
	return appendText(b, c.digest)
}

func readCapture(entry []byte) (c capture, err error) {
	r := entryReader{rest: entry}
	c.body.File, c.body.Offset = r.text(), r.number()
	_ = r.number()
	c.at, c.url, c.body.Length = r.number(), r.text(), r.number()
	c.own, c.sent, c.digest = r.record(), r.number(), r.text()
	return c, r.err
}

// countingWriter counts what goes through it.
type countingWriter struct {
	out io.Writer
	n   int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.n += int64(n)
	return n, err
}
