package arch

import (
	"os"
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
