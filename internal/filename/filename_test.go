package filename

import (
	"strings"
	"testing"
)

func TestWhatSystemsTake(t *testing.T) {
	t.Parallel()
	for part, want := range map[string]bool{"a.html": true, "a.x": true, "a": false, "a.": false, ".a": true, "a.1": false, "a.html5": true,
		"a.longextension": false, "a.b~c": false, "v1.2": false, "example.org": true} {
		if got := LooksLikeFile(part); got != want {
			t.Errorf("LooksLikeFile(%q) = %t", part, got)
		}
	}
	for part, want := range map[string]bool{"con": true, "CON.html": true, "nul .x": true, "com1": true, "COM¹.a": true, "com": false, "com10": false,
		"lpt9": true, "console": false, "a.con": false, "CONIN$": true} {
		if got := Reserved(part); got != want {
			t.Errorf("Reserved(%q) = %t", part, got)
		}
	}
	for segment, want := range map[string]string{"a.b": "yyy", ".a.": "nyn", ".well-known": "yyyyyyyyyyy", "a:b c": "ynyny", "\x7f\u00e4": "nnn"} {
		var got strings.Builder
		for i := range len(segment) {
			got.WriteByte("ny"[map[bool]int{true: 1}[Taken(segment, i)]])
		}
		if got.String() != want {
			t.Errorf("of %q is taken %s, want %s", segment, got.String(), want)
		}
	}
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		r rune
		n int
	}{"%C3%BCx": {'ü', 6}, "%20": {' ', 3}, "%c3%bc": {}, "%41": {}, "%FF": {}, "%C3": {}, "%E2%80%8B": {}, "%EF%BF%BD": {'\ufffd', 9}, "x": {}, "": {}} {
		if r, n := Printed(text); r != want.r || n != want.n {
			t.Errorf("Printed(%q) = %q, %d, want %q, %d", text, r, n, want.r, want.n)
		}
	}
}

func TestCutEndsWithAWholeCharacter(t *testing.T) {
	t.Parallel()
	for most, want := range []string{"", "a", "a", "aü", "aü", "aü", "aü€", "aü€"} {
		if got := Cut("aü€", most); got != want {
			t.Errorf("Cut(aü€, %d) = %q, want %q", most, got, want)
		}
	}
	if got := Cut("ü", -3); got != "" {
		t.Errorf("Cut to less than nothing = %q", got)
	}
}

func TestAuthorities(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"https://a.org/x": "a.org", "http://a.org/": "a.org_80", "https://a.org:8443/": "a.org_8443",
		"http://a.org:8443/": "a.org_8443_http", "http://a.org:8080/": "a.org_8080", "https://a.org:80/": "a.org_80_https",
		"http://[::1]/": "%5B%3A%3A1%5D_80", "https://a_b/": "a%5Fb"} {
		a, rest, ok := SplitURL(url)
		host, port := a.Part('%')
		if !ok || host+port != want || a.String()+rest != url {
			t.Errorf("%s is %s%s, %s%s, want %s", url, host, port, a, rest, want)
		}
	}
	for _, url := range []string{"ftp://a/", "https://a", "https:///", "a/b", "https://a?b"} {
		if a, _, ok := SplitURL(url); ok {
			t.Errorf("%s leads to %s", url, a)
		}
	}
}
