package main

import (
	"math"
	"time"

	"recrawld/models"
	"recrawld/scheduler/changerate"
)

// shownPage is the JSON form of a page, for show and why. Times that never were are null.
type shownPage struct {
	URL          string         `json:"url"`
	Site         string         `json:"site"`
	State        string         `json:"state"`
	Note         string         `json:"note,omitempty"`
	Level        int16          `json:"level"`
	Requisite    bool           `json:"requisite,omitempty"`
	UnnamedAt    *time.Time     `json:"unnamed_at,omitempty"`
	NamedAt      *time.Time     `json:"named_at,omitempty"`
	DueAt        *time.Time     `json:"due_at"`
	FR           int            `json:"fr"`
	FRMax        int32          `json:"fr_max"`
	FRMaxCeiling int            `json:"fr_max_ceiling"`
	EverySeconds int64          `json:"every_seconds"`
	Rule         string         `json:"rule"`
	Visits       int32          `json:"visits"`
	TriedAt      *time.Time     `json:"tried_at"`
	Records      int32          `json:"records"`
	Changes      int32          `json:"changes"` // of the content
	ByteChanges  int32          `json:"byte_changes"`
	BytesAt      *time.Time     `json:"bytes_changed_at"`
	FirstAt      *time.Time     `json:"first_at"`
	VisitedAt    *time.Time     `json:"visited_at"`
	ChangedAt    *time.Time     `json:"changed_at"`
	Rate         *shownRate     `json:"rate"` // of the content
	ByteRate     *shownRate     `json:"byte_rate"`
	MissingSince *time.Time     `json:"missing_since,omitempty"`
	Failures     int32          `json:"failures"`
	Class        string         `json:"class,omitempty"`
	RedirectTo   string         `json:"redirect_to,omitempty"`
	FreshUntil   *time.Time     `json:"fresh_until"`
	ETag         string         `json:"etag,omitempty"`
	LastModified string         `json:"last_modified,omitempty"`
	ContentType  string         `json:"content_type,omitempty"`
	Bytes        int64          `json:"bytes"`
	Digest       string         `json:"digest,omitempty"`
	DuplicateOf  string         `json:"duplicate_of,omitempty"`
	NoArchive    bool           `json:"no_archive,omitempty"`
	Children     int32          `json:"children"`
	Version      int32          `json:"version"`
	Versions     []shownVersion `json:"versions,omitempty"`
}

// shownRate is the JSON form of a change rate; High is null where it has no bound.
type shownRate struct {
	PerDay float64  `json:"per_day"`
	Low    float64  `json:"low"`
	High   *float64 `json:"high"`
}

type shownVersion struct {
	Number       int32      `json:"number"`
	At           *time.Time `json:"at"`
	Status       int16      `json:"status"`
	Bytes        int64      `json:"bytes"`
	ContentType  string     `json:"content_type"`
	Significant  bool       `json:"significant"`
	Significance float64    `json:"significance"`
	Reasons      []string   `json:"reasons"`
	Digest       string     `json:"digest"`
	TextDigest   string     `json:"text_digest,omitempty"`
	ETag         string     `json:"etag,omitempty"`
	LastModified string     `json:"last_modified,omitempty"`
	File         string     `json:"file"`
	Offset       int64      `json:"offset"`
	Length       int64      `json:"length"`
}

func pageJSON(l *look, p models.Page, versions []models.Version) shownPage {
	s := shownPage{
		URL: p.URL, Site: l.siteNames()[p.SiteID], State: p.State.String(), Note: p.Note, Level: p.Level, Requisite: p.Requisite, UnnamedAt: when(p.UnnamedAt), NamedAt: when(p.NamedAt),
		DueAt: when(p.DueAt), FRMax: p.FRMax, FRMaxCeiling: l.force.planner.Ceiling(p.SiteID, l.now),
		EverySeconds: int64(l.calendar.Interval(l.now, int(p.FRMax)).Seconds()), Rule: p.Rule.String(),
		Visits: p.Visits, TriedAt: when(p.TriedAt), Records: p.Stats.Records, Changes: p.Stats.Changes,
		FirstAt: when(p.Stats.FirstAt), VisitedAt: when(p.Stats.VisitedAt), ChangedAt: when(p.Stats.ChangedAt),
		ByteChanges: p.ByteChanges, BytesAt: when(p.BytesAt), ByteRate: rateJSON(byteRate(p)),
		Rate: rateJSON(l.rate(p.Stats)), Failures: p.Failures, Class: p.Class.String(), RedirectTo: p.RedirectTo,
		MissingSince: when(p.MissingSince), FreshUntil: when(p.FreshUntil), ETag: p.ETag, LastModified: p.LastModified, ContentType: p.ContentType,
		Bytes: p.Bytes, Digest: p.Digest.String(), DuplicateOf: p.DuplicateOf, NoArchive: p.NoArchive,
		Children: p.Children, Version: p.Version,
	}
	if p.DueAt != 0 {
		s.FR = min(l.cyclesLeft(p), int(p.FRMax)) // the rule says what keeps it waiting for longer
	}
	for _, v := range versions {
		s.Versions = append(s.Versions, versionJSON(v))
	}
	return s
}

func versionJSON(v models.Version) shownVersion {
	return shownVersion{Number: v.Number, At: when(v.At), Status: v.Status, Bytes: v.Bytes,
		ContentType: v.ContentType, Significant: v.Significant, Significance: round(float64(v.Significance)), Reasons: v.Reasons.Words(), Digest: v.Digest.String(), TextDigest: v.TextDigest.String(),
		ETag: v.ETag, LastModified: v.LastModified, File: v.Record.File, Offset: v.Record.Offset, Length: v.Record.Length}
}

// when is a moment for JSON, nil for never.
func when(at models.Instant) *time.Time {
	if at == 0 {
		return nil
	}
	t := at.Time()
	return &t
}

func rateJSON(r changerate.Rate) *shownRate {
	if !r.Known() {
		return nil
	}
	s := &shownRate{PerDay: r.PerDay, Low: r.Low}
	if !math.IsInf(r.High, 1) {
		s.High = &r.High
	}
	return s
}

// shownWhy is the JSON form of why.
type shownWhy struct {
	Page      shownPage      `json:"page"`
	Paused    bool           `json:"paused"`  // its site is: there is no next visit until it is resumed
	NextAt    *time.Time     `json:"next_at"` // later than due_at where its host rests; null: not visited
	Sentence  string         `json:"because"`
	Policy    shownPolicy    `json:"policy"`
	Adaptive  *shownAdaptive `json:"adaptive,omitempty"`
	Rate      *shownRate     `json:"rate"`             // by the gaps between the visits where the history has them
	Gap       float64        `json:"mean_gap_seconds"` // between the last records
	Freshness *float64       `json:"freshness"`
	Age       *float64       `json:"age_seconds"`
	Host      shownHost      `json:"host"`
	Scope     verdict        `json:"scope"`
	Robots    verdict        `json:"robots"`
	Newest    *shownVersion  `json:"newest_version,omitempty"`
	Unmatched []string       `json:"selectors_without_match,omitempty"`
	NoFollow  bool           `json:"nofollow,omitempty"` // it asks that its links be not followed
	Hubs      []shownHub     `json:"hubs,omitempty"`
	Visits    []shownVisit   `json:"visits"`
}

// shownPolicy is the arithmetic of the last record. Before and Result are null where it cannot be done again.
type shownPolicy struct {
	Name    string `json:"name"`
	Records int    `json:"x"`
	Differ  int    `json:"counter"`
	B       int    `json:"b"`
	Before  *int   `json:"fr_max_before"`
	Result  *int   `json:"fr_max_after"`
}

type shownHost struct {
	Name         string     `json:"name"`
	Pages        int32      `json:"pages"`
	DelaySeconds float64    `json:"delay_seconds"`
	Failures     int32      `json:"failures"`
	BackoffUntil *time.Time `json:"backoff_until"`
	Response     float64    `json:"response_seconds"` // smoothed; 0: it has not answered yet
	Slowed       string     `json:"slowed,omitempty"` // why its delay is longer than the settings say
	Waits        string     `json:"waits,omitempty"`  // how long for a place, and why
}

type shownVisit struct {
	Number  int32      `json:"number"`
	At      *time.Time `json:"at"`
	Outcome string     `json:"outcome"`
	Class   string     `json:"class,omitempty"`
	Status  int16      `json:"status"`
	Millis  int64      `json:"took_ms"`
	Bytes   int64      `json:"bytes"`
	FRMax   int32      `json:"fr_max"`
	Version int32      `json:"version"`
	Rule    string     `json:"rule"`
}

func (w why) json(l *look) shownWhy {
	p := w.page
	s := shownWhy{Page: pageJSON(l, p, nil), Paused: w.site.Paused, NextAt: when(models.At(w.next())), Sentence: w.ruling.sentence(), Rate: rateJSON(w.rate),
		Gap: w.gap(l).Seconds(), Scope: w.scope, Robots: w.robots, Host: shownHost{w.host.Name, w.host.Pages, w.host.Delay.Seconds(), w.host.Failures,
			when(w.host.BackoffUntil), w.host.Trials.Load.Response.Seconds(), w.slowed, w.place}}
	s.Adaptive, s.Unmatched, s.NoFollow, s.Hubs = adaptiveJSON(w.ruling.explained), w.unmatched, w.unfollowed, w.hubs
	if w.newest.Number > 0 {
		v := versionJSON(w.newest)
		s.Newest = &v
	}
	c, before, known := w.ruling.choice()
	s.Policy = shownPolicy{Name: w.ruling.settings.Policy, Records: c.X, Differ: c.Count, B: c.B}
	if known {
		s.Policy.Before, s.Policy.Result = &before, &c.FRMax
	}
	if w.bounded() && w.rate.PerDay > 0 && p.DueAt != 0 {
		every := w.gap(l)
		fresh, age := changerate.Freshness(w.rate.PerDay, every), changerate.Age(w.rate.PerDay, every).Seconds()
		s.Freshness, s.Age = &fresh, &age
	}
	if w.site.Paused || p.State == models.StateExcluded {
		s.NextAt = nil
	}
	for _, v := range w.history[:min(len(w.history), historyShown)] {
		s.Visits = append(s.Visits, visitJSON(v))
	}
	return s
}

func visitJSON(v models.Visit) shownVisit {
	return shownVisit{v.Number, when(v.At), v.Kind.String(), v.Class.String(), v.Status, v.Took.Milliseconds(), v.Bytes, v.FRMax, v.Version,
		v.Rule.String()}
}
