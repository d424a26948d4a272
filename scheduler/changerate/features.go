package changerate

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
	length
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
	patternSeason
	restSeason
	daySeason

	hostNews
	folderNews
	sectionNews
	patternNews
	kindNews
	wordNews
	restNews
	dayNews
	featureCount
)

// features are all that is known of a page beside its own visits. A further one needs a constant, a line here, and its
// value in Reading.readLasting or Reading.readPassing; a Weights stored with others is refused (ErrOtherModel) and the workers begin
// with the defaults.
var features = [featureCount]feature{
	anyPage:       {"any page", true, -0.786, 0.251},
	namedIndex:    {"named like an index", true, 0.190, 0.147},
	neverChanged:  {"never seen to change", true, -0.175, 0.160},
	stillVisits:   {"visits without a change", true, -0.149, 0.133},
	length:        {"length", true, 0.380, 0.120},
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
	patternSeason: {"pattern changed this season", false, 1.200, 0.300},
	restSeason:    {"translations changed this season", false, 1.200, 0.300},
	daySeason:     {"pages known since the same day changed this season", false, 0.700, 0.250},

	hostNews:    {"host changed since", false, 0, 0.090},
	folderNews:  {"folder changed since", false, 0, 0.090},
	sectionNews: {"section changed since", false, 0, 0.090},
	patternNews: {"pattern changed since", false, 0, 0.090},
	kindNews:    {"kind changed since", false, 0, 0.090},
	wordNews:    {"first word changed since", false, 0, 0.090},
	restNews:    {"translations changed since", false, 0, 0.090},
	dayNews:     {"pages known since the same day changed since", false, 0.350, 0.120},
}

// lasting adds the features that last.
func (r *Reading) readLasting() {
	s := r.subject
	r.lasting(anyPage, 1)
	r.lasting(namedIndex, flag(s.Names.Index))
	if r.still {
		r.lasting(neverChanged, 1)
		r.lasting(stillVisits, log1pOf(float64(max(0, s.Visits))))
	}
	r.lasting(length, r.crowd.lengths.of(s.Bytes))
	r.lasting(newPage, flag(s.New))
	r.lasting(datedPath, flag(s.Names.Date != 0))
}

// readPassing adds the features of the time.
func (r *Reading) readPassing() {
	s := r.subject
	if !r.still { // how long ago the page was last seen to change, in mean times between two visits
		r.both(changedOfLate, logOf((max(0, r.now-s.ChangedAt)+0.2*r.cycle)/r.cycle))
	}
	if s.New {
		span := spanOf(bounded(s.KnownAt, 0, r.now), r.last, r.now, logMonth)
		r.passing(age, span.past, span.future)
		r.passing(youth, max(0, -span.past), max(0, -span.future)) // by how much it lies under the unit
	}
	if date := s.Names.Date; date != 0 {
		span := spanOf(bounded(date, -lastDay, lastDay), r.last, r.now, logSeason)
		r.passing(dateAge, span.past, span.future)
		r.passing(dateYouth, max(0, -span.past), max(0, -span.future))
	}
	if g := r.groups[byFolder]; g != nil && g.heat != nil {
		r.both(folderWeek, r.heat(g.heat, week))
		r.both(folderSeason, r.heat(g.heat, season))
	}
	if g := r.groups[byTop]; g != nil && g.heat != nil {
		r.both(sectionWeek, r.heat(g.heat, week))
		r.both(sectionSeason, r.heat(g.heat, season))
	}
	for _, h := range seasonOf {
		if g := r.groups[h.grouping]; g != nil && g.heat != nil && r.crowd.tells(g) {
			excess := r.heat(g.heat, season)
			r.passing(h.feature, excess, r.lasts.share[season]*excess)
		}
	}
	r.since.read(r) // the news of the time to come is not known
	r.passing(hostNews, r.since.ofHost, 0)
	for i, g := range r.groups {
		if g != nil && g.news != nil {
			r.passing(newsOf[i], r.since.of[i], 0)
		}
	}
}

// heat is that of a group by one memory. What is made of one at present serves the next page; of a time to come, the next group
// that was visited last at the same time.
func (r *Reading) heat(h *heat, memory int) float64 {
	if !r.ahead {
		return h.of(r.now)[memory]
	}
	if r.fadedFrom != h.at {
		r.fadedFrom, r.faded = h.at, fade(h.at, r.now)
	}
	return h.beyond(memory, r.faded[memory])
}

// news are those of a page's host and groups since its last record. Looks at different times to come have the same.
type news struct {
	known  bool
	in     stretch
	ofHost float64
	of     [groupings]float64
}

// read brings the news up to the time of a reading.
func (n *news) read(r *Reading) {
	in := r.crowd.since(r.last, r.now)
	if n.known && n.in == in {
		return
	}
	n.known, n.in, n.ofHost = true, in, r.crowd.all.news(in)
	for i, g := range r.groups {
		if g != nil && g.news != nil {
			n.of[i] = g.news.news(in)
		}
	}
}

// seasonOf are the features that tell the heat of further groups.
var seasonOf = [...]struct{ grouping, feature int }{{byPattern, patternSeason}, {byRest, restSeason}, {byDay, daySeason}}

// newsOf are the features that tell the news of each grouping.
var newsOf = [groupings]int{
	byFolder: folderNews, byTop: sectionNews, byPattern: patternNews, byKind: kindNews, byWord: wordNews, byRest: restNews,
	byDay: dayNews,
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// The logarithms of the units of ages: 30 and 100 days.
const logMonth, logSeason = 3.4011973816621555, 4.605170185988092

// span is the logarithm of an age in some unit: on (geometric) average since the last record, and now.
type span struct{ past, future float64 }

// spanOf is the span since a beginning, in a unit whose logarithm is given. The ends are one day older than they are: the
// logarithm has no 0.
func spanOf(begin, last, now, logUnit float64) span {
	then, today := logOf(max(0, last-begin)+1), logOf(max(0, now-begin)+1)
	return span{past: (then+today)/2 - logUnit, future: today - logUnit}
}
