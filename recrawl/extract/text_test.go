package extract

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"recrawld/recrawl/canon"
)

// The text that a person is shown is the text that the digest is of.
func TestTextIsWhatTheDigestIsOf(t *testing.T) {
	t.Parallel()
	at, err := canon.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ kind, body, want string }{
		{"text/html", "<title>A</title><p>one <b>two</b><script>no</script><p hidden>no</p><ul><li>three", "A\none two\nthree"},
		{"text/plain", "one\n  two", "one two"},
		{"text/html", "<p hidden>no</p>", ""},
	} {
		var text bytes.Buffer
		found := Page([]byte(test.body), test.kind, at, Options{Bytes: 1 << 20, Text: &text})
		if text.String() != test.want {
			t.Errorf("text of %q = %q, want %q", test.body, text.String(), test.want)
		}
		if test.want != "" && found.TextDigest != sha256.Sum256(text.Bytes()) {
			t.Errorf("the digest of %q is not that of its text", test.body)
		}
	}
}
