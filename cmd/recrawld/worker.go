package main

import (
	"context"
	"time"
)

// workerCmd is one more daemon on a PostgreSQL that several share.
type workerCmd struct {
	Name    string        `arg:"" optional:"" help:"Of this worker, unique among those of the database; default the host's name and 0."`
	Contact string        `placeholder:"URL" help:"As for run."`
	Listen  string        `placeholder:"ADDR" default:"off" help:"Loopback address of /healthz, /metrics, /v1, /feed, /indexnow, /websub/ and a look around in a browser; default off: the ports of several would meet."`
	Speed   float64       `placeholder:"N" help:"As for run; all workers of a database run at one speed."`
	Anchor  string        `hidden:"" help:"As for run."`
	For     time.Duration `placeholder:"TIME" help:"End by itself after this time, by the machine's clock: 90s, 2h, 7d."`
}

// Help is the text below the flags.
func (*workerCmd) Help() string {
	return `Start as many as you like, on as many machines as you like:

  recrawld worker one --store postgres://recrawl@db.internal/recrawl

They share the hosts by 256 buckets, meet in the database alone, and take over from one that died within one lease
(worker.lease, 5m). One that lags behind the others gives buckets up until it does not. It is recrawld run without start
URLs, and refuses SQLite.`
}

// Run implements the command.
func (w *workerCmd) Run(ctx context.Context, g *globals) error {
	c, _, err := g.loadConfig()
	if err != nil {
		return err
	}
	if c.Store == "sqlite" {
		return usagef("several workers need a PostgreSQL (--store postgres://…): with SQLite one daemon has the database to itself, recrawld run")
	}
	run := runCmd{Contact: w.Contact, Worker: w.Name, Listen: w.Listen, Speed: w.Speed, Anchor: w.Anchor, For: w.For}
	return run.Run(ctx, g)
}
