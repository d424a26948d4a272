package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"recrawld/archive"
	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
	"recrawld/recrawl"
	"recrawld/recrawl/content"
	"recrawld/recrawl/resolve"
	"recrawld/recrawl/scope"
	"recrawld/scheduler"
	"recrawld/web"
)

// daemon is one worker with all that it is made of. It is built step by step in newDaemon, connected in build, and runs
// in run; this file is the only place that knows all parts.
type daemon struct {
	g        *globals
	flags    *runCmd
	log      *slog.Logger
	notify   *notifier
	registry *prometheus.Registry
	hup      chan os.Signal

	start     config.Config    // as it was when we began: what a reload cannot change is read from here
	reference *clock.Reference // the database server's clock, or the machine's own where that has none
	machine   clock.System     // goes by it
	off       bool             // the machine's differs from it (clock.Off); known to the beats
	settling  settling         // after it was set; known to the beats
	ages      ages             // what is removed for its age goes by
	clock     clock.Clock
	anchor    clock.Anchor
	token     string       // that opens web
	began     time.Time    // by the daemon's clock
	newest    atomic.Int64 // the newest moment in the database, a models.Instant; see wrote
	store     *models.Store
	archive   *archive.Archive
	past      *past
	names     *resolve.Cache
	visitor   *visitors
	websub    *websub
	worker    *scheduler.Worker
	figures   *figures
	disk      *disk
	web       *web.Server  // nil: not wanted
	misled    atomic.Bool  // by the clock: nothing is claimed
	doubts    atomic.Int64 // since when the time is in doubt, by the machine's monotonic clock; 0: it is not
	live      atomic.Pointer[[]scheduler.Peer]
	witness   witness // of the beats of all workers
	force     atomic.Pointer[inForce]

	scheduled   *inForce  // whose settings the waiting pages are known to follow; known to that chore
	looked      looked    // for what is unusual; known to that chore
	missed      bool      // pages that the archive did not have after a restore are still to be fetched; known to the start and one chore
	missedAgain time.Time // when what is left of that is counted again

	orphans sync.Map // IDs of sites, as int32, that are gone and whose pages had their turn

	mu      sync.Mutex
	base    config.Config  // guarded by mu; the file and the flags
	origins config.Origins // guarded by mu
	refused []models.Site  // guarded by mu; rows that could not be put in force

	closers []func() error // in the order in which things were opened
}

// newDaemon opens everything that may be missing, taken or broken, so that a daemon that begins to run has what it
// needs. What was opened is closed again when a later step fails.
func newDaemon(ctx context.Context, g *globals, flags *runCmd) (*daemon, error) {
	d := &daemon{g: g, flags: flags, log: g.Log, notify: newNotifier(g.Log), registry: prometheus.NewRegistry(),
		hup: make(chan os.Signal, 1)}
	signal.Notify(d.hup, syscall.SIGHUP) // before anything else: unheard, it would end the process
	defer d.notify.starting(ctx, d.machine)()
	for _, step := range []func(context.Context) error{
		d.configure, d.takeData, d.openStore, d.lookForLeftBehind, d.setClock, d.readSites, d.openArchive, d.lookForMissing,
		d.build, d.openWeb, d.noteConfig,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	return d, nil
}

func (d *daemon) configure(context.Context) error {
	var err error
	d.base, d.origins, err = d.readBase()
	d.start = d.base
	return err
}

// readBase reads the configuration file and puts the flags over it.
func (d *daemon) readBase() (config.Config, config.Origins, error) {
	c, origins, err := d.g.loadConfig()
	if err == nil {
		err = d.flags.put(&c, origins)
	}
	if err == nil {
		if err = c.Validate(); err != nil {
			err = coded{exitUsage, err}
		}
	}
	return c, origins, err
}

// takeData makes the data directory and takes it: the whole of it for SQLite, this worker's part of it for PostgreSQL.
func (d *daemon) takeData(context.Context) error {
	if err := os.MkdirAll(d.start.Data, 0o700); err != nil {
		return fmt.Errorf("create the data directory: %w", err)
	}
	if err := becomeOwner(d.start.Data); err != nil {
		return err
	}
	worker := ""
	if !d.alone() {
		worker = d.start.Worker.Name
	}
	l, err := takeLock(d.start.Data, worker)
	if err != nil {
		return err
	}
	d.onClose(func() error { l.release(); return nil })
	if err := l.sign(databasePlace(&d.start), absolute(d.g.ConfigPath)); err != nil {
		return fmt.Errorf("sign the lock of %s: %w", d.start.Data, err)
	}
	d.disk = &disk{dir: d.start.Data, log: d.log, min: d.start.Worker.MinFree}
	return nil
}

// alone tells whether no other worker can be on this database.
func (d *daemon) alone() bool { return d.start.Store == "sqlite" }

func (d *daemon) openStore(ctx context.Context) error {
	store, err := d.g.openStoreForDaemon(ctx, &d.start)
	if err != nil {
		return err
	}
	d.store = store
	d.onClose(store.Close)
	return nil
}

// readSites brings the sites of the file and the start URLs of the command line into the database, checks that they may
// be crawled, and puts everything in force.
func (d *daemon) readSites(ctx context.Context) error {
	asked, err := withStarts(d.base, d.flags.URLs)
	if err == nil {
		err = d.permitted(&asked) // before it is stored: what is refused must not stand in the way of the next start
	}
	if err != nil {
		return err
	}
	had, err := d.store.Sites(ctx)
	if err != nil {
		return err
	}
	if err := syncSites(ctx, d.store, &d.base, d.clock.Now()); err != nil {
		return err
	}
	for _, site := range asked.Sites[len(d.base.Sites):] {
		if err := addStart(ctx, d.store, site.URL, d.clock.Now()); err != nil {
			return err
		}
	}
	rows, err := d.store.Sites(ctx)
	if err != nil {
		return err
	}
	force, err := d.prepare(d.base, d.origins, rows)
	if err != nil {
		return err
	}
	for _, err := range force.refused {
		return err // at the start somebody is there to mend it
	}
	d.force.Store(force)
	d.tellLeft(had, rows)
	_, err = addStartPages(ctx, d.store, force, d.clock.Now())
	return err
}

// prepare puts a configuration together with the sites of the database, and refuses one that may not be in force. Sites
// of the database alone that may not be asked are left out of it.
func (d *daemon) prepare(base config.Config, origins config.Origins, rows []models.Site) (*inForce, error) {
	if err := d.permitted(&base); err != nil {
		return nil, err
	}
	admitted, refused := admit(base, origins, rows, d.permitted)
	force, err := putTogether(base, origins, admitted)
	if err != nil {
		return nil, err
	}
	force.rows, force.refused = rows, refused
	return force, outlasts(d.start.Worker.Lease, &force.config)
}

// outlasts refuses pages that may take longer than the lease of a running worker, which a reload does not change.
func outlasts(lease time.Duration, c *config.Config) error {
	if longest := scheduler.PageTime(c); !(&config.Worker{Lease: lease}).Outlasts(longest) {
		return coded{exitUsage, fmt.Errorf("page_time %s plus a minute (or half the lease) is not less than the worker.lease %s that the daemon began with: start it anew",
			config.FormatDuration(longest), config.FormatDuration(lease))}
	}
	return nil
}

// permitted refuses what may not be asked: other people's servers without a contact, or in a rehearsal.
func (d *daemon) permitted(c *config.Config) error {
	if urls := foreign(c); d.flags.Speed > 0 && len(urls) > 0 {
		return refusedf("--speed is for rehearsals on this machine, and %s is not on it", urls[0])
	}
	if err := c.CheckContact(); err != nil {
		return refusedf("%w (or give it with --contact)", err)
	}
	return nil
}

func (d *daemon) openArchive(ctx context.Context) error {
	a, err := archive.Open(archiveDir(&d.start), archive.Options{
		Worker: d.start.Worker.Name, Software: "recrawld " + versionText(), Agent: d.start.Agent.Name,
		Now: d.machine.Now, Log: d.log, Recent: recentBytes(&d.start),
	})
	if err != nil {
		return err
	}
	d.archive = a
	d.onClose(a.Close)
	if err := errors.Join(knowOthers(a.Reader, d.store, d.machine.Now), d.noteArchive(ctx)); err != nil {
		return err
	}
	d.past, err = openPast(d.store, &d.start, d.machine.Now)
	if err != nil {
		return err
	}
	d.onClose(d.past.close)
	return nil
}

// build connects the parts.
func (d *daemon) build(ctx context.Context) error {
	d.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	d.figures = newFigures(d.store, d.registry)
	d.names = resolve.New(resolve.Config{Metrics: d.registry})
	d.onClose(func() error { d.names.Close(); return nil })
	d.websub = newWebsub(websubParts{store: d.store, force: d.force.Load, clock: d.clock, log: d.log, speed: d.flags.Speed,
		deaf: d.alone() && d.start.Listen == "off", ask: d.askHub, held: d.past.Body}, d.registry)
	d.visitor = &visitors{make: d.newVisitor, learns: d.learnSite, found: d.websub.found}
	if err := d.visitor.follow(&d.force.Load().config); err != nil {
		return err
	}
	d.onClose(func() error { d.visitor.close(); return nil })
	d.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "recrawld", Name: "connections",
		Help: "Connections to sites that are open, kept ones included."}, d.visitor.connections))
	c := &d.start
	store := scheduler.Store(weighingStore{d.store, d.weigh})
	if d.flags.watch != nil {
		store = d.flags.watch(store)
	}
	d.worker = scheduler.NewWorker(scheduler.Config{
		Store: store, Visitor: d.visitor, Archive: d.archive, Clock: d.clock, Log: d.log,
		Name: c.Worker.Name, Fetchers: c.Worker.Fetchers, Lease: c.Worker.Lease, Grace: c.Worker.Grace,
		Memory: c.Worker.Memory, Writers: d.store.Writers(), WriterOf: d.store.WriterOf, SlowShare: c.Worker.SlowShare,
		Prepare: d.prepareHost, Live: d.peers, Hold: d.hold, InDoubt: d.inDoubt, Beat: d.beat, Metrics: d.registry,
	}, d.force.Load().planner)
	return d.beatOnce(ctx, d.clock.Now())
}

// prepareHost begins to look up the name of a host whose turn comes soon.
func (d *daemon) prepareHost(ctx context.Context, host string) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]") // without a port
	}
	d.names.Prefetch(ctx, name)
}

func (d *daemon) newVisitor(c *config.Config) (*recrawl.Visitor, error) {
	return recrawl.New(d.visits(c))
}

// visits are what visits go by, and requests to hubs.
func (d *daemon) visits(c *config.Config) recrawl.Config {
	return recrawl.Config{
		Agent: c.Agent, Version: versionText(), Network: c.Network, Clock: d.clock, Log: d.log,
		Sites: func(id int32) (config.Site, *scope.Scope, *content.Rules) { return d.force.Load().visited(id) },
		Past:  d.past, Resolver: d.names, Memory: d.start.Worker.Memory,
	}
}

// openWeb binds the address of the daemon's own server. A port that is taken ends the start only where it was asked for: the default
// one may well belong to another daemon.
func (d *daemon) openWeb(context.Context) error {
	if d.start.Listen == "off" {
		return nil
	}
	token, file, err := webToken(d.start.Data)
	if err != nil {
		return err
	}
	d.token = token
	server, err := web.Listen(web.Options{Listen: d.start.Listen, Version: versionText(), Checks: d.checks(), Metrics: d.registry,
		Library: newShelf(d.library), Subscriber: d.websub, Sheets: webSheets(d.look), Token: token, File: file, Clock: clock.System{}, Log: d.log})
	if err != nil && d.origins.Of(config.Place{Key: "listen"}).Source == config.FromDefault {
		d.log.Warn("nothing is served over HTTP: no health, no metrics, nothing of pages", "err", err)
		return nil
	}
	if _, taken := errors.AsType[web.Taken](err); taken {
		return coded{exitLocked, err}
	}
	d.web = server
	return err
}

// run works until ctx ends: then the worker finishes what it has begun, and after it everything beside it ends.
func (d *daemon) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, d.close()) }()
	defer easeCollector(&d.start.Worker)()
	group, failed := errgroup.WithContext(context.WithoutCancel(ctx))
	working, stopWorking := context.WithCancel(ctx)
	defer stopWorking()
	context.AfterFunc(failed, stopWorking)
	defer context.AfterFunc(working, d.stopping)()
	beside, stopBeside := context.WithCancel(failed)
	defer stopBeside()

	group.Go(func() error { defer stopBeside(); return d.worker.Run(working) })
	group.Go(func() error { scheduler.RunJobs(beside, d.clock, d.log, d.jobs()); return nil })
	group.Go(func() error { return d.listenForReload(beside) })
	group.Go(func() error { return d.endForLater(beside) })
	group.Go(func() error { return d.websub.Run(beside) })
	d.checkHooks()
	d.checkMails()
	d.checkIndexes()
	d.checkChats()
	for _, runner := range d.sinkRunners() {
		group.Go(func() error { return runner.run(beside) })
	}
	if d.web != nil {
		group.Go(func() error { return d.web.Run(beside) })
	}
	d.greet()
	d.notify.ready(d.summary())
	err = group.Wait()
	d.farewell(context.WithoutCancel(ctx))
	return err
}

// onClose remembers how to close what was opened.
func (d *daemon) onClose(f func() error) { d.closers = append(d.closers, f) }

// close closes what was opened, the last first.
func (d *daemon) close() error {
	signal.Stop(d.hup)
	var errs []error
	for len(d.closers) > 0 {
		last := len(d.closers) - 1
		errs = append(errs, d.closers[last]())
		d.closers = d.closers[:last]
	}
	return errors.Join(errs...)
}
