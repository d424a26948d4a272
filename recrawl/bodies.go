package recrawl

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/sync/semaphore"

	"recrawld/models"
)

// bodies bounds the bytes of large bodies that are read at once. A body gets leave once, for as much as it may come to,
// when it proves to be larger than freeBody: so nobody who has leave ever waits, and whoever waits reads nothing, the
// window of TCP fills, and the server waits too. It is safe for concurrent use.
type bodies struct {
	most  int64
	leave *semaphore.Weighted // nil: no bound
}

// freeBody is how much of a body is read without leave: most are shorter.
const freeBody = 1 << 20

func newBodies(most int64) *bodies {
	if most <= 0 {
		return &bodies{}
	}
	return &bodies{most: most, leave: semaphore.NewWeighted(most)}
}

// errBodiesFull says that a page's time was over before other bodies left room: our fault and not the server's.
var errBodiesFull = errors.New("the bodies being read fill worker.memory")

// grant is the leave of one body.
type grant struct {
	of   *bodies
	want int64 // the most that the body may come to
	held int64
	wait *ownWait
}

// grant is for a body as large as its answer may be: what it says, where that is not to be decoded, or else what is allowed.
func (b *bodies) grant(r *http.Response, list []string, caps bodyCaps, wait *ownWait) *grant {
	g := &grant{of: b, want: caps.decoded, wait: wait}
	if len(list) == 0 && r.ContentLength > 0 {
		g.want = min(g.want, r.ContentLength)
	}
	return g
}

// ask waits for leave until ctx ends.
func (g *grant) ask(ctx context.Context) error {
	if g.of.leave == nil {
		return nil
	}
	weight := min(max(g.want-freeBody, 1), g.of.most)
	g.wait.begin(machineNow())
	defer func() { g.wait.end(machineNow()) }()
	if g.of.leave.Acquire(ctx, weight) != nil {
		return &classedError{class: models.OwnLimit, err: errBodiesFull}
	}
	g.held = weight
	return nil
}

// end gives the leave back.
func (g *grant) end() {
	if g.held > 0 {
		g.of.leave.Release(g.held)
	}
}
