package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"recrawld/clock"
	"recrawld/internal/origin"
	"recrawld/internal/origin/story"
	"recrawld/models"
)

// fullDisk is a daemon whose data lie on a small disk, on a made-up site that keeps changing.
type fullDisk struct {
	t     *testing.T
	dir   string
	log   *origin.Log
	world *origin.World
	d     *daemon
}

// TestEndToEndFault_081_FullDisk fills the disk under a running daemon: once down to what it wants to keep free, once to the
// last byte with no such limit. Each time it stops asking, and goes on by itself when there is room again, with nothing
// lost.
func TestEndToEndFault_081_FullDisk(t *testing.T) {
	longTest(t)
	for name, minFree := range map[string]string{"kept free": "8MiB", "to the last byte": "0B"} {
		t.Run(name, func(t *testing.T) {
			f := newFullDisk(t, minFree)
			f.until("work", f.works(50))
			f.fill(minFree != "0B")
			f.until("rest", f.rests())
			stopped := len(f.log.Entries(0))
			if err := os.Remove(f.filler()); err != nil {
				t.Fatal(err)
			}
			f.until("work again", f.works(stopped+50))
			f.d.stop()
			f.check()
			t.Logf("full disk (%s): asked nothing while it was full, went on by itself, %d requests in all", name, len(f.log.Entries(0)))
		})
	}
}

func newFullDisk(t *testing.T, minFree string) *fullDisk {
	t.Helper()
	f := &fullDisk{t: t, dir: t.TempDir()}
	if err := os.Mkdir(f.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", f.data(), "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("a small disk takes a mount, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(f.data(), 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	now := clock.System{}.Now()
	anchor := clock.Anchor{RealAt: now, At: now.Truncate(time.Hour), Speed: 86400}
	f.world = story.Tell(2, anchor.At, 200*24*time.Hour)
	var err error
	if f.log, err = origin.NewLog(""); err != nil {
		t.Fatal(err)
	}
	server, err := origin.Listen(f.world, clock.NewSystem(anchor), f.log, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("origin: %v", err)
		}
	})
	f.launch(minFree, anchor)
	return f
}

func (f *fullDisk) data() string   { return filepath.Join(f.dir, "data") }
func (f *fullDisk) filler() string { return filepath.Join(f.data(), "filler") }

func (f *fullDisk) launch(minFree string, anchor clock.Anchor) {
	f.t.Helper()
	settings := fmt.Sprintf("cycle: 1h\nlisten: off\nbackup: {every: off}\nworker: {min_free: %s}\ndefaults: {fr: 1, fr_max: 4, delay: 1m}\n",
		minFree)
	path := filepath.Join(f.dir, "recrawld.yaml")
	if err := os.WriteFile(path, []byte(settings), 0o644); err != nil {
		f.t.Fatal(err)
	}
	args := []string{"run", "--config", path, "--data", f.data(), "--speed", fmt.Sprint(anchor.Speed),
		"--anchor", anchor.RealAt.Format(time.RFC3339Nano) + "," + anchor.At.Format(time.RFC3339Nano)}
	for _, h := range f.world.Hosts {
		args = append(args, h.URL("/"))
	}
	f.d = launch(f.t, filepath.Join(f.dir, "daemon.log"), args...)
}

// fill takes the free space of the disk: all of it, or all but 4 MiB.
func (f *fullDisk) fill(some bool) {
	f.t.Helper()
	file, err := os.Create(f.filler())
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	if some {
		var disk syscall.Statfs_t
		if err := syscall.Statfs(f.data(), &disk); err != nil {
			f.t.Fatal(err)
		}
		if err := file.Truncate(0); err != nil {
			f.t.Fatal(err)
		}
		if err := syscall.Fallocate(int(file.Fd()), 0, 0, int64(disk.Bavail)*disk.Bsize-4<<20); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	block := make([]byte, 4096)
	for err == nil {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		f.t.Fatalf("fill the disk: %v", err)
	}
}

// works holds once the site was asked so often.
func (f *fullDisk) works(n int) func() bool {
	return func() bool { return len(f.log.Entries(0)) >= n }
}

// rests holds once the site was asked next to nothing for two seconds, which are two days of its clock: what cannot be
// stored is tried again now and then.
func (f *fullDisk) rests() func() bool {
	var machine clock.System
	since, seen := machine.Now(), len(f.log.Entries(0))
	return func() bool {
		now, n := machine.Now(), len(f.log.Entries(0))
		if now.Sub(since) < 2*time.Second {
			return false
		}
		quiet := n-seen <= 5
		since, seen = now, n
		return quiet
	}
}

// until waits for something for at most half a minute.
func (f *fullDisk) until(what string, holds func() bool) {
	f.t.Helper()
	var machine clock.System
	for limit := machine.Now().Add(30 * time.Second); !holds(); {
		f.d.alive()
		if machine.Now().After(limit) {
			f.t.Fatalf("the daemon does not %s\n%s", what, f.d.tail())
		}
		if err := machine.SleepUntil(f.t.Context(), machine.Now().Add(50*time.Millisecond)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// check makes sure that every version has its body and the mirror its files.
func (f *fullDisk) check() {
	f.t.Helper()
	r := &rehearsal{t: f.t, dir: f.dir, store: "sqlite"}
	s := readState(f.t, openDatabase(f.t, r.database()))
	r.checkArchive(s)
	r.checkSegments()
	var troubles []string
	for _, p := range s.pages {
		if p.version == 0 || p.state != models.StateLive {
			continue
		}
		if got, err := fileDigest(mirrored(f.data(), p.url)); err != nil || got != p.digest {
			troubles = append(troubles, fmt.Sprintf("%s: the mirror has digest %.12s (%v), the newest version %.12s", p.url, got, err, p.digest))
		}
	}
	complain(f.t, "files that are not the newest version", troubles)
}
