package main

import (
	"strings"
	"syscall"
	"testing"
)

// A daemon lets its heap grow further than Go does by itself, up to what it may use, unless its environment says how far.
func TestADaemonCollectsAsItsMemoryLets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		env            []string
		percent, limit float64
	}{
		"by itself":        {[]string{"GOGC=", "GOMEMLIMIT="}, 400, (192 + 64) << 20},
		"where it is told": {[]string{"GOGC=150", "GOMEMLIMIT=1GiB"}, 150, 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, _ := configure(t, "worker: {memory: 64MiB}\n")
			w := &atWork{process: launch(t, test.env, "run", "-c", path, "--listen", "127.0.0.1:0")}
			w.says("msg=begins")
			_, after, _ := strings.Cut(w.output(), "listen=")
			w.listen = strings.Fields(after)[0]
			got := w.figures("go_gc_gogc_percent", "go_gc_gomemlimit_bytes")
			if percent, limit := got["go_gc_gogc_percent"], got["go_gc_gomemlimit_bytes"]; percent != test.percent || limit != test.limit {
				t.Errorf("the heap grows by %v %% up to %v bytes, want %v and %v", percent, limit, test.percent, test.limit)
			}
			w.signal(syscall.SIGTERM)
			if code := w.ends(); code != exitDone {
				t.Errorf("exit code %d:\n%s", code, w.output())
			}
		})
	}
}
