package changerate

import "math"

// feature is one thing known of a page that moves the logarithm of its change rate by its weight times its value.
//
// A lasting feature is of the page: it moves the prior, and the page's own visits overrule it. The others are of the
// time: they say how much more than usual the page changed since its last visit (past), and will change from now on
// (future), and no visit overrules them.
type feature struct {
	name           string // for a person; also what a stored weight is known by
	lasting        bool
	weight, spread float64 // of the normal distribution to begin with
	read           func(*view) (past, future float64)
}

// The logarithm of the prior's shape is a weight too: how many changes the features are worth.
const shapeWeight, shapeSpread = 0.869, 0.4

// features are all that is known of a page beside its own visits. Adding one here is all there is to do; a Weights
// stored with others is refused (ErrOtherModel) and the workers begin with the defaults.
var features = [...]feature{
	{"any page", true, -0.786, 0.251, func(*view) (float64, float64) { return 1, 1 }},
	{"named like an index", true, 0.190, 0.147, func(v *view) (float64, float64) { return flag(v.subject.Names.Index) }},
	{"never seen to change", true, -0.175, 0.160, func(v *view) (float64, float64) { return flag(v.still) }},
	{"visits without a change", true, -0.149, 0.133, (*view).stillVisits},
	{"changed of late", false, -0.581, 0.197, (*view).sinceChange},

	{"new page", true, 0.585, 0.124, func(v *view) (float64, float64) { return flag(v.subject.New) }},
	{"age", false, -0.281, 0.059, func(v *view) (float64, float64) { return v.age.past, v.age.future }},
	{"youth", false, -0.085, 0.110, func(v *view) (float64, float64) { return v.age.young() }},
	{"dated path", true, 0.392, 0.095, func(v *view) (float64, float64) { return flag(v.subject.Names.Date != 0) }},
	{"age of its date", false, -0.144, 0.065, func(v *view) (float64, float64) { return v.dated.past, v.dated.future }},
	{"youth of its date", false, 0.252, 0.079, func(v *view) (float64, float64) { return v.dated.young() }},

	{"folder changed this week", false, 0.548, 0.236, func(v *view) (float64, float64) { return both(v.heat[byFolder][0]) }},
	{"folder changed this season", false, 1.492, 0.270, func(v *view) (float64, float64) { return both(v.heat[byFolder][1]) }},
	{"section changed this week", false, 0.108, 0.076, func(v *view) (float64, float64) { return both(v.heat[byTop][0]) }},
	{"section changed this season", false, 0.339, 0.077, func(v *view) (float64, float64) { return both(v.heat[byTop][1]) }},

	{"host changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.crowd.all.news(v.since), 0 }},
	{"folder changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.news(byFolder), 0 }},
	{"section changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.news(byTop), 0 }},
	{"pattern changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.news(byPattern), 0 }},
	{"kind changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.news(byKind), 0 }},
	{"first word changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.news(byWord), 0 }},
	{"translations changed since", false, 0, 0.090, func(v *view) (float64, float64) { return v.news(byRest), 0 }},
}

func flag(is bool) (past, future float64) {
	if is {
		return 1, 1
	}
	return 0, 0
}

func both(value float64) (past, future float64) { return value, value }

// view is a page at a time, with what several features look at.
type view struct {
	subject    *Subject
	crowd      *Crowd
	groups     [groupings]*group // nil: not kept
	now, last  float64
	cycle      float64
	since      stretch // of the calendars, since the last record
	still      bool    // never seen to change
	heat       [byTop + 1][len(memories)]float64
	age, dated span
}

// span is the logarithm of an age in some unit: on (geometric) average since the last record, and now.
type span struct{ past, future float64 }

// spanOf is the span since a beginning. The ends are one day older than they are: the logarithm has no 0.
func spanOf(begin, last, now, unit float64) span {
	then, today := math.Log(max(0, last-begin)+1), math.Log(max(0, now-begin)+1)
	return span{past: (then+today)/2 - math.Log(unit), future: today - math.Log(unit)}
}

// young is by how much it lies under the unit.
func (s span) young() (past, future float64) { return max(0, -s.past), max(0, -s.future) }

// look makes the view of a page whose last record lies before now. The times are in bounds.
func look(c *Crowd, s *Subject, last, now, cycle float64) *view {
	v := &view{
		subject: s, crowd: c, now: now, last: last, cycle: cycle,
		since: c.between(last, now),
		still: !(s.ChangedAt > 0),
	}
	for i, key := range s.Names.Groups {
		v.groups[i] = c.groups[key]
	}
	for i := range v.heat {
		if g := v.groups[i]; g != nil {
			v.heat[i] = g.heat.of(now)
		}
	}
	if s.New {
		v.age = spanOf(bounded(s.KnownAt, 0, now), last, now, 30)
	}
	if date := s.Names.Date; date != 0 {
		v.dated = spanOf(bounded(date, -lastDay, lastDay), last, now, 100)
	}
	return v
}

// news of a group since the page's last record; 0 for a group without a calendar.
func (v *view) news(grouping int) float64 {
	if g := v.groups[grouping]; g != nil && g.news != nil {
		return g.news.news(v.since)
	}
	return 0
}

func (v *view) stillVisits() (past, future float64) {
	if !v.still {
		return 0, 0
	}
	return both(math.Log1p(float64(max(0, v.subject.Visits))))
}

// sinceChange is how long ago the page was last seen to change, in mean times between two visits.
func (v *view) sinceChange() (past, future float64) {
	if v.still {
		return 0, 0
	}
	return both(math.Log((max(0, v.now-v.subject.ChangedAt) + 0.2*v.cycle) / v.cycle))
}
