package main

import (
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// twice passes over all pages, and once more a week later.
func (w *deploying) twice() {
	w.t.Helper()
	for range 2 {
		if err := w.passUnnamed(w.t.Context(), w.clk.Now(), unnamedEvery); err != nil {
			w.t.Fatal(err)
		}
		w.clk.SleepUntil(w.t.Context(), w.clk.Now().Add(unnamedEvery))
	}
}

// heldBy is the page for which nothing of the site was given up.
func (w *deploying) heldBy() heldNames {
	w.t.Helper()
	note, err := w.store.Note(w.t.Context(), unnamedNote)
	if err != nil {
		w.t.Fatal(err)
	}
	return fromNote[unnamedTurn](note).Held[w.site.ID]
}

// onceNamed is a site whose start page names one image on the first day and another one then, beside a page that is never what it is on the first
// day again, and links to it.
func onceNamed(later func() string) func(string, time.Time) string {
	return func(path string, now time.Time) string {
		first := now.Before(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
		switch {
		case strings.HasPrefix(path, "/assets/"):
			return "what lies at " + path
		case path == "/" && first:
			return "<title>Home</title><p>What stands here.<a href=/other>other</a><img src=/assets/old.png>"
		case path == "/":
			return "<title>Home</title><p>What stands here.<a href=/other>other</a><img src=/assets/new.png>"
		case path == "/other" && !first:
			return later()
		}
		return "<title>Other</title><p>What stands there.<a href=/>home</a>"
	}
}

// Where what one page names cannot be told, nothing of its site is unnamed or given up: it may be what it names.
func TestWhatCannotBeToldHoldsASite(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		later string
		harm  func(w *deploying)
		want  undecided
	}{
		"as it is":                 {"<title>Other</title><p>What stands there.<a href=/>home</a>", nil, ""},
		"without a copy":           {"<title>Other</title><meta name=robots content=noarchive><p>Not to be archived.<a href=/>home</a>", nil, unreadable},
		"scripts make it":          {"<title>Other</title><div id=root></div><SCRIPT src=/assets/app.js></SCRIPT>", nil, scripted},
		"its copy is another's":    {"<title>Other</title><p>Another text.<a href=/>home</a>", func(w *deploying) { w.misplace("/other", "/") }, unreadable},
		"its segment is not there": {"<title>Other</title><p>Another text.<a href=/>home</a>", func(w *deploying) { w.misplace("/other", "") }, unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDeploying(t, onceNamed(func() string { return test.later }))
			w.follow(3)
			if test.harm != nil {
				test.harm(w)
			}
			w.twice()
			p := w.page("/assets/old.png")
			if test.want == "" {
				if !p.GivenUp() || w.heldBy() != (heldNames{}) {
					t.Errorf("what no page names is due by %s, held by %+v, want it given up", p.Rule, w.heldBy())
				}
				return
			}
			if want := (heldNames{w.base + "/other", string(test.want)}); p.GivenUp() || p.UnnamedAt != 0 || w.heldBy() != want {
				t.Errorf("it is unnamed since %s, due by %s, held by %+v, want it named and the site held by %+v", p.UnnamedAt, p.Rule, w.heldBy(), want)
			}
		})
	}
}

// What a page's Link header alone names is named.
func TestAHeaderNamesIt(t *testing.T) {
	t.Parallel()
	w := newDeploying(t, onceNamed(func() string { return "<title>Other</title><p>What stands there.<a href=/>home</a>" }))
	w.linked = `</assets/start.js>; rel="modulepreload"; nopush`
	w.follow(3)
	w.twice()
	if p := w.page("/assets/start.js"); p.Version == 0 || p.GivenUp() || p.UnnamedAt != 0 {
		t.Errorf("what a header names has version %d, is unnamed since %s, due by %s, want it kept", p.Version, p.UnnamedAt, p.Rule)
	}
}

// misplace has the newest version of a page lie where that of another does, or in a segment that is not there.
func (w *deploying) misplace(path, other string) {
	w.t.Helper()
	record := models.Record{File: "gone.warc.gz", Offset: 5, Length: 9}
	p := w.page(path)
	version, err := w.store.Version(w.t.Context(), p.Bucket, p.ID, p.Version)
	if err != nil {
		w.t.Fatal(err)
	}
	if other != "" {
		o := w.page(other)
		from, err := w.store.Version(w.t.Context(), o.Bucket, o.ID, o.Version)
		if err != nil {
			w.t.Fatal(err)
		}
		record = from.Record
	}
	kept := models.Kept{Bucket: p.Bucket, PageID: p.ID, Number: version.Number, Digest: version.Digest, Record: version.Record}
	if err := w.store.FindVersions(w.t.Context(), []models.Kept{kept}, models.Content{Digest: version.Digest, Record: record}); err != nil {
		w.t.Fatal(err)
	}
}

// What one site found first and does not name any more stays while a page of another one names it, and where the other does not keep requisites
// but may link to it.
func TestAnotherSiteNamesIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings string
		given    bool
	}{
		"it keeps requisites":         {"requisites: all", false},
		"it keeps none, and the page": {"requisites: off", false},
		"it keeps none, and not that": {"requisites: off\nfilter: { not: { path: /assets/ } }", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDeploying(t, onceNamed(func() string { return "" }))
			w.follow(3)
			other, err := w.store.AddSite(t.Context(), w.clk.Now(), models.Site{Name: "other", URL: w.base + "/other/", Settings: test.settings + "\nscope: [" + w.base + "/]"})
			if err != nil {
				t.Fatal(err)
			}
			c := w.force.Load().config
			c.Sites = nil
			force, err := putTogether(c, config.DefaultOrigins(), []models.Site{w.site, other})
			if err != nil {
				t.Fatal(err)
			}
			w.force.Store(force)
			before := w.answer
			w.answer = func(path string, now time.Time) string {
				if path == "/other/" {
					return "<title>Theirs</title><p>A text.<img src=/assets/old.png>"
				}
				return before(path, now)
			}
			w.startAt(other.ID, "/other/")
			w.visitFor(1)
			w.twice()
			if p := w.page("/assets/old.png"); p.GivenUp() != test.given {
				t.Errorf("it is due by %s, want it given up: %v", p.Rule, test.given)
			}
		})
	}
}

// why says of a requisite that is not given up yet that no page names it, and for which page it stays.
func TestUnnamedInWords(t *testing.T) {
	t.Parallel()
	since := models.At(filledNow.Add(-day))
	for want, w := range map[string]why{
		"": {page: models.Page{Requisite: true}},
		"by no page's copy since Fri 20 Nov 12:00; it is given up when a later look at all copies can tell that none names it": {page: models.Page{UnnamedAt: since}},
		"by no page's copy since Fri 20 Nov 12:00; it stays, since what http://a.test/ names cannot be told: its copy cannot be read": {
			page: models.Page{UnnamedAt: since}, stays: heldNames{"http://a.test/", string(unreadable)}},
	} {
		if got := w.named(filledNow); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	given := why{page: models.Page{UnnamedAt: since, Rule: models.RuleUnnamed}}
	if got := given.named(filledNow); got != "" { // its rule says so
		t.Errorf("of what is given up it says %q as well", got)
	}
}

// A pass begins a week after the last ended, by one worker at a time; who is not heard of is followed by another.
func TestUnnamedTurns(t *testing.T) {
	t.Parallel()
	now := importanceNow
	var turn unnamedTurn
	claim := func(worker string) bool {
		turn = fromNote[unnamedTurn](toNote(turn))
		return turn.claim(worker, now, time.Minute, unnamedEvery)
	}
	if !claim("a") || claim("b") || !claim("a") {
		t.Error("two workers pass over the pages at once, or none")
	}
	turn.Until = models.At(now.AddDate(4, 0, 0)) // by a clock that was ahead
	if !claim("b") {
		t.Error("for years nobody does, since a worker whose clock was ahead began to")
	}
	if now = now.Add(2 * time.Minute); !claim("a") {
		t.Error("nobody follows a worker that is not heard of")
	}
	turn = unnamedTurn{Ended: models.At(now)}
	for after, want := range map[time.Duration]bool{0: false, unnamedEvery - time.Second: false, unnamedEvery: true, -time.Hour: true} {
		if got := !turn.rests(now.Add(after), time.Minute, unnamedEvery); got != want {
			t.Errorf("%s after the last ended the next begins: %v, want %v", after, got, want)
		}
	}
}

// Nothing that is in the set is said not to be, and of what is not little is said to be, by other seeds of another part.
func TestIDSet(t *testing.T) {
	t.Parallel()
	const n = 20_000
	wrong := make(map[uint64]map[int64]bool)
	for seed := range uint64(2) {
		s := newIDSet(n, seed)
		for id := range int64(n) {
			s.add(models.PageID("https://a.example/" + time.Duration(id).String()))
		}
		wrong[seed] = make(map[int64]bool)
		for id := range int64(2 * n) {
			switch has := s.has(models.PageID("https://a.example/" + time.Duration(id).String())); {
			case !has && id < n:
				t.Fatalf("%d was added and is not in the set", id)
			case has && id >= n:
				wrong[seed][id] = true
			}
		}
		if len(wrong[seed]) > n/1000 {
			t.Errorf("of %d that are not in the set %d are said to be", n, len(wrong[seed]))
		}
	}
	for id := range wrong[0] {
		if wrong[1][id] {
			t.Errorf("%d is taken to be in the set by two seeds", id)
		}
	}
}
