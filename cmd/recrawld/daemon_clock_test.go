package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/models"
)

func TestAWorkersNameIsItsOwnInOtherDirectoriesToo(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "worker: {name: twin}\n")
	d := built(t, path)
	d.start.Store = "postgres://127.0.0.1/" // not opened here; with SQLite the lock is enough
	machine, err := os.Hostname()
	if err != nil {
		t.Skipf("the machine has no name: %v", err)
	}
	moment := models.At(d.machine.Now())
	for _, test := range []struct {
		name   string
		pid    int32
		refuse bool
	}{
		{"of a process that runs", int32(os.Getppid()), true},
		{"of a process that is gone", 1<<31 - 1, false},
	} {
		row := models.Worker{Name: "twin", Machine: machine, PID: test.pid, BeatAt: moment, RealBeatAt: moment}
		_, err := d.onlyOne(t.Context(), func(context.Context) ([]models.Worker, error) { return []models.Worker{row}, nil })
		if (err != nil) != test.refuse || test.refuse && (exitCode(err) != exitLocked || !strings.Contains(err.Error(), "--worker")) {
			t.Errorf("onlyOne() with a living row %s = %v, want refused %v", test.name, err, test.refuse)
		}
	}
}

// A worker that takes over from a machine which has just died waits until that one was silent for long, and is refused as soon as it beats. So does
// one in a container where another one has the same name and the same process, as it may be its own before it died, or one that lives.
func TestANameIsTakenOverFromAMachineThatDied(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "worker: {name: twin}\n")
	d := built(t, path)
	d.start.Store = "postgres://127.0.0.1/" // not opened here
	host, err := os.Hostname()
	if err != nil {
		t.Skipf("the machine has no name: %v", err)
	}
	for _, test := range []struct {
		name    string
		machine string
		beats   bool
		refuse  bool
		least   time.Duration
		most    time.Duration
	}{
		{"on a machine that died", "another", false, false, alive - 3*time.Second, alive},
		{"on a machine that lives", "another", true, true, 0, 2 * beatEvery},
		{"in a container that died", host, false, false, alive - 3*time.Second, alive},
		{"in a container that lives", host, true, true, 0, 2 * beatEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			last := began.Add(-time.Second)
			got, err := d.onlyOne(t.Context(), func(context.Context) ([]models.Worker, error) {
				if now := time.Now(); test.beats && now.Sub(last) >= beatEvery {
					last = now
				}
				return []models.Worker{{Name: "twin", Machine: test.machine, PID: int32(os.Getpid()), BeatAt: models.At(last), RealBeatAt: models.At(last)}}, nil
			})
			took := time.Since(began)
			if (err != nil) != test.refuse || test.refuse && exitCode(err) != exitLocked || !test.refuse && len(got) != 1 || took < test.least || took > test.most {
				t.Errorf("onlyOne() beside one %s = %d workers, %v after %v, want refused %v after %v to %v", test.name, len(got), err, took,
					test.refuse, test.least, test.most)
			}
		})
	}
}
