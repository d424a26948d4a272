package simulate

import (
	"iter"

	"recrawld/models"
)

// queue is things that have a time, the earliest first and of two at one time that with the smaller ID: a binary heap
// whose things know their place in it. The times lie beside the pointers, so that moving things about reads nothing
// else.
type queue[T placed] []entry[T]

type entry[T placed] struct {
	at models.Instant
	id int64
	of T
}

// placed knows its place in a queue.
type placed interface {
	// place is where the thing keeps its place: its index in the queue plus one, 0: it is not in it.
	place() *int
}

func (e *entry[T]) before(other *entry[T]) bool {
	return e.at < other.at || e.at == other.at && e.id < other.id
}

// put gives a thing its time, whether it is in the queue or not; 0 (never) takes it out.
func (q *queue[T]) put(of T, id int64, at models.Instant) {
	i := *of.place() - 1
	switch {
	case i >= 0 && at == 0:
		q.remove(i)
	case i >= 0:
		if (*q)[i].at != at {
			(*q)[i].at = at
			q.fix(i)
		}
	case at != 0:
		*q = append(*q, entry[T]{at, id, of})
		q.up(len(*q) - 1)
	}
}

func (q *queue[T]) remove(i int) {
	last := len(*q) - 1
	*(*q)[i].of.place() = 0
	(*q)[i] = (*q)[last]
	(*q)[last] = entry[T]{}
	*q = (*q)[:last]
	if i < last {
		q.fix(i)
	}
}

// fix moves the entry at i to where it belongs.
func (q queue[T]) fix(i int) {
	if !q.down(i) {
		q.up(i)
	}
}

func (q queue[T]) up(i int) {
	moving := q[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !moving.before(&q[parent]) {
			break
		}
		q[i] = q[parent]
		*q[i].of.place() = i + 1
		i = parent
	}
	q[i] = moving
	*moving.of.place() = i + 1
}

// down tells whether it moved anything.
func (q queue[T]) down(i int) bool {
	began, moving := i, q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].before(&q[child]) {
			child++
		}
		if !q[child].before(&moving) {
			break
		}
		q[i] = q[child]
		*q[i].of.place() = i + 1
		i = child
	}
	q[i] = moving
	*moving.of.place() = i + 1
	return i > began
}

// earliest is the time of the first; 0: the queue is empty.
func (q queue[T]) earliest() models.Instant {
	if len(q) == 0 {
		return 0
	}
	return q[0].at
}

// ordered yields what has its time by then, in order. The queue must not change meanwhile.
func (q queue[T]) ordered(until models.Instant) iter.Seq2[models.Instant, T] {
	return func(yield func(models.Instant, T) bool) {
		if len(q) == 0 || q[0].at > until {
			return
		}
		var room [16]int
		next := append(room[:0], 0) // the entries whose parents were yielded, the earliest last
		for len(next) > 0 {
			i := next[len(next)-1]
			next = next[:len(next)-1]
			if !yield(q[i].at, q[i].of) {
				return
			}
			for child := 2*i + 1; child <= 2*i+2 && child < len(q); child++ {
				if q[child].at <= until {
					next = q.insert(next, child)
				}
			}
		}
	}
}

// insert adds the entry at i to a list of entries, the earliest last.
func (q queue[T]) insert(list []int, i int) []int {
	list = append(list, i)
	at := len(list) - 1
	for at > 0 && q[list[at-1]].before(&q[i]) {
		list[at] = list[at-1]
		at--
	}
	list[at] = i
	return list
}
