package robots

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/jimsmart/grobotstxt"
	"pgregory.net/rapid"
)

func TestVerdictNamesItsLine(t *testing.T) {
	t.Parallel()
	rules := Parse([]byte("# hello\r\nUser-agent: *\r\nDisallow: /private\t# keep out\r\n\r\nAllow: /private/open\rUser-agent: Other\nDisallow: /\n"))
	for _, c := range []struct {
		agent, path string
		want        Verdict
	}{
		{"recrawld", "/", Verdict{Allowed: true}},
		{"recrawld", "/private/x", Verdict{Line: 3, Text: "Disallow: /private # keep out"}},
		{"recrawld", "/private/open/x", Verdict{Allowed: true, Line: 5, Text: "Allow: /private/open"}},
		{"OTHER", "/private/open/x", Verdict{Line: 7, Text: "Disallow: /"}},
	} {
		if got := rules.Verdict(c.agent, c.path); got != c.want {
			t.Errorf("Verdict(%q, %q) = %+v, want %+v", c.agent, c.path, got, c.want)
		}
	}
}

func TestMatching(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/", "/x", true},
		{"/fish", "/fishheads", true},
		{"/fish", "/Fish", false},
		{"/fish*", "/fish", true},
		{"/*.php", "/dir/file.php?x", true},
		{"/*.php$", "/file.php?x", false},
		{"/*.php$", "/file.php/x.php", true},
		{"/a*b*c$", "/abbcbc", true},
		{"/a*b*c$", "/acb", false},
		{"/a**b", "/ab", true},
		{"/a$", "/a", true},
		{"/a$", "/ab", false},
		{"/a$b", "/a$b", true},
		{"*", "/", true},
		{"$", "/", false},
		{"/a*$", "/abc", true},
		{"/%c3%a9", "/%C3%A9", true},
		{"/é", "/%c3%a9", true},
		{"x", "/x", false},
		{"/*?q={", "/s?q={x}", true},
		{"/*?q={", "/s?q=%7Bx%7D", true},
		{"/{", "/%7B", true},
		{"/*^", "/s?q=^", true},
		{"/*?q='", "/s?q=%27x", true},
		{"/a'b", "/a'b", true},
		{"/%27", "/'", true},
	} {
		got := !Parse([]byte("User-agent: *\nDisallow: "+c.pattern)).Verdict("any", c.path).Allowed
		if got != c.want {
			t.Errorf("pattern %q matches %q = %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"10": 10 * time.Second, "0.5": 500 * time.Millisecond, ".25 # slow": 250 * time.Millisecond, "0": 0,
		"999999999999999999999": MaxDelay, strings.Repeat("9", 400): MaxDelay,
		"-1": -1, "1e3": -1, "inf": -1, "NaN": -1, "10s": -1, "": -1, "1.2.3": -1, ".": -1, "0x10": -1, "1,5": -1,
	} {
		got, ok := Parse([]byte("User-agent: *\nCrawl-delay: " + value)).CrawlDelay("recrawld")
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("Crawl-delay %.30q = %v, %v, want %v", value, got, ok, want)
		}
	}
}

func TestCrawlDelayIsOfTheGroup(t *testing.T) {
	t.Parallel()
	rules := Parse([]byte("User-agent: *\nCrawl-delay: 7\nDisallow: /x\nUser-agent: slow\nUser-agent: slower\n" +
		"crawl-delay: 30\nDisallow:\nUser-agent: none\nDisallow:\nUser-agent: slower\nCrawl-Delay: 60"))
	for agent, want := range map[string]time.Duration{"other": 7 * time.Second, "Slow": 30 * time.Second,
		"slower": time.Minute, "none": 0} {
		if got, _ := rules.CrawlDelay(agent); got != want {
			t.Errorf("CrawlDelay(%q) = %v, want %v", agent, got, want)
		}
	}
}

func TestSitemaps(t *testing.T) {
	t.Parallel()
	rules := Parse([]byte("Sitemap: https://a/s.xml\nUser-agent: x\nSITE-MAP: /rel.xml\nSitemap:\nsitemap: https://a/s.xml"))
	if diff := cmp.Diff([]string{"https://a/s.xml", "/rel.xml"}, rules.Sitemaps()); diff != "" {
		t.Errorf("Sitemaps (-want +got):\n%s", diff)
	}
}

func TestOddBodies(t *testing.T) {
	t.Parallel()
	const closed = "User-agent: *\nDisallow: /\n"
	for name, c := range map[string]struct {
		body    string
		allowed bool
	}{
		"empty":            {"", true},
		"html":             {"<!DOCTYPE html><html><body><p>User-agent: * Disallow: /</p></body></html>", true},
		"byte order mark":  {"\ufeff" + closed, false},
		"torn mark":        {"\xef\xbb" + closed, false},
		"UTF-16 little":    {utf16LE(closed), false},
		"NULs":             {"\x00\x00\n" + closed + "\x00", false},
		"no newline":       {strings.TrimSpace(closed), false},
		"carriage returns": {strings.ReplaceAll(closed, "\n", "\r"), false},
		"beyond the limit": {strings.Repeat("# fill\n", MaxBytes/7+1) + closed, true},
		"cut in a line":    {"User-agent: *\n" + strings.Repeat("\n", MaxBytes-14-len("Disallow: /")) + "Disallow: /no", true},
		"one endless line": {"User-agent: *\nDisallow: /" + strings.Repeat("x", MaxBytes), true},
	} {
		if v := Parse([]byte(c.body)).Verdict("recrawld", "/page"); v.Allowed != c.allowed {
			t.Errorf("%s: %+v, want allowed = %v", name, v, c.allowed)
		}
	}
}

func utf16LE(s string) string {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// hostile are the files that cost the most to read or to ask.
func hostile() map[string][]byte {
	fill := func(head, line string) []byte {
		return []byte(head + strings.Repeat(line, MaxBytes/len(line)))
	}
	var agents strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&agents, "User-agent: bot%d\n", i)
	}
	return map[string][]byte{
		"short lines":   fill("", "a:\n"),
		"line ends":     fill("", "\n"),
		"rules":         fill("User-agent: *\n", "Allow:*\n"),
		"stars":         fill("User-agent: *\n", "Disallow: /*a*a*a*a*a*a*a*a*a*a*a*a*b\n"),
		"10,000 agents": fill(agents.String(), "Disallow: /x\n"),
		"agents":        fill("", "User-agent: a\nDisallow: /\n"),
		"one line":      fill("User-agent: *\nDisallow: /", "*a"),
		"sitemaps":      fill("", "Sitemap: x\n"),
		"binary":        fill("", "\x00\xff\xfe:\x1b\n"),
	}
}

// slow is far above the 50 ms that a file may take, for busy machines and the race detector, and far below what a
// matcher takes that tries again and again.
const slow = 5 * time.Second

func TestHostileFilesAreQuick(t *testing.T) {
	path := "/" + strings.Repeat("a", 2000)
	for name, body := range hostile() {
		start := time.Now()
		rules := Parse(body)
		parsed := time.Since(start)
		rules.Verdict("recrawld", path)
		t.Logf("%s: parsed in %v, asked in %v", name, parsed, time.Since(start)-parsed)
		if took := time.Since(start); took > slow {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// pieces is what the property test and the fuzz seeds put files together from.
var pieces = []string{"User-agent: *\n", "user-agent: FooBot\r\n", "User-agent: foobot/1.0 x\n", "User-agent: other\n",
	"useragent foobot\n", "Disallow: /\n", "Disallow:\n", "Allow: /a\n", "Disallow: /a\r", "Allow: /a/index.html\n",
	"disalow: /*b$\n", "Allow: /a*b\n", "Disallow: *\n", "Allow: $\n", "Disallow: /%c3%a9\n", "Disallow: /é#x\n",
	"Crawl-delay: 3\n", "Sitemap: http://a/\n", "\n", "# x\n", ":\n", " Allow : /a/b \n", "\x00\n", "\xff\xfe", "\ufeff", "Disallow /b\n"}

func TestAgreesWithGoogle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "lines"), "")
		path := rapid.SampledFrom([]string{"/", "/a", "/a/", "/a/b", "/ab", "/%C3%A9", "/b?x=b"}).Draw(t, "path")
		checkRules(t, []byte(body), "FooBot", path)
	})
}

func FuzzRobots(f *testing.F) {
	for _, body := range seeds(f) {
		f.Add(body, "FooBot", "/a/b?c=d")
	}
	for _, piece := range pieces {
		f.Add([]byte("User-agent: FooBot\n"+piece+"Disallow: /a"), "foobot", "/a/index.html")
	}
	f.Fuzz(func(t *testing.T, body []byte, agent, path string) { checkRules(t, body, agent, "/"+path) })
}

type failer interface {
	Fatalf(format string, args ...any)
}

// checkRules holds our matcher to the library's, on what both are made for: a file within the limit, with its escapes in
// upper case (the library breaks others), a product token, the path of a canonical URL.
func checkRules(t failer, body []byte, agent, path string) {
	rules := Parse(body)
	got := rules.Verdict(agent, path)
	if lines := 1 + bytes.Count(body, []byte("\n")) + bytes.Count(body, []byte("\r")); got.Line < 0 || got.Line > lines ||
		!got.Allowed && got.Line == 0 || len(got.Text) > 200 {
		t.Fatalf("Verdict(%q, %q) = %+v of at most %d lines", agent, path, got, lines)
	}
	if delay, ok := rules.CrawlDelay(agent); delay < 0 || delay > MaxDelay || !ok && delay != 0 {
		t.Fatalf("CrawlDelay(%q) = %v, %v", agent, delay, ok)
	}
	if len(body) > MaxBytes || agent == "" || agent == anyAgent || strings.Trim(agent, tokenBytes) != "" ||
		strings.Trim(path, pathBytes) != "" || strings.HasPrefix(path, "//") {
		return
	}
	want := grobotstxt.AgentAllowed(upperEscapes(decode(body)), agent, "http://h"+path)
	if got.Allowed != want {
		t.Fatalf("Verdict(%q, %q) = %+v, the library says allowed = %v, by %q", agent, path, got, want, body)
	}
}

const (
	tokenBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	pathBytes  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_.~!$&()*+,;=:@?"
)

func BenchmarkVerdict(b *testing.B) {
	rules := Parse(seeds(b)["wild-003"])
	b.ReportAllocs()
	for b.Loop() {
		rules.Verdict("recrawld", "/some/page.html?with=query")
	}
}

// write puts rules back into a file, an agent's groups as one, in no order that matters.
func (r *Rules) write() string {
	var b strings.Builder
	for _, sitemap := range r.sitemaps {
		fmt.Fprintf(&b, "Sitemap: %s\n", sitemap)
	}
	for _, token := range slices.Sorted(maps.Keys(r.agents)) {
		fmt.Fprintf(&b, "User-agent: %s\n", token)
		if delay, ok := r.CrawlDelay(token); ok {
			fmt.Fprintf(&b, "Crawl-delay: %s\n", strconv.FormatFloat(delay.Seconds(), 'f', -1, 64))
		}
		var lines []string
		for _, g := range r.agents[token] {
			for i := range g.rules {
				lines = append(lines, g.rules[i].write())
			}
		}
		slices.Sort(lines)
		fmt.Fprintf(&b, "%sDisallow:\n", strings.Join(slices.Compact(lines), ""))
	}
	return b.String()
}

func (r *rule) write() string {
	directive, end := "Disallow", ""
	if r.allow {
		directive = "Allow"
	}
	if r.anchored {
		end = "$"
	}
	return directive + ": " + r.pattern + end + "\n"
}

func TestWrittenRulesReadTheSame(t *testing.T) {
	t.Parallel()
	for name, body := range seeds(t) {
		once := Parse(body).write()
		if twice := Parse([]byte(once)).write(); twice != once {
			t.Errorf("%s: written and read again (-want +got):\n%s", name, cmp.Diff(once, twice))
		}
	}
}
