package arch

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// twice are the packages whose tests of simultaneous use alone run under the race detector, by a command of their own.
var twice = []string{"models", "scheduler/storetest"}

// What runs beside something else is tested under the race detector: its package stands in the Makefile's list.
func TestWhatRunsAtOnceIsRaced(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^RACED := ((?:.*\\\n)*.*)$`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile has no list RACED")
	}
	raced := slices.Concat(strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " ")), twice)
	for _, folder := range raced {
		if _, err := os.Stat(filepath.Join("../..", folder)); err != nil {
			t.Errorf("the Makefile's RACED has %s: %v", folder, err)
		}
	}
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || slices.Contains(raced, folder) {
			return
		}
		if at := simultaneous(file); at.IsValid() {
			t.Errorf("%s:%d runs beside something else, and %s is not in the Makefile's RACED", path, files.Position(at).Line, folder)
		}
	})
}

// simultaneous is where a file begins a goroutine or guards something against others; not valid: it does neither.
func simultaneous(file *ast.File) (at token.Pos) {
	for _, spec := range file.Imports {
		if path := strings.Trim(spec.Path.Value, `"`); path == "sync" || path == "sync/atomic" || path == "golang.org/x/sync/errgroup" {
			return spec.Pos()
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if statement, ok := n.(*ast.GoStmt); ok {
			at = statement.Pos()
		}
		return true
	})
	return at
}

// Of a package without tests none is shortened, and nobody is waited for who could name some.
func TestAPackageWithoutTestsHasNoShortenedOnes(t *testing.T) {
	t.Parallel()
	shortened := exec.CommandContext(t.Context(), "../../.ci/shortened", t.TempDir())
	shortened.Stdin = strings.NewReader("func TestTyped(t *testing.T) {\n\ttesting.Short()\n")
	out, err := shortened.CombinedOutput()
	if got, want := string(out), "-run ^()$\n"; got != want || err != nil {
		t.Errorf("shortened = %q, %v, want %q", got, err, want)
	}
}
