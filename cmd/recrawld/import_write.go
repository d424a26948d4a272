package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/scheduler"
)

const (
	// importPart is how many bytes of the list are sorted in memory at once: a bucket of ten million URLs has a tenth.
	importPart = 24 << 20
	// importBatch is how many pages are added at a time.
	importBatch = 10_000
	// importWriters is how many buckets are added at a time: while one waits for the database the other makes rows.
	importWriters = 2
)

// write adds the pages of the spool, bucket by bucket.
func (i *importer) write(ctx context.Context) error {
	i.progress.begin("", "pages added")
	w := importWrite{importer: i, next: make(chan int16)}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(w.next)
		for bucket := range int16(models.Buckets) {
			select {
			case w.next <- bucket:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range importWriters {
		group.Go(func() error {
			for bucket := range w.next {
				if err := w.bucket(ctx, bucket); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// importWrite is the writing of an import. Of the importer it reads what does not change any more.
type importWrite struct {
	*importer
	next chan int16

	mu sync.Mutex // guards the importer's counts and what it last said
}

// spooledPage is a page of a part, for sorting.
type spooledPage struct {
	url  []byte
	site int32
	fr   int
}

// bucket adds the pages of a bucket host by host, or those of each part of a large one.
func (w *importWrite) bucket(ctx context.Context, bucket int16) error {
	for from, more := 0, true; more; more = from > 0 {
		text, next, err := w.spool.part(bucket, from, importPart)
		if err != nil {
			return err
		}
		pages, err := sortedPages(text)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(pages, importBatch) {
			if err := w.add(ctx, batch); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// sortedPages reads a part and sorts it by URL, so that the pages of a host lie side by side in the database too: they are
// claimed together. What is listed twice stays in the order of the list.
func sortedPages(text []byte) ([]spooledPage, error) {
	var pages []spooledPage
	for len(text) > 0 {
		var p spooledPage
		var err error
		if p, text, err = takeSpooled(text); err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	slices.SortStableFunc(pages, func(a, b spooledPage) int { return bytes.Compare(a.url, b.url) })
	return pages, nil
}

// add adds some pages.
func (w *importWrite) add(ctx context.Context, pages []spooledPage) error {
	found := make([]models.Discovery, len(pages))
	for n, p := range pages {
		u, err := canon.Parse(string(p.url))
		if err != nil {
			return fmt.Errorf("read the sorted list: %w", err)
		}
		found[n] = w.discovery(u, p.site, p.fr)
	}
	w.force.weigh(found)
	added, err := w.store.AddPages(ctx, w.now, found, w.base.Defaults.PagesPerHost)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.Added += added.Added
	w.counts.Known += added.Known
	w.counts.Dropped += added.Dropped
	w.progress.tell(int64(w.counts.Added+w.counts.Known), 0, 0)
	return err
}

// discovery is a page as it is added.
func (w *importWrite) discovery(u canon.URL, id int32, fr int) models.Discovery {
	host := u.HostName()
	if id == 0 {
		id = w.sites.shared
		if ids := w.sites.byHost[host]; len(ids) > 0 {
			id = ids[0]
		}
	}
	site, _ := w.force.site(id)
	if fr = min(fr, site.Settings.FRMax); fr == 0 {
		fr = site.Settings.FR
	}
	page := scheduler.NewPage(u.String(), host, id, 0, fr)
	page.DueAt = models.At(w.now)
	return models.Discovery{Page: page, Host: host}
}
