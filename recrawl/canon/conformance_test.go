package canon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"

	"recrawld/internal/shared"
)

// readLines reads one JSON value from each line of a shared file.
func readLines[T any](t *testing.T, name string) []T {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v in %s", name, err, lines.Bytes())
		}
		all = append(all, one)
	}
	return all
}

func TestWHATWG(t *testing.T) {
	t.Parallel()
	type row struct {
		Input    string
		Base     *string
		Href     string
		Hash     string
		Username string
		Password string
		Failure  bool
	}
	scored, refused := 0, 0
	for _, c := range readLines[row](t, "conformance/url-whatwg/urltestdata.jsonl") {
		var base URL
		if c.Base != nil {
			base, _ = Parse(*c.Base)
		}
		got, err := base.Resolve(c.Input)
		want := c.Href
		switch {
		case c.Failure:
			want = ""
		case !strings.HasPrefix(want, "http://") && !strings.HasPrefix(want, "https://"):
			refused++
			if err == nil {
				t.Errorf("Resolve(%q) = %q, want it refused: it is %q", c.Input, got, c.Href)
			}
			continue
		default:
			want = withoutFragment(want)
			want = withoutCredentials(want, c.Username, c.Password)
		}
		scored++
		if intended, ok := deviations[c.Input]; ok {
			want = intended.want
			if got.String() == withoutFragment(c.Href) {
				t.Errorf("%q no longer deviates", c.Input)
			}
		}
		if got.String() != want {
			t.Errorf("Resolve(%q, %v) = %q (%v), want %q", c.Input, base, got, err, want)
		}
	}
	t.Logf("%d http(s) and failure cases, %d other schemes refused, %d intended deviations", scored, refused, len(deviations))
}

func withoutFragment(href string) string {
	href, _, _ = strings.Cut(href, "#")
	return href
}

func withoutCredentials(href, user, password string) string {
	if password != "" {
		user += ":" + password
	}
	if user == "" {
		return href
	}
	return strings.Replace(href, user+"@", "", 1)
}

// deviations are the cases of the suite that are meant to differ, by their input.
var deviations = map[string]struct{ want, why string }{
	"http://./":                   {"", "empty label: no resolver is asked"},
	"http://../":                  {"", "empty label: no resolver is asked"},
	"http://foo.09..":             {"", "empty label: no resolver is asked"},
	"http://10.0.0.xn--pokxncvks": {"", "broken Punycode: the standard of today refuses it as well"},
	"http://a.b.c.Xn--pokxncvks":  {"", "broken Punycode: the standard of today refuses it as well"},
}

func TestHostsToASCII(t *testing.T) {
	t.Parallel()
	type row struct {
		Input  string
		Output *string
	}
	for _, name := range []string{"toascii", "idna-test-v2"} {
		scored, skipped := 0, 0
		for _, c := range readLines[row](t, "conformance/url-whatwg/"+name+".jsonl") {
			if c.Input == "" || strings.ContainsAny(c.Input, "/?#@:\\") {
				skipped++ // not a host once it stands in a URL
				continue
			}
			scored++
			want := ""
			if c.Output != nil {
				want = lookedUpAs(*c.Output)
			}
			u, err := Parse("https://" + c.Input + "/x")
			if got := u.Hostname(); got != want {
				t.Errorf("%s: host of %q = %q (%v), want %q", name, c.Input, got, err, want)
			}
		}
		t.Logf("%s: %d scored, %d cannot stand in a URL", name, scored, skipped)
	}
}

// lookedUpAs is the intended deviation for hosts: no dot at the end, no empty label.
func lookedUpAs(host string) string {
	host = strings.TrimSuffix(host, ".")
	for label := range strings.SplitSeq(host, ".") {
		if label == "" {
			return ""
		}
	}
	return host
}

func TestFunkyIPv4(t *testing.T) {
	t.Parallel()
	var cases map[string]*string
	readJSON(t, "conformance/url-urlcanon/funky_ipv4.json", &cases)
	for input, want := range cases {
		u, err := Parse("http://" + input + "/")
		_, isIP := netip.ParseAddr(u.Hostname())
		switch {
		case want == nil && isIP == nil:
			t.Errorf("host of %q = %q, want it refused or read as a name", input, u.Hostname())
		case want != nil && u.Hostname() != *want:
			t.Errorf("host of %q = %q (%v), want %q", input, u.Hostname(), err, *want)
		}
	}
	t.Logf("%d cases", len(cases))
}

// TestPathDots compares modulo the direction of slashes: urlcanon keeps a backslash, the standard turns it.
func TestPathDots(t *testing.T) {
	t.Parallel()
	var cases struct{ Special map[string]string }
	readJSON(t, "conformance/url-urlcanon/path_dots.json", &cases)
	for input, want := range cases.Special {
		want = strings.ReplaceAll(want, "\\", "/")
		if u, err := Parse("http://h" + input); err != nil || u.Path() != want {
			t.Errorf("path of %q = %q (%v), want %q", input, u.Path(), err, want)
		}
	}
	t.Logf("%d cases", len(cases.Special))
}

func TestUrlcanonIdempotence(t *testing.T) {
	t.Parallel()
	var inputs []string
	readJSON(t, "conformance/url-urlcanon/idempotence.json", &inputs)
	for _, input := range inputs {
		checkCanon(t, "http://base/dir/", input)
	}
}

// TestW3lib is for information: w3lib makes a key (it sorts queries and drops empty values), we make a URL to send.
func TestW3lib(t *testing.T) {
	t.Parallel()
	type row struct{ Input, Want string }
	rows := readLines[row](t, "conformance/url-w3lib/canonicalize.jsonl")
	agree := 0
	for _, c := range rows {
		u, err := Parse(c.Input)
		if err != nil && !errors.Is(err, ErrScheme) && !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrHost) {
			t.Errorf("Parse(%q): %v, want a named error", c.Input, err)
		}
		if u.String() == c.Want {
			agree++
		}
	}
	t.Logf("%d of %d alike", agree, len(rows))
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(shared.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
