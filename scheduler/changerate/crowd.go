package changerate

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// The bounds of what is kept of one host.
const (
	maxGroups = 4096 // groups; those with the fewest pages are dropped
	company   = 3    // pages that make a group worth a calendar
)

// lastDay bounds the times that are looked at, in days since 1970: the year 9999. Beyond it clocks are broken.
const lastDay = 2_932_896

// Crowd is what the visits to one host's pages taught about the others: how often its pages change, and for the groups
// that their names make (Names), which of them changed more than expected and when. The zero Crowd knows nothing and
// is ready for use. It is not safe for concurrent use.
//
// Where nearly every visit finds a change, be it that bytes change which mean nothing or that there are visits for a
// few changes only, no visit tells how often a page changes, and which pages to prefer would be guessed. Such a host's
// pages are visited in turn the more, the larger the share of visits that found one.
//
// Times are days since 1970, UTC, as fractions.
type Crowd struct {
	changes, days float64 // seen, of all pages, in how many page-days
	visits        float64 // entered so far
	turned        float64 // the share of the last few hundred that found a change
	lengths       lengths // of the pages
	met           float64 // how many pages there were to meet
	begin         float64 // the first day; 0: nothing was learned
	width         float64 // days to a bin of the calendars
	filled        int     // no calendar has anything behind this bin
	all           calendar
	rhythm        *rhythm // nil: nothing was seen of it
	untold        [Tellers]untold
	leads         map[int64]lead // pages that lead to new ones, by their IDs
	groups        map[uint64]*group
	epoch         uint64 // of the groups: another one whenever there are others
	keys          []uint64
	keysOf        uint64 // the epoch whose groups' keys they are, in order
	written       int    // bytes of the last writing
	asLevel       memo   // of the last rate
}

// group is what is known of one group of pages.
type group struct {
	members int32     // pages that were met
	usedAt  float32   // the day
	heat    *heat     // nil where it says nothing: see warms
	news    *calendar // nil for groups of a few
}

// Known tells the crowd of a page of its host that it has not met, after the page's first record. Pages that are older
// than the crowd it meets by itself, at their next visit (Learn).
func (c *Crowd) Known(s *Subject, now float64) {
	now = bounded(now, 1, lastDay)
	c.reach(now)
	c.met++
	c.lengths.add(s.Bytes, cycle(s)) // a page counts from its first record on
	for _, key := range s.Names.Groups {
		if key == 0 {
			continue
		}
		g := c.groups[key]
		if g == nil {
			g = c.found(key)
		}
		g.members = min(g.members+1, math.MaxInt32-1)
		g.usedAt = float32(math.Floor(now))
	}
}

// found makes room for a group.
func (c *Crowd) found(key uint64) *group {
	if c.groups == nil {
		c.groups = make(map[uint64]*group)
	}
	if len(c.groups) >= maxGroups {
		c.forget(maxGroups / 4)
	}
	g := new(group)
	c.groups[key] = g
	c.epoch++
	return g
}

// forget drops so many groups: those of least use, of these the longest unused.
func (c *Crowd) forget(count int) {
	keys := slices.SortedFunc(maps.Keys(c.groups), func(a, b uint64) int {
		x, y := c.groups[a], c.groups[b]
		return cmp.Or(cmp.Compare(x.use(a), y.use(b)), cmp.Compare(x.usedAt, y.usedAt), cmp.Compare(a, b))
	})
	for _, key := range keys[:min(count, len(keys))] {
		delete(c.groups, key)
	}
	c.epoch++
}

// Place remembers the groups of one page in the Crowd where they were looked up last. The zero Place is ready for use. It
// is not safe for concurrent use, as the Crowd.
type Place struct {
	crowd  *Crowd
	epoch  uint64
	groups [groupings]*group // nil: not kept
}

// place is the groups of a page, looked up where nothing remembers them.
func (c *Crowd) place(s *Subject, found *[groupings]*group) {
	if p := s.Place; p != nil && p.crowd == c && p.epoch == c.epoch {
		*found = p.groups
		return
	}
	for i, key := range s.Names.Groups {
		found[i] = c.groups[key]
	}
	if s.Place != nil {
		*s.Place = Place{c, c.epoch, *found}
	}
}

// use ranks groups: by their pages. A folder tells more than a name, by its heat.
func (g *group) use(key uint64) int {
	if grouping := key & groupingBits; grouping == byFolder || grouping == byTop {
		return 4 * int(g.members)
	}
	return int(g.members)
}

// warms tells whether the heat of a group says anything: that of pages which share a word of their names does not, nor
// that of a single page, unless it is a folder or a section.
func (g *group) warms(key uint64) bool {
	switch key & groupingBits {
	case byFolder, byTop:
		return true
	case byPattern, byRest, byDay:
		return g.members > 1
	}
	return false
}

// tells whether the heat of a group says something that those of the folders do not: it has several pages, and is not most
// of the host. A weight on what the whole host does of late would feed itself.
func (c *Crowd) tells(g *group) bool { return g.members > 1 && float64(g.members) <= c.met/2 }

// reach makes the calendars long enough to hold a time.
func (c *Crowd) reach(now float64) {
	if c.begin == 0 {
		c.begin, c.width = now, 1
	}
	for now-c.begin >= c.width*bins {
		c.width *= 2
		c.filled /= 2
		c.all.widen()
		for _, g := range c.groups {
			if g.news != nil {
				g.news.widen()
			}
		}
	}
}

// between is the stretch of the calendars from one time to another. What lies outside of them is left out.
func (c *Crowd) between(from, to float64) stretch {
	if c.begin == 0 {
		return stretch{}
	}
	low := bounded((from-c.begin)/c.width, 0, bins)
	return between(low, max(low, bounded((to-c.begin)/c.width, 0, bins)))
}

// since is what of that stretch lies before the end of all that was entered: where a time to come lies behind it, it does not
// matter which it is.
func (c *Crowd) since(from, to float64) stretch {
	if c.begin == 0 {
		return stretch{}
	}
	end := float64(c.filled + 1)
	low := bounded((from-c.begin)/c.width, 0, end)
	return between(low, max(low, bounded((to-c.begin)/c.width, 0, end)))
}

// sight is one visit as the crowd enters it.
type sight struct {
	from, at       float64 // the visits before and now
	bytes          int64   // the length of the content of the one before; 0: not known
	changedAt      float64 // 0, or when it changed, where that is known
	count          float64 // changes seen, 0 or ≥ 1, by what is now known of the page
	changes        float64 // the same by what was expected without the news of the calendars
	expected       float64 // over the whole time, without the news of the calendars
	chance, turned float64 // that a change would be seen, and 1 where it was
}

// learn enters a visit.
func (c *Crowd) learn(names *Names, v sight) {
	c.reach(v.at)
	c.filled = max(c.filled, c.between(v.from, v.at).last)
	c.changes += v.count
	c.days += v.at - v.from
	c.lengths.add(v.bytes, v.at-v.from)
	c.visits++
	c.turned += (v.turned - c.turned) / min(c.visits, turnedVisits)
	c.all.enter(c, v)
	for _, key := range names.Groups {
		g := c.groups[key]
		if g == nil {
			continue
		}
		g.usedAt = float32(math.Floor(v.at))
		if g.heat == nil && g.warms(key) {
			g.heat = new(heat)
		}
		if g.heat != nil {
			g.heat.add(v.at, v.chance, v.turned)
		}
		if g.news == nil && g.members >= company {
			g.news = new(calendar)
		}
		if g.news != nil {
			g.news.enter(c, v)
		}
	}
}

// The share of visits that found a change is that of so many visits, and says nothing before there are a few. Up to
// the lower bound it leaves rates alone, from the upper one on they are not looked at.
const (
	turnedVisits           = 300
	fewVisits              = 20
	noiseBegins, noiseWins = 0.70, 0.80
)

// hour learns at what hours pages change from a visit to one of the given rate; see rhythm.learn.
func (c *Crowd) hour(g Gamma, from, at, days float64, changed bool, changedAt float64) {
	if c.visits < fewVisits {
		return
	}
	if c.rhythm == nil {
		c.rhythm = new(rhythm)
	}
	c.rhythm.learn(g, from, at, days, changed, changedAt)
}

// noise is how little the rates of the pages are to be trusted, in [0, 1], where a page is visited every cycle days on
// average. That most pages changed since they were seen years ago is no sign of noise.
func (c *Crowd) noise(cycle float64) float64 {
	if c.visits < fewVisits {
		return 0
	}
	often := bounded((seldomVisited-cycle)/(seldomVisited-oftenVisited), 0, 1)
	return often * bounded((c.turned-noiseBegins)/(noiseWins-noiseBegins), 0, 1)
}

// Where a page is visited more often than the one, in days, a visit that finds a change speaks for noise, and where it is
// visited less often than the other it does not.
const oftenVisited, seldomVisited = 365, 1095

// enter adds a visit to a calendar; where the time of the change is known, in that place.
func (c *calendar) enter(crowd *Crowd, v sight) {
	seen := v.changes
	if v.changedAt > 0 && seen > 0 {
		count(&c.seen[crowd.between(v.changedAt, v.changedAt).first], seen+grain*dither(v.changedAt, seen))
		seen = 0
	}
	c.add(crowd.between(v.from, v.at), v.expected, seen)
}

// rate is how often a page of this host changes, per day: as often as its pages did, with one change more at the rate
// of the others.
func (c *Crowd) rate(elsewhere float64) float64 {
	return (c.changes + 1) / (c.days + 1/elsewhere)
}

// level is the logarithm of a rate, which is that of all pages as long as nothing is learned.
func (c *Crowd) level(rate float64) float64 { return c.asLevel.of(rate, logOf) }

// memo is a function's value where it was asked for last.
type memo struct {
	at, value float64
	known     bool
}

func (m *memo) of(x float64, f func(float64) float64) float64 {
	if !m.known || m.at != x {
		*m = memo{x, f(x), true}
	}
	return m.value
}
