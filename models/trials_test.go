package models

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var trialNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestHintsLoseAndWinTrust(t *testing.T) {
	t.Parallel()
	const hit, miss, alarm, late = HintHit, HintMiss, HintFalseAlarm, HintLate
	for _, test := range []struct {
		name     string
		verdicts []Verdict
		trusted  bool
		want     Trial // without times
	}{
		{"nothing is known", nil, true, Trial{}},
		{"hits", []Verdict{hit, hit}, true, Trial{Hits: 2}},
		{"one miss is enough", []Verdict{hit, hit, miss}, false, Trial{Hits: 2, Misses: 1}},
		{"two false alarms are not", []Verdict{alarm, alarm}, true, Trial{FalseAlarms: 2, InARow: 2}},
		{"a hit lets begin anew", []Verdict{alarm, alarm, hit, alarm, late}, true, Trial{Hits: 1, FalseAlarms: 3, Late: 1, InARow: 2}},
		{"three in a row", []Verdict{hit, alarm, late, alarm}, false, Trial{Hits: 1, FalseAlarms: 2, Late: 1}},
		{"four hits win nothing back", []Verdict{miss, hit, hit, hit, hit}, false, Trial{Hits: 4, Misses: 1, InARow: 4}},
		{"a false alarm between them", []Verdict{miss, hit, hit, hit, hit, alarm, hit}, false, Trial{Hits: 5, Misses: 1, FalseAlarms: 1, InARow: 1}},
		{"five hits do", []Verdict{miss, hit, hit, hit, hit, hit}, true, Trial{Hits: 5}},
		{"and the next miss counts", []Verdict{miss, hit, hit, hit, hit, hit, hit, miss}, false, Trial{Hits: 6, Misses: 1}},
		{"a verdict of a later release", []Verdict{hit, 99, -1}, true, Trial{Hits: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var trials Trials
			for i, v := range test.verdicts {
				trials.Note(Finding{HintLastModified, v}, trialNow.Add(time.Duration(i)*time.Hour))
			}
			got := trials.By[HintLastModified]
			if trials.Trusts(HintLastModified) != test.trusted {
				t.Errorf("trusted: %v, want %v", !test.trusted, test.trusted)
			}
			got.Since, got.DistrustedAt = 0, 0
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
			for h := range hints {
				if h != HintLastModified && trials.By[h] != (Trial{}) {
					t.Errorf("the ledger of %v moved: %+v", h, trials.By[h])
				}
			}
		})
	}
}

func TestTrialsRememberWhen(t *testing.T) {
	t.Parallel()
	var trials Trials
	at := func(day int) Instant { return At(trialNow.AddDate(0, 0, day)) }
	note := func(day int, v Verdict) { trials.Note(Finding{HintETag, v}, at(day).Time()) }
	note(1, HintHit)
	note(2, HintMiss)
	note(3, HintFalseAlarm)
	if tr := trials.By[HintETag]; tr.Since != at(1) || tr.DistrustedAt != at(3) {
		t.Errorf("since %v, distrusted at %v, want day 1 and 3", tr.Since, tr.DistrustedAt)
	}
	for day := range 5 {
		note(4+day, HintHit)
	}
	if tr := trials.By[HintETag]; tr.Since != at(8) || tr.DistrustedAt != 0 {
		t.Errorf("since %v, distrusted at %v, want day 8 and never", tr.Since, tr.DistrustedAt)
	}
	trials.Note(Finding{Hint: hints, Verdict: HintMiss}, trialNow)
	trials.Note(Finding{Hint: -1, Verdict: HintMiss}, trialNow)
	for range 3 {
		trials.Visited(false, trialNow)
	}
	if trials.Visits != 3 || trials.AuditedAt != 0 {
		t.Errorf("%d visits since an audit at %v, want 3 since none", trials.Visits, trials.AuditedAt)
	}
	trials.Visited(true, trialNow)
	if trials.Visits != 0 || trials.AuditedAt != At(trialNow) {
		t.Errorf("%d visits since an audit at %v, want none since now", trials.Visits, trials.AuditedAt)
	}
}

// anyTrials draws trials whose numbers lie at and beyond what they count to.
func anyTrials(t *rapid.T) Trials {
	count := func() uint16 { return rapid.OneOf(rapid.Uint16(), rapid.Just[uint16](math.MaxUint16)).Draw(t, "count") }
	at := func() Instant { return Instant(rapid.Int64().Draw(t, "at")) }
	trials := Trials{AuditedAt: at(), Visits: rapid.OneOf(rapid.Uint32(), rapid.Just[uint32](math.MaxUint32)).Draw(t, "visits"), ProbedAt: at()}
	times := rapid.OneOf(rapid.Just[int64](0), rapid.Int64Range(0, math.MaxInt64/1000))
	trials.Load = Load{Response: time.Duration(times.Draw(t, "response")) * time.Microsecond, Slowed: time.Duration(times.Draw(t, "slowed")) * time.Microsecond}
	if rapid.Bool().Draw(t, "absent") {
		trials.AbsentAt, trials.ShownAt = at(), at()
	}
	if rapid.Bool().Draw(t, "losses") {
		trials.Losses = Losses{Since: at(), Lost: rapid.Uint32().Draw(t, "lost"), Toward: rapid.Int64().Draw(t, "toward"), SeenAt: at()}
	}
	if rapid.Bool().Draw(t, "sitemap") {
		trials.SitemapAt, trials.SitemapFound = at(), rapid.Bool().Draw(t, "found")
	}
	if rapid.Bool().Draw(t, "led") {
		trials.SitemapAt, trials.SitemapFound = at(), false
		trials.SitemapTo, trials.SitemapHops = rapid.StringN(1, -1, 3000).Draw(t, "to"), rapid.Uint8().Draw(t, "hops")
	}
	if rapid.Bool().Draw(t, "load alone") {
		return Trials{Load: trials.Load, Losses: trials.Losses, AbsentAt: trials.AbsentAt, ShownAt: trials.ShownAt, SitemapAt: trials.SitemapAt, SitemapFound: trials.SitemapFound,
			SitemapTo: trials.SitemapTo, SitemapHops: trials.SitemapHops}
	}
	for i := range trials.By {
		trials.By[i] = Trial{Hits: count(), Misses: count(), FalseAlarms: count(), Late: count(), InARow: count(), Since: at(), DistrustedAt: at()}
	}
	return trials
}

// What a ledger says is of the last findings: a list that told of every change for years and of none since is not relied on for
// ever.
func TestCountsFade(t *testing.T) {
	t.Parallel()
	var trials Trials
	note := func(n int, v Verdict) {
		for range n {
			trials.Note(Finding{HintSitemap, v}, trialNow)
		}
	}
	note(300_000, HintHit)
	tr := &trials.By[HintSitemap]
	if tr.Hits < 30_000 || tr.Misses > 0 {
		t.Errorf("after 300,000 hits %d hits and %d misses are counted", tr.Hits, tr.Misses)
	}
	note(300_000, HintMiss)
	if share := float64(tr.Hits) / float64(int(tr.Hits)+int(tr.Misses)); share > 0.01 || tr.DistrustedAt != 0 {
		t.Errorf("after as many misses %.3f of the findings are hits, distrusted %v, want next to none, and trust", share, tr.DistrustedAt)
	}
	tr.Hits, tr.Misses, tr.FalseAlarms = mostFindings-1, 0, 1
	note(1, HintHit)
	if tr.FalseAlarms != 1 {
		t.Error("what was seen once is forgotten as soon as the ledger is full")
	}
}

// TestTrialsRoundTrip: what is written is read back, and no count ever goes back to nothing, nor back at all but by half in a full
// ledger.
func TestTrialsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyTrials(t)
		for range rapid.IntRange(0, 9).Draw(t, "findings") {
			before := want
			want.Visited(false, trialNow)
			f := Finding{Hint(rapid.IntRange(0, int(hints)-1).Draw(t, "hint")), Verdict(rapid.IntRange(0, 3).Draw(t, "verdict"))}
			want.Note(f, trialNow)
			now, then := want.By[f.Hint], before.By[f.Hint]
			if then.sum() >= mostFindings {
				then.Hits, then.Misses, then.FalseAlarms, then.Late = then.Hits/2, then.Misses/2, then.FalseAlarms/2, then.Late/2
			}
			wonTrust := then.DistrustedAt != 0 && now.DistrustedAt == 0
			if want.Visits < before.Visits || !wonTrust && (now.Hits < then.Hits || now.Misses < then.Misses ||
				now.FalseAlarms < then.FalseAlarms || now.Late < then.Late) {
				t.Fatalf("counts went from %+v to %+v", then, now)
			}
		}
		value, err := want.Value()
		if err != nil {
			t.Fatal(err)
		}
		got := anyTrials(t)
		if err := got.Scan(value); err != nil || got != want {
			t.Fatalf("written as %+v, read as %+v, %v", want, got, err)
		}
	})
	var none Trials
	if value, err := none.Value(); value != nil || err != nil {
		t.Errorf("no trials are written as %v, %v, want NULL", value, err)
	}
}

// TestLossesRoundTrip, beside whatever else is known.
func TestLossesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Trials{}
		if rapid.Bool().Draw(t, "others") {
			want = anyTrials(t)
		}
		want.Losses = Losses{Since: Instant(rapid.Int64Range(0, 1<<40).Draw(t, "since")), Lost: rapid.Uint32().Draw(t, "lost"),
			Found: rapid.Uint32().Draw(t, "found"), Final: rapid.Uint32().Draw(t, "final"), Toward: rapid.Int64().Draw(t, "toward"),
			From: rapid.Int64().Draw(t, "from")}
		if rapid.Bool().Draw(t, "turns") {
			want.Losses.SeenAt, want.Losses.LookDays = Instant(rapid.Int64Range(0, 1<<40).Draw(t, "seen")), rapid.Uint64().Draw(t, "days")
			want.Losses.Later, want.Losses.New = rapid.Uint32().Draw(t, "later"), rapid.Uint32().Draw(t, "new")
			want.Losses.InARow, want.Losses.Usual = rapid.Uint32().Draw(t, "in a row"), rapid.Float32Range(0, 1).Draw(t, "usual")
		}
		value, err := want.Value()
		if err != nil {
			t.Fatal(err)
		}
		var got Trials
		if err := got.Scan(value); err != nil || got != want {
			t.Fatalf("written as %+v, read as %+v, %v", want, got, err)
		}
	})
}

// TestWhenPagesWereAbsentIsKeptForAWhile: that pages show their content is kept only while it is of use.
func TestWhenPagesWereAbsentIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	var trials Trials
	if trials.Shown(trialNow); !trials.IsZero() {
		t.Errorf("where no page was ever absent it is kept: %+v", trials)
	}
	trials.Absent(trialNow)
	later := trialNow.Add(absentKept)
	if trials.Shown(later); trials.ShownAt != At(later) || trials.AbsentAt != At(trialNow) || trials.Hinted() {
		t.Errorf("after a page was absent: %+v", trials)
	}
	if trials.Shown(later.Add(time.Second)); !trials.IsZero() {
		t.Errorf("what is long ago is kept: %+v", trials)
	}
}

func TestTrialsOfNoBytes(t *testing.T) {
	t.Parallel()
	for _, src := range []any{nil, []byte(nil), []byte{}, []byte{2, 1}, []byte{trialsForm}} {
		got := Trials{Visits: 7}
		if err := got.Scan(src); err != nil || !got.IsZero() {
			t.Errorf("Scan(%v) = %+v, %v, want none", src, got, err)
		}
	}
	var got Trials
	if err := got.Scan("text"); err == nil {
		t.Error("Scan of a text: no error")
	}
}

// FuzzTrials: whatever the column holds, reading it never fails, and what was read is written so that it is read again.
func FuzzTrials(f *testing.F) {
	full := Trials{AuditedAt: 1, Visits: math.MaxUint32, ProbedAt: math.MaxInt64}
	full.By[HintExpires] = Trial{Hits: math.MaxUint16, Since: -1}
	for _, t := range []Trials{{Visits: 1}, full, {Load: Load{Response: time.Second, Slowed: time.Minute}}, {Visits: 1, Load: Load{Slowed: time.Second}},
		{Losses: Losses{Since: 7, Lost: 3, Found: 1 << 20, Toward: 1<<63 - 1}}, {Visits: 1, Losses: Losses{Since: 9, Lost: 1}}, {Load: Load{Response: time.Second}, Losses: Losses{Toward: 5}},
		{SitemapAt: 5, Losses: Losses{Since: 9, Lost: 1, SeenAt: 8, LookDays: 7, Later: 6, New: 5, InARow: 4, Usual: 0.25}}} {
		value, err := t.Value()
		if err != nil {
			f.Fatal(err)
		}
		body := value.([]byte)
		f.Add(body)
		f.Add(body[:len(body)-1])
		f.Add(append(bytes.Clone(body), 0))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		kept := bytes.Clone(body)
		var first, second Trials
		if err := first.Scan(body); err != nil || !bytes.Equal(body, kept) {
			t.Fatalf("Scan: %v; changed: %v", err, !bytes.Equal(body, kept))
		}
		value, err := first.Value()
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Scan(value); err != nil || first != second {
			t.Fatalf("read %+v, again %+v, %v", first, second, err)
		}
	})
}
