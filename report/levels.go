package report

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
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

// Levels is what was measured of the service levels of sites. Every change that visits found counts once, on the day on which it
// was found; so measuring again reads what is new in the event log alone.
type Levels struct {
	At     models.Instant // when it was measured
	Cursor string         // a models.FeedCursor, how far the log was read for it
	Sites  []Level
}

// Level is what was measured of one.
type Level struct {
	Site  int32
	Goal  config.Goal
	Since models.Instant // measured from then on
	Days  []LevelDay     // with a change, the oldest first
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
	had := l.BySite()
	for _, p := range promises {
		if level, known := had[p.Site]; l.At == 0 || (!known || level.Goal != p.Goal) && models.At(p.From) < l.At {
			return false
		}
	}
	return true
}

// BySite is what was measured of each site.
func (l Levels) BySite() map[int32]Level {
	bySite := make(map[int32]Level, len(l.Sites))
	for _, level := range l.Sites {
		bySite[level.Site] = level
	}
	return bySite
}

// MeasureLevels goes on from what was measured before, or begins anew where that does not fit the promises: then it reads the
// events of LevelDays. Between, if any, is called between parts of that, to rest.
func MeasureLevels(ctx context.Context, store *models.Store, before Levels, promises []Promise, now time.Time,
	between func(context.Context) error) (Levels, error) {
	cursor, err := models.ParseFeedCursor(before.Cursor)
	if err != nil || !before.Fits(promises) {
		before, cursor = Levels{}, models.FeedCursor{}
	}
	if len(promises) == 0 {
		return Levels{}, nil
	}
	m := newMeasuring(before, promises, now)
	cursor, err = store.SeenChanges(ctx, cursor, models.At(m.since), between, m.add)
	if errors.Is(err, models.ErrCursorLost) {
		m = newMeasuring(Levels{}, promises, now)
		cursor, err = store.SeenChanges(ctx, models.FeedCursor{}, models.At(m.since), between, m.add)
	}
	if err != nil {
		return before, fmt.Errorf("measure service levels: %w", err)
	}
	return Levels{At: models.At(now), Cursor: cursor.String(), Sites: m.levels}, nil
}

// measuring is a MeasureLevels under way.
type measuring struct {
	since  time.Time
	levels []Level
	index  map[int32]int
}

func newMeasuring(before Levels, promises []Promise, now time.Time) *measuring {
	today, had := DayNumber(now), before.BySite()
	m := &measuring{since: DayOf(today - LevelDays + 1), index: make(map[int32]int, len(promises))}
	for _, p := range promises {
		level, known := had[p.Site]
		if !known || level.Goal != p.Goal { // added since
			level = Level{Site: p.Site, Goal: p.Goal, Since: models.At(later(p.From, m.since))}
		}
		level.Days = slices.DeleteFunc(slices.Clone(level.Days), func(d LevelDay) bool { return d.Day <= today-LevelDays })
		m.index[p.Site] = len(m.levels)
		m.levels = append(m.levels, level)
	}
	return m
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// add counts a change.
func (m *measuring) add(c models.SeenChange) {
	i, promised := m.index[c.SiteID]
	if !promised || c.NotBefore == 0 || c.At < m.levels[i].Since {
		return
	}
	level, day := &m.levels[i], models.DayOf(c.At)
	at, known := slices.BinarySearchFunc(level.Days, day, func(d LevelDay, day int32) int { return int(d.Day - day) })
	if !known {
		level.Days = slices.Insert(level.Days, at, LevelDay{Day: day})
	}
	level.Days[at].Add(delayOf(c), level.Goal.Within)
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
