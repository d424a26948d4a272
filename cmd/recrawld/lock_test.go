package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLockIsTakenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := takeLock(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = takeLock(dir, "")
	var c coded
	if !errors.As(err, &c) || c.code != exitLocked {
		t.Fatalf("second lock = %v, want exit code %d", err, exitLocked)
	}
	for _, want := range []string{dir, fmt.Sprint(os.Getpid()), "--data"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message %q does not name %q", err, want)
		}
	}
	first.release()
	again, err := takeLock(dir, "")
	if err != nil {
		t.Fatalf("lock after its release: %v", err)
	}
	again.release()
}

func TestLockOfAWorkerLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, worker := range []string{"a", "b"} {
		l, err := takeLock(dir, worker)
		if err != nil {
			t.Fatalf("lock of worker %s: %v", worker, err)
		}
		t.Cleanup(l.release)
	}
	if _, err := takeLock(dir, "a"); exitCode(err) != exitLocked || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("second lock of worker a = %v, want a refusal that names it", err)
	}
}

// A lock that was given back is free, also as long as a process that was begun meanwhile has not let go of its file.
func TestALockThatWasGivenBackIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := takeLock(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := unix.Dup(int(held.file.Fd())) // as between fork and exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	held.release()
	again, err := takeLock(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	again.release()
}
