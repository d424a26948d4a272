// Package shared finds the test data that lies beside the project: real pages, change histories, conformance suites.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the file or folder of that name in the shared data: in $RECRAWLD_SHARED, or in the folder "shared"
// beside the project. Without it the test is skipped and says so.
func Path(t testing.TB, name string) string {
	t.Helper()
	for _, root := range roots() {
		path := filepath.Join(root, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("no shared test data %q: set RECRAWLD_SHARED to the folder that holds it", name)
	return ""
}

func roots() []string {
	if dir := os.Getenv("RECRAWLD_SHARED"); dir != "" {
		return []string{dir}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return []string{filepath.Join(filepath.Dir(dir), "shared")}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}
