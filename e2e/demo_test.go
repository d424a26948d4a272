package e2e

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"recrawld/clock"
)

// TestEndToEndDemo runs the demo as a person would and reads its summary. Interrupted, it ends as well. Where the machine had so much else to do
// that it made too few visits in that time, or none before it was interrupted, it has more.
func TestEndToEndDemo(t *testing.T) {
	longTest(t)
	for name, interrupted := range map[string]bool{"for 8 s": false, "interrupted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runDemo(t, interrupted, 8*time.Second)
			if !regexp.MustCompile(enoughVisits).MatchString(out) {
				t.Logf("once more, with more time: %v\n%s", err, out)
				out, err = runDemo(t, interrupted, 40*time.Second)
			}
			if err != nil {
				t.Fatalf("the demo ended with %v\n%s", err, out)
			}
			checkSummary(t, out)
		})
	}
}

const enoughVisits = `visits +[0-9,]{3,} to \d\d pages on 5 hosts`

// runDemo is what the demo says in so much time, at the end of which it is interrupted or ends by itself.
func runDemo(t *testing.T, interrupted bool, length time.Duration) (string, error) {
	t.Helper()
	until := length
	if interrupted {
		until = 10 * time.Minute
	}
	var out bytes.Buffer
	demo := exec.CommandContext(t.Context(), program(t), "demo", "--for", until.String(), "--data", filepath.Join(t.TempDir(), "demo"))
	demo.Stdout, demo.Stderr = &out, &out
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	if interrupted {
		var machine clock.System
		if err := machine.SleepUntil(t.Context(), machine.Now().Add(length)); err != nil {
			t.Fatal(err)
		}
		if err := demo.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	err := demo.Wait()
	return out.String(), err
}

func checkSummary(t *testing.T, out string) {
	t.Helper()
	for _, want := range []string{enoughVisits, `answered 304 +\d+ %`, `changes +[0-9,]+ found of [0-9,]+`,
		`noise +[0-9,]+ found of [0-9,]+ times`,
		`a visit every +docs .*about`, `all [0-9,]{3,} gaps kept the host's delay.*; 1 request at a time`,
		`nothing was asked that it forbids`, `report change-rates`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the summary does not say %q:\n%s", want, out)
		}
	}
	mirror := regexp.MustCompile(`mirror +(\d+) of (\d+) pages equal`).FindStringSubmatch(out)
	if mirror == nil || mirror[1] != mirror[2] || mirror[1] == "0" {
		t.Errorf("the mirror is not what the site served: %v\n%s", mirror, out)
	}
}
