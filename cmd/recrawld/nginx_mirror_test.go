package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/sink"
)

// nginxPath finds nginx, which Debian keeps where not every PATH leads.
func nginxPath(t *testing.T) string {
	t.Helper()
	const debian = "/usr/sbin/nginx"
	if found, err := exec.LookPath("nginx"); err == nil {
		return found
	}
	if exec.Command(debian, "-v").Run() != nil {
		t.Skip("nginx is not installed (apt install nginx)")
	}
	return debian
}

// A mirror that nginx serves as docs/archive.md has it answers each address with the file that the mirror keeps for it, in a type that browsers
// show, and leads from a directory's name to the directory.
func TestNginxServesWhatTheMirrorHas(t *testing.T) {
	t.Parallel()
	nginx, mirror := nginxPath(t), t.TempDir()
	const site = "https://docs.example.org"
	for _, page := range []string{
		"/", "/?page=2", "/docs/", "/docs/?page=2", "/both", "/both/", "/bare/page.html", "/install", "/list.php", "/list.php?page=2", "/list?page=2", "/page.aspx",
		"/q?x=1&y=a/b", "/go?to=http://a.test/b", "/list?cat=5", "/list?2026-01", "/style.css?v=1.2", "/app.js?v=3", "/logo.svg?v=3", "/a.html", "/a.html/b.png",
	} {
		name := filepath.Join(mirror, filepath.FromSlash(sink.Name(site+page)))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("page "+page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(mirror, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := mirroredBy(t, nginx, mirror, "docs.example.org", "map $uri $moved { default \"\"; }\n")
	for _, c := range []struct {
		path, want, kind string
	}{
		{"/", "page /", "text/html"}, {"/?page=2", "page /?page=2", "text/html"}, {"/docs/", "page /docs/", "text/html"},
		{"/docs/?page=2", "page /docs/?page=2", "text/html"}, {"/docs", "301 /docs/", ""}, {"/docs?utm=1", "301 /docs/?utm=1", ""},
		{"/both", "page /both", "text/html"}, {"/both/", "page /both/", "text/html"}, {"/bare", "404", ""}, {"/bare/", "404", ""},
		{"/install", "page /install", "text/html"}, {"/list.php", "page /list.php", "text/html"}, {"/page.aspx", "page /page.aspx", "text/html"},
		{"/list.php?page=2", "page /list.php?page=2", "text/html"}, {"/list?page=2", "page /list?page=2", "text/html"},
		{"/q?x=1&y=a/b", "page /q?x=1&y=a/b", "text/html"}, {"/go?to=http://a.test/b", "page /go?to=http://a.test/b", "text/html"},
		{"/list?cat=5", "page /list?cat=5", "text/html"}, {"/list?2026-01", "page /list?2026-01", "text/html"},
		{"/style.css?v=1.2", "page /style.css?v=1.2", "text/css"}, {"/app.js?v=3", "page /app.js?v=3", "text/javascript"},
		{"/logo.svg?v=3", "page /logo.svg?v=3", "image/svg+xml"}, {"/a.html", "page /a.html", "text/html"}, {"/a.html/b.png", "page /a.html/b.png", ""},
		{"/a.html?/../../secret", "page /a.html", ""}, {"/a.html?////../../secret", "page /a.html", ""}, // a.html# is a directory
	} {
		if got, kind := asked(t, client, c.path); got != c.want || c.kind != "" && kind != c.kind {
			t.Errorf("%s: %q as %q, want %q as %q", c.path, got, kind, c.want, c.kind)
		}
	}
}

// asked is what a mirror answers for a path: a page, or a status and where it leads; and the type.
func asked(t *testing.T, client *http.Client, path string) (says, kind string) {
	t.Helper()
	response, err := client.Get("http://docs.mirror.example" + path)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		return strings.TrimSpace(fmt.Sprint(response.StatusCode, " ", response.Header.Get("Location"))), ""
	}
	return string(body), response.Header.Get("Content-Type")
}
