package folder

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"recrawld/internal/filename"
	"recrawld/internal/shared"
	"recrawld/recrawl/canon"
)

func TestNamesLookLikeTheirURLs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for _, test := range []struct{ url, mediaType, want string }{
		{"https://example.org/", "text/html", "example.org/index.html"},
		{"https://example.org/docs/", "text/html", "example.org/docs/index.html"},
		{"https://example.org/docs", "text/html", "example.org/docs.html"},
		{"https://example.org/docs.html", "text/html", "example.org/docs.html"},
		{"https://example.org/docs.htm", "text/html", "example.org/docs.htm"},
		{"https://example.org/list.php", "text/html", "example.org/list.php.html"},
		{"https://example.org/list.php?page=2", "text/html", "example.org/list.php~q-" + hash("page=2", 10) + ".html"},
		{"https://example.org/app.css?v=7", "text/css", "example.org/app~q-" + hash("v=7", 10) + ".css"},
		{"https://example.org/?", "text/html", "example.org/index~q-" + hash("", 10) + ".html"},
		{"https://example.org/a.html/b.png", "image/png", "example.org/a.html~d/b.png"},
		{"https://example.org//b.png", "image/png", "example.org/~d/b.png"},
		{"https://example.org/photo", "image/jpeg", "example.org/photo.jpg"},
		{"https://example.org/photo.JPEG", "image/jpeg", "example.org/photo.JPEG"},
		{"https://example.org/photo.png", "image/webp", "example.org/photo.png.webp"},
		{"https://example.org/v1.2", "text/html", "example.org/v1.2.html"},
		{"https://example.org/page.xhtml", "text/html", "example.org/page.xhtml.html"},
		{"https://example.org/evil.html", "text/plain", "example.org/evil.html.txt"},
		{"https://example.org/main.c", "text/plain", "example.org/main.c"},
		{"https://example.org/LICENSE", "text/plain", "example.org/LICENSE.txt"},
		{"https://example.org/data", "application/octet-stream", "example.org/data.bin"},
		{"https://example.org/data", "", "example.org/data.html"},
		{"https://example.org/data.svg", "", "example.org/data.svg"},
		{"https://example.org/m%C3%BCll%20x", "text/html", "example.org/müll x.html"},
		{"https://example.org/mu%cc%88ll", "text/html", "example.org/müll.html"},
		{"https://example.org/%41%28%2F%3A", "text/html", "example.org/A(%2F%3A.html"},
		{"https://example.org/100%25", "text/html", "example.org/100%25.html"},
		{"https://example.org/%ff", "text/html", "example.org/%FF.html"},
		{"https://example.org/a:b", "text/html", "example.org/a%3Ab.html"},
		{"https://example.org/con/aux.html", "text/html", "example.org/%63on/%61ux.html"},
		{"https://example.org/.htaccess", "text/plain", "example.org/%2Ehtaccess.txt"},
		{"https://example.org/.well-known/a.txt", "text/plain", "example.org/.well-known/a.txt"},
		{"https://example.org/end./a.", "text/html", "example.org/end%2E/a%2E.html"},
		{"http://example.org/", "text/html", "example.org_80/index.html"},
		{"https://example.org:8443/", "text/html", "example.org_8443/index.html"},
		{"https://index.html/", "text/html", "index.html~d/index.html"},
		{"http://[::1]:8080/a.txt", "text/plain", "%5B%3A%3A1%5D_8080/a.txt"},
		{"https://example.org/x~c-y", "text/html", "example.org/x%7Ec-y.html"},
		{"https://example.org/" + long, "text/html", "example.org/" + long[:200-3-26-5] + "~l-" + hash(long+".html", 26) + ".html"},
	} {
		if got := wished(test.url, test.mediaType); got != test.want {
			t.Errorf("wished(%.80q, %q) = %q, want %q", test.url, test.mediaType, got, test.want)
		}
	}
}

// checkName checks what must hold for the name of any file.
func checkName(t interface {
	Helper()
	Fatalf(string, ...any)
}, url, name string) {
	t.Helper()
	if !filepath.IsLocal(name) || filepath.ToSlash(filepath.Clean(name)) != name || len(name) > maxName || !utf8.ValidString(name) ||
		!norm.NFC.IsNormalString(name) {
		t.Fatalf("the name of %q is %q", url, name)
	}
	parts := strings.Split(name, "/")
	if name == start || len(parts) < 2 {
		t.Fatalf("the name of %q is %q, which is ours", url, name)
	}
	for i, part := range parts {
		if part == "" || len(part) > filename.MaxPart || strings.ContainsAny(part, "\x00\r\n<>:\"|?*\\") || filename.Reserved(part) ||
			strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " ") ||
			strings.HasPrefix(part, ".") && part != ".well-known" {
			t.Fatalf("the name of %q is %q with the part %q", url, name, part)
		}
		if file := i == len(parts)-1; i > 0 && file != filename.LooksLikeFile(part) {
			t.Fatalf("the name of %q is %q, where %q may be a file and a directory", url, name, part)
		}
	}
}

// settled are the names of pages.
func settled(t *testing.T, pages map[string]string) map[string]string {
	t.Helper()
	c := newCatalogue(t.TempDir())
	defer c.close()
	for url, mediaType := range pages {
		if err := c.page(url, mediaType, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.settle(t.Context(), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	for url := range pages {
		name, err := c.held(url)
		if err != nil {
			t.Fatal(err)
		}
		names[url] = name
	}
	return names
}

// checkNames checks that no system takes two names for the same.
func checkNames(t *testing.T, names map[string]string) {
	t.Helper()
	urls := make(map[string]string)
	for url, name := range names {
		checkName(t, url, name)
		if other, taken := urls[folded(name)]; taken {
			t.Fatalf("%q and %q are both %q", url, other, name)
		}
		urls[folded(name)] = url
	}
}

// The names of pages whose wishes clash: the one that comes first by URL has its wish.
func TestNamesThatClash(t *testing.T) {
	t.Parallel()
	names := settled(t, map[string]string{
		"https://example.org/a": "text/html", "https://example.org/A": "text/html", "https://example.org/a.html": "text/html",
		"https://example.org/%61": "text/html", "https://example.org/" + "a~c-" + hash("https://example.org/a", 26): "text/html",
		"https://example.org/%C3%BC": "text/html", "https://example.org/u%CC%88": "text/html",
	})
	checkNames(t, names)
	for url, want := range map[string]string{
		"https://example.org/%61": "example.org/a.html",
		"https://example.org/A":   "example.org/A~c-" + hash("https://example.org/A", 26) + ".html",
		"https://example.org/a":   "example.org/a~c-" + hash("https://example.org/a", 26) + ".html",
	} {
		if names[url] != want {
			t.Errorf("the name of %s is %q, want %q", url, names[url], want)
		}
	}
}

// Whatever URLs a site thinks up, names are different, stay below the root, and can be had on any system.
func TestNamesAreApartInsideAndPortable(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.SampledFrom([]string{"a", "A", "a.html", ".html", "~c-", "~C-", "～c-", "~d", "~q-aaaaaaaaaa", "con", "%63on", "..", ".",
		"%2e", "%2F", "%5c", "%00", "%FF", "index", "index.html", "%C3%BC", "u%CC%88", "%e2%84%aa", "K", "%20", "/", "//", "?", "?a", ":", "*", "%EF%BD%9E",
		strings.Repeat("x", 200), strings.Repeat("%C3%BC", 80), hash("https://example.org/a", 26)}), rapid.String())
	types := rapid.SampledFrom([]string{"text/html", "text/plain", "image/png", "", "application/octet-stream", "text/css"})
	hosts := rapid.SampledFrom([]string{"https://example.org/", "http://example.org/", "https://index.html/", "https://con/", "https://[::1]:9/"})
	rapid.Check(t, func(rt *rapid.T) {
		pages := make(map[string]string)
		for range rapid.IntRange(1, 30).Draw(rt, "pages") {
			raw := hosts.Draw(rt, "host") + strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(rt, "pieces"), "")
			if u, err := canon.Parse(raw); err == nil {
				pages[u.String()] = types.Draw(rt, "type")
			}
		}
		checkNames(t, settled(t, pages))
	})
}

func TestNamesOfHostileStrings(t *testing.T) {
	t.Parallel()
	f, err := os.Open(shared.Path(t, "conformance/path-traversal/paths.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pages := make(map[string]string)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct{ Path string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		for i, url := range []string{"https://example.org/%s", "https://example.org/a/%s/b.html", "https://example.org/a.html?%s", "http://%s/"} {
			url = fmt.Sprintf(url, strings.ReplaceAll(line.Path, "\x00", "%00"))
			pages[url] = []string{"text/html", "text/plain", "", "image/png"}[i]
		}
	}
	checkNames(t, settled(t, pages))
	if len(pages) < 5000 {
		t.Errorf("%d URLs, want at least 5000", len(pages))
	}
}
