package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary builds the daemon once a test process, linked as what is released, and returns its path.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "recrawld")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "recrawld/cmd/recrawld")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the daemon: %w\n%s", err, out)
	}
	return path, nil
})

// program returns the daemon's path, or ends the test.
func program(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// daemon is a running process.
type daemon struct {
	t      *testing.T
	cmd    *exec.Cmd
	log    string        // file of its standard error
	notify *net.UnixConn // hears what it tells its supervisor
	exited chan struct{} // closed when it has ended
	err    error         // how it ended; to be read after exited is closed
}

// launch starts the daemon and returns when it says that it is ready, as systemd would hear it.
func launch(t *testing.T, log string, args ...string) *daemon {
	t.Helper()
	d := begin(t, log, args...)
	d.awaitReady()
	return d
}

// begin starts the daemon, which is not ready yet.
func begin(t *testing.T, log string, args ...string) *daemon {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	stderr, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	d := &daemon{t: t, log: log, notify: conn, exited: make(chan struct{}), cmd: exec.Command(program(t), args...)}
	d.cmd.Stdout, d.cmd.Stderr = stderr, stderr
	d.cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+socket)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		d.err = d.cmd.Wait()
		close(d.exited)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it has ended long before unless the test failed
		<-d.exited
	})
	return d
}

// awaitReady reads what the daemon tells its supervisor until it is ready, and fails the test when it ends before.
func (d *daemon) awaitReady() {
	d.t.Helper()
	ready := make(chan error, 1)
	go func() {
		message := make([]byte, 4096)
		for {
			n, err := d.notify.Read(message)
			if err != nil || bytes.Contains(message[:n], []byte("READY=1")) {
				ready <- err
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Second)
	defer cancel()
	select {
	case err := <-ready:
		if err != nil {
			d.t.Fatalf("read the ready message: %v", err)
		}
	case <-d.exited:
		d.t.Fatalf("the daemon ended before it was ready: %v\n%s", d.err, d.tail())
	case <-ctx.Done():
		d.t.Fatalf("the daemon is not ready after 30 s\n%s", d.tail())
	}
}

// kill ends the daemon as a power cut would end it.
func (d *daemon) kill() {
	d.t.Helper()
	if err := d.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.t.Fatal(err)
	}
	<-d.exited
}

// stop ends the daemon as systemd would and fails the test unless it ends with 0 within 30 s. It returns how long that
// took.
func (d *daemon) stop() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		d.t.Fatalf("the daemon had ended by itself: %v, %v\n%s", err, d.err, d.tail())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	select {
	case <-d.exited:
	case <-ctx.Done():
		d.t.Fatalf("the daemon runs on 30 s after SIGTERM\n%s", d.tail())
	}
	if d.err != nil {
		d.t.Errorf("the daemon ended after SIGTERM with %v, want exit code 0\n%s", d.err, d.tail())
	}
}

// alive fails the test when the daemon has ended by itself.
func (d *daemon) alive() {
	d.t.Helper()
	select {
	case <-d.exited:
		d.t.Fatalf("the daemon ended by itself: %v\n%s", d.err, d.tail())
	default:
	}
}

// tail is the end of the daemon's log, for messages.
func (d *daemon) tail() string {
	text, err := os.ReadFile(d.log)
	if err != nil {
		return err.Error()
	}
	const most = 4 << 10
	return string(text[max(0, len(text)-most):])
}
