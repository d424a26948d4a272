package recrawl

import (
	"bytes"
	"hash/crc32"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
	"recrawld/recrawl/content"
	"recrawld/recrawl/scope"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	sites := func(int32) (config.Site, *scope.Scope, *content.Rules) { return config.Site{}, nil, nil }
	for name, c := range map[string]Config{
		"no agent": {Sites: sites}, "no sites": {Agent: config.Agent{Name: "recrawld"}},
	} {
		if v, err := New(c); err == nil || v != nil {
			t.Errorf("%s: New = %v, %v", name, v, err)
		}
	}
}

func TestRequestIsHonest(t *testing.T) {
	t.Parallel()
	for contact, want := range map[string]http.Header{
		"https://example.net/bot": {"User-Agent": {"recrawld/1.0 (+https://example.net/bot)"}},
		"bot@example.net":         {"User-Agent": {"recrawld/1.0 (+bot@example.net)"}, "From": {"bot@example.net"}},
		"":                        {"User-Agent": {"recrawld/1.0"}},
	} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "hello")})
		r := newRig(t, func(c *Config, _ *config.Settings) { c.Agent.Contact = contact })
		out := r.fetch(o.URL("/"))
		got := o.Requests()[0].Header
		want["Host"] = []string{o.Addr()}
		want["Accept"] = []string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
		want["Accept-Encoding"] = []string{"gzip"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request with contact %q (-want +got):\n%s", contact, diff)
		}
		for name, values := range got {
			if line := name + ": " + values[0] + "\r\n"; !bytes.Contains(out.Request, []byte(line)) {
				t.Errorf("Outcome.Request lacks %q:\n%s", line, out.Request)
			}
		}
		if !bytes.HasPrefix(out.Request, []byte("GET / HTTP/1.1\r\n")) || !bytes.HasSuffix(out.Request, []byte("\r\n\r\n")) {
			t.Errorf("Outcome.Request is no request head:\n%s", out.Request)
		}
	}
}

// TestPathsAreSentAsSpelled covers spellings that net/url would refuse or change.
func TestPathsAreSentAsSpelled(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/a%zz", "/100%", "/a|b^c", "/%7Euser/~x", "//double//slash", "//a?", "//a??", "/?", "/a?b?c=%20&d=|", "/a'b(c)*!"} {
		o := listen(t, map[string]hostile.Answer{path: hostile.Whole(200, nil, "found")})
		wantBody(t, newRig(t, nil).fetch(o.URL(path)), "found")
		if got := o.Requests()[0].Path; got != path {
			t.Errorf("asked for %q, want %q", got, path)
		}
	}
}

// TestPathsOfTwoSlashesAreSentAsSpelled where net/url cannot: as an absolute URL, which names the same.
func TestPathsOfTwoSlashesAreSentAsSpelled(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"//a%zz", "//a|b%2Fc"} {
		o := listen(t, nil)
		if out := newRig(t, nil).fetch(o.URL(path)); out.Status == 0 {
			t.Errorf("%s is not asked for: %s (%s)", path, out.Class, out.Detail)
			continue
		}
		if got := o.Requests()[0].Path; got != o.URL(path) {
			t.Errorf("asked for %q, want %q", got, o.URL(path))
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "hello"), "/gone": hostile.Whole(410, nil, "gone")})
	r := newRig(t, nil)
	r.robotsOf(pageOf(t, o.URL("/")))
	for _, path := range []string{"/", "/gone", "/missing", "/"} {
		r.fetch(o.URL(path))
	}
	for i, asked := range o.Requests() {
		if asked.Conn != 1 {
			t.Errorf("request %d came over connection %d, want all over one", i+1, asked.Conn)
		}
	}
}

func TestOutcomeOfAPage(t *testing.T) {
	t.Parallel()
	const page = `<html><head><title>The  title</title><link rel=canonical href=/self></head><body>
		<a href="one#part">1</a> <a href="/dir/one">again</a> <a href="http://other.test/x">o</a> <a href="mailto:a@b">m</a>
		<a rel=nofollow href=/unfollowed>n</a><a href="//other.test:81/y">p</a></body></html>`
	o := listen(t, map[string]hostile.Answer{"/dir/": hostile.Whole(200, map[string]string{
		"Content-Type": "Text/HTML; charset=utf-8", "Content-Encoding": "gzip", "ETag": `"1"`, "Last-Modified": revised,
		"Cache-Control": "max-age=3600",
	}, hostile.Gzipped(page))})
	out := newRig(t, nil).fetch(o.URL("/dir/"))
	wantBody(t, out, page)
	want := models.Outcome{
		Kind: models.First, At: today, Took: out.Took, Sent: 1, Status: 200, Proto: "HTTP/1.1", RemoteIP: "127.0.0.1",
		Header: out.Header, Request: out.Request, Body: []byte(page), WireBytes: int64(len(hostile.Gzipped(page))), HeadBytes: out.HeadBytes,
		ETag: `"1"`, LastModified: revised, FreshUntil: today.Add(3600e9), ContentType: "text/html", Title: "The title",
		Digest: models.DigestOf([]byte(page)), BodySum: crc32.ChecksumIEEE([]byte(page)), TextDigest: out.TextDigest, LinksKnown: true, LinkPrint: out.LinkPrint, Canonical: o.URL("/self"),
		Delay: 10e9,
		Links: []models.FoundLink{
			{URL: o.URL("/self"), Host: o.Addr(), Relative: true},
			{URL: o.URL("/dir/one"), Host: o.Addr(), Relative: true},
			{URL: "http://other.test/x", Host: "other.test"},
			{URL: "http://other.test:81/y", Host: "other.test:81"},
		},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	if out.Took <= 0 || out.TextDigest.IsZero() || out.LinkPrint == 0 {
		t.Errorf("Took = %v, TextDigest = %v", out.Took, out.TextDigest)
	}
}

// TestFeedsOfAHead: a head names the site's feed first and those of comments behind it, on each page other ones. What else leads to a
// feed, such as a link that is read, is followed anywhere.
func TestFeedsOfAHead(t *testing.T) {
	t.Parallel()
	const page = `<link rel=alternate type=application/rss+xml href=/feed/><link rel=alternate type=application/rss+xml href=/comments/feed/>
		<link rel=alternate type=application/rss+xml href=/post/feed/><link rel=alternate type=application/json+oembed href=/oembed><a href=/tag/feed/>`
	o := listen(t, map[string]hostile.Answer{"/post/": hostile.Whole(200, map[string]string{"Content-Type": "text/html"}, page)})
	for level, want := range []string{"/feed/ /comments/feed/ /post/feed/ /tag/feed/", "/feed/ /tag/feed/"} {
		post := pageOf(t, o.URL("/post/"))
		post.Level = int16(level)
		var got []string
		for _, link := range newRig(t, nil).visit(post).Links {
			path := strings.TrimPrefix(link.URL, o.URL(""))
			if got = append(got, path); link.List != (path != "/tag/feed/") {
				t.Errorf("level %d: %s is named as a list: %v", level, path, link.List)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("level %d: %v, want %s", level, got, want)
		}
	}
}

// TestLinksNotFollowed: a table in another order says nothing new, and what a link with a token asks for is not done.
func TestLinksNotFollowed(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/list": hostile.Whole(200, map[string]string{"Content-Type": "text/html"},
		`<table><tr><th><a href="?sort=name">Name</a></table><a href="?page=2">next</a><a href="?rate=5&amp;my_post_key=5451dae1545507f2">good</a>`)})
	if links := newRig(t, nil).visit(pageOf(t, o.URL("/list"))).Links; len(links) != 1 || links[0].URL != o.URL("/list?page=2") {
		t.Errorf("links %v, want the next page alone", links)
	}
}

func TestArchiveHead(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/gzip":    hostile.Gzip("<p>decoded"),
		"/chunked": hostile.Chunked("5\r\nhello\r\n0\r\n\r\n"),
		"/plain":   hostile.Whole(200, map[string]string{"X-Own": "yes"}, "plain"),
	})
	r := newRig(t, nil)
	packed := len(hostile.Gzipped("<p>decoded"))
	for path, want := range map[string][]string{
		"/gzip":    {"Content-Length: 10", "X-Archive-Orig-Content-Encoding: gzip", "X-Archive-Orig-Content-Length: " + strconv.Itoa(packed)},
		"/chunked": {"Content-Length: 5", "X-Archive-Orig-Transfer-Encoding: chunked"},
		"/plain":   {"Content-Length: 5", "X-Own: yes"},
	} {
		head := string(r.fetch(o.URL(path)).Header)
		lines := strings.Split(strings.TrimSuffix(head, "\r\n"), "\r\n")
		for _, line := range want {
			found := false
			for _, got := range lines {
				found = found || got == line
			}
			if !found {
				t.Errorf("%s: head lacks %q:\n%s", path, line, head)
			}
		}
		if strings.Contains("\n"+head, "\nContent-Encoding:") || strings.Contains("\n"+head, "\nTransfer-Encoding:") ||
			strings.Contains(head, "\r\n\r\n") {
			t.Errorf("%s: head does not fit a decoded body:\n%s", path, head)
		}
	}
}

func TestDirectives(t *testing.T) {
	t.Parallel()
	const link = "<a href=/x>x</a>"
	for _, test := range []struct {
		name, tag, body              string
		noIndex, noFollow, noArchive bool
	}{
		{"none", "", link, false, false, false},
		{"header", "noindex, noarchive", link, true, false, true},
		{"meta", "", "<meta name=robots content=nofollow>" + link, false, true, false},
		{"both", "noarchive", "<meta name=recrawld content=none>" + link, true, true, true},
		{"others", "otherbot: none", "<meta name=otherbot content=none>" + link, false, false, false},
	} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200,
			map[string]string{"Content-Type": "text/html", "X-Robots-Tag": test.tag}, test.body)})
		out := newRig(t, nil).fetch(o.URL("/"))
		wantKind(t, out, models.First)
		if out.NoIndex != test.noIndex || out.NoFollow != test.noFollow || out.NoArchive != test.noArchive {
			t.Errorf("%s: noindex %v, nofollow %v, noarchive %v", test.name, out.NoIndex, out.NoFollow, out.NoArchive)
		}
		if followed := len(out.Links) == 1; followed == test.noFollow || !out.LinksKnown {
			t.Errorf("%s: links %v, known %v", test.name, out.Links, out.LinksKnown)
		}
	}
}

func TestScopeAndLevel(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/docs/": hostile.Whole(200, map[string]string{"Content-Type": "text/html"},
			"<a href=a>a</a><a href=/other>o</a><a href=pic.jpg>p</a>"),
	})
	r := newRig(t, nil)
	site := config.Site{Name: "docs", URL: o.URL("/docs/"), Settings: r.settings}
	site.Settings.Level = 2
	site.Settings.Filter = config.Filter{Not: &config.Filter{Extension: []string{"jpg"}}}
	pages, err := scope.Compile(site)
	if err != nil {
		t.Fatal(err)
	}
	r.sites = func(int32) (config.Site, *scope.Scope, *content.Rules) { return site, pages, nil }

	page := pageOf(t, o.URL("/docs/"))
	page.Level = 1
	out := r.visit(page)
	if len(out.Links) != 1 || out.Links[0].URL != o.URL("/docs/a") {
		t.Errorf("links = %v, want the one in scope that the filter keeps", out.Links)
	}
	page.Level = 2
	if out := r.visit(page); len(out.Links) != 0 || !out.LinksKnown {
		t.Errorf("links beyond the level limit: %v", out.Links)
	}
	for _, path := range []string{"/other", "/docs/pic.jpg"} {
		out := r.fetch(o.URL(path))
		wantKind(t, out, models.Excluded)
		if out.Detail == "" || out.Sent != 0 {
			t.Errorf("%s: detail %q, Sent %d", path, out.Detail, out.Sent)
		}
	}
}

func TestTextDecidesBeyondBytes(t *testing.T) {
	t.Parallel()
	answer := func(body string) hostile.Answer {
		return hostile.Whole(200, map[string]string{"Content-Type": "text/html"}, body)
	}
	o := listen(t, map[string]hostile.Answer{"/": hostile.Then(answer("<script>1</script><p>text"),
		answer("<script>2</script><p>text"), answer("<script>2</script><p>other text"))})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	page = after(page, r.visit(page))
	out := r.visit(page)
	wantKind(t, out, models.SameText)
	if string(out.Body) != "<script>2</script><p>text" || out.TextDigest != page.TextDigest {
		t.Errorf("same text: body %q, same digest %v", out.Body, out.TextDigest == page.TextDigest)
	}
	wantKind(t, r.visit(after(page, out)), models.Changed)
}

func TestConnectionOfAnotherRequest(t *testing.T) {
	t.Parallel()
	p := &progress{cancel: func(error) {}}
	trace := p.trace(t.Context())
	conn, far := net.Pipe()
	defer far.Close()
	defer conn.Close()
	trace.GetConn("h:443")
	trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: true})
	p.at.Store(stageBody)
	trace.TLSHandshakeStart() // of the connection that was begun before the other was free
	if p.stage() != stageBody {
		t.Errorf("stage = %d, want that of the body", p.stage())
	}
}
