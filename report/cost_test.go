package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

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
	since := testNow.Add(-dailySpan)
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

// Each visit counts as the manual says, those of what pages need to be shown like others; what sent no request counts nowhere.
func TestCostOfKnownVisits(t *testing.T) {
	t.Parallel()
	var sums models.Daily
	for _, kind := range []models.OutcomeKind{models.NotModified, models.SameBytes, models.SameText, models.Noise, models.Changed, models.Changed, models.First,
		models.Moved, models.Missing, models.Gone, models.Failed, models.Excluded, models.RobotsFetched, models.Skipped, models.Deferred, models.Interrupted, models.Probed} {
		for _, requisite := range []bool{false, true} {
			r := models.Result{Before: &models.Page{Requisite: requisite, Version: 1}, Page: models.Page{Bytes: 1000}, Visit: models.Visit{Kind: kind, Bytes: 10}}
			if kind == models.RobotsFetched || kind == models.Failed {
				r.Robots = new(models.Robots)
			}
			sums.Count(&r)
		}
	}
	d := costDocument([]models.Daily{sums}, testNow, costOptions("site"))
	got := map[string]any{}
	for i, column := range d.Columns {
		got[column.Key] = d.Rows[0][i].Value
	}
	for key, want := range map[string]any{"requests": int64(28), "visits": int64(22), "not_modified": int64(2), "same": int64(6), "changed": int64(4), "new": int64(2),
		"failed": int64(2), "robots": int64(6), "wasted_share": 0.5, "requests_per_change": 7.0, "bytes": int64(340), "bytes_saved": int64(2000),
		"bytes_per_change": int64(85)} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
}

// What a look stands for is how many days of pages there were: a page that is looked at every tenth day is ten.
func TestVisitsAtTheStartInterval(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		daily models.Daily
		every time.Duration
		want  any
	}{
		{"each page daily", models.Daily{Asked: 50, NotModified: 50, Found: 50, FoundDays: 50}, day, 50.0},
		{"each page every tenth day", models.Daily{Asked: 50, Same: 50, Found: 50, FoundDays: 500}, day, 500.0},
		{"of which some are lost", models.Daily{Asked: 5, Same: 4, Gone: 1, Found: 4, FoundDays: 40, Lost: 1, LostDays: 10}, 12 * time.Hour, 100.0},
		{"each for the first time", models.Daily{Asked: 50, First: 50, Found: 50, FoundDays: 50}, 30 * day, 50.0},
		{"with what they need to be shown", models.Daily{Asked: 250, First: 250, Found: 50, FoundDays: 50}, 30 * day, 250.0},
		{"most fail", models.Daily{Asked: 500, Same: 10, Failed: 400, Gone: 90, Found: 10, FoundDays: 10}, day, 500.0},
		{"nobody counted looks", models.Daily{Asked: 50, Same: 50}, day, 50.0},
		{"no visit at all", models.Daily{}, day, 0.0},
		{"the site is not known", models.Daily{Asked: 50, FoundDays: 50}, 0, nil},
	} {
		o := Options{Start: func(int32) time.Duration { return test.every }}
		d := costDocument([]models.Daily{test.daily}, testNow, o)
		if got := d.Rows[0][len(d.Columns)-1].Value; got != test.want {
			t.Errorf("%s: %v visits, want %v", test.name, got, test.want)
		}
	}
}

// lookedAt counts 30 days of pages, each looked at every so many days from the day on that it is known, which a third of them are half way;
// the last ones that there are of each ten are lost then. What would have been at another interval is counted beside it.
func lookedAt(pages, every, start int) (rows []models.Daily, atStart float64) {
	rows = make([]models.Daily, 30)
	for page := range pages {
		known, lost, last := page%every-every, len(rows), models.Instant(0)
		if page%3 == 0 {
			known = 15
		} else if page%10 == 9 {
			lost = 15
		}
		for on := known; on < len(rows); on += every {
			r := models.Result{Before: &models.Page{State: models.StateLive, Version: 1}, Visit: models.Visit{Kind: models.NotModified}}
			r.Visit.At, r.Before.Stats.VisitedAt = models.At(testNow.Add(time.Duration(on)*day)), last
			if on == known && known == 15 {
				r.Visit.Kind, r.Before.Version = models.First, 0
			}
			if on >= lost {
				r.Visit.Kind = models.Missing
			}
			if last = r.Visit.At; on >= 0 {
				rows[on].Count(&r)
			}
			if on >= lost {
				break
			}
		}
		if page%3 == 0 { // from its first visit on
			atStart += math.Ceil(float64(lost-known) / float64(start))
		} else {
			atStart += float64(lost) / float64(start)
		}
	}
	return rows, atStart
}

// The looks say how many pages there were, whatever the interval: of those that came and went as well.
func TestWhatTheLooksSayIsWhatItWouldBe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ every, start int }{{1, 1}, {3, 1}, {10, 1}, {10, 2}, {1, 5}, {1, 10}} {
		rows, want := lookedAt(6000, test.every, test.start)
		var all cost
		for _, r := range rows {
			all.plus(costOf(r, Options{Start: func(int32) time.Duration { return time.Duration(test.start) * day }}))
		}
		if got := all.atStart; got < 0.9*want || got > 1.1*want {
			t.Errorf("looked at every %d days, every %d at the start: %.0f visits, want %.0f", test.every, test.start, got, want)
		}
	}
}

// A site whose interval is not known any more keeps nobody from a comparison of the others.
func TestASiteThatIsRemovedIsNotCompared(t *testing.T) {
	t.Parallel()
	o := costOptions("site")
	o.Start = func(site int32) time.Duration { return time.Duration(site%2) * day }
	d := costDocument([]models.Daily{{SiteID: 1, Asked: 500, NotModified: 500, Found: 500, FoundDays: 1000}, {SiteID: 2, Asked: 700, NotModified: 700,
		Found: 700, FoundDays: 9000}}, testNow, o)
	if want := "about 1,000 visits instead of 500 of the sites that are configured: 50 % fewer"; len(d.Lead) != 2 || !strings.Contains(d.Lead[1], want) {
		t.Errorf("%q, want %q", d.Lead, want)
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
		{"it asks for names alone", models.Daily{Asked: 50, Failed: 50, Robots: 5000}, ""},
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

// A site that is asked for nothing but names and robots.txt does not hide another one.
func TestCostHelpPassesOverSitesWithFewVisits(t *testing.T) {
	t.Parallel()
	names, failing := models.Daily{SiteID: 1, Asked: 50, Failed: 50, Robots: 5000}, models.Daily{SiteID: 2, Asked: 3000, Changed: 1500, Failed: 1500}
	d := costDocument([]models.Daily{names, failing}, testNow, costOptions("site"))
	if last, want := d.Notes[len(d.Notes)-1], "blog takes 37 % of the requests, and 50 % of its 3,000 visits failed"; !strings.Contains(last, want) {
		t.Errorf("%q, want %q", last, want)
	}
}

// Sites and directories of long names, and of names from right to left.
func TestCostFitsTheTerminal(t *testing.T) {
	t.Parallel()
	names := []string{strings.Repeat("a-very-long-name.", 20), strings.Repeat("دليل-المستخدم-", 20), strings.Repeat("文档", 60)}
	o := costOptions("site")
	o.Sites = map[int32]string{}
	byDirectory := o
	byDirectory.By = "directory"
	rates, rows := newChangeRates(byDirectory), []models.Daily(nil)
	for i, name := range names {
		o.Sites[int32(i)] = name
		rows = append(rows, models.Daily{SiteID: int32(i), Asked: 9_999_999, NotModified: 5_555_555, Same: 2_222_222, Changed: 1_111_111, First: 555_555,
			Failed: 555_556, Robots: 99_999, Bytes: 1 << 45, BytesSaved: 1 << 46, FoundDays: 1 << 31})
		rates.add(models.PageSummary{URL: "https://docs.example.org/" + name + "/" + name + "/x", Records: 99_999_999, Changes: 9_999_999})
	}
	for _, d := range []Document{costDocument(rows, testNow, o), rates.costDocument()} {
		var b strings.Builder
		if err := WriteText(&b, d, Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("a line of %d: %q", n, line)
			}
		}
	}
}
