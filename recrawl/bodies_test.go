package recrawl

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

// largeServer answers everything with 3 MiB.
func largeServer(t *testing.T) string {
	t.Helper()
	body := []byte(strings.Repeat("a large page ", 3<<20/13))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func withMemory(bytes int64) func(*Config, *config.Settings) {
	return func(c *Config, s *config.Settings) {
		c.Memory, s.BodyBytes, s.WireBytes = bytes, 4<<20, 4<<20
	}
}

func TestFault_097_LargeBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	url := largeServer(t)
	r := newRig(t, withMemory(2<<20)) // room for one
	var visits sync.WaitGroup
	for range 8 {
		visits.Go(func() {
			if out := r.fetch(url + "/"); out.Kind != models.First || len(out.Body) < 3<<20-13 {
				t.Errorf("visit = %v %v (%s), %d bytes", out.Kind, out.Class, out.Detail, len(out.Body))
			}
		})
	}
	visits.Wait()
	if !r.fetcher.bodies.leave.TryAcquire(r.fetcher.bodies.most) {
		t.Error("a body that was read still holds room")
	}
}

// TestBodyThatWaitsIsNoFaultOfItsServer fills the room and lets the page's time pass.
func TestBodyThatWaitsIsNoFaultOfItsServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config, s *config.Settings) {
			withMemory(2<<20)(c, s)
			// Nothing comes for two windows, and that is not its fault.
			s.PageTime = 3 * time.Second
			c.Limits.RateWindow, c.Limits.RateBytes = time.Second, 1
		})
		r.servedBy(strings.Repeat("a large page ", 3<<20/13))
		if !r.fetcher.bodies.leave.TryAcquire(2 << 20) {
			t.Fatal("the room is taken")
		}
		began := machineNow()
		out := r.fetch("http://127.0.0.1/")
		wantFailed(t, out, models.OwnLimit)
		if waited := machineNow().Sub(began); waited < 3*time.Second {
			t.Errorf("given up after %v, want all of the page's time", waited)
		}
		if !strings.Contains(out.Detail, "worker.memory") {
			t.Errorf("detail = %q, want what to change", out.Detail)
		}
	})
}

func TestSmallBodyWaitsForNobody(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, "<p>small")})
	r := newRig(t, withMemory(1))
	r.fetcher.bodies.leave.TryAcquire(1)
	wantBody(t, r.fetch(o.URL("/")), "<p>small")
}
