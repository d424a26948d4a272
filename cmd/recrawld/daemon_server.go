package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// Leases, beats and politeness are moments that several machines write and read, so all of them go by one clock: that of the
// database's server. Where a machine's own is off (clock.Off) the worker says so and goes on by the server's. Where it is far from
// that (clock.FarOff) one of the two is wrong by so much that it matters, and nobody knows which: what the worker holds is safe, but it
// claims nothing more and removes nothing for its age.

// firstComparisons is how often the clocks are compared at a start until one of the answers came soon enough.
const firstComparisons = 3

// followServer sets the machine's clock by the database server's, or by what it shows itself where there is none, and tells whether the time
// is known.
func (d *daemon) followServer(ctx context.Context) (known bool, err error) {
	d.reference = clock.NewReference(d.flags.machine)
	d.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "recrawld", Name: "clock_ahead_seconds",
		Help: "How far this machine's clock is ahead of the database server's, which all workers go by; negative: behind. 0 with SQLite."},
		func() float64 { return d.reference.Ahead().Seconds() }))
	d.machine = clock.Following(d.reference)
	if known, err = firstCompared(ctx, d.store, d.reference); d.alone() {
		d.reference.Adopt()
		known = true
	}
	return known, err
}

// machineOf is the clock that the workers of a database take for the machine's, for commands.
func machineOf(ctx context.Context, store *models.Store) (clock.System, error) {
	server := clock.NewReference(nil)
	_, err := firstCompared(ctx, store, server)
	return clock.Following(server), err
}

// someoneLives tells whether a worker of a database is alive.
func someoneLives(ctx context.Context, store *models.Store) (bool, error) {
	machine, err := machineOf(ctx, store)
	if err != nil {
		return false, err
	}
	workers, err := store.Workers(ctx)
	return len(livingWorkers(workers, machine.Now())) > 0, err
}

func firstCompared(ctx context.Context, store *models.Store, server *clock.Reference) (known bool, err error) {
	for try := 0; try < firstComparisons && !known && err == nil; try++ {
		known, err = compare(ctx, store, server)
	}
	return known, err
}

// compare compares the machine's clock with that of the database's server, if it has one.
func compare(ctx context.Context, store *models.Store, server *clock.Reference) (known bool, err error) {
	before := server.Machine()
	at, has, err := store.ServerTime(ctx)
	if err != nil || !has {
		return false, err
	}
	_, known = server.Compare(before, at, server.Machine())
	return known, nil
}

// inDoubt tells whether the time may not be what it seems: no visit begins meanwhile.
func (d *daemon) inDoubt() bool { return d.reference.Doubt() != clock.NoDoubt }

// holdUnknown tells why nothing may be claimed where the time is in doubt, "" otherwise.
func (d *daemon) holdUnknown() string {
	switch d.reference.Doubt() {
	case clock.Unknown:
		if d.alone() {
			return "this machine's clock was set"
		}
		return "this machine's clock was set, or the database server's was or has not been asked yet: that is done every " +
			config.FormatDuration(beatEvery) + ", and needs an answer within a second"
	case clock.Moved:
		return d.whoseClock() + " was set: each host is left alone for its delay first"
	}
	return ""
}

// whoseClock says whose it is that the workers go by.
func (d *daemon) whoseClock() string {
	if d.alone() {
		return "this machine's clock"
	}
	return "the clock of the database's server"
}

// holdFarOff tells why nothing may be claimed where the machine's clock and the database server's differ by much, "" otherwise.
func (d *daemon) holdFarOff() string {
	why := d.apart(clock.FarOff)
	if why == "" {
		return ""
	}
	return why + "; the worker then goes on by itself"
}

// apart says how far the machine's clock is from the database server's, where that is so much or more, "" otherwise.
func (d *daemon) apart(least time.Duration) string {
	ahead := d.reference.Ahead()
	if ahead.Abs() < least {
		return ""
	}
	where := "ahead of"
	if ahead < 0 {
		where = "behind"
	}
	return fmt.Sprintf("this machine's clock is %s %s the database server's: set the one that is wrong (NTP, timedatectl)",
		ahead.Abs().Round(time.Second), where)
}

// watchClocks compares the clocks, and says once where they are off, and once where they are not any more. It returns by how much the
// time moved otherwise than it passed.
func (d *daemon) watchClocks(ctx context.Context) (moved time.Duration, err error) {
	if d.alone() {
		return d.reference.Adopt(), nil
	}
	before := d.reference.Machine()
	at, _, err := d.store.ServerTime(ctx)
	if err != nil {
		return 0, err
	}
	moved, _ = d.reference.Compare(before, at, d.reference.Machine())
	why := d.apart(clock.Off)
	switch off := why != ""; {
	case off && !d.off:
		d.log.Warn("the clocks differ; the database server's counts", "why", why)
	case !off && d.off:
		d.log.Info("the clocks do not differ any more")
	}
	d.off = why != ""
	return moved, nil
}
