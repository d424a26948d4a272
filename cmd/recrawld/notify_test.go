package main

import (
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listenAsSystemd sets the environment up as systemd does and returns a function that reads the next message.
func listenAsSystemd(t *testing.T, watchdog string) func() string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", watchdog)
	return func() string {
		t.Helper()
		message := make([]byte, 4096)
		n, err := socket.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
}

func TestSystemdHearsTheStates(t *testing.T) {
	next := listenAsSystemd(t, "")
	n := newNotifier(slog.New(slog.DiscardHandler))
	n.ready("3 sites")
	if got := next(); got != "READY=1\nSTATUS=3 sites" {
		t.Errorf("ready sent %q", got)
	}
	n.reloading()
	if got := next(); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("reloading sent %q", got)
	}
	n.stopping()
	if got := next(); !strings.HasPrefix(got, "STOPPING=1") {
		t.Errorf("stopping sent %q", got)
	}
}

func TestWatchdogIsPingedByBeatsAndNotTooOften(t *testing.T) {
	next := listenAsSystemd(t, "60000000")
	n := newNotifier(slog.New(slog.DiscardHandler))
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for second := range 40 {
		n.beat(start.Add(time.Duration(second) * time.Second))
	}
	n.status("end")
	pings := 0
	for next() == "WATCHDOG=1" {
		pings++
	}
	if pings != 3 {
		t.Errorf("%d pings in 40 s of a watchdog of 60 s, want 3 (at 0, 15 and 30 s)", pings)
	}
	if got := n.sinceBeat(start.Add(time.Minute)); got != 21*time.Second {
		t.Errorf("sinceBeat = %v, want 21s", got)
	}
}

// A clock that is set back must not stop the pings until it has caught up: systemd would end a daemon that is well.
func TestWatchdogIsPingedAfterTheClockWasSetBack(t *testing.T) {
	next := listenAsSystemd(t, "60000000")
	n := newNotifier(slog.New(slog.DiscardHandler))
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	n.beat(start)
	for second := range 31 {
		n.beat(start.Add(-time.Hour + time.Duration(second)*time.Second))
	}
	n.status("end")
	pings := 0
	for next() == "WATCHDOG=1" {
		pings++
	}
	if pings != 4 {
		t.Errorf("%d pings, want 4: before the clock was set back an hour, then, and 15 and 30 s later", pings)
	}
}
