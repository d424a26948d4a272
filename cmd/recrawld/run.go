package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/scheduler"
)

// runCmd is the daemon: it visits what is due until it is told to end.
type runCmd struct {
	URLs       []string      `arg:"" optional:"" name:"url" help:"Start URLs; each becomes a site and stays one."`
	Contact    string        `placeholder:"URL" help:"Page or mail address of whoever runs this; sent with every request, needed for sites that are not on this machine."`
	Worker     string        `placeholder:"NAME" help:"Name of this worker among those of a PostgreSQL database; default the host's name and 0."`
	Listen     string        `placeholder:"ADDR" help:"Loopback address of /healthz, /metrics, /v1, /feed, /indexnow, /websub/ and a look around in a browser; off for none; default 127.0.0.1:8686."`
	Requisites string        `placeholder:"WHICH" help:"Also keep images, styles and scripts that pages need to be shown, of sites that say nothing else: site (those on the site's hosts) or all; default off."`
	Speed      float64       `placeholder:"N" help:"Rehearse: run the daemon's clock N times as fast. Only for sites on this machine."`
	Anchor     string        `hidden:"" help:"REAL,SHOWN: with --speed, when the clock showed what; RFC 3339 times."`
	For        time.Duration `placeholder:"TIME" help:"End by itself after this time, by the machine's clock: 90s, 2h, 7d."`

	machine func() clock.Reading                  // what the machine's clocks show; nil: what they do
	watch   func(scheduler.Store) scheduler.Store // put before the worker's store by a bench; nil: nothing
}

// mostSpeed is how fast a rehearsal may be: a century in half a minute.
const mostSpeed = 1e8

// Help is the text below the flags.
func (*runCmd) Help() string {
	return `Without a configuration file and with nothing but a start URL it crawls that URL's directory:

  recrawld run --contact me@example.net https://example.org/

Signals: SIGHUP reads the configuration again, SIGTERM ends after the visits under way (a second one ends at once).`
}

// Run implements the command.
func (r *runCmd) Run(ctx context.Context, g *globals) error {
	if r.Speed != 0 && !(r.Speed >= 1 && r.Speed <= mostSpeed) {
		return usagef("--speed %g: a rehearsal is at least as fast as the world, and at most %g times as fast", r.Speed, float64(mostSpeed))
	}
	if _, err := r.anchor(); err != nil {
		return err
	}
	d, err := newDaemon(ctx, g, r)
	if err != nil {
		return err
	}
	if r.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.For)
		defer cancel()
	}
	return d.run(ctx)
}

// put sets what the flags say over a configuration.
func (r *runCmd) put(c *config.Config, origins config.Origins) error {
	for _, flag := range []struct{ key, value string }{
		{"agent.contact", r.Contact}, {"worker.name", r.Worker}, {"listen", r.Listen}, {"defaults.requisites", r.Requisites},
	} {
		if flag.value == "" {
			continue
		}
		if err := c.Set(origins, flag.key, flag.value); err != nil {
			return coded{exitUsage, err}
		}
	}
	return nil
}

// anchor is the clock that --anchor asks for, the zero Anchor without it.
func (r *runCmd) anchor() (clock.Anchor, error) {
	if r.Anchor == "" {
		return clock.Anchor{}, nil
	}
	realAt, shown, _ := strings.Cut(r.Anchor, ",")
	at, err := time.Parse(time.RFC3339Nano, shown)
	if err == nil {
		var began time.Time
		if began, err = time.Parse(time.RFC3339Nano, realAt); err == nil && r.Speed > 0 {
			return clock.Anchor{RealAt: began, At: at, Speed: r.Speed}, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("it needs --speed")
	}
	return clock.Anchor{}, usagef("--anchor %s: %w", r.Anchor, err)
}
