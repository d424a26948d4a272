package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
	"recrawld/report"
	"recrawld/scheduler"
)

// expiring is a made-up site whose pages live for some time, after which they are not found, and others come.
type expiring struct {
	name  string
	pages int
	life  float64 // days that a page lives; with batches all alike, else half as long up to half as long again
	batch int     // days from one day on which pages go and come to the next; 0: they do so at all times
	from  int     // the day on which that begins
	every int     // the longest days between two visits to a page
	alone bool    // one of a thousand hosts of its site, all others of which stand

	lost   float64 // the share of its pages that is lost at once, for good, and not replaced; 0: none is
	lostAt int     // on which day
}

// turnsADay are the moments of a day at which the site is visited.
const turnsADay = 4

const expiringYears = 2

// leaf is a page of it, which is there from one step up to another.
type leaf struct {
	row        models.Page
	born, dies int
	disaster   bool
}

// expiringRun is a site in its second of life: what the daemon knows of it, and what became of its pages.
type expiringRun struct {
	expiring
	t        testing.TB
	dice     *rand.Rand
	start    time.Time
	planner  *scheduler.Planner
	site     models.Site
	host     models.Host
	days     []models.Daily
	leaves   []*leaf
	due      [][]*leaf
	guarding int // days on which it or its host was guarded

	expired, heldOnce         int // pages that were lost by their age; those of them that were held back ever
	most                      int // held back at once, of those
	waited                    []float64
	struck, struckHeld, freed int       // pages lost at once; held back; gone
	freedAfter                []float64 // days
	told                      int       // times that a guard of it began
}

func (e expiring) run(t testing.TB) *expiringRun {
	t.Helper()
	c := config.Default()
	c.Cycle = "6h"
	c.Defaults.Vary = 0.15
	c.Defaults.FRMax = e.every * turnsADay
	c.Sites = []config.Site{{ID: 1, Name: "ads", URL: "http://ads.test/", Settings: c.Defaults}}
	planner, err := scheduler.NewPlanner(&c, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &expiringRun{expiring: e, t: t, dice: rand.New(rand.NewPCG(1, uint64(e.pages))), planner: planner, site: models.Site{ID: 1},
		start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), due: make([][]*leaf, expiringYears*365*turnsADay+1)}
	s.host = models.Host{Name: "ads.test"}
	s.populate()
	for day := range expiringYears * 365 {
		if day == e.lostAt && e.lost > 0 {
			s.strike(day)
		}
		for step := day * turnsADay; step < (day+1)*turnsADay; step++ {
			s.visit(step)
		}
		s.look(day)
	}
	return s
}

func (s *expiringRun) at(step int) time.Time {
	return s.start.Add(time.Duration(step) * 24 * time.Hour / turnsADay)
}

// populate has pages go and come.
func (s *expiringRun) populate() {
	end := len(s.due) - 1
	for i := range s.pages {
		born, dies := 0, s.from*turnsADay+int(s.dice.Float64()*s.life*turnsADay)
		if s.batch > 0 {
			waves := int(s.life) / s.batch
			dies = (s.from + s.batch*(1+i%waves)) * turnsADay
		}
		for ; born < end; born, dies = dies, dies+s.lives() { // each is followed by another one
			l := &leaf{born: born, dies: dies}
			l.row = scheduler.NewPage(fmt.Sprintf("http://ads.test/%d-%d", i, born), "ads.test", 1, 1, 4)
			s.leaves = append(s.leaves, l)
			s.due[born] = append(s.due[born], l)
		}
	}
}

// lives is for how many turns a page lives.
func (s *expiringRun) lives() int {
	if s.batch > 0 {
		return int(s.life) / s.batch * s.batch * turnsADay
	}
	return max(int((0.5+s.dice.Float64())*s.life*turnsADay), 1)
}

// strike loses a share of the pages at once, and all that would have followed them.
func (s *expiringRun) strike(day int) {
	for _, l := range s.leaves {
		switch step := day * turnsADay; {
		case l.born <= step && l.dies > step && s.dice.Float64() < s.lost:
			l.disaster, l.dies = true, step
			s.struck++
		case l.born > step && s.dice.Float64() < s.lost:
			l.born = len(s.due) // never
		}
	}
}

// visit visits what is due.
func (s *expiringRun) visit(step int) {
	for _, l := range s.due[step] {
		if l.born > step {
			continue
		}
		now := s.at(step)
		out := models.Outcome{Kind: models.SameBytes, Status: 200, Sent: 1, At: now, Digest: l.row.Digest}
		switch {
		case step >= l.dies:
			out = models.Outcome{Kind: models.Missing, Status: 404, Sent: 1, At: now}
		case l.row.Version == 0:
			body := []byte(l.row.URL)
			out.Kind, out.Body, out.Digest = models.First, body, models.DigestOf(body)
		}
		before := l.row
		s.host.Pages += int32(min(1, max(0, 1-before.Visits)))
		r := s.planner.Plan(&models.Lease{Host: s.host}, before, &out, now)
		r.Before = &before
		s.host, l.row = r.Host, r.Page
		s.count(&r, l, now)
		if next := int(l.row.DueAt.Time().Sub(s.start)*turnsADay/(24*time.Hour)) + 1; l.row.State != models.StateGone && next < len(s.due) {
			s.due[max(next, step+1)] = append(s.due[max(next, step+1)], l)
		}
	}
	s.due[step] = nil
}

// count enters a visit into the daily sums, and notes what became of the page.
func (s *expiringRun) count(r *models.Result, l *leaf, now time.Time) {
	day := models.DayOf(models.At(now))
	if n := len(s.days); n == 0 || s.days[n-1].Day != day {
		s.days = append(s.days, models.Daily{SiteID: 1, Day: day})
	}
	s.days[len(s.days)-1].Count(r)
	waited := now.Sub(r.Page.MissingSince.Time()).Hours() / 24
	first := r.Page.Rule == models.RuleGuarded && r.Before.Rule != models.RuleGuarded
	gone := r.Page.State == models.StateGone
	switch {
	case l.disaster && first:
		s.struckHeld++
	case l.disaster && gone:
		s.freed, s.freedAfter = s.freed+1, append(s.freedAfter, waited)
	case l.disaster:
	case first:
		s.heldOnce++
	case gone:
		s.expired, s.waited = s.expired+1, append(s.waited, waited)
	}
}

// look is what the daemon does every hour, and as if it began anew each time.
func (s *expiringRun) look(day int) {
	blob, err := s.host.Trials.Value()
	if err == nil {
		err = s.host.Trials.Scan(blob)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	now := s.at((day+1)*turnsADay - 1)
	g := report.Guard{Site: 1, Share: 0.25, Since: models.DayOf(s.site.GuardedAt)}
	held := 0
	s.leaves = slices.DeleteFunc(s.leaves, func(l *leaf) bool { return l.row.State == models.StateGone })
	for _, l := range s.leaves {
		switch l.row.State {
		case models.StateMissing:
			g.Missing++
			if l.row.Rule == models.RuleGuarded && !l.disaster {
				held++
			}
		case models.StateLive:
			g.There++
		}
	}
	s.most = max(s.most, held)
	was := s.guarded()
	if !s.alone {
		today := models.DayOf(models.At(now))
		switch _, is := report.FindVanishing(s.days, today, g); {
		case is && s.site.GuardedAt == 0:
			s.site.GuardedAt = models.At(now)
		case !is:
			s.site.GuardedAt = 0
		}
		s.site.LossPerDay = noted(report.LossPerDay(s.days, today, g))
		s.planner = s.planner.Guard(map[int32]scheduler.SiteGuard{1: {Held: s.site.GuardedAt != 0, LossPerDay: float64(s.site.LossPerDay)}})
	}
	if s.guarded() {
		s.guarding++
	}
	if s.guarded() && !was {
		s.told++
	}
}

func (s *expiringRun) guarded() bool { return s.site.GuardedAt != 0 || s.host.GuardedAt != 0 }

// expiringSites are the sites of the table that have so many pages.
func expiringSites(pages int) (all []expiring) {
	for _, e := range []expiring{
		{name: "lives 30 days", life: 30},
		{name: "lives 15 days", life: 15},
		{name: "lives 5 days", life: 5},
		{name: "lives 15 days, from the second year on", life: 15, from: 365},
		{name: "weekly batches, lives 4 weeks", life: 28, batch: 7},
		{name: "weekly batches, lives 2 weeks", life: 14, batch: 7},
		{name: "monthly batches, lives 60 days", life: 60, batch: 30},
		{name: "monthly batches, lives 30 days", life: 30, batch: 30},
	} {
		for _, every := range []int{1, 30} {
			for _, alone := range []bool{false, true} {
				e.pages, e.every, e.alone = pages, every, alone
				all = append(all, e)
			}
		}
	}
	return all
}

var expiringPages = flag.Int("expiring-pages", 30, "how many pages the sites of BenchmarkExpiringSites have")

// struck is the site with a share of its pages lost at once in the second year, after what is usual there can be known.
func (e expiring) struck(share float64) expiring {
	e.lost, e.lostAt = share, 610
	return e
}

// held is how many pages are held back now.
func (s *expiringRun) held() (n int) {
	for _, l := range s.leaves {
		if l.row.Rule == models.RuleGuarded {
			n++
		}
	}
	return n
}

// BenchmarkExpiringSites prints the table in BENCHMARKS.md, whose figures are not of time.
func BenchmarkExpiringSites(b *testing.B) {
	for b.Loop() {
		table := "pages, visited every, guarded by | days guarded | held of expired | at the end | gone after median, most | half lost: held, gone | all lost: held, gone\n"
		for _, e := range expiringSites(*expiringPages) {
			table += e.row(b)
		}
		b.Log(table)
	}
}

func (e expiring) row(b *testing.B) string {
	s := e.run(b)
	by := "site and host"
	if e.alone {
		by = "host"
	}
	row := fmt.Sprintf("%d pages, %s, %d d, %s | %d | %d of %d | %d | %.0f d, %.0f d", e.pages, e.name, e.every, by, s.guarding, s.heldOnce, s.expired+s.held(),
		s.held(), at(s.waited, 0.5), at(s.waited, 1))
	for _, share := range []float64{0.5, 1} {
		h := e.struck(share).run(b)
		row += fmt.Sprintf(" | of %d: %d, %d", h.struck, h.struckHeld, h.freed)
		if h.freed > 0 {
			row += fmt.Sprintf(" after %.0f d", at(h.freedAfter, 0.5))
		}
	}
	return row + "\n"
}

// at is the value that such a share of all is not above; 0 of none.
func at(all []float64, share float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

// TestSitesWhosePagesExpireAreNotGuardedForEver: on sites whose pages expire, at all times or in batches, from the first day on or later, pages are held
// back for a while, and then nothing is without anybody's word; but where half of them are lost at once after that, or all, they are held back as
// ever.
func TestSitesWhosePagesExpireAreNotGuardedForEver(t *testing.T) {
	t.Parallel()
	for _, e := range expiringSites(30) {
		t.Run(fmt.Sprintf("%s, every %d, alone %t", e.name, e.every, e.alone), func(t *testing.T) {
			t.Parallel()
			s := e.run(t)
			if most := at(s.waited, 1); s.held() > 0 || s.guarding > 450 || most > 200 {
				t.Errorf("%d pages are held back in the end, after %d days of guards; what is gone was so after %.0f days at most", s.held(), s.guarding, most)
			}
			if all := e.struck(1).run(t); all.struckHeld < all.struck*8/10 || all.freed > all.struck*2/10 {
				t.Errorf("of %d pages lost at once %d were held back, and %d are gone", all.struck, all.struckHeld, all.freed)
			}
		})
	}
}
