package export

import (
	"os"
	"strings"
	"testing"
)

// testdata/keys.tsv has a URL, what surt.surt of the Internet Archive's surt 0.3.1 makes of it, and what getSurt of warcio.js 2.4.11
// does: these are the keys by which pywb and ReplayWeb.page look it up.
func TestKeysAreThoseOfTheReaders(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/keys.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("line %q has %d fields", line, len(fields))
		}
		n++
		if got := SURT(fields[0]); got != fields[1] {
			t.Errorf("SURT(%s) = %s, want %s", fields[0], got, fields[1])
		}
		if got := packageKey(fields[0]); got != fields[2] {
			t.Errorf("packageKey(%s) = %s, want %s", fields[0], got, fields[2])
		}
	}
	if n < 50 {
		t.Errorf("read %d keys", n)
	}
}
