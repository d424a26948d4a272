package main

import (
	"log/slog"
	"sync/atomic"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
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
func (n *notifier) stopping()           { n.send(sd.SdNotifyStopping + "\nSTATUS=stopping") }

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
