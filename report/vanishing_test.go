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

func TestFindVanishing(t *testing.T) {
	t.Parallel()
	const today, never = 20_000, -1
	as := Guard{Share: 0.25}
	guarded := func(missing, there int64) Guard {
		return Guard{Share: 0.25, Since: today - 5, Missing: missing, There: there}
	}
	rarely := func(int) models.Daily { return models.Daily{Asked: 1, Found: 1} }
	youngSite := func(ago int) models.Daily {
		if ago > 10 {
			return models.Daily{}
		}
		return looked(10, never, 10)(ago)
	}
	for _, test := range []struct {
		name  string
		visit func(ago int) models.Daily
		guard Guard
		want  bool
		words string
	}{
		{"as always", looked(never, never, 0), as, false, ""},
		{"a third is lost today", looked(0, never, 10), as, true, "33 % of 30 pages looked at since 4 October is not found any more, 0 % before"},
		{"a third was lost two days ago", looked(2, 1, 10), as, false, ""}, // of all that was looked at since, a ninth
		{"a few of a small site", looked(0, never, 9), as, false, ""},
		{"a fifth", looked(14, never, 6), as, false, ""},
		{"slowly visited", func(ago int) models.Daily {
			if ago <= 9 {
				return models.Daily{Asked: 2, Found: 1, Lost: 1}
			}
			return models.Daily{Asked: 2, Found: 2}
		}, as, true, "50 % of 20 pages looked at since 25 September is not found any more, 0 % before"},
		{"all were lost yesterday, and are back", looked(1, 0, 30), as, false, ""},
		{"lost as ever", looked(119, never, 12), as, false, ""},
		{"lost as ever, and now all", func(ago int) models.Daily {
			if ago == 0 {
				return models.Daily{Asked: 30, Lost: 30}
			}
			return models.Daily{Asked: 30, Found: 27, Lost: 3}
		}, as, true, "100 % of 30 pages looked at since 4 October is not found any more, 10 % before"},

		{"all were lost yesterday, and half of all are missing", looked(1, 0, 30), Guard{Share: 0.25, Missing: 15, There: 15}, true, "50 % of 60 pages"},
		{"lost when somebody approved", looked(5, never, 30), Guard{Share: 0.25, Approved: today}, false, ""},
		{"lost since somebody approved", looked(0, never, 30), Guard{Share: 0.25, Approved: today - 1}, true, "100 % of 30 pages"},
		{"pages come and go of a young site", youngSite, as, true, "33 % of 30 pages"},
		{"pages come and go, as somebody approved", youngSite, Guard{Share: 0.25, Approved: today - 5}, false, ""},

		{"guarded, and as lost as before", looked(5, never, 10), guarded(0, 30), true, "0 % of 30 pages is missing, after many were lost at once on 29 September"},
		{"guarded, and half of them are back", looked(5, never, 4), guarded(0, 30), true, ""},
		{"guarded, and most are back", looked(5, never, 3), guarded(3, 27), false, ""},
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
		got, is := FindVanishing(daysOf(120, today, test.visit), today, test.guard)
		if is != test.want || !strings.Contains(got.Words, test.words) {
			t.Errorf("%s: %t, %q; want %t, %q", test.name, is, got.Words, test.want, test.words)
		}
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
			days = append(days, models.Daily{SiteID: 1, Day: today - ago, Found: found, Lost: lost})
		}
		share := rapid.Float64Range(0.05, 1).Draw(t, "share")
		more := rapid.Float64Range(share, 1).Draw(t, "more")
		missing := rapid.Int64Range(0, 40).Draw(t, "missing")
		_, is := FindVanishing(days, today, Guard{Share: share, Missing: missing})
		if _, still := FindVanishing(days, today, Guard{Share: more, Missing: missing}); still && !is {
			t.Fatalf("from %v on there is something, from %v on nothing", more, share)
		}
		if _, still := FindVanishing(days, today, Guard{Share: share, Since: today, Missing: missing}); is && !still {
			t.Fatalf("it is over when it begins")
		}
	})
}
