package main

import (
	"os"
	"strings"
	"testing"

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
		{"of this very process", int32(os.Getpid()), false},
		{"of a process that runs", int32(os.Getppid()), true},
		{"of a process that is gone", 1<<31 - 1, false},
	} {
		row := models.Worker{Name: "twin", Machine: machine, PID: test.pid, BeatAt: moment, RealBeatAt: moment}
		err := d.onlyOne([]models.Worker{row})
		if (err != nil) != test.refuse || test.refuse && (exitCode(err) != exitLocked || !strings.Contains(err.Error(), "--worker")) {
			t.Errorf("onlyOne() with a living row %s = %v, want refused %v", test.name, err, test.refuse)
		}
	}
}
