package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// TestPaper: colours, links and addresses of a terminal's text become HTML, and all else is text.
func TestPaper(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"plain":                {"a < b & c\n", "a &lt; b &amp; c\n"},
		"colours":              {"\x1b[1mbold\x1b[0m and \x1b[31mbad\x1b[0m", `<span class="strong">bold</span> and <span class="bad">bad</span>`},
		"left open":            {"\x1b[2mfaint", `<span class="faint">faint</span>`},
		"another colour":       {"\x1b[32ma\x1b[33mb\x1b[0m", `<span class="good">a</span><span class="warn">b</span>`},
		"unknown code":         {"\x1b[5;7mblink\x1b[2J!", "blink!"},
		"cut off":              {"a\x1b[3", "a"},
		"address":              {"see http://h.test/a?b=c&d.", `see <a href="/why?url=http%3A%2F%2Fh.test%2Fa%3Fb%3Dc%26d">http://h.test/a?b=c&amp;d</a>.`},
		"address with marks":   {"http://h.test/Go_(game);v=1,2 x", `<a href="/why?url=http%3A%2F%2Fh.test%2FGo_%28game%29%3Bv%3D1%2C2">http://h.test/Go_(game);v=1,2</a> x`},
		"address in brackets":  {"(http://h.test/Go_(game)), or (in http://h.test/a).", `(<a href="/why?url=http%3A%2F%2Fh.test%2FGo_%28game%29">http://h.test/Go_(game)</a>), or (in <a href="/why?url=http%3A%2F%2Fh.test%2Fa">http://h.test/a</a>).`},
		"address in quotes":    {`"http://h.test/it's", 'http://h.test/b'`, `&#34;<a href="/why?url=http%3A%2F%2Fh.test%2Fit%27s">http://h.test/it&#39;s</a>&#34;, &#39;<a href="/why?url=http%3A%2F%2Fh.test%2Fb">http://h.test/b</a>&#39;`},
		"address without more": {"http:// and https://.", "http:// and https://."},
		"shortened address":    {"http://h.test/a…b http://h.test/c", `http://h.test/a…b <a href="/why?url=http%3A%2F%2Fh.test%2Fc">http://h.test/c</a>`},
		"hyperlink":            {"\x1b]8;;http://h.test/long\x1b\\http://h…g\x1b]8;;\x1b\\ x", `<a href="/why?url=http%3A%2F%2Fh.test%2Flong">http://h…g</a> x`},
		"colour over a link":   {"\x1b[31m\x1b]8;;http://h/\x1b\\a\x1b]8;;\x1b\\\x1b[0m", `<span class="bad"></span><a href="/why?url=http%3A%2F%2Fh%2F"><span class="bad">a</span></a><span class="bad"></span>`},
		"quotes":               {"\x1b]8;;http://h/\"><script>\x1b\\x\x1b]8;;\x1b\\", `<a href="/why?url=http%3A%2F%2Fh%2F%22%3E%3Cscript%3E">x</a>`},
		"no page's address":    {"javascript:alert(1)", "javascript:alert(1)"},
	} {
		if got := string(paper(test.text)); got != test.want {
			t.Errorf("%s:\n%q becomes\n%s\nwant\n%s", name, test.text, got, test.want)
		}
	}
}

// FuzzPaper: whatever a text holds, a parser of HTML reads the same text from what it becomes, no elements but ours, and links to
// nowhere else.
func FuzzPaper(f *testing.F) {
	for _, seed := range []string{"", "a<b>&\"'", "\x1b[31mx\x1b[0m", "\x1b]8;;http://h/\x1b\\a\x1b[2mb\x1b]8;;\x1b\\c", "https://h/<script>alert(1)</script>", "\x1b]8;;x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\r") { // which commands do not print, and parsers replace
			t.Skip()
		}
		tokens := html.NewTokenizer(strings.NewReader(string(paper(text))))
		var shown strings.Builder
		var open []string
		for tokens.Next() != html.ErrorToken {
			switch token := tokens.Token(); token.Type {
			case html.TextToken:
				shown.WriteString(token.Data)
			case html.StartTagToken:
				open = append(open, token.Data)
				if token.Data != "span" && token.Data != "a" || len(token.Attr) != 1 {
					t.Fatalf("%q became an element %v", text, token)
				}
				if token.Data == "a" && !strings.HasPrefix(token.Attr[0].Val, "/why?url=") {
					t.Fatalf("%q links to %s", text, token.Attr[0].Val)
				}
			case html.EndTagToken:
				if len(open) == 0 || open[len(open)-1] != token.Data {
					t.Fatalf("%q: </%s> where %v are open", text, token.Data, open)
				}
				open = open[:len(open)-1]
			default:
				t.Fatalf("%q became %v", text, token)
			}
		}
		if len(open) > 0 {
			t.Fatalf("%q leaves %v open", text, open)
		}
		if !strings.Contains(text, "\x1b") && shown.String() != text || !isPart(shown.String(), text) {
			t.Fatalf("%q shows %q", text, shown.String())
		}
	})
}

// isPart tells whether a text is what is left of another one when some of it is taken out.
func isPart(part, of string) bool {
	left := []rune(part)
	for _, r := range of {
		if len(left) > 0 && left[0] == r {
			left = left[1:]
		}
	}
	return len(left) == 0
}
