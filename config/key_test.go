package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("from-a-file-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.WriteFile(wrong, []byte("two words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"off":                    "",
		"0123abcd":               "0123abcd",
		"Abc-0123":               "Abc-0123",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		`"${file:` + file + `}"`: "from-a-file-1",
		`"${credential:key}"`:    "",
	} {
		c, _, err := Parse("recrawld.yaml", []byte("sites:\n  - url: https://docs.example.org/\n    indexnow: "+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Sites[0].Settings.IndexNow; got.Value != want {
			t.Errorf("%s: key %q, want %q", text, got.Value, want)
		}
		if shown := (keyValue{&c.Sites[0].Settings.IndexNow}).String(); strings.Contains(shown, "from-a-file") || !strings.Contains(shown, strings.Trim(text, `"`)) {
			t.Errorf("%s is shown as %s", text, shown)
		}
	}
	for _, text := range []string{"short", strings.Repeat("a", 129), `"two words"`, "under_score", `""`, `"${env:KEY}"`, `"a${file:` + file + `}"`,
		`"${file:` + wrong + `}"`, "[a, b]"} {
		if _, _, err := Parse("recrawld.yaml", []byte("defaults:\n  indexnow: "+text+"\n")); err == nil || strings.Contains(err.Error(), "two words") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
