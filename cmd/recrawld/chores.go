package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"recrawld/models"
	"recrawld/scheduler"
	"recrawld/sink"
	"recrawld/web"
)

// jobs are the chores beside the visits. Distances in real time are for what other processes or people wait for;
// the others are by the daemon's clock, but never so short that a rehearsal does nothing else.
func (d *daemon) jobs() []scheduler.Job {
	wait := d.clock.Real
	return []scheduler.Job{
		{Name: "beat", Next: scheduler.Every(wait(beatEvery)), Run: d.saidOnce("beat", d.beatOnce)},
		{Name: "sites", Next: scheduler.Every(wait(sitesEvery)), Run: d.saidOnce("sites", d.followSites)},
		{Name: "orphans", Next: scheduler.Every(wait(sitesEvery)), Run: d.saidOnce("orphans", d.removeOrphans)},
		{Name: "schedule", Next: atOnce(wait(scheduleEvery)), Run: d.saidOnce("schedule", d.followSchedule)},
		{Name: "outbox", Next: scheduler.Every(wait(outboxEvery)), Run: d.saidOnce("outbox", d.deliver)},
		{Name: "sinks", Next: atOnce(wait(sinksEvery)), Run: d.saidOnce("sinks", d.readSinks)},
		{Name: "figures", Next: atOnce(wait(figuresEvery)), Run: d.saidOnce("figures", d.readFigures)},
		{Name: "unusual", Next: atOnce(wait(time.Minute)), Run: d.saidOnce("unusual", d.lookWhenDue)},
		{Name: "history", Next: daily(wait), Run: d.pruneVisits},
		d.backupJob(),
		{Name: "importance", Next: scheduler.Every(wait(importanceEvery)), Run: d.saidOnce("importance", d.followImportance)},
		{Name: "requisites", Next: atOnce(wait(requisitesEvery)), Run: d.saidOnce("requisites", d.followRequisites)},
		{Name: "unnamed", Next: atOnce(wait(requisitesEvery)), Run: d.saidOnce("unnamed", d.followUnnamed)},
		{Name: "hubs", Next: atOnce(wait(hubsEvery)), Run: d.saidOnce("hubs", d.websub.followHubs)},
		{Name: "events", Next: daily(wait), Run: d.pruneEvents},
		{Name: "removed", Next: daily(wait), Run: d.clearRemoved},
		{Name: "missing", Next: scheduler.Every(wait(missingEvery)), Run: d.saidOnce("missing", d.followMissing)},
		{Name: "self-check", Next: daily(wait), Run: d.selfCheck},
	}
}

// firstDaily is how long after its start, in real time, a daemon does what is to be done daily: one that is started anew every
// day would never come to it else.
const firstDaily = 10 * time.Minute

// daily is a Job.Next for what is to be done soon after the start and then once a day.
func daily(wait func(time.Duration) time.Duration) func(time.Time) time.Time {
	every := wait(firstDaily) // used by the chore's own goroutine alone
	return func(now time.Time) time.Time {
		next := now.Add(every)
		every = max(24*time.Hour, wait(time.Minute))
		return next
	}
}

// atOnce is a Job.Next for what is done at the start and then every so often.
func atOnce(every time.Duration) func(time.Time) time.Time {
	wait := time.Duration(0) // used by the chore's own goroutine alone
	return func(now time.Time) time.Time {
		next := now.Add(wait)
		wait = every
		return next
	}
}

// saidOnce lets a chore that is done every few seconds complain once of what goes on being wrong.
func (d *daemon) saidOnce(name string, run func(context.Context, time.Time) error) func(context.Context, time.Time) error {
	failing := false // used by the chore's own goroutine alone
	return func(ctx context.Context, now time.Time) error {
		err := run(ctx, now)
		switch {
		case err != nil && failing:
			return nil
		case err == nil && failing:
			d.log.Info("chore succeeds again", "chore", name)
		}
		failing = err != nil
		return err
	}
}

// How often, in real time, what commands changed is looked for, what is left in the outbox is delivered, and the figures
// of /metrics that cost a query are read.
const (
	outboxEvery  = 10 * time.Second
	sitesEvery   = 2 * time.Second
	sinksEvery   = 5 * time.Second
	figuresEvery = time.Minute
)

// beatOnce says in the database that this worker lives, and learns who else does.
func (d *daemon) beatOnce(ctx context.Context, now time.Time) error {
	moved, err := d.watchClocks(ctx)
	if err != nil {
		return err
	}
	if moved != 0 {
		now = d.clock.Now()
	}
	if err := d.settle(ctx, moved, now); err != nil {
		return err
	}
	d.wrote(models.At(now))
	self := d.self(now, d.machine.Now())
	share, lag := d.worker.Balance()
	self.Share, self.Lag = share, int64(lag)
	if err := d.store.Beat(ctx, self); err != nil {
		return err
	}
	workers, err := d.store.Workers(ctx)
	if err != nil {
		return err
	}
	peers := d.witness.living(workers, d.machine.Now())
	d.live.Store(&peers)
	return nil
}

// self is this worker's row. A clock that is behind does not make the newest beat older.
func (d *daemon) self(now, machine time.Time) models.Worker {
	host, _ := os.Hostname() // for a person to read; without it the name of the worker stays
	return models.Worker{
		Name: d.start.Worker.Name, Machine: host, PID: int32(os.Getpid()), Release: versionText(),
		StartedAt: models.At(d.began), BeatAt: max(models.At(now), d.newestWritten()), RealBeatAt: models.At(machine),
		Visits: int64(sum(d.registry, "recrawld_visits_total")), Lost: int64(sum(d.registry, "recrawld_leases_lost_total")),
		InFlight: int32(sum(d.registry, "recrawld_fetches_in_flight")), Share: 1, Statements: d.store.Statements(),
	}
}

// livingWorkers are the names of the workers that beat lately.
func livingWorkers(workers []models.Worker, now time.Time) []string {
	var names []string
	for _, w := range workers {
		if isAlive(w, now) {
			names = append(names, w.Name)
		}
	}
	return names
}

// isAlive tells whether a worker beat lately. A beat that lies ahead is of a clock that was ahead then: all go by one.
func isAlive(w models.Worker, now time.Time) bool { return now.Sub(w.RealBeatAt.Time()).Abs() < alive }

// peers are the workers that are alive.
func (d *daemon) peers() []scheduler.Peer {
	if peers := d.live.Load(); peers != nil {
		return *peers
	}
	return nil
}

// farewell leaves the worker's row behind with its last beat and no claim to be alive.
func (d *daemon) farewell(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	row := d.self(d.clock.Now(), time.Time{})
	if err := d.store.Beat(ctx, row); err != nil {
		d.log.Warn("the last beat is not written; others take this worker for alive a few seconds more", "err", err)
	}
	d.log.Info("ended", "visits", row.Visits)
}

// briefly is how long the time may be in doubt, as it is whenever a clock was set, before that is told as an error.
const briefly = 30 * time.Second

// hold tells the worker why nothing may be claimed now.
func (d *daemon) hold() string {
	grave, passing := d.held()
	return cmp.Or(passing, grave)
}

// held tells why nothing may be claimed now: for a grave reason, or for one that is over in seconds.
func (d *daemon) held() (grave, passing string) {
	doubt := d.holdUnknown()
	grave = cmp.Or(d.holdFarOff(), holdBehind(d.clock.Now(), d.newestWritten().Time()))
	if d.doubted(doubt != "") > briefly {
		grave = cmp.Or(doubt, grave)
	}
	if d.misled.Swap(grave != "") != (grave != "") {
		if grave != "" {
			d.log.Error("nothing is visited", "why", grave)
			d.notify.status(grave)
		} else {
			d.log.Info("the clock is right again")
			d.notify.status(d.summary())
		}
	}
	return cmp.Or(grave, d.disk.hold()), doubt
}

// doubted is for how long the time has been in doubt, where it is.
func (d *daemon) doubted(is bool) time.Duration {
	if !is {
		d.doubts.Store(0)
		return 0
	}
	now := int64(d.reference.Machine().Monotonic)
	d.doubts.CompareAndSwap(0, now)
	return time.Duration(now - d.doubts.Load())
}

// beat is the turn of the worker's loop.
func (d *daemon) beat() { d.notify.beat(d.machine.Now()) }

// checks are what /healthz looks at.
func (d *daemon) checks() []web.Check {
	return []web.Check{
		{Name: "scheduler", Run: func(context.Context) error {
			if since := d.notify.sinceBeat(d.machine.Now()); since > 30*time.Second {
				return fmt.Errorf("the loop last turned %s ago", since.Round(time.Second))
			}
			return nil
		}},
		{Name: "store", Run: func(ctx context.Context) error {
			_, err := d.store.Workers(ctx)
			return err
		}},
		{Name: "claiming", Run: func(context.Context) error {
			grave, _ := d.held()
			if why := cmp.Or(grave, d.worker.Outage()); why != "" {
				return errors.New(why)
			}
			return nil
		}},
	}
}

// readSinks is a chore of its own: counting many pages takes long, and who follows a sink's trouble shall not hear of it minutes late.
func (d *daemon) readSinks(ctx context.Context, now time.Time) error {
	return d.figures.behind(ctx, sinkNames(&d.start), now)
}

func (d *daemon) readFigures(ctx context.Context, now time.Time) error {
	if err := d.figures.archived(ctx, d.start.Worker.Name); err != nil {
		return err
	}
	return d.figures.read(ctx, now)
}

// deliver delivers what commits left in the outbox that should have delivered it long ago.
func (d *daemon) deliver(ctx context.Context, now time.Time) error {
	n, err := d.store.Deliver(ctx, now.Add(-d.clock.Real(outboxEvery)))
	if n > 0 {
		d.log.Info("findings of commits that were cut off are delivered", "parcels", n)
	}
	return err
}

// pruneSlice is how many rows a chore removes in a transaction.
const pruneSlice = 5000

func (d *daemon) pruneVisits(ctx context.Context, now time.Time) error {
	by, sure := d.agesBy(now)
	if !sure {
		return nil
	}
	n, err := d.store.PruneVisits(ctx, by.Add(-d.force.Load().config.History.Keep), pruneSlice)
	if n > 0 {
		d.log.Info("old visits removed from the history", "visits", n)
	}
	return err
}

func (d *daemon) pruneEvents(ctx context.Context, now time.Time) error {
	by, sure := d.agesBy(now)
	if !sure {
		return nil
	}
	before := by.Add(-d.force.Load().config.History.Keep)
	sinks, err := d.sinksOfAll(ctx, before)
	if err != nil {
		return err
	}
	n, err := d.store.PruneEvents(ctx, before, sinks, pruneSlice)
	if n > 0 {
		d.log.Info("old events removed", "events", n)
	}
	return err
}

// sinksOfAll are the sinks of this worker and those that another one has drained since a moment: its configuration may ask for
// others.
func (d *daemon) sinksOfAll(ctx context.Context, since time.Time) ([]string, error) {
	names := sinkNames(&d.start)
	leased, err := leasedSinks(ctx, d.store)
	if err != nil {
		return nil, err
	}
	for _, name := range leased {
		if slices.Contains(names, name) {
			continue
		}
		row, err := d.store.Meta(ctx, sink.LeaseKey(name))
		if err != nil {
			return nil, err
		}
		if sink.HeldBy(row, since) != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// sum adds up the values of a metric over its labels.
func sum(registry *prometheus.Registry, name string) float64 {
	families, err := registry.Gather()
	if err != nil {
		return 0
	}
	i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if i < 0 {
		return 0
	}
	total := 0.0
	for _, m := range families[i].GetMetric() {
		total += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return total
}
