package report

import (
	"net/url"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"recrawld/recrawl/canon"
)

// TestReadable: letters are themselves, and what could pass for something else stays as it is.
func TestReadable(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"https://a.org/plain?q=1%2F2%20%25":          "https://a.org/plain?q=1%2F2%20%25",
		"https://a.org/caf%C3%A9?q=%C3%BC#x":         "https://a.org/café?q=ü#x",
		"https://a.org/wiki/%E6%9D%B1%E4%BA%AC/":     "https://a.org/wiki/東京/",
		"https://a.org/%D1%80%D0%B0%D0%B1":           "https://a.org/раб",
		"https://a.org/%E0%A4%B9%E0%A4%BF%E0%A4%A8":  "https://a.org/हिन",
		"https://a.org/%E3%83%86%E3%83%BC%E3%83%8E":  "https://a.org/テー%E3%83%8E", // looks like a slash
		"https://a.org/%c3%a9":                       "https://a.org/%c3%a9",      // encoded again it would be another address
		"https://a.org/%C3":                          "https://a.org/%C3",
		"https://a.org/%C3%28%FF":                    "https://a.org/%C3%28%FF",
		"https://a.org/%E2%80%AEgnp.exe":             "https://a.org/%E2%80%AEgnp.exe", // right-to-left override
		"https://a.org/%D7%A9%D7%9C/1/%D7%9D":        "https://a.org/%D7%A9%D7%9C/1/%D7%9D",
		"https://a.org/a%E2%81%84b%EF%BC%8Fc":        "https://a.org/a%E2%81%84b%EF%BC%8Fc",
		"https://a.org/a%C2%A0b%E3%80%80c%E3%85%A4d": "https://a.org/a%C2%A0b%E3%80%80c%E3%85%A4d",
		"https://a.org/%CA%94x":                      "https://a.org/%CA%94x",
		"https://a.org/e%CC%81":                      "https://a.org/e%CC%81", // a mark on what stands before
		"https://a.org/%C3%A9%CC%81%CC%81%CC%81":     "https://a.org/%C3%A9%CC%81%CC%81%CC%81",
		"https://a.org/%C4%B1%EF%AC%81":              "https://a.org/%C4%B1%EF%AC%81", // ﬁ is fi in the normal form
		"https://a.org/%C2%85%E2%80%8B%F0%9F%98%80":  "https://a.org/%C2%85%E2%80%8B%F0%9F%98%80",
	} {
		if got := Readable(from); got != want {
			t.Errorf("Readable(%s) = %s, want %s", from, got, want)
		}
	}
	if got := (Style{}).Address("https://a.org/%C3%A9"); got != "https://a.org/%C3%A9" {
		t.Errorf("in a pipe it is %s, want it as it is", got)
	}
}

// TestReadableIsTheAddress: whatever is shown is parsed to the address that it stands for, and nothing in it is without a look of its own.
func TestReadableIsTheAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom(nil, unicode.Latin, unicode.Han, unicode.Devanagari, unicode.Cyrillic, unicode.Hangul,
			unicode.Mn), 1, 8, -1))
		raw := "https://a.org/" + url.PathEscape(text.Draw(t, "path")) + "?" + url.QueryEscape(text.Draw(t, "query"))
		u, err := canon.Parse(raw)
		if err != nil {
			t.Skip(err)
		}
		shown := Readable(u.String())
		if back, err := canon.Parse(shown); err != nil || back.String() != u.String() {
			t.Fatalf("%s is shown as %s, which is %s (%v)", u, shown, back, err)
		}
		if i := strings.IndexFunc(shown, func(r rune) bool {
			return r > unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
		}); i >= 0 {
			t.Fatalf("%s is shown as %s", u, shown)
		}
	})
}
