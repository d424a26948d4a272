package scheduler

import (
	"testing"
	"time"

	"recrawld/models"
)

// A slow host is asked less often, and a host that says that it is overloaded too; both come back.
func TestFault_069_DelayFollowsTheHostsLoad(t *testing.T) {
	t.Parallel()
	planner, p := testPlanner(t, testConfig()), livePage()
	lease := testLease(p)
	now := noon
	visit := func(out models.Outcome, took time.Duration) time.Duration {
		now = later(now, lease.Host.BackoffUntil.Time())
		out.At, out.Took, out.Delay = now, took, 10*time.Second
		now = now.Add(took)
		r := planner.Plan(lease, p, &out, now)
		if want := models.NotBefore(now.Add(r.Host.Delay)); r.Host.OpenAt != want {
			t.Errorf("the host opens %v, want %v: its delay of %v after the answer", r.Host.OpenAt, want, r.Host.Delay)
		}
		lease.Host, now = r.Host, r.Host.OpenAt.Time()
		return r.Host.Delay
	}
	busy := models.Outcome{Kind: models.Failed, Class: models.ServerError, Status: 503, Sent: 1}
	for i, c := range []struct {
		out  models.Outcome
		took time.Duration
		want time.Duration
	}{
		{same, 100 * time.Millisecond, 10 * time.Second},
		{same, 39300 * time.Millisecond, 25 * time.Second}, // the mean is 5 s
		{busy, time.Millisecond, 43750 * time.Millisecond}, // 2 × 5 × 4.375 s
		{busy, time.Millisecond, 87500 * time.Millisecond}, // twice that
		{same, time.Millisecond, 56570 * time.Millisecond}, // 1/87.5 + 1/160
		{same, time.Millisecond, 41790 * time.Millisecond}, // 1/56.57 + 1/160
	} {
		if got := visit(c.out, c.took); (got - c.want).Abs() > 10*time.Millisecond {
			t.Errorf("delay after visit %d = %v, want %v", i, got, c.want)
		}
	}
	for n := 0; lease.Host.Delay > 10*time.Second; n++ {
		if n > 20 {
			t.Fatalf("after %d good answers the delay is %v", n, lease.Host.Delay)
		}
		visit(same, time.Millisecond)
	}
}

// A burst that is answered with 429 all over slows the host down once.
func TestFault_068_BurstSlowsOnce(t *testing.T) {
	t.Parallel()
	planner, p := testPlanner(t, testConfig()), livePage()
	lease := testLease(p)
	busy := models.Outcome{Kind: models.Failed, Class: models.TooManyRequests, Status: 429, Sent: 1, At: noon, Took: time.Millisecond}
	for i := range 5 {
		lease.Host = planner.Plan(lease, p, &busy, noon.Add(time.Duration(i)*time.Millisecond)).Host
	}
	if want := 20 * time.Second; lease.Host.Delay != want {
		t.Errorf("delay after five 429 of a burst = %v, want %v", lease.Host.Delay, want)
	}
}
