package report

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/models"
	"recrawld/scheduler/slo"
)

var (
	levelNow = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	inSix    = config.Goal{Share: 0.9, Within: 6 * time.Hour}
)

// foundBy is a change of a site that a visit found so long ago, so long after the one before.
func foundBy(site int32, ago, gap time.Duration) models.SeenChange {
	at := levelNow.Add(-ago)
	return models.SeenChange{SiteID: site, At: models.At(at), NotBefore: models.At(at.Add(-gap)), NotAfter: models.At(at)}
}

// measured is what is measured of one site that was added so long ago.
func measured(added time.Duration, goal config.Goal, changes ...models.SeenChange) Level {
	m := newMeasuring(Levels{}, "", []Promise{{1, goal, levelNow.Add(-added)}}, levelNow, true)
	for _, c := range changes {
		m.add(c)
	}
	return m.levels[0]
}

func TestChangesAreCountedOnTheirDay(t *testing.T) {
	t.Parallel()
	dated := foundBy(1, time.Hour, 24*time.Hour)
	dated.NotAfter = dated.At - 7*3600_000
	first := foundBy(1, time.Hour, 24*time.Hour)
	first.NotBefore = 0 // nobody knows when it was seen before
	got := measured(60*day, inSix, foundBy(1, time.Hour, 24*time.Hour), foundBy(1, 2*day, time.Hour), dated, foundBy(2, time.Hour, time.Hour),
		first, foundBy(1, 2*time.Hour, 12*time.Hour))
	today := DayNumber(levelNow)
	want := Level{Site: 1, Goal: inSix, Since: models.At(DayOf(today - LevelDays + 1)), In: got.In, Days: []LevelDay{
		{today - 2, slo.Missed{Changes: 1, Expected: 1}}, {today, slo.Missed{Changes: 3, Expected: 3, AtBest: 1, Likely: 2.25, AtWorst: 3}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a := got.Over(time.Time{}, levelNow, 0)
	if want := "43.7 % of 4 changes seen within 6h in 30 days, 90 % promised; 5.6 times the error budget used"; a.Words() != want {
		t.Errorf("in words: %s, want %s", a.Words(), want)
	}
	if a := got.Over(levelNow.Add(-2*day), levelNow, 0); a.Missed.Changes != 4 {
		t.Errorf("since two days %+v", a)
	}
	if a := got.Over(levelNow.Add(-day), levelNow, 0); a.Missed.Changes != 3 || a.Share.AtWorst != 0 {
		t.Errorf("since yesterday %+v", a)
	}
}

// Of a site that is young, or of which less is kept, it is said over what was measured; of one without changes, nothing.
func TestMeasuredOver(t *testing.T) {
	t.Parallel()
	young := measured(3*day, inSix, foundBy(1, 4*day, time.Hour), foundBy(1, 2*day, time.Hour)).Over(time.Time{}, levelNow, 0)
	if young.Missed.Changes != 1 || !young.From.Equal(levelNow.Add(-3*day)) || !strings.Contains(young.Words(), "1 change seen within 6h in 4 days") {
		t.Errorf("%+v: %s", young, young.Words())
	}
	none := measured(3*day, inSix).Over(time.Time{}, levelNow, 0)
	if none.Used() != 0 || none.Share.Likely != 1 || none.cell(1).Value != nil {
		t.Errorf("of no changes: %+v", none)
	}
}

func TestFreshPages(t *testing.T) {
	t.Parallel()
	fresh := config.Goal{Share: 0.9}
	a := measured(10*day, fresh, foundBy(1, day, 2*day), foundBy(1, day, 4*day)).Over(time.Time{}, levelNow, 4) // of 40 page-days 3 are expected, 6 at most
	if got, want := a.Share, (slo.Attained{AtWorst: 0.85, Likely: 0.925, AtBest: 1}); cmp.Diff(want, got) != "" || a.Used() < 0.74 || a.Used() > 0.76 {
		t.Errorf("%+v is attained, %v of the error budget used, want %+v and 0.75", got, a.Used(), want)
	}
	if want := "92.5 % of the pages fresh in 11 days, 90 % promised; 25 % of the error budget left"; a.Words() != want {
		t.Errorf("in words: %s, want %s", a.Words(), want)
	}
}

// A level is missed from when its error budget is used up until a twentieth of it is left; of few changes nothing is said.
func TestFindMissed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		late, inTime int
		was, want    bool
	}{
		{19, 0, true, false}, {20, 0, false, true}, {10, 90, false, false}, {10, 90, true, true}, {11, 89, false, true}, {9, 91, true, false}, {96, 904, true, true},
	} {
		var changes []models.SeenChange
		for range test.late {
			c := foundBy(1, day, 10*time.Hour)
			c.NotAfter = c.NotBefore + 1
			changes = append(changes, c)
		}
		for range test.inTime {
			changes = append(changes, foundBy(1, 2*day, time.Hour))
		}
		u, got := measured(60*day, inSix, changes...).FindMissed(levelNow, 0, test.was)
		if got != test.want || got && (u.Kind != MissesLevel || u.Site != 1 || !strings.Contains(u.Words, "90 % promised")) {
			t.Errorf("%+v: %v, %+v", test, got, u)
		}
	}
}

func TestLevelsFit(t *testing.T) {
	t.Parallel()
	before := Levels{At: models.At(levelNow.Add(-time.Hour)), Sites: []Level{{Site: 1, Goal: inSix}}}
	old := levelNow.Add(-60 * day)
	for name, test := range map[string]struct {
		promises []Promise
		want     bool
	}{
		"the same":        {[]Promise{{1, inSix, old}}, true},
		"one less":        {nil, true},
		"another level":   {[]Promise{{1, config.Goal{Share: 0.9}, old}}, false},
		"of another site": {[]Promise{{1, inSix, old}, {2, inSix, old}}, false},
		"of a new site":   {[]Promise{{1, inSix, old}, {2, inSix, levelNow.Add(-time.Minute)}}, true},
	} {
		if got := before.Fits(test.promises); got != test.want {
			t.Errorf("%s: Fits = %v", name, got)
		}
	}
	if (Levels{}).Fits([]Promise{{1, inSix, levelNow}}) {
		t.Error("what was never measured fits")
	}
}

// What was counted is kept from one measuring to the next and leaves at the end of the window; another promise is measured anew.
func TestMeasuringGoesOn(t *testing.T) {
	t.Parallel()
	store, err := models.Open(t.Context(), filepath.Join(t.TempDir(), "slo.db"), models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Migrate(t.Context(), levelNow); err != nil {
		t.Fatal(err)
	}
	measure := func(before Levels, goal config.Goal, now time.Time) Levels {
		t.Helper()
		got, err := MeasureLevels(t.Context(), store, before, "one", []Promise{{1, goal, levelNow.Add(-60 * day)}}, now, func(context.Context) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	today := DayNumber(levelNow)
	before := measure(Levels{}, inSix, levelNow)
	before.Sites[0].Days = []LevelDay{{today - 29, slo.Missed{Changes: 5}}, {today, slo.Missed{Changes: 2}}} // as if it had been in the log
	if got := measure(before, inSix, levelNow.Add(time.Hour)); got.At != models.At(levelNow.Add(time.Hour)) || len(got.Sites[0].Days) != 2 {
		t.Errorf("measured again: %+v", got)
	}
	if got := measure(before, inSix, levelNow.Add(day)); len(got.Sites[0].Days) != 1 || got.Sites[0].Since != before.Sites[0].Since {
		t.Errorf("a day later: %+v", got)
	}
	if got := measure(before, config.Goal{Share: 0.5, Within: time.Hour}, levelNow); len(got.Sites[0].Days) != 0 {
		t.Errorf("another promise: %+v", got)
	}
	ahead := measure(Levels{}, inSix, levelNow.Add(365*day))
	ahead.At = models.At(levelNow) // measured on since, before it was brought back
	if got := measure(ahead, inSix, levelNow); got.Sites[0].Since != before.Sites[0].Since {
		t.Errorf("after a clock that was ahead: %+v", got)
	}
}

// What a clock that was ahead left behind is measured anew once it is right: its days are not counted a year later, nor is what is found
// until then passed over, also where it was measured once more before that was seen to.
func TestLevelsOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	year := levelNow.Add(365 * day)
	ahead := newMeasuring(Levels{}, "one", []Promise{{1, inSix, year}}, year, true)
	found := foundBy(1, -365*day, time.Hour)
	ahead.add(found)
	before := Levels{At: models.At(levelNow), Sites: ahead.levels, By: ahead.by}
	if !before.isAhead(levelNow) || before.isAhead(year) || (Levels{At: models.At(levelNow.Add(time.Minute))}).isAhead(levelNow) {
		t.Error("not seen to be of a clock that was ahead, or where it was not")
	}
	after := newMeasuring(before, "one", []Promise{{1, inSix, year}}, levelNow, true)
	after.add(found)
	after.add(foundBy(1, time.Minute, time.Hour))
	if a := after.levels[0].Over(time.Time{}, levelNow, 0); a.Missed.Changes != 2 || a.days() != LevelDays {
		t.Errorf("%+v over %d days, want 2 changes", a.Missed, a.days())
	}
	if (Levels{At: models.At(levelNow), Sites: after.levels}).isAhead(levelNow) {
		t.Error("measured anew it is of a clock that is ahead again")
	}
}

// What others promise is measured for a day after they said so last, and not any more once they promise something else.
func TestLevelsOfSeveralWorkers(t *testing.T) {
	t.Parallel()
	other, old := config.Goal{Share: 0.5, Within: time.Hour}, levelNow.Add(-60*day)
	one, two := []Promise{{1, inSix, old}}, []Promise{{1, other, old}, {2, inSix, old}}
	goesOn := func(before Levels, worker string, promises []Promise, now time.Time) Levels {
		m := newMeasuring(before, worker, promises, now, false)
		return Levels{At: models.At(now), Sites: m.levels, By: m.by}
	}
	both := goesOn(goesOn(Levels{}, "one", one, levelNow), "two", two, levelNow.Add(time.Minute))
	if !both.Fits(one) || !both.Fits(two) || len(both.Sites) != 3 || !both.SaidBy("one", one, levelNow) || !both.SaidBy("two", two, levelNow) {
		t.Errorf("of both: %+v", both)
	}
	if both.SaidBy("one", two, levelNow) || both.SaidBy("one", nil, levelNow) || both.SaidBy("one", one, levelNow.Add(13*time.Hour)) || both.SaidBy("three", one, levelNow) {
		t.Error("what a worker did not say, or not lately, is taken for said")
	}
	for name, test := range map[string]struct {
		got  Levels
		want int
	}{
		"for others":              {goesOn(both, "three", nil, levelNow.Add(time.Hour)), 3},
		"of one that changed":     {goesOn(both, "two", one, levelNow.Add(time.Hour)), 1},
		"of one that stopped":     {goesOn(both, "two", nil, levelNow.Add(time.Hour)), 1},
		"of one that went":        {goesOn(both, "two", two, levelNow.Add(25*time.Hour)), 2},
		"of a command's own file": {goesOn(both, "", one, levelNow.Add(time.Hour)), 1},
	} {
		if len(test.got.Sites) != test.want {
			t.Errorf("%s: %+v, want %d levels", name, test.got.Sites, test.want)
		}
	}
}
