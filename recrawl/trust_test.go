package recrawl

import (
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
)

// distrusting is a host that lied by these hints.
func distrusting(hints ...models.Hint) *models.Trials {
	t := &models.Trials{}
	for _, h := range hints {
		t.By[h].DistrustedAt = models.At(today)
	}
	return t
}

func TestApproach(t *testing.T) {
	t.Parallel()
	digest := models.DigestOf([]byte("x"))
	both := models.Page{Digest: digest, ETag: `"1"`, LastModified: day(-10), Stats: models.ChangeStats{FirstAt: models.At(today.Add(-20 * 24 * time.Hour))}}
	tagged, dated, neither, lost := both, both, both, both
	tagged.LastModified, dated.ETag, lost.Digest = "", "", models.Digest{}
	neither.ETag, neither.LastModified = "", ""
	doubted := &models.Trials{}
	doubted.By[models.HintNotModified].InARow = 1
	const never, always = `"recrawld-audit"`, "Tue, 13 Nov 1990 15:17:00 GMT"
	for name, test := range map[string]struct {
		page                         models.Page
		trials                       *models.Trials
		share                        float64
		full                         bool
		how                          approach
		ifNoneMatch, ifModifiedSince string
	}{
		"both":                     {both, distrusting(), 0, false, askConditional, `"1"`, day(-10)},
		"no copy":                  {lost, distrusting(), 0, false, askPlain, "", ""},
		"no validators":            {neither, distrusting(), 1, false, askPlain, "", ""},
		"full":                     {both, distrusting(), 0, true, askUnconditional, "", ""},
		"drawn":                    {both, distrusting(), 1, false, askUnconditional, "", ""},
		"no tag":                   {both, distrusting(models.HintETag), 0, false, askConditional, "", day(-10)},
		"no date":                  {both, distrusting(models.HintLastModified), 0, false, askConditional, `"1"`, ""},
		"neither is believed":      {both, distrusting(models.HintETag, models.HintLastModified), 0, false, askUnconditional, "", ""},
		"the tag was all":          {tagged, distrusting(models.HintETag), 0, false, askUnconditional, "", ""},
		"the date was all":         {dated, distrusting(models.HintLastModified), 0, false, askUnconditional, "", ""},
		"the date is left":         {dated, distrusting(models.HintETag), 0, false, askConditional, "", day(-10)},
		"no 304 is believed":       {both, distrusting(models.HintNotModified), 0, false, askUnconditional, "", ""},
		"304s are tried":           {both, distrusting(models.HintNotModified), 1, false, askImpossible, never, always},
		"304s are in doubt":        {both, doubted, 0, false, askImpossible, never, always},
		"full, 304s are in doubt":  {both, doubted, 0, true, askUnconditional, "", ""},
		"Expires is another thing": {both, distrusting(models.HintExpires), 0, false, askConditional, `"1"`, day(-10)},
	} {
		ask := inquiry{page: &test.page, trials: test.trials, share: test.share, full: test.full, now: today}
		how, overdue := ask.approach()
		ifNoneMatch, ifModifiedSince := ask.conditions(how)
		if how != test.how || ifNoneMatch != test.ifNoneMatch || ifModifiedSince != test.ifModifiedSince || overdue {
			t.Errorf("%s: %v with %q and %q, overdue %v; want %v with %q and %q", name, how, ifNoneMatch, ifModifiedSince,
				overdue, test.how, test.ifNoneMatch, test.ifModifiedSince)
		}
	}
}

// TestImpossibleDateCanNotHold: a copy that says it is older than the web is asked for by a tag alone.
func TestImpossibleDateCanNotHold(t *testing.T) {
	t.Parallel()
	page := models.Page{LastModified: "Thu, 01 Jan 1970 00:00:00 GMT"}
	ask := inquiry{page: &page, trials: &models.Trials{}}
	if ifNoneMatch, ifModifiedSince := ask.conditions(askImpossible); ifNoneMatch == "" || ifModifiedSince != "" {
		t.Errorf("conditions %q and %q", ifNoneMatch, ifModifiedSince)
	}
}

// TestAuditShare: by lot as many visits are audits as the share says, and which ones depends on page and visit alone.
func TestAuditShare(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 0.01, 0.2, 1} {
		audits := 0
		const visits = 100_000
		for n := range visits {
			page := models.Page{ID: int64(n / 100), Visits: int32(n % 100)}
			ask := inquiry{page: &page, share: share}
			first := ask.drawn()
			if again := ask.drawn(); again != first {
				t.Fatal("the lot falls one way and the other")
			}
			if first {
				audits++
			}
		}
		if got := float64(audits) / visits; got < share*0.9 || got > share*1.1 {
			t.Errorf("share %v: %v of the visits are audits", share, got)
		}
	}
}

func TestOverdueAudits(t *testing.T) {
	t.Parallel()
	month := 30 * 24 * time.Hour
	for name, test := range map[string]struct {
		audited, first time.Time
		share          float64
		want           bool
	}{
		"never, known for a day":     {time.Time{}, today.Add(-24 * time.Hour), 0.01, false},
		"never, known for a month":   {time.Time{}, today.Add(-month), 0.01, true},
		"a month ago":                {today.Add(-month), today.Add(-10 * month), 0.01, true},
		"less than a month ago":      {today.Add(-month + time.Hour), today.Add(-10 * month), 0.01, false},
		"switched off":               {today.Add(-10 * month), today.Add(-10 * month), 0, false},
		"never, the page not either": {time.Time{}, time.Time{}, 0.01, false},
	} {
		page := models.Page{Stats: models.ChangeStats{FirstAt: models.At(test.first)}}
		ask := inquiry{page: &page, trials: &models.Trials{AuditedAt: models.At(test.audited)}, share: test.share, now: today}
		if got := ask.overdue(); got != test.want {
			t.Errorf("%s: overdue %v", name, got)
		}
	}
}

func TestWithoutSuffix(t *testing.T) {
	t.Parallel()
	for etag, want := range map[string]string{
		"": "", `"1"`: `"1"`, `"abc-gzip"`: `"abc-gzip", "abc"`, `W/"abc-gzip"`: `W/"abc-gzip", W/"abc"`,
		`"abc--gzip"`: `"abc--gzip", "abc"`, `"abc;gzip"`: `"abc;gzip", "abc"`, "abc-gzip": "abc-gzip", `"-gzip"`: `"-gzip"`,
		`"gzip"`: `"gzip"`,
	} {
		if got := withoutSuffix(etag); got != want {
			t.Errorf("withoutSuffix(%s) = %s, want %s", etag, got, want)
		}
	}
}

func TestOpaque(t *testing.T) {
	t.Parallel()
	for _, same := range []string{`"a"`, `W/"a"`, `"a-gzip"`, `W/"a-gzip"`, `"a;gzip"`} {
		if tag, weak := opaque(same); tag != `"a"` || weak != (same[0] == 'W') {
			t.Errorf("opaque(%s) = %s, %v", same, tag, weak)
		}
	}
}

// at is an instant, so many days after today.
func at(days int) models.Instant { return models.At(today.Add(time.Duration(days) * 24 * time.Hour)) }

// noFinding is what a table wants where nothing is shown.
const noFinding = models.Verdict(-1)

// finding is a case: an answer of a kind beside a copy, and what that shows of a hint.
type finding struct {
	kind models.OutcomeKind
	edit func(*evidence)
	want models.Verdict
}

func wantFindings(t *testing.T, hint models.Hint, cases []finding) {
	t.Helper()
	for i, test := range cases {
		e := evidence{page: &models.Page{Digest: models.DigestOf([]byte("x"))}, kind: test.kind, date: today, now: today}
		test.edit(&e)
		got := noFinding
		for _, f := range e.findings() {
			if f.Hint == hint {
				got = f.Verdict
			}
		}
		if got != test.want {
			t.Errorf("case %d: %v of a %v is %d, want %d", i, hint, test.kind, got, test.want)
		}
	}
}

func TestFindingsOfETags(t *testing.T) {
	t.Parallel()
	tags := func(before, after string) func(*evidence) {
		return func(e *evidence) { e.page.ETag, e.etag = before, after }
	}
	wantFindings(t, models.HintETag, []finding{
		{models.SameBytes, tags(`"1"`, `"1"`), models.HintHit},
		{models.SameBytes, tags(`"1"`, `"2"`), models.HintFalseAlarm},
		{models.SameBytes, tags(`"1-gzip"`, `"1"`), models.HintHit},
		{models.SameBytes, tags(`"1"`, ""), noFinding},
		{models.SameBytes, tags("", `"1"`), noFinding},
		{models.Changed, tags(`"1"`, `"1"`), models.HintMiss},
		{models.Changed, tags(`W/"1"`, `W/"1"`), models.HintMiss},
		{models.Changed, tags(`"1"`, `"2"`), models.HintHit},
		{models.Noise, tags(`"1"`, `"1"`), models.HintLate},
		{models.SameText, tags(`"1"`, `"1"`), models.HintLate},
		{models.Noise, tags(`W/"1"`, `W/"1"`), models.HintHit},
		{models.Noise, tags(`"1"`, `"2"`), models.HintHit},
		{models.NotModified, tags(`"1"`, `"1"`), noFinding},
		{models.First, tags(`"1"`, `"1"`), noFinding},
	})
}

func TestFindingsOfDates(t *testing.T) {
	t.Parallel()
	const epoch = "Thu, 01 Jan 1970 00:00:00 GMT"
	dates := func(before, after string) func(*evidence) {
		return func(e *evidence) { e.page.LastModified, e.lastModified = before, after }
	}
	wantFindings(t, models.HintLastModified, []finding{
		{models.SameBytes, dates(day(-9), day(-9)), models.HintHit},
		{models.SameBytes, dates(day(-9), day(-8)), models.HintFalseAlarm},
		{models.Changed, dates(day(-9), day(-9)), models.HintMiss},
		{models.Changed, dates(day(-9), day(-8)), models.HintHit},
		{models.Noise, dates(day(-9), day(-9)), models.HintHit},
		{models.Changed, dates(day(-8), day(-9)), models.HintLate},
		{models.Changed, dates(day(-8), day(2)), models.HintLate},
		{models.SameBytes, dates(day(2), day(2)), models.HintLate},
		{models.SameBytes, dates(epoch, epoch), models.HintLate},
		{models.SameBytes, dates("yesterday", "yesterday"), models.HintHit},
		{models.Changed, dates("yesterday", "yesterday"), models.HintMiss},
	})
}

func TestFindingsOfPromises(t *testing.T) {
	t.Parallel()
	fresh := func(days int) func(*evidence) { return func(e *evidence) { e.page.FreshUntil = at(days) } }
	promised := func(until, dated int) func(*evidence) { // the visit before was three days ago
		return func(e *evidence) {
			e.page.FreshUntil, e.page.Stats.VisitedAt, e.lastModified = at(until), at(-3), day(dated)
		}
	}
	wantFindings(t, models.HintExpires, []finding{
		{models.Changed, fresh(1), models.HintLate},
		{models.Changed, fresh(-1), noFinding},
		{models.SameBytes, fresh(1), models.HintHit},
		{models.Noise, fresh(-1), models.HintHit},
		{models.SameBytes, fresh(1000), models.HintHit},
		{models.Changed, promised(-1, -2), models.HintLate},
		{models.Changed, promised(-1, -4), noFinding},
		{models.Changed, promised(-1, 0), noFinding},
	})
}

func TestFindingsOf304s(t *testing.T) {
	t.Parallel()
	asked := func(how approach, whole, last int) func(*evidence) {
		return func(e *evidence) {
			e.how, e.page.FullAt, e.page.Stats.VisitedAt = how, at(whole), at(last)
		}
	}
	modified := func(hours int) func(*evidence) {
		return func(e *evidence) {
			asked(askUnconditional, -9, -1)(e)
			e.lastModified = today.Add(time.Duration(hours) * time.Hour).Format(http.TimeFormat)
		}
	}
	wantFindings(t, models.HintNotModified, []finding{
		{models.Changed, modified(-2), models.HintHit},   // it came after the last 304
		{models.Changed, modified(-48), models.HintLate}, // it was there before
		{models.Changed, modified(0), models.HintLate},   // made anew for each answer
		{models.SameBytes, asked(askImpossible, -9, -1), models.HintHit},
		{models.Changed, asked(askConditional, -9, -1), models.HintHit},
		{models.SameBytes, asked(askConditional, -9, -1), noFinding},
		{models.SameBytes, asked(askUnconditional, -9, -1), models.HintHit},
		{models.Changed, asked(askUnconditional, -9, -1), models.HintLate},
		{models.Changed, asked(askUnconditional, -3, -1), noFinding},
		{models.Changed, asked(askUnconditional, -1, -1), noFinding},
		{models.Changed, asked(askPlain, -9, -1), noFinding},
	})
}

// TestFindingsOfWhateverIsSaid holds that no answer shows more than one thing of a hint, and that one which agrees with
// the copy in all it says never loses trust.
func TestFindingsOfWhateverIsSaid(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"", `"1"`, `W/"1"`, `"1-gzip"`, "unquoted", day(-3), day(3), "garbage", "Thu, 01 Jan 1970 00:00:00 GMT"})
	rapid.Check(t, func(t *rapid.T) {
		page := models.Page{ETag: word.Draw(t, "held tag"), LastModified: word.Draw(t, "held date"),
			FreshUntil: at(rapid.IntRange(-9, 9).Draw(t, "fresh")), FullAt: at(rapid.IntRange(-9, 0).Draw(t, "full"))}
		page.Stats.VisitedAt = at(rapid.IntRange(-9, 0).Draw(t, "visited"))
		if rapid.Bool().Draw(t, "copy") {
			page.Digest = models.DigestOf([]byte("x"))
		}
		e := evidence{page: &page, how: approach(rapid.IntRange(0, 3).Draw(t, "how")), date: today, now: today,
			kind: models.OutcomeKind(rapid.IntRange(0, 20).Draw(t, "kind")), etag: word.Draw(t, "tag"), lastModified: word.Draw(t, "date")}
		seen := make(map[models.Hint]bool)
		for _, f := range e.findings() {
			if seen[f.Hint] {
				t.Fatalf("%v is found twice", f.Hint)
			}
			seen[f.Hint] = true
			agrees := e.kind == models.SameBytes && e.etag == page.ETag
			if f.Hint == models.HintETag && agrees && f.Verdict != models.HintHit {
				t.Fatalf("the same tag on the same bytes is %d", f.Verdict)
			}
		}
		if page.Digest.IsZero() && len(seen) > 0 {
			t.Fatal("findings without a copy")
		}
	})
}

// The date of a change is told by our clock, whatever the server's says; one that is only that of the answer is none.
func TestDateOfAChange(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		modified string
		ahead    time.Duration // of the server's clock
		want     time.Time
	}{
		"a day ago":        {today.Add(-day).Format(http.TimeFormat), 0, today.Add(-day)},
		"its clock behind": {today.Add(-3 * day).Format(http.TimeFormat), -2 * day, today.Add(-day)},
		"its clock ahead":  {today.Format(http.TimeFormat), day, today.Add(-day)},
		"just made":        {today.Add(-time.Second).Format(http.TimeFormat), 0, time.Time{}},
		"in the future":    {today.Add(day).Format(http.TimeFormat), 0, time.Time{}},
		"before the web":   {time.Unix(0, 0).UTC().Format(http.TimeFormat), 0, time.Time{}},
		"its clock broken": {today.Add(-day).Format(http.TimeFormat), 290 * 365 * day, time.Time{}},
		"no date":          {"yesterday", 0, time.Time{}},
		"nothing":          {"", 0, time.Time{}},
	} {
		e := evidence{page: &models.Page{}, kind: models.Changed, lastModified: test.modified, date: today.Add(test.ahead), now: today}
		if got := e.modifiedAt(); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
