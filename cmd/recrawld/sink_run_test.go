package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"recrawld/archive"
	"recrawld/config"
)

// A sink that cannot be opened yet is opened when its events come again.
func TestASinkIsOpenedAgain(t *testing.T) {
	t.Parallel()
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := new(config.Config)
	c.Mirror.Dir = filepath.Join(inTheWay, "mirror")
	l := &lateSink{kind: sinkKinds()[0], config: c, archive: (*archive.Reader)(nil), log: slog.New(slog.DiscardHandler)}
	for range 2 {
		if err := l.Deliver(t.Context(), nil); err == nil {
			t.Fatal("a mirror was opened below a file")
		}
		if err := l.Idle(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if err := l.Deliver(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
