package scheduler

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/clock"
	"recrawld/internal/solo"
)

// TestSavedUpForABunch: what is not spent in the quiet hours is there for those who are due together, and a week has no more than
// what comes in within 18 hours beside its budget.
func TestSavedUpForABunch(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(noon)
	p := newPurse(new(notes), clk, &allowance{requests: 240, bytes: math.Inf(1)})
	bunch := func() int {
		paid, err := p.take(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		return paid.requests
	}
	for day := range 30 { // what comes in meanwhile makes room
		if got := bunch(); day > 20 && got != 180 {
			t.Errorf("day %d: %d visits at once once a day, want what comes in within 18 hours, 180", day, got)
		}
		wait(t, clk, 24*time.Hour)
	}
	week := bunch()
	for range 7 * 24 {
		wait(t, clk, time.Hour)
		week += bunch()
	}
	if week > 7*240+180 || week < 7*240+179 {
		t.Errorf("%d visits in a week that begins with all that can be kept, want %d", week, 7*240+180)
	}
}

// spendSpare takes a visit whenever the purse has one to spare, up to a moment, and tells how many it got and how often it asked.
func spendSpare(t *testing.T, p *purse, clk *clock.Virtual, end time.Time) (got, asked int) {
	t.Helper()
	for ; clk.Now().Before(end); asked++ {
		until, err := p.spare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if until.IsZero() {
			got++
			continue
		}
		if err := clk.SleepUntil(t.Context(), until); err != nil {
			t.Fatal(err)
		}
	}
	return got, asked
}

// TestRoomMakesNoGap: who visits early whenever the budget has one to spare uses all of it but for what makes room.
func TestRoomMakesNoGap(t *testing.T) {
	t.Parallel()
	solo.Test(t)
	for _, perDay := range []float64{10, 240, 1e5} {
		clk := clock.NewVirtual(noon)
		p := newPurse(new(notes), clk, &allowance{requests: perDay, bytes: math.Inf(1)})
		got, asked := spendSpare(t, p, clk, noon.AddDate(0, 0, 2))
		if want, kept := 2*perDay*(1-1.0/roomShare), least(perDay); float64(got) < want-2 || float64(got) > 2*perDay+kept {
			t.Errorf("at %g a day %d visits in two days, want %.0f", perDay, got, want)
		}
		if asked > 4*got+10 {
			t.Errorf("at %g a day it was asked %d times for %d visits", perDay, asked, got)
		}
	}
}

// TestBudgetsOfOtherSize: where a budget is cut the least is kept, where it is raised what was unspent, and where it changes a
// little, as that for each page does, as much of it in time.
func TestBudgetsOfOtherSize(t *testing.T) {
	t.Parallel()
	of := func(perDay float64) allowance { return allowance{requests: perDay, bytes: math.Inf(1)} }
	kept := note{requests: 180, bytes: math.Inf(1), at: noon, room: 18 * time.Hour, of: of(240)}
	for name, test := range map[string]struct {
		now            allowance
		requests, room float64 // requests, hours
	}{
		"as it was": {of(240), 180, 18},
		"halved":    {of(120), 4, 1.0 / 60},
		"doubled":   {of(480), 180, 9},
		"grows":     {of(250), 180, 18},
		"shrinks":   {of(220), 165, 18},
		"off":       {of(math.Inf(1)), math.Inf(1), 18},
	} {
		got := kept.under(test.now).fill(test.now, noon)
		if math.Abs(got.requests-test.requests) > 1e-9 || math.Abs(got.room.Hours()-test.room) > 1e-6 || got.of != test.now {
			t.Errorf("%s: %+v, want %v requests and room for %v h", name, got, test.requests, test.room)
		}
	}
}

// TestWhatIsKeptForAWindowStays: what came in while windows are closed for days stays as it was saved up where the budget grows, as one for each page
// known does when some come in, and a bound that is new begins with the least: nobody saved up under it.
func TestWhatIsKeptForAWindowStays(t *testing.T) {
	t.Parallel()
	const room = 160 * time.Hour
	kept := note{requests: 600, bytes: 6e6, at: noon, room: room, extra: room - mostRoom, of: allowance{100, 1e6}}
	for name, test := range map[string]struct {
		unbound         note
		now             allowance
		requests, bytes float64
	}{
		"as it was":        {kept, kept.of, 600, 6e6},
		"grows":            {kept, allowance{112, 1.12e6}, 600, 6e6},
		"doubled":          {kept, allowance{200, 2e6}, 600, 6e6},
		"halved":           {kept, allowance{50, 0.5e6}, handful, least(0.5e6)},
		"requests at last": {note{math.Inf(1), 6e6, noon, room, allowance{math.Inf(1), 1e6}, usual{}, 0, kept.extra}, kept.of, handful, 6e6},
		"bytes at last":    {note{600, math.Inf(1), noon, room, allowance{100, math.Inf(1)}, usual{}, 0, kept.extra}, kept.of, 600, least(1e6)},
		"requests no more": {kept, allowance{math.Inf(1), 1e6}, math.Inf(1), 6e6},
		"bytes no more":    {kept, allowance{100, math.Inf(1)}, 600, math.Inf(1)},
	} {
		got := test.unbound.under(test.now).fill(test.now, noon)
		if math.Abs(got.requests-test.requests) > 1e-6 || math.Abs(got.bytes-test.bytes) > 1 {
			t.Errorf("%s: %v requests and %v bytes are left, want %v and %v", name, got.requests, got.bytes, test.requests, test.bytes)
		}
	}
}

// TestRaisedBudgetIsSpentAtOnce: a budget that is raised is spent by who visits early, all of it, however much of the old one could be
// kept and however little was; and what was kept stays.
func TestRaisedBudgetIsSpentAtOnce(t *testing.T) {
	t.Parallel()
	const perDay = 14400
	for _, kept := range []float64{0, 1000, 9000} {
		clk, store := clock.NewVirtual(noon), new(notes)
		a := &allowance{requests: perDay, bytes: math.Inf(1)}
		old := note{requests: kept, bytes: math.Inf(1), at: noon, room: mostRoom, of: *a}
		if err := store.Merge(t.Context(), "budget/all", func([]byte) []byte { return old.encode() }); err != nil {
			t.Fatal(err)
		}
		p := newPurse(store, clk, a)
		p.note = "budget/all"
		p.revise(clk.Now())
		a.requests = 2 * perDay
		const minutes = 30
		got, _ := spendSpare(t, p, clk, noon.Add(minutes*time.Minute))
		if want := 2.0 * perDay * minutes / (24 * 60); float64(got) < want*0.98 || float64(got) > want+1 {
			t.Errorf("of a budget with %g unspent %d visits in %d minutes after it was doubled, want %.0f", kept, got, minutes, want)
		}
	}
}

// TestVisitsThatAreLost: what comes in where no more can be kept is lost, as far as it would have paid for visits; what a cut takes
// away is not.
func TestVisitsThatAreLost(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for name, test := range map[string]struct {
		was  note
		now  allowance
		size float64
		lost float64
	}{
		"full":              {note{requests: 180, bytes: inf, room: mostRoom}, allowance{240, inf}, 100, 10},
		"nearly full":       {note{requests: 173, bytes: inf, room: mostRoom}, allowance{240, inf}, 0, 3},
		"room for more":     {note{requests: 100, bytes: inf, room: mostRoom}, allowance{240, inf}, 0, 0},
		"owed":              {note{requests: -5, bytes: inf, room: mostRoom}, allowance{240, inf}, 0, 0},
		"growing":           {note{requests: 100, bytes: inf, room: 10 * time.Hour}, allowance{240, inf}, 0, 9.6}, // a 25th makes room
		"cut":               {note{requests: 180, bytes: inf, room: leastRoom}, allowance{24, inf}, 0, 1},
		"no bound":          {note{requests: 180, bytes: 180, room: mostRoom}, allowance{inf, inf}, 100, 0},
		"new":               {note{requests: inf, bytes: inf, room: leastRoom}, allowance{240, inf}, 0, 10},
		"bytes":             {note{requests: inf, bytes: 18000, room: mostRoom}, allowance{inf, 24000}, 100, 10},
		"bytes, no visits":  {note{requests: inf, bytes: 18000, room: mostRoom}, allowance{inf, 24000}, 0, 0},
		"bytes bind":        {note{requests: 180, bytes: -1, room: mostRoom}, allowance{240, 24000}, 100, 0},
		"bytes bind nearly": {note{requests: 180, bytes: 17500, room: mostRoom}, allowance{240, 24000}, 100, 5},
		"requests bind":     {note{requests: 1, bytes: 18000, room: mostRoom}, allowance{240, 24000}, 100, 0},
	} {
		test.was.at = noon.Add(-time.Hour)
		if got := test.was.lost(test.now, noon, test.size); math.Abs(got-test.lost) > 1e-9 {
			t.Errorf("%s: %v lost, want %v", name, got, test.lost)
		}
	}
}

// TestLostVisitsCountOnce: of what nobody could keep each visit is told of once, by the worker that looked first; what came in before
// a start, by nobody.
func TestLostVisitsCountOnce(t *testing.T) {
	t.Parallel()
	clk, store := clock.NewVirtual(noon), new(notes)
	a := &allowance{requests: 240, bytes: math.Inf(1)}
	first, second := newPurse(store, clk, a), newPurse(store, clk, a)
	spend(t, first, 4) // what a new note holds
	days := func(n int) {
		if err := clk.SleepUntil(t.Context(), clk.Now().Add(time.Duration(n)*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	lost := func() (sum float64) {
		for _, p := range []*purse{first, second} {
			if _, err := p.take(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			sum += p.takeLost()
		}
		return sum
	}
	days(60)
	if got, want := lost(), 60*240-180.0; math.Abs(got-want) > 1e-6 {
		t.Errorf("%v lost in 60 days of 240 with room for 180 in the end, want %v", got, want)
	}
	if got := lost(); got != 0 {
		t.Errorf("%v lost in no time", got)
	}
	days(10)
	first.revise(clk.Now()) // as at a start
	second.revise(clk.Now())
	if got := lost(); got != 0 {
		t.Errorf("%v lost before a start, when nobody could spend it", got)
	}
	days(1)
	if got := lost(); math.Abs(got-240) > 4 {
		t.Errorf("%v lost in a day, want 240", got)
	}
}

// TestLostVisitsLowerThePrice: by as much as so many visits would have, to what they would have been worth.
func TestLostVisitsLowerThePrice(t *testing.T) {
	t.Parallel()
	const log = 2.0
	price := func(lost float64) *price { return &price{log: log, known: true, kept: 1, lost: lost} }
	for name, test := range map[string]struct {
		lost, value float64
		spread      int64
		want        float64
	}{
		"none":                {0, math.Exp(log), 0, log},
		"one":                 {1, math.Exp(log), 0, log - priceStep},
		"two":                 {2, math.Exp(log), 0, log - priceStep - priceStep*(1-priceStep)},
		"many":                {1e9, math.Exp(log), 0, log - 1},
		"one of many pages":   {1, math.Exp(log), 100_000, log - priceShare/100_000.0},
		"dear, as it is":      {5, math.Exp(log + 2), 0, log},
		"nothing to go by":    {5, 0, 0, log},
		"more than a number":  {5, math.Inf(1), 0, log},
		"what is not a worth": {5, math.NaN(), 0, log},
	} {
		p := price(test.lost)
		p.visits = manyVisits
		p.cheapen(test.value, test.spread)
		if math.Abs(p.log-test.want) > 1e-9 || p.lost != 0 {
			t.Errorf("%s: %v with %v left to count, want %v", name, p.log, p.lost, test.want)
		}
	}
}

// TestNotes: a note is read as it was written, and one of an older release has the least room, or does not know how long visits are.
func TestNotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := note{
			requests: rapid.Float64().Draw(t, "requests"), bytes: rapid.Float64().Draw(t, "bytes"), at: noon,
			room:   time.Duration(rapid.Int64Range(int64(leastRoom), int64(mostRoom)).Draw(t, "room")),
			of:     allowance{rapid.Float64().Draw(t, "a day"), rapid.Float64().Draw(t, "bytes a day")},
			usual:  usual{rapid.Float64Range(0, 1e12).Draw(t, "received"), rapid.Float64Range(0, 1e12).Draw(t, "length")},
			visits: rapid.Float64Range(1, mostUsual).Draw(t, "visits"),
		}
		if got := decodeNote(n.encode(), noon, time.Hour); got != n {
			t.Fatalf("read as %+v, written as %+v", got, n)
		}
		older := n
		older.usual, older.visits = usual{}, 0
		if got := decodeNote(n.encode()[:olderNoteSize], noon, time.Hour); got != older {
			t.Fatalf("an older release's is read as %+v, want %+v", got, older)
		}
		before := n.encode() // of visits without heads, by what they were expected to have
		binary.LittleEndian.PutUint64(before[64:], math.Float64bits(n.visits))
		if got := decodeNote(before, noon, time.Hour); got != older {
			t.Fatalf("that of the release before is read as %+v, want %+v", got, older)
		}
		older.room, older.of = leastRoom, allowance{}
		if got := decodeNote(n.encode()[:oldestSize], noon, time.Hour); got != older {
			t.Fatalf("the oldest release's is read as %+v, want %+v", got, older)
		}
	})
	odd := note{requests: 1, bytes: 1, at: noon}.encode()
	for _, room := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		binary.LittleEndian.PutUint64(odd[24:], uint64(room))
		if got := decodeNote(odd, noon, time.Hour).room; got < leastRoom || got > mostRoom+mostExtra {
			t.Errorf("room for %v", got)
		}
	}
}

// TestBytesAreSavedForEarlyVisits: visits that receive next to nothing are not made early as long as there are bytes, but when as much is unspent as is kept.
func TestBytesAreSavedForEarlyVisits(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(noon)
	p := newPurse(new(notes), clk, &allowance{requests: math.Inf(1), bytes: 240_000})
	for range 30 { // what comes in meanwhile makes room for that of 18 hours
		wait(t, clk, 24*time.Hour)
		if _, err := p.take(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	early := 0
	for range 10_000 {
		until, err := p.spare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !until.IsZero() {
			break
		}
		p.settle(0, 400)
		early++
	}
	if early > 2 {
		t.Errorf("%d visits are made early at once, want one, and the next when its bytes are saved again", early)
	}
	until, err := p.spare(t.Context())
	if wait := until.Sub(clk.Now()); err != nil || wait < time.Minute || wait > 10*time.Minute {
		t.Errorf("the next in %v, %v; 400 bytes come in within 2.4 minutes", wait, err)
	}
}
