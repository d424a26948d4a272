package simulate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"recrawld/models"
)

// Sight says what a visit of a simulation shows.
type Sight struct {
	Bytes        bool // Noise shows as a change too
	LastModified bool // the answer says when the page last changed
	Whole        bool // pages are sent whole where they have not changed: the server does not answer conditionally
	Robots       bool // before a page its host's robots.txt must be asked for, which holds for a day
	Listed       Listings
}

// Seen is an entry of a visit log.
type Seen struct {
	At   models.Instant
	Page int32 // index into Trace.Pages
}

// Replay is a scheduler.Visitor that answers from the histories of a trace and keeps a log of the visits. It is for one
// simulation, whose time only moves forward, and not safe for concurrent use.
type Replay struct {
	trace *Trace
	sight Sight
	index map[int64]int32
	next  []cursor
	log   []Seen
	asked []models.Instant // for robots.txt
	sized bool
	tags  bool // answers have an ETag where unchanged pages are not sent: what a visit is expected to receive depends on it

	received []int64 // bytes that each visit of the log brought, where sizes are known
	lists    *readings
}

// httpTime is how HTTP writes a date (RFC 9110, section 5.6.7).
const httpTime = "Mon, 02 Jan 2006 15:04:05 GMT"

// cursor is how many changes and how much noise of a page lie behind, and until when no more do: most visits come before, and then
// its life, which lies elsewhere in memory, need not be looked at.
type cursor struct {
	changes, noise int32
	until          models.Instant
}

// NewReplay returns a visitor for a trace. Two pages of the trace with one URL are an error.
func NewReplay(t *Trace, sight Sight) (*Replay, error) {
	r := &Replay{trace: t, sight: sight, sized: t.Sized(), lists: sight.Listed.of(t), index: make(map[int64]int32, len(t.Pages)), next: make([]cursor, len(t.Pages))}
	for i := range t.Pages {
		id := models.PageID(t.Pages[i].URL)
		if other, twice := r.index[id]; twice {
			return nil, fmt.Errorf("trace %s: %s and %s have one URL", t.Name, t.Pages[other].Name, t.Pages[i].Name)
		}
		r.index[id], r.next[i].until = int32(i), math.MinInt64
	}
	return r, nil
}

// Log is the visits so far, the earliest first. The caller does not change it.
func (r *Replay) Log() []Seen { return r.log }

// Lists is when sitemaps were read, the earliest first. The caller does not change it.
func (r *Replay) Lists() []models.Instant { return r.lists.asked }

// Robots is when a robots.txt was asked for, the earliest first. The caller does not change it.
func (r *Replay) Robots() []models.Instant { return r.asked }

// askRobots asks for the host's robots.txt, where none is known that holds. It has no rules.
func (r *Replay) askRobots(t models.Turn) (models.Outcome, bool) {
	for i := range t.Robots {
		if t.Robots[i].ExpiresAt.Time().After(t.Now) {
			return models.Outcome{}, false
		}
	}
	now := models.At(t.Now)
	r.asked = append(r.asked, now)
	row := models.Robots{Bucket: t.Host.Bucket, HostID: t.Host.ID, Origin: "https://" + t.Host.Name, Status: 404,
		FetchedAt: now, GoodAt: now, ExpiresAt: models.At(t.Now.Add(models.RobotsHold))}
	return models.Outcome{Kind: models.RobotsFetched, Status: 404, At: t.Now, Sent: 1, HeadBytes: models.UsualHead, Robots: &row}, true
}

// Visit implements scheduler.Visitor: an answer at once, of robots.txt where that must be asked for first. The content of a page is told apart by how
// often it had changed by then; a page that was deleted answers 410, one that the trace does not have 404.
func (r *Replay) Visit(_ context.Context, t models.Turn) models.Outcome {
	i, ok := r.index[t.Page.ID]
	if list := r.lists.lists[t.Page.ID]; list != nil {
		return r.lists.read(list, !t.Host.Trials.By[models.HintSitemap].Doubted(), t.Now)
	}
	if !ok {
		return models.Outcome{Kind: models.Missing, Status: 404, At: t.Now, Sent: 1, HeadBytes: models.UsualHead}
	}
	out, first := models.Outcome{}, false
	if r.sight.Robots {
		out, first = r.askRobots(t)
	}
	if !first {
		now := models.At(t.Now)
		r.log = append(r.log, Seen{At: now, Page: i})
		out = r.answer(i, t.Page.Digest, now, t.Now)
		if r.sized {
			r.received = append(r.received, out.Received())
		}
	}
	if r.trace.Delay != nil {
		out.Delay = r.trace.Delay[t.Host.Name]
	}
	return out
}

// answer is what the page says at now to somebody who holds the given content.
func (r *Replay) answer(i int32, held models.Digest, now models.Instant, at time.Time) models.Outcome {
	c, l := &r.next[i], &r.trace.Pages[i]
	if now >= c.until && !c.advance(l, now, r.sight.Bytes) {
		return models.Outcome{Kind: models.Gone, Status: 410, At: at, Sent: 1, HeadBytes: models.UsualHead}
	}
	out := models.Outcome{Kind: models.NotModified, Status: 304, At: at, Sent: 1, HeadBytes: models.UsualHead, NoArchive: true}
	out.Digest = contentOf(i, *c)
	whole := r.sight.Whole || l.Whole
	if r.tags && !whole {
		out.ETag = strconv.Itoa(int(c.changes))
	}
	if r.sight.LastModified {
		out.ModifiedAt = l.changedAt(*c).Time()
		out.LastModified = out.ModifiedAt.Format(httpTime)
	}
	if out.Digest == held {
		if whole {
			out.Kind, out.Status, out.WireBytes = models.SameBytes, 200, l.size(*c)
		}
		return out
	}
	out.Kind, out.Status, out.ContentType, out.WireBytes = models.Changed, 200, "text/html", l.size(*c)
	if held.IsZero() {
		out.Kind = models.First
	}
	return out
}

// advance moves a page's cursor to now, past its noise as well where that shows; false where the page is dead.
func (c *cursor) advance(l *Life, now models.Instant, noise bool) bool {
	if l.Died != 0 && l.Died <= now {
		return false
	}
	c.until = math.MaxInt64
	if l.Died != 0 {
		c.until = l.Died
	}
	c.changes = c.past(c.changes, l.Changes, now)
	if noise {
		c.noise = c.past(c.noise, l.Noise, now)
	}
	return true
}

// past is how many of some times lie behind now, so many at least, of which the next may end what the cursor is good for.
func (c *cursor) past(n int32, times []models.Instant, now models.Instant) int32 {
	for int(n) < len(times) && times[n] <= now {
		n++
	}
	if int(n) < len(times) {
		c.until = min(c.until, times[n])
	}
	return n
}

// contentOf is a digest that differs wherever the content does.
func contentOf(page int32, c cursor) models.Digest {
	var d models.Digest
	binary.BigEndian.PutUint32(d[:], uint32(page)+1)
	binary.BigEndian.PutUint32(d[4:], uint32(c.changes))
	binary.BigEndian.PutUint32(d[8:], uint32(c.noise))
	return d
}

// changedAt is when the page last changed.
func (l *Life) changedAt(c cursor) models.Instant {
	at := l.Born
	if c.changes > 0 {
		at = l.Changes[c.changes-1]
	}
	if c.noise > 0 {
		at = max(at, l.Noise[c.noise-1])
	}
	return at
}

func (l *Life) size(c cursor) int64 {
	if int(c.changes) < len(l.Sizes) {
		return int64(l.Sizes[c.changes])
	}
	return 0
}
