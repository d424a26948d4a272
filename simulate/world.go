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
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"recrawld/models"
)

// World is a scheduler.Visitor whose pages change at known times. It answers every visit at once, keeps no connection
// and needs no robots.txt. Set it up before the first visit; from then on it is safe for concurrent use.
type World struct {
	pages map[int64]*history
}

// history is when a page changed. Most visits ask for what was last asked for, and find it in one line of the processor's cache: all
// else lies elsewhere.
type history struct {
	mu      sync.Mutex
	current content // guarded by mu; what was last asked for
	*past
}

// content is a page's from one change to the next.
type content struct {
	from, until models.Instant // until then
	digest      models.Digest
}

// past is when a page changed, what it links to, and the body of its current content.
type past struct {
	changes []models.Instant
	links   []models.FoundLink
	body    []byte // guarded by the history's mu; never changed in place
}

// NewWorld returns a world without pages. A page that is not in it answers 404.
func NewWorld() *World { return &World{pages: make(map[int64]*history)} }

// Add puts a page into the world that changes at the given times (to the millisecond), in any order, and always names the given links.
func (w *World) Add(url string, changes []time.Time, links ...models.FoundLink) {
	h := &history{past: &past{changes: make([]models.Instant, len(changes)), links: links}}
	for i, at := range changes {
		h.changes[i] = models.At(at)
	}
	slices.Sort(h.changes)
	w.pages[models.PageID(url)] = h
}

// Visit implements scheduler.Visitor. The body of a page is its URL and how often it had changed by then.
func (w *World) Visit(_ context.Context, t models.Turn) models.Outcome {
	page, ok := w.pages[t.Page.ID]
	if !ok {
		return models.Outcome{Kind: models.Missing, Status: 404, At: t.Now, Sent: 1}
	}
	digest, body := page.at(t.Page.URL, models.At(t.Now), t.Page.Digest)
	out := models.Outcome{At: t.Now, Sent: 1, Status: 200, Digest: digest, ContentType: "text/plain"}
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

// at is the page's content at a moment: its digest, and its body where that is not the one held, which nobody changes.
func (h *history) at(url string, now models.Instant, held models.Digest) (models.Digest, []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := &h.current; !(c.from <= now && now < c.until) {
		h.move(url, now)
	}
	if h.current.digest == held {
		return held, nil
	}
	return h.current.digest, h.body
}

// move makes the content at a moment the current one. The caller holds mu.
func (h *history) move(url string, now models.Instant) {
	version, _ := slices.BinarySearch(h.changes, now+1)
	h.body = []byte(url + "#" + strconv.Itoa(version))
	h.current = content{from: math.MinInt64, until: math.MaxInt64, digest: models.DigestOf(h.body)}
	if version > 0 {
		h.current.from = h.changes[version-1]
	}
	if version < len(h.changes) {
		h.current.until = h.changes[version]
	}
}

// Nowhere is a scheduler.Archive that keeps nothing.
type Nowhere struct{}

// Append implements scheduler.Archive.
func (Nowhere) Append(models.Capture) (models.Record, error) { return models.Record{}, nil }

// Sync implements scheduler.Archive.
func (Nowhere) Sync() error { return nil }
