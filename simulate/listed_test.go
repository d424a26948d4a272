package simulate

import (
	"fmt"
	"testing"
	"time"

	"recrawld/internal/solo"
	"recrawld/models"
)

// Sitemaps make pages fresher, the more they tell the fresher, also with a budget that could not follow all of it; those that lie cost
// next to nothing; and whatever they say, the budget is spent.
func TestSitemapsMakePagesFresher(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	w := listen(t)
	for name, c := range map[string]struct {
		listed Listings
		gains  map[float64]float64 // least difference of the score, by visits a page and day
	}{
		"a third":       {Listings{Share: 0.3}, map[float64]float64{0.05: -0.1, 0.2: 0}},
		"most":          {Listings{Share: 0.8}, map[float64]float64{0.05: 0.08, 0.2: 0.2}},
		"all":           {Listings{Share: 1}, map[float64]float64{0.05: 0.15, 0.2: 0.4}},
		"most and lies": {Listings{Share: 0.8, False: 10}, map[float64]float64{0.05: -0.12, 0.2: -0.05}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for budget, least := range c.gains {
				r := w.fresher(t, budget, Sight{Listed: c.listed}, Publishers{}, least)
				if spent := (r.Score.PerDay + r.Score.ListsPerDay) / r.PerDay; spent < 0.95 {
					t.Errorf("with %v visits a page and day %.2f of the budget is spent", budget, spent)
				}
			}
		})
	}
}

// A reading shows what moved since the one before: births, deaths and the dates of changes; those alone are no news where they are not
// believed.
func TestWhatSitemapsTell(t *testing.T) {
	t.Parallel()
	at := func(day int) models.Instant { return fromDays(float64(day)) }
	trace := &Trace{From: at(1), To: at(90), Pages: []Life{
		{URL: "https://h/a", Host: "h", Born: at(1), Changes: []models.Instant{at(10), at(20), at(30)}},
		{URL: "https://h/b", Host: "h", Born: at(15), Died: at(35), Changes: []models.Instant{at(33)}},
		{URL: "https://g/c", Host: "g", Born: at(2), Changes: []models.Instant{at(3)}},
	}}
	r := Listings{Share: 1}.of(trace)
	list := r.unread([]int32{0, 1})
	if len(list) != 1 || list[0].url != "https://h/sitemap.xml" {
		t.Fatalf("the sitemaps of host h are %v", list)
	}
	for _, step := range []struct {
		day      int
		believed bool
		want     string // kind, entries, and the pages told of with the days of their changes
	}{
		{5, true, "first 1"}, {9, true, "not-modified"}, {18, true, "changed 2 a10 b15"}, {25, false, "noise 2 a20"}, {31, true, "changed 2 a30"},
		{40, false, "changed 1"}, {41, true, "not-modified"},
	} {
		out := r.read(list[0], step.believed, at(step.day).Time())
		got := out.Kind.String()
		if out.Listing != nil {
			got += fmt.Sprintf(" %d", out.Listing.Entries)
			for _, told := range out.Listing.Told {
				name := map[int64]string{models.PageID("https://h/a"): "a", models.PageID("https://h/b"): "b"}[told.PageID]
				got += fmt.Sprintf(" %s%d", name, told.At/at(1))
			}
		}
		if got != step.want {
			t.Errorf("on day %d: %q, want %q", step.day, got, step.want)
		}
	}
	if len(r.asked) != 7 || len(r.unread([]int32{0, 1, 2})) != 1 {
		t.Errorf("%d readings, %d sitemaps unread", len(r.asked), len(r.unread([]int32{0, 1, 2})))
	}
}

// As many dates as are asked for move although nothing changed.
func TestFalseDates(t *testing.T) {
	t.Parallel()
	life := Life{URL: "https://h/a", Host: "h", Born: 1}
	for i := range 2000 {
		life.Changes = append(life.Changes, models.Instant(i+2)*models.Instant(time.Hour/time.Millisecond))
	}
	trace := &Trace{From: 1, To: fromDays(100), Pages: []Life{life}}
	for _, l := range []Listings{{Share: 0.5}, {Share: 0.5, False: 0.5}, {Share: 0.5, False: 3}} {
		got := len(l.items(trace, 0)) - 1 // beside its birth
		if want := 2000 * (l.Share + l.False); float64(got) < 0.9*want || float64(got) > 1.1*want {
			t.Errorf("%+v: %d dates move, want some %.0f", l, got, want)
		}
	}
}
