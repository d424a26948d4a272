package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawld/models"
	"recrawld/scheduler"
)

// movingSite has pages that lead elsewhere, by what they are answered with.
func movingSite(t *testing.T) *httptest.Server {
	t.Helper()
	leads := map[string]struct {
		status int
		to     string
	}{
		"/Old": {301, "/old"}, "/list?page=2": {308, "/list/2?a=%24&b=$"}, "/away": {301, "http://127.0.0.1:1/there"}, "/start": {302, "/here/"},
		"/outside": {301, "/none/x"}, "/a%22b?x=\\": {301, "/quoted"}, "/slashes": {301, "//other.test/x"}, "/there": {301, "/back"}, "/back": {301, "/there"},
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lead, moved := leads[r.URL.RequestURI()]
		switch {
		case moved && strings.HasPrefix(lead.to, "//"):
			http.Redirect(w, r, "http://"+r.Host+lead.to, lead.status)
		case moved:
			http.Redirect(w, r, lead.to, lead.status)
		case r.URL.Path == "/robots.txt", strings.HasPrefix(r.URL.Path, "/none/"):
			http.NotFound(w, r)
		case r.URL.Path == "/":
			_, _ = w.Write([]byte(`<title>Start</title><p>See <a href=/Old>a</a> <a href=/old>b</a> <a href="/list?page=2">c</a> <a href=/away>d</a> <a href=/start>e</a> <a href=/outside>f</a> <a href='/a"b?x=\'>g</a> <a href=/slashes>h</a> <a href=/there>i</a> <a href=/back>j</a>`))
		default:
			_, _ = w.Write([]byte("<title>" + r.URL.Path + "</title><p>This is the page " + r.URL.RequestURI()))
		}
	}))
	t.Cleanup(site.Close)
	return site
}

// mirroredBy starts nginx as docs/archive.md has it for a mirror, and returns a client that asks it whatever the host.
func mirroredBy(t *testing.T, nginx, mirror, directory, moved string) *http.Client {
	t.Helper()
	text, err := os.ReadFile("../../docs/archive.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```nginx\n")
	if len(blocks) != 3 {
		t.Fatalf("docs/archive.md shows %d configurations, want 2", len(blocks)-1)
	}
	first, _, _ := strings.Cut(blocks[1], "```")
	second, _, _ := strings.Cut(blocks[2], "```")
	_, inside, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(first), "}"), "{\n")
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	shown := strings.NewReplacer("    # … as above\n", "    listen unix:"+socket+";\n"+inside).Replace(second)
	shown = strings.NewReplacer("/etc/nginx/recrawld-moved.conf", filepath.Join(dir, "moved.conf"), "/srv/mirror/docs.example.org", filepath.Join(mirror, directory),
		"docs.example.org;", directory+";").Replace(shown)
	conf := "daemon off; master_process off; pid " + dir + "/pid; error_log stderr notice; events {}\nhttp { access_log off; client_body_temp_path " + dir +
		"; proxy_temp_path " + dir + "; fastcgi_temp_path " + dir + "; uwsgi_temp_path " + dir + "; scgi_temp_path " + dir + ";\n" + shown + "}\n"
	for name, text := range map[string]string{"nginx.conf": conf, "moved.conf": moved} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), nginx, "-t", "-p", dir, "-c", "nginx.conf").CombinedOutput(); err != nil {
		t.Fatalf("nginx does not take the configuration: %v\n%s\n%s", err, out, conf+moved)
	}
	startNginx(t, exec.CommandContext(t.Context(), nginx, "-p", dir, "-c", "nginx.conf"))
	return &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// startNginx returns once it listens, which it is before it waits for anybody.
func startNginx(t *testing.T, server *exec.Cmd) {
	t.Helper()
	says, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for lines := bufio.NewScanner(says); lines.Scan(); {
		if strings.Contains(lines.Text(), "event method") {
			return
		}
		t.Log(lines.Text())
	}
	t.Fatal("nginx does not begin")
}

// A mirror that nginx serves leads readers to where pages have moved, and a page that differs from one that moved in case alone is served.
func TestNginxLeadsToWherePagesMoved(t *testing.T) {
	t.Parallel()
	nginx, site := nginxPath(t), movingSite(t)
	config, data := configure(t, "")
	runUntil(t, func() bool {
		done := 0
		for _, p := range dumpOf(t, data).Pages {
			if p.Visits > 0 && p.Version > 0 || p.State == models.StateMoved || p.Class == models.RedirectLoop {
				done++
			}
		}
		return done == 15
	}, "run", "-c", config, site.URL)
	mirror := filepath.Join(data, "mirror")
	entries, err := filepath.Glob(filepath.Join(mirror, "127.0.0.1_*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the mirror has %v, %v", entries, err)
	}
	client := mirroredBy(t, nginx, mirror, filepath.Base(entries[0]), must(t, "sink", "redirects", "-c", config))
	for path, want := range map[string]string{
		"/Old": "/old", "/old": "This is the page /old", "/OLD": "404", "/list?page=2": "/list/2?a=%24&b=%24", "/list?page=3": "404",
		"/away": "http://127.0.0.1:1/there", "/start": "/here/", "/here/": "This is the page /here/", "/outside": site.URL + "/none/x", `/a%22b?x=\`: "/quoted", "/slashes": site.URL + "//other.test/x", "/there": "404", "/back": "404",
		"/": "See <a",
	} {
		response, err := client.Get("http://docs.mirror.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			t.Fatal(err)
		}
		switch {
		case response.StatusCode == http.StatusFound:
			if to := response.Header.Get("Location"); to != want {
				t.Errorf("%s leads to %s, want %s", path, to, want)
			}
		case response.StatusCode == http.StatusNotFound && want == "404":
		case response.StatusCode != http.StatusOK || !strings.Contains(string(got), want):
			t.Errorf("%s: %d, %q; want %q", path, response.StatusCode, got, want)
		}
	}
}

// No word is longer than nginx takes, whatever a site has for addresses: one that is keeps it from reading any of its configuration.
func TestRedirectsAreNoLongerThanNginxTakes(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	long := redirect{key: "docs.example.org/?" + strings.Repeat(`\`, longestNginx/2), where: "/"}
	if err := writeNginx(&out, []redirect{{key: "docs.example.org/a", where: "/b"}, long}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > longestNginx {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	if !strings.Contains(out.String(), "too long: 1 page.\n") {
		t.Errorf("it does not say that one is left out:\n%s", out.String())
	}
}

// A page is not led to one that is known to lead round in a circle, though it was itself visited before that was found out.
func TestNobodyIsLedIntoACircle(t *testing.T) {
	t.Parallel()
	path, data := configure(t, "")
	d, db := built(t, path), openTables(t, data)
	const site = "http://docs.example.org"
	var found []models.Discovery
	for _, page := range []string{"/there", "/back", "/far", "/a", "/b"} {
		found = append(found, models.Discovery{Page: scheduler.NewPage(site+page, "docs.example.org", 1, 0, 4), Host: "docs.example.org"})
	}
	if _, err := d.store.AddPages(t.Context(), d.clock.Now(), found, 0); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"/there": site + "/back", "/far": site + "/there", "/a": site + "/b"} {
		if _, err := db.Exec("UPDATE pages SET state = $1, visits = 1, redirect_to = $2 WHERE url = $3", models.StateMoved, to, site+from); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("UPDATE pages SET visits = 1, failures = 1, class = $1 WHERE url = $2", models.RedirectLoop, site+"/back"); err != nil {
		t.Fatal(err)
	}
	out := must(t, "sink", "redirects", "-c", path)
	if !strings.Contains(out, "/a") || strings.Contains(out, "/there") {
		t.Errorf("of /a, which moved to /b, and /there, whose /back leads to it, the mirror leads on by\n%s\nwant /a alone", out)
	}
}
