package content

import (
	"strings"
	"testing"
	"time"

	"recrawld/recrawl/canon"
)

// newPage is a page without a copy as it is seen again and again.
type newPage struct {
	memory *PageMemory
	host   *HostMemory // shared with the host's other pages
	id     int64
	good   bool
}

func (p *newPage) sees(after *View, now, shown time.Time) Verdict {
	p.memory, *p.host = DecodePage(p.memory.Encode()), *DecodeHost(p.host.Encode())
	v := First(Case{After: after, Page: p.memory, Host: p.host, Now: now, PageID: p.id, Good: p.good, HostShown: shown})
	p.good = v.Kind == Change
	return v
}

// TestWhatANewPageShowsForLongEnoughIsThePage holds how long a page that never showed anything else must show each view, and what it is taken for then.
func TestWhatANewPageShowsForLongEnoughIsThePage(t *testing.T) {
	t.Parallel()
	gone := page("404 – Page not found", "The page you requested does not exist.")
	wordy := page("Page not found", story(4)...)
	challenge := "<title>Just a moment...</title><p>Verify you are human"
	for name, test := range map[string]struct {
		after  string
		alive  bool
		others int
		want   VerdictKind
		days   float64
	}{
		"maintenance":                {maintenance, true, 0, Change, 0.5},
		"maintenance, all the host":  {maintenance, false, 0, Change, 7},
		"maintenance of others too":  {maintenance, true, 2, Change, 30},
		"a challenge":                {challenge, true, 0, Change, 7},
		"a log-in form, all":         {logIn, false, 0, Change, 30},
		"not found":                  {gone, true, 0, SoftMissing, 1},
		"not found, all the host":    {gone, false, 3, SoftMissing, 7},
		"not found, and more":        {wordy, true, 0, Change, 0.5},
		"not found, and more, often": {wordy, true, 2, SoftMissing, 1},
	} {
		host, after := &HostMemory{}, read(t, test.after)
		one := &newPage{host: host, memory: &PageMemory{}, id: 1, good: true}
		others := make([]*newPage, test.others)
		for i := range others {
			others[i] = &newPage{host: host, memory: &PageMemory{}, id: int64(i + 2), good: true}
			others[i].sees(after, noon, time.Time{})
		}
		for _, at := range tries(40) {
			now, shown := noon.Add(at), time.Time{}
			if test.alive {
				shown = now
			}
			v := one.sees(after, now, shown)
			if v.Kind == Transient {
				if v.Becomes != test.want || v.Others != test.others {
					t.Fatalf("%s: after %v it becomes %v, as %d others, want %v, %d", name, at, v.Becomes, v.Others, test.want, test.others)
				}
				continue
			}
			if days := at.Hours() / 24; v.Kind != test.want || days < test.days || days > test.days+1 {
				t.Errorf("%s: after %.1f days it is %v, want %v after %v", name, days, v.Kind, test.want, test.days)
			}
			break
		}
	}
}

// TestWhatNewPagesAreTakenForAtOnce holds that what is no clear error, of whatever length, is taken as it is, and that whatever First doubts is worth
// being read for it.
func TestWhatNewPagesAreTakenForAtOnce(t *testing.T) {
	t.Parallel()
	at, err := canon.Parse("https://example.org/account/login")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		body string
		kind VerdictKind
	}{
		"a page":                      {page("Terms", story(12)...), Change},
		"one of errors":               {page("404 Not Found", append(story(12), "The page you requested could not be found.")...), Change},
		"a short one":                 {page("ErrNotFound", "Returned where there is no such name, as by a 404."), Change},
		"a number":                    {page("Room 404", "Second floor, 500 m from the station."), Change},
		"a log-in form under its URL": {logIn, Change},
		"frames":                      {"<frameset><frame src=/a><frame src=/b></frameset>", Change},
		"a picture with a link":       {"<a href=/in><img src=/enter.png></a>", Change},
		"a redirect":                  {`<title>Redirecting</title><p>Redirecting to <a href=/b>b</a>`, Change},
		"plain":                       {plainShort, Change},
		"in capitals":                 {page("Rules", "SEITE NICHT GEFUNDEN"), Transient},
		"in capitals, with accents":   {page("Rules", "PÁGINA NO ENCONTRADA"), Transient},
		"a loading screen":            {page("Rules", "Loading …"), Change},
		"wants scripts":               {page("Rules", "Please enable JavaScript to go on."), Change},
		"filled in by scripts":        {"<html><head><title>Example</title><script src=/app.js></script></head><body><div id=root></div></body></html>", Change},
		"of a database":               {"<title>x</title>Error establishing a database connection", Transient},
	} {
		view := Read([]byte(test.body), "text/html", at, nil)
		if v := First(Case{After: view, Page: &PageMemory{}, Host: &HostMemory{}, Now: noon, PageID: 1, URL: at, Good: true}); v.Kind != test.kind {
			t.Errorf("%s is %v, want %v", name, v.Kind, test.kind)
		}
		text := view.Title + " "
		for _, b := range view.Blocks() {
			text += b.Text + " "
		}
		if test.kind == Transient && !Suspect(view.Title, []byte(text)) {
			t.Errorf("%s is not suspect", name)
		}
	}
	if Suspect("Terms", []byte(strings.Repeat("The fee is due. ", 100))) {
		t.Error("a page is suspect")
	}
}

// TestOrdersForNewPages holds that what a person decided of a view holds for pages without a copy, too.
func TestOrdersForNewPages(t *testing.T) {
	t.Parallel()
	after := read(t, maintenance)
	for noise, want := range map[bool]VerdictKind{true: Transient, false: Change} {
		orders := &Orders{}
		orders.Set(Order{Key: after.look(), Noise: noise, At: noon})
		p, v := &PageMemory{}, Verdict{}
		for day := range 60 {
			now := noon.Add(time.Duration(day) * 24 * time.Hour)
			v = First(Case{After: after, Page: p, Host: &HostMemory{}, Orders: orders, Now: now, PageID: 1, HostShown: now})
		}
		if v.Kind != want || !v.Until.IsZero() {
			t.Errorf("where noise is %t it is %v, until %v", noise, v.Kind, v.Until)
		}
	}
}
