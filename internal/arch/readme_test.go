package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every module that this one requires itself is in the README, with why.
func TestReadmeListsEveryDependency(t *testing.T) {
	t.Parallel()
	requires, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(readme), "## Dependencies")
	if !found {
		t.Fatal("the README has no section Dependencies")
	}
	direct := 0
	for line := range strings.Lines(string(requires)) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) != 2 || !strings.HasPrefix(fields[1], "v") { // three or more: an indirect one
			continue
		}
		direct++
		if !strings.Contains(table, fields[0]) {
			t.Errorf("the README does not say why there is %s", fields[0])
		}
	}
	if direct < 10 {
		t.Errorf("go.mod requires %d modules directly: read wrongly", direct)
	}
}

// links are those of Markdown to files beside it, without the place within the file.
var links = regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`)

// What the README and docs lead to is there, and each page of docs is led to from the README.
func TestDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	from := make(map[string]bool) // the files that the README leads to
	for _, page := range append(pages, "../../README.md", "../../BENCHMARKS.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(string(text), -1) {
			to := filepath.Join(filepath.Dir(page), link[1])
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s: %v", page, link[1], err)
			}
			if filepath.Base(page) == "README.md" {
				from[to] = true
			}
		}
	}
	for _, page := range pages {
		if !from[page] {
			t.Errorf("the README does not lead to %s", page)
		}
	}
	if len(from) < 6 {
		t.Errorf("the README leads to %d files: read wrongly", len(from))
	}
}
