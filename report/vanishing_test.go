package report

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawld/models"
)

// looked is a site of which 30 pages a day are looked at, and from so many days ago on, until others ago, so many of them are lost.
func looked(from, until int, lost int64) func(ago int) models.Daily {
	return func(ago int) models.Daily {
		d := models.Daily{Asked: 30, Found: 30}
		if ago <= from && ago > until {
			d.Found, d.Lost = 30-lost, lost
		}
		return d
	}
}

// mixed is a site of which so many pages are looked at daily and others every thirty days, of which so many are found so many days ago.
func mixed(daily, monthly int64, found func(ago int) (daily, monthly int64)) func(ago int) models.Daily {
	return func(ago int) models.Daily {
		d, m := found(ago)
		return models.Daily{Asked: daily + monthly/30, Found: d + m, FoundDays: d + 30*m, Lost: daily + monthly/30 - d - m,
			LostDays: daily - d + 30*(monthly/30-m)}
	}
}

// Whether pages are looked at daily or monthly, each counts once: those looked at often hide none of the others, nor seem to be all there is.
func TestVanishingIsAShareOfPages(t *testing.T) {
	t.Parallel()
	const today = 20_000
	for _, test := range []struct {
		name           string
		daily, monthly int64
		found          func(ago int) (daily, monthly int64)
		missing        int64
		want           string // "": they do not vanish
	}{
		{"the monthly ones vanish today", 1000, 1200, func(ago int) (int64, int64) { return 1000, 40 * int64(min(ago, 1)) }, 40, "40 pages not found any more since 4 October, 55 %"},
		{"the daily ones vanish today", 40, 1200, func(ago int) (int64, int64) { return 40 * int64(min(ago, 1)), 40 }, 40, ""},
		{"a few of the daily ones, and all others", 1000, 9000, func(ago int) (int64, int64) { return 1000 - 50*int64(1-min(ago, 1)), 300 * int64(min(ago, 1)) }, 350, "90 %"},
		{"a fifth of the monthly ones vanishes", 1000, 1200, func(ago int) (int64, int64) { return 1000, 40 - 8*int64(2-min(ago, 2)) }, 16, ""},
		{"as ever", 1000, 1200, func(int) (int64, int64) { return 1000, 40 }, 0, ""},
	} {
		days := daysOf(120, today, mixed(test.daily, test.monthly, test.found))
		g := Guard{Share: 0.25, Missing: test.missing, There: test.daily + test.monthly - test.missing}
		if got, is := FindVanishing(days, today, g); is != (test.want != "") || !strings.Contains(got.Words, test.want) {
			t.Errorf("%s: %t, %q; want %q", test.name, is, got.Words, test.want)
		}
	}
	// All that are looked at once a year were looked at on one day: what they stand for is not there.
	together := daysOf(120, today, func(ago int) models.Daily {
		d := models.Daily{Asked: 1000, Found: 1000, FoundDays: 1000}
		if ago == 0 {
			d.Lost, d.LostDays = 20, 20*models.LookedDays
		}
		return d
	})
	if got, is := FindVanishing(together, today, Guard{Share: 0.25, Missing: 20, There: 1000}); is {
		t.Errorf("20 of 1020 pages: %q", got.Words)
	}
}

// vanishingCase is a site by what was looked at so many days ago, and what is to be found of it.
type vanishingCase struct {
	name  string
	visit func(ago int) models.Daily
	guard Guard
	want  bool
	words string
}

const vanishingToday, never = 20_000, -1

func (c vanishingCase) looks(t *testing.T) {
	t.Helper()
	days := daysOf(120, vanishingToday, c.visit)
	for i := range days { // looked at daily, unless it says otherwise
		days[i].FoundDays, days[i].LostDays = max(days[i].FoundDays, days[i].Found), max(days[i].LostDays, days[i].Lost)
	}
	if got, is := FindVanishing(days, vanishingToday, c.guard); is != c.want || !strings.Contains(got.Words, c.words) {
		t.Errorf("%s: %t, %q; want %t, %q", c.name, is, got.Words, c.want, c.words)
	}
}

func TestFindVanishing(t *testing.T) {
	t.Parallel()
	const today = vanishingToday
	as := Guard{Share: 0.25}
	youngSite := func(ago int) models.Daily {
		if ago > 10 {
			return models.Daily{}
		}
		return looked(10, never, 10)(ago)
	}
	for _, test := range []vanishingCase{
		{"as always", looked(never, never, 0), as, false, ""},
		{"a third is lost today", looked(0, never, 10), as, true, "10 pages not found any more since 4 October, 33 % of the site by those looked at"},
		{"a third was lost two days ago", looked(2, 1, 10), as, false, ""}, // of all that was looked at since, a ninth
		{"a few of a small site", looked(0, never, 9), as, false, ""},
		{"a fifth", func(ago int) models.Daily {
			if ago == 0 {
				return models.Daily{Asked: 100, Found: 80, Lost: 20}
			}
			return models.Daily{Asked: 100, Found: 100}
		}, as, false, ""},
		{"a fifth of those that are left, day by day", looked(14, never, 6), as, true, "12 pages not found any more since 3 October, 33 %"},
		{"slowly visited", func(ago int) models.Daily {
			if ago <= 9 {
				return models.Daily{Asked: 2, Found: 1, FoundDays: 20, Lost: 1, LostDays: 20}
			}
			return models.Daily{Asked: 2, Found: 2, FoundDays: 40}
		}, Guard{Share: 0.25, Missing: 10, There: 30}, true, "10 pages not found any more since 25 September, 50 % of the site"},
		{"all were lost yesterday, and are back", looked(1, 0, 30), as, false, ""},
		{"lost as ever", looked(119, never, 12), as, false, ""},
		{"lost as ever, and now all", func(ago int) models.Daily {
			if ago == 0 {
				return models.Daily{Asked: 30, Lost: 30}
			}
			return models.Daily{Asked: 30, Found: 27, Lost: 3}
		}, as, true, "30 pages not found any more since 4 October, 100 % of the site by those looked at; usual is 10 % a day"},

		{"all were lost yesterday, and half of all are missing", looked(1, 0, 30), Guard{Share: 0.25, Missing: 15, There: 15}, true, "30 pages not found any more since 3 October, 67 %"},
		{"lost when somebody approved", looked(5, never, 30), Guard{Share: 0.25, Approved: today}, false, ""},
		{"lost since somebody approved", looked(0, never, 30), Guard{Share: 0.25, Approved: today - 1}, true, "30 pages not found any more since 4 October, 100 %"},
		{"pages come and go of a young site", youngSite, as, true, "10 pages not found any more since 4 October, 33 %"},
		{"pages come and go, as somebody approved", youngSite, Guard{Share: 0.25, Approved: today - 5}, false, ""},
	} {
		test.looks(t)
	}
}

// A guard is over when pages are back, and not when nobody looks at those that are missing.
func TestFindVanishingOfAGuardedSite(t *testing.T) {
	t.Parallel()
	const today = vanishingToday
	guarded := func(missing, there int64) Guard {
		return Guard{Share: 0.25, Since: today - 5, Missing: missing, There: there}
	}
	rarely := func(int) models.Daily { return models.Daily{Asked: 1, Found: 1} }
	for _, test := range []vanishingCase{
		{"guarded, and as lost as before", looked(5, never, 10), guarded(0, 30), true, "many were lost at once on 29 September, and though none of 30 pages is missing now, too many were by the looks of the last days"},
		{"guarded, and half of them are back", looked(5, never, 4), guarded(0, 30), true, ""},
		{"guarded for a week, and most are back", func(ago int) models.Daily {
			switch {
			case ago == 8:
				return models.Daily{Asked: 30, Lost: 30}
			case ago < 8:
				return models.Daily{Asked: 30, Found: 27}
			}
			return models.Daily{Asked: 30, Found: 30}
		}, Guard{Share: 0.25, Since: today - 8, Missing: 3, There: 27}, false, ""},
		{"guarded, and most of those are missing that are rarely visited", looked(5, never, 0), guarded(10, 30), true, "25 % of 40 pages is missing"},
		{"guarded, and only others were looked at today", looked(5, 0, 10), guarded(10, 990), true, ""},
		{"guarded, and hardly visited", func(ago int) models.Daily {
			if ago < 5 {
				return models.Daily{}
			}
			return looked(5, never, 30)(ago)
		}, guarded(1, 0), true, ""},
		{"guarded, and not visited", func(int) models.Daily { return models.Daily{} }, guarded(1, 200), true, "< 1 % of 201 pages is missing"},
		{"guarded for a week, and rarely visited, and nothing is missing", rarely, Guard{Share: 0.25, Since: today - 8}, false, ""},
		{"guarded since yesterday, and rarely visited, and nothing is missing yet", rarely, Guard{Share: 0.25, Since: today - 1}, true, ""},
		{"approved, and not visited since", func(int) models.Daily { return models.Daily{} }, Guard{Share: 0.25, Since: today - 5, Approved: today - 4, Missing: 1}, true, ""},
		{"approved, and nothing is missing any more", func(int) models.Daily { return models.Daily{} }, Guard{Share: 0.25, Since: today - 5, Approved: today - 4}, false, ""},
	} {
		test.looks(t)
	}
}

// Whatever was seen, a larger share to begin with never finds more, and what begins now is not over by the same days.
func TestFindVanishingIsSteady(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const today = 20_000
		var days []models.Daily
		for ago := range int32(rapid.IntRange(0, 130).Draw(t, "days")) {
			found, lost := rapid.Int64Range(0, 40).Draw(t, "found"), rapid.Int64Range(0, 40).Draw(t, "lost")
			days = append(days, models.Daily{SiteID: 1, Day: today - ago, Found: found, Lost: lost,
				FoundDays: found * rapid.Int64Range(1, 40).Draw(t, "found days"), LostDays: lost * rapid.Int64Range(1, 40).Draw(t, "lost days")})
		}
		share := rapid.Float64Range(0.05, 1).Draw(t, "share")
		more := rapid.Float64Range(share, 1).Draw(t, "more")
		missing := rapid.Int64Range(0, 40).Draw(t, "missing")
		there := rapid.Int64Range(0, 400).Draw(t, "there")
		_, is := FindVanishing(days, today, Guard{Share: share, Missing: missing, There: there})
		if _, still := FindVanishing(days, today, Guard{Share: more, Missing: missing, There: there}); still && !is {
			t.Fatalf("from %v on there is something, from %v on nothing", more, share)
		}
		if _, still := FindVanishing(days, today, Guard{Share: share, Since: today, Missing: missing, There: there}); is && !still {
			t.Fatalf("it is over when it begins")
		}
	})
}
