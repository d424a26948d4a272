package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lock is the right of one daemon to a data directory, or of one worker to its name in it. The kernel drops it with the
// process, so a crash leaves nothing to clean up.
type lock struct{ file *os.File }

// takeLock takes the lock of a data directory: the whole of it where worker is "", else the worker's name. Where a
// daemon holds it already the error says which and what to do, and ends the program with exitLocked.
func takeLock(dir, worker string) (*lock, error) {
	name := "lock"
	if worker != "" {
		name = "lock-" + worker
	}
	path := filepath.Join(dir, name)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, coded{exitLocked, lockedError(file, dir, worker)}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &lock{file}
	if err := l.sign(); err != nil {
		l.release()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return l, nil
}

// sign writes who holds the lock, for the message that the next one gets, and what it goes by, for commands: lines as readHolder reads them.
func (l *lock) sign(goesBy ...string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strings.Join(append([]string{strconv.Itoa(os.Getpid())}, goesBy...), "\n")), 0)
	return err
}

// release gives the lock back. To close the file is not enough: a process that is being begun may have it, too, until it is
// another program. The file stays: removing it would let two daemons lock two files of one name.
func (l *lock) release() {
	_ = unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	_ = l.file.Close()
}

func lockedError(file *os.File, dir, worker string) error {
	holder := "another recrawld"
	if pid, err := strconv.Atoi(readHolder(file).pid); err == nil {
		holder = fmt.Sprintf("recrawld with process id %d", pid)
	}
	if worker != "" {
		return fmt.Errorf("worker %q already runs on %s: %s; stop it, or give this one another name (run --worker NAME, worker NAME)", worker, dir, holder)
	}
	return fmt.Errorf("%s is in use by %s; stop it (systemctl stop recrawld, or kill it), or use another --data", dir, holder)
}
