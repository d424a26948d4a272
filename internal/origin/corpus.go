package origin

import (
	"archive/tar"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Corpus is a World made of real page bodies. Its bodies lie in a file of its own until Close.
type Corpus struct {
	*World
	spool *os.File
}

// LoadCorpus reads a folder of bodies with their times (index.csv and pages.tar.zst): each service becomes a host, each
// of its documents a page, and every host gets a start page "/" that lists those that exist by then. At most hosts
// hosts are taken; 0: all. The bodies are unpacked into a file in the folder temp.
func LoadCorpus(dir, temp string, hosts int) (*Corpus, error) {
	spool, err := os.CreateTemp(temp, "bodies-*")
	if err != nil {
		return nil, fmt.Errorf("make spool: %w", err)
	}
	c := &Corpus{World: &World{}, spool: spool}
	if err := c.load(dir, hosts); err != nil {
		c.Close()
		return nil, fmt.Errorf("load corpus %s: %w", dir, err)
	}
	return c, nil
}

// Close removes the bodies.
func (c *Corpus) Close() error {
	return errors.Join(c.spool.Close(), os.Remove(c.spool.Name()))
}

func (c *Corpus) load(dir string, hosts int) error {
	rows, err := readIndex(filepath.Join(dir, "index.csv"))
	if err != nil {
		return err
	}
	bodies, err := c.unpack(filepath.Join(dir, "pages.tar.zst"))
	if err != nil {
		return err
	}
	byLabel := map[string]*Host{}
	for _, row := range rows {
		service, title, _ := strings.Cut(row.page, "/")
		label := slug(service)
		host := byLabel[label]
		if host == nil {
			if hosts > 0 && len(c.Hosts) == hosts {
				continue
			}
			host = NewHost(label)
			byLabel[label] = host
			c.Hosts = append(c.Hosts, host)
		}
		body, ok := bodies[row.file]
		if !ok {
			return fmt.Errorf("no body %s", row.file)
		}
		page := host.Page(documentPath(title))
		if page == nil {
			page = &Page{Path: documentPath(title), Title: title, Section: label, Traits: traitsOf(c.count())}
			host.Add(page)
		}
		page.append(Version{At: row.at, Body: body, Label: row.label, Skipped: row.skipped})
	}
	c.furnish()
	return nil
}

// append adds a version in time order; of two at the same second the later one stays.
func (p *Page) append(v Version) {
	if n := len(p.Versions); n > 0 && !v.At.After(p.Versions[n-1].At) {
		v.At = p.Versions[n-1].At.Add(time.Second)
	}
	p.Versions = append(p.Versions, v)
}

func (c *Corpus) count() (n int) {
	for _, h := range c.Hosts {
		n += len(h.Pages())
	}
	return n
}

// furnish gives each host its start page and its robots.txt. On every fifth host robots.txt excludes a document from
// some time before its last version on.
func (c *Corpus) furnish() {
	first, last := c.Span()
	for i, h := range c.Hosts {
		documents := h.Pages()
		h.Add(indexPage(h, first.Add(-24*time.Hour)))
		h.Forbidden = append(h.Forbidden, Ban{Prefix: "/private/"})
		if i%5 == 2 {
			h.Forbidden = append(h.Forbidden, Ban{Prefix: documents[0].Path, From: last.Add(-100 * 24 * time.Hour)})
		}
		if i%3 == 1 {
			h.CrawlDelay = 50 * time.Minute
		}
		h.AddRobots(first.Add(-24 * time.Hour))
	}
}

// traitsOf gives the n-th page its manners, so that all of them occur together with each other.
func traitsOf(n int) Traits {
	t := Traits{Validator: Validator(n % 5), Gzip: n%3 == 0}
	if n%7 == 3 {
		t.Latency = 4 * time.Millisecond
	}
	if n%6 == 1 {
		t.MaxAge = 12 * time.Hour
		t.Expires = n%12 == 1
	}
	return t
}

// documentPath gives documents the shapes of path that a mirror must map: a name, a directory, a file, a query.
func documentPath(title string) string {
	name := slug(title)
	switch len(name) % 4 {
	case 0:
		return "/" + name
	case 1:
		return "/" + name + "/"
	case 2:
		return "/legal/" + name + ".html"
	}
	return "/legal/show?doc=" + name
}

// slug is a name as it stands in a URL: ASCII letters and digits in lower case, runs of others as one "-".
func slug(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

type indexRow struct {
	page, file string
	at         time.Time
	label      Label
	skipped    int
}

func readIndex(name string) ([]indexRow, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var rows []indexRow
	for i, r := range records[1:] {
		seconds, err := strconv.ParseInt(r[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read %s, row %d: %w", name, i+2, err)
		}
		skipped, err := strconv.Atoi(r[7])
		if err != nil {
			return nil, fmt.Errorf("read %s, row %d: %w", name, i+2, err)
		}
		rows = append(rows, indexRow{page: r[1], file: r[3], at: time.Unix(seconds, 0).UTC(), label: Label(r[6]), skipped: skipped})
	}
	return rows, nil
}

// unpack writes all bodies into the spool, one after the other, and returns how to read each, by name.
func (c *Corpus) unpack(name string) (map[string]func() ([]byte, error), error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	bodies := map[string]func() ([]byte, error){}
	offset := int64(0)
	for archive := tar.NewReader(plain); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return bodies, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", name, err)
		}
		size, err := io.Copy(c.spool, archive)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", head.Name, err)
		}
		bodies[head.Name] = c.reader(offset, size)
		offset += size
	}
}

func (c *Corpus) reader(offset, size int64) func() ([]byte, error) {
	return func() ([]byte, error) {
		body := make([]byte, size)
		_, err := c.spool.ReadAt(body, offset)
		return body, err
	}
}
