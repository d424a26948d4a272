package report

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"recrawld/models"
	"recrawld/report/rhythm"
)

// madeLooks are those at a page about every 6 hours of the quarter of a year before testNow, that changes at some hours alone.
func madeLooks(dice *rand.Rand, busy func(time.Time) bool) []models.Look {
	at := testNow.Add(-rhythmSpan)
	looks, changed := []models.Look{{At: models.At(at), Kind: models.First}}, false
	for next := at; at.Before(testNow); at = at.Add(10 * time.Minute) {
		if changed = changed || busy(at) && dice.IntN(300) == 0; at.Before(next) {
			continue
		}
		kind := models.NotModified
		if changed {
			kind = models.Changed
		}
		looks, changed, next = append(looks, models.Look{At: models.At(at), Kind: kind}), false, at.Add(time.Duration(310+dice.IntN(50))*time.Minute)
	}
	return looks
}

// office is from 9 to 18 on working days, in Berlin.
func office(at time.Time) bool {
	at = at.In(berlin)
	return at.Weekday() != time.Saturday && at.Weekday() != time.Sunday && at.Hour() >= 9 && at.Hour() < 18
}

var berlin = time.FixedZone("Europe/Berlin", 3600) // testNow is in winter

// madeRhythm is the rhythm of some such pages, and of one that changes all the time.
func madeRhythm(pages int, busy func(time.Time) bool) rhythm.Rhythm {
	dice, tally := rand.New(rand.NewPCG(1, 1)), rhythm.New(berlin)
	for range pages {
		tally.Add(between(madeLooks(dice, busy)))
	}
	tally.Add(between([]models.Look{{At: 1000, Kind: models.First}, {At: 2000, Kind: models.Changed}}))
	return tally.Rhythm()
}

func TestRhythm(t *testing.T) {
	t.Parallel()
	o, since := testOptions, testNow.Add(-rhythmSpan)
	goldenDocument(t, "rhythm-none", rhythmDocument(madeRhythm(2, func(at time.Time) bool { return at.Minute() == 0 }), since, o))
	goldenDocument(t, "rhythm-empty", rhythmDocument(rhythm.New(time.UTC).Rhythm(), since, o))
	o.Zone, o.ZoneOf = berlin, "windows"
	goldenDocument(t, "rhythm", rhythmDocument(madeRhythm(12, office), since, o))
}

// A first copy begins anew: what was before it is not what it differs from.
func TestBetweenLooks(t *testing.T) {
	t.Parallel()
	got := between([]models.Look{{At: 1000, Kind: models.First}, {At: 2000, Kind: models.Noise}, {At: 3000, Kind: models.First}, {At: 5000, Kind: models.Changed, HappenedAt: 4000}})
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	want := []rhythm.Look{{From: at(1), To: at(2)}, {From: at(3), To: at(5), Changed: true, At: at(4)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if none := between(nil); none != nil {
		t.Errorf("between no looks: %v", none)
	}
}

// Each sentence says no more than what was seen.
func TestRhythmSaysWhatItIsOf(t *testing.T) {
	t.Parallel()
	found := func(s rhythm.Span) rhythm.Rhythm {
		return rhythm.Rhythm{Changes: 300, Pages: 40, Look: 6, DailyP: 0.004, WeeklyP: 0.0001, Daily: true, Weekly: true, Span: s, Times: 3.21, Share: 0.7}
	}
	weekly, sudden := found(rhythm.Span{Days: 5, Hours: 24}), found(rhythm.Span{Days: 7, From: 23, Hours: 1})
	weekly.Daily, weekly.DailyP = false, 0.4
	sudden.Times = math.Inf(1)
	for _, test := range []struct {
		rhythm.Rhythm
		want string
	}{
		{found(rhythm.Span{Days: 5, From: 9, Hours: 9}), "Changes come on working days from 9 to 18 (p < 0.01), 3.2 times as often as else: 70 % of 300 changes of 40 pages"},
		{found(rhythm.Span{Days: 7, From: 22, Hours: 8}), "Changes come from 22 to 6 (p < 0.01)"},
		{found(rhythm.Span{FirstDay: 5, Days: 2, From: 20, Hours: 4}), "Changes come at weekends from 20 to 24 (p"},
		{found(rhythm.Span{FirstDay: 6, Days: 1, From: 0, Hours: 2}), "Changes come on Sundays from 0 to 2 (p"},
		{found(rhythm.Span{FirstDay: 6, Days: 3, From: 5, Hours: 2}), "Changes come from Sunday to Tuesday, from 5 to 7 (p"},
		{weekly, "Changes come on working days (p < 0.001), 3.2 times as often as else"},
		{sudden, "Changes come from 23 to 24 (p < 0.01), more than 100 times as often as else"},
		{rhythm.Rhythm{Changes: 300, Pages: 40, Look: 30, DailyP: 0.35, WeeklyP: 1}, "No rhythm shows: 300 changes of 40 pages, intervals of visits of 30 h at the median say nothing of the hour " +
			"(p = 0.35, by the day of the week p = 1)"},
		{rhythm.Rhythm{Changes: 300, Pages: 40, DailyP: 0.35, WeeklyP: 0.02}, "No rhythm shows: 300 changes of 40 pages, all of them dated, say nothing of the hour"},
		{rhythm.Rhythm{Changes: 19, Pages: 1, DailyP: 1, WeeklyP: 1}, "No rhythm shows: 19 changes of 1 page are too few, it takes 20"},
		{rhythm.Rhythm{DailyP: 1, WeeklyP: 1}, "No rhythm shows: no page was seen changed by one visit and unchanged by another"},
	} {
		d := rhythmDocument(test.Rhythm, testNow.Add(-rhythmSpan), testOptions)
		if !strings.HasPrefix(d.Lead[0], test.want) {
			t.Errorf("%q, want %q", d.Lead[0], test.want)
		}
		var b bytes.Buffer
		if err := WriteJSON(&b, d); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%q as JSON: %v: %s", test.want, err, b.Bytes())
		}
	}
}

// The widest words of each column fit into a terminal of 80.
func TestRhythmFitsTheTerminal(t *testing.T) {
	t.Parallel()
	r := rhythm.Rhythm{Changes: 99_999_999, Pages: 9_999_999, Noisy: 9_999_999, Look: 1, DailyP: 1e-9, WeeklyP: 1e-9, Daily: true, Weekly: true,
		Span: rhythm.Span{FirstDay: 2, Days: 2, From: 23, Hours: 1}, Times: 1e9, Share: 1}
	r.Hours[50] = rhythm.Hour{Came: 99_999_999, Expected: 20_000}
	var b strings.Builder
	if err := WriteText(&b, rhythmDocument(r, testNow.Add(-rhythmSpan), testOptions), Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line of %d: %q", n, line)
		}
	}
}
