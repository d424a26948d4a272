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

// followServer sets the machine's clock by the database server's, and tells whether the time is known.
func (d *daemon) followServer(ctx context.Context) (known bool, err error) {
	server := clock.NewReference(d.flags.machine)
	d.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "recrawld", Name: "clock_ahead_seconds",
		Help: "How far this machine's clock is ahead of the database server's, which all workers go by; negative: behind. 0 with SQLite."},
		func() float64 { ahead, _ := server.Ahead(); return ahead.Seconds() }))
	if known, err = firstCompared(ctx, d.store, server); err != nil || d.alone() {
		return true, err
	}
	d.server, d.machine = server, clock.Following(server)
	return known, nil
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
	return server.Compare(before, at, server.Machine()), nil
}

// holdUnknown tells why nothing may be claimed where the time is not known for a moment, "" otherwise.
func (d *daemon) holdUnknown() string {
	if d.server == nil {
		return ""
	}
	if _, known := d.server.Ahead(); known {
		return ""
	}
	return "this machine's clock was set, or has not been compared with the database server's yet: that is done every " +
		config.FormatDuration(beatEvery) + ", and needs an answer within a second"
}

// holdFarOff tells why nothing may be claimed where the machine's clock and the database server's differ by much, "" otherwise.
func (d *daemon) holdFarOff() string {
	if d.server == nil {
		return ""
	}
	why := d.apart(clock.FarOff)
	if why == "" {
		return ""
	}
	return why + "; the worker then goes on by itself"
}

// apart says how far the machine's clock is from the database server's, where that is so much or more, "" otherwise.
func (d *daemon) apart(least time.Duration) string {
	ahead, _ := d.server.Ahead()
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

// watchClocks compares the clocks, and says once where they are off, and once where they are not any more.
func (d *daemon) watchClocks(ctx context.Context) error {
	if d.server == nil {
		return nil
	}
	if _, err := compare(ctx, d.store, d.server); err != nil {
		return err
	}
	why := d.apart(clock.Off)
	switch off := why != ""; {
	case off && !d.off:
		d.log.Warn("the clocks differ; the database server's counts", "why", why)
	case !off && d.off:
		d.log.Info("the clocks do not differ any more")
	}
	d.off = why != ""
	return nil
}
