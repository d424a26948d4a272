package main

import (
	"os"
	"strings"
	"testing"

	"recrawld/models"
)

func TestReplayIsNotAwaitedFromADaemonThatIsGone(t *testing.T) {
	t.Parallel()
	path, _ := configure(t, "")
	must(t, "run", "-c", path, "--for", "100ms")
	d := built(t, path) // its row says that it lives, and nobody answers
	if err := d.store.Beat(t.Context(), models.Worker{Name: d.start.Worker.Name, PID: int32(os.Getpid()),
		BeatAt: models.At(d.clock.Now()), RealBeatAt: models.At(d.machine.Now().Add(2*beatEvery - alive))}); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := command(t, "sink", "replay", "-c", path, "mirror")
	if code != exitFailed || !strings.Contains(stderr, "next start") {
		t.Errorf("exit code %d, said %q; want %d and that the next start does it", code, stderr, exitFailed)
	}
}
