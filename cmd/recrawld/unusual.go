package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
)

// noteUnusual is the name of the note with what was unusual of sites when somebody looked last.
const noteUnusual = "unusual"

// unusualEvery is how often that is looked for, by the daemon's clock.
const unusualEvery = time.Hour

// unusual is what the note says.
type unusual struct {
	At    models.Instant
	Sites []report.Unusual
}

// lastUnusual reads the note. One of another release is none.
func lastUnusual(ctx context.Context, store *models.Store) (unusual, error) {
	body, err := store.Note(ctx, noteUnusual)
	return readUnusual(body), err
}

func readUnusual(body []byte) unusual {
	var u unusual
	if json.Unmarshal(body, &u) != nil {
		return unusual{}
	}
	return u
}

// looked is when was looked last, and which service levels were promised then.
type looked struct {
	at   time.Time
	slos map[int32]config.Goal
}

// lookWhenDue looks for what is unusual every hour, and at once where other service levels are promised.
func (d *daemon) lookWhenDue(ctx context.Context, now time.Time) error {
	slos := d.force.Load().slos()
	if now.Sub(d.looked.at).Abs() < unusualEvery && maps.Equal(slos, d.looked.slos) {
		return nil
	}
	err := d.lookForUnusual(ctx, now)
	if err == nil {
		d.looked = looked{now, slos}
	}
	return err
}

// lookForUnusual looks for what is unusual, and tells what became so and what is no more; where another worker did so a moment ago, or
// meanwhile, it takes what that one found.
func (d *daemon) lookForUnusual(ctx context.Context, now time.Time) error {
	before, err := lastUnusual(ctx, d.store)
	if err != nil {
		return err
	}
	if now.Sub(before.At.Time()).Abs() < unusualEvery/2 {
		measured, err := d.takeLevels(ctx, now)
		if err != nil || measured {
			d.figures.showUnusual(before.Sites)
			return err
		}
	}
	rows, err := d.store.Sites(ctx) // and not those in force: what another worker made of them a moment ago counts
	if err != nil {
		return err
	}
	found, err := d.findUnusual(ctx, rows, before.Sites, now)
	if err != nil {
		return err
	}
	if err := d.guard(ctx, rows, found, now); err != nil {
		return err
	}
	missed, err := d.measureLevels(ctx, before.Sites, now)
	if err != nil {
		return err
	}
	full, err := d.findFull(ctx, before.Sites)
	if err != nil {
		return err
	}
	sampled, err := d.lookAtSamples(ctx, before.Sites, now)
	if err != nil {
		return err
	}
	found.Sites = slices.Concat(found.Sites, sampled, full, missed)
	noted, mine, err := d.noteUnusual(ctx, before, found.unusual)
	if err != nil {
		return err
	}
	d.figures.showUnusual(noted.Sites)
	if mine {
		d.tellUnusual(siteNames(rows), before.Sites, noted.Sites)
	}
	return nil
}

// findings are what was found of the sites, by their IDs.
type findings struct {
	unusual
	vanishing map[int32]bool    // whose pages vanish, on whichever host
	usual     map[int32]float64 // the share of its pages that is lost in a day as a rule
}

// findUnusual finds what is unusual of these sites, given what was when was looked before.
func (d *daemon) findUnusual(ctx context.Context, rows []models.Site, before []report.Unusual, now time.Time) (findings, error) {
	today, found := report.DayNumber(now), findings{unusual{At: models.At(now)}, map[int32]bool{}, map[int32]float64{}}
	guards, err := d.guards(ctx, rows)
	if err != nil {
		return found, err
	}
	look := func(g report.Guard, days []models.Daily) {
		if u, is := report.FindVanishing(days, today, g); is {
			found.Sites, found.vanishing[g.Site] = append(found.Sites, u), true
		}
		found.usual[g.Site] = report.LossPerDay(days, today, g)
	}
	for days, err := range d.store.SiteDays(ctx, today-report.UnusualDays+1, today) {
		if err != nil {
			return found, err
		}
		if g, known := guards[days[0].SiteID]; known { // else it was removed while a visit to it was written
			failed := slices.ContainsFunc(before, func(u report.Unusual) bool { return u.Site == g.Site && u.Kind == report.Failing })
			found.Sites = append(found.Sites, report.FindUnusual(days, today, failed)...)
			look(g, days)
			delete(guards, g.Site)
		}
	}
	for _, row := range rows {
		if g, left := guards[row.ID]; left { // no visit in all these days
			look(g, nil)
		}
	}
	return found, d.findGuardedHosts(ctx, rows, &found)
}

// noteUnusual notes what was found, unless another worker has noted something since what there was before was read. It returns what is
// noted then, and whether that is what was found.
func (d *daemon) noteUnusual(ctx context.Context, before, found unusual) (noted unusual, mine bool, err error) {
	body, err := json.Marshal(found)
	if err != nil {
		return found, false, fmt.Errorf("note what is unusual: %w", err)
	}
	err = d.store.Merge(ctx, noteUnusual, func(old []byte) []byte {
		if noted = readUnusual(old); noted.At != before.At {
			mine = false
			return nil
		}
		noted, mine = found, true
		return body
	})
	return noted, mine, err
}

func (d *daemon) tellUnusual(names map[int32]string, before, now []report.Unusual) {
	has := func(all []report.Unusual, u report.Unusual) bool {
		return slices.ContainsFunc(all, func(o report.Unusual) bool { return o.Site == u.Site && o.Kind == u.Kind })
	}
	for _, u := range now {
		if !has(before, u) {
			d.log.Warn("a site is unusual", "site", names[u.Site], "what", u.Kind, "why", u.Words)
		}
	}
	for _, u := range before {
		if _, known := names[u.Site]; known && !has(now, u) {
			d.log.Info("a site is as usual again", "site", names[u.Site], "what", u.Kind)
		}
	}
}

// showUnusual sets the metric.
func (f *figures) showUnusual(sites []report.Unusual) {
	count := map[report.Oddity]int{}
	for _, u := range sites {
		count[u.Kind]++
	}
	for _, kind := range report.Oddities() {
		f.unusual.WithLabelValues(string(kind)).Set(float64(count[kind]))
	}
}

// siteUnusual is what is unusual of a site, as the command status shows it.
type siteUnusual struct {
	Site  string        `json:"site"`
	Kind  report.Oddity `json:"kind"`
	Words string        `json:"words"`
	AsOf  time.Time     `json:"as_of"` // when it was looked at
}

// statusUnusual fills in what is unusual, unless nobody has looked for a day: then it may be over.
func (l *look) statusUnusual(ctx context.Context, s *status) error {
	s.Unusual = []siteUnusual{}
	found, err := lastUnusual(ctx, l.store)
	if err != nil {
		return err
	}
	if l.now.Sub(found.At.Time()) > 24*time.Hour {
		found.Sites = nil
	}
	names := siteNames(l.force.rows)
	filtered, err := l.filteredSince(ctx)
	if err != nil {
		return err
	}
	fails := make(map[int32]bool)
	for _, u := range found.Sites {
		name, known := names[u.Site]
		if !known || u.Kind == report.Requisites || (u.Kind == report.Variants || u.Kind == report.Backlog) && filtered(u.Site) { // statusFull says what is so now of the first
			continue
		}
		fails[u.Site] = fails[u.Site] || u.Kind == report.Failing
		if u.Kind == report.Vanishing && l.force.guarded(l.force.row(u.Site)) {
			u.Words += l.force.heldWords(l.now, u.Site)
		}
		s.Unusual = append(s.Unusual, siteUnusual{name, u.Kind, u.Words, found.At.Time()})
	}
	if err := l.statusFull(ctx, s, found); err != nil {
		return err
	}
	return l.statusFailing(ctx, s, fails)
}

// statusFailing adds the sites most of whose visits fail, but those of which it is said already. It goes by what is now: who has just added a
// site looks at its status then.
func (l *look) statusFailing(ctx context.Context, s *status, said map[int32]bool) error {
	today := report.DayNumber(l.now)
	days, err := l.store.DailySums(ctx, 0, today-1, today)
	if err != nil {
		return err
	}
	of := make(map[int32][]models.Daily)
	for _, d := range days {
		of[d.SiteID] = append(of[d.SiteID], d)
	}
	for i, row := range l.force.rows {
		words := report.MostlyFails(of[row.ID], today)
		if words == "" || said[row.ID] {
			continue
		}
		name := s.Sites[i].Name
		if s.pages() < manyPages { // why, a look at all pages tells
			class, err := l.store.FailingClass(ctx, row.ID)
			if err != nil {
				return err
			}
			if class != models.ClassNone {
				words += ", most pages with " + class.String()
			}
		}
		words += ": recrawld report responses --site " + name
		s.Unusual = append(s.Unusual, siteUnusual{name, report.Failing, words, l.now})
	}
	return nil
}

// pages is how many pages all sites have.
func (s status) pages() (n int64) {
	for _, site := range s.Sites {
		n += site.Pages
	}
	return n
}

// mostUnusual is how many sites status tells of in words.
const mostUnusual = 5

func (s status) addUnusual(head *facts) {
	shown := slices.DeleteFunc(slices.Clone(s.Unusual), func(u siteUnusual) bool { return u.Kind == report.MissesLevel }) // said under slo
	for _, u := range shown[:min(len(shown), mostUnusual)] {
		words := head.style.Paint(report.Warn, u.Site) + ": " + u.Words
		if !u.AsOf.Equal(s.At) {
			words += head.style.Paint(report.Faint, fmt.Sprintf(" (as of %s)", report.Moment(s.At, u.AsOf)))
		}
		head.add("unusual", "%s", words)
	}
	if more := len(shown) - mostUnusual; more > 0 {
		head.add("unusual", "%s more: recrawld status --json", report.Plural(more, "site"))
	}
}
