package recrawl

import (
	"fmt"
	"strings"
	"testing"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

// needyRig is a rig whose site begins in /docs/ of an origin and keeps requisites.
func needyRig(t *testing.T, o *hostile.Origin, mode string, edit func(*config.Settings)) *rig {
	t.Helper()
	return newRig(t, func(c *Config, s *config.Settings) {
		s.Requisites = mode
		if edit != nil {
			edit(s)
		}
		site := config.Site{Name: "test", URL: o.URL("/docs/"), Settings: *s}
		compiled, err := scope.Compile(site)
		if err != nil {
			t.Fatal(err)
		}
		c.Sites = func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, compiled, nil }
	})
}

// found are URLs of an outcome, without the origin's name.
func foundIn(links []models.FoundLink, o *hostile.Origin) string {
	var list []string
	for _, link := range links {
		list = append(list, strings.TrimPrefix(link.URL, o.URL("")))
	}
	return strings.Join(list, " ")
}

const needyPage = `<meta name=robots content=nofollow><link rel=stylesheet href=/s.css><img src=a.png><img src=//cdn.example/b.png>
	<a href=c.png>text</a><img src=c.png><img src=/private/d.png>`

func TestRequisitesOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, page, links, requisites string }{
		{config.RequisitesOff, needyPage, "", ""},
		{config.RequisitesSite, needyPage, "", "/s.css /docs/a.png /docs/c.png"},
		{config.RequisitesAll, needyPage, "", "/s.css /docs/a.png http://cdn.example/b.png /docs/c.png"},
		{config.RequisitesAll, strings.Replace(needyPage, "nofollow", "index", 1), "/docs/c.png", "/s.css /docs/a.png http://cdn.example/b.png"},
		{config.RequisitesAll, `<img src=a.mp4><iframe src=e>`, "/docs/e", ""},
	} {
		o := listen(t, map[string]hostile.Answer{"/docs/": hostile.Whole(200, typed("text/html"), c.page)})
		r := needyRig(t, o, c.mode, func(s *config.Settings) {
			s.RequisitesFilter = config.Filter{Not: &config.Filter{Extension: []string{"mp4"}}}
		})
		page := pageOf(t, o.URL("/docs/"))
		out := r.turn(t.Context(), page, robotsRow(t, page, "User-agent: *\nDisallow: /private/"))
		wantKind(t, out, models.First)
		if got := foundIn(out.Links, o); got != c.links {
			t.Errorf("%s: links %q, want %q", c.mode, got, c.links)
		}
		if got := foundIn(out.Requisites, o); got != c.requisites {
			t.Errorf("%s: requisites %q, want %q", c.mode, got, c.requisites)
		}
		if !out.LinksKnown {
			t.Errorf("%s: the links are not known as a whole", c.mode)
		}
	}
}

// TestRequisitesInHeaders holds that what a page names in Link headers alone is needed as what it names itself: servers that render a page for
// the browser to go on with name their scripts so.
func TestRequisitesInHeaders(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/docs/": hostile.Whole(200, map[string]string{"Content-Type": "text/html", "Link": `<./start.js>; rel="modulepreload"; nopush, ` +
		`</a.css>;rel="preload StyleSheet";as=style, <i.png>; rel=preload; imagesrcset="j.png 2x", <no>; rel=next, <no>; rel=icon; anchor="/b"`}, `<base href=/e/><img src=a.png>`)})
	out := needyRig(t, o, config.RequisitesSite, nil).turn(t.Context(), pageOf(t, o.URL("/docs/")), robotsRow(t, pageOf(t, o.URL("/docs/")), ""))
	wantKind(t, out, models.First)
	if got, want := foundIn(out.Requisites, o), "/e/a.png /docs/start.js /a.css /docs/j.png /docs/i.png"; got != want {
		t.Errorf("requisites %q, want %q", got, want)
	}
}

// typed is a header with a Content-Type.
func typed(media string) map[string]string { return map[string]string{"Content-Type": media} }

// A page that is as it was names nothing new; of one whose copy is lost that is not known, and of one that was away what it names may have been
// given up: it is read whole, whatever it is asked on.
func TestRequisitesOfTheSameBytes(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/docs/": hostile.Whole(200, typed("text/html"), needyPage)})
	r := needyRig(t, o, config.RequisitesSite, nil)
	page := pageOf(t, o.URL("/docs/"))
	known := after(page, r.visit(page))
	again := r.visit(known)
	if wantKind(t, again, models.SameBytes); len(again.Requisites) > 0 {
		t.Errorf("requisites %s of the same bytes, want none", foundIn(again.Requisites, o))
	}
	for name, back := range map[string]func(*models.Page){
		"gone": func(p *models.Page) { p.State = models.StateGone }, "moved": func(p *models.Page) { p.State = models.StateMoved },
		"given up": func(p *models.Page) { p.State = models.StateExcluded }, "named again": func(p *models.Page) { p.Rule = models.RuleNamed },
	} {
		was := known
		was.ETag = `"1"`
		back(&was)
		if got := r.visit(was); len(got.Requisites) != 4 || !got.Unconditional {
			t.Errorf("requisites %s of a page that was %s, asked for whole: %v, want all four", foundIn(got.Requisites, o), name, got.Unconditional)
		}
	}
	known.Lost = true
	if got := r.visit(known); len(got.Requisites) != 4 {
		t.Errorf("requisites %s of a page whose copy is lost, want all four", foundIn(got.Requisites, o))
	}
}

// TestRequisiteOutsideTheScope visits what is there for the sake of others: a style leads to what it needs, and nothing else anywhere.
func TestRequisiteOutsideTheScope(t *testing.T) {
	t.Parallel()
	const style = `@import "t.css"; a{background:url(//cdn.example/b.png)}`
	o := listen(t, map[string]hostile.Answer{
		"/s.css":  hostile.Whole(200, typed("text/css"), style),
		"/e.html": hostile.Whole(200, typed("text/html"), `<a href=/docs/a>a</a><img src=/docs/b.png><link rel=canonical href=/docs/c>`),
		"/f.xml":  hostile.Whole(200, typed("application/xml"), `<urlset><url><loc>`+"http://h/"+`</loc></url></urlset>`),
		"/docs/x": hostile.Whole(200, typed("text/html"), `<a href=/docs/a>a</a><img src=/b.png>`),
	})
	r := needyRig(t, o, config.RequisitesAll, nil)
	for path, want := range map[string]struct{ links, requisites string }{
		"/s.css":  {"", "/t.css http://cdn.example/b.png"},
		"/e.html": {"", ""},
		"/f.xml":  {"", ""},
		"/docs/x": {"/docs/a", "/b.png"},
	} {
		page := pageOf(t, o.URL(path))
		page.Requisite = true
		out := r.visit(page)
		wantKind(t, out, models.First)
		if links, requisites := foundIn(out.Links, o), foundIn(out.Requisites, o); links != want.links || requisites != want.requisites {
			t.Errorf("%s: links %q and requisites %q, want %q and %q", path, links, requisites, want.links, want.requisites)
		}
		if out.LinksKnown != (want.links != "") || out.Listing != nil {
			t.Errorf("%s: links known %v, listing %v", path, out.LinksKnown, out.Listing)
		}
	}
	for _, request := range o.Requests() {
		if got := request.Header.Get("Accept"); got != "*/*" {
			t.Errorf("%s is asked for with Accept: %s, want */*", request.Path, got)
		}
	}
	outside := pageOf(t, o.URL("/s.css"))
	if out := r.visit(outside); out.Kind != models.Excluded {
		t.Errorf("a page outside the scope that is no requisite: %v, want it excluded", out.Kind)
	}
	outside.Requisite = true
	off := needyRig(t, o, config.RequisitesOff, nil).visit(outside)
	if wantKind(t, off, models.Excluded); off.Detail != "requisites: off" {
		t.Errorf("a requisite of a site that keeps none is excluded by %q", off.Detail)
	}
}

// TestRequisitesOnManyHosts: what a page needs lies on a hundred hosts at most, whatever it makes up; of those, all is kept.
func TestRequisitesOnManyHosts(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 300 {
		fmt.Fprintf(&body, "<img src=http://h%d.example/a.png><img src=http://h0.example/%d.png>", i, i)
	}
	o := listen(t, map[string]hostile.Answer{"/docs/": hostile.Whole(200, typed("text/html"), body.String())})
	out := needyRig(t, o, config.RequisitesAll, nil).visit(pageOf(t, o.URL("/docs/")))
	hosts := make(map[string]int)
	for _, f := range out.Requisites {
		hosts[f.Host]++
	}
	if len(hosts) != 100 || hosts["h0.example"] != 301 || hosts["h99.example"] != 1 || len(out.Requisites) != 400 {
		t.Errorf("%d requisites on %d hosts, %d on the first, want 400 on 100 and 301", len(out.Requisites), len(hosts), hosts["h0.example"])
	}
}

// TestRequisiteMoves judges where a requisite leads as it judges requisites, also on another host.
func TestRequisiteMoves(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/a.png":      hostile.Redirect(302, "/b.png"),
		"/c.png":      hostile.Redirect(301, "http://cdn.example/c.png"),
		"/docs/d.png": hostile.Redirect(301, "/docs/e.png"),
		"/docs/f":     hostile.Redirect(301, "http://cdn.example/f"),
	})
	for _, c := range []struct {
		mode, path string
		requisite  bool
		want       string
	}{
		{config.RequisitesSite, "/a.png", true, "/b.png"},
		{config.RequisitesSite, "/c.png", true, ""},
		{config.RequisitesAll, "/c.png", true, "http://cdn.example/c.png"},
		{config.RequisitesAll, "/docs/d.png", true, "/docs/e.png"},
		{config.RequisitesAll, "/docs/d.png", false, "/docs/e.png"},
		{config.RequisitesAll, "/docs/f", false, ""},
	} {
		page := pageOf(t, o.URL(c.path))
		page.Requisite = c.requisite
		out := needyRig(t, o, c.mode, nil).visit(page)
		wantKind(t, out, models.Moved)
		if got := foundIn(out.Links, o); got != c.want || out.Requisites != nil {
			t.Errorf("requisites: %s: %s leads to %q and needs %v, want %q", c.mode, c.path, got, out.Requisites, c.want)
		}
	}
}

// TestAPageInPlaceOfARequisite is as good as no answer: a server that shows its front page for what it does not have says so of the
// assets of its last release. One that asks for a log-in says nothing of them, and what is no requisite may become a page.
func TestAPageInPlaceOfARequisite(t *testing.T) {
	t.Parallel()
	const front = `<!doctype html><title>App</title><div id=root></div><script src=/app.2.js></script>`
	told := `<!doctype html><title>App</title><h1>Our shop</h1>` + strings.Repeat("<p>All that we sell is shown on this page, with its prices.</p>", 9)
	const login = `<!doctype html><title>Log in</title><form method=post><input name=user><input type=password name=word></form>`
	for name, c := range map[string]struct {
		media, body, then string
		page, missing     bool
	}{
		"a script":                {"text/javascript", "start({ one: 1, two: 2 })", front, false, true},
		"a style":                 {"text/css", "a { color: red } b { color: blue }", front, false, true},
		"an image":                {"image/png", "\x89PNG\x00", front, false, true},
		"a front page with words": {"text/javascript", "start({ one: 1, two: 2 })", told, false, true},
		"of an image with words":  {"image/png", "\x89PNG\x00", told, false, true},
		"a log-in":                {"text/javascript", "start({ one: 1, two: 2 })", login, false, false},
		"another page":            {"text/html", told, front, false, false},
		"no requisite":            {"text/javascript", "start({ one: 1, two: 2 })", told, true, false},
	} {
		o := listen(t, map[string]hostile.Answer{"/x": hostile.Then(hostile.Whole(200, typed(c.media), c.body), hostile.Whole(200, typed("text/html"), c.then))})
		l := newLife(t, nil)
		url := o.URL("/x")
		page := pageOf(t, url)
		page.Requisite = !c.page
		l.pages[url], l.host.Name = page, page.URL[len("http://"):strings.LastIndexByte(page.URL, '/')]
		wantKind(t, l.turn(url), models.First)
		out := l.turn(url)
		if got := out.Kind == models.Missing; got != c.missing {
			t.Errorf("%s: %v %v (%s), want it missing: %v", name, out.Kind, out.Class, out.Detail, c.missing)
		}
		if c.missing && (out.Detail != "answers 200 with a page in its place" || l.pages[url].Version != 1 || out.Body != nil) {
			t.Errorf("%s: %q, version %d, a body of %d bytes, want the copy that is held", name, out.Detail, l.pages[url].Version, len(out.Body))
		}
	}
}
