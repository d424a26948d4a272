package diff

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recrawld/models"
	"recrawld/recrawl/canon"
	"recrawld/recrawl/content"
	"recrawld/report"
)

var update = flag.Bool("update", false, "write the golden files")

var testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// version is a body as it was read from the archive.
func version(t testing.TB, number int32, body, kind string) Version {
	t.Helper()
	at, err := canon.Parse("https://docs.example.org/guide")
	if err != nil {
		t.Fatal(err)
	}
	header := fmt.Sprintf("Content-Type: %s\r\nDate: Sat, 21 Nov 2026 1%d:00:00 GMT\r\netag: \"v%d\"\r\n", kind, number, number)
	return Version{Number: number, At: testNow.Add(time.Duration(number-9) * time.Hour), ContentType: kind, Header: []byte(header),
		Body: []byte(body), View: content.Read([]byte(body), kind, at, nil)}
}

func compare(t testing.TB, a, b, kind string, o Options) Difference {
	t.Helper()
	if o.URL == "" {
		o.URL = "https://docs.example.org/guide"
	}
	o.Context = 3
	return Compare(version(t, 1, a, kind), version(t, 2, b, kind), o)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got; -update writes it):\n%s", name, diff)
	}
}

const paragraph = "<p>Every product of the house carries a plate with its number, which you find beside the door, and its papers " +
	"say what it may be used for, by whom, at which temperatures and for how long before it has to be looked at again.</p>"

// guide is a page with everything that may differ.
func guide(main, beside, hidden string) string {
	return `<!doctype html><html><head><title>Guide</title><meta name="csrf-token" content="` + hidden + `"></head><body>` +
		`<nav><a href="/">Home</a> <a href="/guide">Guide</a></nav><main><h1>How to use it</h1>` + strings.Repeat(paragraph, 3) + main +
		strings.Repeat(paragraph, 3) + `</main><footer>` + beside + `</footer><script>var t="` + hidden + `"</script></body></html>`
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	const old = "<h2>Before you begin</h2><p>Open the door and wait for 10 minutes.</p><p>See <a href=/terms>the terms</a> for more.</p><ul><li>One<li>Two<li>Three</ul>"
	now := strings.NewReplacer("10 minutes", "half an hour", "href=/terms", "href=/conditions", "<li>One<li>Two<li>Three", "<li>Two<li>Three<li>One<li>Four",
		"<h2>Before you begin</h2>", "<h3>Before you begin</h3>").Replace(old)
	judged := &Verdict{Kind: "changed", Significance: 0.83, Threshold: 0.5, Reasons: models.ReasonText, Words: []string{"text", "link-target"}}
	noise := []content.BlockChange{{Before: "© 2025, visitor 17", After: "© 2026, visitor 18", Noise: true, Reason: models.ReasonCounter}}
	for name, test := range map[string]struct {
		before, after, kind string
		options             Options
	}{
		"content": {guide(old, "© 2025, visitor 17", "a1"), guide(now, "© 2026, visitor 18", "b2"), "text/html", Options{Verdict: judged, Blocks: noise}},
		"beside": {guide(old, "© 2025, visitor 17", "a1"), guide(old, "© 2026, visitor 18", "a1"), "text/html",
			Options{Verdict: &Verdict{Kind: "noise", Significance: 0.05, Threshold: 0.5, Words: []string{"counter"}}, Blocks: noise}},
		"unseen": {guide(old, "©", "a1"), guide(old, "©", "b2"), "text/html", Options{}},
		"raw":    {guide(old, "©", "a1"), guide(now, "©", "b2"), "text/html", Options{Raw: true}},
		"plain":  {"a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb!\nc\nd\ne\nf\ng\nh\ni\nj\n", "text/plain", Options{}},
		"binary": {"\x89PNG\x00\x01", "\x89PNG\x00\x02\x03", "image/png", Options{}},
		"json":   {`{"a": 1, "b": ["x", "y"]}`, `{"a": 2, "b": ["x", "z"]}`, "application/json", Options{}},
		"same":   {"<p>one", "<p>one", "text/html", Options{}},
		"error": {guide(old, "©", "a1"), "<html><title>503</title><body><h1>We will be back soon</h1>", "text/html",
			Options{Verdict: &Verdict{Kind: "error-page", Words: []string{"error-page", "shrunk"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compare(t, test.before, test.after, test.kind, test.options)
			for form, show := range map[string]Show{
				"txt": {}, "lines.txt": {Lines: true, All: true}, "80.txt": {Style: report.Style{Width: 80, Color: true}}} {
				show.Now = testNow
				var b strings.Builder
				if err := Text(&b, d, show); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+form, b.String())
			}
			golden(t, name+".diff", d.Unified)
			var b bytes.Buffer
			encoder := json.NewEncoder(&b)
			encoder.SetIndent("", " ")
			if err := encoder.Encode(d); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", b.String())
			b.Reset()
			if err := HTML(&b, d); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".html", b.String())
		})
	}
}
