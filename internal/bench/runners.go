package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"recrawld/internal/pgtest"
)

// figure is what one program reached in one round.
type figure struct {
	Row         string  `json:"row"`
	Who         string  `json:"who"`
	Round       int     `json:"round"`
	Rate        float64 `json:"pages_per_s"`
	CPU         float64 `json:"cpu_us_per_page"` // of the program
	CPUDatabase float64 `json:"cpu_us_per_page_database,omitempty"`
	CPUOrigin   float64 `json:"cpu_us_per_page_origin,omitempty"`
	RSS         float64 `json:"rss_mb"`
	ClaimP99    float64 `json:"claim_p99_ms,omitempty"`
	Start       float64 `json:"start_s,omitempty"` // to the first visit
	Load        float64 `json:"load"`              // of the machine in the last minute
}

// runner is a program that is measured.
type runner struct {
	name string
	run  func(context.Context) ([]figure, error)
}

const us = "recrawld"

// runners lists what is run in each round.
func (b *bench) runners() []runner {
	many, one := []string{"--hosts", "20"}, []string{"--hosts", "1", "--concurrency", "16"}
	slow := []string{"--hosts", "512", "--fetchers", "512", "--latency", "50ms", "--warmup", "3s"}
	crawl := []string{"--hosts", "20", "--pages", strconv.Itoa(b.pages / 20), "--for", "5m"}
	var list []runner
	for _, store := range []string{"sqlite", "postgres"} {
		list = append(list,
			b.ours("refresh, 20 hosts, "+store, store, "refresh", many...),
			b.ours("refresh, 1 host, "+store, store, "refresh", one...),
			b.ours("refresh, 50 ms, "+store, store, "refresh", slow...),
			b.ours("first crawl, "+store, store, "crawl", crawl...))
	}
	list = append(list, runner{"workers, 50 ms", b.workers})
	if pgtest.HasCitus() {
		list = append(list, runner{"refresh, 20 hosts, citus", b.citus})
	}
	return append(list, runner{"wget2, 20 hosts", func(ctx context.Context) ([]figure, error) { return b.wget2(ctx, 20) }},
		runner{"wget2, 1 host", func(ctx context.Context) ([]figure, error) { return b.wget2(ctx, 1) }},
		runner{"colly, 20 hosts", b.colly})
}

// ours is a run of recrawld bench.
func (b *bench) ours(row, store, what string, args ...string) runner {
	return runner{row, func(ctx context.Context) ([]figure, error) {
		dir, err := b.room("recrawld")
		if err != nil {
			return nil, err
		}
		f, err := b.recrawl(ctx, dir, store, what, args...)
		f.Row = row
		return []figure{f}, err
	}}
}

func (b *bench) recrawl(ctx context.Context, dir, store, what string, args ...string) (figure, error) {
	if store == "postgres" {
		dsn, err := b.postgres.Fresh(ctx)
		if err != nil {
			return figure{}, err
		}
		store = dsn
	}
	return b.recrawlOn(ctx, dir, store, what, args...)
}

func (b *bench) recrawlOn(ctx context.Context, dir, store, what string, args ...string) (figure, error) {
	args = append([]string{"bench", what, "--json", "--for", b.span.String(), "--data", dir}, args...)
	out, _, err := b.finish(exec.CommandContext(ctx, b.recrawld, append(args, "--store", store)...))
	if err != nil {
		return figure{}, err
	}
	var said struct {
		Rate     float64 `json:"visits_per_s"`
		CPU      float64 `json:"cpu_us_per_visit"`
		Database float64 `json:"cpu_us_per_visit_database"`
		Origin   float64 `json:"cpu_us_per_visit_origin"`
		RSS      float64 `json:"rss_mb"`
		Start    float64 `json:"start_s"`
		Claims   struct {
			P99 float64 `json:"p99_ms"`
		} `json:"claims"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return figure{}, fmt.Errorf("recrawld bench printed %q: %w", out, err)
	}
	return figure{Who: us, Rate: said.Rate, CPU: said.CPU, CPUDatabase: said.Database, CPUOrigin: said.Origin, RSS: said.RSS,
		ClaimP99: said.Claims.P99, Start: said.Start}, nil
}

// room is a new directory for what a program writes. It stays until all is measured: for some minutes ext4 passes by the inodes of
// files that were removed, one by one, so whoever makes files after a run that was cleared away pays for it (three to twenty
// times the time of open for each file).
func (b *bench) room(who string) (string, error) { return os.MkdirTemp(b.dir, who+"-") }

// finish runs a program to its end and returns what it printed and what it took.
func (b *bench) finish(cmd *exec.Cmd) ([]byte, taken, error) {
	var complaints strings.Builder
	cmd.Stderr = &complaints
	began := b.Now()
	out, err := cmd.Output()
	t := taken{took: b.Now().Sub(began)}
	if err != nil {
		return nil, t, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, complaints.String())
	}
	t.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	t.rss = peak(cmd)
	return out, t, nil
}

// peak is the most memory that a program which has ended had, in MB.
func peak(cmd *exec.Cmd) float64 {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(usage.Maxrss) / 1000
}

// taken is what a run took.
type taken struct {
	took, cpu time.Duration
	rss       float64 // MB
}

func (t taken) figure(row, who string, pages int) figure {
	return figure{Row: row, Who: who, Rate: float64(pages) / t.took.Seconds(), CPU: float64(t.cpu.Microseconds()) / float64(pages),
		RSS: t.rss}
}

// site is the origin of the other programs.
type site struct {
	cmd  *exec.Cmd
	end  io.Closer
	said *bufio.Reader
	urls []string
}

// serve starts an origin of b.pages pages on so many hosts.
func (b *bench) serve(ctx context.Context, hosts int) (*site, error) {
	return b.serveSlow(ctx, b.pages, hosts)
}

// serveSlow starts an origin of so many pages with further arguments.
func (b *bench) serveSlow(ctx context.Context, pages, hosts int, args ...string) (*site, error) {
	s := &site{cmd: exec.CommandContext(ctx, b.recrawld, append([]string{"bench", "origin", "--hosts", strconv.Itoa(hosts),
		"--pages", strconv.Itoa(pages / hosts)}, args...)...)}
	s.cmd.Stderr = os.Stderr
	var err error
	if s.end, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.said = bufio.NewReader(out)
	var hello struct{ Port int }
	if err := s.listen(&hello); err != nil {
		return nil, errors.Join(err, s.end.Close(), s.cmd.Wait())
	}
	for host := range hosts {
		s.urls = append(s.urls, fmt.Sprintf("http://127.1.%d.%d:%d/", (host+1)>>8, (host+1)&255, hello.Port))
	}
	return s, nil
}

func (s *site) listen(into any) error {
	line, err := s.said.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("hear the origin: %w", err)
	}
	return json.Unmarshal(line, into)
}

// close ends the origin and returns how many pages it answered with 200 and with 304.
func (s *site) close() (whole, notModified int, err error) {
	if err := s.end.Close(); err != nil {
		return 0, 0, err
	}
	var said struct {
		Whole       int
		NotModified int `json:"not_modified"`
	}
	err = s.listen(&said)
	return said.Whole, said.NotModified, errors.Join(err, s.cmd.Wait())
}
