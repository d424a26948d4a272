package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recrawld/archive"
	"recrawld/models"
)

// TestSinksReadWhatWasJustArchivedFromMemory appends a body, damages the segment and reads it twice: memory has it once.
func TestSinksReadWhatWasJustArchivedFromMemory(t *testing.T) {
	t.Parallel()
	dir, noon := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a, err := archive.Open(dir, archive.Options{Worker: "w", Now: func() time.Time { return noon }, Recent: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	body := []byte("<html>body</html>")
	archived := func(url string) models.Record {
		r, err := a.Append(models.Capture{URL: url, Outcome: models.Outcome{At: noon, Status: 200, Body: body}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole, damaged := archived("http://localhost/1"), archived("http://localhost/2")
	if err := os.Truncate(filepath.Join(dir, damaged.File+".open"), damaged.Offset+10); err != nil {
		t.Fatal(err)
	}
	sinks := recentFirst{a}
	for _, r := range []models.Record{whole, damaged, whole} {
		if got, err := sinks.Read(r); err != nil || !bytes.Equal(got.Body, body) {
			t.Errorf("Read(%+v) = %.40q, %v, want the body", r, got.Body, err)
		}
	}
	if _, err := sinks.Read(damaged); err == nil {
		t.Error("a body was read twice from memory, want the damaged segment")
	}
}
