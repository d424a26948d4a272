package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the messages that the files in testdata/bad give beside them")

// TestFault_100_BadFiles holds the messages for broken files to the .txt files beside them.
func TestFault_100_BadFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(paths) < 40 {
		t.Fatalf("found %d files in testdata/bad: %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, _, err := Parse(filepath.Base(path), text)
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("Parse(%s) = %+v, %v, want Problems", path, c, err)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".txt", err.Error()+"\n")
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
