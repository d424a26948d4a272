package recrawl

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// robotsOf visits a page of the origin of which robots.txt is not known, and wants that to be asked for alone, once.
func (r *rig) robotsOf(page models.Page, known ...models.Robots) models.Robots {
	r.t.Helper()
	out := r.turn(r.t.Context(), page, known...)
	wantKind(r.t, out, models.RobotsFetched)
	if out.Robots == nil {
		r.t.Fatal("no robots row came back")
	}
	if out.Body != nil || out.Sent != 1 {
		r.t.Errorf("asking for robots.txt: Sent %d, body of %d bytes", out.Sent, len(out.Body))
	}
	return *out.Robots
}

func robotsText(body string, fields ...string) hostile.Answer {
	all := map[string]string{"Content-Type": "text/plain"}
	for i := 0; i+1 < len(fields); i += 2 {
		all[fields[i]] = fields[i+1]
	}
	return hostile.Whole(http.StatusOK, all, body)
}

func TestRobotsComeFirst(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/robots.txt": robotsText("# hello\nUser-agent: recrawld\nDisallow: /private\nCrawl-delay: 60\n"),
		"/":           hostile.Whole(200, map[string]string{"Content-Type": "text/html"}, "<a href=/private/x><a href=/open>"),
	})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	row := r.robotsOf(page)
	if want := models.At(today.Add(24 * time.Hour)); row.ExpiresAt != want || row.Class != models.ClassNone || row.Status != 200 {
		t.Errorf("row = %v %d, expires %v, want %v", row.Class, row.Status, row.ExpiresAt, want)
	}
	if row.CrawlDelay != time.Minute {
		t.Errorf("CrawlDelay = %v, want 1m", row.CrawlDelay)
	}
	out := r.turn(t.Context(), page, row)
	wantKind(t, out, models.First)
	if out.Delay != time.Minute {
		t.Errorf("Delay = %v, want 1m", out.Delay)
	}
	if len(out.Links) != 1 || out.Links[0].URL != o.URL("/open") {
		t.Errorf("links = %v, want only what robots.txt allows", out.Links)
	}
	out = r.turn(t.Context(), pageOf(t, o.URL("/private?x")), row)
	wantKind(t, out, models.Excluded)
	if want := "robots.txt line 3: Disallow: /private"; out.Detail != want || out.Sent != 0 {
		t.Errorf("Detail = %q, Sent = %d, want %q and 0", out.Detail, out.Sent, want)
	}
	if n := len(o.Requests()); n != 2 {
		t.Errorf("%d requests, want one for robots.txt and one for the page", n)
	}
}

func TestFault_070_RobotsMissing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 410, 418, 451} {
		o := listen(t, map[string]hostile.Answer{"/robots.txt": hostile.Whole(status, nil, "User-agent: *\nDisallow: /"),
			"/": hostile.Whole(200, nil, "open")})
		r := newRig(t, nil)
		page := pageOf(t, o.URL("/"))
		row := r.robotsOf(page)
		if row.Class != models.ClassNone || len(row.Body) != 0 {
			t.Errorf("%d: row = %v with %d bytes of rules, want none", status, row.Class, len(row.Body))
		}
		wantKind(t, r.turn(t.Context(), page, row), models.First)
	}
}

func TestFault_071_RobotsUnreachable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer hostile.Answer
		class  models.ErrorClass
	}{
		"500":      {hostile.Whole(500, nil, ""), models.ServerError},
		"503":      {hostile.Whole(503, nil, ""), models.ServerError},
		"429":      {hostile.Whole(429, nil, ""), models.TooManyRequests},
		"silent":   {hostile.Silent(), models.HeaderTimeout},
		"reset":    {hostile.Reset(), models.ConnReset},
		"cut":      {hostile.HalfClose(true), models.BodyShort},
		"206":      {hostile.Whole(206, nil, "User-agent: *"), models.UnexpectedStatus},
		"304":      {hostile.Raw("HTTP/1.1 304 Not Modified\r\n\r\n"), models.UnexpectedStatus},
		"cut gzip": {hostile.Whole(200, map[string]string{"Content-Encoding": "gzip"}, hostile.Gzipped("User-agent: *")[:20]), models.BodyShort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/robots.txt": test.answer, "/": hostile.Whole(200, nil, "not to be asked")})
			r := newRig(t, func(c *Config, _ *config.Settings) {
				if name == "silent" {
					c.Limits.Header = 100 * time.Millisecond
				}
			})
			page := pageOf(t, o.URL("/"))
			row := r.robotsOf(page)
			if row.Class != test.class || row.ExpiresAt != models.At(today.Add(10*time.Minute)) {
				t.Errorf("row = %v until %v, want %v for 10 minutes", row.Class, row.ExpiresAt, test.class)
			}
			out := r.turn(t.Context(), page, row)
			wantFailed(t, out, models.RobotsUnreachable)
			if n := len(o.Requests()); n != 1 || out.Sent != 0 {
				t.Errorf("%d requests, Sent %d: the page was asked for though robots.txt could not be had", n, out.Sent)
			}
		})
	}
}

// A robots.txt that comes for too long is ended by a bound of its own, not by that of pages, which a site may want to be long.
func TestFault_071_RobotsTime(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/robots.txt": hostile.SlowBody(5 * time.Millisecond)})
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Limits.RobotsTime = 100 * time.Millisecond })
	out := r.turn(t.Context(), pageOf(t, o.URL("/")))
	if out.Kind != models.RobotsFetched || out.Robots == nil || out.Robots.Class != models.BodySlow || out.Took > r.settings.PageTime/2 {
		t.Errorf("visit = %v (%s) after %v, robots.txt %+v; want it asked for and too slow within the %v that it may take", out.Kind, out.Detail, out.Took,
			out.Robots, r.limits.RobotsTime)
	}
}

func TestFault_071_RobotsOfADeadHost(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := listener.Addr().String()
	listener.Close()
	for url, class := range map[string]models.ErrorClass{
		"http://" + dead + "/": models.ConnRefused, "http://nowhere.test/": models.DNSNotFound,
	} {
		row := newRig(t, resolving(&names{})).robotsOf(pageOf(t, url))
		if row.Class != class || robotsInForce(&row, today) {
			t.Errorf("%s: row = %v, in force %v; want %v and disallow", url, row.Class, robotsInForce(&row, today), class)
		}
	}
}

// TestFault_071_LastGoodRobots follows a robots.txt that cannot be had any more.
func TestFault_071_LastGoodRobots(t *testing.T) {
	t.Parallel()
	rules := []byte("User-agent: *\nDisallow: /no\n")
	row := nextRobots(models.Robots{}, robotsAnswer{status: 200, body: rules}, today)
	now, wait := today, time.Duration(0)
	for now.Before(today.Add(29 * 24 * time.Hour)) {
		now = row.ExpiresAt.Time()
		row = nextRobots(row, robotsAnswer{status: 500, class: models.ClassNone}, now)
		next := row.ExpiresAt.Time().Sub(now)
		if next < wait || next > robotsRetryTo || next < robotsRetry {
			t.Fatalf("waited %v, then %v", wait, next)
		}
		wait = next
		if !robotsInForce(&row, now) || string(row.Body) != string(rules) || row.Class != models.ServerError {
			t.Fatalf("after %v the last good copy is not in force: %v", now.Sub(today), row)
		}
	}
	if wait != robotsRetryTo {
		t.Errorf("the wait grew to %v, want %v", wait, robotsRetryTo)
	}
	now = today.Add(robotsGrace + time.Hour)
	if robotsInForce(&row, now) {
		t.Error("a copy older than 30 days is still in force")
	}
	row = nextRobots(row, robotsAnswer{class: models.ConnTimeout}, now)
	if row.Body != nil || row.GoodAt != 0 || robotsInForce(&row, now) {
		t.Errorf("after 30 days: %v", row)
	}
	row = nextRobots(row, robotsAnswer{status: 404}, now)
	if !robotsInForce(&row, now) || row.Class != models.ClassNone {
		t.Errorf("an answer did not end it: %v", row)
	}
}

func TestFault_073_RobotsOfAllKinds(t *testing.T) {
	t.Parallel()
	large := "User-agent: *\nDisallow: /a\n" + strings.Repeat("# padding\n", 1<<20) + "Disallow: /b\n"
	cut := "User-agent: *\n" + strings.Repeat("#", 500<<10-len("User-agent: *\n\nDisallow: /")) + "\nDisallow: /beyond\n"
	for name, test := range map[string]struct {
		answer     hostile.Answer
		disallowed string
		allowed    string
	}{
		"10 MB":      {robotsText(large), "/a", "/b"},
		"10 MB gzip": {robotsText(hostile.Gzipped(large), "Content-Encoding", "gzip"), "/a", "/b"},
		"cut line":   {robotsText(cut), "", "/"},
		"binary":     {robotsText("\x00\x01\xff\xfe\x89PNG\r\n\x1a\n"), "", "/"},
		"HTML":       {hostile.Whole(200, map[string]string{"Content-Type": "text/html"}, "<!doctype html><p>Disallow: /"), "", "/"},
		"empty":      {robotsText(""), "", "/"},
		"UTF-8 BOM":  {robotsText("\xef\xbb\xbfUser-agent: *\nDisallow: /a"), "/a", "/b"},
		"CR":         {robotsText("User-agent: *\rDisallow: /a\r"), "/a", "/b"},
		"gzip":       {robotsText(hostile.Gzipped("User-agent: *\nDisallow: /a\n"), "Content-Encoding", "gzip"), "/a", "/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/robots.txt": test.answer})
			r := newRig(t, nil)
			row := r.robotsOf(pageOf(t, o.URL("/")))
			if row.Class != models.ClassNone || len(row.Body) > 500<<10 {
				t.Fatalf("row = %v with %d bytes", row.Class, len(row.Body))
			}
			if test.disallowed != "" {
				wantKind(t, r.turn(t.Context(), pageOf(t, o.URL(test.disallowed)), row), models.Excluded)
			}
			wantKind(t, r.turn(t.Context(), pageOf(t, o.URL(test.allowed)), row), models.Missing)
		})
	}
}

func TestFault_074_RobotsChange(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "open"),
		"/robots.txt": hostile.Then(robotsText("User-agent: *\nAllow: /"), robotsText("User-agent: *\nDisallow: /"))})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	row := r.robotsOf(page)
	wantKind(t, r.turn(t.Context(), page, row), models.First)
	if err := r.clock.SleepUntil(t.Context(), row.ExpiresAt.Time()); err != nil {
		t.Fatal(err)
	}
	row = r.robotsOf(page, row)
	wantKind(t, r.turn(t.Context(), page, row), models.Excluded)
}

func TestFault_075_CrawlDelay(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"0": 10 * time.Second, "0.5": 10 * time.Second, "30": 30 * time.Second, "1e9": 10 * time.Second,
		"1000000000": 5 * time.Minute, "abc": 10 * time.Second, "-1": 10 * time.Second, "": 10 * time.Second,
	} {
		o := listen(t, map[string]hostile.Answer{"/robots.txt": robotsText("User-agent: *\nCrawl-delay: " + value + "\n")})
		r := newRig(t, nil)
		page := pageOf(t, o.URL("/"))
		row := r.robotsOf(page)
		if out := r.turn(t.Context(), page, row); out.Delay != want {
			t.Errorf("Crawl-delay %q: Delay = %v, want %v", value, out.Delay, want)
		}
	}
}

func TestRobotsLifetime(t *testing.T) {
	t.Parallel()
	for control, want := range map[string]time.Duration{
		"": 24 * time.Hour, "max-age=7200": 2 * time.Hour, "max-age=0": time.Hour, "no-cache": time.Hour,
		"max-age=31536000": 24 * time.Hour, "max-age=1": time.Hour, "public": 24 * time.Hour,
	} {
		header := http.Header{}
		if control != "" {
			header.Set("Cache-Control", control)
		}
		row := nextRobots(models.Robots{}, robotsAnswer{status: 200, header: header}, today)
		if got := row.ExpiresAt.Time().Sub(today); got != want {
			t.Errorf("Cache-Control %q: robots.txt holds for %v, want %v", control, got, want)
		}
	}
}

// TestRobotsThatStay holds that a robots.txt to be asked for each time, as many hosts of sites say of all their files, is asked for ever more
// rarely while it stays the same, once a day at least, and every hour again once it does not.
func TestRobotsThatStay(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: *\nDisallow: /private/\n"
	for name, test := range map[string]struct {
		control string
		body    func(n int) string
		want    []time.Duration
	}{
		"it stays":       {"public, max-age=0, must-revalidate", func(int) string { return rules }, []time.Duration{1, 2, 4, 8, 16, 24, 24}},
		"it changes":     {"max-age=0", func(n int) string { return rules + strings.Repeat("#", n/3) }, []time.Duration{1, 2, 4, 1, 2, 4, 1}},
		"it says a time": {"max-age=7200", func(int) string { return rules }, []time.Duration{2, 2, 2}},
	} {
		now, row := today, models.Robots{}
		for n, hours := range test.want {
			row = nextRobots(row, robotsAnswer{status: 200, header: http.Header{"Cache-Control": {test.control}}, body: []byte(test.body(n))}, now)
			if got, want := row.ExpiresAt.Time().Sub(now), hours*time.Hour; got != want {
				t.Errorf("%s: answer %d holds for %v, want %v", name, n+1, got, want)
			}
			now = row.ExpiresAt.Time()
		}
	}
}

func TestRobotsRetryAfter(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/robots.txt": hostile.Whole(503, map[string]string{"Retry-After": "7200"}, "")})
	out := newRig(t, nil).turn(t.Context(), pageOf(t, o.URL("/")))
	wantKind(t, out, models.RobotsFetched)
	want := today.Add(2 * time.Hour)
	if !out.RetryAfter.Equal(want) || out.Robots.ExpiresAt != models.At(want) {
		t.Errorf("wait until %v, robots until %v, want %v", out.RetryAfter, out.Robots.ExpiresAt, want)
	}
}

func TestRulesCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := newRulesCache()
	for i := range 3 * cachedRules {
		row := models.Robots{Origin: fmt.Sprintf("http://h%d.test", i), GoodAt: 1, Body: []byte("User-agent: *\nDisallow: /")}
		first, second := c.of(&row), c.of(&row)
		if first.Verdict("recrawld", "/").Allowed || first != second {
			t.Fatalf("row %d: rules are wrong or compiled twice", i)
		}
	}
	if len(c.byRow) != cachedRules || c.recent.Len() != cachedRules {
		t.Errorf("%d rules are kept, want %d", len(c.byRow), cachedRules)
	}
	row := models.Robots{Origin: "http://h1.test", GoodAt: 2}
	if !c.of(&row).Verdict("recrawld", "/").Allowed {
		t.Error("a newer robots.txt has the rules of the older one")
	}
}
