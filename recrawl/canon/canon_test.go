package canon

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://Example.ORG":                     "http://example.org/",
		"https://example.org:443/a/../b":         "https://example.org/b",
		"http://example.org:443/":                "http://example.org:443/",
		"http://example.org./x":                  "http://example.org/x",
		"  https://user:secret@example.org/#top": "https://example.org/",
		"http://0x7f.1/":                         "http://127.0.0.1/",
		"http://bücher.example/ü?ü":              "http://xn--bcher-kva.example/%C3%BC?%C3%BC",
		"http://a/\xe9":                          "http://a/%E9",
		"http://a/\x00":                          "http://a/",
		"http://a/\x00b":                         "http://a/%00b",
		"http://[::0001]:80/":                    "http://[::1]/",
		"http://a?":                              "http://a/?",
		"http://a/.hidden/%2e%2E/x":              "http://a/x",
	} {
		u, err := Parse(raw)
		if err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %q, %v, want %q", raw, u, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]error{
		"ftp://a/":                        ErrScheme,
		"javascript:alert(1)":             ErrScheme,
		"file:///etc/passwd":              ErrScheme,
		"/path":                           ErrSyntax,
		"":                                ErrSyntax,
		"http://":                         ErrSyntax,
		"http://a b/":                     ErrSyntax,
		"http://a\x00b/":                  ErrSyntax,
		"http://\xff/":                    ErrSyntax,
		"http://256.256.256.256/":         ErrSyntax,
		"http://a..b/":                    ErrHost,
		"http://[[::1]]/":                 ErrSyntax,
		"http://+1/":                      ErrSyntax,
		"http://1.2.3.0x-4./":             ErrSyntax,
		"http://1.2.3.0-4/":               ErrSyntax,
		"http://" + longOf("@")[:9999]:    ErrHost,
		"http://./":                       ErrHost,
		"http://a/" + longOf("b"):         ErrTooLong,
		"http://a/" + longOf("é")[:16000]: ErrTooLong,
	} {
		if u, err := Parse(raw); !errors.Is(err, want) || !u.IsZero() {
			t.Errorf("Parse(%.40q) = %q, %v, want %v", raw, u, err, want)
		}
	}
}

func longOf(s string) string { return strings.Repeat(s, MaxBytes) }

func TestResolve(t *testing.T) {
	t.Parallel()
	const base = "https://example.org/dir/page?q=1"
	for ref, want := range map[string]string{
		"":                  base,
		"#top":              base,
		"?r":                "https://example.org/dir/page?r",
		"next":              "https://example.org/dir/next",
		"./next":            "https://example.org/dir/next",
		"../next#x":         "https://example.org/next",
		"/root":             "https://example.org/root",
		"//other/x":         "https://other/x",
		"\\\\other\\x":      "https://other/x",
		"http:other":        "http://other/",
		"https:same":        "https://example.org/dir/same",
		" a\tb\n":           "https://example.org/dir/ab",
		"a:80/":             "",
		"http://other:80/y": "http://other/y",
	} {
		page, err := Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		if u, _ := page.Resolve(ref); u.String() != want {
			t.Errorf("Resolve(%q) = %q, want %q", ref, u, want)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	type parts struct{ scheme, hostname, port, hostName, origin, path, query, requestURI, directory string }
	for raw, want := range map[string]parts{
		"https://example.org": {"https", "example.org", "", "example.org", "https://example.org", "/", "", "/",
			"https://example.org/"},
		"http://example.org:8080/a/b?c/d": {"http", "example.org", "8080", "example.org:8080", "http://example.org:8080",
			"/a/b", "c/d", "/a/b?c/d", "http://example.org:8080/a/"},
		"http://[2001:DB8::1]:81/x?": {"http", "[2001:db8::1]", "81", "[2001:db8::1]:81", "http://[2001:db8::1]:81", "/x", "",
			"/x?", "http://[2001:db8::1]:81/"},
	} {
		u, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := parts{u.Scheme(), u.Hostname(), u.Port(), u.HostName(), u.Origin(), u.Path(), u.Query(), u.RequestURI(),
			u.Directory()}
		if got != want {
			t.Errorf("parts of %q = %+v, want %+v", raw, got, want)
		}
	}
}

func TestZeroURL(t *testing.T) {
	t.Parallel()
	var u URL
	if s := u.String() + u.Hostname() + u.Port() + u.HostName() + u.Origin() + u.Path() + u.Query(); s != "" || !u.IsZero() {
		t.Errorf("the zero URL has parts: %q", s)
	}
	if u.IsLoopback() || u.Directory() != "" {
		t.Errorf("the zero URL is loopback or has a directory %q", u.Directory())
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"http://localhost:8080/": true, "http://127.9.9.9/": true, "http://2130706433/": true, "http://[::1]/": true,
		"http://[::ffff:127.0.0.1]/": true, "http://LOCALHOST./": true,
		"http://example.org/": false, "http://localhost.example.org/": false, "http://10.0.0.1/": false, "http://0.0.0.0/": false,
	} {
		u, err := Parse(raw)
		if err != nil || u.IsLoopback() != want {
			t.Errorf("IsLoopback(%q) = %v (%v), want %v", raw, u.IsLoopback(), err, want)
		}
	}
}

func TestIsRelativeRef(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]bool{
		"": true, "a": true, "/a": true, "?q": true, "#f": true, " ../a:b": true, "\\a": true,
		"//host": false, "\\/host": false, "\t/\n/host": false, "http://host": false, "HTTPS:host": false, "mailto:x": false,
	} {
		if got := IsRelativeRef(ref); got != want {
			t.Errorf("IsRelativeRef(%q) = %v, want %v", ref, got, want)
		}
	}
}

// pieces is what the property tests and the fuzz seeds put URLs together from.
var pieces = []string{"http://", "https://", "HTTP:", "//", "/", "\\", ".", "..", "%2e", "%2E%2e", "a", "B", "example.org",
	"xn--bcher-kva", "ü", "127.1", "0x7f", "[::1]", "+1", "0x-1", "[", "]", ".well", ".%2e", ":80", ":443", ":8080", ":", "@", "?", "#", " ", "\t", "%", "%zz", "%C3",
	"\xff", "\x00", "'", "\"", "<", "|", "^", "ß", "。", "\u200d", "_", "-", "~", "&", "=", "{", "}", "`"}

func TestCanonicalIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "parts")
		base := rapid.SampledFrom([]string{"http://b/c/d?e", "https://b:8443/", "http://[::1]/x/"}).Draw(t, "base")
		checkCanon(t, base, strings.Join(parts, ""))
	})
}

func FuzzCanon(f *testing.F) {
	for _, piece := range pieces {
		f.Add("http://example.org/dir/page?q", piece)
		f.Add("https://example.org", "http://"+piece+"/"+piece+"?"+piece+"#"+piece)
	}
	f.Fuzz(func(t *testing.T, base, ref string) { checkCanon(t, base, ref) })
}

type failer interface {
	Fatalf(format string, args ...any)
}

// checkCanon holds a reference to what must be true of all: the fast way and the standard's agree, the result is a
// canonical URL by the same standard, and its parts put together are itself.
func checkCanon(t failer, base, ref string) {
	page, err := Parse(base)
	if err != nil {
		page = URL{}
	}
	if fast, ok := page.resolveFast(ref); ok {
		if slow, err := parse(page.s, ref); err != nil || slow != fast {
			t.Fatalf("resolveFast(%q, %q) = %+v, the standard says %+v, %v", base, ref, fast, slow, err)
		}
	}
	u, err := page.Resolve(ref)
	if err != nil {
		if !u.IsZero() {
			t.Fatalf("Resolve(%q, %q) = %q with error %v", base, ref, u, err)
		}
		return
	}
	for _, again := range []func() (URL, error){
		func() (URL, error) { return Parse(u.String()) },
		func() (URL, error) { return parse("", u.String()) },
		func() (URL, error) { return page.Resolve(u.String()) },
	} {
		if v, err := again(); err != nil || v != u {
			t.Fatalf("of %q, canonical %+v: read again %+v, %v", ref, u, v, err)
		}
	}
	if !crawled(u.Scheme()) || u.Hostname() == "" || !strings.HasPrefix(u.Path(), "/") ||
		u.Origin() != u.Scheme()+"://"+u.HostName() || u.Origin()+u.RequestURI() != u.String() ||
		strings.ContainsAny(u.String(), "#\x00 \t\r\n") {
		t.Fatalf("of %q: bad parts in %+v", ref, u)
	}
}

func BenchmarkResolve(b *testing.B) {
	page, err := Parse("https://example.org/dir/page")
	if err != nil {
		b.Fatal(err)
	}
	for name, ref := range map[string]string{"fast": "/.dir/%C3%A9?x=1#y", "standard": "../dir/other's?x=1#y"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := page.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Hosts with a port and addresses take the fast way too, where they are written as the standard writes them.
func TestParseFastReadsPortsAndAddresses(t *testing.T) {
	t.Parallel()
	for raw, fast := range map[string]bool{
		"http://example.org:8080/a?b":  true,
		"http://127.1.0.9:43210/a":     true,
		"http://example.org:443/":      true,
		"https://example.org:80/":      true,
		"http://192.0.2.7/":            true,
		"http://example.org:80/":       false,
		"https://example.org:443/":     false,
		"http://example.org:08080/":    false,
		"http://example.org:/":         false,
		"http://example.org:65536/":    false,
		"http://127.1/":                false,
		"http://192.0.2.07/":           false,
		"http://192.0.2.256/":          false,
		"http://user@example.org:81/a": false,
	} {
		got, ok := parseFast(raw)
		if ok != fast {
			t.Errorf("parseFast(%q) = %v, want %v", raw, ok, fast)
		}
		if want, err := parse("", raw); ok && (err != nil || got != want) {
			t.Errorf("parseFast(%q) = %+v, the standard says %+v, %v", raw, got, want, err)
		}
	}
}

// What is wrong with a line of a list is said in words that its author knows, and the line is not repeated.
func TestErrorsAreForPeople(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"foo bar":     `parse URL "foo bar": not a URL: it does not begin with http:// or https://`,
		"http://a b/": `parse URL "http://a b/": not a URL: `,
	} {
		_, err := Parse(raw)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "Url:") || strings.Count(err.Error(), raw) > 1 {
			t.Errorf("Parse(%q): %v, want %q", raw, err, want)
		}
	}
}

// TestFault_050_AliasesOfAHost: whatever form a host is written in, its URL is one.
func TestFault_050_AliasesOfAHost(t *testing.T) {
	t.Parallel()
	for want, forms := range map[string][]string{
		"http://example.org/": {"http://example.org", "HTTP://EXAMPLE.ORG/", "http://example.org./", "http://Example.Org.:80/",
			"http://ｅxample。org/", "http://ex%61mple.org/", "http://user@example.org:0080/"},
		"https://example.org/": {"https://example.org:443", "https://eXample.org.:443/"},
		"http://xn--bcher-kva.example/": {"http://bücher.example/", "http://BÜCHER.example/", "http://bu\u0308cher.example./",
			"http://XN--BCHER-KVA.example:80"},
		"http://192.0.2.235/": {"http://3221226219/", "http://0xC00002EB/", "http://0300.0.2.0353/", "http://192.0.747/",
			"http://192.0.2.235.:80/"},
		"http://[2001:db8::1]/":             {"http://[2001:0DB8:0:0:0:0:0:1]:80/", "http://[2001:db8::0.0.0.1]/"},
		"http://[::ffff:c000:2eb]/":         {"http://[::ffff:192.0.2.235]/"},
		"http://example.org:8080/":          {"http://EXAMPLE.org.:8080/"},
		"https://xn--strae-oqa.example:80/": {"https://straße.example:80"},
	} {
		for _, form := range append(forms, want) {
			if u, err := Parse(form); err != nil || u.String() != want {
				t.Errorf("Parse(%q) = %q, %v, want %q", form, u, err, want)
			}
		}
	}
}
