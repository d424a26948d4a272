package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/report"
)

// selection is the versions that are exported.
type selection struct {
	prefixes []string // URLs begin with one of them; none: all
	bucket   int16    // of their host
	site     int32    // 0: all
	siteName string
	from, to models.Instant // to: not included; 0: no bound
	dates    string         // for a person
	last     bool
	sooner   models.Instant           // the last version before from; 0: none was met
	later    models.Instant           // the first one that is not before to; 0: none was met
	moved    func(*models.Page) error // called with the pages that led elsewhere by then, also those whose URLs begin otherwise; nil: nobody

	needs   bool  // what is added from now on was not selected: pages that are need it
	pages   int64 // with versions that are exported
	needed  int64 // of them those that others need to be shown
	refused int64 // that ask not to be archived
}

func (c exportCmd) selection(l *look) (*selection, error) {
	s := &selection{last: c.Last}
	var err error
	if s.site, err = l.siteID(c.Site); err != nil {
		return nil, err
	}
	s.siteName = l.siteNames()[s.site]
	if c.URL != "" {
		if err := s.only(c.URL); err != nil {
			return nil, err
		}
	}
	if s.from, _, err = datePeriod(c.From); err != nil {
		return nil, usagef("--from: %w", err)
	}
	if _, s.to, err = datePeriod(c.To); err != nil {
		return nil, usagef("--to: %w", err)
	}
	if s.from != 0 && s.to != 0 && s.from >= s.to {
		return nil, usagef("--from %s is after --to %s", c.From, c.To)
	}
	if c.From != "" {
		s.dates += " from " + c.From
	}
	if c.To != "" {
		s.dates += " to " + c.To
	}
	return s, nil
}

// only selects the pages whose URLs begin in one way.
func (s *selection) only(raw string) error {
	spellings := []string{raw}
	if !strings.Contains(raw, "://") {
		spellings = []string{"https://" + raw, "http://" + raw}
	}
	for _, spelling := range spellings {
		u, err := canon.Parse(spelling)
		if err != nil {
			return usagef("%w", err)
		}
		s.prefixes, s.bucket = append(s.prefixes, u.String()), models.BucketOf(u.HostName())
	}
	return nil
}

// dateForms are the forms of a date on the command line, with what each is a period of.
var dateForms = []struct {
	layout              string
	years, months, days int
}{{"2006", 1, 0, 0}, {"2006-01", 0, 1, 0}, {time.DateOnly, 0, 0, 1}, {time.RFC3339, 0, 0, 0}}

// datePeriod is when a period begins and when the next one does, in UTC; 0 for "".
func datePeriod(text string) (from, to models.Instant, err error) {
	if text == "" {
		return 0, 0, nil
	}
	for _, form := range dateForms {
		if at, err := time.Parse(form.layout, text); err == nil {
			return models.At(at), models.At(at.AddDate(form.years, form.months, form.days)), nil
		}
	}
	return 0, 0, fmt.Errorf("%.40q is no date: 2026, 2026-11, 2026-11-23 or 2026-11-23T10:00:00Z", text)
}

// words say what is selected.
func (s *selection) words() string {
	words := "all pages"
	switch {
	case len(s.prefixes) > 0:
		words = strings.Join(s.prefixes, ", ")
	case s.site != 0:
		words = s.siteName
	}
	if words += s.dates; s.last {
		words += ", last versions"
	}
	return words
}

// mainURL is the page that a reader begins with, "" where none is more so than others.
func (s *selection) mainURL() string {
	if len(s.prefixes) == 1 {
		return s.prefixes[0]
	}
	return ""
}

// requisites says how many of the pages are there for others.
func (s *selection) requisites() string {
	if s.needed == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them images, styles and the like that others need)", s.needed)
}

func (s *selection) refusals() string {
	if s.refused == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s: asked not to be archived)", report.Plural(s.refused, "page"))
}

// exportSlice is how many pages are read at a time.
const exportSlice = 1000

// each calls add for the selected versions, and step after some pages.
func (s *selection) each(ctx context.Context, store *models.Store, add func(*models.Page, models.Version) error, step func()) error {
	first, end := int16(0), int16(models.Buckets)
	if len(s.prefixes) > 0 {
		first, end = s.bucket, s.bucket+1
	}
	for bucket := first; bucket < end; bucket++ {
		for after, more := int64(-1), true; more; step() {
			pages, err := store.PagesFrom(ctx, bucket, after, exportSlice)
			if err != nil {
				return err
			}
			if more = len(pages) == exportSlice; more {
				after = pages[len(pages)-1].ID
			}
			if err := s.redirects(ctx, store, pages); err != nil {
				return err
			}
			pages = slices.DeleteFunc(pages, func(p models.Page) bool { return !s.has(&p) })
			if err := s.versions(ctx, store, pages, add); err != nil {
				return err
			}
		}
	}
	return nil
}

// redirects calls moved for those of some pages of a bucket that lead elsewhere.
func (s *selection) redirects(ctx context.Context, store *models.Store, pages []models.Page) error {
	if s.moved == nil {
		return nil
	}
	for i := range pages {
		p := &pages[i]
		if p.RedirectTo == "" || !p.LeadsAway() || !s.needs && s.site != 0 && p.SiteID != s.site {
			continue
		}
		then, err := s.ledAway(ctx, store, p)
		if err == nil && then {
			err = s.moved(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ledAway tells whether a page that leads elsewhere did so at the end of the time that is selected, as far as its history goes back. Of one
// that never was anything else it is said in any case.
func (s *selection) ledAway(ctx context.Context, store *models.Store, p *models.Page) (bool, error) {
	if s.to == 0 || p.TriedAt < s.to || p.Version == 0 {
		return true, nil
	}
	const slice = 100
	for before := int32(0); ; {
		visits, err := store.History(ctx, p.Bucket, p.ID, before, slice)
		if err != nil {
			return false, err
		}
		for _, v := range visits {
			if v.At < s.to && (v.Kind == models.Moved || v.Kind.Observed()) {
				return v.Kind == models.Moved, nil
			}
			before = v.Number
		}
		if len(visits) < slice {
			return false, nil
		}
	}
}

// has tells whether a page is selected, and may be shown to others.
func (s *selection) has(p *models.Page) bool { return s.means(p) && s.shows(p) }

// means tells whether it is a page that is asked for.
func (s *selection) means(p *models.Page) bool {
	begins := len(s.prefixes) == 0 || slices.ContainsFunc(s.prefixes, func(prefix string) bool { return strings.HasPrefix(p.URL, prefix) })
	return begins && (s.site == 0 || p.SiteID == s.site)
}

// looksAt tells whether each looks at a page, selected or not.
func (s *selection) looksAt(p *models.Page) bool {
	return (len(s.prefixes) == 0 || p.Bucket == s.bucket) && (s.site == 0 || p.SiteID == s.site)
}

// partial tells whether there may be versions that are not selected and that others need.
func (s *selection) partial() bool { return len(s.prefixes) > 0 || s.site != 0 || s.from != 0 }

// shows tells whether a page has versions that may be shown to others. It counts those that must not be.
func (s *selection) shows(p *models.Page) bool {
	if p.Version == 0 {
		return false
	}
	if p.NoArchive {
		s.refused++
	}
	return !p.NoArchive
}

// versions calls add for the versions of pages of one bucket, in the order of their IDs.
func (s *selection) versions(ctx context.Context, store *models.Store, pages []models.Page, add func(*models.Page, models.Version) error) error {
	if len(pages) == 0 {
		return nil
	}
	var kept []models.Version // of one page
	flush := func() error {
		if len(kept) == 0 {
			return nil
		}
		if s.last {
			kept = kept[len(kept)-1:]
		}
		if s.pages++; s.needs || pages[0].Requisite {
			s.needed++
		}
		for _, v := range kept {
			if err := add(&pages[0], v); err != nil {
				return err
			}
		}
		kept = kept[:0]
		return nil
	}
	for v, err := range store.VersionsOf(ctx, pages[0].Bucket, pages[0].ID, pages[len(pages)-1].ID) {
		if err != nil {
			return err
		}
		for len(pages) > 0 && pages[0].ID < v.PageID {
			if err := flush(); err != nil {
				return err
			}
			pages = pages[1:]
		}
		if len(pages) == 0 || pages[0].ID != v.PageID || v.Record.File == "" || !s.within(&v) {
			continue
		}
		kept = append(kept, v)
	}
	return flush()
}

// within tells whether a version was found in the time that is selected, and remembers the nearest ones of other times.
func (s *selection) within(v *models.Version) bool {
	switch {
	case v.At < s.from:
		s.sooner = max(s.sooner, v.At)
		return false
	case s.to != 0 && v.At >= s.to:
		if s.later == 0 || v.At < s.later {
			s.later = v.At
		}
		return false
	}
	return true
}

// otherTimes says of pages without a version in the time that is selected when they had some.
func (s *selection) otherTimes() string {
	sooner, later := report.Stamp(s.sooner.Time()), report.Stamp(s.later.Time())
	switch {
	case s.sooner != 0 && s.later != 0:
		return fmt.Sprintf(": the last before was found at %s, the first after at %s", sooner, later)
	case s.later != 0:
		return ": the first was found at " + later
	case s.sooner != 0:
		return ": the last was found at " + sooner
	}
	return ""
}

// inForce calls add for the version of a page that was in force when the time that is selected begins.
func (s *selection) inForce(ctx context.Context, store *models.Store, p *models.Page, add func(*models.Page, models.Version) error) error {
	if s.from == 0 || p.NoArchive || p.Version == 0 {
		return nil
	}
	var before models.Version
	within := false // it has versions that are selected
	for v, err := range store.VersionsOf(ctx, p.Bucket, p.ID, p.ID) {
		switch {
		case err != nil:
			return err
		case v.Record.File == "":
		case v.At < s.from:
			before = v
		case s.to == 0 || v.At < s.to:
			within = true
		}
	}
	if before.Record.File == "" || within && s.last {
		return nil
	}
	if !within {
		s.pages++
		s.needed++
	}
	return add(p, before)
}
