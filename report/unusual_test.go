package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawld/models"
)

// daysOf is days up to today, the newest last, as visit says for how many days ago.
func daysOf(n int, today int32, visit func(ago int) models.Daily) []models.Daily {
	var days []models.Daily
	for ago := n - 1; ago >= 0; ago-- {
		d := visit(ago)
		if d.SiteID, d.Day = 7, today-int32(ago); d.Asked > 0 {
			days = append(days, d)
		}
	}
	return days
}

// usual is a day with a change every third time.
func usual(ago int) models.Daily {
	d := models.Daily{Asked: 30, Failed: 1}
	if ago%3 == 0 {
		d.Changed = 4
	}
	return d
}

// with is usual but for the last days.
func with(days int, change func(d *models.Daily)) func(int) models.Daily {
	return func(ago int) models.Daily {
		d := usual(ago)
		if ago < days {
			change(&d)
		}
		return d
	}
}

// unusualCase is a history and what is to be found in it, "": nothing.
type unusualCase struct {
	days  int
	visit func(int) models.Daily
	want  Oddity
	words string
}

func checkUnusual(t *testing.T, cases map[string]unusualCase) {
	t.Helper()
	const today = 20_000
	for name, test := range cases {
		got := FindUnusual(daysOf(test.days, today, test.visit), today, false)
		if test.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v, want nothing", name, got)
			}
			continue
		}
		i := slices.IndexFunc(got, func(u Unusual) bool { return u.Kind == test.want })
		if i < 0 || got[i].Site != 7 || !strings.Contains(got[i].Words, test.words) {
			t.Errorf("%s: %+v, want %s: %s", name, got, test.want, test.words)
		}
	}
}

// TestMostlyFails: of a site that fails from its first day on it is said without anything before.
func TestMostlyFails(t *testing.T) {
	t.Parallel()
	const today = 20_000
	for want, days := range map[string][]models.Daily{
		"90 % of 100 visits since yesterday failed": {{Day: today, Asked: 70, Failed: 60}, {Day: today - 1, Asked: 30, Failed: 30}, {Day: today - 2, Asked: 500}},
		"50 % of 20 visits since yesterday failed":  {{Day: today, Asked: 20, Failed: 10}},
	} {
		if got := MostlyFails(days, today); got != want {
			t.Errorf("MostlyFails(%+v) = %q, want %q", days, got, want)
		}
	}
	for _, d := range []models.Daily{{}, {Day: today, Asked: 19, Failed: 19}, {Day: today, Asked: 100, Failed: 49}, {Day: today - 2, Asked: 100, Failed: 100}} {
		if got := MostlyFails([]models.Daily{d}, today); got != "" {
			t.Errorf("MostlyFails(%+v) = %q, want nothing", d, got)
		}
	}
}

func TestUnusualShares(t *testing.T) {
	t.Parallel()
	checkUnusual(t, map[string]unusualCase{
		"as always":             {100, usual, "", ""},
		"no visits":             {100, func(int) models.Daily { return models.Daily{} }, "", ""},
		"of ten days":           {10, with(2, func(d *models.Daily) { d.Failed = 30 }), Failing, ""},
		"younger than two days": {2, func(int) models.Daily { return models.Daily{Asked: 100, Failed: 100} }, "", ""},
		"fails":                 {100, with(2, func(d *models.Daily) { d.Failed = 29 }), Failing, "97 % of 60 visits since yesterday failed, 3 % in the 28 days before 3 October"},
		"failed always":         {100, func(int) models.Daily { return models.Daily{Asked: 30, Failed: 29} }, "", ""},
		"fails a little":        {100, with(2, func(d *models.Daily) { d.Failed = 10 }), "", ""},
		"fails of few":          {100, with(2, func(d *models.Daily) { d.Asked, d.Failed, d.Changed = 9, 9, 0 }), "", ""},
		"all is new":            {100, with(2, func(d *models.Daily) { d.Changed = 30 }), Overhaul, "100 % of 60 visits since yesterday found a change, 4 % in the 28 days before 3 October"},
		"all is new every day":  {100, func(int) models.Daily { return models.Daily{Asked: 30, Changed: 30} }, "", ""},
		"all is new since it was found": {10, func(ago int) models.Daily { // graphs that are drawn anew: the first day is of first copies
			if ago == 9 {
				return models.Daily{Asked: 62, Changed: 13, First: 17, Gone: 28, Same: 4}
			}
			return models.Daily{Asked: 56, Changed: 52, Same: 4}
		}, "", ""},
		"fails for long": {100, with(40, func(d *models.Daily) { d.Changed, d.Failed = 0, 30 }), Failing, "100 % of 60 visits since yesterday failed, 3 % in the 28 days before"},
		"fails for ever": {130, with(125, func(d *models.Daily) { d.Changed, d.Failed = 0, 30 }), "", ""},
		"fails as the day begins": {100, func(ago int) models.Daily {
			switch d := usual(ago); {
			case ago == 0:
				return models.Daily{Asked: 1}
			case ago < 10:
				d.Failed, d.Changed = 18, 0
				return d
			default:
				return d
			}
		}, Failing, "58 % of 31 visits since yesterday failed, 3 % in the 28 days before"},
		"fails now and then": {100, func(ago int) models.Daily { return models.Daily{Asked: 30, Failed: int64(30 * (ago/2%2 ^ 1))} }, "", ""},
	})
}

func TestUnusualStretches(t *testing.T) {
	t.Parallel()
	checkUnusual(t, map[string]unusualCase{
		// A host that does not answer is asked some times a day, and where its name is gone, after an hour, a day and a week.
		"answers no more":           {100, with(3, func(d *models.Daily) { *d = models.Daily{Asked: 5, Failed: 5} }), Failing, "no visit has succeeded since 1 October and 15 visits failed, where 1 day was the longest between two that did"},
		"answers no more for a day": {100, with(2, func(d *models.Daily) { *d = models.Daily{Asked: 5, Failed: 5} }), "", ""},
		"has no name any more": {100, func(ago int) models.Daily {
			switch d := usual(ago); {
			case ago == 7:
				return models.Daily{Asked: 1, Failed: 1}
			case ago < 7:
				return models.Daily{}
			default:
				return d
			}
		}, Failing, "and 1 visit failed"},
		"asleep": {100, with(7, func(d *models.Daily) { *d = models.Daily{} }), "", ""},
		"visited on Mondays": {119, func(ago int) models.Daily {
			return models.Daily{Asked: min(int64(ago%7), 1) ^ 1, Changed: min(int64(ago%7), 1) ^ 1}
		}, "", ""},
		"quiet":                  {100, with(7, func(d *models.Daily) { d.Changed = 0 }), Quiet, "no change in 9 days and 261 visits, where none took longer than 3 days in the 91 days before"},
		"quiet as ever":          {100, with(6, func(d *models.Daily) { d.Changed = 0 }), "", ""},
		"quiet and hardly asked": {100, with(7, func(d *models.Daily) { d.Changed, d.Asked = 0, 5 }), "", ""},
		"quiet for long before":  {100, with(0, nil), "", ""},
		"of rare changes":        {100, with(30, func(d *models.Daily) { d.Changed = 0 }), Quiet, ""},
		"few changes":            {40, with(10, func(d *models.Daily) { d.Changed = 0 }), "", ""},
		"quiet, but not visited": {100, with(9, func(d *models.Daily) { *d = models.Daily{} }), "", ""},
	})
}

// A site that fails does so until a visit to it succeeds: also when hardly any day is left on which one did, and none by which it could be told anew.
func TestFailsUntilItAnswers(t *testing.T) {
	t.Parallel()
	const today = 20_000
	weekly := func(d *models.Daily, ago int) { // as a host is asked that has not answered for long
		if *d = (models.Daily{}); ago%7 == 0 {
			*d = models.Daily{Asked: 1, Failed: 1}
		}
	}
	gone := func(answered, since int) func(int) models.Daily {
		return func(ago int) models.Daily {
			d := usual(ago)
			if ago < since || ago > since+answered-1 {
				weekly(&d, ago)
			}
			return d
		}
	}
	for name, c := range map[string]struct {
		visit func(int) models.Daily
		want  string
	}{
		"gone for a while": {gone(50, 40), "no visit has succeeded since 25 August and 6 visits failed, where 1 day was the longest between two that did"},
		"gone for long":    {gone(20, 110), "no visit has succeeded since 16 June and 16 visits failed"},
		"gone for ever":    {gone(20, 200), "no visit has succeeded in 120 days and 18 visits failed"},
		"back":             {gone(1, 0), ""},
		"back for some":    {func(int) models.Daily { return models.Daily{Asked: 5, Failed: 4} }, ""},
		"not asked any more": {func(ago int) models.Daily {
			if ago < 40 {
				return models.Daily{}
			}
			return usual(ago)
		}, ""},
	} {
		got := FindUnusual(daysOf(230, today, c.visit), today, true)
		if words := wordsOf(got, Failing); words != c.want {
			t.Errorf("%s: said %q, want %q", name, words, c.want)
		}
	}
}

// wordsOf is what is said of a kind of what is unusual; "": nothing.
func wordsOf(all []Unusual, kind Oddity) string {
	for _, u := range all {
		if u.Kind == kind {
			return u.Words
		}
	}
	return ""
}

// Whatever was visited, the order of the days makes no difference, nor does what lies in the future or too far back; and of a site
// without twenty visits nothing is said.
func TestFindUnusualOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		today := rapid.Int32Range(0, 30_000).Draw(t, "today")
		var days []models.Daily
		for _, ago := range rapid.SliceOfNDistinct(rapid.Int32Range(-5, 200), 0, 150, rapid.ID).Draw(t, "days") {
			asked := rapid.Int64Range(0, 50).Draw(t, "asked")
			some := func(what string) int64 { return rapid.Int64Range(0, asked).Draw(t, what) }
			days = append(days, models.Daily{SiteID: 1, Day: today - ago, Asked: asked, Changed: some("changed"), Failed: some("failed")})
		}
		failed := rapid.Bool().Draw(t, "failed")
		got := FindUnusual(days, today, failed)
		within := slices.DeleteFunc(slices.Clone(days), func(d models.Daily) bool { return d.Day > today || d.Day <= today-UnusualDays })
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(within), func(i, j int) { within[i], within[j] = within[j], within[i] })
		if again := FindUnusual(within, today, failed); !slices.Equal(got, again) {
			t.Fatalf("%+v, in another order %+v", got, again)
		}
		var visits int64
		for _, d := range within {
			visits += d.Asked
		}
		if visits < oddVisits && !failed && slices.ContainsFunc(got, func(u Unusual) bool { return u.Kind != Quiet }) {
			t.Fatalf("%+v of %d visits", got, visits)
		}
	})
}
