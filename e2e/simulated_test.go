package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"recrawld/clock"
	"recrawld/internal/origin"
	"recrawld/internal/pgtest"
	"recrawld/models"
	"recrawld/simulate"
)

// The made-up world that daemons follow beside a simulation: directories of which many pages change at one time, so that what one visit teaches of
// others counts. Requests are a day's, robots.txt included.
const (
	twinWorld  = "sweep"
	twinPages  = 160
	twinHosts  = 4
	twinDays   = 60
	twinBudget = 32
	twinSpan   = 45 * time.Second
	twinCycle  = 30 * time.Minute
)

// twinStaler is how many times as stale as in the simulations copies may be, which differ by a tenth among themselves, by the names of hosts alone. With
// sitemaps they are stale for so short that what a visit takes on this clock, an hour, shows.
const (
	twinStaler   = 1.2
	listedStaler = 1.5
)

// twin is a daemon that follows a world, or several workers, and the simulation of that.
type twin struct {
	*contestant
	yaml  string // settings of the sites
	top   string // and of all
	setup simulate.Setup
	lists bool // the hosts have sitemaps
}

// twins are what daemons and simulations are held against each other in. The classic policy has no budget: a simulation spends all of one.
func twins(t *testing.T) []*twin {
	t.Helper()
	adaptive := simulate.Setup{Policy: "adaptive", PerDay: twinBudget, Cycle: twinCycle, Longest: 20000 * twinCycle, Sight: simulate.Sight{Robots: true}}
	listed, classic := adaptive, simulate.Setup{Policy: "classic", Cycle: twinCycle, Longest: 960 * twinCycle}
	listed.Sight.Listed.Share = 1
	const learns, pays = "  policy: adaptive\n  fr: 8\n  fr_max: 20000\n", "budget: 32/day\n"
	all := []*twin{
		{yaml: learns + "  lists: off\n", top: pays, setup: adaptive},
		{yaml: learns + "  lists: off\n", top: pays, setup: adaptive},
		{yaml: learns, top: pays, setup: listed, lists: true},
		{yaml: "  policy: classic\n  fr: 1\n  fr_max: 960\n  lists: off\n", setup: classic},
	}
	for i, name := range []string{"adaptive", "adaptive-two", "adaptive-listed", "classic"} {
		all[i].contestant = &contestant{name: name, workers: []string{""}}
	}
	all[1].workers = []string{"a", "b"}
	return all
}

// TestEndToEndAsSimulated: daemons keep the pages of a made-up world nearly as fresh as the simulation of the same settings says: nothing that only
// they have, their clock, their stores, other workers, real pages, takes what the policies can do. Where other work kept them from it, the same days
// pass at half the speed, twice at most.
func TestEndToEndAsSimulated(t *testing.T) {
	longTest(t)
	program(t)
	slowerUntilRight(t, twinSpan, besideSimulations)
}

// besideSimulations has the days pass in a span of real time, and says what is wrong with what became of the pages.
func besideSimulations(t *testing.T, span time.Duration) (wrong []string) {
	t.Helper()
	trace, all := twinTrace(t), twins(t)
	anchor := clock.Anchor{RealAt: clock.System{}.Now().Add(3 * time.Second), At: trace.From.Time(), Speed: float64(trace.To.Time().Sub(trace.From.Time())) / float64(span)}
	base := map[bool]*rehearsal{}
	for _, lists := range []bool{false, true} {
		log, err := origin.NewLog("")
		if err != nil {
			t.Fatal(err)
		}
		base[lists] = &rehearsal{t: t, corpus: &origin.Corpus{World: twinOrigin(trace, lists)}, anchor: anchor, clock: clock.NewSystem(anchor), log: log, end: trace.To.Time()}
		base[lists].serve()
	}
	for _, w := range all {
		own := *base[w.lists]
		own.dir, own.store = t.TempDir(), "sqlite"
		if len(w.workers) > 1 {
			own.store = pgtest.DSN(t)
		}
		w.rehearsal = &own
		w.prepare()
	}
	for _, w := range all {
		for _, worker := range w.workers {
			w.running = append(w.running, w.run(worker))
		}
	}
	for _, w := range all {
		for _, d := range w.running {
			d.awaitReady()
		}
	}
	base[false].sleep(base[false].end)
	for _, w := range all {
		for _, d := range w.running {
			d.stop()
		}
	}
	return weighTwins(t, trace, all)
}

// prepare writes the configuration, and adds the pages as a list of URLs: nothing is followed from them.
func (w *twin) prepare() {
	w.t.Helper()
	text := fmt.Sprintf("cycle: %v\nlisten: off\nagent: {name: %s}\nworker: {min_free: 16MiB, grace: 10s}\nbackup: {every: off}\n%s"+
		"defaults:\n  delay: 10s\n  hint_max: off\n  probe: off\n  vary: 0%%\n%s", twinCycle, w.name, w.top, w.yaml)
	if err := os.WriteFile(w.path("recrawld.yaml"), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	var list bytes.Buffer
	for _, h := range w.corpus.Hosts {
		for _, p := range h.Pages() {
			if p.Path != origin.RobotsPath && p.Path != sitemapPath {
				fmt.Fprintln(&list, h.URL(p.Path))
			}
		}
	}
	add := exec.Command(program(w.t), "import", "--config", w.path("recrawld.yaml"), "--data", w.data(), "--store", w.store, "-")
	add.Stdin = &list
	if out, err := add.CombinedOutput(); err != nil {
		w.t.Fatalf("import: %v\n%s", err, out)
	}
}

// weighTwins prints how fresh the daemons and the simulations kept the pages, and says which daemons did not keep up.
func weighTwins(t *testing.T, trace *simulate.Trace, all []*twin) (wrong []string) {
	t.Helper()
	var b strings.Builder
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "daemon\trequests\tfresh\tsimulated\tthere fresh\tstaler\t")
	for _, w := range all {
		w.contestant.judge(w.served(trace))
		requests, fresh := w.simulated(t, trace)
		staler := (1 - w.score.Freshness) / (1 - fresh)
		fmt.Fprintf(out, "%s\t%d\t%.4f\t%d\t%.4f\t%.2f\t\n", w.name, len(w.spent()), w.score.Freshness, requests, fresh, staler)
		most := twinStaler
		if w.lists {
			most = listedStaler
		}
		if !(staler < most) {
			wrong = append(wrong, fmt.Sprintf("%s kept %.4f fresh with %d requests, in the simulation %.4f with %d", w.name, w.score.Freshness, len(w.spent()), fresh, requests))
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages, %d changes in %d days:\n%s", len(trace.Pages), trace.Changed(), twinDays, b.String())
	return wrong
}

// served is the trace under the addresses by which the daemon knows its pages.
func (w *twin) served(trace *simulate.Trace) *simulate.Trace {
	return renamed(trace, func(host, path string) (string, string) {
		i := slices.IndexFunc(w.corpus.Hosts, func(h *origin.Host) bool { return h.Label == host })
		return host, w.corpus.Hosts[i].URL(path)
	})
}

// simulated is how many requests the simulation makes and how fresh it keeps the pages, on the mean of some that differ by the names of hosts.
func (w *twin) simulated(t *testing.T, trace *simulate.Trace) (requests int, fresh float64) {
	t.Helper()
	const runs = 4
	for i := range runs {
		setup := w.setup
		setup.Trace = renamed(trace, func(host, path string) (string, string) {
			host = fmt.Sprintf("%s-%d", host, i)
			return host, "https://" + host + path
		})
		course, err := simulate.Run(t.Context(), setup)
		if err != nil {
			t.Fatal(err)
		}
		requests += (len(course.Log) + len(course.Robots) + len(course.Lists)) / runs
		fresh += simulate.Judge(setup.Trace, setup.Trace.Scored(simulate.Learn), course.Log).Freshness / runs
	}
	return requests, fresh
}

// renamed is the trace with other hosts and URLs for its pages.
func renamed(trace *simulate.Trace, name func(host, path string) (string, string)) *simulate.Trace {
	other := *trace
	other.Pages = slices.Clone(trace.Pages)
	for i := range other.Pages {
		l := &other.Pages[i]
		l.Host, l.URL = name(l.Host, pathOf(l))
	}
	return &other
}

func pathOf(l *simulate.Life) string { return strings.TrimPrefix(l.URL, "https://"+l.Host) }

// twinTrace makes the world, in weeks to come: a daemon does not write what is older than what was imported.
func twinTrace(t *testing.T) *simulate.Trace {
	t.Helper()
	made, err := simulate.Make(simulate.Plan{World: twinWorld, Pages: twinPages, Hosts: twinHosts, Days: twinDays, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	trace, week := made.Trace, models.Instant(7*24*time.Hour/time.Millisecond)
	later := (models.At(clock.System{}.Now())-trace.From)/week*week + 2*week
	trace.From, trace.To = trace.From+later, trace.To+later
	for i := range trace.Pages {
		l := &trace.Pages[i]
		l.Born += later
		for k := range l.Changes {
			l.Changes[k] += later
		}
	}
	return trace
}

// sitemapPath is where a host's sitemap lies.
const sitemapPath = "/sitemap.xml"

// twinOrigin serves the world, with a sitemap on each host that robots.txt names.
func twinOrigin(trace *simulate.Trace, lists bool) *origin.World {
	world, born := &origin.World{}, trace.From.Time().AddDate(0, -1, 0)
	hosts, told := map[string]*origin.Host{}, map[*origin.Host][]moment{}
	for i := range trace.Pages {
		l := &trace.Pages[i]
		h := hosts[l.Host]
		if h == nil {
			h = origin.NewHost(l.Host)
			hosts[l.Host], world.Hosts = h, append(world.Hosts, h)
			robots := func() ([]byte, error) { return nil, nil }
			if lists {
				robots = func() ([]byte, error) { return []byte("Sitemap: " + h.URL(sitemapPath) + "\n"), nil }
			}
			h.Add(&origin.Page{Path: origin.RobotsPath, Traits: origin.Traits{ContentType: "text/plain"}, Versions: []origin.Version{{At: born, Body: robots}}})
		}
		p := &origin.Page{Path: pathOf(l), Traits: origin.Traits{Validator: origin.ETag}}
		for v := range len(l.Changes) + 1 {
			at := born
			if v > 0 {
				at = l.Changes[v-1].Time()
			}
			p.Versions = append(p.Versions, origin.Version{At: at, Body: func() ([]byte, error) { return twinBody(i, v), nil }})
			told[h] = append(told[h], moment{at, p.Path})
		}
		h.Add(p)
	}
	for _, h := range world.Hosts {
		if lists {
			h.Add(sitemapOf(h, told[h]))
		}
	}
	return world
}

// twinBody is what a version of a page says: nothing that another says.
func twinBody(page, version int) []byte {
	dice := rand.New(rand.NewPCG(uint64(page), uint64(version)))
	b := fmt.Appendf(nil, "<!doctype html><title>Page %d</title><main><h1>Page %[1]d</h1><p>", page)
	for range 120 {
		for range 3 + dice.IntN(6) {
			b = append(b, "abcdefghijklmnoprstuvw"[dice.IntN(22)])
		}
		b = append(b, ' ')
	}
	return append(b, "</main>"...)
}

// moment is when a page changed.
type moment struct {
	at   time.Time
	path string
}

// sitemapOf is a host's sitemap, which has a version for each moment at which something changed.
func sitemapOf(h *origin.Host, all []moment) *origin.Page {
	slices.SortStableFunc(all, func(a, b moment) int { return a.at.Compare(b.at) })
	p := &origin.Page{Path: sitemapPath, Traits: origin.Traits{Validator: origin.ETag, ContentType: "application/xml"}}
	for i := range all {
		if i+1 < len(all) && all[i+1].at.Equal(all[i].at) {
			continue
		}
		p.Versions = append(p.Versions, origin.Version{At: all[i].at, Body: func() ([]byte, error) {
			last := map[string]time.Time{}
			for _, m := range all[:i+1] {
				last[m.path] = m.at
			}
			b := []byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
			for _, path := range slices.Sorted(maps.Keys(last)) {
				b = fmt.Appendf(b, "<url><loc>%s</loc><lastmod>%s</lastmod></url>", h.URL(path), last[path].UTC().Format(time.RFC3339))
			}
			return append(b, "</urlset>"...), nil
		}})
	}
	return p
}
