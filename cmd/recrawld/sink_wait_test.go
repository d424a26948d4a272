package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"recrawld/models"
)

// A daemon that dies while it is waited for has the sink made anew at its next start, and the command says so.
func TestReplayIsNotAwaitedFromADaemonThatIsGone(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms")
	d := built(t, path) // its row says that it lives, and nobody answers
	beat := func(age time.Duration) {
		if err := d.store.Beat(t.Context(), models.Worker{Name: d.start.Worker.Name, PID: int32(os.Getpid()),
			BeatAt: models.At(d.clock.Now()), RealBeatAt: models.At(d.machine.Now().Add(-age))}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := d.store.Meta(t.Context(), replayKey("mirror"))
	if err != nil {
		t.Fatal(err)
	}
	beat(0)
	type answer struct {
		code   int
		stderr string
	}
	answered := make(chan answer, 1)
	go func() {
		code, _, stderr := command(t, "sink", "replay", "-c", path, "mirror")
		answered <- answer{code, stderr}
	}()
	for wish := before; wish == before && len(answered) == 0; beat(0) {
		if wish, err = d.store.Meta(t.Context(), replayKey("mirror")); err != nil {
			t.Fatal(err)
		}
	}
	beat(alive)
	if a := <-answered; a.code != exitFailed || !strings.Contains(a.stderr, "next start") {
		t.Errorf("exit code %d, said %q; want %d and that the next start does it", a.code, a.stderr, exitFailed)
	}
}
