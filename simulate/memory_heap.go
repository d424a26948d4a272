package simulate

import (
	"cmp"
	"container/heap"

	"recrawld/models"
)

// hostHeap is the hosts of a bucket that are ever ready, the earliest first. It implements heap.Interface.
type hostHeap []*host

func (q hostHeap) Len() int { return len(q) }

func (q hostHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].ReadyAt, q[j].ReadyAt), cmp.Compare(q[i].ID, q[j].ID)) < 0
}

func (q hostHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *hostHeap) Push(x any) {
	h := x.(*host)
	h.index = len(*q)
	*q = append(*q, h)
}

func (q *hostHeap) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	h.index = -1
	(*q)[last] = nil
	*q = (*q)[:last]
	return h
}

// pageHeap is the pages of a host that are ever due, the earliest first. It implements heap.Interface.
type pageHeap []*page

func (q pageHeap) Len() int { return len(q) }

func (q pageHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].DueAt, q[j].DueAt), cmp.Compare(q[i].ID, q[j].ID)) < 0
}

func (q pageHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *pageHeap) Push(x any) {
	p := x.(*page)
	p.index = len(*q)
	*q = append(*q, p)
}

func (q *pageHeap) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	p.index = -1
	(*q)[last] = nil
	*q = (*q)[:last]
	return p
}

// earliest is when the first page is due; 0: none is, ever.
func (q pageHeap) earliest() models.Instant {
	if len(q) == 0 {
		return 0
	}
	return q[0].DueAt
}

// first is at most n pages that are due at now, in order.
func (q *pageHeap) first(n int, now models.Instant) []*page {
	var due []*page
	for len(due) < n && len(*q) > 0 && (*q)[0].DueAt <= now {
		due = append(due, heap.Pop(q).(*page))
	}
	for _, p := range due {
		heap.Push(q, p)
	}
	return due
}
