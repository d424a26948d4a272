package recrawl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/models"
)

// framed is a page as sites make them: the same frame around each, with a clock and a counter in it.
func framed(title, main string, n int) string {
	return fmt.Sprintf(`<!doctype html><html lang=en><head><meta charset=utf-8><title>%s – Example Services</title>
<link rel=stylesheet href=/style.css?v=%d><script>var token="%x";</script></head><body>
<header class=site-header><a class=logo href=/>Example Services</a>
<nav class=menu><ul><li><a href=/docs/>Documents</a><li><a href=/docs/prices>Prices</a><li><a href=/docs/terms>Terms</a>
<li><a href=/contact>Contact</a></ul></nav></header>
<main class=content><h1>%s</h1>%s</main>
<aside class=sidebar><p>It is %s.</p><p>%d visitors today</p></aside>
<footer class=site-footer><p>© Example Services Ltd., 12 Long Street, Oxford. All rights reserved.</p></footer>
</body></html>`, title, n, n*7919, title, main, today.Add(time.Duration(n)*time.Hour).Format(time.RFC1123), 1000+17*n)
}

// terms is the running text of a document, with a fee in it.
func terms(fee string) string {
	return `<p>These terms apply to every contract between you and Example Services about the use of our storage, whether it was
made in writing or by using the service for the first time.</p>
<h2>Fees</h2><p>The monthly fee is ` + fee + ` and is due on the first working day of each month. It covers the storage of up
to one hundred gigabytes and the transfer of twice that amount.</p>
<h2>Notice</h2><p>Either side may end the contract with a notice of thirty days to the end of a month. The data is kept for
another thirty days after that and then deleted without further notice.</p>
<p>Details are in <a href=/docs/notice>the rules of notice</a>, which are part of these terms.</p>`
}

// scene is a body that a page is found with, and what the visit makes of it.
type scene struct {
	name  string
	body  string
	kind  models.OutcomeKind
	class models.ErrorClass
}

// play visits a page once for each scene.
func play(t *testing.T, scenes []scene) (*life, []models.Outcome) {
	t.Helper()
	o := listen(t, nil)
	l := newLife(t, nil)
	var outs []models.Outcome
	for _, s := range scenes {
		o.Set("/docs/terms", page(s.body, "Content-Type", "text/html; charset=utf-8"))
		out := l.turn(o.URL("/docs/terms"))
		if out.Kind != s.kind || out.Class != s.class {
			t.Errorf("%s: %v %v (%s), significance %v, %v; want %v %v", s.name, out.Kind, out.Class, out.Detail,
				out.Significance, out.Reasons, s.kind, s.class)
		}
		if out.Kind == models.Failed && (out.Detail == "" || out.Body != nil) {
			t.Errorf("%s: detail %q, a body of %d bytes", s.name, out.Detail, len(out.Body))
		}
		outs = append(outs, out)
	}
	return l, outs
}

// TestAClockIsNoChange: a page whose frame shows the time and a counter changes its bytes on each visit and its content
// once.
func TestAClockIsNoChange(t *testing.T) {
	t.Parallel()
	var scenes []scene
	for n := range 20 {
		s := scene{name: fmt.Sprint("visit ", n), body: framed("Terms", terms("12 pounds"), n), kind: models.Noise}
		if n == 0 {
			s.kind = models.First
		}
		if n >= 10 {
			s.body = framed("Terms", terms("14 pounds"), n)
		}
		if n == 10 {
			s.kind = models.Changed
		}
		scenes = append(scenes, s)
	}
	l, outs := play(t, scenes)
	for _, p := range l.pages {
		if p.Stats.Changes != 1 || p.ByteChanges != 19 || p.Version != 20 {
			t.Errorf("%d changes of the content, %d of the bytes, %d versions", p.Stats.Changes, p.ByteChanges, p.Version)
		}
	}
	if outs[10].Significance < 0.5 || outs[10].Reasons == 0 {
		t.Errorf("another fee has the significance %v for the reasons %v", outs[10].Significance, outs[10].Reasons)
	}
}

// TestWhatIsNoPage: states that pass, with status 200. The last good version stays and is what the next answer is held
// against.
func TestWhatIsNoPage(t *testing.T) {
	t.Parallel()
	good := framed("Terms", terms("12 pounds"), 1)
	for name, test := range map[string]struct {
		body  string
		class models.ErrorClass
	}{
		"log-in": {framed("Sign in", `<p>Please sign in to go on.</p><form action=/login method=post>
			<label>E-mail <input type=email name=user></label><label>Password <input type=password name=password></label>
			<button>Sign in</button></form>`, 2), models.LoginWall},
		"shell": {`<!doctype html><html><head><title>Example Services</title><script src=/app.js></script></head>
			<body><div id=root><p>Loading…</p></div><noscript>You need to enable JavaScript to run this app.</noscript></body></html>`, models.Shell},
		"challenge": {`<!doctype html><html><head><title>Just a moment...</title></head><body><div class=main-content>
			<h1>example.org</h1><p>Checking your browser before accessing example.org. This process is automatic.</p>
			<p>Ray ID: 8f3a2b</p></div><script src=/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1></script></body></html>`, models.BlockPage},
		"outage": {`<!doctype html><html><head><title>503 Service Unavailable</title></head><body><h1>Service Unavailable</h1>
			<p>The server is temporarily unable to service your request due to maintenance downtime. Please try again later.</p>
			</body></html>`, models.ErrorPage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := play(t, []scene{
				{"good", good, models.First, 0},
				{name, test.body, models.Failed, test.class},
				{"good again", framed("Terms", terms("12 pounds"), 3), models.Noise, 0},
				{name + " again", test.body, models.Failed, test.class},
				{"another", framed("Terms", terms("14 pounds"), 4), models.Changed, 0},
			})
			for _, p := range l.pages {
				if p.Stats.Changes != 1 || p.Version != 3 || p.Failures != 0 {
					t.Errorf("%d changes, %d versions, %d failures", p.Stats.Changes, p.Version, p.Failures)
				}
			}
		})
	}
}

// TestWhatStaysIsThePage: a log-in form that stands for a month is what the page now is.
func TestWhatStaysIsThePage(t *testing.T) {
	t.Parallel()
	wall := framed("Sign in", `<p>Please sign in to go on.</p><form action=/login method=post>
		<input type=email name=user><input type=password name=password><button>Sign in</button></form>`, 2)
	scenes := []scene{{"good", framed("Terms", terms("12 pounds"), 1), models.First, 0}}
	for day := range 30 {
		scenes = append(scenes, scene{fmt.Sprint("day ", day), wall, models.Failed, models.LoginWall})
	}
	play(t, append(scenes, scene{"after a month", wall, models.Changed, 0}, scene{"from then on", wall, models.SameBytes, 0}))
}

// TestFault_042_Soft404: a host answers every name with 200 and a page of regrets. A probe shows it; from then on a page
// that turns into that is missing, like one that answers 404.
func TestFault_042_Soft404(t *testing.T) {
	t.Parallel()
	regrets := framed("Page not found", `<p>We are sorry, but the page that you are looking for does not exist. It may have
		been moved or deleted. Use the menu above or <a href=/>go back to the start</a>.</p>`, 9)
	o := listen(t, nil)
	o.SetDefault(page(regrets))
	l := newLife(t, func(_ *Config, s *config.Settings) { s.Probe = 30 * 24 * time.Hour })
	url := o.URL("/docs/terms")
	o.Set("/docs/terms", page(framed("Terms", terms("12 pounds"), 1)))
	wantKind(t, l.turn(url), models.First)
	probe := l.turn(url)
	wantKind(t, probe, models.Probed)
	if probe.HostMemory == nil || !strings.Contains(probe.Detail, "200") {
		t.Errorf("nothing is learned of a soft 404: %q", probe.Detail)
	}
	for range 3 {
		o.Set("/docs/terms", page(framed("Page not found", `<p>We are sorry, but the page that you are looking for does not
			exist. It may have been moved or deleted. Use the menu above or <a href=/>go back to the start</a>.</p>`, 17)))
		out := l.turn(url)
		wantKind(t, out, models.Missing)
		if out.Detail == "" || out.Body != nil {
			t.Errorf("a soft 404: detail %q, a body of %d bytes", out.Detail, len(out.Body))
		}
	}
	if p := l.pages[url]; p.State != models.StateGone || p.Version != 1 {
		t.Errorf("after three of them the page is %v with version %d", p.State, p.Version)
	}
	o.Set("/docs/terms", page(framed("Terms", terms("12 pounds"), 20)))
	wantKind(t, l.turn(url), models.Noise)

	wantKind(t, l.turn(o.URL("/docs/never-was")), models.Missing) // a page of which there never was a copy
	clear(l.past.bodies)                                          // as of a page that asks not to be kept
	o.Set("/docs/terms", page(regrets))
	wantKind(t, l.turn(url), models.Missing)
	o.Set("/docs/new", page(framed("Prices", terms("9 pounds and 50 pence"), 21)))
	wantKind(t, l.turn(o.URL("/docs/new")), models.First)
}

// TestOneAnswerForEverything: on a site whose pages are all filled in by scripts the answer for a name that does not exist
// is that for all others, and makes none of them missing.
func TestOneAnswerForEverything(t *testing.T) {
	t.Parallel()
	app := page(`<!doctype html><title>App</title><div id=root>Loading the application, please wait a moment.</div><script src=/app.js></script>`)
	o := listen(t, nil)
	o.SetDefault(app)
	l := newLife(t, func(_ *Config, s *config.Settings) { s.Probe = 30 * 24 * time.Hour })
	wantKind(t, l.turn(o.URL("/one")), models.First)
	if probe := l.turn(o.URL("/one")); probe.Kind != models.Probed || !strings.Contains(probe.Detail, "told apart") {
		t.Errorf("probe = %v (%s)", probe.Kind, probe.Detail)
	}
	wantKind(t, l.turn(o.URL("/two")), models.First)
}

// TestWithdrawnChanges: where other pages show within a day that a change was one of the template, the next visit takes it
// back, although it sees nothing new itself.
func TestWithdrawnChanges(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	l := newLife(t, nil)
	l.step = time.Hour
	topics := []string{"storage", "transfer", "support", "payment", "privacy", "cookies", "delivery", "returns"}
	set := func(banner string) {
		for i, topic := range topics {
			main := strings.ReplaceAll(terms(fmt.Sprint(i+2, " pounds")), "storage", topic) + strings.Repeat("<p>The rules of "+topic+
				fmt.Sprintf(" are laid down in chapter %d of the handbook, which is sent on request.</p>", i), i+1)
			o.Set("/docs/"+topic, page(framed("Rules of "+topic, main+`<div class=promo><p>`+banner+`</p></div>`, 0), "ETag", `"`+banner[:8]+`"`))
		}
	}
	set("From May on every new customer has the first three months of the service for nothing.")
	for _, topic := range topics {
		wantKind(t, l.turn(o.URL("/docs/"+topic)), models.First)
	}
	set("In autumn whoever brings a friend along pays only one half of the fee for a whole year.")
	var changed []string
	for _, topic := range topics {
		if out := l.turn(o.URL("/docs/" + topic)); out.Kind == models.Changed {
			changed = append(changed, topic)
		}
	}
	if len(changed) == 0 || len(changed) > len(topics)/2 {
		t.Fatalf("the banner of %d pages is a change of %v", len(topics), changed)
	}
	for _, topic := range changed {
		out := l.turn(o.URL("/docs/" + topic))
		if p := l.pages[o.URL("/docs/"+topic)]; !out.Retract || p.Stats.Changes != 0 {
			t.Errorf("%s: %v takes back its change: %v; %d changes", topic, out.Kind, out.Retract, p.Stats.Changes)
		}
	}
}
