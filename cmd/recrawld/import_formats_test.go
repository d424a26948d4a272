package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// importOf imports a text and gives what is said.
func importOf(t *testing.T, text string, args ...string) (got importCounts, code int, stderr string) {
	t.Helper()
	config, _ := configure(t, "agent: {contact: me@example.net}\n")
	code, stdout, stderr := commandWith(t, text, append([]string{"import", "-c", config, "--json"}, args...)...)
	if stdout != "" {
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatalf("%v: %s", err, stdout)
		}
	}
	return got, code, stderr
}

func TestImportTellsWhatAListIs(t *testing.T) {
	t.Parallel()
	got, code, stderr := importOf(t, `<urlset><url><loc>https://example.org/a</loc></url><url><loc>/b</loc></url></urlset>`)
	if code != exitDone || got.Format != "sitemap" || got.Lines != 2 || got.Added != 1 || len(got.Shown) != 1 || !strings.HasPrefix(got.Shown[0], "entry 2: ") {
		t.Errorf("a sitemap: exit code %d, %s, %+v", code, stderr, got)
	}
	got, code, stderr = importOf(t, "org,example)/ 20200101000000 {\"url\": \"https://example.org/\", \"status\": \"200\"}\n"+
		"org,example)/ 20200102000000 {\"url\": \"https://example.org/\", \"status\": \"404\"}\n")
	if code != exitDone || got.Format != "cdxj" || got.Lines != 2 || got.Added != 1 || got.Skipped != 1 {
		t.Errorf("an index: exit code %d, %s, %+v", code, stderr, got)
	}
	for text, want := range map[string]string{
		"<!doctype html><a href=x>": "--format html", "PK\x03\x04": "give its name", "url,title\nhttps://example.org/,x\n": "only url and fr",
	} {
		if _, code, stderr := importOf(t, text); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, %s; want the way out", text, code, stderr)
		}
	}
}

// What a file has up to where it is cut off is added, and that it was cut off is a failure.
func TestImportOfAFileThatIsCutOff(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "sitemap.xml")
	if err := os.WriteFile(name, []byte("<urlset><url><loc>https://example.org/a</loc></url>\n<url><loc>https://exa"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, code, stderr := importOf(t, "", name)
	if code != exitFailed || got.Added != 1 || !strings.Contains(stderr, name+": entry 2: ") {
		t.Errorf("exit code %d, %+v, %s; want one page added, and the file and entry named", code, got, stderr)
	}
}

func TestImportOfATree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mirror")
	if err := os.MkdirAll(filepath.Join(dir, "example.org:8443"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "example.org:8443", "index.html"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	config, data := configure(t, "agent: {contact: me@example.net}\n")
	code, stdout, stderr := command(t, "import", "-c", config, "--scheme", "http", dir)
	if code != exitDone || !strings.HasPrefix(stdout, "1 file: 1 page added") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	if pages := dumpOf(t, data).Pages; len(pages) != 1 || pages[0].URL != "http://example.org:8443/" {
		t.Errorf("pages %+v", pages)
	}
	code, _, stderr = command(t, "import", "-c", config, t.TempDir())
	if code != exitUsage || !strings.Contains(stderr, "named for a host") {
		t.Errorf("a directory without a host: exit code %d, %s", code, stderr)
	}
}
