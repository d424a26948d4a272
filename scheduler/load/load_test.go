package load

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawld/models"
)

// site is the rule of a site with the default settings.
var site = Rule{Base: 10 * time.Second, Longest: 5 * time.Minute, Factor: 5}

func answer(took time.Duration, status int) *models.Outcome {
	out := &models.Outcome{Kind: models.NotModified, Sent: 1, Took: took, Status: status}
	switch {
	case status == 429:
		out.Kind, out.Class = models.Failed, models.TooManyRequests
	case status >= 500:
		out.Kind, out.Class = models.Failed, models.ServerError
	}
	return out
}

func TestFault_069_DelayFollowsTheResponseTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		took time.Duration
		rule Rule
		want time.Duration
	}{
		{"a quick host", 300 * time.Millisecond, site, 10 * time.Second},
		{"at the bound", 2 * time.Second, site, 10 * time.Second},
		{"a slow host", 4800 * time.Millisecond, site, 24 * time.Second},
		{"a very slow host", 100 * time.Second, site, 5 * time.Minute},
		{"switched off", 100 * time.Second, Rule{Base: 10 * time.Second, Longest: 5 * time.Minute}, 10 * time.Second},
		{"without delay", 100 * time.Second, Rule{Longest: 5 * time.Minute, Factor: 5}, 0},
		{"a Crawl-delay beyond the longest", time.Minute, Rule{Base: 10 * time.Minute, Longest: 5 * time.Minute, Factor: 5}, 10 * time.Minute},
	} {
		l := Next(models.Load{}, answer(c.took, 200), true, c.rule)
		if got := Delay(l, c.rule); got != c.want {
			t.Errorf("%s: delay = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOneSlowAnswerCountsLittle(t *testing.T) {
	t.Parallel()
	l := models.Load{Response: 400 * time.Millisecond}
	l = Next(l, answer(8400*time.Millisecond, 200), true, site)
	if want := 1400 * time.Millisecond; l.Response != want {
		t.Errorf("response time = %v, want %v", l.Response, want)
	}
	if got := Delay(l, site); got != site.Base {
		t.Errorf("delay = %v, want %v", got, site.Base)
	}
}

func TestWhatShowsAResponseTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		out  models.Outcome
		want time.Duration
	}{
		"an answer":             {models.Outcome{Kind: models.Changed, Sent: 1, Took: time.Second, Status: 200}, time.Second},
		"robots.txt in two":     {models.Outcome{Kind: models.RobotsFetched, Sent: 2, Took: time.Second, Status: 404}, time.Second / 2},
		"no headers in time":    {models.Outcome{Kind: models.Failed, Class: models.HeaderTimeout, Sent: 1, Took: 20 * time.Second}, 20 * time.Second},
		"a body that drips":     {models.Outcome{Kind: models.Failed, Class: models.BodySlow, Sent: 1, Took: time.Minute}, time.Minute},
		"no connection in time": {models.Outcome{Kind: models.Failed, Class: models.ConnTimeout, Sent: 1, Took: 10 * time.Second}, 0},
		"nothing was asked":     {models.Outcome{Kind: models.Skipped, Took: time.Second}, 0},
		"stopped":               {models.Outcome{Kind: models.Interrupted, Sent: 1, Took: time.Second}, 0},
	} {
		if got := Next(models.Load{}, &c.out, true, site).Response; got != c.want {
			t.Errorf("%s: response time = %v, want %v", name, got, c.want)
		}
	}
}

func TestFault_068_OverloadDoublesAndGoodAnswersEase(t *testing.T) {
	t.Parallel()
	var l models.Load
	for _, want := range []time.Duration{20 * time.Second, 40 * time.Second, 80 * time.Second} {
		l = Next(l, answer(time.Millisecond, 503), true, site)
		if got := Delay(l, site); got != want {
			t.Errorf("delay after a 503 = %v, want %v", got, want)
		}
	}
	if again := Next(l, answer(time.Millisecond, 429), false, site); again.Slowed != l.Slowed {
		t.Errorf("a request of the same burst made it %v, want %v still", again.Slowed, l.Slowed)
	}
	if again := Next(l, answer(time.Millisecond, 200), false, site); again.Slowed != l.Slowed {
		t.Errorf("an old good answer made it %v, want %v still", again.Slowed, l.Slowed)
	}
	last := l.Slowed
	for n := 1; ; n++ {
		l = Next(l, answer(time.Millisecond, 200), true, site)
		if l.Slowed == 0 {
			break
		}
		if l.Slowed >= last || n > steps {
			t.Fatalf("after %d good answers the delay went from %v to %v", n, last, l.Slowed)
		}
		last = l.Slowed
	}
	if got := Delay(l, site); got != site.Base {
		t.Errorf("delay in the end = %v, want %v", got, site.Base)
	}
}

func TestOtherFailuresNeitherSlowNorEase(t *testing.T) {
	t.Parallel()
	l := models.Load{Response: time.Second, Slowed: 40 * time.Second}
	for _, out := range []*models.Outcome{answer(time.Second, 500), {Kind: models.Failed, Class: models.ConnReset, Sent: 1, Took: time.Second}} {
		if got := Next(l, out, true, site); got.Slowed != l.Slowed {
			t.Errorf("%v %d made the delay %v, want %v", out.Class, out.Status, got.Slowed, l.Slowed)
		}
	}
}

// TestDelayIsBounded: whatever is answered, the delay is never below the site's and never beyond the longest; and a host
// without any delay that says it is overloaded gets some rest, and comes back.
func TestDelayIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{Base: time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "base")), Factor: rapid.Float64Range(0, 100).Draw(t, "factor")}
		r.Longest = r.Base + time.Duration(rapid.Int64Range(int64(time.Second), int64(24*time.Hour)).Draw(t, "longest"))
		var l models.Load
		for range rapid.IntRange(0, 40).Draw(t, "visits") {
			took := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "took"))
			out := answer(took, rapid.SampledFrom([]int{200, 304, 429, 500, 503}).Draw(t, "status"))
			l = Next(l, out, true, r)
			if got := Delay(l, r); got < r.Base || got > r.Longest {
				t.Fatalf("delay = %v, want between %v and %v", got, r.Base, r.Longest)
			}
			if l.Response%time.Microsecond != 0 || l.Slowed < 0 {
				t.Fatalf("load = %+v", l)
			}
			if Overloaded(out) && l.Slowed < min(least, r.Longest) {
				t.Fatalf("delay after an overload = %v", l.Slowed)
			}
		}
		for range steps + 1 {
			l = Next(l, answer(time.Microsecond, 200), true, r)
		}
		if l.Slowed != 0 {
			t.Fatalf("after %d good answers the delay is still %v", steps+1, l.Slowed)
		}
	})
}

func TestWhy(t *testing.T) {
	t.Parallel()
	span := time.Duration.String
	for _, c := range []struct {
		load models.Load
		want string
	}{
		{models.Load{}, ""},
		{models.Load{Response: time.Second}, ""},
		{models.Load{Response: 4800 * time.Millisecond}, "5 × its response time of 4.8s"},
		{models.Load{Response: 90 * time.Second}, "5 × its response time of 1m30s, at most 5m0s"},
		{models.Load{Response: 4800 * time.Millisecond, Slowed: time.Minute}, "it said that it is overloaded"},
		{models.Load{Response: 4800 * time.Millisecond, Slowed: 12 * time.Second}, "5 × its response time of 4.8s"},
	} {
		if got := Why(c.load, site, span); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("Why(%+v) = %q, want %q", c.load, got, c.want)
		}
	}
}
