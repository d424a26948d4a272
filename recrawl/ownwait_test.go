package recrawl

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/clock"
	"recrawld/config"
	"recrawld/models"
)

// TestOwnBandwidthIsNoFaultOfTheServer: each read is paid for by a wait that is longer than the window in which a body must
// bring something.
func TestOwnBandwidthIsNoFaultOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("<p>page", 64<<10/7)
		r := newRig(t, func(c *Config, _ *config.Settings) {
			c.Network.Bandwidth, c.Limits.RateWindow, c.Limits.RateBytes = 32<<10, 300*time.Millisecond, 1
		})
		r.servedBy(body)
		began := machineNow()
		out := r.fetch("http://127.0.0.1/")
		wantBody(t, out, body)
		if took := machineNow().Sub(began); took < time.Second || out.Took > took/2 {
			t.Errorf("Took = %v of %v, want the time without what our bandwidth took, most of it", out.Took, took)
		}
	})
}

// TestPageTimeThatOwnBandwidthTook is no fault of the server's either.
func TestPageTimeThatOwnBandwidthTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config, s *config.Settings) { c.Network.Bandwidth, s.PageTime = 16<<10, time.Second })
		r.servedBy(strings.Repeat("<p>page", 100<<10/7))
		out := r.fetch("http://127.0.0.1/")
		wantFailed(t, out, models.OwnLimit)
		if !strings.Contains(out.Detail, "network.bandwidth") {
			t.Errorf("detail = %q, want what to change", out.Detail)
		}
	})
}

// TestWaitThatEndsBeforeALook leaves the body as long as any other to bring what it must, and no longer.
func TestWaitThatEndsBeforeALook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		brings time.Duration // after its leave
		want   error
	}{"in time": {29 * time.Second, nil}, "not in time": {40 * time.Second, errTooSlow}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				f := &fetcher{limits: Limits{}.withDefaults(), bodies: newBodies(1 << 20)}
				at, wire := &progress{cancel: cancel}, &counter{}
				pause := func(d time.Duration) { _ = clock.System{}.SleepUntil(ctx, machineNow().Add(d)) }
				defer f.watchRate(at, wire)()
				if !f.bodies.leave.TryAcquire(1 << 20) {
					t.Fatal("the room is taken")
				}
				go func() {
					pause(29900 * time.Millisecond)
					f.bodies.leave.Release(1 << 20)
				}()
				leave := &grant{of: f.bodies, want: 2 << 20, wait: &at.leave}
				defer leave.end()
				if err := leave.ask(ctx); err != nil {
					t.Fatal(err)
				}
				pause(c.brings)
				wire.n.Add(30 << 10)
				pause(5 * time.Second)
				if got := context.Cause(ctx); got != c.want {
					t.Errorf("a body that brings enough %v after its wait: %v, want %v", c.brings, got, c.want)
				}
			})
		})
	}
}
