package sink

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/shared"
)

func TestNamesLookLikeTheirURLs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for url, want := range map[string]string{
		"https://example.org/":                       "example.org/index.html",
		"https://example.org/?q":                     "example.org/index.html#q",
		"https://example.org/?":                      "example.org/index.html##",
		"https://example.org/docs/":                  "example.org/docs/index.html",
		"https://example.org/docs":                   "example.org/docs#.html",
		"https://example.org/docs?":                  "example.org/docs##.html",
		"https://example.org/docs?.html":             "example.org/docs##2Ehtml.html",
		"https://example.org/docs.html":              "example.org/docs.html",
		"https://example.org/docs/install.html":      "example.org/docs/install.html",
		"https://example.org/docs/index.html":        "example.org/docs/#index.html",
		"https://example.org/docs/Index.HTML?a":      "example.org/docs/#Index.HTML#a",
		"https://example.org/list.php?page=2&x=/a?b": "example.org/list.php#page=2&x=#2Fa#3Fb",
		"https://example.org/list.php?AB=2":          "example.org/list.php##41B=2",
		"https://example.org/list.php?~a":            "example.org/list.php##7Ea",
		"https://example.org/list?page=2":            "example.org/list#page=2.html",
		"https://example.org/a.html/b.png":           "example.org/a.html#/b.png",
		"https://example.org/v1.2/b.png":             "example.org/v1.2/b.png",
		"https://example.org//b.png":                 "example.org/#/b.png",
		"https://example.org/~user/Help:Me.html":     "example.org/~user/Help#3AMe.html",
		"https://example.org/m%C3%BCll%20x.html":     "example.org/müll x.html",
		"https://example.org/m%c3%bcll%2Fx.html":     "example.org/m%c3%bcll%2Fx.html",
		"https://example.org/%FF%00%2E%41.html":      "example.org/%FF%00%2E%41.html",
		"https://example.org/100%.html":              "example.org/100%.html",
		"https://example.org/.htaccess":              "example.org/#2Ehtaccess#.html",
		"https://example.org/.git/config":            "example.org/#2Egit/config#.html",
		"https://example.org/.well-known/a.txt":      "example.org/.well-known/a.txt",
		"https://example.org/con/aux.html":           "example.org/#con/#aux.html",
		"https://example.org/end./a.":                "example.org/end#2E/a#2E#.html",
		"https://example.org/a%20/%20b.png":          "example.org/a%20/%20b.png",
		"http://example.org/":                        "example.org_80/index.html",
		"http://example.org:8080/":                   "example.org_8080/index.html",
		"https://example.org:8443/":                  "example.org_8443/index.html",
		"http://example.org:8443/":                   "example.org_8443_http/index.html",
		"https://my_host.example.org/":               "my#5Fhost.example.org/index.html",
		"http://[::1]:8080/a.txt":                    "#5B#3A#3A1#5D_8080/a.txt",
		"https://example.org/../../etc/passwd":       "example.org/#2E#2E/#2E#2E/etc/passwd#.html",
		"https://example.org/" + long + ".html":      "example.org/" + long[:161] + "#~" + hashOf(long+".html") + ".html",
	} {
		if got := Name(url); got != want {
			t.Errorf("Name(%.80q) = %q, want %q", url, got, want)
		}
	}
}

// checkName checks what must hold for every URL and returns its name.
func checkName(t *testing.T, url string) string {
	t.Helper()
	got := Name(url)
	for _, name := range []string{got, FoldedName(url)} {
		if !filepath.IsLocal(name) || filepath.ToSlash(filepath.Clean(name)) != name || len(name) > maxName {
			t.Fatalf("Name(%q) = %q leaves the tree", url, name)
		}
		for part := range strings.SplitSeq(name, "/") {
			bad := part == "" || len(part) > maxPart || strings.ContainsAny(part, "\x00\r\n<>:\"|?*\\") ||
				strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " ") ||
				(strings.HasPrefix(part, ".") && part != ".well-known")
			if bad {
				t.Fatalf("Name(%q) = %q has the part %q", url, name, part)
			}
		}
	}
	back, err := URL(got)
	if err == nil && back != url {
		t.Fatalf("URL(Name(%q)) = %q, by way of %q", url, back, got)
	}
	if err != nil && !errors.Is(err, ErrCut) {
		t.Fatalf("URL(Name(%q)): %v", url, err)
	}
	return got
}

// names checks that no two URLs share a name, and that no name is a directory of another one.
type names map[string]string

func (n names) add(t *testing.T, url string) {
	t.Helper()
	name := checkName(t, url)
	if other, ok := n[name]; ok && other != url {
		t.Fatalf("%q and %q share the name %q", url, other, name)
	}
	n[name] = url
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		n[name[:i]] = "/" // a directory: no URL is that
	}
}

func TestFault_116_NamesOfHostileStringsStayInTheTree(t *testing.T) {
	t.Parallel()
	known := names{}
	for _, s := range hostileStrings(t) {
		for _, url := range []string{
			"https://example.org/" + s, "https://example.org/a/" + s + "/b.html", "https://example.org/a.html?" + s,
			"https://example.org/" + s + "?" + s, "http://" + s + "/", s,
		} {
			known.add(t, url)
		}
	}
	if len(known) < 10_000 {
		t.Errorf("%d names, want at least 10000", len(known))
	}
}

func hostileStrings(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(shared.Path(t, "conformance/path-traversal/paths.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct{ Path string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		out = append(out, line.Path)
	}
	raw, err := os.ReadFile(shared.Path(t, "conformance/naughty-strings/blns.base64.json"))
	if err != nil {
		t.Fatal(err)
	}
	var encoded []string
	if err := json.Unmarshal(raw, &encoded); err != nil {
		t.Fatal(err)
	}
	for _, e := range encoded {
		s, err := base64.StdEncoding.DecodeString(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(s))
	}
	return out
}

func TestFault_116_AMillionNamesDiffer(t *testing.T) {
	t.Parallel()
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	random := rand.New(rand.NewPCG(1, 2))
	known := make(names, 2*n)
	for range n {
		known.add(t, randomURL(random))
	}
}

// randomURL is made of few and telling pieces, so that near misses are common.
func randomURL(random *rand.Rand) string {
	hosts := []string{"a.org", "a.org:80", "a.org:443", "a.org:8443", "a_80.org", "a.org_80", "[::1]", "con", "A.org", "a.org."}
	pieces := []string{"a", "b", "A", ".", "..", "html", ".html", "index.html", "Index.html", "index", "#", "%23", "%2F", "%41",
		"%C3%BC", "%c3%bc", "u%CC%88", "%20", "%", "~", "con", "nul.txt", "=", "&", "?", "AB", "6C", ":", "_80", "%E2%80%AE",
		"\x00", "ü", " ", "0", "x1", strings.Repeat("l", 90)}
	var b strings.Builder
	b.WriteString([]string{"http://", "https://"}[random.IntN(2)] + hosts[random.IntN(len(hosts))])
	for range 1 + random.IntN(3) {
		b.WriteByte('/')
		for range random.IntN(4) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
	}
	if random.IntN(3) == 0 {
		b.WriteByte('?')
		for range random.IntN(4) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
	}
	return b.String()
}

func TestFault_116_FoldedNamesDifferWithoutCase(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	known := map[string]string{}
	for range 50_000 {
		url := randomURL(random)
		name := strings.ToLower(FoldedName(url))
		if other, ok := known[name]; ok && other != url {
			t.Fatalf("%q and %q share the folded name %q", url, other, name)
		}
		known[name] = url
	}
}

func TestURLRefusesOtherNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a", "/", "example.org", "example.org/", "example.org/a", "../a.html", "example.org/a.html/b.png",
		"example.org_443/index.html", "example.org_1_2_3/index.html", "EXAMPLE.org/index.html", "example.org/a:b.html"} {
		if url, err := URL(name); err == nil {
			t.Errorf("URL(%q) = %q, want an error", name, url)
		}
	}
}

func FuzzMirrorName(f *testing.F) {
	for _, s := range []string{"https://a.org/", "https://a.org/a/b.html?c", "http://a.org:81/%C3%BC/", "https://a.org/con", "x"} {
		f.Add(s, s+"#")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		nameA, nameB := checkName(t, a), checkName(t, b)
		if a != b && (nameA == nameB || strings.HasPrefix(nameA, nameB+"/") || strings.HasPrefix(nameB, nameA+"/")) {
			t.Errorf("%q and %q have the names %q and %q", a, b, nameA, nameB)
		}
	})
}

func ExampleName() {
	fmt.Println(Name("https://example.org/docs/install.html"))
	// Output: example.org/docs/install.html
}
