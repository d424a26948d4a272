package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"recrawld/clock"
	"recrawld/internal/origin"
)

// How the pages with labels are followed. A cycle of two days lets 47 pages be followed by eight daemons in less than a
// minute. The classic policy goes to nearly so many cycles as it looks at records and no further, the adaptive one to its
// ceiling.
const (
	tellingCycle   = 48 * time.Hour
	tellingRecords = 10
	tellingFRMax   = 12
	tellingBudget  = 6 // requests a day, robots.txt included
	tellingDays    = 320
	tellingLead    = 48 * 24 * time.Hour // until the pages go on changing: by then all daemons run
	tellingSpan    = 50 * time.Second
)

// telling is a daemon that follows the pages with labels in one of the ways to tell a change.
type telling struct {
	*rehearsal
	policy, way string
	running     *daemon

	pages  []followed
	clock  followed
	visits int
}

// way is one way to tell a change: what the origin shows, and the threshold of the daemon.
type way struct {
	name         string
	show         origin.Showing
	significance float64
}

// ways are all of them. Bodies shown as bytes of no known kind are compared by their bytes, as images are; that they are so
// compared needs no setting that nobody would choose.
var ways = []way{
	{"bytes", origin.BytesAlone, 0.5},
	{"text", origin.AsItWas, 0},
	{"significance", origin.AsItWas, 0.5},
	{"told", origin.Told, 0.5},
}

// followed is what a daemon made of one page.
type followed struct {
	url      string
	changing bool // by its labels, while it was followed
	visits   int
	every    time.Duration // from visit to visit, on average
	frMax    int32
	changes  int           // by its labels, after the first visit
	found    int           // of those, seen before the next
	late     time.Duration // sum, from each change to the next visit
}

// TestEndToEndSignificance has daemons follow the same real pages that learn from changes of the bytes, of the text, or of
// what matters, and one that is told which changes matter by an origin that shows no others. What it asks for holds as long as visits
// come when they are due; where other work kept the machine from that, the same days pass at half the speed, twice at most.
func TestEndToEndSignificance(t *testing.T) {
	longTest(t)
	program(t)
	slowerUntilRight(t, tellingSpan, tell)
}

// tell has the days pass in a span of real time, and says what is wrong with what became of the pages.
func tell(t *testing.T, span time.Duration) (wrong []string) {
	t.Helper()
	base := &rehearsal{t: t, corpus: theCorpus(t), store: "sqlite"}
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	base.anchor.At, base.end = first, first.Add(tellingDays*24*time.Hour)
	var all []*telling
	for _, policy := range []string{"classic", "adaptive"} {
		for _, w := range ways {
			all = append(all, base.prepare(policy, w))
		}
	}
	now := clock.System{}.Now()
	base.anchor = clock.Anchor{RealAt: now, At: first, Speed: float64(base.end.Sub(first)) / float64(span)}
	base.clock = clock.NewSystem(base.anchor)
	for _, d := range all {
		d.anchor, d.rehearsal.clock = base.anchor, base.clock
		d.serve()
		d.running = d.begin("")
	}
	for _, d := range all {
		d.running.awaitReady()
	}
	from := base.clock.Now().Add(5 * tellingCycle) // until then some of them had not begun
	base.report("all run after %v", from.Sub(first))
	base.sleep(base.end)
	for _, d := range all {
		d.running.stop()
	}
	for _, d := range all {
		d.judge(from)
	}
	base.printTelling(all)
	for i := 0; i < len(all); i += len(ways) {
		wrong = append(wrong, checkTelling(all[i], all[i+1], all[i+2], all[i+3])...)
	}
	return wrong
}

// checkTelling makes sure that who learns from what matters spends its visits as who is told, and that a clock costs next to
// nothing then; who learns from bytes or text comes back to it all the time.
func checkTelling(bytes, text, significance, told *telling) (wrong []string) {
	not := func(format string, args ...any) {
		wrong = append(wrong, told.policy+": "+fmt.Sprintf(format, args...))
	}
	if got, want := float64(significance.visits), float64(told.visits); got < 0.8*want || got > 1.2*want {
		not("%.0f visits where what matters counts, %.0f where it is told", got, want)
	}
	still := int32(tellingFRMax)
	if told.policy == "classic" {
		still = tellingRecords - 1
		if bytes.visits*10 < told.visits*13 {
			not("%d visits where bytes count, %d where changes are told: they cost no more", bytes.visits, told.visits)
		}
		if a, b := significance.apart(told), bytes.apart(told); a > b {
			not("%.2f of the visits are not those of who is told, %.2f where bytes count", a, b)
		}
	}
	if got := significance.clock.frMax; got < still*3/4 { // intervals are rounded by chance, and a busy machine visits less often
		not("the clock has fr_max %d where what matters counts, want about %d", got, still)
	}
	for _, d := range []*telling{bytes, text} {
		if got := d.clock.frMax; got > still/2 {
			not("the clock has fr_max %d where %s counts, want at most %d", got, d.way, still/2)
		}
	}
	return wrong
}

// prepare makes the world and the configuration of one daemon.
func (r *rehearsal) prepare(policy string, w way) *telling {
	r.t.Helper()
	own := *r
	own.dir = r.t.TempDir()
	world, err := r.corpus.Labelled(w.show, r.anchor.At, r.end, tellingLead, 12*time.Hour)
	if err != nil {
		r.t.Fatal(err)
	}
	own.corpus = &origin.Corpus{World: world}
	if own.log, err = origin.NewLog(filepath.Join(own.dir, "requests.ndjson")); err != nil {
		r.t.Fatal(err)
	}
	text := fmt.Sprintf(`cycle: %v
listen: off
worker: {min_free: 16MiB, grace: 10s}
backup: {every: off}
history: {keep: 36500d}
mirror: {dir: off}
defaults:
  policy: %s
  records: %d
  fr: 2
  fr_max: %d
  delay: 1h
  delay_max: 12h
  level: 1
  significance: %v
  duplicates: off
  probe: off
`, tellingCycle, policy, tellingRecords, tellingFRMax, w.significance)
	if policy == "adaptive" {
		text += fmt.Sprintf("budget: %d/day\n", tellingBudget)
	}
	if err := os.WriteFile(own.path("recrawld.yaml"), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return &telling{rehearsal: &own, policy: policy, way: w.name}
}

// judge works out from the origin's log what became of each page.
func (d *telling) judge(from time.Time) {
	d.t.Helper()
	visits := map[string][]time.Time{}
	for _, e := range sortedByStart(d.log.Entries(0)) {
		if e.Digest != "" && !e.Broken && !e.Robots() {
			visits[e.URL()] = append(visits[e.URL()], e.Start)
		}
	}
	s := readState(d.t, openDatabase(d.t, d.database()))
	for _, h := range d.corpus.Hosts {
		for _, p := range h.Pages() {
			url := h.URL(p.Path)
			f := follow(p, visits[url], from, d.end)
			f.url, f.frMax = h.Label+p.Path, s.pages[s.byURL[url]].frMax
			switch {
			case p.Path == "/":
			case p.Path == origin.ClockPath:
				d.clock = f
			default:
				d.pages = append(d.pages, f)
				d.visits += f.visits
			}
		}
	}
}

// follow holds the visits to a page against its labels, in a span of time.
func follow(p *origin.Page, visits []time.Time, from, end time.Time) followed {
	visits = slices.DeleteFunc(visits, func(at time.Time) bool { return at.Before(from) })
	f := followed{visits: len(visits), every: end.Sub(from) / time.Duration(max(len(visits), 1))}
	next := end
	for i := len(p.Versions) - 1; i > 0 && p.Versions[i].At.After(from); i-- {
		v := p.Versions[i]
		if v.Label != origin.Meaningful || !v.At.Before(end) {
			continue
		}
		f.changes++
		seen := end
		if n, _ := slices.BinarySearchFunc(visits, v.At, time.Time.Compare); n < len(visits) {
			seen = visits[n]
		}
		if seen.Before(next) {
			f.found++
		}
		f.late += seen.Sub(v.At)
		next = v.At
	}
	f.changing = f.changes > 0
	return f
}

// printTelling prints what each way to tell a change made of the pages.
func (r *rehearsal) printTelling(all []*telling) {
	r.t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "policy\tlearns from\tvisits\tinterval\tof still pages\tof the others\tof the clock\tits fr_max\tchanges found\tdelay\tapart from told\t")
	for _, d := range all {
		var told *telling
		for _, o := range all {
			if o.policy == d.policy && o.way == "told" {
				told = o
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%.2f\t\n", d.policy, d.way, d.visits, inCycles(d.mean(nil)),
			inCycles(d.mean(still)), inCycles(d.mean(changing)), inCycles(d.clock.every), d.clock.frMax, d.foundText(), d.delayText(), d.apart(told))
	}
	if err := w.Flush(); err != nil {
		r.t.Fatal(err)
	}
	r.report("%d pages, %.0f days:\n%s", len(all[0].pages), r.end.Sub(r.anchor.At).Hours()/24, b.String())
}

func still(f *followed) bool    { return !f.changing }
func changing(f *followed) bool { return f.changing }

// mean is the mean interval of the pages of a kind; nil: of all.
func (d *telling) mean(kind func(*followed) bool) time.Duration {
	var sum time.Duration
	n := 0
	for i := range d.pages {
		if f := &d.pages[i]; f.visits > 0 && (kind == nil || kind(f)) {
			sum += f.every
			n++
		}
	}
	return sum / time.Duration(max(n, 1))
}

// apart is the share of the visits that would have to go to other pages to be those of another daemon.
func (d *telling) apart(other *telling) float64 {
	sum := 0.0
	for i := range d.pages {
		sum += max(0, float64(d.pages[i].visits)/float64(max(d.visits, 1))-float64(other.pages[i].visits)/float64(max(other.visits, 1)))
	}
	return sum
}

func (d *telling) foundText() string {
	found, all := 0, 0
	for _, f := range d.pages {
		found, all = found+f.found, all+f.changes
	}
	return fmt.Sprintf("%d of %d", found, all)
}

func (d *telling) delayText() string {
	var late time.Duration
	n := 0
	for _, f := range d.pages {
		late, n = late+f.late, n+f.changes
	}
	return fmt.Sprintf("%.0f d", late.Hours()/24/float64(max(n, 1)))
}

func inCycles(d time.Duration) string {
	return fmt.Sprintf("%.0f d (%.1f)", d.Hours()/24, float64(d)/float64(tellingCycle))
}
