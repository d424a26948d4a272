package content

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// stay is a page of a host as it is seen again and again, its memories written down in between.
type stay struct {
	held   *View
	memory *PageMemory
	host   *HostMemory // shared with the host's other pages
	orders *Orders
	id     int64
	good   bool
}

func newStay(t *testing.T, host *HostMemory, id int64) *stay {
	t.Helper()
	paragraphs := story(12)
	for i := range paragraphs {
		paragraphs[i] = fmt.Sprintf("Of %s: %s", growWords[id], paragraphs[i])
	}
	return &stay{held: read(t, page("Terms of "+growWords[id], paragraphs...)), memory: &PageMemory{}, host: host, id: id, good: true}
}

// sees judges what the page shows at a moment; shown is when another page of the host last showed its content.
func (s *stay) sees(after *View, now, shown time.Time) Verdict {
	s.memory, *s.host = DecodePage(s.memory.Encode()), *DecodeHost(s.host.Encode())
	v := Judge(Case{Before: s.held, After: after, Page: s.memory, Host: s.host, Orders: s.orders, Threshold: threshold, Now: now,
		PageID: s.id, Good: s.good, HostShown: shown})
	if s.good = v.Kind < Transient; s.good {
		s.held = after
	}
	return v
}

// tries are the times after the first at which a page is asked again: after a quarter of an hour, of half an hour, and so on up
// to a day, for so many days.
func tries(days int) (all []time.Duration) {
	for at, wait := time.Duration(0), 15*time.Minute; at <= time.Duration(days)*24*time.Hour; at, wait = at+wait, min(2*wait, 24*time.Hour) {
		all = append(all, at)
	}
	return all
}

var (
	maintenance = page("Down for maintenance", "We are down for maintenance. Please come back in a while.")
	plainShort  = "<title>Terms of us</title><p>The shop of the mill has been closed for good; thank you all."
	framedShort = page("Terms of us", "The shop of the mill has been closed for good; thank you all.")
	notFound    = page("Page not found", "We are sorry: there is nothing under this address.")
	logIn       = "<title>Sign in</title><form><p>User name</p><input><input type=password><button>Go</button></form>"
)

// TestWhatStandsForLongEnoughIsThePage holds how long each view must stand where it is one page's alone, and what it is
// taken for then.
func TestWhatStandsForLongEnoughIsThePage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after string
		alive bool
		want  VerdictKind
		days  float64
	}{
		"a short text":            {plainShort, true, Change, 4},
		"one in its frame":        {framedShort, true, Change, 0.5},
		"one in its frame, alone": {framedShort, false, Change, 4},
		"an empty frame":          {page("Terms of us"), true, Change, 4},
		"nothing known of others": {plainShort, false, Change, 4},
		"maintenance":             {maintenance, false, Change, 7},
		"a loading screen":        {page("Terms of us", "Loading …"), true, Change, 7},
		"an empty page":           {"<html><body></body></html>", true, Change, 7},
		"a log-in form":           {logIn, true, Change, 30},
		"a block page":            {"<title>Access denied</title><p>You have been blocked. Ray ID: 4f-8a1</p>", true, Change, 30},
		"not found":               {notFound, true, SoftMissing, 1},
		"not found, all the host": {notFound, false, SoftMissing, 7},
	} {
		s, after := newStay(t, &HostMemory{}, 1), read(t, test.after)
		for _, at := range tries(40) {
			now, shown := noon.Add(at), time.Time{}
			if test.alive {
				shown = now.Add(-time.Minute)
			}
			v := s.sees(after, now, shown)
			if v.Kind != Transient {
				if days := at.Hours() / 24; v.Kind != test.want || days < test.days || days > test.days+1 {
					t.Errorf("%s is %v after %.1f days, want %v after %v", name, v.Kind, days, test.want, test.days)
				}
				break
			}
			if need := noon.Add(time.Duration(test.days * 24 * float64(time.Hour))); v.Since != noon || at > 0 && (v.Until.Sub(need).Abs() > time.Second || v.Becomes != test.want) {
				t.Errorf("%s after %v: since %v, until %v to be %v, want %v", name, at, v.Since, v.Until, v.Becomes, need)
			}
		}
		if test.want == SoftMissing {
			if v := s.sees(after, noon.Add(50*24*time.Hour), noon.Add(49*24*time.Hour)); v.Kind != SoftMissing {
				t.Errorf("%s: the next time it is %v", name, v.Kind)
			}
		} else if !s.good {
			t.Errorf("%s is never accepted", name)
		}
	}
}

// TestAPageOfFewWordsIsLostToo holds that a page with little content, or of which little is watched, is not replaced by an error either,
// and that what it says of errors in its own frame is news.
func TestAPageOfFewWordsIsLostToo(t *testing.T) {
	t.Parallel()
	rules, err := Compile([]string{".price"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	shop := page("A spade", append(story(5), "<b class=price>17 €</b>")...)
	status := page("Status", "All of our machines are well")
	for name, test := range map[string]struct {
		before, after string
		rules         *Rules
		want          VerdictKind
	}{
		"an outage":                       {"<title>Status</title><p>All is well", "<title>503</title><p>Service unavailable", nil, Transient},
		"nothing":                         {"<title>Status</title><p>All is well", "<html></html>", nil, Transient},
		"a log-in form":                   {"<title>Status</title><p>All is well", logIn, nil, Transient},
		"an outage of a shop":             {shop, maintenance, rules, Transient},
		"an outage in the frame":          {shop, page("A spade", "There is an error: please try again in a while"), rules, Transient},
		"a log-in form for the price":     {shop, strings.Replace(shop, "<b class=price>17 €</b>", "<input type=password>", 1), rules, Transient},
		"another price":                   {shop, strings.Replace(shop, "17 €", "18 €", 1), rules, Change},
		"the price is an error":           {shop, strings.Replace(shop, "17 €", "currently not available", 1), rules, Change},
		"the price is gone":               {shop, strings.Replace(shop, "<b class=price>17 €</b>", "", 1), rules, Change},
		"news of an error":                {status, page("Status", "There are errors: the third machine is not available"), nil, Change},
		"news of an error, another title": {status, page("Status: error", "There are errors: the third machine is not available"), nil, Change},
		"an error that was there before":  {page("Status", "There are errors", "One machine is not available"), page("Status", "There are errors"), nil, Change},
	} {
		at := mustParse(t, "https://example.org/a")
		v := Judge(Case{Before: Read([]byte(test.before), "text/html", at, test.rules), After: Read([]byte(test.after), "text/html", at, test.rules),
			Threshold: threshold, Now: noon})
		if v.Kind != test.want {
			t.Errorf("%s is %v %v, want %v", name, v.Kind, v.Class, test.want)
		}
	}
}

// TestACountAloneIsNoEvidence holds that a view seen a hundred times in a day is not what the page is, and that a good one between begins
// anew, also where nobody was asked about that.
func TestACountAloneIsNoEvidence(t *testing.T) {
	t.Parallel()
	s, after := newStay(t, &HostMemory{}, 1), read(t, plainShort)
	held, now := s.held, noon
	for range 400 {
		now = now.Add(14 * time.Minute)
		if v := s.sees(after, now, now); v.Kind != Transient {
			t.Fatalf("after %v it is %v", now.Sub(noon), v.Kind)
		}
	}
	if v := s.sees(held, now.Add(time.Minute), now); v.Kind != Same || s.memory.absent != (row{}) || len(s.host.Noise()) != 0 {
		t.Errorf("its content again is %v; remembered %+v, %v", v.Kind, s.memory.absent, s.host.Noise())
	}
	s.sees(after, now.Add(time.Hour), now)
	s.good = true // a 304, say
	if v := s.sees(after, now.Add(200*time.Hour), now); v.Kind != Transient || v.Since != now.Add(200*time.Hour) {
		t.Errorf("after a good visit it is %v, since %v", v.Kind, v.Since)
	}
}

// TestTheNumberOfARequestIsNoOtherView holds that an error that shows such a number is one and the same.
func TestTheNumberOfARequestIsNoOtherView(t *testing.T) {
	t.Parallel()
	s := newStay(t, &HostMemory{}, 1)
	for i, ray := range []string{"8a3b-ff01c", "17bd-09e2a", "c0de-44aa1"} {
		blocked := read(t, "<title>Access denied</title><p>You have been blocked. Ray ID: "+ray+"</p>")
		v := s.sees(blocked, noon.Add(time.Duration(i)*15*24*time.Hour), time.Time{})
		if want := []VerdictKind{Transient, Transient, Change}[i]; v.Kind != want || v.Reasons != models.ReasonErrorPage {
			t.Errorf("visit %d is %v for %v", i, v.Kind, v.Reasons)
		}
	}
}

// TestAPageThatBecameShortIsAccepted holds that a page of which next to nothing is left is taken for what it is now after
// some time, though it looks otherwise on each visit.
func TestAPageThatBecameShortIsAccepted(t *testing.T) {
	t.Parallel()
	s := newStay(t, &HostMemory{}, 1)
	for day := range 9 {
		short := read(t, "<title>News</title><p>Today's headline is of "+growWords[day]+", and there is no other")
		now := noon.Add(time.Duration(day) * 24 * time.Hour)
		if v := s.sees(short, now, now); (v.Kind == Change) != (day == 8) {
			t.Errorf("on day %d it is %v", day, v.Kind)
		}
	}
}

// TestWhoStoodStillSawNothing holds that a time in which the page was due and nobody looked says nothing of what stood there, and neither does
// a clock that was set back.
func TestWhoStoodStillSawNothing(t *testing.T) {
	t.Parallel()
	after := read(t, plainShort)
	see := func(m *PageMemory, now, due time.Duration) VerdictKind {
		*m = *DecodePage(m.Encode())
		held := read(t, page("Terms", story(12)...))
		return Judge(Case{Before: held, After: after, Page: m, Threshold: threshold, Now: noon.Add(now), Due: noon.Add(due)}).Kind
	}
	m := &PageMemory{}
	for i, hours := range []time.Duration{0, 1, 2, 300, 301} {
		if kind := see(m, hours*time.Hour, min(hours, 3)*time.Hour); kind != Transient {
			t.Errorf("view %d, after %d hours, is %v", i, hours, kind)
		}
	}
	if kind := see(m, 400*time.Hour, 400*time.Hour); kind != Change {
		t.Errorf("after four days of looking it is %v", kind)
	}
	m = &PageMemory{}
	for _, hours := range []time.Duration{1000, 0, 1, 2, 3} {
		if kind := see(m, hours*time.Hour, hours*time.Hour); kind != Transient || m.absent.since > noon.Add(hours*time.Hour).Unix() {
			t.Errorf("after a clock was set back it is %v, since %d", kind, m.absent.since)
		}
	}
}

// TestAnOutageOfTheHostIsNoEdition holds that what several pages show in place of their contents is never taken for what they are
// as long as none of the host's shows its own, however long it is; and that it ends as if nothing had been.
func TestAnOutageOfTheHostIsNoEdition(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"maintenance": maintenance, "a short text": plainShort, "an empty page": "<html><body></body></html>",
		"a log-in form": logIn, "an error": "<title>Error</title><p>Error establishing a database connection</p>"} {
		host, after := &HostMemory{}, read(t, body)
		var pages []*stay
		for id := range int64(12) {
			pages = append(pages, newStay(t, host, id))
		}
		for _, at := range tries(60) {
			for i, s := range pages {
				now := noon.Add(at + time.Duration(i)*time.Minute)
				v := s.sees(after, now, noon.Add(-time.Hour))
				if v.Kind != Transient || at > 0 && (v.Others == 0 || !v.Until.IsZero()) {
					t.Fatalf("%s: after %v page %d is %v, as %d others, until %v", name, at, i, v.Kind, v.Others, v.Until)
				}
			}
		}
		if noise := host.Noise(); len(noise) != 1 || noise[0].Kind != Absent || noise[0].Pages != maxShowing {
			t.Errorf("%s: the host's noise is %v", name, noise)
		}
		for _, test := range []struct {
			view  *View
			shown time.Time
			want  VerdictKind
		}{{after, noon, Transient}, {pages[0].held, noon, Change}, {read(t, page("Terms", story(3)...)), noon, Change}} {
			v := First(Case{After: test.view, Page: &PageMemory{}, Host: DecodeHost(host.Encode()), Now: noon.Add(60 * 24 * time.Hour), PageID: 99, HostShown: test.shown})
			if v.Kind != test.want {
				t.Errorf("%s: a new page that shows %q is %v, want %v", name, test.view.sample(), v.Kind, test.want)
			}
		}
		if !host.StandsIn(after, 99) || host.StandsIn(pages[0].held, 99) {
			t.Errorf("%s: it stands in for contents: %t, contents do: %t", name, host.StandsIn(after, 99), host.StandsIn(pages[0].held, 99))
		}
		for _, s := range pages {
			if v := s.sees(s.held, noon.Add(61*24*time.Hour), noon); v.Kind != Same {
				t.Errorf("%s: afterwards page %d is %v", name, s.id, v.Kind)
			}
		}
		if noise := host.Noise(); len(noise) != 0 {
			t.Errorf("%s: afterwards the host's noise is %v", name, noise)
		}
	}
}

// TestWhatTheHostShowsForWhatIsNoMore holds that a text that pages show while others of the host are well makes them missing, and is
// never an edition of them; a text that speaks of an outage does not.
func TestWhatTheHostShowsForWhatIsNoMore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		days float64 // 0: never
	}{
		"not found": {notFound, 1}, "a short text": {plainShort, 7}, "maintenance": {maintenance, 0}, "a log-in form": {logIn, 0},
		"an empty page": {"<html><body></body></html>", 0},
	} {
		host, after := &HostMemory{}, read(t, test.body)
		pages := []*stay{newStay(t, host, 1), newStay(t, host, 2)}
		missing := map[int64]float64{}
		for _, at := range tries(60) {
			for _, s := range pages {
				now := noon.Add(at + time.Duration(s.id)*time.Minute)
				switch v := s.sees(after, now, now); v.Kind {
				case SoftMissing:
					if missing[s.id] == 0 {
						missing[s.id] = at.Hours() / 24
					}
				case Transient:
					if missing[s.id] > 0 {
						t.Errorf("%s: page %d is %v after it was missing", name, s.id, v.Kind)
					}
				default:
					t.Fatalf("%s: after %v page %d is %v", name, at, s.id, v.Kind)
				}
			}
		}
		for _, s := range pages {
			if at := missing[s.id]; at < test.days || test.days > 0 && (at == 0 || at > test.days+1) || test.days == 0 && at > 0 {
				t.Errorf("%s: page %d is missing after %.1f days, want %v", name, s.id, at, test.days)
			}
		}
	}
}

// TestOneOfTwoIsBackAgain holds that a page that is well again does not keep another from being what it became.
func TestOneOfTwoIsBackAgain(t *testing.T) {
	t.Parallel()
	host, after := &HostMemory{}, read(t, plainShort)
	one, two := newStay(t, host, 1), newStay(t, host, 2)
	one.sees(after, noon, time.Time{})
	if v := two.sees(after, noon.Add(time.Minute), time.Time{}); v.Others != 1 {
		t.Errorf("with one more page it is that of %d others", v.Others)
	}
	host.Shown(1, noon.Add(time.Hour))
	for day := 1; day <= 4; day++ {
		now := noon.Add(time.Duration(day)*24*time.Hour + time.Minute)
		if v := two.sees(after, now, now); (v.Kind == Change) != (day == 4) || v.Others != 0 {
			t.Errorf("on day %d it is %v, that of %d others", day, v.Kind, v.Others)
		}
	}
}

// large is a page of the full size with the frame of the site, and the same text whatever the address.
func large(title string) string {
	var paragraphs []string
	for _, part := range growWords[:12] {
		paragraphs = append(paragraphs, "Our engineers work on "+part+" at present, which will take some hours more than anybody had planned for")
	}
	return page(title, paragraphs...)
}

// TestALargeOutagePageIsNoEdition holds that a maintenance page of the size of a page is none of the pages that show it at about the
// same time, the first of them included, and that it is what they were put together into after a week where others of the host are well, and
// after thirty days where none is.
func TestALargeOutagePageIsNoEdition(t *testing.T) {
	t.Parallel()
	for alive, days := range map[bool]float64{true: 7, false: 30} {
		acceptsLarge(t, alive, days)
	}
}

func acceptsLarge(t *testing.T, alive bool, days float64) {
	t.Helper()
	host, after := &HostMemory{}, read(t, large("We are being repaired"))
	var pages []*stay
	for id := range int64(5) {
		pages = append(pages, newStay(t, host, id))
	}
	accepted := map[int64]float64{}
	for _, at := range tries(33) {
		for i, s := range pages {
			now := noon.Add(at + time.Duration(i)*time.Minute)
			if s.good && accepted[s.id] > 0 {
				continue
			}
			shown := noon.Add(-time.Hour)
			if alive && at > 0 {
				shown = now
			}
			v := s.sees(after, now, shown)
			if v.Kind == Change {
				accepted[s.id] = at.Hours() / 24
			} else if v.Kind != Transient || v.Class != models.ErrorPage || at > 0 && v.Others == 0 {
				t.Errorf("after %v page %d is %v %v, as %d others", at, i, v.Kind, v.Class, v.Others)
			}
		}
	}
	for _, s := range pages {
		if at := accepted[s.id]; at < days || at > days+1 {
			t.Errorf("page %d is accepted after %.1f days, want %v, others well: %t", s.id, at, days, alive)
		}
	}
}

// TestAnotherDocumentIsSeenTwice holds how soon a page is accepted that alone shows another document of its size.
func TestAnotherDocumentIsSeenTwice(t *testing.T) {
	t.Parallel()
	after := read(t, large("Other terms"))
	s := newStay(t, &HostMemory{}, 1)
	if v := s.sees(after, noon, noon.Add(-time.Minute)); v.Kind != Transient {
		t.Errorf("at first it is %v", v.Kind)
	}
	if v := s.sees(after, noon.Add(15*time.Minute), noon.Add(time.Minute)); v.Kind != Change || v.Significance != 1 || v.Reasons != models.ReasonText {
		t.Errorf("seen again while other pages are well it is %v for %v", v.Kind, v.Reasons)
	}
	if v := s.sees(read(t, page("Yet others", story(12)...)), noon.Add(time.Hour), noon); v.Kind != Change {
		t.Errorf("of a page that was replaced before the next document is %v", v.Kind)
	}
	s = newStay(t, &HostMemory{}, 1) // the only page of its host
	for i, hours := range []time.Duration{0, 1, 23, 24} {
		if v := s.sees(after, noon.Add(hours*time.Hour), time.Time{}); (v.Kind == Change) != (i == 3) {
			t.Errorf("alone after %d hours it is %v", hours, v.Kind)
		}
	}
	s = newStay(t, &HostMemory{}, 1) // a page that is another one each time
	s.sees(after, noon, time.Time{})
	if v := s.sees(read(t, page("Yet others", story(12)...)), noon.Add(15*time.Minute), time.Time{}); v.Kind != Change {
		t.Errorf("of a page that is always another the second is %v", v.Kind)
	}
	s = newStay(t, &HostMemory{}, 1)
	if v := s.sees(read(t, large(s.held.Title)), noon, time.Time{}); v.Kind != Change {
		t.Errorf("another text under the title that it had is %v", v.Kind)
	}
}

// TestOneDocumentIsNoWitnessForItself holds that two addresses of one document do not hold each other's new edition back.
func TestOneDocumentIsNoWitnessForItself(t *testing.T) {
	t.Parallel()
	host := &HostMemory{}
	one, two := newStay(t, host, 1), newStay(t, host, 1)
	two.id = 2
	after := read(t, large(one.held.Title))
	for _, s := range []*stay{one, two} {
		if v := s.sees(after, noon, time.Time{}); v.Kind != Change {
			t.Errorf("the new edition under address %d is %v, as %d others", s.id, v.Kind, v.Others)
		}
	}
	three := newStay(t, host, 3)
	if v := three.sees(read(t, large(three.held.Title)), noon, time.Time{}); v.Kind != Transient || v.Others != 2 {
		t.Errorf("the same text on a page with another title is %v, as %d others", v.Kind, v.Others)
	}
}

// TestAPersonSaysWhatAPageIsNow holds that what is pinned is never taken for the page's content, and what is cleared at once.
func TestAPersonSaysWhatAPageIsNow(t *testing.T) {
	t.Parallel()
	s, after := newStay(t, &HostMemory{}, 1), read(t, maintenance)
	s.sees(after, noon, time.Time{})
	noise := s.host.Noise()
	if len(noise) != 1 || !strings.Contains(noise[0].Sample, "down for maintenance") {
		t.Fatalf("the host's noise is %v", noise)
	}
	s.orders = &Orders{}
	s.orders.Set(Order{Key: noise[0].Key, Noise: true, At: noon})
	for day := range 40 {
		if v := s.sees(after, noon.Add(time.Duration(day)*24*time.Hour), time.Time{}); v.Kind != Transient || day > 0 && !v.Until.IsZero() {
			t.Fatalf("what a person pinned is %v on day %d", v.Kind, day)
		}
	}
	s.orders.Set(Order{Key: noise[0].Key, At: noon})
	if v := s.sees(after, noon.Add(50*24*time.Hour), time.Time{}); v.Kind != Change {
		t.Errorf("what a person cleared is %v", v.Kind)
	}
}

// TestAProbeInAnOutageTeachesNothing holds that an answer for names that do not exist which a page shows right afterwards is forgotten:
// the host answers so whatever it is asked for.
func TestAProbeInAnOutageTeachesNothing(t *testing.T) {
	t.Parallel()
	host, after := &HostMemory{}, read(t, maintenance)
	host.LearnMissing(after, 200, noon)
	one, two := newStay(t, host, 1), newStay(t, host, 2)
	for i, s := range []*stay{one, two} {
		if v := s.sees(after, noon.Add(time.Duration(i+1)*time.Second), time.Time{}); v.Kind != Transient {
			t.Errorf("page %d is %v", i, v.Kind)
		}
	}
	if host.IsMissing(after) {
		t.Error("the answer is remembered")
	}
	host.LearnMissing(after, 200, noon)
	if v := newStay(t, host, 3).sees(after, noon.Add(2*time.Hour), time.Time{}); v.Kind != SoftMissing {
		t.Errorf("hours later it is %v", v.Kind)
	}
}

// TestStandInsAreBounded holds how many are kept, and that the one of most pages is not pushed out.
func TestStandInsAreBounded(t *testing.T) {
	t.Parallel()
	host, view := &HostMemory{}, read(t, page("Terms", strings.Repeat("é", 500)))
	for id := range int64(100) {
		host.shows(1, view, false, sighting{pagePrint(id), uint32(id), 1000 + id})
	}
	for n := range uint64(100) {
		host.shows(10+n, view, true, sighting{pagePrint(int64(1000 + n)), 7, int64(2000 + n)})
	}
	host = DecodeHost(host.Encode())
	if len(host.standIns) != maxStandIns || host.standIns[0].print != 1 || len(host.standIns[0].pages) != maxShowing {
		t.Errorf("%d are kept, the first of %d pages", len(host.standIns), len(host.standIns[0].pages))
	}
	if n, most := len(host.Encode()), 220*maxStandIns; n > most {
		t.Errorf("they take %d bytes, more than %d", n, most)
	}
	host.shows(5, view, true, sighting{7, 7, 3000 + standInKept})
	if len(host.standIns) != 1 {
		t.Errorf("after sixty days %d are left", len(host.standIns))
	}
}
