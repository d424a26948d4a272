package importance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

const (
	damping = 0.85
	// settled is the mean change of a rank in one step at which the iteration ends: a thousandth of what a page could
	// notice. maxSteps ends it in any case: d^100 is 9e-8, less than a float32 shows.
	settled  = 1e-5
	maxSteps = 100
	// chunkLinks is how many links are kept in one piece, so that the table grows without being copied.
	chunkLinks = 1 << 18
)

// Graph is a table of links between pages. Pages are added first, then links, then it is ranked; Factor is for
// afterwards. It is not safe for concurrent use. The zero Graph is empty and ready.
type Graph struct {
	buckets []int16 // those that have pages, ascending
	starts  []int   // where the pages of each begin
	ids     []int64 // ascending within a bucket
	levels  []uint8 // 255 stands for all beyond
	ends    []uint32
	targets [][]uint32 // in chunks of chunkLinks, in the order of the parents
	links   uint32
	last    int // the parent of the last link
	rank    []float32
	spare   []float32 // the next ranks, and the in-links
}

// Page adds a page. Pages come in ascending order of bucket and id, as a store lists them, before any link: anything else
// panics. A level below 0 counts as 0.
func (g *Graph) Page(bucket int16, id int64, level int16) {
	n := len(g.buckets)
	switch {
	case g.ends != nil:
		panic("importance: a page after a link")
	case n == 0 || g.buckets[n-1] < bucket:
		g.buckets, g.starts = append(g.buckets, bucket), append(g.starts, len(g.ids))
	case g.buckets[n-1] > bucket || g.ids[len(g.ids)-1] >= id:
		panic("importance: pages out of order")
	}
	g.ids = append(g.ids, id)
	g.levels = append(g.levels, uint8(min(max(level, 0), math.MaxUint8)))
}

// Pages is how many pages were added.
func (g *Graph) Pages() int { return len(g.ids) }

// Links is how many links count.
func (g *Graph) Links() int { return int(g.links) }

// Link adds a link. Those of one page stand together and the pages are in ascending order of bucket and id: anything else
// panics. A link to or from a page that was not added, or to itself, is left out; beyond 4,294,967,294 all are.
func (g *Graph) Link(bucket int16, parent int64, childBucket int16, child int64) {
	if g.ends == nil {
		g.ends = make([]uint32, len(g.ids))
	}
	from, known := g.find(bucket, parent)
	if !known {
		return
	}
	if from < g.last {
		panic("importance: links out of order")
	}
	to, known := g.find(childBucket, child)
	if !known || to == from || g.links == math.MaxUint32-1 {
		return
	}
	for ; g.last < from; g.last++ {
		g.ends[g.last] = g.links
	}
	if g.links%chunkLinks == 0 {
		g.targets = append(g.targets, make([]uint32, 0, chunkLinks))
	}
	chunk := &g.targets[len(g.targets)-1]
	*chunk = append(*chunk, uint32(to))
	g.links++
}

// find is the place of a page.
func (g *Graph) find(bucket int16, id int64) (int, bool) {
	b, known := slices.BinarySearch(g.buckets, bucket)
	if !known {
		return 0, false
	}
	start, end := g.starts[b], len(g.ids)
	if b+1 < len(g.starts) {
		end = g.starts[b+1]
	}
	i, known := slices.BinarySearchFunc(g.ids[start:end], id, cmp.Compare[int64])
	return start + i, known
}

// Rank computes the factors of all pages. It returns how many steps the iteration took, or the error of ctx, which is
// asked before each step: one takes some seconds for 100,000,000 links.
func (g *Graph) Rank(ctx context.Context) (steps int, err error) {
	linked, steps, err := g.iterate(ctx)
	if err != nil {
		return steps, fmt.Errorf("rank pages: %w", err)
	}
	g.weigh(linked)
	g.spare = nil
	return steps, nil
}

// iterate finds the PageRank of the pages with links, which are so many.
func (g *Graph) iterate(ctx context.Context) (linked, steps int, err error) {
	if g.ends == nil {
		g.ends = make([]uint32, len(g.ids))
	}
	for ; g.last < len(g.ends); g.last++ {
		g.ends[g.last] = g.links
	}
	g.rank, g.spare = make([]float32, len(g.ids)), make([]float32, len(g.ids))
	linked = g.begin()
	for change := math.Inf(1); linked > 0 && change > settled && steps < maxSteps; steps++ {
		if err := ctx.Err(); err != nil {
			return linked, steps, err
		}
		change = g.step(float64(linked))
	}
	return linked, steps, nil
}

// each calls f for every page in order, with the range of its links.
func (g *Graph) each(f func(page int, from, to uint32)) {
	from := uint32(0)
	for i, to := range g.ends {
		f(i, from, to)
		from = to
	}
}

func (g *Graph) target(link uint32) uint32 { return g.targets[link/chunkLinks][link%chunkLinks] }

// begin gives the pages with links the rank 1, leaves the others at 0, and counts the first.
func (g *Graph) begin() (linked int) {
	g.each(func(i int, from, to uint32) {
		if from < to {
			g.rank[i] = 1
		}
		for l := from; l < to; l++ {
			g.rank[g.target(l)] = 1
		}
	})
	for _, r := range g.rank {
		linked += int(r)
	}
	return linked
}

// step is one step of the power iteration over n pages. It returns the mean change of a rank.
func (g *Graph) step(n float64) float64 {
	clear(g.spare)
	dangling := 0.0
	g.each(func(i int, from, to uint32) {
		if from == to {
			dangling += float64(g.rank[i])
			return
		}
		share := damping * g.rank[i] / float32(to-from)
		for l := from; l < to; l++ {
			g.spare[g.target(l)] += share
		}
	})
	base := float32(1 - damping + damping*dangling/n)
	change := 0.0
	for i, r := range g.rank {
		if r == 0 {
			continue // without links
		}
		g.spare[i] += base
		change += math.Abs(float64(g.spare[i] - r))
	}
	g.rank, g.spare = g.spare, g.rank
	return change / n
}

// weigh turns ranks into factors.
func (g *Graph) weigh(linked int) {
	clear(g.spare)
	g.each(func(_ int, from, to uint32) {
		for l := from; l < to; l++ {
			g.spare[g.target(l)]++
		}
	})
	sum := 0.0
	for i, r := range g.rank {
		if r == 0 {
			continue
		}
		factor := math.Sqrt(float64(r)) * math.Pow((1+float64(g.spare[i]))/(1+float64(g.levels[i])), 0.25)
		g.rank[i] = float32(factor)
		sum += factor
	}
	mean := float32(sum / float64(max(linked, 1)))
	for i, r := range g.rank {
		g.rank[i] = 1
		if r > 0 {
			g.rank[i] = r / mean
		}
	}
}

// Factor is what the links make of a page's worth, above 0: 1 for a page without links and for one that was not added.
func (g *Graph) Factor(bucket int16, id int64) float64 {
	if i, known := g.find(bucket, id); known && g.rank != nil {
		return float64(g.rank[i])
	}
	return 1
}
