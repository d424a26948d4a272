package diff

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawld/recrawl/content"
	"recrawld/report"
)

// pieces are what the pages of the properties are made of.
var pieces = []string{"<p>", "</p>", "<h2>", "</h2>", "one ", "two.", "\n", "\r", "><", "<!-- c -->", "\x00", "<b hidden>", "</b>",
	"<a href=/x>", "<a href=/y>", "</a>", "<img src=i.png>", "<script>", "</script>", "<nav>", "</nav>", "<title>t</title>", "\u200b",
	"\u00a0", "é", "<li>", "{\"a\":1}", "[2]", "<rss>", "<item>", "日本", `<p class="x">`, "<p class='x'>", "&amp;", "&#38;"}

var kinds = []string{"text/html", "text/plain", "", "x", "application/json", "application/rss+xml", "image/png", "application/xhtml+xml"}

func draw(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, name), "")
}

// blank tells whether a person who looks at a difference sees none.
func blank(t interface{ Fatal(...any) }, d Difference, s Show) bool {
	s.Now = testNow
	var b strings.Builder
	if err := Text(&b, d, s); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(escapes.ReplaceAllString(b.String(), "")) {
		if line = strings.TrimSpace(line); len(line) > len("+ ") && strings.ContainsAny(line[:1], "+-~") {
			return false
		}
	}
	return true
}

// escapes are the colours of a terminal.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever differs, something is shown, in every form; of what is the same there is nothing.
func TestNeverBlank(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		a, b := draw(r, "a"), draw(r, "b")
		kind, raw := rapid.SampledFrom(kinds).Draw(r, "kind"), rapid.Bool().Draw(r, "raw")
		holds(r, t, a, b, kind, raw)
		holds(r, t, a, a, kind, raw)
	})
}

// A single piece more, anywhere, is shown too.
func TestNeverBlankForOnePiece(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 60).Draw(r, "parts")
		at := rapid.IntRange(0, len(parts)-1).Draw(r, "at")
		more := strings.Join(parts[:at], "") + rapid.SampledFrom(pieces).Draw(r, "piece") + strings.Join(parts[at:], "")
		holds(r, t, strings.Join(parts, ""), more, rapid.SampledFrom(kinds).Draw(r, "kind"), false)
	})
}

// holds checks one comparison.
func holds(r interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, t testing.TB, a, b, kind string, raw bool) {
	before, after := version(t, 1, a, kind), version(t, 1, b, kind)
	after.Number = 2
	d := Compare(before, after, Options{URL: "https://docs.example.org/guide", Raw: raw})
	if d.Equal != (a == b) {
		r.Fatalf("equal: %v for %q and %q", d.Equal, a, b)
	}
	shown := anyDiffers(d.Lines) || len(d.Beside) > 0 || len(d.Unseen) > 0
	if shown == d.Equal || (d.Unified == "") != d.Equal || d.Summary == "" {
		r.Fatalf("%q and %q of %s: %+v", a, b, kind, d)
	}
	for _, s := range []Show{{}, {Lines: true}, {Style: report.Style{Width: 40, Color: true}}} {
		if blank(r, d, s) != d.Equal {
			r.Fatalf("%q and %q of %s: what is shown is blank: %v", a, b, kind, !d.Equal)
		}
	}
	var page strings.Builder
	if err := HTML(&page, d); err != nil {
		r.Fatal(err)
	}
	if strings.Contains(page.String(), "<script") {
		r.Fatalf("a script came through: %s", page.String())
	}
}

// A comparison keeps every line of both versions once, in order.
func TestLinesAreComplete(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"a b c", "a b d", "x", "y", "long line of many words", "long line of few words", ""})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(line, 0, 40).Draw(t, "a"), rapid.SliceOfN(line, 0, 40).Draw(t, "b")
		lines := linesOf(rowsOfText(lined(a)), rowsOfText(lined(b)))
		var before, after []string
		for _, l := range lines {
			if l.Op == Same && l.Before > 0 {
				l.Old = l.New
			}
			if l.Before > 0 {
				before = append(before, l.Old)
			}
			if l.After > 0 {
				after = append(after, l.New)
			}
			if (l.Op == Same || l.Op == Changed) != (l.Before > 0 && l.After > 0) {
				t.Fatalf("line %+v", l)
			}
		}
		if lined(before) != lined(a) || lined(after) != lined(b) {
			t.Fatalf("%q and %q give %+v", a, b, lines)
		}
	})
}

func lined(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// The words of a changed line, without those that came, are the line before; without those that went, the line after.
func TestSpansAreComplete(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"one", "two", " ", "  ", ",", "é", "日", "1.3", "\u00a0", "-"})
	rapid.Check(t, func(t *rapid.T) {
		a := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "a"), "")
		b := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "b"), "")
		var before, after strings.Builder
		for _, s := range spansOf(a, b) {
			if s.Op != Added {
				before.WriteString(s.Text)
			}
			if s.Op != Removed {
				after.WriteString(s.Text)
			}
		}
		if before.String() != a || after.String() != b {
			t.Fatalf("spans of %q and %q are %+v", a, b, spansOf(a, b))
		}
	})
}

// What is said of two sources in the unified format makes the one into the other.
func TestUnifiedIsAPatch(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"a", "b", "c c", "d e f", "d e g"})
	rapid.Check(t, func(r *rapid.T) {
		a, b := lined(rapid.SliceOfN(line, 1, 40).Draw(r, "a")), lined(rapid.SliceOfN(line, 1, 40).Draw(r, "b"))
		if a == b {
			return
		}
		before, after := version(t, 1, a, "text/plain"), version(t, 1, b, "text/plain")
		after.Number = 2
		d := Compare(before, after, Options{Raw: true, Context: rapid.IntRange(0, 3).Draw(r, "context")})
		if patched, err := patch(a, d.Unified); err != nil || patched != b {
			r.Fatalf("%q with\n%s\nis %q, %v, want %q", a, d.Unified, patched, err, b)
		}
	})
}

// patch applies the first file of a difference in the unified format, as diffutils define it.
func patch(text, unified string) (string, error) {
	old := strings.SplitAfter(text, "\n")
	var out strings.Builder
	at := 0
	for line := range strings.Lines(unified) {
		var first, n int
		switch {
		case strings.HasPrefix(line, "--- version 1,"):
			return out.String() + strings.Join(old[at:], ""), nil
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "@@"):
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &first, &n); err != nil {
				return "", err
			}
			if n > 0 {
				first--
			}
			for ; at < first; at++ {
				out.WriteString(old[at])
			}
		case line[0] == '+':
			out.WriteString(line[1:])
		case old[at] != line[1:]:
			return "", fmt.Errorf("line %d is %q and not %q", at, old[at], line[1:])
		default:
			if line[0] == ' ' {
				out.WriteString(line[1:])
			}
			at++
		}
	}
	return out.String() + strings.Join(old[at:], ""), nil
}

// FuzzDiff compares any two bodies of any type.
func FuzzDiff(f *testing.F) {
	f.Add("<p>one", "<p>two", "text/html", false)
	f.Add("<a href=/x>y</a>", "<a href=/z>y</a>", "text/html", false)
	f.Add("{}", "[]", "application/json", false)
	f.Add("\x00\x01", "\x00", "image/png", false)
	f.Add("a\r\nb", "a\nb", "text/plain", true)
	f.Add("<p>\u200b", "<p>\u2066", "text/html", false)
	f.Fuzz(func(t *testing.T, a, b, kind string, raw bool) {
		const most = 1 << 16
		if len(a)+len(b) > most {
			return
		}
		holds(t, t, a, b, kind, raw)
	})
}

// marked lines are those of the blocks that were judged, and only they are dimmed.
func TestNoiseIsMarked(t *testing.T) {
	t.Parallel()
	lines := linesOf(rowsOfText("a\nclock 1\nb\n"), rowsOfText("a\nclock 2\nc\n"))
	marks([]content.BlockChange{{Before: "clock 1", After: "clock 2", Noise: true}, {Before: "b"}, {After: "c"}}).apply(lines, nil)
	for _, l := range lines {
		if want := strings.Contains(l.New, "clock"); l.Noise != want {
			t.Errorf("line %q: noise %v, want %v", l.Text(), l.Noise, want)
		}
	}
}
