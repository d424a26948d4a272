package scheduler

import (
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

// turnedRound looks whether a page that leads back to one that led to it is that page's new place: that one is visited. Where it stays so, the page
// that was there has moved, and what led to it once is forgotten: else all pages of a server that turned round would fail for ever.
func (d *draft) turnedRound() {
	d.freeOther()
	if d.Page.Failures == failingAfter && d.before.Version > 0 {
		d.Page.Chain = nil
	}
}
