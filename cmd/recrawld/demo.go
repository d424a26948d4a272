package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"recrawld/clock"
	"recrawld/internal/origin"
	"recrawld/internal/origin/story"
	"recrawld/models"
)

// demoCmd shows what the daemon does, on a made-up site.
type demoCmd struct {
	For   time.Duration `default:"90s" help:"How long to run, in real time; a day of the site takes a second."`
	Speed float64       `default:"86400" help:"How many times as fast as the world the clock runs."`
	Seed  uint64        `default:"1" hidden:"" help:"Another seed makes up another history."`
}

// How the demo's site is visited.
const (
	demoData  = "recrawld-demo"
	demoCycle = time.Hour
	demoDelay = 2 * time.Minute
	demoPort  = 18701 // the first host's, where it is free: readable addresses, the same every time
)

// demoSettings is the demo's configuration file.
const demoSettings = `# The demo's configuration. Times are by its own clock, which runs %.0f times as fast.
cycle: 1h             # a visit interval is counted in these: fr_max 6 is a visit every 6 h
listen: 127.0.0.1:0
backup: {every: off}
worker: {min_free: 16MiB}
history: {keep: 36500d}
defaults:
  policy: classic
  fr: 4               # a new page is visited every 4 h ...
  fr_max: 120         # ... and at least every 5 days
  records: 64         # how many past visits of a page the policy looks at
  delay: 2m           # between two requests to one host
  delay_max: 1h
sites:
`

// demo is a demo under way.
type demo struct {
	*globals
	demoCmd
	world *origin.World
	clock clock.System
	start time.Time     // by the demo's clock
	began time.Time     // by the machine's
	log   *origin.Log   // what the site was asked
	store *models.Store // the daemon's database, to look into

	link atomic.Pointer[string] // that shows more in a browser; nil: not yet
}

// Run implements the command. It ends after d.For, or when the context does, with a summary.
func (d demoCmd) Run(ctx context.Context, g *globals) error {
	if !(d.Speed >= 1 && d.Speed <= mostSpeed) || d.For <= 0 {
		return usagef("--speed is at least 1 and at most %g, and --for is more than nothing", float64(mostSpeed))
	}
	if g.Data == "" {
		g.Data = demoData
	}
	if err := emptyDemoDir(g.Data); err != nil {
		return err
	}
	wall := clock.System{}.Now()
	anchor := clock.Anchor{RealAt: wall, At: wall.Truncate(time.Hour), Speed: d.Speed}
	run := &demo{globals: g, demoCmd: d, clock: clock.NewSystem(anchor), start: anchor.At, began: wall}
	run.world = story.Tell(d.Seed, anchor.At, time.Duration(float64(d.For)*d.Speed)+48*time.Hour)
	return run.run(ctx, anchor)
}

// run serves the site, has the daemon follow it, and shows how it goes.
func (d *demo) run(ctx context.Context, anchor clock.Anchor) error {
	var err error
	if d.log, err = origin.NewLog(filepath.Join(d.Data, "requests.ndjson")); err != nil {
		return err
	}
	server, err := origin.Listen(d.world, d.clock, d.log, demoPort)
	if err != nil {
		return err
	}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	defer d.store.Close()
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	var site errgroup.Group
	site.Go(func() error { return server.Run(serving) })
	watching, over := context.WithTimeout(ctx, d.For)
	defer over()
	group, following := errgroup.WithContext(watching)
	group.Go(func() error { return d.follow(following, anchor) })
	group.Go(func() error { return d.watch(following) })
	err = group.Wait()
	if err == nil {
		err = d.summary(context.WithoutCancel(ctx))
	}
	stopServing()
	return errors.Join(err, site.Wait(), d.log.Close())
}

// prepare writes the configuration that the daemon is run with, for whoever looks into the directory, makes the database
// and opens it for looking.
func (d *demo) prepare(ctx context.Context) error {
	d.ConfigPath = filepath.Join(d.Data, "recrawld.yaml")
	if err := os.WriteFile(d.ConfigPath, d.settings(), 0o644); err != nil {
		return fmt.Errorf("write the demo's configuration: %w", err)
	}
	c, _, err := d.loadConfig()
	if err != nil {
		return err
	}
	made, err := d.openStoreForWriting(ctx, &c)
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	d.store, err = d.openStore(ctx, &c)
	return err
}

// settings is the configuration file: each section of the made-up site is a site with its name.
func (d *demo) settings() []byte {
	text := fmt.Appendf(nil, demoSettings, d.Speed)
	for _, h := range d.world.Hosts {
		text = fmt.Appendf(text, "  - {name: %s, url: %q}\n", h.Label, h.URL("/"))
	}
	return text
}

// watch shows what the daemon learns until the context ends: a panel on a terminal, now and then a line elsewhere.
func (d *demo) watch(ctx context.Context) error {
	show, every := d.lines(), 5*time.Second
	if out, ok := d.Stdout.(*os.File); ok && isTerminal(out) {
		panel := newDemoPanel(out, d.world, demoCycle, d.Speed, d.For)
		defer panel.close()
		show, every = func(f demoFigures, at time.Duration) {
			panel.link = d.looks()
			panel.draw(f, at, d.start)
		}, 400*time.Millisecond
	}
	for {
		f, err := demoRead(ctx, d.store, d.world, d.clock.Now())
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		now := clock.System{}.Now()
		show(f, now.Sub(d.began))
		if (clock.System{}).SleepUntil(ctx, now.Add(every)) != nil {
			return nil
		}
	}
}

// looks is the link that shows more in a browser, "" where there is none yet.
func (d *demo) looks() string {
	if link := d.link.Load(); link != nil {
		return *link
	}
	return ""
}
