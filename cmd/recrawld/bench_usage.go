package main

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"recrawld/models"
)

// usage is what the processes of a run have taken so far; nil where it cannot be told.
type usage struct {
	daemon   time.Duration // user and system time of this process
	database *time.Duration
	origin   *time.Duration
	peak     int64 // bytes of memory that this process held at most
}

func (b *bench) usage() usage {
	var own syscall.Rusage
	u := usage{origin: cpuOf(b.farm.cmd.Process.Pid)}
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) == nil {
		u.daemon = time.Duration(own.Utime.Nano() + own.Stime.Nano())
		u.peak = cmp.Or(peakMemory(), int64(own.Maxrss)<<10)
	}
	u.database = b.databaseCPU()
	return u
}

// databaseCPU is what the database's servers on this machine have taken, those of a cluster together.
func (b *bench) databaseCPU() *time.Duration {
	var sum *time.Duration
	for _, dsn := range append([]string{b.StoreURL}, b.others...) {
		if pid := serverOf(dsn); pid != 0 {
			if took := cpuOfFamily(pid); took != nil {
				all := *took
				if sum != nil {
					all += *sum
				}
				sum = &all
			}
		}
	}
	return sum
}

// otherServers is the addresses of the further servers of a cluster, none where the database has one.
func otherServers(ctx context.Context, store *models.Store, dsn string) ([]string, error) {
	nodes, err := store.Servers(ctx)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, node := range nodes {
		other := *u
		if other.Host = node; other.Port() != u.Port() {
			others = append(others, other.String())
		}
	}
	return others, nil
}

// forgetMemory lets the most memory that this process held count from now on, where the kernel lets it.
func forgetMemory() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5): resets VmHWM; without it the most is that of the whole run
}

// peakMemory is the most memory in bytes since forgetMemory, 0 where the kernel does not tell.
func peakMemory() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nVmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(fields[0], 10, 64) // the kernel writes numbers
	return kib << 10
}

// serverOf is the process of a database server on this machine, by the lock file of its socket; 0 where there is none
// that may be read.
func serverOf(dsn string) int {
	u, err := url.Parse(dsn)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return 0
	}
	port := u.Port()
	if port == "" {
		port = "5432"
	}
	dirs := []string{u.Query().Get("host"), "/var/run/postgresql", "/tmp"}
	if host := u.Hostname(); dirs[0] == "" && host != "" && host != "localhost" && !strings.HasPrefix(host, "127.") {
		return 0
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, ".s.PGSQL."+port+".lock"))
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(line); err == nil {
			return pid
		}
	}
	return 0
}

// tick is the unit of the kernel's figures: a hundredth of a second on every Linux.
const tick = 10 * time.Millisecond

// procStat reads from /proc the process's parent, its own processor time, and that of its children that have ended; ok is
// false where there is no such process, or no such file system.
func procStat(pid int) (parent int, own, children time.Duration, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, 0, false
	}
	_, rest, found := strings.Cut(string(text), ") ") // the name before may hold spaces
	fields := strings.Fields(rest)
	if !found || len(fields) < 15 {
		return 0, 0, 0, false
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64) // the kernel writes numbers
		return n
	}
	return int(number(1)), time.Duration(number(11)+number(12)) * tick, time.Duration(number(13)+number(14)) * tick, true
}

// cpuOf is the processor time of a process.
func cpuOf(pid int) *time.Duration {
	_, own, _, ok := procStat(pid)
	if !ok {
		return nil
	}
	return &own
}

// cpuOfFamily is the processor time of a process and its children, those that have ended too.
func cpuOfFamily(pid int) *time.Duration {
	_, own, ended, ok := procStat(pid)
	if !ok {
		return nil
	}
	sum := own + ended
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, own, _, ok := procStat(child); ok && parent == pid {
			sum += own
		}
	}
	return &sum
}
