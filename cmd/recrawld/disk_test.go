package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

func TestFault_081_DiskHoldsAndResumesAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	d := &disk{dir: t.TempDir(), log: slog.New(slog.NewTextHandler(&log, nil))}
	if why := d.hold(); why != "" {
		t.Fatalf("hold() = %q with no low-water mark", why)
	}
	d.setMin(1 << 62)
	for range 3 {
		if why := d.hold(); !strings.Contains(why, d.dir) {
			t.Fatalf("hold() = %q, want the disk named", why)
		}
	}
	d.setMin(0)
	for range 3 {
		if why := d.hold(); why != "" {
			t.Fatalf("hold() = %q, want room", why)
		}
	}
	if got := strings.Count(log.String(), "pauses"); got != 1 {
		t.Errorf("the pause is in the log %d times, want once:\n%s", got, log.String())
	}
	if got := strings.Count(log.String(), "resumes"); got != 1 {
		t.Errorf("the end of the pause is in the log %d times, want once:\n%s", got, log.String())
	}
}

func TestDiskThatCannotBeSeenHolds(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	d := &disk{dir: filepath.Join(t.TempDir(), "nothing"), log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		if why := d.hold(); why == "" {
			t.Errorf("hold() of a directory that is not there = %q, want an error", why)
		}
	}
	if got := strings.Count(log.String(), "pauses"); got != 1 {
		t.Errorf("the pause is in the log %d times, want once:\n%s", got, log.String())
	}
	d.dir = t.TempDir()
	for range 2 {
		if why := d.hold(); why != "" {
			t.Errorf("hold() of a directory that is back = %q, want room", why)
		}
	}
	if got := strings.Count(log.String(), "resumes"); got != 1 {
		t.Errorf("the end of the pause is in the log %d times, want once:\n%s", got, log.String())
	}
}
