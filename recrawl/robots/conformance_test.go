package robots

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recrawld/internal/shared"
)

// suiteCase is a line of the suites robots-google and robots-protego.
type suiteCase struct {
	ID     string
	Robots text
	Agents []string
	Check  string
	URL    string
	Want   any
}

// text is a JSON string, or {"b64": …} where the bytes are not UTF-8.
type text []byte

func (b *text) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		*b = text(s)
		return nil
	}
	var coded struct{ B64 []byte }
	err := json.Unmarshal(raw, &coded)
	*b = coded.B64
	return err
}

func TestGoogle(t *testing.T) {
	t.Parallel()
	for _, c := range suite(t, "conformance/robots-google/cases.jsonl") {
		v := Parse(c.Robots).Verdict(c.Agents[0], pathOf(c.URL))
		if v.Allowed != c.Want {
			t.Errorf("%s: %q asks for %q: %+v, want %v by\n%s", c.ID, c.Agents[0], c.URL, v, c.Want, c.Robots)
		}
	}
}

func TestProtego(t *testing.T) {
	t.Parallel()
	deviated := 0
	for _, c := range suite(t, "conformance/robots-protego/cases.jsonl") {
		rules := Parse(c.Robots)
		var got any
		switch c.Check {
		case "allowed":
			got = rules.Verdict(c.Agents[0], canonicalPath(t, c.URL)).Allowed
		case "crawl_delay_ms":
			if delay, ok := rules.CrawlDelay(c.Agents[0]); ok {
				got = float64(delay.Milliseconds())
			}
		default:
			t.Fatalf("%s: unknown check %q", c.ID, c.Check)
		}
		_, intended := deviations[c.ID]
		if intended {
			deviated++
		}
		if (got == c.Want) == intended {
			t.Errorf("%s: %s of %q for %q = %v, want %v (intended deviation: %v) by\n%s", c.ID, c.Check, c.URL, c.Agents[0], got,
				c.Want, intended, c.Robots)
		}
	}
	t.Logf("%d intended deviations", deviated)
}

// The reasons to differ from Protego on purpose. Google's suite, which has to pass whole, decides all but the first.
const (
	asciiTokens  = "RFC 9309 product tokens are ASCII; ours is, and Google reads no others"
	tokenOnly    = "a product token has no space and no star; as Google"
	noDecoding   = "an escaped unreserved byte is not the byte itself; as Google (ID_Encoding/66)"
	unknownEnds  = "an unknown directive does not end the user-agent lines of a group; as Google"
	literalStars = "* and a last $ are special, their escapes are other bytes; as Google"
	pathsOnly    = "a rule that is a URL is not a path and matches nothing; as Google"
)

// deviations are the cases of Protego's suite that are meant to differ, with the reason.
var deviations = map[string]string{
	"protego/test_unicode_url_and_useragent/109":      asciiTokens,
	"protego/test_unicode_url_and_useragent/115":      asciiTokens,
	"protego/test_unicode_url_and_useragent/117":      asciiTokens,
	"protego/test_unicode_url_and_useragent/120":      asciiTokens,
	"protego/test_1996rfc_examples/199":               noDecoding,
	"protego/test_1996rfc_examples/200":               noDecoding,
	"protego/test_1996rfc_examples/240":               noDecoding,
	"protego/test_percentage_encoding/273":            noDecoding,
	"protego/test_grouping_unknown_keys/245":          unknownEnds,
	"protego/test_grouping_unknown_keys/246":          unknownEnds,
	"protego/test_grouping_unknown_keys/247":          unknownEnds,
	"protego/test_generosity/254":                     tokenOnly,
	"protego/test_generosity/257":                     tokenOnly,
	"protego/test_nonterminal_dollar/278":             literalStars,
	"protego/test_nonterminal_dollar/282":             literalStars,
	"protego/test_escaped_special_symbols/285":        literalStars,
	"protego/test_escaped_special_symbols/286":        literalStars,
	"protego/test_escaped_special_symbols/288":        literalStars,
	"protego/test_escaped_special_symbols/289":        literalStars,
	"protego/test_special_symbols_dual_behaviour/292": literalStars,
	"protego/test_special_symbols_dual_behaviour/293": literalStars,
	"protego/test_with_absolute_urls/295":             pathsOnly,
}

// canonicalPath is the path as we ask for it, which Protego's suite leaves to the parser.
func canonicalPath(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.RequestURI()
}

// pathOf cuts scheme, host and fragment off a URL of a suite, and changes nothing else.
func pathOf(raw string) string {
	if _, rest, ok := strings.Cut(raw, "://"); ok {
		raw = rest
	}
	raw, _, _ = strings.Cut(raw, "#")
	at := strings.IndexAny(raw, "/?;")
	if at < 0 {
		return "/"
	}
	if raw[at] != '/' {
		return "/" + raw[at:]
	}
	return raw[at:]
}

func suite(t *testing.T, name string) []suiteCase {
	t.Helper()
	file, err := os.Open(shared.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return decodeLines[suiteCase](t, file)
}

func decodeLines[T any](t *testing.T, r io.Reader) []T {
	t.Helper()
	var all []T
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%v in %.200s", err, lines.Bytes())
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRealFiles(t *testing.T) {
	t.Parallel()
	type realFile struct {
		File   string
		Robots string `json:"robots_b64"`
		Checks [][3]any
	}
	file, err := os.Open(shared.Path(t, "conformance/robots-real/files.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	total, wrong := 0, 0
	for _, c := range decodeLines[realFile](t, unzipped) {
		body, err := base64.StdEncoding.DecodeString(c.Robots)
		if err != nil {
			t.Fatal(err)
		}
		rules := Parse(body)
		for _, check := range c.Checks {
			total++
			agent, address := check[0].(string), check[1].(string)
			if v := rules.Verdict(agent, pathOf(address)); v.Allowed != check[2] {
				wrong++
				t.Errorf("%s: %s asks for %s: %+v, want %v", c.File, agent, address, v, check[2])
			}
		}
	}
	if total == 0 {
		t.Error("no verdicts in the suite")
	}
	t.Logf("%d of %d verdicts right", total-wrong, total)
}

// seeds are the raw files of the suite robots-fuzz-seeds.
func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	names, err := filepath.Glob(filepath.Join(shared.Path(t, "conformance/robots-fuzz-seeds"), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = body
	}
	return all
}
