package importance

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// link is from one page to another, by number.
type link struct{ from, to int }

// build makes a graph of n pages, the i-th of which has names[i] for its ID and a level of i % 3.
func build(n int, links []link, names []int64) *Graph {
	type page struct {
		bucket int16
		id     int64
		number int
	}
	bucket := func(id int64) int16 { return int16(id % 4) }
	pages := make([]page, n)
	for i := range pages {
		pages[i] = page{bucket(names[i]), names[i], i}
	}
	slices.SortFunc(pages, func(a, b page) int {
		if a.bucket != b.bucket {
			return int(a.bucket) - int(b.bucket)
		}
		return int(a.id - b.id)
	})
	g := new(Graph)
	for _, p := range pages {
		g.Page(p.bucket, p.id, int16(p.number%3))
	}
	for _, p := range pages {
		for _, l := range links {
			if l.from == p.number {
				g.Link(p.bucket, p.id, bucket(names[l.to]), names[l.to])
			}
		}
	}
	return g
}

// rank ranks a graph.
func rank(g *Graph) int {
	steps, err := g.Rank(context.Background())
	if err != nil {
		panic(err) // only a context that has ended makes one
	}
	return steps
}

func plainNames(n int) []int64 {
	names := make([]int64, n)
	for i := range names {
		names[i] = int64(i)
	}
	return names
}

// ranks is the PageRank of each page, by number.
func ranks(n int, links []link) []float64 {
	names := plainNames(n)
	g := build(n, links, names)
	if _, _, err := g.iterate(context.Background()); err != nil {
		panic(err)
	}
	out := make([]float64, n)
	for i := range out {
		at, _ := g.find(int16(i%4), int64(i))
		out[i] = float64(g.rank[at])
	}
	return out
}

func TestKnownGraphs(t *testing.T) {
	t.Parallel()
	// A star of k leaves around a hub without links: leaf = .15 + .85·hub/(k+1), hub = leaf·(1 + .85·k), and they add up
	// to k + 1.
	const k = 4
	leaf := (k + 1) / (k + 1 + 0.85*k)
	hub := leaf * (1 + 0.85*k)
	// Two pages that link to each other, and a third that links to the first: c = .15, a = .15 + .85·(b + c),
	// b = .15 + .85·a.
	a := (0.15 + 0.85*0.15 + 0.85*0.15) / (1 - 0.85*0.85)
	tests := []struct {
		name  string
		pages int
		links []link
		want  []float64
	}{
		{"nothing", 0, nil, nil},
		{"no links", 2, nil, []float64{0, 0}},
		{"a link to itself", 1, []link{{0, 0}}, []float64{0}},
		{"a ring", 3, []link{{0, 1}, {1, 2}, {2, 0}}, []float64{1, 1, 1}},
		{"a star", k + 1, []link{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, []float64{hub, leaf, leaf, leaf, leaf}},
		{"a pair and a follower", 3, []link{{0, 1}, {1, 0}, {2, 0}}, []float64{a, 0.15 + 0.85*a, 0.15}},
		{"a pair and a stranger", 3, []link{{0, 1}, {1, 0}}, []float64{1, 1, 0}},
	}
	for _, test := range tests {
		got := ranks(test.pages, test.links)
		for i, want := range test.want {
			if math.Abs(got[i]-want) > 1e-4 {
				t.Errorf("%s: rank of page %d = %v, want %v", test.name, i, got[i], want)
			}
		}
	}
}

func anyLinks(t *rapid.T) (int, []link) {
	n := rapid.IntRange(1, 30).Draw(t, "pages")
	drawn := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) link {
		return link{rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")}
	}), func(l link) link { return l }).Draw(t, "links")
	return n, drawn
}

// The ranks of the pages with links add up to their number, none is below 1 − d, and the mean factor is 1.
func TestSumsArePreserved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, links := anyLinks(t)
		names := plainNames(n)
		g := build(n, links, names)
		linked, _, err := g.iterate(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, r := range g.rank {
			if r != 0 && r < 0.1499 {
				t.Fatalf("a rank is %v", r)
			}
			sum += float64(r)
		}
		if math.Abs(sum-float64(linked)) > 1e-4*float64(n) {
			t.Fatalf("ranks of %d pages add up to %v", linked, sum)
		}
		g = build(n, links, names)
		rank(g)
		sum = 0
		for _, name := range names {
			sum += g.Factor(int16(name%4), name)
		}
		if math.Abs(sum-float64(n)) > 1e-4*float64(n) {
			t.Fatalf("factors of %d pages add up to %v", n, sum)
		}
	})
}

// What pages are called says nothing of their worth.
func TestNamesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, links := anyLinks(t)
		names := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1<<40), n, n, rapid.ID[int64]).Draw(t, "names")
		plain, renamed := build(n, links, plainNames(n)), build(n, links, names)
		rank(plain)
		rank(renamed)
		for i, name := range names {
			a, b := plain.Factor(int16(i%4), int64(i)), renamed.Factor(int16(name%4), name)
			if math.Abs(a-b) > 1e-4*(a+b) {
				t.Fatalf("the factor of page %d is %v, and %v under another name", i, a, b)
			}
		}
	})
}

// A page that one more page links to, which nothing else does, is worth more than it was beside any other.
func TestALinkMore(t *testing.T) {
	t.Parallel()
	ring := []link{{0, 3}, {3, 6}, {6, 0}}
	g, names := build(10, append(ring, link{9, 3}), plainNames(10)), plainNames(10)
	rank(g)
	factor := func(i int) float64 { return g.Factor(int16(names[i]%4), names[i]) }
	if !(factor(3) > factor(0) && factor(3) > factor(6) && factor(9) < factor(0)) {
		t.Errorf("factors %v, %v, %v and of the one that links %v", factor(0), factor(3), factor(6), factor(9))
	}
	if factor(1) != 1 || g.Factor(77, 1) != 1 || new(Graph).Factor(0, 0) != 1 {
		t.Error("a page without links has a factor other than 1")
	}
}

// Links of pages that are not known do not count.
func TestUnknownPages(t *testing.T) {
	t.Parallel()
	g := new(Graph)
	g.Link(0, 1, 0, 2)
	if rank(g); g.Pages() != 0 || g.Links() != 0 {
		t.Errorf("an empty graph has %d pages and %d links", g.Pages(), g.Links())
	}
	g = new(Graph)
	g.Page(0, 1, 0)
	g.Page(3, 1, -1)
	g.Page(3, 9, 1000)
	g.Link(0, 1, 3, 2)
	g.Link(1, 1, 3, 9)
	g.Link(3, 1, 3, 9)
	g.Link(3, 5, 3, 9)
	rank(g)
	if g.Links() != 1 || g.Factor(0, 1) != 1 {
		t.Errorf("%d links count, and the page without has the factor %v", g.Links(), g.Factor(0, 1))
	}
}

// A table larger than its chunks: each page links to the start page and to the one behind it.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	const n = chunkLinks
	g := new(Graph)
	for i := range int64(n) {
		g.Page(0, i, 1)
	}
	for i := range int64(n) {
		g.Link(0, i, 0, 0)
		g.Link(0, i, 0, (i+1)%n)
	}
	steps := rank(g)
	if g.Links() != 2*n-1 || steps >= maxSteps { // the start page's link to itself does not count
		t.Errorf("%d links, %d steps", g.Links(), steps)
	}
	if top, other := g.Factor(0, 0), g.Factor(0, n/2); !(top > 100*other) || other > 1 {
		t.Errorf("the start page has the factor %v, another %v", top, other)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		site, rule, links float64
		want              float32
	}{
		{1, 1, 1, 1}, {3, 5, 1, 15}, {2, 0.5, 0.25, 0.25}, {1000, 1000, 7, Most}, {0.001, 0.001, 1, Least},
		{math.NaN(), 1, 1, 1}, {math.Inf(1), 1, 1, Most}, {1, 0, math.Inf(1), 1},
	} {
		if got := Of(test.site, test.rule, test.links); got != test.want {
			t.Errorf("Of(%v, %v, %v) = %v, want %v", test.site, test.rule, test.links, got, test.want)
		}
	}
}

func TestRankEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := build(3, []link{{0, 1}, {1, 2}}, plainNames(3))
	if _, err := g.Rank(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Rank after the end of its context = %v, want context.Canceled", err)
	}
}

// BenchmarkRank says what ten links a page cost: 1,000,000 pages, each of which links to the start page, to its
// neighbours and to pages far away.
func BenchmarkRank(b *testing.B) {
	const n, links = 1_000_000, 10
	for b.Loop() {
		g := new(Graph)
		for i := range int64(n) {
			g.Page(int16(i*256/n), i, int16(i%7))
		}
		for i := range int64(n) {
			for l := range int64(links) {
				to := (i + l*l*l*7919) % n
				if l == 0 {
					to = 0
				}
				g.Link(int16(i*256/n), i, int16(to*256/n), to)
			}
		}
		steps := rank(g)
		size := len(g.ids)*8 + len(g.levels) + len(g.ends)*4 + len(g.rank)*8 + len(g.targets)*chunkLinks*4
		b.ReportMetric(float64(size)/1e6, "MB")
		b.ReportMetric(float64(steps), "steps")
	}
}
