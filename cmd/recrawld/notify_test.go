package main

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawld/clock"
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
	n.stopping(time.Minute)
	if got := next(); !strings.HasPrefix(got, "STOPPING=1") || !strings.HasSuffix(got, "\nEXTEND_TIMEOUT_USEC=60000000") {
		t.Errorf("stopping sent %q", got)
	}
}

// TestFault_094_ALongMigrationIsNotCutOff has a start ask for more time before what it asked for last is over.
func TestFault_094_ALongMigrationIsNotCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c := clock.NewVirtual(start)
	var asked []time.Duration
	extend(ctx, c, func(state string) {
		if state != "EXTEND_TIMEOUT_USEC=60000000" {
			t.Errorf("sent %q", state)
		}
		if asked = append(asked, c.Now().Sub(start)); len(asked) == 3 {
			cancel()
		}
	})
	if want := []time.Duration{20 * time.Second, 40 * time.Second, time.Minute}; !slices.Equal(asked, want) {
		t.Errorf("asked for more time after %v, want %v", asked, want)
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
