package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// costRows are days of three sites: one that changes, one that never does, one of a name that is hard to show.
func costRows() []models.Daily {
	today := DayNumber(testNow)
	return []models.Daily{
		{SiteID: 1, Day: today, Asked: 412, NotModified: 250, Same: 60, Changed: 80, First: 12, Failed: 10, Robots: 4,
			Bytes: 52 << 20, BytesSaved: 310 << 20, Found: 390, FoundDays: 1100},
		{SiteID: 1, Day: today - 1, Asked: 300, NotModified: 300, BytesSaved: 100 << 20, Found: 300, FoundDays: 900},
		{SiteID: 2, Day: today - 1, Asked: 900, NotModified: 890, Same: 10, Robots: 1, Bytes: 1 << 20, BytesSaved: 90 << 20, Found: 900, FoundDays: 900},
		{SiteID: 3, Day: today - 1, Robots: 2},
	}
}

func costOptions(by string) Options {
	o := testOptions
	o.By, o.Start = by, func(int32) time.Duration { return day }
	return o
}

func TestCost(t *testing.T) {
	t.Parallel()
	since := testNow.Add(-costSpan)
	goldenDocument(t, "cost", costDocument(costRows(), since, costOptions("")))
	goldenDocument(t, "cost-day", costDocument(costRows(), since, costOptions("day")))
	goldenDocument(t, "cost-none", costDocument(nil, since, costOptions("")))
}

func TestCostByDirectory(t *testing.T) {
	t.Parallel()
	o := costOptions("directory")
	o.Limit = 5
	rates := newChangeRates(o)
	for _, p := range examplePages() {
		rates.add(p)
	}
	for i := range 50 {
		rates.add(models.PageSummary{SiteID: 1, URL: fmt.Sprintf("https://docs.example.org/old/p%d", i), State: models.StateLive, Records: 40})
	}
	goldenDocument(t, "cost-directory", rates.costDocument())
}

// What a look stands for is how many days of pages there were: a page that is looked at every tenth day is ten.
func TestVisitsAtTheStartInterval(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		daily models.Daily
		every time.Duration
		want  float64
		timed bool
	}{
		{"each page daily", models.Daily{Asked: 50, Found: 50, FoundDays: 50}, day, 50, true},
		{"each page every tenth day", models.Daily{Asked: 50, Found: 50, FoundDays: 500}, day, 500, true},
		{"of which some are lost", models.Daily{Asked: 5, Found: 4, FoundDays: 40, Lost: 1, LostDays: 10}, 12 * time.Hour, 100, true},
		{"nobody counted looks", models.Daily{Asked: 50, Same: 50}, day, 50, true},
		{"no visit at all", models.Daily{}, day, 0, true},
		{"the site is not known", models.Daily{Asked: 50, FoundDays: 50}, 0, 0, false},
	} {
		c := costOf(test.daily, Options{Start: func(int32) time.Duration { return test.every }})
		if c.atStart != test.want || c.timed != test.timed {
			t.Errorf("%s: %v visits (known: %t), want %v (%t)", test.name, c.atStart, c.timed, test.want, test.timed)
		}
	}
}

// The one line says what is amiss with the site that costs most of those of which something is.
func TestCostHelp(t *testing.T) {
	t.Parallel()
	good := models.Daily{SiteID: 1, Asked: 1000, NotModified: 900, Changed: 100}
	for _, test := range []struct {
		name  string
		other models.Daily
		want  string // "": nothing is said
	}{
		{"all is well", models.Daily{Asked: 1000, NotModified: 900, Changed: 100}, ""},
		{"most fail", models.Daily{Asked: 1000, NotModified: 500, Changed: 100, Failed: 400}, "blog takes 50 % of the requests, and 40 % of its 1,000 visits failed"},
		{"nothing changes", models.Daily{Asked: 2000, NotModified: 2000}, "blog takes 67 % of the requests, and none of the 2,000 visits"},
		{"hardly any changes", models.Daily{Asked: 2000, NotModified: 1998, Changed: 2}, "blog takes 67 % of the requests, and brings 2 % of what they find"},
		{"all is read again", models.Daily{Asked: 1000, Same: 900, Changed: 100}, "90 % of the visits that saw its pages read again"},
		{"it takes no large part", models.Daily{Asked: 105, NotModified: 105}, ""},
		{"it brings new pages", models.Daily{Asked: 1000, NotModified: 900, First: 100}, ""},
	} {
		test.other.SiteID = 2
		d := costDocument([]models.Daily{good, test.other}, testNow, costOptions("site"))
		last := d.Notes[len(d.Notes)-1]
		if helps := strings.HasPrefix(last, "What would help: "); helps != (test.want != "") || !strings.Contains(last, test.want) {
			t.Errorf("%s: %q, want %q", test.name, last, test.want)
		}
	}
}
