package diff

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// edit replaces a[from:to] by b[newFrom:newTo]; either may be empty.
type edit struct{ from, to, newFrom, newTo int }

// maxDepth bounds how often a range between two anchors is cut at anchors of its own.
const maxDepth = 24

// edits compares two sequences: what lies between the edits is the same. It cuts both at the elements that stand once in
// each, in the longest order that they share (Bram Cohen's patience diff), so that long documents stay readable and take
// n log n; the library compares what lies between and gives up on exactness after a hundred differences there.
func edits(a, b []string) []edit {
	var all []edit
	between(a, b, 0, 0, 0, func(e edit) {
		if last := len(all) - 1; last >= 0 && all[last].to == e.from && all[last].newTo == e.newFrom {
			all[last].to, all[last].newTo = e.to, e.newTo
			return
		}
		all = append(all, e)
	})
	return all
}

// between compares a and b, which begin at offA and offB of the whole.
func between(a, b []string, offA, offB, depth int, emit func(edit)) {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	a, b, offA, offB = a[head:], b[head:], offA+head, offB+head
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a) == 0 && len(b) == 0:
		return
	case len(a) == 0 || len(b) == 0:
		emit(edit{offA, offA + len(a), offB, offB + len(b)})
		return
	}
	anchors := anchorsOf(a, b)
	if len(anchors) == 0 || depth == maxDepth {
		for _, d := range lcs.DiffLines(a, b) {
			emit(edit{offA + d.Start, offA + d.End, offB + d.ReplStart, offB + d.ReplEnd})
		}
		return
	}
	i, j := 0, 0
	for _, at := range append(anchors, [2]int{len(a), len(b)}) {
		between(a[i:at[0]], b[j:at[1]], offA+i, offB+j, depth+1, emit)
		i, j = at[0]+1, at[1]+1
	}
}

// anchorsOf are the places in a and b of elements that stand once in each, in the longest order common to both.
func anchorsOf(a, b []string) [][2]int {
	type places struct{ inA, inB, atA, atB int }
	seen := make(map[string]*places, len(a))
	for i, s := range a {
		if p := seen[s]; p != nil {
			p.inA++
		} else {
			seen[s] = &places{inA: 1, atA: i}
		}
	}
	for j, s := range b {
		if p := seen[s]; p != nil {
			p.inB++
			p.atB = j
		}
	}
	var unique [][2]int // in the order of a
	for _, s := range a {
		if p := seen[s]; p.inA == 1 && p.inB == 1 {
			unique = append(unique, [2]int{p.atA, p.atB})
		}
	}
	return rising(unique)
}

// rising is the longest subsequence of pairs whose second numbers rise, by patience sorting.
func rising(pairs [][2]int) [][2]int {
	var piles []int                   // the last pair of the best subsequence of each length
	before := make([]int, len(pairs)) // the pair before it there
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(piles, p[1], func(top, at int) int { return pairs[top][1] - at })
		before[i] = -1
		if n > 0 {
			before[i] = piles[n-1]
		}
		if n == len(piles) {
			piles = append(piles, i)
		} else {
			piles[n] = i
		}
	}
	if len(piles) == 0 {
		return nil
	}
	out := make([][2]int, len(piles))
	for i, n := piles[len(piles)-1], len(piles)-1; i >= 0; i, n = before[i], n-1 {
		out[n] = pairs[i]
	}
	return out
}
