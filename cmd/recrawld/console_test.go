package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestFault_111_ConsoleShowsWhatAPersonWants(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(newConsole(&out, false, false)).With("worker", "w")
	log.Debug("visit", "page", "https://example.org/same", "outcome", "not-modified", "class", "")
	log.Debug("visit", "page", "https://example.org/\x1b[2Jnew", "outcome", "changed", "class", "")
	log.Debug("visit", "page", "https://example.org/bad", "outcome", "failed", "class", "conn-reset")
	log.Debug("something inner")
	log.Warn("reload refused", "err", errors.New("line 1\nline 2"))
	got := out.String()
	for _, want := range []string{"changed       https://example.org/\uFFFD[2Jnew\n", "failed        https://example.org/bad  (conn-reset)\n",
		"warning: reload refused  worker w  err line 1; line 2\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("console shows\n%s\nwant %q in it", got, want)
		}
	}
	for _, unwanted := range []string{"/same", "inner", "\x1b"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("console shows %q:\n%s", unwanted, got)
		}
	}
}

func TestConsoleShowsAllWhereAsked(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(newConsole(&out, true, true))
	log.Debug("visit", "page", "https://example.org/same", "outcome", "not-modified")
	log.Error("disk")
	if got := out.String(); !strings.Contains(got, "/same") || !strings.Contains(got, "\x1b[31merror: \x1b[0mdisk") {
		t.Errorf("console shows %q, want every visit and colours", got)
	}
}

// A person holds the log against what commands say, which is in UTC wherever the machine stands.
func TestConsoleTellsTimesInUTC(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Date(2026, 11, 21, 17, 49, 44, 0, time.FixedZone("New York", -5*3600))
	if err := newConsole(&out, false, false).Handle(t.Context(), slog.NewRecord(at, slog.LevelInfo, "ended", 0)); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "22:49:44  ended\n"; got != want {
		t.Errorf("console shows %q, want %q", got, want)
	}
}
