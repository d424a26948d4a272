package export

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"recrawld/internal/sorter"
)

// dataFile is the WARC file of a package.
const dataFile = "data.warc.gz"

// pack is a package that is being written.
type pack struct {
	zip       *zip.Writer
	at        time.Time
	resources []*resource
	main      string // the page to begin with; "": none
}

// resource is a file of a package, as datapackage.json lists it.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`

	out io.Writer
	sum hash.Hash
}

// Write implements io.Writer.
func (r *resource) Write(p []byte) (int, error) {
	n, err := r.out.Write(p)
	r.sum.Write(p[:n])
	r.Bytes += int64(n)
	return n, err
}

// file begins the next file of the package; the one before is done. Files are stored as they are, so that a reader gets any part of them
// with one request: what is large in them is compressed already.
func (p *pack) file(name string) (*resource, error) {
	out, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: p.at})
	if err != nil {
		return nil, err
	}
	r := &resource{Name: strings.ToLower(path.Base(name)), Path: name, out: out, sum: sha256.New()}
	p.resources = append(p.resources, r)
	return r, nil
}

// writePackage writes a WACZ package.
func (e *Exporter) writePackage(ctx context.Context, captures *sorter.Sorter, out io.Writer) (Summary, error) {
	p := &pack{zip: zip.NewWriter(out), at: e.o.Now}
	lines, pages := sorter.New(e.o.Temp), sorter.New(e.o.Temp)
	defer lines.Close()
	defer pages.Close()
	data, err := p.file("archive/" + dataFile)
	if err != nil {
		return Summary{}, err
	}
	sum, err := e.writeRecords(ctx, captures, data, dataFile, func(f found, l Line) error {
		if err := lines.Add(l.appendPackaged(nil)); err != nil {
			return err
		}
		return e.addPage(pages, f)
	})
	if err == nil {
		err = p.index(ctx, lines)
	}
	if err == nil {
		sum.Pages, err = p.pages(ctx, pages, e.o.MainURL)
	}
	if err == nil {
		err = p.manifest(e.o)
	}
	if err == nil {
		err = p.zip.Close()
	}
	return sum, err
}

// blockLines is how many lines of the index are compressed together, as cdxj-indexer has it.
const blockLines = 300

// indexFile is the compressed index of a package: blocks of lines, found by the first key of each (format "cdxj-gzip-1.0").
const indexFile = "index.cdx.gz"

// index writes the compressed index and the list of its blocks.
func (p *pack) index(ctx context.Context, lines *sorter.Sorter) error {
	out, err := p.file("indexes/" + indexFile)
	if err != nil {
		return err
	}
	blocks := []byte(`!meta 0 {"format": "cdxj-gzip-1.0", "filename": "` + indexFile + "\"}\n")
	var block, packed bytes.Buffer
	n := 0
	end := func() error {
		first, _, _ := bytes.Cut(block.Bytes(), []byte(" {"))
		packed.Reset()
		zw := gzip.NewWriter(&packed)
		zw.Write(block.Bytes()) // into memory
		zw.Close()
		sum := sha256.Sum256(packed.Bytes())
		blocks = fmt.Appendf(blocks, "%s {\"offset\": %d, \"length\": %d, \"digest\": \"sha256:%x\"}\n", first, out.Bytes, packed.Len(), sum)
		block.Reset()
		n = 0
		_, err := out.Write(packed.Bytes())
		return err
	}
	for line, err := range lines.All() {
		if err == nil {
			block.Write(line)
			if n++; n == blockLines {
				err = end()
			}
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if n > 0 {
		if err := end(); err != nil {
			return err
		}
	}
	if out, err = p.file("indexes/index.idx"); err == nil {
		_, err = out.Write(blocks)
	}
	return err
}

// page is a line of the list of pages.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	At    string `json:"ts"`
	Title string `json:"title,omitempty"`
}

// pageTypes are the media types of what is listed as a page.
var pageTypes = []string{"text/html", "application/xhtml+xml"}

// addPage keeps the line of a capture that is a page: by URL, the newest first.
func (e *Exporter) addPage(pages *sorter.Sorter, f found) error {
	kind := f.head.Header("Content-Type")
	if !slices.Contains(pageTypes, strings.ToLower(mediaType(kind))) || f.head.Status() != 200 {
		return nil
	}
	id := sha256.Sum256([]byte(f.url + " " + exactly(f.date)))
	text, err := json.Marshal(page{ID: hex.EncodeToString(id[:10]), URL: f.url, At: f.date.UTC().Format(time.RFC3339Nano),
		Title: e.o.Title(f.url, kind, f.body.Body())})
	if err != nil {
		return err
	}
	return pages.Add(append(append(appendNumber(appendText(nil, f.url), -f.date.UnixMilli()), text...), '\n'))
}

// pages writes the lists: of each URL the newest page in one, which readers show, and those before in another. It counts the first. Where
// main is among them, it is what the package begins with.
func (p *pack) pages(ctx context.Context, pages *sorter.Sorter, main string) (n int64, err error) {
	lists := []struct {
		file, head string
		newest     bool
	}{
		{"pages/pages.jsonl", `{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}`, true},
		{"pages/extraPages.jsonl", `{"format": "json-pages-1.0", "id": "extra-pages", "title": "Earlier versions"}`, false},
	}
	for _, list := range lists {
		out, err := p.file(list.file)
		if err != nil {
			return n, err
		}
		if _, err := io.WriteString(out, list.head+"\n"); err != nil {
			return n, err
		}
		last := ""
		for entry, err := range pages.All() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return n, err
			}
			r := entryReader{rest: entry}
			url := r.text()
			_ = r.number()
			newest := url != last
			if last = url; newest != list.newest {
				continue
			}
			if newest {
				n++
			}
			if url == main {
				p.main = main
			}
			if _, err := out.Write(r.rest); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// manifest writes datapackage.json, which lists what is in the package, and its digest.
func (p *pack) manifest(o Options) error {
	text, err := json.MarshalIndent(struct {
		Profile     string      `json:"profile"`
		WACZVersion string      `json:"wacz_version"`
		Title       string      `json:"title"`
		Created     string      `json:"created"`
		Software    string      `json:"software"`
		MainPageURL string      `json:"mainPageUrl,omitempty"`
		Resources   []*resource `json:"resources"`
	}{"data-package", "1.1.1", o.About, p.at.UTC().Format(time.RFC3339), o.Software, p.main, p.listed()}, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	digest := fmt.Sprintf("{\n  \"path\": \"datapackage.json\",\n  \"hash\": \"sha256:%x\"\n}\n", sum)
	for _, f := range []struct{ name, text string }{{"datapackage.json", string(text)}, {"datapackage-digest.json", digest}} {
		out, err := p.file(f.name)
		if err == nil {
			_, err = io.WriteString(out, f.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listed is the resources so far, with their digests.
func (p *pack) listed() []*resource {
	for _, r := range p.resources {
		r.Hash = "sha256:" + hex.EncodeToString(r.sum.Sum(nil))
	}
	return p.resources
}
