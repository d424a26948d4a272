package pagebench

import (
	"context"
	"hash/fnv"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/recrawl/extract"
)

// Options say what is run.
type Options struct {
	Threshold float64                      // significance from which on a difference is a change
	Now       func() time.Time             // for what it costs
	Judged    func(*Judged) error          // called with each row that has a row before; nil: nobody wants them
	Take      func(site, page string) bool // the pages that are run; nil: all
}

// Judged is one row as it was judged.
type Judged struct {
	Site, Page, File, URL string
	At                    time.Time
	Label                 string // "1", "0" or ""
	Skipped               int

	SameText bool // the text and its links say the same, so the judge was not asked
	Verdict  content.Verdict
	News     bool          // the page came into, or out of, a state without content in which a reader still sees the page
	Rungs    []bool        // whether the simpler rungs take it for a change
	Took     time.Duration // reading this body and judging it

	Before, After *content.View
}

// pageRun is what is carried on from one body of a page to the next.
type pageRun struct {
	id        int64
	previous  *content.View // of the row before
	reference *content.View // of the last good version
	heldAt    time.Time     // when it was received
	held      extract.Extraction
	memory    *content.PageMemory
	records   int32 // bodies seen, those left out of the corpus included
	own       bool  // the row before was without content, in the page's own frame
}

// runner goes over a corpus.
type runner struct {
	Options
	rungs []content.Rung
	pages map[string]*pageRun
	hosts map[string]*content.HostMemory
}

// Run judges the bodies of the corpus in dir as the daemon would: each page's in time order, with what was learned of it
// and of its service carried on. Bodies are judged one after the other.
func Run(ctx context.Context, dir string, o Options) error {
	_, rungs := content.Rungs()
	r := &runner{Options: o, rungs: rungs, pages: map[string]*pageRun{}, hosts: map[string]*content.HostMemory{}}
	return each(dir, func(row row, body []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.Take != nil && !o.Take(row.site, row.page) {
			return nil
		}
		return r.row(row, body)
	})
}

func (r *runner) row(row row, body []byte) error {
	at, _ := canon.Parse(row.url) // without an address links are compared as they are written
	key := row.site + "\x00" + row.page
	page := r.pages[key]
	if page == nil {
		page = &pageRun{id: idOf(key), memory: content.DecodePage(nil)}
		r.pages[key] = page
	}
	page.records += int32(row.skipped) + 1
	started := r.Now()
	view := content.Read(body, "text/html", at, nil)
	j := Judged{Site: row.site, Page: row.page, File: row.file, URL: row.url, At: row.at, Label: row.label,
		Skipped: row.skipped, Before: page.reference, After: view}
	first := page.reference == nil
	if !first {
		j.Verdict = content.Judge(content.Case{Before: page.reference, After: view, Page: page.memory, Host: r.host(row),
			Threshold: r.Threshold, Now: row.at, Held: page.heldAt, PageID: page.id, URL: at, Records: page.records})
	}
	j.Took = r.Now().Sub(started)
	found := extract.Page(body, "text/html", at, extract.Options{Bytes: content.MaxBytes, Links: 10_000})
	j.SameText = !first && j.Verdict.Kind != content.Same && found.TextDigest == page.held.TextDigest &&
		found.LinkPrint == page.held.LinkPrint && !models.Digest(found.TextDigest).IsZero()
	if !first {
		for _, rung := range r.rungs {
			j.Rungs = append(j.Rungs, rung(page.previous, view))
		}
	}
	own := j.Verdict.Kind == content.Transient && j.Verdict.Own
	j.News = own != page.own
	page.own, page.previous = own, view
	if j.Verdict.Kind != content.Transient && j.Verdict.Kind != content.SoftMissing {
		page.reference, page.held, page.heldAt = view, found, row.at
	}
	if first || r.Judged == nil {
		return nil
	}
	return r.Judged(&j)
}

// host is the memory of a row's service.
func (r *runner) host(row row) *content.HostMemory {
	service, _, _ := strings.Cut(row.page, "/")
	key := row.site + "\x00" + service
	if r.hosts[key] == nil {
		r.hosts[key] = content.DecodeHost(nil)
	}
	return r.hosts[key]
}

// idOf gives a page a number.
func idOf(key string) int64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return int64(h.Sum64() >> 1)
}
