package main

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"recrawld/clock"
)

// notifier tells systemd how the daemon is. Without systemd it does nothing. It is safe for concurrent use.
type notifier struct {
	log      *slog.Logger
	watchdog time.Duration // systemd ends us when it hears nothing for that long; 0: it does not watch
	beatAt   atomic.Int64  // Unix nanoseconds of the scheduler loop's last turn
	pingAt   atomic.Int64  // of the last ping
}

// newNotifier reads from the environment what systemd expects.
func newNotifier(log *slog.Logger) *notifier {
	watchdog, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the watchdog's environment is not understood", "err", err)
	}
	return &notifier{log: log, watchdog: watchdog}
}

func (n *notifier) ready(status string) { n.send(sd.SdNotifyReady + "\nSTATUS=" + status) }
func (n *notifier) status(text string)  { n.send("STATUS=" + text) }

// stopping announces the end, which may take so long: systemd kills what takes longer than it expects.
func (n *notifier) stopping(atMost time.Duration) {
	n.send(sd.SdNotifyStopping + "\nSTATUS=stopping\n" + extension(atMost))
}

const (
	extendEvery = 20 * time.Second
	extendBy    = 3 * extendEvery
)

// starting asks systemd for more time, again and again until stop is called: a large database of an earlier release takes longer
// to bring up to date than a start may take, and would begin anew with each next one.
func (n *notifier) starting(ctx context.Context, c clock.Clock) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		extend(ctx, c, n.send)
	}()
	return func() { cancel(); <-ended }
}

func extend(ctx context.Context, c clock.Clock, send func(string)) {
	for c.SleepUntil(ctx, c.Now().Add(extendEvery)) == nil {
		send(extension(extendBy))
	}
}

func extension(by time.Duration) string {
	return "EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(by.Microseconds(), 10)
}

// reloading announces a reload; ready ends it.
func (n *notifier) reloading() {
	n.send(sd.SdNotifyReloading + "\n" + sd.SdNotifyMonotonicUsec())
}

// beat is called on every turn of the scheduler's loop and from nowhere else: a loop that hangs stops the pings.
func (n *notifier) beat(now time.Time) {
	n.beatAt.Store(now.UnixNano())
	since := now.UnixNano() - n.pingAt.Load() // negative: the clock was set back
	if n.watchdog <= 0 || since >= 0 && since < int64(n.watchdog/4) {
		return
	}
	n.pingAt.Store(now.UnixNano())
	n.send(sd.SdNotifyWatchdog)
}

// sinceBeat is how long ago the loop last turned.
func (n *notifier) sinceBeat(now time.Time) time.Duration {
	return now.Sub(time.Unix(0, n.beatAt.Load()))
}

func (n *notifier) send(state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		n.log.Warn("systemd does not listen", "err", err)
	}
}
