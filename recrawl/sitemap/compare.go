package sitemap

import (
	"slices"
	"time"
)

// Told is a page that a list says to have changed.
type Told struct {
	Loc   string
	Since time.Time // a visit before then has not seen the change; zero: not told, some time after the reading before
	At    time.Time // a visit from then on has seen the change; not after the reading
	Came  bool      // the reading before did not name it, and would have
}

// News is what a reading of a list says that the reading before did not say.
type News struct {
	New      []Entry // pages that were not in it, each once, in order
	Told     []Told  // pages that it says to have changed, each once, in order
	Renewed  int     // pages that were in it, with another date or mark
	Vanished int     // pages that were in it and are not any more, as far as it was read whole; that tells nothing of them
}

// Quiet tells that a list says what it said before, in whatever order.
func (n *News) Quiet() bool { return len(n.New)+n.Renewed+n.Vanished == 0 }

// slack is how far a date may lie in the future and still be of a clock that is a little ahead of ours.
const slack = 5 * time.Minute

// Compare says what a list as it was read now says beyond what it said at the reading before. It is pure.
//
// A page that came into the list, or whose date or mark is another one than before, is told to have changed. When, its date
// says, if that lies behind the one before and not in the future: at the second that it names, or by the end of the day,
// month or year, in whatever zone, but no later than now. Any other date says no more than that it happened by now, and so
// does none. A date that went away tells nothing.
//
// Of a list that was not read whole the time before, a page that is not among what was read may have been in it: only its
// date tells something of it, and then it does. Entries that vanish tell nothing.
func Compare(before, now Set, at time.Time) News {
	var n News
	had, has := said(&before), said(&now)
	for _, e := range entries(&now) {
		is, was := has[e.Loc], had[e.Loc]
		if is.met {
			continue
		}
		is.met = true
		if was == nil {
			n.New = append(n.New, e)
			if moment := is.moment(saying{}, at); !before.Partial || moment.Before(at) {
				n.Told = append(n.Told, Told{e.Loc, is.since(saying{}, at), moment, !before.Partial})
			}
			continue
		}
		was.met = true
		marked, dated := !subset(is.marks, was.marks), !is.lastMod.Equal(was.lastMod)
		if now.Kind == Feed && is.lastMod.Before(was.lastMod) {
			dated = false // the newest of several entries went
		}
		if !marked && !dated {
			continue
		}
		n.Renewed++
		if marked || !is.lastMod.IsZero() {
			n.Told = append(n.Told, Told{Loc: e.Loc, Since: is.since(*was, at), At: is.moment(*was, at)})
		}
	}
	for _, s := range had {
		if !s.met && !now.Partial {
			n.Vanished++
		}
	}
	return n
}

// entries are those of a list, whatever its kind.
func entries(s *Set) []Entry {
	if s.Kind == Index {
		return s.Sitemaps
	}
	return s.URLs
}

// saying is what a list says of one page: its newest date, and the marks of all entries that lead to it.
type saying struct {
	lastMod, end time.Time
	marks        []uint64 // a few, for few feeds have many entries for one page; the newest marksKept
	met          bool
}

// marksKept bounds what is kept of a page to which every entry of a feed leads.
const marksKept = 64

func said(set *Set) map[string]*saying {
	list := entries(set)
	of := make(map[string]*saying, len(list))
	for _, e := range list {
		s := of[e.Loc]
		if s == nil {
			s = &saying{lastMod: e.LastMod, end: e.End}
			of[e.Loc] = s
		}
		if e.LastMod.After(s.lastMod) {
			s.lastMod, s.end = e.LastMod, e.End
		}
		if e.Mark != 0 && len(s.marks) < marksKept {
			s.marks = append(s.marks, e.Mark)
		}
	}
	return of
}

func subset(some, of []uint64) bool {
	return !slices.ContainsFunc(some, func(m uint64) bool { return !slices.Contains(of, m) })
}

// since is before when no visit has seen what changed between two sayings, in the zone farthest ahead of UTC where none is
// told.
func (s *saying) since(was saying, now time.Time) time.Time {
	switch {
	case s.lastMod.IsZero() || !s.lastMod.After(was.lastMod) || s.lastMod.After(now.Add(slack)):
		return time.Time{}
	case s.end.Equal(s.lastMod):
		return min2(s.lastMod, now)
	}
	return s.lastMod.Add(-ahead)
}

// ahead is how far the zone farthest ahead of UTC is ahead of it.
const ahead = 14 * time.Hour

func min2(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// moment is from when on a visit has seen what changed between two sayings.
func (s *saying) moment(was saying, now time.Time) time.Time {
	if s.lastMod.IsZero() || !s.lastMod.After(was.lastMod) || s.lastMod.After(now.Add(slack)) || s.end.After(now) {
		return now
	}
	return s.end
}
