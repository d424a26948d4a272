package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"recrawld/clock"
	"recrawld/internal/pgtest"
	"recrawld/models"
)

// How the workers are tried: a turn of every page each 3 s of real time, on a clock that runs 1200 times as fast.
const (
	turn       = 3 * time.Second
	turnSpeed  = 1200
	shortLease = 5 * time.Second
	frozenFor  = 8 * time.Second // longer than a lease

	// leastQuality is the part of the time in which no page may be overdue by a turn. A quarter of the pages waits for a worker's lease to end and for
	// others to look, twice, up to 4 s longer than that in 17 s: 0.88 at worst where the machine is quick enough. It was 0.94 to 0.99. Where nobody took over
	// it would be 0.77.
	leastQuality = 0.85
)

// crew is workers on one PostgreSQL that keep a field fresh.
type crew struct {
	t       *testing.T
	dir     string
	dsn     string
	field   *field
	clock   clock.System // the machine's
	workers []*daemon

	began, ended          time.Time
	killed, froze, thawed time.Time
}

// TestEndToEndFault_096_Workers lets four processes share 40 hosts on one PostgreSQL. One is killed, one is frozen for
// longer than a lease and continued. The measures are those of parallel crawlers (Cho and Garcia-Molina 2002): overlap,
// coverage, quality, communication; and how long it took others to take over, and that no host was ever asked by two at
// once.
func TestEndToEndFault_096_Workers(t *testing.T) {
	longTest(t)
	program(t)
	c := &crew{t: t, dir: t.TempDir(), dsn: pgtest.DSN(t), field: newField(t, 40, 6)}
	for i := range 4 {
		c.start(i)
	}
	c.began = c.clock.Now()
	c.wait(3 * time.Second)
	c.killed = c.clock.Now()
	c.workers[1].kill()
	c.wait(2 * time.Second)
	c.froze = c.clock.Now()
	c.signal(2, syscall.SIGSTOP)
	c.wait(frozenFor)
	c.thawed = c.clock.Now()
	c.signal(2, syscall.SIGCONT)
	c.wait(4 * time.Second)
	for i, d := range c.workers {
		if i != 1 {
			d.stop()
		}
	}
	c.ended = c.clock.Now()
	c.check(c.measure())
}

// start launches a worker. The first knows the sites; those of the others come from the database.
func (c *crew) start(i int) {
	c.t.Helper()
	text := fmt.Sprintf(`cycle: 1h
agent: {name: %s}
network: {allow: [127.0.0.0/8]}
worker: {lease: %v, grace: 3s, fetchers: 16, min_free: 16MiB}
backup: {every: off}
defaults: {policy: fixed, fr: 1, fr_max: 1, vary: 0%%, delay: 30s, delay_max: 1m, page_time: 1s, level: 1, parents: off, hint_max: off}
sites:
`, c.name(i), shortLease)
	for _, host := range c.field.hosts {
		text += "  - {url: \"http://" + host + "/\"}\n"
	}
	path := filepath.Join(c.dir, c.name(i)+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.workers = append(c.workers, launch(c.t, filepath.Join(c.dir, c.name(i)+".log"), "worker", c.name(i), "--config", path,
		"--data", filepath.Join(c.dir, "data"), "--store", c.dsn, "--speed", fmt.Sprint(turnSpeed)))
}

func (c *crew) name(i int) string { return "worker-" + string(rune(0x61+i)) }

func (c *crew) wait(d time.Duration) {
	c.t.Helper()
	if err := c.clock.SleepUntil(c.t.Context(), c.clock.Now().Add(d)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crew) signal(i int, s syscall.Signal) {
	c.t.Helper()
	if err := c.workers[i].cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// measures are what came of it.
type measures struct {
	pages, visited  int      // known, and visited at least once
	visits          int      // written
	early           []string // visits to a page before it was due again
	repeated        int      // requests whose visit was not written: cut off by the kill or the frost
	clashes         []string // requests to a host that somebody else was asking
	byWorker        map[string]int
	late, time      time.Duration // of all pages: how long one was overdue by a turn and more, of how long
	afterKill       time.Duration // how late others came for the hosts of the killed worker
	afterFreeze     time.Duration
	afterThaw       int // requests of the frozen worker since it was continued
	statements      int64
	statementVisits int64
	lost            int64
}

// measure reads the database and the field's log.
func (c *crew) measure() measures {
	c.t.Helper()
	db := openDatabase(c.t, c.dsn)
	s := readState(c.t, db)
	asked, clashes := c.field.log()
	m := measures{pages: len(s.pages), clashes: clashes, byWorker: map[string]int{}}
	requests := map[string][]ask{}
	for _, a := range asked {
		requests["http://"+a.host+a.path] = append(requests["http://"+a.host+a.path], a)
		m.byWorker[a.agent]++
		if a.agent == c.name(2) && a.at.After(c.thawed) {
			m.afterThaw++
		}
	}
	for id, p := range s.pages {
		m.page(c, p.url, s.visits[id], requests[p.url])
	}
	m.afterKill, m.afterFreeze = takenOver(asked, c.name(1), c.killed), takenOver(asked, c.name(2), c.froze)
	if err := db.QueryRowContext(c.t.Context(), "SELECT SUM(statements), SUM(visits), SUM(lost) FROM workers").
		Scan(&m.statements, &m.statementVisits, &m.lost); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// page adds one page's history. What failed, as it does where the machine stands still for longer than page_time, is tried again
// before its turn.
func (m *measures) page(c *crew, url string, visits []visitRow, requests []ask) {
	asked := slices.DeleteFunc(slices.Clone(visits), func(v visitRow) bool { return !v.kind.Asked() })
	if m.visits += len(asked); len(asked) > 0 {
		m.visited++
	}
	for i := 1; i < len(asked); i++ {
		if asked[i-1].kind == models.Failed {
			continue
		}
		if gap := asked[i].at.Time().Sub(asked[i-1].at.Time()) / turnSpeed; gap < turn*99/100 {
			m.early = append(m.early, fmt.Sprintf("%s: visits %d and %d are %v apart", url, asked[i-1].number, asked[i].number, gap))
		}
	}
	m.repeated += max(0, len(requests)-len(asked))
	for i, r := range requests {
		next := c.ended
		if i+1 < len(requests) {
			next = requests[i+1].at
		}
		m.time += next.Sub(r.at)
		m.late += max(0, next.Sub(r.at)-2*turn)
	}
}

// takenOver is how late others came, at most, for the hosts that a worker had asked last before a moment: from then on, or
// from when their pages were due again.
func takenOver(asked []ask, agent string, at time.Time) (longest time.Duration) {
	by, due := map[string]string{}, map[string]time.Time{}
	for _, a := range asked {
		if a.at.Before(at) {
			by[a.host] = a.agent
		} else if by[a.host] == agent && a.agent != agent {
			from := due[a.host+a.path]
			if from.Before(at) {
				from = at
			}
			longest = max(longest, a.at.Sub(from))
			delete(by, a.host)
		}
		due[a.host+a.path] = a.at.Add(turn)
	}
	return longest
}

// check compares the measures with what is promised, and prints them.
func (c *crew) check(m measures) {
	c.t.Helper()
	complain(c.t, "pages visited twice for one due time", m.early)
	complain(c.t, "hosts asked by two at once", m.clashes)
	if want := len(c.field.hosts) * c.field.pages; m.pages != want || m.visited != want {
		c.t.Errorf("%d pages known and %d visited, want %d", m.pages, m.visited, want)
	}
	// A lease, and two seconds in which the host's own worker, not yet known to be dead, might still come for it; the rest is
	// for a machine that is busy with other tests.
	if most := shortLease + 6*time.Second; m.afterKill > most || m.afterFreeze > most {
		c.t.Errorf("others came for a host %v late after the kill and %v after the frost, want at most %v", m.afterKill, m.afterFreeze, most)
	}
	if m.afterKill == 0 || m.afterFreeze == 0 {
		c.t.Error("no host was taken over: nothing was tried")
	}
	if m.afterThaw == 0 {
		c.t.Error("the frozen worker did nothing after it was continued")
	}
	if quality := 1 - float64(m.late)/float64(m.time); quality < leastQuality {
		c.t.Errorf("pages were overdue by a turn for %.1f %% of the time, want at most %.0f %%", 100*(1-quality), 100*(1-leastQuality))
	}
	if m.repeated > 2*16 {
		c.t.Errorf("%d requests whose visit was not written, more than two workers have in flight", m.repeated)
	}
	for i := range c.workers {
		if m.byWorker[c.name(i)] == 0 {
			c.t.Errorf("worker %s asked for nothing: %v", c.name(i), m.byWorker)
		}
	}
	c.t.Logf("4 workers, one killed, one frozen for %v\n%s", frozenFor, m.table(c))
}

// table shows the measures.
func (m measures) table(c *crew) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	percent := func(part, whole float64) string { return fmt.Sprintf("%.2f %%", 100*part/whole) }
	for _, row := range [][3]string{
		{"overlap", percent(float64(len(m.early)), float64(m.visits)), fmt.Sprintf("%d of %d visits before the page was due again", len(m.early), m.visits)},
		{"coverage", percent(float64(m.visited), float64(len(c.field.hosts)*c.field.pages)), fmt.Sprintf("%d pages visited", m.visited)},
		{"quality", percent(float64(m.time-m.late), float64(m.time)), "of the pages' time none was overdue by a turn"},
		{"communication", fmt.Sprintf("%.2f", float64(m.statements)/float64(max(m.statementVisits, 1))), "statements a visit, idle polls included"},
		{"hosts asked by two at once", fmt.Sprint(len(m.clashes)), ""},
		{"taken over after the kill", m.afterKill.Round(time.Millisecond).String(), fmt.Sprintf("at most, after a page was due; a lease is %v", shortLease)},
		{"taken over after the frost", m.afterFreeze.Round(time.Millisecond).String(), ""},
		{"requests cut off", fmt.Sprint(m.repeated), fmt.Sprintf("asked again by others; %d late results discarded", m.lost)},
		{"requests by worker", fmt.Sprint(m.byWorker), fmt.Sprintf("%d by the frozen one since it went on", m.afterThaw)},
	} {
		fmt.Fprintf(w, "%s\t%s\t%s\n", row[0], row[1], row[2])
	}
	_ = w.Flush() // a strings.Builder takes everything
	return text.String()
}
