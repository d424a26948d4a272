// Package simulate runs the daemon's own scheduler against what is known or made up in no time: Replay (and World, its
// simpler kin for tests) answers visits from histories of changes, Memory is a Store without a disk, and the unmodified
// scheduler.Worker runs over both on a clock.Virtual. There is no second scheduler.
//
// A Trace holds the true histories; ReadTrace, Make and FromHistory make one. Run simulates a policy with a budget and
// returns its visits. Judge computes from trace and visits alone how fresh these kept the pages; BoundsOf, KnownRates and
// PhaseOptimum say what could be reached.
package simulate

import (
	"context"
	"slices"
	"strconv"
	"time"

	"recrawld/models"
)

// World is a scheduler.Visitor whose pages change at known times. It answers every visit at once, keeps no connection
// and needs no robots.txt. Set it up before the first visit; from then on it is safe for concurrent use.
type World struct {
	pages map[int64]history
}

// history is when a page changed, and what it links to.
type history struct {
	changes []time.Time
	links   []models.FoundLink
}

// NewWorld returns a world without pages. A page that is not in it answers 404.
func NewWorld() *World { return &World{pages: make(map[int64]history)} }

// Add puts a page into the world that changes at the given times, in any order, and always names the given links.
func (w *World) Add(url string, changes []time.Time, links ...models.FoundLink) {
	changes = slices.Clone(changes)
	slices.SortFunc(changes, time.Time.Compare)
	w.pages[models.PageID(url)] = history{changes: changes, links: links}
}

// Visit implements scheduler.Visitor. The body of a page is its URL and how often it had changed by then.
func (w *World) Visit(_ context.Context, t models.Turn) models.Outcome {
	page, ok := w.pages[t.Page.ID]
	if !ok {
		return models.Outcome{Kind: models.Missing, Status: 404, At: t.Now, Sent: 1}
	}
	version := page.versionAt(t.Now)
	body := []byte(t.Page.URL + "#" + strconv.Itoa(version))
	out := models.Outcome{At: t.Now, Sent: 1, Status: 200, Digest: models.DigestOf(body), ContentType: "text/plain"}
	out.TextDigest = out.Digest
	switch {
	case t.Page.Digest == out.Digest:
		out.Kind, out.Status = models.NotModified, 304
		return out
	case t.Page.Digest.IsZero():
		out.Kind = models.First
	default:
		out.Kind = models.Changed
	}
	out.Body, out.WireBytes = body, int64(len(body))
	out.Links, out.LinksKnown = page.links, true
	return out
}

// versionAt is how often the page had changed at t.
func (h history) versionAt(t time.Time) int {
	n, _ := slices.BinarySearchFunc(h.changes, t, func(at, t time.Time) int {
		if at.After(t) {
			return 1
		}
		return -1
	})
	return n
}

// Nowhere is a scheduler.Archive that keeps nothing.
type Nowhere struct{}

// Append implements scheduler.Archive.
func (Nowhere) Append(models.Capture) (models.Record, error) { return models.Record{}, nil }

// Sync implements scheduler.Archive.
func (Nowhere) Sync() error { return nil }
