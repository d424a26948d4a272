package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
)

// written is a trace in a file of its own.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Some.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const sample = `page,t,size,blob,op,batch,meaningful
a b/é.html,1000,10,x1,add,1,1
a b/é.html,2000,11,x2,modify,1,0
a b/é.html,3000,12,x3,modify,1,1
a b/é.html,4000,12,x3,modify,1,1
back,1000,5,y1,add,1,1
back,2000,0,,delete,1,1
back,3000,6,y2,add,1,1
gone,1500,5,z1,add,1,1
gone,2500,0,,delete,1,1
never,1500,0,,delete,1,1
end,5000,1,w,add,1,1
`

func TestReadTrace(t *testing.T) {
	t.Parallel()
	at := func(s ...int64) (all []models.Instant) {
		for _, s := range s {
			all = append(all, models.Instant(s*1000))
		}
		return all
	}
	got, err := ReadTrace(written(t, sample), true)
	if err != nil {
		t.Fatal(err)
	}
	host := "some.trace"
	want := &Trace{Name: "some", From: 1_000_000, To: 5_000_000, Pages: []Life{
		{Name: "a b/é.html", Host: host, URL: "https://some.trace/a%20b/%C3%A9.html", Born: 1_000_000, Changes: at(3000), Noise: at(2000), Sizes: []int32{10, 12}},
		{Name: "back", Host: host, URL: "https://some.trace/back", Born: 1_000_000, Changes: at(3000), Sizes: []int32{5, 6}},
		{Name: "end", Host: host, URL: "https://some.trace/end", Born: 5_000_000, Sizes: []int32{1}},
		{Name: "gone", Host: host, URL: "https://some.trace/gone", Born: 1_500_000, Died: 2_500_000, Sizes: []int32{5}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("meaningful changes (-want +got):\n%s", diff)
	}
	got, err = ReadTrace(written(t, sample), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(at(2000, 3000), got.Pages[0].Changes); diff != "" || got.Pages[0].Noise != nil {
		t.Errorf("all changes (-want +got):\n%s", diff)
	}
}

func TestReadTraceComplains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"empty":          {"", "no header"},
		"other header":   {"url,time\n", "want at least page, t, blob, op"},
		"no rows":        {"page,t,blob,op\n", "no rows"},
		"bad time":       {"page,t,blob,op\np,yesterday,x,add\n", "line 2: t is \"yesterday\""},
		"missing fields": {"page,t,blob,op\np,1\n", "line 2: 2 fields"},
	} {
		_, err := ReadTrace(written(t, test.text), true)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := ReadTrace(filepath.Join(t.TempDir(), "none.csv.gz"), true); err == nil {
		t.Error("a file that is not there: no error")
	}
}

// A page of two changes, seen by hand: fresh from birth to the first change, stale until the visit, and so on.
func TestJudgeByHand(t *testing.T) {
	t.Parallel()
	hour := models.Instant(time.Hour.Milliseconds())
	trace := &Trace{Name: "hand", From: hour, To: 101 * hour, Pages: []Life{
		{Name: "p", Born: hour, Changes: []models.Instant{11 * hour, 51 * hour}},
		{Name: "q", Born: 21 * hour, Died: 61 * hour, Changes: []models.Instant{41 * hour}, Weight: 3},
	}}
	log := []Seen{{At: 21 * hour, Page: 0}, {At: 31 * hour, Page: 1}, {At: 61 * hour, Page: 0}, {At: 71 * hour, Page: 1}, {At: 81 * hour, Page: 1}}
	got := Judge(trace, Window{From: hour, To: 101 * hour}, log)
	want := Score{
		Freshness: (80 + 3*20) / (100.0 + 3*40), // p is stale for 10 h twice, q from 41 to its end at 61
		Delay50:   10 * time.Hour, Delay95: 10 * time.Hour,
		Waste: 1.0 / 4, Caught: 1, Visits: 4, PerDay: 1.2, Busiest: 1.2,
	}
	want.Age = time.Hour * 700 / 220 // (50 + 50 + 3·200) h² over 220 h
	got.Age, want.Age = got.Age.Round(time.Second), want.Age.Round(time.Second)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Judge (-want +got):\n%s", diff)
	}
}

// The clairvoyant buys the largest gaps.
func TestClairvoyantByHand(t *testing.T) {
	t.Parallel()
	day := fromDays(1)
	trace := &Trace{From: day, To: 11 * day, Pages: []Life{{Born: day, Changes: []models.Instant{2 * day, 5 * day, 6 * day}}}}
	w := Window{From: day, To: 11 * day}
	for visits, want := range map[int]float64{0: 0.1, 1: 0.6, 2: 0.9, 3: 1, 9: 1} {
		if got := Clairvoyant(trace, w, float64(visits)/10); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("with %d visits %v, want %v", visits, got, want)
		}
	}
}

// Between its bounds a history has the same visits, and the pessimistic end has the earlier changes.
func TestFromHistory(t *testing.T) {
	t.Parallel()
	visits := []models.Visit{
		{At: 1000, Kind: models.First, Bytes: models.UsualHead + 70}, {At: 2000, Kind: models.NotModified, Bytes: models.UsualHead}, {At: 3000, Kind: models.Failed}, {At: 5000, Kind: models.Changed, Bytes: models.UsualHead + 80},
		{At: 6000, Kind: models.Missing}, {At: 7000, Kind: models.Missing},
	}
	pages := []Recorded{{URL: "https://h/p", Host: "h", Visits: visits}, {URL: "https://h/q", Host: "h", Visits: visits[:1]}}
	for bound, want := range map[Bound]models.Instant{Latest: 5000, Earliest: 2001} {
		got, err := FromHistory("history", pages, bound)
		if err != nil {
			t.Fatal(err)
		}
		trace := &Trace{Name: "history", From: 1000, To: 7000, Pages: []Life{
			{Name: "https://h/p", URL: "https://h/p", Host: "h", Born: 1000, Died: 6000, Changes: []models.Instant{want}, Sizes: []int32{70, 80}}}}
		if diff := cmp.Diff(trace, got); diff != "" {
			t.Errorf("bound %v (-want +got):\n%s", bound, diff)
		}
	}
	visits[1].Kind, visits[1].Bytes = models.SameText, models.UsualHead+71
	if got, err := FromHistory("history", pages, Latest); err != nil || !got.Pages[0].Whole {
		t.Errorf("a page that was sent whole where it had not changed: %+v, %v", got, err)
	}
	if _, err := FromHistory("history", pages[1:], Latest); err == nil {
		t.Error("pages seen once: no error")
	}
}

func TestParseSpending(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1x": "1x", "0.30x": "0.3x", "2000/day": "2000/day", "0.02/page/day": "0.02/page/day", "off": "off", "1024KiB/day": "1MiB/day"} {
		got, err := ParseSpending(text)
		if err != nil || got.String() != want {
			t.Errorf("ParseSpending(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "x", "-1x", "0x", "NaNx", "1y", "5/page", "1e9x", "1MiB", "0MiB/day"} {
		if got, err := ParseSpending(text); err == nil {
			t.Errorf("ParseSpending(%q) = %s, want an error", text, got)
		}
	}
}

// Worlds have the rates that they say, and the profile that they say.
func TestMadeWorldsHaveTheirRates(t *testing.T) {
	t.Parallel()
	for _, world := range Worlds() {
		m := made(t, Plan{World: world, Pages: 3000, Hosts: 100, Days: 300, Seed: 7})
		expected := 0.0
		for _, s := range m.Sources {
			expected += s.PerDay * 300
		}
		if got := float64(m.Trace.Changed()); got < 0.9*expected || got > 1.1*expected {
			t.Errorf("%s: %v changes, expected %.0f", world, got, expected)
		}
	}
}

// Changes of the first quarter teach and are not scored: they do not make a history long enough.
func TestTellsCountsWhatIsScored(t *testing.T) {
	t.Parallel()
	trace := func(at ...models.Instant) *Trace {
		return &Trace{From: 0, To: 1000, Pages: []Life{{Changes: at[:len(at)/2]}, {Changes: at[len(at)/2:]}}}
	}
	scored := make([]models.Instant, LeastChanges)
	for i := range scored {
		scored[i] = models.Instant(250 + i)
	}
	if err := trace(scored...).Tells(); err != nil {
		t.Errorf("%d changes of the scored window: %v, want enough", LeastChanges, err)
	}
	scored[0] = 249
	if err := trace(scored...).Tells(); err == nil {
		t.Errorf("%d changes, one of them of the first quarter: enough, want an error", LeastChanges)
	}
}
