package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/pgtest"
	"recrawld/models"
	"recrawld/web"
)

// machine is one whose clocks a worker reads.
type machine interface{ read() clock.Reading }

// machineOff is a machine whose clock is ahead, or behind where it is negative, of the one of this machine.
type machineOff struct{ ahead time.Duration }

func (m *machineOff) read() clock.Reading {
	now := clock.System{}.Now()
	return clock.Reading{Shown: now.Add(m.ahead), Monotonic: now.Sub(clockTest)}
}

var clockTest = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// builtOn is a worker on a database, on a machine of its own, and what it logs.
func builtOn(t *testing.T, dsn, name string, m machine, lines ...string) (*daemon, *bytes.Buffer) {
	t.Helper()
	path, _ := configure(t, "store: \""+dsn+"\"\nworker: {name: "+name+", min_free: 16MiB}\n"+strings.Join(lines, "\n"))
	var g globals
	log := new(bytes.Buffer)
	g.connect(strings.NewReader(""), io.Discard, log)
	g.ConfigPath = path
	d, err := newDaemon(t.Context(), &g, &runCmd{machine: m.read})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d, log
}

// TestFault_061_WorkersGoByOneClock: whatever the clocks of their machines show, no worker takes the lease of another for run out,
// asks a host within its delay of another's visit, or takes another for dead.
func TestFault_061_WorkersGoByOneClock(t *testing.T) {
	t.Parallel()
	const lease, delay = 5 * time.Minute, 10 * time.Second
	almost := clock.FarOff - 100*time.Millisecond
	for name, offs := range map[string][2]time.Duration{"almost too far apart": {-almost, almost}, "the other way round": {almost, -almost},
		"seconds": {0, 9 * time.Second}, "minutes": {-6 * time.Minute, 6 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.DSN(t)
			one, _ := builtOn(t, dsn, "one", &machineOff{offs[0]})
			two, _ := builtOn(t, dsn, "two", &machineOff{offs[1]})
			bucket := aPageOf(t, one)
			claim := func(d *daemon, in time.Duration) []models.Lease {
				t.Helper()
				leases, err := d.store.Claim(t.Context(), models.ClaimRequest{Now: d.clock.Now().Add(in), Lease: lease, Owner: d.start.Worker.Name,
					Hosts: 1, Pages: 1, Delay: delay, Buckets: []int16{bucket}})
				if err != nil {
					t.Fatal(err)
				}
				return leases
			}
			const unsure = 2 * time.Second // far more than what lies between the statements of this test
			leases := claim(one, 0)
			if len(leases) != 1 {
				t.Fatalf("the first worker claimed %d hosts, want 1", len(leases))
			}
			if taken := claim(two, lease+delay-unsure); len(taken) > 0 {
				t.Error("another worker took over a lease that had not run out, a delay ago")
			}
			asked := leases[0].Host
			asked.OpenAt = models.At(one.clock.Now().Add(delay)) // it was asked now
			page := leases[0].Pages[0].Page
			result := models.Result{Lease: models.LeaseRef{Bucket: asked.Bucket, HostID: asked.ID, Token: asked.LeaseToken}, Before: &page, Page: page, Host: asked, Release: true}
			if verdicts, err := one.store.Commit(t.Context(), one.clock.Now(), []models.Result{result}); err != nil || verdicts[0] != nil {
				t.Fatalf("Commit = %v, %v", verdicts, err)
			}
			if taken := claim(two, delay-unsure); len(taken) > 0 {
				t.Error("another worker may ask the host within its delay")
			}
			if taken := claim(two, delay+unsure); len(taken) != 1 {
				t.Error("another worker may not ask the host after its delay")
			}
			workers, err := one.store.Workers(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []*daemon{one, two} {
				if living := livingWorkers(workers, d.machine.Now()); len(living) != 2 {
					t.Errorf("worker %s takes %v for alive, want both", d.start.Worker.Name, living)
				}
			}
		})
	}
}

// aPageOf gives a database one page and returns its bucket.
func aPageOf(t *testing.T, d *daemon) int16 {
	t.Helper()
	now := d.clock.Now()
	site, err := d.store.AddSite(t.Context(), now, models.Site{Name: "a", URL: "https://a.example/"})
	if err == nil {
		_, err = d.store.AddPages(t.Context(), now, []models.Discovery{{Host: "a.example", Page: models.Page{
			ID: models.PageID(site.URL), URL: site.URL, SiteID: site.ID, Bucket: models.BucketOf("a.example"), HostID: models.HostID("a.example"),
			FRMax: 1, DueAt: models.At(now.Add(-time.Hour))}}}, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return models.BucketOf("a.example")
}

// TestFault_061_WorkerOnAMachineThatIsFarOffClaimsNothing: it says so once, where and what is to be done, and goes on by itself.
func TestFault_061_WorkerOnAMachineThatIsFarOffClaimsNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	const ahead = time.Hour + 4*time.Minute + 12*time.Second
	m := &machineOff{ahead}
	d, log := builtOn(t, dsn, "one", m)
	holds := func(want string) {
		t.Helper()
		if err := d.beatOnce(t.Context(), d.clock.Now()); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if why := d.hold(); why != want && (want == "" || !strings.Contains(why, want)) {
				t.Errorf("hold() = %q with a clock that is %v ahead, want %q", why, m.ahead, want)
			}
		}
	}
	holds("1h4m12s ahead of the database server's")
	if got := sum(d.registry, "recrawld_clock_ahead_seconds"); got < 3851 || got > 3853 {
		t.Errorf("recrawld_clock_ahead_seconds = %v, want 3852", got)
	}
	m.ahead = 0
	if why := d.hold(); !strings.Contains(why, "was set") {
		t.Errorf("hold() = %q while it is not known how wrong a clock is that was set", why)
	}
	holds("")
	m.ahead = -ahead
	holds("1h4m12s behind the database server's")
	m.ahead = time.Second
	holds("")
	if said := strings.Count(log.String(), "nothing is visited"); said != 2 {
		t.Errorf("it was said %d times that nothing is visited, want once for each time:\n%s", said, log)
	}
}

// TestFault_061_WorkerOnAMachineThatIsOffSaysSo, once, and goes on by the server's clock.
func TestFault_061_WorkerOnAMachineThatIsOffSaysSo(t *testing.T) {
	t.Parallel()
	m := &machineOff{}
	d, log := builtOn(t, pgtest.DSN(t), "one", m)
	for _, m.ahead = range []time.Duration{time.Second, -4 * time.Minute, -4 * time.Minute, 0, 59 * time.Minute} {
		if err := d.beatOnce(t.Context(), d.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if why := d.hold(); why != "" {
			t.Errorf("hold() = %q with a clock that is %v ahead, want none", why, m.ahead)
		}
	}
	for words, times := range map[string]int{"the clocks differ; ": 2, "4m0s behind the database server's": 1, "59m0s ahead of": 1, "do not differ any more": 1} {
		if said := strings.Count(log.String(), words); said != times {
			t.Errorf("%q was said %d times, want %d:\n%s", words, said, times, log)
		}
	}
}

// TestFault_061_AClockThatIsSetIsWaitedFor: until the next comparison nothing is claimed. That is no error unless it lasts.
func TestFault_061_AClockThatIsSetIsWaitedFor(t *testing.T) {
	t.Parallel()
	m := new(machineLate)
	d, log := builtOn(t, pgtest.DSN(t), "one", m)
	claiming := d.checks()[slices.IndexFunc(d.checks(), func(c web.Check) bool { return c.Name == "claiming" })]
	says := func(held, ill bool, wrong, right int) {
		t.Helper()
		for range 2 {
			if why := d.hold(); strings.Contains(why, "was set") != held {
				t.Errorf("hold() = %q, want that the clock was set: %t", why, held)
			}
			if err := claiming.Run(t.Context()); (err != nil) != ill {
				t.Errorf("/healthz says %v, want that something is wrong: %t", err, ill)
			}
		}
		for words, said := range map[string]int{"nothing is visited": wrong, "the clock is right again": right} {
			if got := strings.Count(log.String(), words); got != said {
				t.Errorf("%q was said %d times, want %d:\n%s", words, got, said, log)
			}
		}
	}
	beats := func() {
		t.Helper()
		if err := d.beatOnce(t.Context(), d.clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	m.set(30 * time.Second)
	says(true, false, 0, 0)
	beats()
	says(false, false, 0, 0)
	m.set(time.Minute)
	says(true, false, 0, 0)
	m.passed.Store(int64(2 * briefly)) // the database does not answer
	says(true, true, 1, 0)
	m.passed.Store(0)
	beats()
	says(false, false, 1, 1)
}

// With SQLite the machine's clock is the only one.
func TestWithoutAServerTheMachinesClockIsRight(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	d := built(t, path)
	if why := d.hold(); why != "" {
		t.Errorf("hold() = %q, want nothing to compare", why)
	}
}
