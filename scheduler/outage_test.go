package scheduler

import (
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/models"
)

// Nobody answers: page after page, or robots.txt after robots.txt. What was never asked for proves nothing.
func TestOutageIsSilenceAlone(t *testing.T) {
	t.Parallel()
	unreached := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1}
	silentRobots := models.Outcome{Kind: models.RobotsFetched, Sent: 1, Robots: &models.Robots{Class: models.DNSTemporary}}
	for _, test := range []struct {
		name    string
		between models.Outcome
		ours    bool
	}{
		{"nothing else", unreached, true},
		{"robots.txt out of reach", silentRobots, true},
		{"a probe out of reach", models.Outcome{Kind: models.Probed, Class: models.DNSTemporary, Sent: 1}, true},
		{"a probe", models.Outcome{Kind: models.Probed, Status: 404, Sent: 1}, false},
		{"rules that could not be had", models.Outcome{Kind: models.Failed, Class: models.RobotsUnreachable}, true},
		{"an address never dialled", models.Outcome{Kind: models.Failed, Class: models.BlockedAddress}, true},
		{"a fault of ours", models.Outcome{Kind: models.Failed, Class: models.OwnDisk, Sent: 1}, true},
		{"a visit given up", models.Outcome{Kind: models.Interrupted, Sent: 1}, true},
		{"a page", models.Outcome{Kind: models.Changed, Sent: 1}, false},
		{"robots.txt", models.Outcome{Kind: models.RobotsFetched, Sent: 1, Robots: &models.Robots{Status: 200}}, false},
		{"a refused connection", models.Outcome{Kind: models.Failed, Class: models.ConnRefused, Sent: 1}, false},
	} {
		var o outage
		clk := clock.NewVirtual(noon)
		for host := range int64(ownSilence - 1) {
			out := unreached
			o.judge(host, &out, noon, clk)
			if out.Class.Ours() {
				t.Fatalf("%s: the fault is ours after %d hosts", test.name, host+1)
			}
			between := test.between
			o.judge(host, &between, noon, clk)
		}
		out := unreached
		o.judge(ownSilence, &out, noon, clk)
		if got := out.Class == models.OwnNetwork; got != test.ours {
			t.Errorf("%s between: class %v after %d silent hosts, want ours: %v", test.name, out.Class, ownSilence, test.ours)
		}
		if got := o.holding(noon) != ""; got != test.ours {
			t.Errorf("%s between: claiming rests: %v, want %v", test.name, got, test.ours)
		}
	}
}

// Hosts that take no connection while others answer are dead, however many of them fail at the same moment.
func TestHostsThatFailBesideAnswersAreNoOutage(t *testing.T) {
	t.Parallel()
	var o outage
	clk := clock.NewVirtual(noon)
	answer := models.Outcome{Kind: models.NotModified, Sent: 1, At: noon}
	o.judge(0, &answer, noon.Add(9*time.Second), clk)
	for host := range int64(3 * ownSilence) {
		out := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, At: noon}
		o.judge(host, &out, noon.Add(10*time.Second), clk)
		if out.Class.Ours() {
			t.Fatalf("after %d hosts the fault is ours, though another answered meanwhile", host+1)
		}
	}
	for host := range int64(ownSilence) {
		out := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, At: noon.Add(10 * time.Second)}
		o.judge(host, &out, noon.Add(20*time.Second), clk)
	}
	if o.holding(noon.Add(20*time.Second)) == "" {
		t.Error("nobody answers any more, and claiming goes on")
	}
}

// A robots.txt that our own network kept from us says nothing about the site.
func TestOutageDropsRobots(t *testing.T) {
	t.Parallel()
	var o outage
	var out models.Outcome
	for host := range int64(ownSilence) {
		out = models.Outcome{Kind: models.RobotsFetched, Sent: 1, Robots: &models.Robots{Class: models.ConnTimeout}}
		o.judge(host, &out, noon, clock.NewVirtual(noon))
	}
	if out.Kind != models.Failed || out.Class != models.OwnNetwork || out.Robots != nil {
		t.Errorf("the last outcome is %v %v with robots %v, want a failure of ours", out.Kind, out.Class, out.Robots)
	}
}

// One host alone is no outage, however often it is tried, and an answer ends one.
func TestOutageNeedsManyHosts(t *testing.T) {
	t.Parallel()
	var o outage
	clk := clock.NewVirtual(noon)
	silent := func(host int64) models.ErrorClass {
		out := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1}
		o.judge(host, &out, noon, clk)
		return out.Class
	}
	for range 10 * ownSilence {
		if class := silent(1); class.Ours() {
			t.Fatalf("one host out of reach is called %v", class)
		}
	}
	for host := range int64(ownSilence) {
		silent(host)
	}
	o.judge(99, &models.Outcome{Kind: models.NotModified, Sent: 1}, noon, clk)
	if why := o.holding(noon); why != "" {
		t.Errorf("after an answer claiming rests: %s", why)
	}
	if class := silent(1); class.Ours() {
		t.Errorf("the first host out of reach after an answer is called %v", class)
	}
}

// A clock that is set back while claiming rests ends the rest; what was heard by it before does not hide the next outage.
func TestOutageWhileTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{30 * time.Second, time.Hour, 20 * 365 * 24 * time.Hour} {
		var o outage
		silence := func(now time.Time) (ours bool) {
			for host := range int64(ownSilence) {
				out := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, At: now}
				o.judge(host, &out, now, clock.NewVirtual(now))
				ours = out.Class == models.OwnNetwork
			}
			return ours
		}
		if !silence(noon) || o.holding(noon.Add(time.Second)) == "" {
			t.Fatal("no outage where nobody answers")
		}
		if why := o.holding(noon.Add(-by)); why != "" {
			t.Errorf("claiming rests after the clock was set back by %v: %s", by, why)
		}
		o.heard(noon)
		if now := noon.Add(-by); !silence(now) || o.holding(now.Add(time.Second)) == "" {
			t.Errorf("no outage where nobody answers after the clock was set back by %v", by)
		}
	}
}

// What many visits find at the same moment is one rest, in whatever order they come to tell: each has looked at the clock a moment before.
func TestOneRestForWhatFailsAtOnce(t *testing.T) {
	t.Parallel()
	var o outage
	clk := clock.NewVirtual(noon)
	for host := range int64(40) {
		out := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, At: noon.Add(-time.Minute)}
		o.judge(host, &out, noon.Add(-time.Duration(host)*time.Microsecond), clk)
	}
	if why := o.holding(noon.Add(15*time.Second + time.Millisecond)); o.rests != 1 || why != "" {
		t.Errorf("forty visits that failed at once are %d rests in a row, and 15 s later there is still one: %q", o.rests, why)
	}
	if o.holding(noon.Add(-time.Millisecond)) == "" {
		t.Error("whoever looked at the clock a moment before the rest began claims in it")
	}
}

// What was asked before a rest ended tells nothing of the time after it, however long it takes to fail; what was asked since does, and so it
// does where the clock was set back.
func TestARestIsTriedBeforeTheNext(t *testing.T) {
	t.Parallel()
	var o outage
	clk := clock.NewVirtual(noon)
	fails := func(host int64, asked, after time.Duration) bool {
		out := models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, At: noon.Add(asked)}
		o.judge(host, &out, noon.Add(after), clk)
		return out.Class == models.OwnNetwork
	}
	for host := range int64(ownSilence) {
		fails(host, -time.Second, 0)
	}
	for host := range int64(8) { // a rest of 15 s later
		if after := 20*time.Second + time.Duration(host)*10*time.Second; !fails(10+host, -time.Second, after) || o.rests != 1 || o.holding(noon.Add(after)) != "" {
			t.Fatalf("a visit from before a rest that fails %v after it began makes it %d rests, claiming rests: %q", after, o.rests, o.holding(noon.Add(after)))
		}
	}
	if fails(20, 100*time.Second, 101*time.Second); o.rests != 2 || o.holding(noon.Add(130*time.Second)) == "" {
		t.Errorf("a visit from after a rest that fails makes it %d rests, want a second one of half a minute", o.rests)
	}
	if fails(21, -time.Hour, -time.Hour+time.Second); o.rests != 3 || o.holding(noon.Add(-time.Hour+time.Minute)) == "" {
		t.Errorf("a visit that fails by a clock that was set back makes it %d rests, want a third", o.rests)
	}
}

// An outage begins and ends once, however often claiming rests meanwhile.
func TestAnOutageBeginsAndEndsOnce(t *testing.T) {
	t.Parallel()
	var o outage
	clk, begins, ends := clock.NewVirtual(noon), 0, 0
	judge := func(host int64, after time.Duration, out models.Outcome) {
		began, ended := o.judge(host, &out, noon.Add(after), clk)
		if began {
			begins++
		}
		if ended {
			ends++
		}
	}
	judge(1, -time.Minute, models.Outcome{Kind: models.Failed, Class: models.DNSTemporary, Sent: 1})
	judge(1, -time.Second, models.Outcome{Kind: models.NotModified, Sent: 1}) // one host's trouble was none
	for host := range int64(2 * ownSilence) {
		judge(host, 0, models.Outcome{Kind: models.Failed, Class: models.DNSTemporary, Sent: 1})
	}
	judge(1, time.Minute, models.Outcome{Kind: models.Failed, Class: models.DNSTemporary, Sent: 1}) // a rest later
	for range 2 {
		judge(1, 2*time.Minute, models.Outcome{Kind: models.NotModified, Sent: 1})
	}
	if begins != 1 || ends != 1 {
		t.Errorf("an outage that is tried again and ends began %d times and ended %d times, want once each", begins, ends)
	}
}
