package simulate

import (
	"iter"

	"recrawld/models"
)

// queue is things that have a time, the earliest first and of two at one time that with the smaller ID: a heap in which
// each entry has up to four below it. Times and places lie beside the things and not in them, so that moving things
// about reads and writes little memory, however many there are.
type queue[T numbered] struct {
	entries []entry[T]
	places  []int32 // by the things' numbers: the index of the thing's entry plus one; 0: it is not in the queue
}

type entry[T numbered] struct {
	at     models.Instant
	id     int64
	of     T
	number int32
}

// numbered keeps its number in a queue, from 1; 0: it never was in it.
type numbered interface{ number() *int32 }

const children = 4

func (e *entry[T]) before(other *entry[T]) bool {
	return e.at < other.at || e.at == other.at && e.id < other.id
}

// put gives a thing its time, whether it is in the queue or not; 0 (never) takes it out.
func (q *queue[T]) put(of T, id int64, at models.Instant) {
	number := of.number()
	if *number == 0 {
		q.places = append(q.places, 0)
		*number = int32(len(q.places))
	}
	i := int(q.places[*number-1]) - 1
	switch {
	case i >= 0 && at == 0:
		q.remove(i)
	case i >= 0:
		if q.entries[i].at != at {
			q.entries[i].at = at
			q.fix(i)
		}
	case at != 0:
		q.entries = append(q.entries, entry[T]{at, id, of, *number})
		q.up(len(q.entries) - 1)
	}
}

func (q *queue[T]) remove(i int) {
	last := len(q.entries) - 1
	q.places[q.entries[i].number-1] = 0
	moved := q.entries[last]
	q.entries[last] = entry[T]{}
	q.entries = q.entries[:last]
	if i < last {
		q.set(i, moved)
		q.fix(i)
	}
}

func (q *queue[T]) set(i int, e entry[T]) {
	q.entries[i] = e
	q.places[e.number-1] = int32(i + 1)
}

// fix moves the entry at i to where it belongs.
func (q *queue[T]) fix(i int) {
	if !q.down(i) {
		q.up(i)
	}
}

func (q *queue[T]) up(i int) {
	moving := q.entries[i]
	for i > 0 {
		parent := (i - 1) / children
		if !moving.before(&q.entries[parent]) {
			break
		}
		q.set(i, q.entries[parent])
		i = parent
	}
	q.set(i, moving)
}

// down tells whether it moved anything.
func (q *queue[T]) down(i int) bool {
	began, moving := i, q.entries[i]
	for {
		first := children*i + 1
		if first >= len(q.entries) {
			break
		}
		least := first
		for child := first + 1; child < min(first+children, len(q.entries)); child++ {
			if q.entries[child].before(&q.entries[least]) {
				least = child
			}
		}
		if !q.entries[least].before(&moving) {
			break
		}
		q.set(i, q.entries[least])
		i = least
	}
	q.set(i, moving)
	return i > began
}

// earliest is the time of the first; 0: the queue is empty.
func (q *queue[T]) earliest() models.Instant {
	if len(q.entries) == 0 {
		return 0
	}
	return q.entries[0].at
}

// ordered yields what has its time by then, in order. The queue must not change meanwhile.
func (q *queue[T]) ordered(until models.Instant) iter.Seq2[models.Instant, T] {
	return func(yield func(models.Instant, T) bool) {
		if len(q.entries) == 0 || q.entries[0].at > until {
			return
		}
		var room [32]int
		next := append(room[:0], 0) // the entries whose parents were yielded, the earliest last
		for len(next) > 0 {
			i := next[len(next)-1]
			next = next[:len(next)-1]
			if !yield(q.entries[i].at, q.entries[i].of) {
				return
			}
			for child := children*i + 1; child < min(children*i+1+children, len(q.entries)); child++ {
				if q.entries[child].at <= until {
					next = q.insert(next, child)
				}
			}
		}
	}
}

// insert adds the entry at i to a list of entries, the earliest last.
func (q *queue[T]) insert(list []int, i int) []int {
	list = append(list, i)
	at := len(list) - 1
	for at > 0 && q.entries[list[at-1]].before(&q.entries[i]) {
		list[at] = list[at-1]
		at--
	}
	list[at] = i
	return list
}
