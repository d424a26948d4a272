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
}

// The logarithm of the prior's shape is a weight too: how many changes the features are worth.
const shapeWeight, shapeSpread = 0.869, 0.4

// The features, in the order of the table.
const (
	anyPage = iota
	namedIndex
	neverChanged
	stillVisits
	changedOfLate

	newPage
	age
	youth
	datedPath
	dateAge
	dateYouth

	folderWeek
	folderSeason
	sectionWeek
	sectionSeason

	hostNews
	folderNews
	sectionNews
	patternNews
	kindNews
	wordNews
	restNews
	featureCount
)

// features are all that is known of a page beside its own visits. A further one needs a constant, a line here, and its
// value in view.lasting or view.passing; a Weights stored with others is refused (ErrOtherModel) and the workers begin
// with the defaults.
var features = [featureCount]feature{
	anyPage:       {"any page", true, -0.786, 0.251},
	namedIndex:    {"named like an index", true, 0.190, 0.147},
	neverChanged:  {"never seen to change", true, -0.175, 0.160},
	stillVisits:   {"visits without a change", true, -0.149, 0.133},
	changedOfLate: {"changed of late", false, -0.581, 0.197},

	newPage:   {"new page", true, 0.585, 0.124},
	age:       {"age", false, -0.281, 0.059},
	youth:     {"youth", false, -0.085, 0.110},
	datedPath: {"dated path", true, 0.392, 0.095},
	dateAge:   {"age of its date", false, -0.144, 0.065},
	dateYouth: {"youth of its date", false, 0.252, 0.079},

	folderWeek:    {"folder changed this week", false, 0.548, 0.236},
	folderSeason:  {"folder changed this season", false, 1.492, 0.270},
	sectionWeek:   {"section changed this week", false, 0.108, 0.076},
	sectionSeason: {"section changed this season", false, 0.339, 0.077},

	hostNews:    {"host changed since", false, 0, 0.090},
	folderNews:  {"folder changed since", false, 0, 0.090},
	sectionNews: {"section changed since", false, 0, 0.090},
	patternNews: {"pattern changed since", false, 0, 0.090},
	kindNews:    {"kind changed since", false, 0, 0.090},
	wordNews:    {"first word changed since", false, 0, 0.090},
	restNews:    {"translations changed since", false, 0, 0.090},
}

// view is a page, with what several features look at. What lasts is read once, however many times it is looked at.
type view struct {
	subject   *Subject
	crowd     *Crowd
	groups    [groupings]*group // nil: not kept
	now, last float64
	cycle     float64
	still     bool // never seen to change
}

// at moves the view to a time, of which the page's last record lies before. The times are in bounds.
func (v *view) at(last, now float64) { v.last, v.now = last, now }

// lasting reads the features that last.
func (v *view) lasting(values *vector) {
	s := v.subject
	values[anyPage] = 1
	values[namedIndex] = flag(s.Names.Index)
	values[neverChanged] = flag(v.still)
	if v.still {
		values[stillVisits] = math.Log1p(float64(max(0, s.Visits)))
	}
	values[newPage] = flag(s.New)
	values[datedPath] = flag(s.Names.Date != 0)
}

// passing reads the features of the time: since the last record, and from now on.
func (v *view) passing(past, future *vector) {
	if !v.still { // how long ago the page was last seen to change, in mean times between two visits
		both(past, future, changedOfLate, math.Log((max(0, v.now-v.subject.ChangedAt)+0.2*v.cycle)/v.cycle))
	}
	if v.subject.New {
		span := spanOf(bounded(v.subject.KnownAt, 0, v.now), v.last, v.now, logMonth)
		past[age], future[age] = span.past, span.future
		past[youth], future[youth] = span.young()
	}
	if date := v.subject.Names.Date; date != 0 {
		span := spanOf(bounded(date, -lastDay, lastDay), v.last, v.now, logSeason)
		past[dateAge], future[dateAge] = span.past, span.future
		past[dateYouth], future[dateYouth] = span.young()
	}
	if g := v.groups[byFolder]; g != nil {
		heat := g.heat.of(v.now)
		both(past, future, folderWeek, heat[0])
		both(past, future, folderSeason, heat[1])
	}
	if g := v.groups[byTop]; g != nil {
		heat := g.heat.of(v.now)
		both(past, future, sectionWeek, heat[0])
		both(past, future, sectionSeason, heat[1])
	}
	since := v.crowd.between(v.last, v.now) // the news of the time to come is not known
	past[hostNews] = v.crowd.all.news(since)
	for i, g := range v.groups {
		if g != nil && g.news != nil {
			past[newsOf[i]] = g.news.news(since)
		}
	}
}

// newsOf are the features that tell the news of each grouping.
var newsOf = [groupings]int{
	byFolder: folderNews, byTop: sectionNews, byPattern: patternNews, byKind: kindNews, byWord: wordNews, byRest: restNews,
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// both says the same of the past and of the future.
func both(past, future *vector, feature int, value float64) {
	past[feature], future[feature] = value, value
}

// The logarithms of the units of ages: 30 and 100 days.
const logMonth, logSeason = 3.4011973816621555, 4.605170185988092

// span is the logarithm of an age in some unit: on (geometric) average since the last record, and now.
type span struct{ past, future float64 }

// spanOf is the span since a beginning, in a unit whose logarithm is given. The ends are one day older than they are: the
// logarithm has no 0.
func spanOf(begin, last, now, logUnit float64) span {
	then, today := math.Log(max(0, last-begin)+1), math.Log(max(0, now-begin)+1)
	return span{past: (then+today)/2 - logUnit, future: today - logUnit}
}

// young is by how much it lies under the unit.
func (s span) young() (past, future float64) { return max(0, -s.past), max(0, -s.future) }
