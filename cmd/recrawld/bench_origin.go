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
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"recrawld/clock"
	"recrawld/internal/sitefarm"
)

// benchOriginCmd serves the sites of a run.
type benchOriginCmd struct {
	Hosts   int           `default:"20" help:"Hosts, each at a loopback address of its own."`
	Pages   int           `default:"1000" help:"Pages of each host."`
	Latency time.Duration `help:"What every answer waits for."`
	Size    int           `default:"8192" help:"Bytes of a page."`
	Changes float64       `default:"0.05" help:"Share of the conditional requests that find another version."`
	TLS     bool          `help:"https, with HTTP/2."`
}

// farmHello is the line that says where the sites are: host n at the nth address from First on, all at Port.
type farmHello struct {
	First     string `json:"first"`
	Port      int    `json:"port"`
	Authority string `json:"authority,omitempty"` // the certificate to trust, PEM
}

// farmFarewell is the line that says at the end how many pages were answered, with 200 and with 304.
type farmFarewell struct {
	Whole       int64 `json:"whole"`
	NotModified int64 `json:"not_modified"`
}

// Run implements the command.
func (c *benchOriginCmd) Run(ctx context.Context, g *globals) error {
	runtime.GOMAXPROCS(1) // what is measured has the same processors, and a second thread would cost them more than it answers
	f, err := sitefarm.New(sitefarm.Config{Hosts: c.Hosts, Pages: c.Pages, Size: c.Size, Changes: c.Changes,
		Latency: c.Latency, TLS: c.TLS})
	if err != nil {
		return coded{exitUsage, err}
	}
	server, err := sitefarm.Listen(f)
	if err != nil {
		return err
	}
	hello := farmHello{First: sitefarm.Addr(0).String(), Port: server.Port(), Authority: string(server.Authority())}
	if err := json.NewEncoder(g.Stdout).Encode(hello); err != nil {
		return fmt.Errorf("say where the sites are: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, g.Stdin) // it ends when whoever started us does
		cancel()
	}()
	if err := server.Run(ctx); err != nil {
		return err
	}
	var said farmFarewell
	said.Whole, said.NotModified = server.Answers()
	return json.NewEncoder(g.Stdout).Encode(said)
}

// farmProcess is the process that serves the sites of a run.
type farmProcess struct {
	clock.System
	cmd  *exec.Cmd
	port int
	end  io.Closer // closed, it ends
}

func (p *farmProcess) now() time.Time { return p.Now() }

// startFarm starts this program as the origin of a run and waits until it serves. The directory takes its certificate.
func startFarm(ctx context.Context, c sitefarm.Config, dir string) (farmProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return farmProcess{}, fmt.Errorf("start the origin: %w", err)
	}
	args := []string{"bench", "origin", "--hosts", strconv.Itoa(c.Hosts), "--pages", strconv.Itoa(c.Pages),
		"--size", strconv.Itoa(c.Size), "--latency", c.Latency.String(),
		"--changes", strconv.FormatFloat(c.Changes, 'g', -1, 64)}
	if c.TLS {
		args = append(args, "--tls")
	}
	p := farmProcess{cmd: exec.CommandContext(context.WithoutCancel(ctx), program, args...)}
	p.cmd.Stderr = os.Stderr
	if p.end, err = p.cmd.StdinPipe(); err != nil {
		return p, fmt.Errorf("start the origin: %w", err)
	}
	said, err := p.cmd.StdoutPipe()
	if err != nil {
		return p, fmt.Errorf("start the origin: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return p, fmt.Errorf("start the origin: %w", err)
	}
	var hello farmHello
	line, err := bufio.NewReader(said).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	if err == nil && hello.Authority != "" {
		err = trust(hello.Authority, dir)
	}
	if err != nil {
		return p, errors.Join(fmt.Errorf("start the origin: %w", err), p.stop())
	}
	p.port = hello.Port
	return p, nil
}

// trust makes this process trust a certificate authority in place of the system's, as an operator would.
func trust(authority, dir string) error {
	path := filepath.Join(dir, "authority.pem")
	if err := os.WriteFile(path, []byte(authority), 0o600); err != nil {
		return err
	}
	return os.Setenv("SSL_CERT_FILE", path)
}

// stop ends the origin.
func (p *farmProcess) stop() error {
	if p.cmd == nil || p.cmd.Process == nil {
		return nil
	}
	err := p.end.Close()
	return errors.Join(err, p.cmd.Wait())
}
