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
	for _, test := range []struct {
		name  string
		visit func(ago int) models.Daily
		since int // days ago; never: it is not guarded
		want  bool
		words string
	}{
		{"as always", looked(never, never, 0), never, false, ""},
		{"a third is lost today", looked(0, never, 10), never, true, "33 % of 30 pages looked at since 4 October is not found any more, 0 % before"},
		{"a third was lost two days ago", looked(2, 1, 10), never, false, ""}, // of all that was looked at since, a ninth
		{"a few of a small site", looked(0, never, 9), never, false, ""},
		{"a fifth", looked(14, never, 6), never, false, ""},
		{"slowly visited", func(ago int) models.Daily {
			if ago <= 9 {
				return models.Daily{Asked: 2, Found: 1, Lost: 1}
			}
			return models.Daily{Asked: 2, Found: 2}
		}, never, true, "50 % of 20 pages looked at since 25 September is not found any more, 0 % before"},
		{"all were lost yesterday, and are back", looked(1, 0, 30), never, false, ""},
		{"lost as ever", looked(119, never, 12), never, false, ""},
		{"lost as ever, and now all", func(ago int) models.Daily {
			if ago == 0 {
				return models.Daily{Asked: 30, Lost: 30}
			}
			return models.Daily{Asked: 30, Found: 27, Lost: 3}
		}, never, true, "100 % of 30 pages looked at since 4 October is not found any more, 10 % before"},

		{"guarded, and as lost as before", looked(5, never, 10), 5, true, "33 % of 30 pages"},
		{"guarded, and half of them are back", looked(5, never, 5), 5, true, "17 % of 30 pages"},
		{"guarded, and most are back", looked(5, never, 3), 5, false, ""},
		{"guarded, and all are back", looked(5, 0, 30), 5, false, ""},
		{"guarded, and hardly visited", func(ago int) models.Daily {
			if ago < 5 {
				return models.Daily{}
			}
			return looked(5, never, 30)(ago)
		}, 5, true, "100 % of 30 pages looked at since 29 September"}, // the days before count until there are enough
		{"guarded, and not visited", func(int) models.Daily { return models.Daily{} }, 5, true, "none has been looked at since"},
	} {
		since := int32(0)
		if test.since != never {
			since = today - int32(test.since)
		}
		got, is := FindVanishing(daysOf(120, today, test.visit), today, 0.25, since)
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
		_, is := FindVanishing(days, today, share, 0)
		if _, still := FindVanishing(days, today, more, 0); still && !is {
			t.Fatalf("from %v on there is something, from %v on nothing", more, share)
		}
		if _, still := FindVanishing(days, today, share, today); is && !still {
			t.Fatalf("it is over when it begins")
		}
	})
}
