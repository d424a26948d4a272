package scheduler

import (
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
)

// TestAlarm: what rings while the loop looks keeps it awake, once.
func TestAlarm(t *testing.T) {
	t.Parallel()
	var a alarm
	clk := clock.NewVirtual(noon)
	sleep, end := bed(t.Context())
	a.listen()
	a.ring()
	a.sleep(sleep, end, clk, noon.Add(time.Hour))
	if !clk.Now().Equal(noon) || sleep.Err() != nil {
		t.Fatalf("the loop slept until %v though it rang, and its bed ended with %v", clk.Now(), sleep.Err())
	}
	a.listen()
	a.sleep(sleep, end, clk, noon.Add(time.Hour))
	if want := noon.Add(time.Hour); !clk.Now().Equal(want) {
		t.Fatalf("without another ring it slept until %v, want %v", clk.Now(), want)
	}
}

// TestAlarmEndsSleep: what rings while the loop sleeps ends that sleep, and the bed.
func TestAlarmEndsSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var a alarm
		began := time.Now()
		sleep, end := bed(t.Context())
		a.listen()
		go a.sleep(sleep, end, clock.System{}, began.Add(time.Hour))
		synctest.Wait()
		a.ring()
		synctest.Wait()
		if took := time.Since(began); took != 0 || sleep.Err() == nil || a.end.Load() != nil {
			t.Errorf("rung out, it slept for %v, and its bed ended with %v", took, sleep.Err())
		}
	})
}
