package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"recrawld/internal/pgtest"
)

// asRecrawld makes the test binary the program itself: the tests start it as a process of its own.
const asRecrawld = "RECRAWLD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asRecrawld) != "" {
		main()
		return
	}
	manyAtATime()
	pgtest.Main(m)
}

// manyAtATime lets more tests run at once than there are processors, unless -parallel says how many: most of them wait for a
// daemon, a database or a disk.
func manyAtATime() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(max(runtime.GOMAXPROCS(0), min(3*runtime.GOMAXPROCS(0), 12)))); err != nil {
		panic(err)
	}
}

// patience is how long a test waits for what must come: long enough for a busy machine.
const patience = 60 * time.Second

// process is a running recrawld.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	err    error         // how; to be read after exited is closed
	told   chan string   // what it told systemd

	mu    sync.Mutex
	lines []string      // guarded by mu; of its standard error
	grown chan struct{} // guarded by mu; closed when there is another line
}

// launch starts recrawld with these arguments and an empty port for /healthz. It is killed when the test ends.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(program, args...), exited: make(chan struct{}), told: make(chan string, 100),
		grown: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), append(env, asRecrawld+"=1", "NOTIFY_SOCKET="+path)...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { p.listen(socket) })
	go func() {
		p.read(bufio.NewScanner(stderr))
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended long before, unless the test failed
		<-p.exited
		socket.Close()
		reading.Wait()
	})
	return p
}

func (p *process) read(lines *bufio.Scanner) {
	for lines.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		close(p.grown)
		p.grown = make(chan struct{})
		p.mu.Unlock()
	}
}

func (p *process) listen(socket *net.UnixConn) {
	defer close(p.told)
	message := make([]byte, 4096)
	for {
		n, err := socket.Read(message)
		if err != nil {
			return
		}
		select {
		case p.told <- string(message[:n]):
		default: // nobody listens that long
		}
	}
}

// says waits for a line on standard error that contains text.
func (p *process) says(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for from := 0; ; {
		p.mu.Lock()
		lines, grown := p.lines[from:], p.grown
		from = len(p.lines)
		p.mu.Unlock()
		for _, line := range lines {
			if strings.Contains(line, text) {
				return
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
			p.t.Fatalf("never said %q:\n%s", text, p.output())
		}
	}
}

// tells waits for a message to systemd that contains text.
func (p *process) tells(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		select {
		case message := <-p.told:
			if strings.Contains(message, text) {
				return
			}
		case <-ctx.Done():
			p.t.Fatalf("never told systemd %q:\n%s", text, p.output())
		}
	}
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v: %v:\n%s", s, err, p.output())
	}
}

// ends waits for the end and returns the exit code, -1 where a signal ended it.
func (p *process) ends() int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.t.Fatalf("does not end:\n%s", p.output())
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		p.t.Fatal(p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// command runs recrawld in this process and returns its exit code and what it printed.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return commandWith(t, "", args...)
}

func commandWith(t testing.TB, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = runContext(t.Context(), args, strings.NewReader(stdin), &out, &complaints)
	return code, out.String(), complaints.String()
}

// must is command where anything but exit code 0 ends the test.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := command(t, args...)
	if code != exitDone {
		t.Fatalf("recrawld %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// runUntil runs recrawld for some seconds at a time until enough is done: how much is done in a while is for the machine to say.
func runUntil(t *testing.T, enough func() bool, args ...string) {
	t.Helper()
	for range 20 {
		must(t, append(args, "--for", "2s")...)
		if enough() {
			return
		}
	}
	t.Errorf("recrawld %s has not done in 40 s what takes two", strings.Join(args, " "))
}

// copied tells whether all these pages have a copy: that they were asked for is not enough where a run ended meanwhile.
func copied(t *testing.T, path string, urls ...string) bool {
	t.Helper()
	changes := must(t, "changes", "-c", path)
	return !slices.ContainsFunc(urls, func(url string) bool { return !strings.Contains(changes, url) })
}

// testSite is a little site on loopback that says who asked for what.
type testSite struct {
	*httptest.Server
	asked chan string // paths in the order of the requests, robots.txt left out
}

// serve starts a site of these pages, path to HTML. Pages are served with an ETag.
func serve(t *testing.T, pages map[string]string) *testSite {
	t.Helper()
	s := &testSite{asked: make(chan string, 1000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := pages[r.URL.Path]
		if r.URL.Path != "/robots.txt" {
			s.asked <- r.URL.Path
		}
		if !known {
			http.NotFound(w, r)
			return
		}
		switch {
		case strings.HasSuffix(r.URL.Path, ".txt"):
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		case strings.HasSuffix(r.URL.Path, ".xml"):
			w.Header().Set("Content-Type", "application/xml")
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		tag := fmt.Sprintf(`"%d-%s"`, len(body), strings.Trim(r.URL.Path, "/"))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// isAsked waits until somebody asks for a path.
func (s *testSite) isAsked(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		select {
		case got := <-s.asked:
			if got == path {
				return
			}
		case <-ctx.Done():
			t.Fatalf("nobody asked for %s", path)
		}
	}
}

func writeConfig(t *testing.T, path, data, lines string) {
	t.Helper()
	text := "data: " + data + "\nlisten: off\ndefaults: {delay: 0s}\n" + lines
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
