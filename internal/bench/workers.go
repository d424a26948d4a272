package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"recrawld/internal/pgtest"
)

// citus is a refresh on a fresh database of the cluster that RECRAWLD_TEST_CITUS names.
func (b *bench) citus(ctx context.Context) (found []figure, err error) {
	dsn, drop, err := pgtest.FreshCitus(ctx)
	defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
	if err != nil {
		return nil, err
	}
	if _, _, err := b.finish(exec.CommandContext(ctx, b.recrawld, "db", "distribute", "--store", dsn)); err != nil {
		return nil, err
	}
	dir, err := b.room("recrawld")
	if err != nil {
		return nil, err
	}
	f, err := b.recrawlOn(ctx, dir, dsn, "refresh", "--hosts", "20", "--warmup", "3s")
	f.Row = "refresh, 20 hosts, citus"
	return []figure{f}, err
}

const (
	// crewHosts and crewFetchers are what several workers share, and what each of them may have under way: so few that
	// the latency of the origin and not the processors is what limits them.
	crewHosts, crewFetchers = 512, 24
	// crewRamp is how long they have before their visits are counted.
	crewRamp = 4 * time.Second
)

// workers is a first crawl by one worker process, then by two, from an origin that answers after 50 ms.
func (b *bench) workers(ctx context.Context) ([]figure, error) {
	var found []figure
	for n, row := range []string{"first crawl, 50 ms, one worker", "first crawl, 50 ms, two workers"} {
		f, err := b.crew(ctx, n+1)
		if err != nil {
			return nil, err
		}
		f.Row, f.Who = row, us
		found = append(found, f)
	}
	return found, nil
}

// crew measures so many workers on one database.
func (b *bench) crew(ctx context.Context, workers int) (f figure, err error) {
	pages := max(int((crewRamp+b.span).Seconds()*20*crewFetchers*2)*2/crewHosts, 4) // twice what two can visit
	s, err := b.serveSlow(ctx, pages*crewHosts, crewHosts, "--latency", "50ms", "--size", "1024")
	if err != nil {
		return f, err
	}
	var visits int64
	defer func() {
		_, _, closed := s.close()
		if err = errors.Join(err, closed); err == nil {
			f.CPUOrigin = perPage(s.cmd, visits)
		}
	}()
	dir, err := b.room("crew")
	if err != nil {
		return f, err
	}
	dsn, err := b.postgres.Fresh(ctx)
	if err != nil {
		return f, err
	}
	config, err := s.crewConfig(dir)
	if err != nil {
		return f, err
	}
	var crew []*exec.Cmd
	defer func() { end(crew) }()
	for n := range workers {
		cmd := exec.CommandContext(ctx, b.recrawld, "worker", "crew-"+strconv.Itoa(n), "--config", config, "--store", dsn, "--data",
			filepath.Join(dir, "data"))
		if err := cmd.Start(); err != nil {
			return f, fmt.Errorf("start a worker: %w", err)
		}
		crew = append(crew, cmd)
		if n == 0 && workers > 1 { // it makes the schema
			if err := b.SleepUntil(ctx, b.Now().Add(time.Second)); err != nil {
				return f, err
			}
		}
	}
	if f, err = b.countVisits(ctx, dsn); err != nil {
		return f, err
	}
	end(crew)
	if visits, err = pgtest.Rows(ctx, dsn, "visits"); err != nil {
		return f, err
	}
	for _, cmd := range crew { // what it took is known of its whole life alone, as are its visits
		f.CPU += perPage(cmd, visits)
		f.RSS += peak(cmd)
	}
	return f, nil
}

// end ends the workers that have not ended.
func end(crew []*exec.Cmd) {
	for _, cmd := range crew {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // what it took is known whatever it returned
		}
	}
}

// perPage is the processor time that a program which has ended took for each of so many pages, in microseconds.
func perPage(cmd *exec.Cmd, pages int64) float64 {
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return float64(used.Microseconds()) / float64(max(pages, 1))
}

// crewConfig writes the configuration of the workers: the start pages are in it, each page links to others.
func (s *site) crewConfig(dir string) (string, error) {
	text := fmt.Appendf(nil, `agent: {contact: bench@localhost}
listen: off
backup: {every: off}
network: {allow: [127.0.0.0/8]}
worker: {fetchers: %d, min_free: 16MiB}
defaults: {delay: 0s, policy: classic}
sites:
`, crewFetchers)
	for host, u := range s.urls {
		text = fmt.Appendf(text, "  - {name: h%d, url: %q}\n", host, u)
	}
	path := filepath.Join(dir, "recrawld.yaml")
	return path, os.WriteFile(path, text, 0o600)
}

// countVisits counts what is committed in a span, after a ramp.
func (b *bench) countVisits(ctx context.Context, dsn string) (figure, error) {
	var counts [2]int64
	var at [2]time.Time
	for i, wait := range []time.Duration{crewRamp, b.span} {
		if err := b.SleepUntil(ctx, b.Now().Add(wait)); err != nil {
			return figure{}, err
		}
		var err error
		if counts[i], err = pgtest.Rows(ctx, dsn, "visits"); err != nil {
			return figure{}, err
		}
		at[i] = b.Now()
	}
	return figure{Rate: float64(counts[1]-counts[0]) / at[1].Sub(at[0]).Seconds()}, nil
}
