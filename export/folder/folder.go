package folder

import (
	"context"
	"errors"
	"os"
	"time"

	"recrawld/export"
	"recrawld/internal/sorter"
	"recrawld/recrawl/canon"
)

// Options sets up a Writer.
type Options struct {
	Versions *export.Exporter // of the versions, the last of each page
	Path     string           // of the folder
	Force    bool             // a former export there is replaced
	Temp     string           // where names are sorted; "": where the system has temporary files
	Software string           // what wrote the folder
	About    string           // what was selected, for a person
	Starts   []Start          // the pages that sites begin with
	Now      time.Time        // when the folder is made

	Step func(what string, n int64) // told how far it is: of what, how many; called often
}

// Start is the page that a site begins with.
type Start struct{ Site, URL string }

// Page is a page that is to be in the folder.
type Page struct {
	export.Version
	Number    int32  // of the version
	MediaType string // that it was sent with, without parameters and in lower case; "": none
}

// Summary is what came of a folder.
type Summary struct {
	export.Summary       // Bytes are those of the files
	Redirects      int64 // pages that lead elsewhere, to one in the folder
	Reused         int64 // files of pages that are those of the former folder
	Away           int64 // references to what is not in the folder
	Needs          int64 // of those the ones to what a page needs to be shown
}

// Writer takes pages and then writes them as a folder. It is not safe for concurrent use.
type Writer struct {
	o       Options
	names   *catalogue
	refused int64
}

// New begins a folder. The caller closes it.
func New(o Options) *Writer { return &Writer{o: o, names: newCatalogue(o.Temp)} }

// Close gives memory and temporary files back.
func (w *Writer) Close() { w.names.close() }

// Add takes a page. None may be added twice.
func (w *Writer) Add(p Page) error {
	if err := w.names.page(p.URL, p.MediaType, p.Number); err != nil {
		return err
	}
	return w.o.Versions.Add(p.Version)
}

// Redirect takes a page that leads elsewhere: so do the links to it. A page may be added as well, whose file then is what they lead to
// where the other is not in the folder.
func (w *Writer) Redirect(url, to string) error {
	return w.names.redirect(url, to)
}

// Refused says how many pages ask not to be archived, which the folder tells.
func (w *Writer) Refused(pages int64) { w.refused = pages }

// Write writes the folder, once. It has its name when it is whole and on disk: until then, and where anything fails, what was there stays.
// Errors are those of Vacant, of the archive as a whole, and of the file system; of single versions that cannot be read the Exporter's
// options tell.
func (w *Writer) Write(ctx context.Context) (Summary, error) {
	if err := Vacant(w.o.Path, w.o.Force); err != nil {
		return Summary{}, err
	}
	if err := w.names.settle(ctx, func(n int64) { w.o.Step("names given", n) }); err != nil {
		return Summary{}, err
	}
	lost := int64(0)
	for {
		sum, again, err := w.attempt(ctx, lost)
		if err != nil || !again {
			return sum, err
		}
		lost = sum.Lost
	}
}

// attempt writes the folder as far as is known what it holds. again tells that some of it was lost that was not known to be, so that links
// lead to files that are not there.
func (w *Writer) attempt(ctx context.Context, lost int64) (sum Summary, again bool, err error) {
	d, err := newDraft(w.o.Path)
	if err != nil {
		return Summary{}, false, err
	}
	defer d.close()
	r := run{Writer: w, draft: d, listed: sorter.New(w.o.Temp)}
	defer r.listed.Close()
	sum, err = r.write(ctx)
	again = sum.Lost > lost
	if err == nil && !again {
		err = d.finish()
	}
	if err == nil && !again {
		if err = publish(d.path, w.o.Path, w.o.Force); err == nil {
			return sum, false, nil
		}
	}
	return sum, again, errors.Join(err, d.remove())
}

// run is one attempt.
type run struct {
	*Writer
	draft  *draft
	listed *sorter.Sorter // lines of the list of pages, by URL
	sum    Summary
}

func (r *run) write(ctx context.Context) (Summary, error) {
	sum, err := r.o.Versions.Answers(ctx, r.take, r.names.table.lose)
	r.sum.Summary, r.sum.Reused = sum, r.draft.reused
	if err != nil {
		return r.sum, err
	}
	if err := r.listRedirects(ctx); err != nil {
		return r.sum, err
	}
	if err := r.writeList(ctx); err != nil {
		return r.sum, err
	}
	if err := r.begin(); err != nil {
		return r.sum, err
	}
	r.sum.Bytes = r.draft.bytes
	if err := os.Chmod(r.draft.path, 0o750); err != nil {
		return r.sum, err
	}
	return r.sum, syncAll(r.draft.path)
}

// take writes the file of a page.
func (r *run) take(a export.Answer) error {
	e, err := r.names.table.find(a.URL)
	if err != nil {
		return err
	}
	at, _ := canon.Parse(a.URL) // one that was canonical by other rules, of an earlier release, is not rewritten
	f, err := rewritten(at, a.At, e.file, a.ContentType, a.Body, r.names.held)
	if err != nil {
		return err
	}
	r.sum.Away += f.away
	r.sum.Needs += f.needs
	if err := r.draft.write(e.file, f.text, modified(a)); err != nil {
		return err
	}
	return r.listPage(a, e)
}

// modified is the time that a file has: when the server says that the page was changed, if that can be, or when the version was found.
func modified(a export.Answer) time.Time {
	at, err := time.Parse(time.RFC1123, a.LastModified)
	if err != nil || at.After(a.At) || at.Unix() <= 0 {
		at = a.At
	}
	return at.UTC().Truncate(time.Second)
}
