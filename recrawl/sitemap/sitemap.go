// Package sitemap reads the lists of pages that sites publish: sitemaps and sitemap indexes (sitemaps.org 0.9, with or
// without their namespace), plain lists of URLs, and the links of RSS and Atom feeds, plain or gzip'd. It compares two
// versions of a list, and says which pages the newer one tells to have changed.
//
// A list is read as a stream, in memory bounded by Limits. Entities are never expanded beyond the predefined ones and
// those of HTML, and nothing outside the stream is read. What was whole before a fault is kept.
package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"recrawld/recrawl/canon"
)

// The limits of the sitemap protocol: entries and decoded bytes of one file, bytes of one URL.
const (
	MaxURLs     = 50_000
	MaxBytes    = 50 << 20
	MaxURLBytes = 2048
)

// ErrFormat says that the stream is no list of any kind known here, such as an HTML page or nothing at all.
var ErrFormat = errors.New("not a sitemap")

// Limits bound what is read. The zero Limits read nothing.
type Limits struct {
	URLs  int   // entries, sitemaps of an index included
	Bytes int64 // decoded bytes
}

// Kind is what a list is.
type Kind int

// The kinds of list.
const (
	None    Kind = iota // no list, or nothing was read of it
	Sitemap             // a urlset
	Index               // of sitemaps
	Feed                // RSS or Atom
	Plain               // a URL a line
)

// Entry is one page of a list.
type Entry struct {
	Loc     string    // canonical URL; other hosts than the list's own are for the caller to refuse
	LastMod time.Time // UTC, the beginning of the span where only a day, month or year is told; zero: not told, or not readable
	End     time.Time // by then LastMod is over in every zone that may be meant; LastMod itself where second and zone are told
	Mark    uint64    // of a feed's entry: a hash of its ID and title, with which it changes; 0: it has neither, or is of no feed
	Bare    bool      // Loc is without the parameters of campaigns (canon.URL.Untracked) that the list has
}

// Set is what a list holds.
type Set struct {
	Kind     Kind
	URLs     []Entry // in order; duplicates are kept
	Sitemaps []Entry // the sitemaps that an index lists
	Partial  bool    // there was more: a limit was met, or a fault
}

// Read reads one list. Entries that are no http or https URL, or longer than MaxURLBytes, are left out. The error wraps
// ErrFormat, or is that of the reader, of gzip or of XML; with it comes what was read before. Meeting a limit is no
// error.
func Read(r io.Reader, limits Limits) (Set, error) {
	plain, err := inflate(bufio.NewReader(r))
	if err != nil {
		return Set{Partial: true}, fmt.Errorf("read sitemap: %w", err)
	}
	capped := &capReader{r: plain, left: limits.Bytes}
	c := collector{limits: limits}
	err = c.read(capped)
	if capped.met || c.full {
		c.set.Partial, err = true, nil
	}
	if err != nil {
		c.set.Partial = true
		return c.set, fmt.Errorf("read sitemap: %w", err)
	}
	return c.set, nil
}

// Raw is one entry of a list as it stands there.
type Raw struct {
	Loc     string // not checked; one that is longer than MaxURLBytes may be cut off, but not to that
	Sitemap bool   // of an index
	Line    int    // on which it ends
}

// MaxToken is how many bytes of XML Walk takes for one tag, text or comment.
const MaxToken = 1 << 20

// Walk gives the entries of a list one by one, also of one that is larger than the protocol has it, and goes on until yield returns false. It
// holds one entry in memory. The error wraps ErrFormat, or is that of the reader, of gzip or of XML; line is how many lines were read.
func Walk(r io.Reader, yield func(Raw) bool) (line int, err error) {
	plain, err := inflate(bufio.NewReader(r))
	if err != nil {
		return 0, fmt.Errorf("read sitemap: %w", err)
	}
	c := collector{walk: yield}
	if err = c.read(plain); err != nil && !c.full {
		return c.line, fmt.Errorf("read sitemap: %w", err)
	}
	return c.line, nil
}

// inflate undoes gzip, which many sitemaps come in without saying so.
func inflate(r *bufio.Reader) (io.Reader, error) {
	if magic, _ := r.Peek(2); !bytes.Equal(magic, []byte{0x1F, 0x8B}) {
		return r, nil
	}
	return gzip.NewReader(r)
}

// capReader ends a stream after so many bytes, and remembers that there was more.
type capReader struct {
	r    io.Reader
	left int64
	met  bool
}

// Read implements io.Reader.
func (c *capReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		var one [1]byte
		if n, err := io.ReadFull(c.r, one[:]); n == 0 {
			return 0, err
		}
		c.met = true
		return 0, io.EOF
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// collector gathers entries up to the limit.
type collector struct {
	limits Limits
	set    Set
	full   bool

	walk func(Raw) bool // takes the entries, where they are not gathered
	line int            // how many were read, as far as walk needs it
}

// read tells XML from a plain list by the first byte that is not white space.
func (c *collector) read(r io.Reader) error {
	source := bufio.NewReader(r)
	mark, _ := source.Peek(2)
	utf16 := bytes.Equal(mark, []byte{0xFE, 0xFF}) || bytes.Equal(mark, []byte{0xFF, 0xFE})
	text := bufio.NewReader(transform.NewReader(source, unicode.BOMOverride(encoding.Nop.NewDecoder())))
	for {
		first, err := text.ReadByte()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: no bytes", ErrFormat)
		}
		if err != nil {
			return err
		}
		if first == ' ' || first >= '\t' && first <= '\r' {
			continue
		}
		if err := text.UnreadByte(); err != nil {
			return err
		}
		if first == '<' {
			return c.readXML(text, utf16)
		}
		c.set.Kind = Plain
		return c.readLines(text)
	}
}

// readLines reads one URL a line.
func (c *collector) readLines(r *bufio.Reader) error {
	lines := 0
	for !c.full {
		line, more, err := r.ReadLine()
		for more && err == nil {
			line = nil // too long for a URL
			_, more, err = r.ReadLine()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		c.line++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines++
			c.page(&fields{loc: string(line)})
		}
	}
	if lines > 0 && len(c.set.URLs) == 0 && c.walk == nil {
		return fmt.Errorf("%w: %d lines, none of them a URL", ErrFormat, lines)
	}
	return nil
}

func (c *collector) page(f *fields) {
	if c.walk != nil {
		c.full = !c.walk(Raw{Loc: f.loc, Line: c.line})
		return
	}
	if e, ok := c.entry(f); ok {
		c.set.URLs = append(c.set.URLs, e)
	}
}

func (c *collector) sitemap(f *fields) {
	if c.walk != nil {
		c.full = !c.walk(Raw{Loc: f.loc, Sitemap: true, Line: c.line})
		return
	}
	if e, ok := c.entry(f); ok {
		c.set.Sitemaps = append(c.set.Sitemaps, e)
	}
}

func (c *collector) entry(f *fields) (e Entry, ok bool) {
	e.Loc, e.Bare, ok = c.canonical(f.loc)
	e.LastMod, e.End = parseTime(f.lastMod)
	if c.set.Kind == Feed && f.id+f.title != "" {
		e.Mark = markOf(f.id, f.title)
	}
	return e, ok
}

// markOf is a hash of two texts, never 0.
func markOf(id, title string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id + "\x00" + title))
	return max(h.Sum64(), 1)
}

// canonical is the URL to keep, and whether that is another as the list has parameters of campaigns. !ok: it is none, or there is no room for it.
func (c *collector) canonical(loc string) (url string, bare, ok bool) {
	if len(loc) > MaxURLBytes {
		return "", false, false
	}
	u, err := canon.Parse(loc)
	if err != nil || len(u.String()) > MaxURLBytes {
		return "", false, false
	}
	if len(c.set.URLs)+len(c.set.Sitemaps) >= c.limits.URLs {
		c.full = true
		return "", false, false
	}
	untracked := u.Untracked()
	return untracked.String(), untracked != u, true
}
