package recrawl

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// often audits every fifth conditional visit. Nothing is kept, so that any other text is a change: the pages of these
// tests change as often as only noise does.
func often(c *Config, s *config.Settings) { c.Past, s.Audit = nil, 0.2 }

// seldom makes no audits.
func seldom(c *Config, _ *config.Settings) { c.Past = nil }

// edition is a page of running text that says another thing each time.
func edition(n int) string {
	return fmt.Sprintf("<title>Terms</title><main><h1>Terms</h1><p>The fee for the service number %d is due on the first day of "+
		"the month, and is paid to the account that is named below.<p>Whoever does not pay is reminded once and then "+
		"excluded from chapter %d of the agreement.</main>", n, n)
}

func fields(pairs ...string) map[string]string {
	all := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// TestFault_053_NotModifiedForEver: a server answers 304 to every condition although its page changes each day. An audit
// finds another page, a condition that cannot hold proves the lie, and from then on each change is seen. When the server
// is mended, conditions that cannot hold show it, and its 304s are believed again.
func TestFault_053_NotModifiedForEver(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, often)
	lying := func(n int) {
		o.Set("/", hostile.AlwaysNotModified(fields("ETag", fmt.Sprintf(`"%d"`, n), "Last-Modified", day(n)), edition(n)))
	}
	unseen := 0
	l.until(o.URL("/"), 60, lying, func(out models.Outcome) bool {
		if out.Kind == models.NotModified {
			unseen++
		}
		return !l.trusts(models.HintNotModified)
	})
	if unseen == 0 {
		t.Fatal("the server told no lie")
	}
	for n := 100; n < 110; n++ {
		lying(n)
		out := l.turn(o.URL("/"))
		if out.Kind != models.Changed && out.Class != models.BadNotModified {
			t.Errorf("a lying server's page is %v (%s), want a change", out.Kind, out.Detail)
		}
		if tag := lastAsked(t, o).Header.Get("If-None-Match"); tag != "" && tag != `"recrawld-audit"` {
			t.Errorf("a lying server is asked with the condition %s", tag)
		}
	}
	o.Set("/", hostile.Honest(fields("ETag", `"mended"`), edition(200)))
	l.until(o.URL("/"), 200, nil, func(models.Outcome) bool { return l.trusts(models.HintNotModified) })
	l.until(o.URL("/"), 10, nil, func(out models.Outcome) bool { return out.Kind == models.NotModified })
}

// day is a date, n days after the rig's own.
func day(n int) string { return today.Add(time.Duration(n) * 24 * time.Hour).Format(http.TimeFormat) }

// TestFault_053_HonestServersStayTrusted: the same audits over a server whose 304s are true, on pages that change now and
// then.
func TestFault_053_HonestServersStayTrusted(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, often)
	for n := range 120 {
		version := n / 9
		o.Set("/", hostile.Honest(fields("ETag", fmt.Sprintf(`"%d"`, version), "Last-Modified", day(9*version)), edition(version)))
		out := l.turn(o.URL("/"))
		if want := n > 0 && n%9 == 0; want != (out.Kind == models.Changed) {
			t.Errorf("visit %d: %v, changed %v", n, out.Kind, want)
		}
	}
	for hint := models.HintETag; hint <= models.HintNotModified; hint++ {
		if !l.trusts(hint) {
			t.Errorf("%v of an honest server is not trusted: %+v", hint, l.host.Trials.By[hint])
		}
	}
}

// TestFault_054_EverNewETag: another tag on the same bytes each time is not sent any more after three of them, until the
// server names its page as others do.
func TestFault_054_EverNewETag(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Renaming("ETag", `"%d"`, edition(1))})
	l := newLife(t, often)
	l.turn(o.URL("/"))
	for range 3 {
		wantKind(t, l.turn(o.URL("/")), models.SameBytes)
	}
	if l.trusts(models.HintETag) {
		t.Fatalf("after three false alarms the tag is trusted: %+v", l.host.Trials)
	}
	wantKind(t, l.turn(o.URL("/")), models.SameBytes)
	if tag := lastAsked(t, o).Header.Get("If-None-Match"); tag != "" {
		t.Errorf("the tag %s is sent", tag)
	}
	if page := l.pages[o.URL("/")]; page.Version != 1 || page.Stats.Changes != 0 {
		t.Errorf("version %d, %d changes; the bytes were the same", page.Version, page.Stats.Changes)
	}
	o.Set("/", hostile.Honest(fields("ETag", `"mended"`), edition(1)))
	l.until(o.URL("/"), 20, nil, func(out models.Outcome) bool { return out.Kind == models.NotModified })
}

// TestFault_054_PackedETag: the tag of a compressed page comes back with and without its suffix, so that a server which
// knows the one without answers 304.
func TestFault_054_PackedETag(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Packed("5e-1", edition(1))})
	l := newLife(t, seldom)
	l.turn(o.URL("/"))
	wantKind(t, l.turn(o.URL("/")), models.NotModified)
	wantKind(t, l.turn(o.URL("/")), models.NotModified)
	wantConditions(t, o, []string{" | ", `"5e-1-gzip", "5e-1" | `, `"5e-1" | `})
	o.Set("/", hostile.Packed("5e-2", edition(2)))
	wantKind(t, l.turn(o.URL("/")), models.Changed)
	if !l.trusts(models.HintETag) {
		t.Errorf("the tag is not trusted: %+v", l.host.Trials)
	}
}

// TestFault_055_SameETagOtherContent: a server whose tag never changes says 304 in good faith. The first audit shows it;
// then the tag is not sent, and each change is seen. Once the tag follows the content it is sent again.
func TestFault_055_SameETagOtherContent(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, often)
	l.until(o.URL("/"), 60, func(n int) { o.Set("/", hostile.Honest(fields("ETag", `"1"`), edition(n))) },
		func(models.Outcome) bool { return !l.trusts(models.HintETag) })
	for n := 100; n < 104; n++ {
		o.Set("/", hostile.Honest(fields("ETag", `"1"`), edition(n)))
		wantKind(t, l.turn(o.URL("/")), models.Changed)
	}
	for n := 200; n < 205; n++ {
		o.Set("/", hostile.Honest(fields("ETag", fmt.Sprintf(`"%d"`, n)), edition(n)))
		wantKind(t, l.turn(o.URL("/")), models.Changed)
	}
	if !l.trusts(models.HintETag) {
		t.Errorf("the tag of a mended server is not trusted: %+v", l.host.Trials.By[models.HintETag])
	}
	l.until(o.URL("/"), 5, nil, func(out models.Outcome) bool { return out.Kind == models.NotModified })
}

// TestFault_057_LastModifiedIsNow: a date that is that of the answer, on the same bytes, is not sent any more.
func TestFault_057_LastModifiedIsNow(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, seldom)
	now := func(int) {
		o.Set("/", hostile.Honest(fields("Last-Modified", l.clock.Now().Add(24*time.Hour).Format(http.TimeFormat)), edition(1)))
	}
	l.until(o.URL("/"), 5, now, func(models.Outcome) bool { return !l.trusts(models.HintLastModified) })
	now(0)
	wantKind(t, l.turn(o.URL("/")), models.SameBytes)
	if since := lastAsked(t, o).Header.Get("If-Modified-Since"); since != "" {
		t.Errorf("the date %s is sent", since)
	}
	o.Set("/", hostile.Honest(fields("Last-Modified", day(-400)), edition(1)))
	l.until(o.URL("/"), 20, nil, func(out models.Outcome) bool { return out.Kind == models.NotModified })
}

// TestFault_057_DatesThatCannotBe: a date in the future, before the web, or that goes backwards is a finding each time,
// and is not sent after three of them.
func TestFault_057_DatesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, date := range map[string]func(n int) string{
		"future":    func(int) string { return day(10_000) },
		"epoch":     func(int) string { return "Thu, 01 Jan 1970 00:00:00 GMT" },
		"backwards": func(n int) string { return day(-n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, nil)
			l := newLife(t, func(c *Config, s *config.Settings) { c.Past, s.Audit = nil, 1 })
			l.until(o.URL("/"), 5, func(n int) {
				o.Set("/", hostile.Whole(200, fields("Last-Modified", date(n)), edition(1)+fmt.Sprintf("<!-- %d -->", n)))
			}, func(models.Outcome) bool { return !l.trusts(models.HintLastModified) })
			if got := l.host.Trials.By[models.HintLastModified]; got.Late != 3 || got.Misses+got.FalseAlarms != 0 {
				t.Errorf("ledger %+v, want three dates that cannot be", got)
			}
		})
	}
}

// TestFault_058_PromisesThatDoNotHold: a page that changes before its Expires breaks a promise.
func TestFault_058_PromisesThatDoNotHold(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, seldom)
	l.until(o.URL("/"), 5, func(n int) {
		o.Set("/", hostile.Whole(200, fields("Cache-Control", "max-age=604800"), edition(n)))
	}, func(models.Outcome) bool { return !l.trusts(models.HintExpires) })
	if got := l.host.Trials.By[models.HintExpires]; got.Late != 3 {
		t.Errorf("ledger %+v, want three broken promises", got)
	}
	l.until(o.URL("/"), 10, nil, func(models.Outcome) bool { return l.trusts(models.HintExpires) })
}

// TestFault_052_NotModifiedToAnAudit: a 304 to a visit that sets no condition, although validators are held, is no news
// of the page.
func TestFault_052_NotModifiedToAnAudit(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(
		hostile.Whole(200, fields("ETag", `"1"`), edition(1)),
		hostile.Raw("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"))})
	l := newLife(t, func(c *Config, s *config.Settings) { c.Past, s.Audit = nil, 1 })
	l.turn(o.URL("/"))
	out := l.turn(o.URL("/"))
	wantFailed(t, out, models.BadNotModified)
	if got := lastAsked(t, o).Header; got.Get("If-None-Match") != "" || !out.Unconditional {
		t.Errorf("an audit is asked with the condition %s, unconditional %v", got.Get("If-None-Match"), out.Unconditional)
	}
	if p := l.pages[o.URL("/")]; p.Stats.Records != 1 || p.ETag != `"1"` {
		t.Errorf("it counts as a record: %d, ETag %s", p.Stats.Records, p.ETag)
	}
}

// TestFault_053_DatesAlone: the same lie from a server that names no tags.
func TestFault_053_DatesAlone(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, often)
	l.until(o.URL("/"), 60, func(n int) {
		o.Set("/", hostile.AlwaysNotModified(fields("Last-Modified", day(n)), edition(n)))
	}, func(models.Outcome) bool { return !l.trusts(models.HintNotModified) })
	if got := l.host.Trials.By[models.HintNotModified]; got.Misses != 1 {
		t.Errorf("ledger %+v, want a lie that was proven", got)
	}
}

// TestAnAuditAMonth: where the lot hardly ever falls, each host has an audit in thirty days all the same, and no more.
func TestAnAuditAMonth(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Honest(fields("ETag", `"1"`), edition(1))})
	l := newLife(t, func(_ *Config, s *config.Settings) { s.Audit = 1e-9 })
	var audits []int
	for n := range 100 {
		if out := l.turn(o.URL("/")); out.Unconditional {
			wantKind(t, out, models.SameBytes)
			audits = append(audits, n)
		}
	}
	if diff := cmp.Diff([]int{30, 60, 90}, audits); diff != "" {
		t.Errorf("audits (-want +got):\n%s", diff)
	}
}
