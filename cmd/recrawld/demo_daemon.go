package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"recrawld/clock"
)

// follow runs the daemon on the demo's site, the same way as `recrawld run --speed` does, until the context ends. Its
// log goes to a file in the data directory, where it does not disturb the picture.
func (d *demo) follow(ctx context.Context, anchor clock.Anchor) error {
	log, err := os.Create(filepath.Join(d.Data, "daemon.log"))
	if err != nil {
		return fmt.Errorf("open the daemon's log: %w", err)
	}
	defer log.Close()
	g := *d.globals
	g.Stdout, g.Stderr, g.Log = log, log, slog.New(slog.NewTextHandler(log, nil))
	daemon, err := newDaemon(ctx, &g, &runCmd{Speed: d.Speed,
		Anchor: anchor.RealAt.Format(time.RFC3339Nano) + "," + anchor.At.Format(time.RFC3339Nano)})
	if err != nil {
		return err
	}
	if link := daemon.link(); link != "" {
		d.link.Store(&link)
	}
	return daemon.run(ctx)
}
