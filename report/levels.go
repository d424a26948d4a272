package report

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/slo"
)

// LevelDays is how many days back a service level is measured, the present one included.
const LevelDays = 30

// NoteLevels is the name of the note with what was measured of service levels last: Levels.
const NoteLevels = "slo"

// Promise is the service level of a site.
type Promise struct {
	Site int32
	Goal config.Goal
	From time.Time // what visits found before is not known any more, or of before the site was added
}

// Levels is what was measured of the service levels of sites. Every change that visits found counts once for each, on the day on which
// it was found; so measuring again reads what is new in the event log alone. Workers whose files promise different levels have theirs
// measured together: of a site there are as many as it is promised.
type Levels struct {
	At     models.Instant // when it was measured
	Cursor string         // a models.FeedCursor, how far the log was read for it
	Sites  []Level
	By     map[string]Promiser // by worker
}

// Promiser is what a worker promises.
type Promiser struct {
	At  models.Instant // when it said so last
	Set uint64         // tells its promises together from those of other files
}

// Level is what was measured of one.
type Level struct {
	Site  int32
	Goal  config.Goal
	Since models.Instant // measured from then on
	Days  []LevelDay     // with a change, the oldest first
	In    []uint64       // of the sets of promises that it is of
}

// levelKey tells a level from all others.
type levelKey struct {
	site int32
	goal config.Goal
}

// LevelDay is what was missed on a day (DayNumber).
type LevelDay struct {
	Day int32
	slo.Missed
}

// Encode is the body of a note. It is no JSON: of a thousand sites that have a change every day, reading that takes ten times as long.
func (l Levels) Encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(l); err != nil {
		return nil, fmt.Errorf("note what service levels are attained: %w", err)
	}
	return b.Bytes(), nil
}

// ReadLevels reads what a note says. One of another release says nothing.
func ReadLevels(body []byte) Levels {
	var l Levels
	if gob.NewDecoder(bytes.NewReader(body)).Decode(&l) != nil {
		return Levels{}
	}
	return l
}

// Fits tells whether all promises have been measured as they are, but for sites that were added since.
func (l Levels) Fits(promises []Promise) bool {
	had := l.byPromise()
	for _, p := range promises {
		if _, known := had[p.key()]; l.At == 0 || !known && models.At(p.From) < l.At {
			return false
		}
	}
	return true
}

// SaidBy tells whether a worker said lately enough that it promises just this.
func (l Levels) SaidBy(worker string, promises []Promise, now time.Time) bool {
	by, said := l.By[worker]
	if len(promises) == 0 || !said {
		return len(promises) == 0 && !said
	}
	return by.Set == setOf(promises) && now.Sub(by.At.Time()).Abs() < promisedFor/2
}

// setOf tells promises together from others, in the order of their sites.
func setOf(promises []Promise) uint64 {
	h := fnv.New64a()
	for _, p := range promises {
		fmt.Fprintln(h, p.Site, p.Goal.Share, int64(p.Goal.Within)) // it never fails
	}
	return h.Sum64()
}

// Promised is what was measured of the promises, in their order.
func (l Levels) Promised(promises []Promise) []Level {
	had, of := l.byPromise(), make([]Level, 0, len(promises))
	for _, p := range promises {
		if level, known := had[p.key()]; known {
			of = append(of, level)
		}
	}
	return of
}

func (l Levels) byPromise() map[levelKey]Level {
	had := make(map[levelKey]Level, len(l.Sites))
	for _, level := range l.Sites {
		had[levelKey{level.Site, level.Goal}] = level
	}
	return had
}

func (p Promise) key() levelKey { return levelKey{p.Site, p.Goal} }

// promisedFor is for how long a worker that does not say so again is taken to promise what it did.
const promisedFor = 24 * time.Hour

// aheadBy is how far ahead of now what was measured last may be: beyond it the clock was set back since.
const aheadBy = time.Hour

// isAhead tells whether some of it was counted by a clock that was ahead: on days to come, or days before were left out for it.
func (l Levels) isAhead(now time.Time) bool {
	return l.At.Time().After(now.Add(aheadBy)) || slices.ContainsFunc(l.Sites, func(level Level) bool {
		n := len(level.Days)
		return level.Since.Time().After(now.Add(aheadBy)) || n > 0 && DayOf(level.Days[n-1].Day).After(now.Add(aheadBy))
	})
}

// MeasureLevels goes on from what was measured before, or begins anew where that does not fit the promises: then it reads the
// events of LevelDays. The promises are those of a worker; those of others that are alive are measured with them. A command has no
// worker's name, and measures its own. Between, if any, is called between parts of the reading, to rest.
func MeasureLevels(ctx context.Context, store *models.Store, before Levels, worker string, promises []Promise, now time.Time,
	between func(context.Context) error) (Levels, error) {
	cursor, err := models.ParseFeedCursor(before.Cursor)
	anew := err != nil || !before.Fits(promises) || before.isAhead(now)
	if anew {
		cursor = models.FeedCursor{}
	}
	m := newMeasuring(before, worker, promises, now, anew)
	if len(m.levels) == 0 {
		return Levels{}, nil
	}
	cursor, err = store.SeenChanges(ctx, cursor, models.At(m.since), between, m.add)
	if errors.Is(err, models.ErrCursorLost) {
		m = newMeasuring(before, worker, promises, now, true)
		cursor, err = store.SeenChanges(ctx, models.FeedCursor{}, models.At(m.since), between, m.add)
	}
	if err != nil {
		return before, fmt.Errorf("measure service levels: %w", err)
	}
	return Levels{At: models.At(now), Cursor: cursor.String(), Sites: m.levels, By: m.by}, nil
}

// measuring is a MeasureLevels under way.
type measuring struct {
	now, since time.Time
	by         map[string]Promiser
	levels     []Level
	index      map[int32][]int // by site
}

func newMeasuring(before Levels, worker string, promises []Promise, now time.Time, anew bool) *measuring {
	m := &measuring{now: now, since: DayOf(DayNumber(now) - LevelDays + 1), by: make(map[string]Promiser), index: make(map[int32][]int, len(promises))}
	if worker != "" {
		maps.Copy(m.by, before.By)
		maps.DeleteFunc(m.by, func(other string, by Promiser) bool {
			return other == worker || now.Sub(by.At.Time()).Abs() >= promisedFor
		})
	}
	had, mine, set := before.byPromise(), make(map[levelKey]bool, len(promises)), setOf(promises)
	others := m.sets()
	for _, p := range promises {
		level := had[p.key()]
		level.In = append(among(level.In, others, set), set)
		mine[p.key()] = true
		m.measure(level, p, anew)
	}
	if len(promises) > 0 && worker != "" {
		m.by[worker] = Promiser{models.At(now), set}
	}
	for _, level := range before.Sites {
		p := Promise{level.Site, level.Goal, level.Since.Time()}
		if level.In = among(level.In, others, set); !mine[p.key()] && len(level.In) > 0 {
			m.measure(level, p, anew)
		}
	}
	return m
}

// sets are the sets of promises of the workers.
func (m *measuring) sets() map[uint64]bool {
	sets := make(map[uint64]bool, len(m.by))
	for _, by := range m.by {
		sets[by.Set] = true
	}
	return sets
}

// among are those sets that are among some, but for one.
func among(sets []uint64, some map[uint64]bool, but uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(sets), func(set uint64) bool { return set == but || !some[set] })
}

// measure goes on with a level, or begins anew with it.
func (m *measuring) measure(level Level, p Promise, anew bool) {
	today := DayNumber(m.now)
	if anew || level.Since == 0 { // or added since
		from := later(p.From, m.since)
		if from.After(m.now.Add(aheadBy)) { // by a clock that was ahead
			from = m.since
		}
		level = Level{Site: p.Site, Goal: p.Goal, Since: models.At(from), In: level.In}
	}
	level.Days = slices.DeleteFunc(slices.Clone(level.Days), func(d LevelDay) bool { return d.Day <= today-LevelDays })
	m.index[p.Site] = append(m.index[p.Site], len(m.levels))
	m.levels = append(m.levels, level)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// add counts a change, on the present day where a clock that was ahead found it.
func (m *measuring) add(c models.SeenChange) {
	if c.NotBefore == 0 {
		return
	}
	for _, i := range m.index[c.SiteID] {
		level, day := &m.levels[i], min(models.DayOf(c.At), DayNumber(m.now))
		if c.At < level.Since {
			continue
		}
		at, known := slices.BinarySearchFunc(level.Days, day, func(d LevelDay, day int32) int { return int(d.Day - day) })
		if !known {
			level.Days = slices.Insert(level.Days, at, LevelDay{Day: day})
		}
		level.Days[at].Add(delayOf(c), level.Goal.Within)
	}
}

// delayOf is how long after a change a visit found it.
func delayOf(c models.SeenChange) slo.Delay {
	span := func(from models.Instant) time.Duration { return max(c.At.Time().Sub(from.Time()), 0) }
	seen := SeenOf(models.ChangeStats{Records: c.Records, Changes: c.Changes, FirstAt: c.FirstAt, VisitedAt: c.VisitedAt})
	d := slo.Delay{Most: span(c.NotBefore), Rate: seen.Rate()}
	if c.NotAfter != 0 && c.NotAfter < c.At {
		d.Dated, d.Least = true, min(span(c.NotAfter), d.Most)
	}
	return d
}

// SeenOf is what a page's visits showed of its changes. Their mean distance stands for all of them.
func SeenOf(s models.ChangeStats) slo.Seen {
	n := int(s.Records) - 1
	if n < 1 {
		return slo.Seen{}
	}
	return slo.Seen{Compared: n, Changed: int(s.Changes), Gap: s.VisitedAt.Time().Sub(s.FirstAt.Time()) / time.Duration(n)}
}
