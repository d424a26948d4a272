package scheduler

import (
	"slices"
	"strings"

	"recrawld/models"
)

// Servers lead from a directory's address without its slash to that with it, or the other way round, so each page of a site whose links are
// written otherwise is there twice: once as a redirect, which costs as many requests as the page. It is looked at as rarely as a duplicate, whose
// rule it has, and sooner only where the page itself leads elsewhere or is not found: the server may have turned round.

// respelled is an address with the slash at its end that it lacks, or without the one that it has; "": it has no other.
func respelled(url string) string {
	path, query, asks := strings.Cut(url, "?")
	if asks {
		query = "?" + query
	}
	bare, had := strings.CutSuffix(path, "/")
	if !had {
		return path + "/" + query
	}
	if _, rest, _ := strings.Cut(bare, "://"); !strings.Contains(rest, "/") {
		return "" // it is a host's root
	}
	return bare + query
}

// leadsToItself tells whether a page was seen before to redirect to its own address spelled otherwise.
func (d *draft) leadsToItself() bool {
	return d.settings.Duplicates && d.before.State == models.StateMoved && d.before.RedirectTo == d.out.RedirectTo && d.out.RedirectTo == respelled(d.before.URL)
}

// freeOther brings the page forward whose address is this one's spelled otherwise, where it waits as what leads here.
func (d *draft) freeOther() {
	if other := respelled(d.before.URL); other != "" && d.before.State == models.StateLive {
		d.Duplicates = append(d.Duplicates, models.Duplicate{Bucket: d.Page.Bucket, PageID: models.PageID(other), DueAt: models.At(d.now)})
	}
}

// turnedRound brings the pages forward that once led to this one, which leads back there now: where one shows what this one showed, the server has
// turned round. Only that says so (comeRound): where a server is set up wrongly, all its pages lead to each other for days.
func (d *draft) turnedRound() {
	if d.out.Class != models.RedirectLoop || d.Page.Failures > failingAfter {
		return
	}
	d.freeOther()
	for _, id := range d.before.Chain { // most are of its host
		d.Duplicates = append(d.Duplicates, models.Duplicate{Bucket: d.Page.Bucket, PageID: id, DueAt: models.At(d.now), Led: true})
	}
	if d.out.RedirectTo == "" {
		return
	}
	if back := keyOfURL(d.out.RedirectTo); back.Bucket != d.Page.Bucket { // it knows the others on the way, see way.end
		d.Duplicates = append(d.Duplicates, models.Duplicate{Bucket: back.Bucket, PageID: back.ID, DueAt: models.At(d.now), Led: true})
	}
}

// loops tells whether a page with a copy has long led back to one that led to it.
func (f *finished) loops() bool {
	p := &f.result.Page
	return f.outcome.Kind == models.Failed && f.outcome.Class == models.RedirectLoop && p.Failures >= failingAfter && p.Version > 0 && len(p.Chain) > 0
}

// shownBy are the keys under which pages are filed that may show what a page does, also as its duplicates.
func shownBy(p *models.Page) []int64 { return append(keysOf(p), followers(p.URL)) }

// comeRound forgets of what led to a page that loops what since then shows what this one did: the page is there now, and the next visit finds that it
// moved. Else all pages of a server that turned round would fail for ever.
func (t *twins) comeRound(f *finished) {
	p := &f.result.Page
	for _, key := range shownBy(p) {
		for _, twin := range t.byKey[key] {
			if now, here := t.batch[pageKey{twin.Bucket, twin.ID}]; here {
				twin = now
			}
			if twin.State == models.StateLive && twin.VisitedAt > p.Stats.VisitedAt && says(p, &twin) {
				p.Chain = slices.DeleteFunc(slices.Clone(p.Chain), func(id int64) bool { return id == twin.ID })
			}
		}
	}
}
